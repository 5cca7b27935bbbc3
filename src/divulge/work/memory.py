"""Memory is planned: a run that will not fit says so before it starts, and what could be done."""

from __future__ import annotations

import mmap
import os
import resource
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from divulge.work import tuning
from divulge.work.problems import Interruption

if TYPE_CHECKING:
    from numpy.typing import NDArray


_CGROUP_LIMITS = (
    ("/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory.current"),
    (
        "/sys/fs/cgroup/memory/memory.limit_in_bytes",
        "/sys/fs/cgroup/memory/memory.usage_in_bytes",
    ),
)


class NotEnoughMemory(Interruption):
    """The run would not fit into the memory that is free."""


@dataclass(frozen=True)
class MemoryPlan:
    """What a run will hold in memory, in bytes, by what it is held for.

    >>> plan = MemoryPlan("reading pupils.parquet", {"codes": 2**40})
    >>> plan.require(free=2**30, otherwise="read fewer columns")
    Traceback (most recent call last):
    divulge.work.memory.NotEnoughMemory: reading pupils.parquet needs about 1,024 GiB of memory
        (codes 1,024 GiB) and 1 GiB is free: read fewer columns
    """

    what: str
    needs: Mapping[str, int]

    @property
    def total(self) -> int:
        """All that the run will hold."""
        return sum(self.needs.values())

    def fits(self, free: int | None = None) -> bool:
        """Whether the run fits into the memory that is free."""
        free = available_memory() if free is None else free
        return self.total <= free * (1 - tuning.RESERVED_SHARE)

    def require(self, otherwise: str, free: int | None = None) -> None:
        """Raise `NotEnoughMemory` if it will not fit; `otherwise` says what the user can do."""
        free = available_memory() if free is None else free
        if self.fits(free):
            return
        raise NotEnoughMemory(f"{self.describe(free)}: {otherwise}")

    def describe(self, free: int | None = None) -> str:
        """What it needs and what is free, for a message.

        >>> MemoryPlan("reading pupils.parquet", {"codes": 2**40}).describe(free=2**30)
        'reading pupils.parquet needs about 1,024 GiB of memory (codes 1,024 GiB) and 1 GiB is free'
        """
        free = available_memory() if free is None else free
        parts = ", ".join(f"{name} {_format_gib(size)}" for name, size in self.needs.items())
        return (
            f"{self.what} needs about {_format_gib(self.total)} of memory ({parts}) "
            f"and {_format_gib(free)} is free"
        )


def available_memory() -> int:
    """Bytes that can be taken without pushing others out: the machine's or the container's."""
    free = _read_machine_memory()
    for limit, used in _CGROUP_LIMITS:
        try:
            headroom = int(Path(limit).read_text()) - int(Path(used).read_text())
        except (OSError, ValueError):  # absent, or "max": no limit
            continue
        free = min(free, max(0, headroom))
    return free


def process_peak_memory() -> int:
    """The most bytes that this process has held so far."""
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak if sys.platform == "darwin" else peak * 1024


def _read_machine_memory() -> int:
    try:
        lines = Path("/proc/meminfo").read_text().splitlines()
    except OSError:
        return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    fields = dict(line.split(":", 1) for line in lines)
    return int(fields["MemAvailable"].split()[0]) * 1024


def _format_gib(size: int) -> str:
    gib = size / 2**30
    return f"{gib:,.0f} GiB" if gib >= 1 else f"{gib:.2f} GiB"


_HUGE_PAGE_BYTES = 1 << 22
"""From so many bytes on, NumPy asks for huge pages."""


def allocate_array(count: int, dtype: Any) -> NDArray[Any]:
    """An empty array for so many numbers, on ordinary pages of memory however large it is.

    A virtual machine that gives free memory back to its host fetches every huge page from there
    anew, which takes longer than all that is done with it; ordinary pages are at hand.

    >>> len(allocate_array(1_000_000, "uint64"))
    1000000
    """
    import numpy as np

    size = count * np.dtype(dtype).itemsize
    if size < _HUGE_PAGE_BYTES:
        return np.empty(count, dtype)
    # Private: a child process writes to a copy of its own, as with any other array.
    memory = mmap.mmap(-1, size, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
    return np.frombuffer(memory, dtype)
