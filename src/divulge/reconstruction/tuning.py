"""What each kind of work costs, in nominal seconds: a call, and each of its steps.

Measured by `benchmarks/effort.py`, which attributes the processor's time to what was charged in it:
instances of a synthetic month of every class of complexity, on one quiet core, compiled kernels.
Another processor has other prices; they are not changed for it, because results depend on them.
"""

from __future__ import annotations

from divulge.work import Cost

PROPAGATION = Cost("propagation", per_call=5e-05, per_step=2.5e-08)
"""A step is one amount of one package in one bin, once a round."""

RATIO_BOUNDS = Cost("bounds by two amounts", per_call=8e-05, per_step=4.5e-09)
"""A step is one package in one bin, weighed by the ratio of two amounts."""

BACKTRACKING = Cost("walk through all allocations", per_call=0.0003, per_step=4e-08)
"""A step is a package that is put into a bin."""

EXPECTED_COUNT = Cost("expected number of sets", per_call=2e-05, per_step=1.3e-07)
"""A step is a package."""

DEPTH_FIRST = Cost("sets of a bin, depth first", per_call=9e-05, per_step=2.6e-08)
"""A step is a node of the search, or a row of the table of its last packages."""

MEET_IN_MIDDLE_SUMS = Cost("sums of one side", per_call=3.5e-05, per_step=2e-09)
"""A step is a sum that a package is added to."""

MEET_IN_MIDDLE_PAIRS = Cost("sides meet in the middle", per_call=5e-05, per_step=5.5e-09)
"""A step is a pair of sums that is looked at."""

BASIS_REDUCTION = Cost("basis of a lattice (LLL)", per_call=0.00019, per_step=5.5e-10)
"""A step is an entry of the basis, each time that a row is made shorter."""

LATTICE_ENUMERATION = Cost("points of a lattice", per_call=6.5e-05, per_step=4e-08)
"""A step is a multiple of a row that is tried."""

STATE_TRANSITIONS = Cost("states and sets", per_call=0.00011, per_step=2e-09)
"""A step is a state and a set that are compared."""

STATES = Cost("ways into and out of states", per_call=6e-05, per_step=5e-07)
"""A step is a set that is taken in a state."""

FINAL_SPLITS = Cost("what is left, split state by state", per_call=0.00025, per_step=4.8e-08)
"""A step is a sum, or a pair of sums that is looked at."""

SHARED_SUMS = Cost("sums that states have in common", per_call=0.0002, per_step=1e-07)
"""A step is a sum of the large packages."""

SHARED_SUM_PAIRS = Cost("states meet sums", per_call=0.0001, per_step=3.3e-09)
"""A step is a sum that is looked at."""

SUM_COUNT_ESTIMATE = Cost("how many sums there will be", per_call=2e-05, per_step=9.5e-08)
"""A step is a sum of a sample that a package is added to."""

TWO_BIN_SUMS = Cost("needs and points of two bins", per_call=0.0013, per_step=2.5e-08)
"""A step is a need or a point."""

TWO_BIN_PAIRS = Cost("needs that points meet", per_call=0, per_step=2e-08)
"""A step is a pair that fits in two amounts, where there are more."""

EXACT_COVER = Cost("exact cover", per_call=0.0003, per_step=6.5e-10)
"""A step is a word of a list of sets."""

EXCHANGE = Cost("exchange of packages", per_call=0.0001, per_step=1.6e-08)
"""A step is an exchange that is tried."""

TWO_BIN_RESPLIT = Cost("some packages of two bins", per_call=0.00035, per_step=7.7e-09)
"""A step is a sum, or a pair of sums that is looked at."""

TARGETED_REFILL = Cost("bins filled with a wanted pair", per_call=8.5e-05, per_step=1.6e-08)
"""A step is a sum, or a pair of sums that is looked at."""

MOVE = Cost("choice of a move", per_call=8e-05, per_step=0)
QUESTION = Cost("choice of a question", per_call=0.0002, per_step=0)
CONSTRUCTION = Cost("start of an instance", per_call=0.0001, per_step=1.2e-06)
"""A step is a package that may be in a bin."""
