"""Chapter 2, attention: how linear it is, and what it takes to bend a lone token.

In reading order:

- `linearity`: how far attention is from linear, and what is exact while its pattern stands still.
- `hull`: where a weighted mean can lie.
- `saturation`: why logits are divided by the root of the width.
- `lone_token`: a token that sees itself alone, of which attention makes an affine map.
- `xor`: XOR and parity by hand: what a constant token or a LayerNorm makes possible.
- `readout`: the best that a linear readout makes of an encoder's output.
- `neurons`: an FFN made of attention heads.
- `figures`, `claims`, `exercises`.
"""
