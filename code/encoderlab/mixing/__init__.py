"""How linear attention is, and what it takes to bend a lone token (chapter 2)."""
