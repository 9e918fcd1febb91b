"""Stored results of trained models, and the figure that reads them."""

import numpy as np
import pytest

from encoderlab.depth.composition import CONTESTANTS, accuracies, line_to_beat
from encoderlab.experiments.weights import load_model
from encoderlab.figures.composition import TASKS, depths, token_names
from encoderlab.results import load


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
