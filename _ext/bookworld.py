"""What the build tells the cells it runs, and how long it trusts what they printed.

The cells learn that they draw for a page, not for a kernel. Their outputs are kept for as long as the code
that made them stands and the packages beneath it stay the same: jupyter-cache looks at the notebook alone, so
each state of the package and of what is installed gets a cache of its own.
"""

from __future__ import annotations

import hashlib
import importlib.metadata
import os
import platform
import re
import shutil
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

from sphinx.application import ENV_PICKLE_FILENAME

if TYPE_CHECKING:
    from sphinx.application import Sphinx
    from sphinx.config import Config

REQUIREMENTS = "requirements.txt"

KEPT_CACHES = 4
"""States of the code whose outputs are kept, so that an edit taken back costs nothing."""


def fingerprint(root: Path, files: Iterable[Path]) -> str:
    """Name the state of some files.

    Parameters
    ----------
    root : Path
        Folder that the file names are taken relative to.
    files : iterable of Path
        The files, in any order.

    Returns
    -------
    str
        Sixteen hexadecimal digits that depend on names and contents alone.
    """
    digest = hashlib.sha256()
    for path in sorted(files):
        content = path.read_bytes()
        digest.update(f"{path.relative_to(root).as_posix()}\0{len(content)}\0".encode())
        digest.update(content)
    return digest.hexdigest()[:16]


def code_behind_the_cells(root: Path) -> list[Path]:
    """List the files that a cell's output can depend on, besides the cell."""
    package = (path for path in (root / "code" / "encoderlab").rglob("*") if path.is_file())
    return [*(path for path in package if "__pycache__" not in path.parts), root / REQUIREMENTS]


def versions_behind_the_cells(root: Path) -> str:
    """Name Python's version, and that installed of each package which the lock names, whatever it pins."""
    lines = (root / REQUIREMENTS).read_text(encoding="utf-8").splitlines()
    names = sorted({match[0] for line in lines if (match := re.match(r"[A-Za-z0-9][\w.-]*", line))})
    installed = [f"{name} {version}" for name in names if (version := version_of(name))]
    return "\n".join([f"Python {platform.python_version()}", *installed])


def version_of(package: str) -> str:
    """Return the version of a package, "" where it is not installed, as those for other systems are not."""
    try:
        return importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        return ""


def prune(caches: Path, current: str) -> None:
    """Mark the current cache as used last, and delete all but the `KEPT_CACHES` used last."""
    (caches / current).mkdir(parents=True, exist_ok=True)
    os.utime(caches / current)
    by_age = sorted(filter(Path.is_dir, caches.iterdir()), key=lambda path: path.stat().st_mtime)
    for old in by_age[:-KEPT_CACHES]:
        shutil.rmtree(old)


def isolate_kernels(folder: Path) -> None:
    """Keep the reader's own IPython profile out of the build, and the kernels' word on TCP out of its log."""
    profile = folder / "profile_default"
    profile.mkdir(parents=True, exist_ok=True)
    (profile / "ipython_kernel_config.py").write_text("c.IPKernelApp.log_level = 'ERROR'\n", encoding="utf-8")
    os.environ["IPYTHONDIR"] = str(folder)


def tell_the_cells(app: Sphinx, config: Config) -> None:
    """Set the cells' world, and tie cached outputs and parsed pages to the code they come from."""
    root = Path(app.srcdir)
    os.environ["ENCODERLAB_WORLD"] = "page"
    isolate_kernels(root / "_build" / ".ipython")
    files = fingerprint(root, code_behind_the_cells(root))
    state = hashlib.sha256(f"{files}\n{versions_behind_the_cells(root)}".encode()).hexdigest()[:16]
    caches = root / "_build" / ".jupyter_cache"
    prune(caches, state)
    config.nb_execution_cache_path = str(caches / state)
    config.bookworld_extensions = fingerprint(root, (root / "_ext").glob("*.py"))


def defer_scripts(app: Sphinx, config: Config) -> None:
    """Let the book's own scripts wait for the page: Jupyter Book puts them all into every head.

    It lists them as the disk does, which is another order on another machine.
    """
    own = sorted(script for script in config.html_js_files if isinstance(script, str))
    others = [script for script in config.html_js_files if not isinstance(script, str)]
    config.html_js_files = [*others, *((script, {"defer": "defer"}) for script in own)]
    config.html_css_files = sorted(config.html_css_files, key=str)


def forget_after_warnings(app: Sphinx, error: Exception | None) -> None:
    """Make the next build read and warn again: Sphinx would pass over an unmended page as unchanged."""
    pages_as_read = Path(app.doctreedir, ENV_PICKLE_FILENAME)
    if error or app._warncount:
        pages_as_read.unlink(missing_ok=True)


def setup(app: Sphinx) -> dict[str, object]:
    """Connect to Sphinx, before MyST-NB reads its settings."""
    app.add_config_value("bookworld_extensions", "", "env", [str])  # an edited extension re-reads every page
    app.connect("config-inited", tell_the_cells, priority=1)
    app.connect("config-inited", defer_scripts, priority=1)
    app.connect("build-finished", forget_after_warnings)
    return {"version": "1", "env_version": 1, "parallel_read_safe": True, "parallel_write_safe": True}
