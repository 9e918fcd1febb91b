"""Break the code on purpose, one small fault at a time, and see whether a test fails.

    make mutants MUTANTS="figures --sample 100 --seed 0"

A place in the code is drawn, and one of the faults that Cosmic Ray knows for it: another operator, another
number, a loop that never runs, a condition turned round. To these comes one of figures: two neighbours in a
list of arguments change places, as x and y, or two series, or two colours. Each mutant is tried in a copy of
`code/` with the tests of its folder. What survives is printed with its line.

Left out are, and so nothing is known of them:

- type annotations, which mypy reads and no test;
- the arguments in `LOOKS`, which say how large or transparent something is drawn, or where a legend is;
- decorators, since most often it is a cache that goes, without which all is as before, only slower;
- exceptions that are caught, since the name put there is bound nowhere, and whatever comes by fails;
- a number for a variable, since that operator has to be told which variable;
- the playground, whose tests need the built book and a browser.

Some mutants of the rest are no faults. They count as survivors all the same, so that nobody's judgement is in
the score, and these are their kinds:

- the same value in other words: `[-1]` for `[0]` of a list of one, `total > 1` for `total > 0` in `softmax`,
  where a row that is not masked throughout sums to 1 or more since its largest weight is exp(0);
- where a moving artist starts, since `update` puts it elsewhere before anyone looks;
- how finely a curve or a plane is sampled, as 62 rows of points in place of 61;
- how something is drawn, where no argument of `LOOKS` says it: how far dots are spread so as not to hide one
  another, how an arrow bends, how much room the limits of an axis leave, ticks at other right values.
"""

from __future__ import annotations

import argparse
import collections
import itertools
import os
import random
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import parso
from cosmic_ray.ast import ast_nodes, get_ast
from cosmic_ray.mutating import mutate_code
from cosmic_ray.operators.operator import Operator
from cosmic_ray.operators.provider import OperatorProvider

CODE = Path(__file__).resolve().parents[1] / "code"
PACKAGE = "encoderlab"
GROUPS = {
    "model": ["model/*.py"],
    "figures": ["chapters/*/figures.py", "chapters/*/figures/*.py"],
    "claims": ["claims/*.py"],
    "intervals": ["chapters/abstraction/measurements.py", "chapters/abstraction/sentences.py"],
}
LOOKS = frozenset(
    {"height", "width", "lw", "linewidth", "ms", "markersize", "mew", "alpha", "fontsize", "loc", "ncols"}
    | {"bbox_to_anchor", "ha", "va", "pad", "rotation", "columnspacing", "handletextpad", "borderaxespad"}
    | {"zorder", "xytext", "solid_capstyle", "maxsize"}
)
"""Arguments that say how something is drawn, not what."""
SECONDS = 120
"""A mutant that takes this long, and ten times as long as the tests do without a fault, has lost its way."""


class SwapNeighbours(Operator):
    """Let two neighbours in a list of arguments, or in a tuple or list, change places."""

    def mutation_positions(self, node: parso.tree.NodeOrLeaf) -> Iterator[tuple[object, object]]:
        """Name each pair by its ends."""
        for one, other in self._pairs(node):
            yield one.start_pos, other.end_pos

    def mutate(self, node: parso.tree.NodeOrLeaf, index: int) -> parso.tree.NodeOrLeaf:
        """Swap one pair; the space before each stays where it is."""
        one, other = self._pairs(node)[index]
        first, second = one.get_first_leaf(), other.get_first_leaf()
        first.prefix, second.prefix = second.prefix, first.prefix
        i, j = node.children.index(one), node.children.index(other)
        node.children[i], node.children[j] = other, one
        return node

    @staticmethod
    def _pairs(node: parso.tree.NodeOrLeaf) -> list[tuple[parso.tree.NodeOrLeaf, parso.tree.NodeOrLeaf]]:
        if node.type not in ("arglist", "testlist_comp", "testlist_star_expr", "exprlist"):
            return []
        items = [child for child in node.children if child.type != "operator"]
        return [
            (one, other)
            for one, other in itertools.pairwise(items)
            if {one.type, other.type}.isdisjoint({"argument", "sync_comp_for", "comp_for", "star_expr"})
            and one.get_code().strip() != other.get_code().strip()
        ]

    @classmethod
    def examples(cls) -> tuple[()]:
        """Give none."""
        return ()


@dataclass(frozen=True)
class Mutant:
    """One fault: where it is, and what is done there."""

    path: Path
    operator: str
    occurrence: int
    start: tuple[int, int]

    def code(self) -> str:
        """Return the module with the fault in it."""
        return mutate_code(self.path.read_text(encoding="utf-8"), _operator(self.operator), self.occurrence)


def _operator(name: str) -> Operator:
    return SwapNeighbours() if name == "SwapNeighbours" else OperatorProvider()[name]()


def mutants(path: Path) -> Iterator[Mutant]:
    """List every fault that a module can be given."""
    tree = get_ast(path.read_text(encoding="utf-8"))
    for name in (*OperatorProvider(), "SwapNeighbours"):
        if name in ("VariableReplacer", "VariableInserter", "ExceptionReplacer", "RemoveDecorator"):
            continue
        operator = _operator(name)
        places = [(node, *place) for node in ast_nodes(tree) for place in operator.mutation_positions(node)]
        for occurrence, (node, start, _) in enumerate(places):
            if not _out_of_sight(node):
                yield Mutant(path, name, occurrence, start)


