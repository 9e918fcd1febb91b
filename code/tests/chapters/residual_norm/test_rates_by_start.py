"""Success by learning rate: what the chapter says of the counts."""

import json

import numpy as np

from encoderlab.experiments.results import load


def test_the_first_three_starts_are_those_of_the_sweep():
    sweep = load("learning_rate")
    for run in load("rates_by_start").runs:
        if run.seed < 3:
            (same,) = (r for r in sweep.select(**run.settings) if r.seed == run.seed)
            assert json.dumps(same.measures) == json.dumps(run.measures)


def test_success_by_rate_is_as_the_chapter_says():
    found = load("rates_by_start")
    rates = (1e-3, 3e-3, 1e-2, 3e-2)
    none, post, pre = (
        [int(np.sum(found.measure("accuracy", depth=6, norm=norm, lr=lr) >= 0.95)) for lr in rates]
        for norm in ("none", "post", "pre")
    )
    assert post[0] == pre[0] == 10
    assert 5 < none[0] < 10
    assert pre[2] == 10
    assert 0 < none[2] < 10
    assert post[2] == 0
