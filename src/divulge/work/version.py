"""Which version of Divulge is at work, and of what it counts with; results carry them."""

import platform
from importlib import metadata

COUNTED_WITH = ("numpy", "scipy", "numba", "highspy", "ortools", "duckdb")
"""What results depend on: equal ones are promised for equal versions on one kind of processor."""


def version() -> str:
    """The installed version.

    >>> version()[0].isdigit()
    True
    """
    return metadata.version("divulge")


def versions() -> dict[str, str]:
    """Of Python, of the libraries that count and solve, and the kind of processor.

    >>> sorted(versions()) == sorted(["python", "processor", *COUNTED_WITH])
    True
    """
    found = {"python": platform.python_version(), "processor": platform.machine()}
    return found | {name: metadata.version(name) for name in COUNTED_WITH}
