"""A cell that trains a classifier on a task."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields
from pathlib import Path
from typing import Any, Literal, get_args

import numpy as np

from encoderlab.experiments.experiment import Outcome
from encoderlab.model.arrays import FloatArray
from encoderlab.model.config import Norm
from encoderlab.model.encoder import EncoderConfig
from encoderlab.training import Classification, Training, train
from encoderlab.training.classifier import Classifier, Positions
from encoderlab.training.many_starts import ManyStarts
from encoderlab.training.tasks import TASKS, Task

NORMS: tuple[Norm, ...] = get_args(Norm)


@dataclass(frozen=True)
class ClassifierCell:
    """A task, an architecture and a way to train it.

    Pre-LN gets a final norm, as is usual: nothing else would bound the stream that is read.

    Parameters
    ----------
    task : str
        A name in `encoderlab.training.tasks.TASKS`.
    options : mapping
        What the task is made with.
    depth, n_heads, d_model, ffn, residual, norm
        Of `EncoderConfig`; d_ff is four times d_model.
    positions : {"none", "learned", "sinusoidal"}
    batch, steps, lr, warmup
        Of `encoderlab.training`.
    dtype : {"float32", "float64"}
        float64 where a test trains it again, perhaps on another processor: rounding then stays far below the
        digits that are stored.
    """

    task: str
    options: Mapping[str, Any] = field(default_factory=dict)
    depth: int = 1
    n_heads: int = 1
    d_model: int = 32
    ffn: bool = False
    residual: bool = True
    norm: Norm = "none"
    positions: Positions = "none"
    batch: int = 128
    steps: int = 2000
    lr: float = 3e-3
    warmup: int = 100
    dtype: Literal["float32", "float64"] = "float32"

    @classmethod
    def of(cls, settings: Mapping[str, Any]) -> ClassifierCell:
        """Undo `settings`."""
        own = {item.name for item in fields(cls)} - {"options"}
        options = {name: value for name, value in settings.items() if name not in own}
        return cls(options=options, **{name: value for name, value in settings.items() if name in own})

    @property
    def settings(self) -> dict[str, Any]:
        """All fields, the task's options among them."""
        settings = asdict(self)
        options: dict[str, Any] = settings.pop("options")
        return settings | options

    @property
    def config(self) -> EncoderConfig:
        """The encoder's sizes and switches."""
        return EncoderConfig(
            d_model=self.d_model,
            n_heads=self.n_heads,
            d_ff=4 * self.d_model,
            depth=self.depth,
            ffn=self.ffn,
            residual=self.residual,
            norm=self.norm,
            final_norm=self.norm == "pre",
        )

    def make_task(self) -> Task:
        """Make the task."""
        return TASKS[self.task](**self.options)

    def baselines(self) -> Mapping[str, float]:
        """Compute the baselines of the task."""
        return self.make_task().baselines

    def untrained(self, rng: np.random.Generator) -> Classifier:
        """Draw the model as training finds it."""
        dtype = np.dtype(self.dtype).type
        return Classifier.random(self.make_task().shape, self.config, rng, self.positions, dtype)

    def trained(self, parameters: Mapping[str, FloatArray]) -> Classifier:
        """Put trained parameters into the model."""
        return Classifier(self.make_task().shape, self.config, parameters, self.positions)

    def train(
        self, seed: int, checkpoint: Path | None = None, identity: str = "", progress: str | None = None
    ) -> Outcome:
        """Train from a seed, which draws the weights and, apart from them, the batches."""
        weights_rng, batches_rng = np.random.default_rng(seed).spawn(2)
        task, model = self.make_task(), self.untrained(weights_rng)
        training = train(
            Classification(model, task, self.batch),
            batches_rng,
            steps=self.steps,
            lr=self.lr,
            warmup=self.warmup,
            checkpoint=checkpoint,
            identity=identity,
            progress=progress,
        )
        return Outcome(training, {"accuracy": self._accuracy(model)}, model.parameters)

    def train_together(self, seeds: tuple[int, ...]) -> list[Outcome]:
        """Train from many seeds at once, where all examples of the task are in every step.

        Raises
        ------
        ValueError
            If they are more than a batch holds.
        """
        every = self.make_task().every
        if every is None or len(every.target) > self.batch:
            examples = "without end" if every is None else len(every.target)
            raise ValueError(f"examples must fit in a batch of {self.batch}, got {examples}")
        models = [self.untrained(np.random.default_rng(seed).spawn(2)[0]) for seed in seeds]
        losses = ManyStarts(models, every).train(steps=self.steps, lr=self.lr, warmup=self.warmup)
        return [
            Outcome(Training(curve, None), {"accuracy": self._accuracy(model)}, model.parameters)
            for curve, model in zip(losses, models, strict=True)
        ]

    def _accuracy(self, model: Classifier) -> float:
        """Work the answers out in float64: where a model gives all one half, rounding would decide."""
        features, target = self.make_task().examination()
        exact = self.trained({name: array.astype(np.float64) for name, array in model.parameters.items()})
        with np.errstate(over="ignore", invalid="ignore"):  # of a model that is about to diverge
            return exact.accuracy(features.astype(np.float64), target)
