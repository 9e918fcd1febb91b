"""Claims 50 to 52, on what LayerNorm does to training: each check reads stored runs and trains one again."""

from __future__ import annotations

from itertools import product

import numpy as np

from encoderlab.claims.claim import Finding, Findings, claim
from encoderlab.experiments import EXPERIMENTS, results
from encoderlab.experiments.results import Results
from encoderlab.model.arrays import FloatArray

SOLVED = 0.95
"""The accuracy from which a task counts as solved."""

TASKS = {"easy": "copy_previous", "hard": "two_hop"}


@claim(
    50,
    note=2,
    section="layer normalisation",
    says="Layer normalisation reduces internal covariate shift.",
    verdict="depends",
    holds=(
        "As Santurkar et al. define it, the distance between a layer's gradients before and after the"
        " layers below moved, it was smaller with either norm in our three starts. As a share of the"
        " gradient three starts do not tell post-LN from no norm; the runs that shifted most"
        " learnt as well. A smaller shift shows no cause."
    ),
    references=("santurkar2018batch", "xu2019layer"),
)
def claim_50() -> Findings:
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
    return findings


@claim(
    51,
    note=2,
    section="layer normalisation",
    says="Layer normalisation permits higher learning rates.",
    verdict="conditional",
    holds=(
        "Pre-LN with warm-up does, on both of our tasks, also against a stack without a norm whose"
        " branches start small. Without warm-up it does only against one that starts at unit gain, on the"
        " easy task: with small branches no norm stands as high a rate or a higher one. Post-LN stands"
        " none higher than such a stack."
    ),
    references=("xiong2020layer",),
)
def claim_51() -> Findings:
    """Look up the highest rate at which every seed solves a task, for each kind of stack."""
    unit, small = results.load("learning_rate"), results.load("small_branches")

    def highest(of: Results, task: str, norm: str, warmup: int) -> float:
        cell = {"depth": 6, "task": TASKS[task], "norm": norm, "warmup": warmup}
        return max(
            (lr for lr in _rates(of) if of.measure("accuracy", lr=lr, **cell).min() >= SOLVED), default=0.0
        )

    findings = [
        Finding("support", f"{of.experiment}: a run trained again: difference", _again(of), "≤", 2e-4)
        for of in (unit, small)
    ]
    for task, steps in product(TASKS, (0, 100)):
        none, post, pre = (highest(small, task, norm, steps) for norm in ("none", "post", "pre"))
        case = f"{task} task, warm-up {steps}, small branches: highest rate that works"
        role, relation = ("inside", ">") if steps else ("outside", "≤")
        findings += [
            Finding(role, f"{case}, pre-LN over no norm", pre / none, relation, 1),
            Finding("outside", f"{case}, post-LN over no norm", post / none, "≤", 1),
        ]
    for steps in (0, 100):
        none, post, pre = (highest(unit, "easy", norm, steps) for norm in ("none", "post", "pre"))
        case = f"easy task, warm-up {steps}, unit branches: highest rate that works"
        findings += [
            Finding("inside", f"{case}, pre-LN over no norm", pre / none, ">", 1),
            Finding("outside", f"{case}, post-LN over no norm", post / none, "≤", 1),
        ]
    return tuple(findings)


@claim(
    52,
    note=2,
    section="layer normalisation",
    says="Layer normalisation stabilises training.",
    verdict="conditional",
    holds=(
        "Pre-LN does on the easy task: hardly a run ends at guessing, where of those without a norm many"
        " do. Post-LN does not: as many end there, without blowing up; and on the hard task a third of"
        " pre-LN's do too. At unit gain only stacks with a norm learnt the hard task; with branches that"
        " start small it is learnt without one, so that what the norm supplied was above all the scale."
    ),
    references=("xiong2020layer", "liu2020difficulty", "radford2019language"),
)
def claim_52() -> Findings:
    """Count the runs that end no better than guessing, and those whose numbers became infinite."""
    unit, small = results.load("learning_rate"), results.load("small_branches")

    def guessing(of: Results, task: str, norm: str) -> float:
        """Return the share of runs that end below twice the accuracy of guessing."""
        runs = of.select(depth=6, task=TASKS[task], norm=norm)
        return float(np.mean([run.measures["accuracy"] < 2 * run.baselines["chance"] for run in runs]))

    def diverged(*norms: str) -> float:
        """Return the share of all runs with these norms that blew up."""
        runs = [run for of in (unit, small) for run in of.select(depth=6) if run.settings["norm"] in norms]
        return float(np.mean([run.diverged_at is not None for run in runs]))

    def best(of: Results, norm: str) -> float:
        """Return the accuracy of the worst seed on the hard task, at the best rate and warm-up."""
        cell = {"depth": 6, "task": TASKS["hard"], "norm": norm}
        return max(
            float(of.measure("accuracy", lr=lr, warmup=steps, **cell).min())
            for lr, steps in product(_rates(of), (0, 100))
        )

    findings = [Finding("support", "a run trained again: difference", _again(unit), "≤", 2e-4)]
    for name, of in (("unit", unit), ("small", small)):
        lost = f"{name} branches, share of runs that end at guessing"
        findings += [
            Finding("inside", f"easy task, {lost}, no norm", guessing(of, "easy", "none"), "≥", 0.25),
            Finding("inside", f"easy task, {lost}, pre-LN", guessing(of, "easy", "pre"), "≤", 0.05),
            Finding("outside", f"easy task, {lost}, post-LN", guessing(of, "easy", "post"), "≥", 0.25),
            Finding("outside", f"hard task, {lost}, pre-LN", guessing(of, "hard", "pre"), "≥", 0.25),
        ]
    findings += [
        Finding(
            "support", "share of runs whose numbers became infinite, no norm", diverged("none"), "≥", 0.15
        ),
        Finding("support", "the same, post-LN and pre-LN", diverged("post", "pre"), "=", 0),
        Finding("inside", "hard task, unit branches, worst seed, post-LN", best(unit, "post"), "≥", SOLVED),
        Finding("inside", "hard task, unit branches, worst seed, no norm", best(unit, "none"), "≤", 0.9),
        Finding(
            "outside", "hard task, small branches, worst seed, no norm", best(small, "none"), "≥", SOLVED
        ),
    ]
    return tuple(findings)


def _again(stored: Results) -> float:
    """Train the smallest cell from its first seed; its losses are stored to five digits."""
    experiment = EXPERIMENTS[stored.experiment]()
    run = stored.select(**experiment.cells[0].settings)[0]
    losses = experiment.cells[0].train(run.seed).training.losses
    curve = [part.mean() for part in np.array_split(losses, len(run.curve))]
    return float(np.abs(np.array(curve) - run.curve).max())


def _rates(stored: Results) -> list[float]:
    return sorted({run.settings["lr"] for run in stored.runs if run.settings["depth"] == 6})
