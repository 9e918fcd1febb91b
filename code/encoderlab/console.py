"""What a command prints reaches any terminal and any file: σ, ≤ and ′ are not in every code page."""

from __future__ import annotations

import io
import sys


def print_any_sign() -> None:
    """Write UTF-8 to files and pipes; on a terminal, spell out what its code page lacks.

    A file takes the code page of Windows otherwise, which ends a command at the first sign outside it.
    """
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            encoding = stream.encoding if stream.isatty() else "utf-8"
            stream.reconfigure(encoding=encoding, errors="backslashreplace")
