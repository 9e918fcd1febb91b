"""Stored results of trained models, and the figure that reads them."""

import numpy as np
import pytest

from encoderlab.chapters.stacking.figures.where_it_looks import TASKS, depths, token_names
from encoderlab.chapters.stacking.two_steps import CONTESTANTS, accuracies, induction_looks, line_to_beat
from encoderlab.experiments.kept_weights import load_model
from encoderlab.experiments.results import load


@pytest.mark.parametrize("experiment", TASKS.values())
def test_two_layers_beat_the_shortcut_and_one_stays_near_it(experiment):
    results = load(experiment)
    found = accuracies(results)
    assert found.keys() == CONTESTANTS.keys()
    assert found["2 layers"].min() > 0.95
    one_layer = [values.max() for name, values in found.items() if name.startswith("1")]
    assert max(one_layer) < line_to_beat(results) + 0.1


@pytest.mark.parametrize("experiment", TASKS.values())
@pytest.mark.parametrize("depth", [1, 2])
def test_stored_weights_have_the_stored_accuracy(experiment, depth):
    model, cell = load_model(experiment, f"depth_{depth}")
    features, target = cell.make_task().draw(np.random.default_rng(0), 1000)
    name = "2 layers" if depth == 2 else "1 layer"
    stored = accuracies(load(experiment))[name][0]
    assert model.accuracy(features, target) == pytest.approx(stored, abs=0.05)


def test_three_starts_find_induction_in_three_ways():
    """Where a symbol looks in the first layer and the question in the second, at what it may find there."""
    found = []
    for key in ("depth_2", "depth_2_start_2", "depth_2_start_3"):
        model, cell = load_model("induction", key)
        features, _ = cell.make_task().draw(np.random.default_rng(1), 300)
        symbols = features.argmax(axis=-1)
        first, second = (A[:, 0] for A in model.trace(features).attention)
        before, after = (np.mean([first[:, i, i + step] for i in range(1, 14)]) for step in (-1, 1))
        copy = [list(row).index(row[15]) for row in symbols]
        at_copy, after_it = (
            np.mean([A[15, c + step] for A, c in zip(second, copy, strict=True)]) for step in (0, 1)
        )
        found.append((before, after, at_copy, after_it))
        assert induction_looks(len(found)) == pytest.approx(found[-1], abs=0.03)  # other examples
    excluding, textbook, reversed_ = found
    assert excluding[0] < 1 / 16 < 0.7 < excluding[3]
    assert min(textbook[0], textbook[3]) > 0.95
    assert reversed_[1] > 0.4
    assert reversed_[2] > 0.9


def test_tokens_are_named_as_a_reader_would():
    _, cell = load_model("two_hop", "depth_2")
    features, target = cell.make_task().draw(np.random.default_rng(0), 1)
    *entries, question = token_names("two_hop", features[0])
    arrows = dict(entry.split("→") for entry in entries)
    assert arrows[arrows[question.rstrip("?")]] == "abcdefghijklmnop"[target[0]]


def test_the_figure_says_where_the_last_token_looks():
    figure, update = depths(examples=2)
    for task in TASKS:
        one, two = (update(task=task, depth=depth, example=1) for depth in (1, 2))
        assert "in layer 2" in two
        assert "in layer 2" not in one
        assert one != two
    texts = {
        text.get_text() for text in figure.findobj(lambda a: a.get_animated() and hasattr(a, "get_text"))
    }
    assert {"", "there is no second layer"} & texts
    assert "first start" in update(task="induction", depth=2, example=1)
