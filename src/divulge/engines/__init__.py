"""Where counting is done: engines take Arrow tables and arrays, and give arrays back.

They know nothing of datasets, roles or attacks. DuckDB counts on one machine and spills to disk.
"""

from divulge.engines.classes import ClassSizes, class_sizes
from divulge.engines.duck import DuckSession, identifier
from divulge.engines.kernel import kernel
from divulge.work.arrays import Ints as IntArray

__all__ = [
    "ClassSizes",
    "DuckSession",
    "IntArray",
    "class_sizes",
    "identifier",
    "kernel",
]
