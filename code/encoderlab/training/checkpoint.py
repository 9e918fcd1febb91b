"""Checkpoints: all that a run needs to go on exactly where it stopped, in one file, never half written."""

from __future__ import annotations

import io
import json
import os
import struct
import tokenize
import zipfile
import zlib
from pathlib import Path

import numpy as np

from encoderlab.model.arrays import FloatArray
from encoderlab.training.adam import Adam

VERSION = 1
DAMAGE = (
    zipfile.BadZipFile,
    zlib.error,
    tokenize.TokenError,
    struct.error,
    SyntaxError,
    RuntimeError,
    MemoryError,
    OverflowError,
    EOFError,
    LookupError,
    AttributeError,
    TypeError,
    ValueError,
)
"""What `numpy.load` and the reading of its arrays raise when a file is cut off or a bit of it has flipped."""


def write_atomically(path: Path, content: bytes) -> None:
    """Write a file beside its place and move it there, so that a reader finds the old one or the new one."""
    path.parent.mkdir(parents=True, exist_ok=True)
    beside = path.with_name(f"{path.name}.{os.getpid()}.tmp")
    try:
        beside.write_bytes(content)
        os.replace(beside, path)
    finally:
        beside.unlink(missing_ok=True)


def save(path: Path, identity: str, adam: Adam, rng: np.random.Generator, losses: FloatArray) -> None:
    """Write the parameters, Adam's moments and step count, the generator's state and the losses so far.

    Parameters
    ----------
    path : Path
    identity : str
        Says what is trained; `restore` refuses any other.
    adam : Adam
        Its `vector` holds the parameters.
    rng : numpy.random.Generator
    losses : ndarray, shape (steps done,)
    """
    about = {"version": VERSION, "identity": identity, "rng": rng.bit_generator.state}
    buffer = io.BytesIO()
    np.savez(buffer, about=json.dumps(about), vector=adam.vector, m=adam.m, v=adam.v, losses=losses)
    write_atomically(path, buffer.getvalue())


def restore(path: Path, identity: str, adam: Adam, rng: np.random.Generator) -> FloatArray:
    """Put an optimiser, its parameters and a generator, in place, where `save` found them.

    Parameters
    ----------
    path : Path
    identity : str
        Of the run that is to go on: the command that trains it, and which run it is.
    adam, rng
        Whose state is set.

    Returns
    -------
    losses : ndarray, shape (steps done,)

    Raises
    ------
    ValueError
        If the file is damaged, of another version, or of another run. Nothing is changed then.
    """
    remedy = f"delete it and start again with {identity}"
    try:
        content = io.BytesIO(path.read_bytes())  # NumPy would leave a damaged file open
        with np.load(content, allow_pickle=False) as file:
            about = json.loads(str(file["about"]))
            vector, m, v = file["vector"], file["m"], file["v"]
            losses: FloatArray = file["losses"]
        version, found, state = about["version"], about["identity"], about["rng"]
    except DAMAGE as error:
        raise ValueError(f"checkpoint {path} is damaged ({error}): {remedy}") from error
    if version != VERSION:
        raise ValueError(f"checkpoint {path} has version {version}, expected {VERSION}: {remedy}")
    if found != identity:
        raise ValueError(f"checkpoint {path} is of {found!r}, expected {identity!r}: {remedy}")
    same = adam.vector
    if any(array.shape != same.shape or array.dtype != same.dtype for array in (vector, m, v)):
        raise ValueError(f"checkpoint {path} has other parameters than the model: {remedy}")
    adam.vector[:], adam.m[:], adam.v[:], adam.steps = vector, m, v, len(losses)
    rng.bit_generator.state = state
    return losses