def _out_of_sight(node: parso.tree.NodeOrLeaf) -> bool:
    """Whether a node stands in an annotation, or in an argument that says how something is drawn."""
    child = node
    while (parent := child.parent) is not None:
        if parent.type == "argument" and parent.children[0].get_code().strip() in LOOKS:
            return True
        if (
            parent.type in ("tfpdef", "annassign")
            and child is parent.children[-1 if parent.type == "tfpdef" else 1]
        ):
            return True
        if parent.type == "funcdef" and child is parent.annotation:
            return True
        child = parent
    return False


def tests_of(path: Path) -> list[str]:
    """Name the tests that ought to notice a fault in a module, the nearest first."""
    room, *inner = path.relative_to(CODE / PACKAGE).parts
    if room == "chapters":
        here = CODE / "tests" / "chapters" / inner[0]
        if "figures" not in str(path):
            return [f"tests/chapters/{inner[0]}/test_{path.stem}.py"]
        kinds = ("pictures_*", "figures_*", path.stem)
        found = sorted({test for kind in kinds for test in here.glob(f"test_{kind}.py")})
        names = re.compile(rf"\b{path.stem}\b")
        found.sort(key=lambda test: names.search(test.read_text(encoding="utf-8")) is None)
        return [test.relative_to(CODE).as_posix() for test in (*found, CODE / "tests" / "test_pictures.py")]
    if room == "claims":
        return ["tests/claims", "-k", "not (bears_out or seeded)", f"{PACKAGE}/claims"]
    nearest = (
        [f"tests/{room}/test_{path.stem}.py"] if (CODE / f"tests/{room}/test_{path.stem}.py").exists() else []
    )
    return [*nearest, f"tests/{room}", f"{PACKAGE}/{room}"]


def fate(mutant: Mutant, copy: Path, tests: tuple[str, ...], limit: float) -> str:
    """Put a fault into a copy of the code, run the tests there, and take it out again."""
    place = copy / mutant.path.relative_to(CODE)
    place.write_text(mutant.code(), encoding="utf-8")
    try:
        return "survived" if passes(tests, copy, limit) else "killed"
    except subprocess.TimeoutExpired:
        return "ran on"
    finally:
        shutil.copy(mutant.path, place)


def passes(tests: tuple[str, ...], copy: Path, limit: float | None = None) -> bool:
    """Run tests on a copy of the code."""
    command = [sys.executable, "-m", "pytest", "-x", "-q", "-p", "no:cacheprovider", *tests]
    setting = os.environ | {
        "PYTHONPATH": str(copy),
        "OPENBLAS_NUM_THREADS": "1",
        "PYTHONDONTWRITEBYTECODE": "1",
    }
    done = subprocess.run(command, cwd=copy, env=setting, capture_output=True, timeout=limit, check=False)
    return done.returncode == 0


def changed(mutant: Mutant) -> str:
    """Say where a fault is, and what the line became."""
    before, after = mutant.path.read_text(encoding="utf-8").splitlines(), mutant.code().splitlines()
    line = next(k for k, pair in enumerate(zip(before, after, strict=False)) if pair[0] != pair[1])
    where = mutant.path.relative_to(CODE / PACKAGE)
    return f"{where}:{line + 1} {mutant.operator}\n    - {before[line].strip()}\n    + {after[line].strip()}"


def main() -> None:
    """Draw mutants, try them one after another, and print what survived."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "groups", nargs="*", choices=[[], *GROUPS], help=f"of {', '.join(GROUPS)}; all unless given"
    )
    parser.add_argument("--sample", type=int, default=100, help="places drawn in each group")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--least", type=float, default=0.0, help="share killed, below which this fails")
    asked = parser.parse_args()
    os.nice(10)
    short = []
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder) / "code"
        shutil.copytree(CODE, copy, ignore=shutil.ignore_patterns("__pycache__", ".*_cache", "*.egg-info"))
        for page in ("chapters", "intro.md", "_static"):  # some tests read them
            (Path(folder) / page).symlink_to(CODE.parent / page)
        for group in asked.groups or GROUPS:
            paths = sorted(path for pattern in GROUPS[group] for path in (CODE / PACKAGE).glob(pattern))
            paths = [path for path in paths if "playground" not in path.parts]
            by_place = collections.defaultdict(list)
            for mutant in (mutant for path in paths for mutant in mutants(path)):
                by_place[mutant.path, mutant.start, mutant.operator == "SwapNeighbours"].append(mutant)
            rng = random.Random(asked.seed)
            places = rng.sample(sorted(by_place), min(asked.sample, len(by_place)))
            drawn = [rng.choice(by_place[place]) for place in places]
            tests = {mutant.path: tuple(tests_of(mutant.path)) for mutant in drawn}
            took = {}
            for each in sorted(set(tests.values())):
                begun = time.perf_counter()
                if not passes(each, copy):
                    raise SystemExit(f"the tests must pass without a fault, these do not: {' '.join(each)}")
                took[each] = time.perf_counter() - begun
            fates: collections.Counter[str] = collections.Counter()
            for mutant in drawn:
                told = fate(mutant, copy, tests[mutant.path], max(SECONDS, 10 * took[tests[mutant.path]]))
                fates[told] += 1
                if told == "survived":
                    print(changed(mutant), flush=True)
            share = 1 - fates["survived"] / len(drawn)
            short += [group] * (share < asked.least)
            print(
                f"{group}: of {len(by_place)} places {len(drawn)} drawn with seed {asked.seed}, "
                f"{fates['killed']} killed and {fates['ran on']} that ran on "
                f"({share:.0%})",
                flush=True,
            )
    if short:
        raise SystemExit(f"fewer than {asked.least:.0%} were killed in {', '.join(short)}")


if __name__ == "__main__":
    main()
