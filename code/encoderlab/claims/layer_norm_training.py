"""Claims 50 to 52, on what LayerNorm does to training: each check reads stored runs and trains one again."""

from __future__ import annotations

from itertools import product

import numpy as np

from encoderlab import results
from encoderlab.claims.model import Claim, Evidence, Finding
from encoderlab.experiments import EXPERIMENTS
from encoderlab.results import Results
from encoderlab.validation import FloatArray

SOLVED = 0.95
"""The accuracy from which a task counts as solved."""


def check_50() -> Evidence:
    """Compare the shift with and without a norm, as a distance and as a share of the gradient."""
    stored = results.load("internal_covariate_shift")

    def shift(measure: str, norm: str, lr: float) -> FloatArray:
        """Return each start's mean over the layers that stand on others."""
        layers = [stored.measure(f"{measure} layer {i}", depth=4, norm=norm, lr=lr) for i in (2, 3, 4)]
        mean: FloatArray = np.mean(layers, axis=0)  # (seeds,)
        return mean

    def less(measure: str, norm: str, lr: float) -> float:
        """Count the starts of three in which the norm has less of it than no norm has."""
        return float(np.sum(shift(measure, norm, lr) < shift(measure, "none", lr)))

    worst = float(stored.measure("accuracy", depth=4, norm="none", lr=1e-3).min())
    findings = (
        Finding(
            "for", "starts of 3 in which post-LN shifts less, 0.001", less("distance", "post", 1e-3), "=", 3
        ),
        Finding(
            "for", "starts of 3 in which pre-LN shifts less, 0.01", less("distance", "pre", 1e-2), "=", 3
        ),
        Finding(
            "against",
            "the same as a share of the gradient, post-LN, 0.001",
            less("relative", "post", 1e-3),
            "=",
            0,
        ),
        Finding("against", "accuracy without a norm, rate 0.001", worst, "≥", SOLVED),
        Finding("support", "a run trained again: difference", _again(stored), "≤", 2e-4),
    )
    return Evidence(findings)


def check_51() -> Evidence:
    """Look up the highest rate at which every seed solves the easy task, for each kind of stack."""
    stored, small = results.load("learning_rate"), results.load("small_branches")

    def highest(of: Results, norm: str, warmup: int) -> float:
        cell = {"depth": 6, "task": "copy_previous", "norm": norm, "warmup": warmup}
        return max(
            (lr for lr in _rates(of) if of.measure("accuracy", lr=lr, **cell).min() >= SOLVED), default=0.0
        )

    findings = [
        Finding("support", f"{of.experiment}: a run trained again: difference", _again(of), "≤", 2e-4)
        for of in (stored, small)
    ]
    for steps in (0, 100):
        none, post, pre = (highest(stored, norm, steps) for norm in ("none", "post", "pre"))
        damped = highest(small, "none", steps)
        warm = f"warm-up {steps}: highest rate that works from every start"
        findings += [
            Finding("inside", f"{warm}, pre-LN over no norm at unit gain", pre / none, ">", 1),
            Finding("outside", f"{warm}, post-LN over no norm at unit gain", post / none, "≤", 1),
            Finding("outside", f"{warm}, post-LN over small branches without a norm", post / damped, "<", 1),
        ]
        role, relation = ("inside", ">") if steps else ("outside", "≤")
        findings.append(
            Finding(role, f"{warm}, pre-LN over small branches without a norm", pre / damped, relation, 1)
        )
    return Evidence(tuple(findings))


