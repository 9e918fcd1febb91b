"""Weights that others trained: PyTorch's state dicts, and a published sentence encoder."""

from encoderlab.pretrained.minilm import sentence_encoder
from encoderlab.pretrained.torch_encoder import from_torch

__all__ = ["from_torch", "sentence_encoder"]
