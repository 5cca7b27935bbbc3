"""How much memory stays free, and how often and when progress is told."""

from __future__ import annotations

SECONDS_BETWEEN_REPORTS = 0.1
"""Seconds between two reports of a step: a bar that moves against time for drawing it. Chosen by
hand; no benchmark isolates it."""

RESERVED_SHARE = 0.1
"""Share of the free memory that no plan may take: the interpreter, the libraries and the system's
page cache need something too. Chosen by hand; no benchmark isolates it."""

MIN_SHARE_TO_EXTRAPOLATE = 0.02
"""Share of the work before which an extrapolated time left is a guess, and not told. Chosen by
hand; no benchmark isolates it."""

MIN_SECONDS_TO_EXTRAPOLATE = 0.5
"""Seconds before which an extrapolated time left is a guess, and not told. Chosen by hand; no
benchmark isolates it."""
