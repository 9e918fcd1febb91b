"""Trained models side by side: every run of every file is shown once, and the figure reads what is stored."""

import numpy as np
import pytest

from encoderlab.chapters.stacking.figures.accuracy_by_switch import SWITCHES, TASKS, accuracy_by_switch
from encoderlab.chapters.stacking.trained_models import (
    accuracy_table,
    lines_to_beat,
    neighbours,
    student_table,
    trained_models,
)
from encoderlab.experiments.results import load


@pytest.mark.parametrize("experiment", TASKS.values())
def test_every_run_of_full_size_is_there_once(experiment):
    results = load(experiment)
    shares = np.sort(np.concatenate([model.accuracies for model in trained_models(results)]))
    stored = [run.measures["accuracy"] for run in results.runs if run.settings["dtype"] == "float32"]
    np.testing.assert_array_equal(shares, np.sort(stored))
    table = accuracy_table(results).splitlines()
    assert len(table) == len(trained_models(results)) + 1 + len(results.runs[0].baselines)
    assert len(set(table)) == len(table)  # no two kinds of model look the same


def test_a_row_of_the_table_is_a_cell_of_the_file():
    results = load("two_hop")
    (row,) = (
        line
        for line in accuracy_table(results).splitlines()
        if line.split()[3:] == ["1", "4", "yes", "none", "yes", "8"]
    )
    stored = results.measure("accuracy", n_symbols=8, n_heads=4, ffn=True)
    assert row.split()[:3] == [f"{100 * share:.1f}" for share in stored]


def test_each_size_of_a_task_has_its_own_chance():
    models = trained_models(load("two_hop"))
    for model in models:
        assert model.baselines["chance"] == 1 / model.settings["n_symbols"]
    lines = lines_to_beat(models)
    assert lines["chance"] == [1 / 16, 1 / 8]
    assert lines["any but the query and its neighbours"] == [1 / 5]
    assert "chance: 6.2% or 12.5%" in accuracy_table(load("two_hop"))


def test_neighbours_differ_in_one_switch_alone():
    models = trained_models(load("modular_addition"))
    groups = neighbours(models, "ffn")
    assert groups
    for group in groups:
        first, second = (dict(model.settings) for model in group)
        assert {first.pop("ffn"), second.pop("ffn")} == {False, True}
        assert first == second


def test_the_students_are_those_stored():
    results = load("student")
    last = student_table(results).splitlines()[-1].split()
    measured = results.measure("relative error", n=4, logit_scale=4.0, depth=2, n_heads=1).mean()
    assert last[0] == "4"
    assert float(last[-1]) == pytest.approx(measured, rel=0.05)


def test_the_figure_shows_every_start_of_a_task():
    figure, update = accuracy_by_switch()
    for task, experiment in TASKS.items():
        models = trained_models(load(experiment))
        expected = np.sort([share for model in models for share in model.accuracies])
        for by in SWITCHES:
            told = update(task=task, by=by)
            dots = [
                a for a in figure.findobj() if a.get_animated() and getattr(a, "get_marker", str)() == "o"
            ]
            shown = np.sort(np.concatenate([np.asarray(a.get_ydata(), float) for a in dots]))
            np.testing.assert_array_equal(shown, expected)
            assert f"Line to beat: {max(models[0].baselines.values()):.0%}" in told
    told = update(task="2-hop", by="FFN")
    assert "Chance: 6% (12.5% with 8 symbols)" in told
    assert "4 heads, 8 symbols – off 39% to 49%, on 96% to 99%" in told
