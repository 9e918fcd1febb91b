"""The Transformer encoder, one part per file.

In reading order: `arrays`, `linear`, `activations` (with `gaussian`), `attention`, `feed_forward`,
`layer_norm`, `positions`, `config`, `weights`, `encoder`; then `jacobian`, `measures` and `tokens`.
"""
