"""Compile every kernel of the house once, so that no user waits for it.

Each package that has kernels says in its own `warm` module how they are called, since types are
known by calls alone.

Run: python -m divulge.engines.warm
"""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Iterator

import divulge
from divulge.work import step


def find_warm_modules() -> Iterator[str]:
    """The `warm` modules of all packages, in the order of their names.

    >>> next(find_warm_modules())
    'divulge.events.warm'
    """
    for package in pkgutil.iter_modules(divulge.__path__, "divulge."):
        if package.ispkg and package.name != "divulge.engines":
            inside = importlib.import_module(package.name).__path__
            yield from (
                m.name
                for m in pkgutil.iter_modules(inside, f"{package.name}.")
                if m.name.endswith(".warm")
            )


def warm_all() -> int:
    """Compile the kernels of all packages; how many packages have some."""
    names = list(find_warm_modules())
    with step("Compiling, which is needed once", len(names)) as progress:
        for name in names:
            importlib.import_module(name).warm()
            progress.advance()
    return len(names)


if __name__ == "__main__":
    warm_all()
