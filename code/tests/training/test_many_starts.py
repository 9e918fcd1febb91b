"""Many starts at once, against the loop that trains one."""

from dataclasses import replace
from itertools import product

import numpy as np
import pytest

from encoderlab.experiments.classifier_cell import ClassifierCell
from encoderlab.training.many_starts import ManyStarts
from encoderlab.training.tasks import TASKS

BASE = ClassifierCell(
    "parity", {"bits": 3, "bos": False}, d_model=8, n_heads=2, depth=2, batch=64, steps=25, warmup=5, lr=0.02
)


def untrained(cell, seed):
    return cell.untrained(np.random.default_rng(seed).spawn(2)[0])


@pytest.mark.parametrize(
    ("bos", "ffn", "norm", "residual"),
    list(product((False, True), (False, True), ("none", "post", "pre"), (False, True))),
)
def test_each_start_ends_where_the_loop_takes_it(bos, ffn, norm, residual):
    cell = replace(BASE, options={"bits": 3, "bos": bos}, ffn=ffn, norm=norm, residual=residual)
    cell = replace(cell, dtype="float64")
    models, before = ([untrained(cell, seed) for seed in range(3)] for _ in range(2))
    losses = ManyStarts(models, cell.make_task().every).train(steps=25, lr=cell.lr, warmup=cell.warmup)
    assert losses.shape == (3, 25)
    for seed, (model, fresh) in enumerate(zip(models, before, strict=True)):
        alone = cell.train(seed)
        np.testing.assert_allclose(losses[seed], alone.training.losses, rtol=1e-9)
        for name, array in alone.parameters.items():
            np.testing.assert_allclose(model.parameters[name], array, rtol=1e-6, atol=1e-9, err_msg=name)
        assert np.abs(model.vector - fresh.vector).max() > 0.1  # it did go somewhere


def test_a_start_does_not_feel_the_others():
    alone, among = ([untrained(BASE, seed) for seed in seeds] for seeds in ((5,), (4, 5, 6)))
    for models in (alone, among):
        ManyStarts(models, BASE.make_task().every).train(steps=25, lr=0.02)
    np.testing.assert_allclose(among[1].vector, alone[0].vector, rtol=1e-4, atol=1e-5)


def test_it_refuses_what_it_does_not_repeat():
    every = BASE.make_task().every
    with pytest.raises(ValueError, match="models must hold at least one classifier, got none"):
        ManyStarts([], every)
    placed = replace(BASE, positions="learned")
    with pytest.raises(ValueError, match=r"models must be sequential, .* no positions, got .*learned"):
        ManyStarts([untrained(placed, 0)], every)
    with pytest.raises(ValueError, match="examples must fit in a batch of 4, got 8"):
        replace(BASE, batch=4).train_together((0,))
    endless = next(name for name in TASKS if name in ("induction", "two_hop"))
    options = {"induction": {"n": 8, "n_symbols": 8}, "two_hop": {"size_of_cycle": 4, "n_symbols": 8}}
    with pytest.raises(ValueError, match="examples must fit in a batch of 64, got without end"):
        replace(BASE, task=endless, options=options[endless]).train_together((0,))


def test_a_start_that_blows_up_stops_them_all():
    wild = replace(BASE, norm="none", ffn=True)
    with pytest.raises(FloatingPointError, match=r"a start diverged at step \d+"):
        ManyStarts([untrained(wild, 0)], wild.make_task().every).train(steps=25, lr=1e30)
