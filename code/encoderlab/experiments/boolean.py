"""Experiments on XOR and parity: what a lone token can be turned into, and what others around it allow."""

from __future__ import annotations

from dataclasses import replace
from itertools import product

from encoderlab.experiments.classifier_cell import NORMS, ClassifierCell
from encoderlab.experiments.experiment import Experiment

RATES = (1e-3, 3e-3, 1e-2, 3e-2)
STARTS = tuple(range(24))


def parity_starts() -> Experiment:
    """Train on LayerNorm and a lone token from 24 starts, at four rates and two lengths (claim 30)."""
    base = ClassifierCell("parity", {"bits": 4, "bos": False}, d_model=16, n_heads=2, batch=64, norm="post")
    cells = [replace(base, depth=2, steps=200, dtype="float64")]
    for bits, norm, depth in (*product((4,), NORMS[1:], (1, 2, 4)), *product((2,), NORMS[1:], (1, 2, 4))):
        asked = replace(base, options={"bits": bits, "bos": False}, norm=norm, depth=depth)
        cells += [replace(asked, lr=lr, steps=steps) for steps, lr in product((1000, 4000), RATES)]
    cells += [replace(base, depth=8, lr=lr, steps=steps) for steps, lr in product((1000, 4000), RATES)]
    question = "How often does training find parity by LayerNorm alone?"
    return Experiment("parity_starts", question, tuple(cells), STARTS, together=True, parts=4)


def parity_helped() -> Experiment:
    """Do the same beside a constant token, with an FFN, and with nothing that bends, from 24 starts."""
    base = ClassifierCell("parity", {"bits": 4, "bos": False}, d_model=16, n_heads=2, batch=64, steps=1000)
    cells = [replace(base, ffn=True, steps=100, dtype="float64")]
    for bits, norm, depth in product((4, 2), NORMS, (1, 2, 4)):
        beside, alone = ({"bits": bits, "bos": bos} for bos in (True, False))
        asked = replace(base, norm=norm, depth=depth)
        cells += [replace(asked, options=beside), replace(asked, options=alone, ffn=True)]
        cells += [replace(asked, options=alone)] if norm == "none" else []
    question = "How often does training find parity with an FFN, or beside a constant token?"
    return Experiment("parity_helped", question, tuple(cells), STARTS, together=True, parts=4)


def xor_among() -> Experiment:
    """XOR of two marked bits among eight tokens: softmax over several tokens is nonlinearity enough."""
    base = ClassifierCell("xor_among", {"n": 8}, steps=600, batch=64)
    cells = [replace(base, options={"n": 4}, d_model=16, depth=2, dtype="float64")]
    for ffn, norm, depth in product((False, True), NORMS, (1, 2)):
        cells.append(replace(base, ffn=ffn, norm=norm, depth=depth))
    cells += [replace(base, residual=False, depth=depth) for depth in (1, 2)]
    cells += [replace(base, n_heads=n_heads) for n_heads in (2, 4)]
    return Experiment("xor_among", "What is the XOR of the two marked bits?", tuple(cells))
