"""A student of one layer against a teacher of two (claim 23)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from encoderlab.experiments.experiment import Experiment, Outcome
from encoderlab.model.arrays import FloatArray
from encoderlab.model.encoder import Encoder, EncoderConfig
from encoderlab.training import train
from encoderlab.training.distillation import Distillation, best_affine_error, random_teacher, relative_error

EXAMINATION = 4096
"""Fresh sequences on which a student is measured."""


@dataclass(frozen=True)
class StudentCell:
    """An attention-only student of a two-layer attention-only teacher, on tokens from N(0, I).

    One head, no residual, no FFN and no norm, as in the note; a student may have more heads.

    Parameters
    ----------
    logit_scale : float
        Of the teacher; see `encoderlab.training.distillation.random_teacher`.
    depth, n_heads : int
        Of the student.
    n, d_model : int
        Tokens and width, of both.
    batch, steps, lr, warmup
        Of `encoderlab.training`.
    """

    logit_scale: float
    depth: int = 1
    n_heads: int = 1
    n: int = 4
    d_model: int = 4
    batch: int = 128
    steps: int = 2500
    lr: float = 5e-3
    warmup: int = 100

    @property
    def settings(self) -> dict[str, Any]:
        """All fields."""
        return asdict(self)

    def config(self, depth: int, n_heads: int) -> EncoderConfig:
        """Give the sizes of teacher or student."""
        return EncoderConfig(
            d_model=self.d_model, n_heads=n_heads, depth=depth, ffn=False, residual=False, norm="none"
        )

    def teacher(self, seed: int) -> Encoder:
        """Draw the teacher of a seed, the same for all students; logit scales differ in W_Q alone."""
        rng = np.random.default_rng([seed, 1])
        return random_teacher(self.config(depth=2, n_heads=1), self.n, self.logit_scale, rng)

    def tokens(self) -> FloatArray:
        """Draw the sequences on which errors are measured, (EXAMINATION, n, d_model)."""
        rng = np.random.default_rng(2**32 - 1)
        return rng.normal(size=(EXAMINATION, self.n, self.d_model))

    def baselines(self) -> Mapping[str, float]:
        """Relative error of always giving the mean; each run measures that of the best affine map."""
        return {"mean": 1.0}

    def train(
        self, seed: int, checkpoint: Path | None = None, identity: str = "", progress: str | None = None
    ) -> Outcome:
        """Train a student from a seed, which also draws its teacher."""
        weights_rng, batches_rng = np.random.default_rng(seed).spawn(2)
        teacher = self.teacher(seed)
        student = Encoder.random(self.config(self.depth, self.n_heads), weights_rng)
        objective = Distillation.of(student, teacher, self.n, self.batch)
        training = train(
            objective,
            batches_rng,
            steps=self.steps,
            lr=self.lr,
            warmup=self.warmup,
            checkpoint=checkpoint,
            identity=identity,
            progress=progress,
        )
        x = self.tokens()
        target = teacher(x)
        measures = {
            "relative error": relative_error(objective.student(x), target),
            "affine error": best_affine_error(x, target),
        }
        return Outcome(training, measures, objective.student.parameters())


def student() -> Experiment:
    """Students of one layer, of one with more heads, and of two, over the spread of the teacher's logits.

    The last cells are larger, and harder to train: there not every student of two layers finds its teacher.
    """
    base = StudentCell(logit_scale=1.0)
    cells = [replace(base, n=3, batch=32, steps=500)]
    for scale in (0.5, 1.0, 2.0, 4.0):
        for depth, n_heads in ((1, 1), (1, 2), (1, 4), (2, 1)):
            cells.append(replace(base, logit_scale=scale, depth=depth, n_heads=n_heads))
    cells += [replace(base, n=6, d_model=8, logit_scale=2.0, depth=depth) for depth in (1, 2)]
    return Experiment("student", "Can one attention layer learn what two compute?", tuple(cells))
