"""The introduction: what each switch of an encoder does to its tokens.

- `figures`: the explorer of the introduction.
"""
