"""Minibatch Adam, checkpoints, and the models and tasks that the book trains."""

from encoderlab.training.loop import Classification, Training, train

__all__ = ["Classification", "Training", "train"]
