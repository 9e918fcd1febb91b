"""Train the results that the book shows.

python -m encoderlab.experiments              all that are not there yet
python -m encoderlab.experiments induction    one of them
python -m encoderlab.experiments --list       what there is
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from encoderlab.console import print_any_sign
from encoderlab.experiments import EXPERIMENTS
from encoderlab.experiments.results import DATA, load
from encoderlab.experiments.runner import run


def main(arguments: list[str] | None = None) -> int:
    """Run from the command line; return the exit status."""
    parser = argparse.ArgumentParser(
        prog="python -m encoderlab.experiments",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("names", nargs="*", metavar="NAME", help="which to train; all when none is named")
    parser.add_argument("--list", action="store_true", help="say which there are, and stop")
    parser.add_argument("--force", action="store_true", help="train again what is finished, and replace it")
    parser.add_argument("--quiet", action="store_true", help="no progress bar")
    parser.add_argument("--directory", type=Path, default=DATA, help="where the results go")
    options = parser.parse_args(arguments)
    unknown = [name for name in options.names if name not in EXPERIMENTS]
    if unknown:
        parser.error(f"no experiment {', '.join(unknown)}: there are {', '.join(EXPERIMENTS)}")
    for name in options.names or EXPERIMENTS:
        experiment = EXPERIMENTS[name]()
        if options.list:
            there = (options.directory / f"{name}.json").exists()
            runs = len(experiment.cells) * len(experiment.seeds)
            print(f"{name:18}{runs:4} runs  {'finished' if there else 'to do':9} {experiment.question}")
            continue
        try:
            path = run(experiment, options.directory, force=options.force, progress=not options.quiet)
        except FileExistsError as error:
            if options.names:  # named, so it was meant
                print(error, file=sys.stderr)
                return 1
            print(f"{name} is finished")
        except ValueError as error:
            print(error, file=sys.stderr)
            return 1
        else:
            done = load(name, options.directory).runs
            steps = [str(one.diverged_at) for one in done if one.diverged_at is not None]
            print(f"{path}: {len(done)} runs", *(["diverged at steps", ", ".join(steps)] if steps else []))
    return 0


if __name__ == "__main__":
    print_any_sign()
    try:
        sys.exit(main())
    except KeyboardInterrupt:
        sys.exit("stopped: the same command goes on from here")
