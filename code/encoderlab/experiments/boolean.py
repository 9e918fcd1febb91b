"""Experiments on XOR and parity: what a lone token can be turned into, and what others around it allow."""

from __future__ import annotations

from dataclasses import replace
from itertools import product

from encoderlab.experiments.classifier_cell import NORMS, ClassifierCell
from encoderlab.experiments.experiment import Experiment
from encoderlab.model.config import Norm


def lone_token() -> Experiment:
    """XOR and 4-bit parity of one token, with and without BOS, by FFN, norm and depth (claims 24, 29, 30)."""
    base = ClassifierCell("parity", {"bits": 2, "bos": False}, d_model=16, n_heads=2, batch=64, steps=1000)
    cells = [replace(base, ffn=True, steps=500, dtype="float64")]
    for bits, bos in product((2, 4), (False, True)):
        asked = replace(base, options={"bits": bits, "bos": bos})
        for ffn, norm, depth in product((False, True), NORMS, (1, 2, 4)):
            cells.append(replace(asked, ffn=ffn, norm=norm, depth=depth))
        for ffn, norm in product((False, True), NORMS[:2]):
            cells.append(replace(asked, ffn=ffn, norm=norm, depth=2, residual=False))
    deep = replace(base, options={"bits": 4, "bos": False}, depth=8)
    cells += [replace(deep, norm=norm) for norm in ("post", "pre")]
    # Where training falls short: is it the rate, or the time? Those at 3e-3 and 1000 steps stand above.
    short: tuple[tuple[int, Norm, int], ...] = (
        (2, "post", 1),
        (4, "post", 2),
        (4, "post", 4),
        (4, "post", 8),
        (4, "pre", 1),
    )
    for bits, norm, depth in short:
        bent = replace(base, options={"bits": bits, "bos": False}, norm=norm, depth=depth)
        longer = [replace(bent, lr=lr, steps=4000) for lr in (1e-3, 3e-3, 1e-2, 3e-2)]
        cells += [replace(bent, lr=lr) for lr in (1e-3, 1e-2, 3e-2)] + longer
    return Experiment("lone_token", "Does a lone token carry an odd number of ones?", tuple(cells))


def parity_starts() -> Experiment:
    """Parity of a lone token by LayerNorm alone, from 24 starts at each rate and time.

    The seeds 0 to 2 draw the same starts as in `lone_token`; in float32 the runs part where BLAS rounds
    differently.
    """
    base = ClassifierCell("parity", {"bits": 4, "bos": False}, d_model=16, n_heads=2, batch=64)
    cells = [replace(base, options={"bits": 2, "bos": False}, norm="pre", steps=200, dtype="float64")]
    asked: tuple[tuple[int, Norm, int], ...] = (
        (2, "post", 1),
        (4, "post", 2),
        (4, "post", 4),
        (4, "pre", 1),
        (4, "pre", 2),
    )
    for (bits, norm, depth), steps, lr in product(asked, (1000, 4000), (1e-3, 3e-3, 1e-2, 3e-2)):
        options = {"bits": bits, "bos": False}
        cells.append(replace(base, options=options, norm=norm, depth=depth, steps=steps, lr=lr))
    question = "From how many starts does LayerNorm alone learn parity?"
    return Experiment("parity_starts", question, tuple(cells), tuple(range(24)))


def xor_among() -> Experiment:
    """XOR of two marked bits among eight tokens: softmax over several tokens is nonlinearity enough."""
    base = ClassifierCell("xor_among", {"n": 8}, steps=600, batch=64)
    cells = [replace(base, options={"n": 4}, d_model=16, depth=2, dtype="float64")]
    for ffn, norm, depth in product((False, True), NORMS, (1, 2)):
        cells.append(replace(base, ffn=ffn, norm=norm, depth=depth))
    cells += [replace(base, residual=False, depth=depth) for depth in (1, 2)]
    cells += [replace(base, n_heads=n_heads) for n_heads in (2, 4)]
    return Experiment("xor_among", "What is the XOR of the two marked bits?", tuple(cells))
