"""The Transformer encoder, one part per file.

In reading order: `arrays`, `linear`, `activations` (with `gaussian`), `attention`, `feed_forward`,
`layer_norm`, `config`, `weights`, `edit`, `sublayer`, `layer`, `trace`, `encoder`; then `positions`, and
`jacobian`, `measures` and `tokens`, which look at what an encoder does.
"""
