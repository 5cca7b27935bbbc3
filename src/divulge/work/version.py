"""Which version of Divulge is at work, and of what it counts with; results carry them."""

import platform
from importlib import metadata

COMPUTING_LIBRARIES = ("numpy", "scipy", "numba", "highspy", "ortools", "duckdb")
"""What results depend on: equal ones are promised for equal versions on one kind of processor."""


def version() -> str:
    """The installed version.

    >>> version()[0].isdigit()
    True
    """
    return metadata.version("divulge")


def versions() -> dict[str, str]:
    """Of Python, of the libraries that count and solve, and the kind of processor.

    >>> sorted(versions()) == sorted(["python", "processor", *COMPUTING_LIBRARIES])
    True
    """
    platform_versions = {"python": platform.python_version(), "processor": platform.machine()}
    return platform_versions | {name: metadata.version(name) for name in COMPUTING_LIBRARIES}
