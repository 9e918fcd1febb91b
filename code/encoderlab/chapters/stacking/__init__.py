"""Chapter 3, stacking: whether a stack of attention layers is one layer, and what depth does to the tokens.

In reading order:

- `attention_only`: the stack in question.
- `virtual_heads`: stacked attention multiplied out, path by path.
- `impersonation`, `interpolation`: one layer that stands in for two on one input, and for anything else.
- `third_token`: what one layer cannot be blind to, and two are not.
- `lookup`: two hops by two layers, or by one layer of many heads.
- `crossings`: what a sum of look-ups cannot answer.
- `rank_collapse`, `random_stacks`, `orthogonal_tokens`: how fast tokens become one.
- `two_steps`, `trained_models`: what training found of all this.
- `figures`, `claims`, `exercises`.
"""
