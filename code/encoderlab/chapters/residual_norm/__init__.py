"""Chapter 4, residual connections and LayerNorm: what they guarantee, and where the norm belongs.

In reading order:

- `post_norm`: two published implementations held against the formulas (`post_norm.npz`).
- `identity_probe`: what is left of a token after the layers.
- `gradient_flow`: how large the gradient is in every layer, and what the skips alone carry.
- `figures`, `claims`, `exercises`.
"""
