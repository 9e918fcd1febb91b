"""Internal covariate shift along short training runs, with each norm and without (claim 50)."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np

from encoderlab.experiments.classifier_cell import NORMS, ClassifierCell
from encoderlab.experiments.experiment import Experiment, Outcome
from encoderlab.model.arrays import FloatArray
from encoderlab.training import Classification, train
from encoderlab.training.covariate_shift import Shift, covariate_shift
from encoderlab.training.tasks import Batch

EVERY = 10
"""Steps from one measurement to the next."""


@dataclass
class Watched:
    """A classification that measures the covariate shift of each `EVERY`th step once that step is taken."""

    inner: Classification
    shifts: list[Shift] = field(default_factory=list)
    steps: int = 0
    before: FloatArray | None = None
    batch: Batch | None = None

    @property
    def vector(self) -> FloatArray:
        """The model's parameters."""
        return self.inner.vector

    def loss_and_gradient(self, rng: np.random.Generator) -> tuple[float, FloatArray]:
        """Look back at the step that led here if its turn has come, then go on."""
        if self.before is not None and self.batch is not None:
            after = self.vector.copy()
            self.vector[:] = self.before
            self.shifts.append(covariate_shift(self.inner.model, after, *self.batch))
            self.vector[:] = after
        watched = self.steps % EVERY == 0
        self.batch = self.inner.draw(rng)
        self.before = self.vector.copy() if watched else None
        self.steps += 1
        loss, grads = self.inner.model.gradients(*self.batch)
        return loss, np.concatenate([grad.ravel() for grad in grads.values()])


@dataclass(frozen=True)
class CovariateShiftCell(ClassifierCell):
    """A classifier whose covariate shift is measured as it trains; its measures are means over the run."""

    def train(
        self, seed: int, checkpoint: Path | None = None, identity: str = "", progress: str | None = None
    ) -> Outcome:
        """Train from a seed as `ClassifierCell` does; short enough to need no checkpoint."""
        weights_rng, batches_rng = np.random.default_rng(seed).spawn(2)
        task, model = self.make_task(), self.untrained(weights_rng)
        watched = Watched(Classification(model, task, self.batch))
        training = train(
            watched, batches_rng, steps=self.steps, lr=self.lr, warmup=self.warmup, progress=progress
        )
        features, target = task.examination()
        measures = {"accuracy": model.accuracy(features.astype(self.dtype, copy=False), target)}
        for name in Shift._fields:
            mean = np.mean([getattr(shift, name) for shift in watched.shifts], axis=0)  # (depth,)
            measures |= {f"{name} layer {i + 1}": float(value) for i, value in enumerate(mean)}
        return Outcome(training, measures, model.parameters)


def internal_covariate_shift() -> Experiment:
    """Four layers on an easy task, with each norm and without, at a low and at a high learning rate."""
    base = CovariateShiftCell(
        "copy_previous", {"n": 8}, depth=4, d_model=16, ffn=True, positions="learned", batch=64, steps=300
    )
    cells = [replace(base, depth=2, steps=100, dtype="float64")]
    for lr in (1e-3, 1e-2):
        for norm in NORMS:
            cells.append(replace(base, norm=norm, lr=lr))
    question = "How much does a layer's gradient change because the layers before it were updated?"
    return Experiment("internal_covariate_shift", question, tuple(cells))
