"""Where one way to find equal records gives way to another."""

from __future__ import annotations

PLACES_PER_KEY = 8
"""Places of a direct table for each key, up to which it is used in place of a sort of the keys:
time of a sort against memory for empty places. Chosen by hand; no benchmark isolates it."""

FEWEST_PLACES = 1 << 16
"""Places up to which the table is always used: it fits the cache, however few keys there are.
Chosen by hand; no benchmark isolates it."""

COMPILED_SORT_ROWS = 200_000
"""Records from which on the compiled kernels are used: below, loading numba takes longer than
NumPy's sort. `benchmarks/longitudinal.py` times what is above it, none the number itself."""

ADDED_RECORDS = 20.0
"""Records with independent attributes that are added to the complete ones which tell what hidden
cells may hold. With none, or one, few complete records tell chances that are too high, and an
adversary succeeds more often than they are said to; with many, a rare combination of common values
looks likely. `benchmarks/hidden_chances.py` shows what is said against what happens."""

CAPACITY_BITS = 26
"""Bits of each of the three parts into which a quotient is cut before an engine adds it up: they
hold all digits of a double from 2**-25 on, and 2**37 classes have room in a sum of 63 bits.
From the sizes of the types; no benchmark isolates it."""

WEIGHT_BITS = 52
"""Bits of the heaviest weight, where weights are made whole numbers for an engine: the digits of a
double, with room in a decimal of 38 digits for the sum of 2**74 of them. From the sizes of the
types; no benchmark isolates it."""

LARGEST_SHARE_UNIT = 10**24
"""The largest unit in which parts of a person are counted by an engine: sums of it over 10**13
people have room in 38 digits, and everybody with up to 58 records can be told. From the sizes of
the types; no benchmark isolates it."""

MAX_PATTERNS_AT_HOME = 5_000_000
"""Different records up to which they come home from an engine, where missing values may be
anything: about 60 bytes for each and attribute. Chosen by hand; no benchmark isolates it."""
