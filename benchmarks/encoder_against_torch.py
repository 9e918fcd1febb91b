"""Time our encoder against PyTorch eager on the same work in the same run, and print the ratio.

    pip install -r requirements.txt torch==2.13.0
    python benchmarks/encoder_against_torch.py

Both get one thread, the same weights and the same input, and take turns, so that a machine whose speed drifts
slows both. The ratio of each pair is what counts: below 1 ours is the faster.
"""

from __future__ import annotations

import os

os.environ["OPENBLAS_NUM_THREADS"] = os.environ["OMP_NUM_THREADS"] = "1"  # before NumPy loads its BLAS

import argparse
import statistics
import time
from collections.abc import Callable

import numpy as np
import torch

from encoderlab.model.encoder import Encoder
from encoderlab.pretrained import from_torch


def pair(batch: int, n: int, d: int, depth: int) -> tuple[torch.nn.Module, Encoder, np.ndarray]:
    """Return PyTorch's encoder, ours with its weights, and an input, all in float32."""
    layer = torch.nn.TransformerEncoderLayer(d, 4, 4 * d, dropout=0.0, batch_first=True)
    theirs = torch.nn.TransformerEncoder(layer, depth, enable_nested_tensor=False).train()
    ours = from_torch(theirs.state_dict(), n_heads=4)
    return theirs, ours, np.random.default_rng(0).normal(size=(batch, n, d)).astype(np.float32)


def seconds(work: Callable[[], object]) -> float:
    """Time one call."""
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def compare(batch: int, n: int, d: int, depth: int, repeats: int) -> None:
    """Print medians and the ratio for forward alone and for forward with backward."""
    theirs, ours, x = pair(batch, n, d, depth)
    g, torch_x = np.ones_like(x), torch.from_numpy(x).requires_grad_()

    def torch_both() -> torch.Tensor:
        theirs.zero_grad()
        torch_x.grad = None
        theirs(torch_x).backward(torch.ones_like(torch_x))
        return torch_x.grad

    difference = np.abs(ours.gradients(x, g)[0] - torch_both().numpy()).max()
    print(f"batch {batch}, n {n}, d {d}, depth {depth}; largest difference of ∂loss/∂x: {difference:.1e}")
    for name, mine, other in (
        ("forward", lambda: ours(x), lambda: theirs(torch_x)),
        ("forward + backward", lambda: ours.gradients(x, g), torch_both),
    ):
        times = [(seconds(mine), seconds(other)) for _ in range(repeats)]
        a, b = (statistics.median(column) * 1e3 for column in zip(*times, strict=True))
        ratio = statistics.median(mine / other for mine, other in times)
        print(f"  {name:19s} ours {a:7.2f} ms   torch {b:7.2f} ms   ratio {ratio:.2f}")


def main() -> None:
    """Compare at the sizes that the book trains."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--repeats", type=int, default=40)
    repeats = parser.parse_args().repeats
    torch.set_num_threads(1)
    for batch in (1, 32):
        compare(batch, n=16, d=64, depth=6, repeats=repeats)


if __name__ == "__main__":
    main()
