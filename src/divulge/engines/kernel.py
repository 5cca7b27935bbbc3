"""How hot loops are compiled: once, at set-up, and kept for every process after.

numba takes seconds to import and to compile, so a part keeps its kernels in a `*kernels.py` that is
imported only inside the functions that need it. The cache of compiled code does not see an edit in
another file: a kernel calls only kernels of its own file.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

F = TypeVar("F", bound=Callable[..., Any])


def kernel(function: F) -> F:
    """Compile a function over arrays; it runs without Python's lock, so threads run side by side.

    Where no folder can be written to, the code is compiled anew in every process.

    >>> @kernel
    ... def doubled(number):
    ...     return 2 * number
    >>> doubled(21)
    42
    """
    import numba

    options: dict[str, Any] = {"nogil": True, "error_model": "numpy"}
    try:
        compiled: F = numba.njit(cache=True, **options)(function)
    except RuntimeError:  # numba found no folder that it may write to
        compiled = numba.njit(**options)(function)
    return compiled
