"""How long protection searches: rounds, tries, and how many sets are listed."""

from __future__ import annotations

MOST_ROUNDS = 200
"""Rounds, in each of which everything is measured anew and something changed, before the cycle
gives up. Chosen by hand; no benchmark isolates it."""

MOST_DONORS = 30
"""Records that are asked to hide the same as somebody whom nothing else helps; each costs a
measurement of everybody. Chosen by hand; no benchmark isolates it."""

MOST_LEVEL_COMBINATIONS = 1_000
"""Combinations of levels up to which all are tried, each with a measurement, so that the result can
be proved; beyond, the cycle climbs level by level. Chosen by hand; no benchmark isolates it."""

MAX_PROTECTED_TRIALS = 20
"""Combinations of levels for which it is found out what suppression then costs, the least loss
first: a cycle each, against a proof that is given up. Chosen by hand; no benchmark isolates it."""

MOST_CONTINGENCY_PAIRS = 60
"""Pairs of attributes whose joint distribution is compared, one pass over the records each. Chosen
by hand; no benchmark isolates it."""

MOST_TARGET_VALUES = 50
"""Values of an attribute that models are compared on, at most: of more, each has too few records to
learn from. Chosen by hand; no benchmark isolates it."""

FEWEST_MODEL_RECORDS = 20
"""Records from which on models are compared: of fewer, two or none would be asked about. Chosen by
hand; no benchmark isolates it."""

HELD_OUT_STEP = 10
"""Every so many records one is asked about, and the others are learnt from: a surer score against a
better model. Chosen by hand; no benchmark isolates it."""

MOST_MOVES = 512
"""Combinations of recodings and suppressions of a class that are kept, the cheapest first: fewer
cells lost against time and memory. `benchmarks/protection.py` shows cells and seconds together."""

MOST_MOVE_COMBINATIONS = 200_000
"""Combinations of a class's recodings and suppressions among which the cheapest are looked for; of
more, only the first and the last step of each attribute are combined. Chosen by hand; no benchmark
isolates it."""

PRICE_ROUNDS = 5
"""Rounds in which the prices of the lower bound are made better: a tighter bound against time.
Chosen by hand; no benchmark isolates it."""

PRICE_STARTS = 6
"""Prices that the lower bound begins from, spread over what records lack. Chosen by hand; no
benchmark isolates it."""

WHOLE_TOLERANCE = 1e-6
"""Cells by which a bound may be above a whole number and is not rounded up: more than floating
numbers leave, so that the bound never claims too much. Chosen by hand; no benchmark isolates it."""

MOST_BOUNDED_ATTRIBUTES = 10
"""Attributes up to which the lower bound looks at every set of them, 1,023 of ten; beyond, the
bound is one cell. Chosen by hand; no benchmark isolates it."""

MOST_MASKS = 4096
"""Sets of attributes that a record may hide and that are looked at together; larger sets are left
out beyond it, but for all attributes. Chosen by hand; no benchmark isolates it."""

WILDCARD_ROOM = 4096
"""Records with hidden values for which there is room at first; more is made as it is needed. Chosen
by hand; no benchmark isolates it."""

RARE_ITEM_USERS = (2, 3, 5, 10)
"""Users below whose number an item counts as rare, in the order in which they are tried: fine steps
lose less and measure more often. Chosen by hand; no benchmark isolates it."""

BASKET_CAPS = (10, 5, 3, 2, 1)
"""Items of a basket that are kept at most, in the order in which they are tried. Chosen by hand; no
benchmark isolates it."""

SAMPLE_SHARES = (0.5, 0.25, 0.1)
"""Shares of the users that are released, in the order in which they are tried. Chosen by hand; no
benchmark isolates it."""