def check_52() -> Evidence:
    """Count the runs that end no better than guessing, and those whose numbers became infinite."""
    stored, small = results.load("learning_rate"), results.load("small_branches")

    def diverged(norm: str) -> float:
        runs = stored.select(depth=6, norm=norm)
        return float(np.mean([run.diverged_at is not None for run in runs]))

    def guessing(norm: str, of: Results = stored) -> float:
        """Return the share of runs on the easy task that end below twice the accuracy of guessing."""
        runs = of.select(depth=6, task="copy_previous", norm=norm)
        return float(np.mean([run.measures["accuracy"] < 2 * run.baselines["chance"] for run in runs]))

    def best(norm: str) -> float:
        """Return the mean accuracy over seeds on the hard task, at the best rate and warm-up."""
        cell = {"depth": 6, "task": "two_hop", "norm": norm}
        choices = product(_rates(stored), (0, 100))
        return max(
            float(stored.measure("accuracy", lr=lr, warmup=steps, **cell).mean()) for lr, steps in choices
        )

    easy = {"depth": 6, "task": "copy_previous", "lr": 1e-2}
    stuck = float(stored.measure("accuracy", norm="post", warmup=0, **easy).max())
    worst, free = (
        float(stored.measure("accuracy", norm=norm, warmup=100, **easy).min()) for norm in ("post", "none")
    )
    damped = float(small.measure("accuracy", depth=6, task="two_hop", lr=3e-3, warmup=0).min())
    lost_damped = guessing("none", small)
    findings = (
        Finding(
            "inside", "easy task: share of runs that end at guessing, no norm", guessing("none"), "≥", 0.25
        ),
        Finding(
            "inside", "easy task: share of runs that end at guessing, pre-LN", guessing("pre"), "≤", 0.05
        ),
        Finding(
            "outside", "easy task: share of runs that end at guessing, post-LN", guessing("post"), "≥", 0.25
        ),
        Finding(
            "support", "share of runs whose numbers became infinite, no norm", diverged("none"), "≥", 0.15
        ),
        Finding("support", "the same, post-LN", diverged("post"), "=", 0),
        Finding("support", "the same, pre-LN", diverged("pre"), "=", 0),
        Finding("inside", "hard task, best accuracy, post-LN", best("post"), "≥", SOLVED),
        Finding("inside", "hard task, best accuracy, no norm at unit gain", best("none"), "≤", 0.9),
        Finding("outside", "hard task, 0.003: worst seed, small branches, no norm", damped, "≥", SOLVED),
        Finding("inside", "easy task: share that end at guessing, small branches", lost_damped, "≥", 0.25),
        Finding("outside", "easy task, 0.01, no warm-up: best seed, post-LN", stuck, "≤", 0.25),
        Finding("outside", "easy task, 0.01, warm-up: worst seed, post-LN", worst, "≤", 0.9),
        Finding("outside", "easy task, 0.01, warm-up: worst seed, no norm", free, "≥", SOLVED),
        Finding("support", "a run trained again: difference", _again(stored), "≤", 2e-4),
    )
    return Evidence(findings)


def _again(stored: Results) -> float:
    """Train the smallest cell from its first seed; its losses are stored to five digits."""
    experiment = EXPERIMENTS[stored.experiment]()
    run = stored.select(**experiment.cells[0].settings)[0]
    losses = experiment.cells[0].train(run.seed).training.losses
    curve = [part.mean() for part in np.array_split(losses, len(run.curve))]
    return float(np.abs(np.array(curve) - run.curve).max())


def _rates(stored: Results) -> list[float]:
    return sorted({run.settings["lr"] for run in stored.runs if run.settings["depth"] == 6})


CLAIMS = (
    Claim(
        number=50,
        note=2,
        section="layer normalisation",
        says="Layer normalisation reduces internal covariate shift.",
        verdict="depends",
        holds=(
            "As Santurkar et al. define it, the distance between a layer's gradients before and after the"
            " layers below moved, it was smaller with either norm in our three starts. As a share of the"
            " gradient post-LN's was larger at the lower rate, and at the higher one it depended on the"
            " start; the runs that shifted most learnt as well. A smaller shift shows no cause."
        ),
        chapter="residual_norm",
        check=check_50,
        references=("santurkar2018batch", "xu2019layer"),
    ),
    Claim(
        number=51,
        note=2,
        section="layer normalisation",
        says="Layer normalisation permits higher learning rates.",
        verdict="conditional",
        holds=(
            "Pre-LN does, against a stack without a norm whose weights start at unit gain: on the easy task"
            " it still works where that has failed. Against one whose branches start small it does with"
            " warm-up only. Post-LN does not: the highest rate that works is never above that without a norm,"
            " and below it when the branches start small."
        ),
        chapter="residual_norm",
        check=check_51,
        references=("xiong2020layer",),
    ),
    Claim(
        number=52,
        note=2,
        section="layer normalisation",
        says="Layer normalisation stabilises training.",
        verdict="conditional",
        holds=(
            "Pre-LN does: hardly a run on the easy task ends at guessing, where of the runs without a norm"
            " many do, whether or not their branches start small. Post-LN does not: as many end there,"
            " without blowing up. At unit gain only stacks with a norm learnt the hard task; with small"
            " branches it is learnt without one, so that what the norm supplied was the scale at the start."
        ),
        chapter="residual_norm",
        check=check_52,
        references=("xiong2020layer", "liu2020difficulty", "radford2019language"),
    ),
)
