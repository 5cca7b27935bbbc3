"""How many pairs, baskets and sets are listed, and where counting gives way to sorting."""

from __future__ import annotations

MAX_PAIRS_COUNTED = 120_000_000
"""Pairs of points that are counted exactly, in some 20 seconds; if there are more, users are
sampled: time and memory against an estimate. `benchmarks/events.py` times unicity."""

BYTES_PER_PAIR = 60
"""Bytes that counting takes a pair, at its peak (the pairs, their order, their counts): too few and
memory runs out, too many and users are sampled without need. Chosen by hand; no benchmark isolates
it."""

MAX_PAIRS_RELEASED = 2_000_000
"""The same as `MAX_PAIRS_COUNTED` on a protected release, where each pair is looked up by itself.
Chosen by hand; no benchmark isolates it."""

BYTES_PER_SUBSET = 100
"""Bytes that listing takes a set of items, at its peak, for the check of memory beforehand. Chosen
by hand; no benchmark isolates it."""

MAX_COUNTED_BITS = 21
"""Bits of a number of cells: into two million it is faster to count than to sort, as the counts fit
the cache. `benchmarks/events.py` times ten attackers as a whole."""

MAX_POSSIBLE_BASKETS = 50_000_000
"""Pairs of an event and a basket that it may be, in all: 16 bytes each, and beyond it the question
is refused with advice. Chosen by hand; no benchmark isolates it."""

MAX_COUNT_GROUPS = 80
"""Groups into which the counts of a marginal are taken together, at most: three marginals are
crossed, so the work is its cube, against the error of the estimate. Chosen by hand; no benchmark
isolates it."""

MAX_TIMES_OF_RELATION = 5_000_000
"""Different times that an engine sends home to be read: some hundred megabytes while they are. From
the size of a time; no benchmark isolates it."""
