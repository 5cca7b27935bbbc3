"""Where counting is done: engines take Arrow tables and arrays, and give arrays back.

They know nothing of datasets, roles or attacks. DuckDB counts on one machine and spills to disk;
Spark Connect reaches servers, and Sail is one in this process.
"""

from divulge.engines.classes import ClassSizes, class_sizes
from divulge.engines.duck import DuckSession, identifier
from divulge.engines.kernel import kernel
from divulge.engines.lake import (
    DatabaseTable,
    Lake,
    LakeTable,
    LakeView,
    ParquetFiles,
    open_views,
)
from divulge.engines.session import BlockQuery, EngineError, Session, WorkersLackDivulge
from divulge.work.arrays import Ints as IntArray

__all__ = [
    "BlockQuery",
    "ClassSizes",
    "DatabaseTable",
    "DuckSession",
    "EngineError",
    "IntArray",
    "Lake",
    "LakeTable",
    "LakeView",
    "ParquetFiles",
    "Session",
    "WorkersLackDivulge",
    "class_sizes",
    "identifier",
    "kernel",
    "open_views",
]
