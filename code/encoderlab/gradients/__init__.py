"""How gradients pass residual connections and LayerNorm (chapter 4)."""
