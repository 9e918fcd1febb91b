"""A file knows only what stands below it, a chapter also earlier chapters; the encoder needs NumPy alone."""

import ast
import sys
from pathlib import Path

import pytest

import encoderlab
from encoderlab.chapters import registry

PACKAGE = Path(encoderlab.__file__).parent
FLOORS = {  # each folder, and what stands below it
    "model": set(),
    "pretrained": {"model"},
    "training": {"model"},
    "experiments": {"model", "training", "console"},
    "explorer": {"model", "numerals"},
    "claims": {"model", "numerals", "console"},
}
CHAPTERS = [chapter.__name__.split(".")[2] for chapter in registry.CHAPTERS]  # in reading order
ENTRY_POINTS = {"claims/__main__.py"}  # a command stands above everything that it prints
MODULES = sorted(path.relative_to(PACKAGE).as_posix() for path in PACKAGE.rglob("*.py"))


def imports(module: str) -> list[ast.Import | ast.ImportFrom]:
    """Return the import statements of a module, those inside functions too."""
    tree = ast.parse((PACKAGE / module).read_text(encoding="utf-8"))
    return [node for node in ast.walk(tree) if isinstance(node, ast.Import | ast.ImportFrom)]


def imported(module: str) -> set[str]:
    """Return the dotted names that a module imports, with the module they come from."""
    names = set()
    for node in imports(module):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        else:
            assert node.level == 0, f"{module} imports by a relative name"
            names |= {f"{node.module}.{alias.name}" for alias in node.names}
    return names


def rooms(module: str) -> set[tuple[str, ...]]:
    """Return the folders of the package that a module imports from, chapters with their name."""
    found = set()
    for name in imported(module):
        package, *rest = name.split(".")
        if package == "encoderlab" and rest:
            found.add(tuple(rest[:2]) if rest[0] == "chapters" else (rest[0],))
    return found


def test_every_folder_has_its_floor():
    folders = {path.name for path in PACKAGE.iterdir() if path.is_dir() and path.name != "__pycache__"}
    assert folders == FLOORS.keys() | {"chapters"}
    assert {path.name for path in (PACKAGE / "chapters").iterdir()} >= set(CHAPTERS)


@pytest.mark.parametrize("module", [m for m in MODULES if not m.startswith("chapters/") and "/" in m])
def test_what_is_shared_knows_no_chapter(module):
    if module in ENTRY_POINTS:
        return
    own = module.split("/")[0]
    assert {room[0] for room in rooms(module)} <= FLOORS[own] | {own}


@pytest.mark.parametrize(
    "module", [m for m in MODULES if m.startswith("chapters/") and m.split("/")[1] in CHAPTERS]
)
def test_a_chapter_knows_earlier_chapters_only(module):
    earlier = CHAPTERS[: CHAPTERS.index(module.split("/")[1]) + 1]
    assert {room[1] for room in rooms(module) if room[0] == "chapters"} <= set(earlier)


@pytest.mark.parametrize(
    "module", [m for m in MODULES if "figures" not in m and not m.startswith("explorer/")]
)
def test_only_figures_draw(module):
    assert not any(name.startswith(("matplotlib", "ipywidgets", "IPython")) for name in imported(module))


@pytest.mark.parametrize("module", [m for m in MODULES if m.startswith(("model/", "claims/"))])
def test_the_encoder_and_the_claims_need_numpy_alone(module):
    assert {name.split(".")[0] for name in imported(module)} <= sys.stdlib_module_names | {
        "numpy",
        "encoderlab",
    }
