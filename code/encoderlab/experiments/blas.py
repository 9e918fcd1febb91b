"""Which code multiplies matrices here: float32 training ends elsewhere where another kernel does."""

from __future__ import annotations

import numpy as np


def blas_kernel() -> str:
    """Name the library behind NumPy's products, its version, and the kernel that it chose for this processor.

    Returns
    -------
    str
        Such as "openblas 0.3.30 SkylakeX". Where threadpoolctl is not installed the kernel is not known.
    """
    try:
        from threadpoolctl import threadpool_info  # type: ignore[import-untyped]
    except ImportError:
        library = np.show_config(mode="dicts")["Build Dependencies"]["blas"]
        return f"{library['name']} {library['version']}, kernel not known"
    loaded = [library for library in threadpool_info() if library["user_api"] == "blas"]
    names = (
        f"{one['internal_api']} {one['version']} {one.get('architecture', '')}".strip() for one in loaded
    )
    return ", ".join(sorted(set(names)))
