"""Time the check of every claim, and print those that take longest: a check should take two seconds at most.

    python benchmarks/slow_checks.py

The seconds are those of the processor, in a process in which other checks have gone before.
"""

from __future__ import annotations

import os

os.environ["OPENBLAS_NUM_THREADS"] = os.environ["OMP_NUM_THREADS"] = "1"  # before NumPy loads its BLAS

import argparse
import time

from encoderlab.chapters.registry import CLAIMS


def main() -> None:
    """Run every check once."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--show", type=int, default=10, help="how many to print")
    asked = parser.parse_args()
    seconds = {}
    for number, claim in CLAIMS.items():
        start = time.process_time()
        claim.check()
        seconds[number] = time.process_time() - start
    for number in sorted(seconds, key=seconds.__getitem__, reverse=True)[: asked.show]:
        print(f"claim {number:>2}, {CLAIMS[number].chapter:<13} {seconds[number]:5.2f} s")
    print(f"all {len(seconds)}: {sum(seconds.values()):.1f} s")


if __name__ == "__main__":
    main()
