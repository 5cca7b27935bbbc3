"""Sizes of portions and tables, samples and rounds: where attacks, sweeps and risks trade time."""

from __future__ import annotations

# --- inference ---

MAX_GAIN_CELLS = 50_000_000
"""Cells of the matrix of classes and guesses, 400 MB: with more it is not told who bears the risk.
Chosen by hand; no benchmark isolates it."""

DENSE_CELLS_PER_RECORD = 4
"""Cells of classes and values for each record, up to which a compiled count in a table of all is
used and not a sort: memory for empty cells against time. Chosen by hand; no benchmark isolates
it."""

MAX_DENSE_JOINT_CELLS = 1 << 20
"""Cells of a joint distribution up to which it is a plain matrix, 8 MB, and beyond sparse. Chosen
by hand; no benchmark isolates it."""

# --- protected ---

MAX_GAIN_PAIRS = 100_000_000
"""Pairs of people and records that fit them, for a gain on single records; with more it is refused.
Chosen by hand; no benchmark isolates it."""

# --- linkage ---

EXPECTED_AGREEMENT = 0.95
"""How often a true pair is expected to agree on a comparison, before the pairs are looked at: a
prior of expectation maximisation. Chosen by hand; no benchmark isolates it."""

PRIOR_TRUE_PAIRS = 20.0
"""True pairs that `EXPECTED_AGREEMENT` is worth: more is steadier where true pairs are few, and
slower to learn. Chosen by hand; no benchmark isolates it."""

PRIOR_CHANCE_PAIRS = 2.0
"""Pairs that the overall rate of agreement is worth as a prior for pairs of two people, of which
there are many. Chosen by hand; no benchmark isolates it."""

MAX_EM_ROUNDS = 2_000
"""Rounds of expectation maximisation, over distinct patterns of agreement only: cheap, and enough
for slow convergence. Chosen by hand; no benchmark isolates it."""

EM_TOLERANCE = 1e-10
"""Change of any rate at which expectation maximisation ends: far below what a weight of a pair
shows. Chosen by hand; no benchmark isolates it."""

MAX_UNBLOCKED_PAIRS = 500_000_000
"""Pairs of records and people that no block keeps apart; more would take very long, and a block is
asked for. Chosen by hand; no benchmark isolates it."""

# --- risk: individual risk ---

LARGE_FREQUENCY = 30
"""Frequency from which on the series is summed in place of the recurrence: its terms then fall so
fast that `SERIES_TERMS` of them are exact to the last digit. Derived, not measured."""

SERIES_TERMS = 64
"""Terms of the series: for frequencies of `LARGE_FREQUENCY` or shares of a half, what is left out
is below the last digit of a double. Derived, not measured."""

# --- risk: numbers that were masked ---

NEAREST_BLOCK_ROWS = 1024
"""Records whose nearest are searched at once: memory and a responsive progress against calls.
Chosen by hand; no benchmark isolates it."""

# --- risk: minimal sample uniques ---

GATHERING_SHARE = 0.75
"""Share of the records that were carried, below which those that are left are gathered: a copy
against records that are looked at in vain. `benchmarks/risk.py` times SUDA as a whole."""

SPARSE_KEYS_PER_RECORD = 2
"""Numbers of classes for each record, up to which classes without records keep their numbers:
memory for empty ones against a sort that leaves them out. Chosen by hand; no benchmark isolates
it."""

FEW_KEYS = 1024
"""Numbers of classes that are kept besides, however few records there are. Chosen by hand; no
benchmark isolates it."""

# --- risk: uniques of the population ---

MAX_FITTED_CELLS = 20_000_000
"""Cells of a table that is fitted, 160 MB and one pass a pair of attributes and round; larger ones
are refused with advice. Chosen by hand; no benchmark isolates it."""

MAX_FITTING_ROUNDS = 200
"""Rounds of iterative proportional fitting, if it does not come within `FITTING_TOLERANCE` before.
Chosen by hand; no benchmark isolates it."""

FITTING_TOLERANCE = 1e-8
"""Share of the records that a margin may be off at the end of fitting. Chosen by hand; no benchmark
isolates it."""

ALIKE_SHAPE = 1e9
"""Shape of the gamma distribution that stands for cells that are all alike, where frequencies
spread no more than by chance: large enough that its own spread does not show. Chosen by hand; no
benchmark isolates it."""

# --- population_attack.py ---

MAX_GROUP_CELLS = 50_000_000
"""Cells of people and groups, 400 MB: with more the risk is not told by group. Chosen by hand; no
benchmark isolates it."""

# --- sweep: what is asked, and its memory ---

MAX_SETS = 1 << 20
"""Sets of quasi-identifiers: more are no help to anybody, and a limit on their size is asked for.
Chosen by hand; no benchmark isolates it."""

JOINT_BITS = 12
"""Bits of a joint code up to which sensitive attributes share a walk: a walk less against more
values a cell. `benchmarks/sweep.py` times the sweep as a whole."""

ROWS_BETWEEN_CHECKPOINTS = 20_000_000
"""Records grouped in SQL, times sets, after which what was counted is remembered: some seconds of
work that a killed run may lose, against files. Chosen by hand; no benchmark isolates it."""

MOST_SETS_FOR_LISTED = 100
"""How many sets a walk over the whole lattice may count for each one that is listed: a walk costs
about a hundredth of a group-by a set (`benchmarks/sweep.py`)."""

COMBINATIONS_FETCHED_UNCOUNTED = 1_000_000
"""Records of which the combinations of values are fetched at once; of more, they are counted first,
to see whether they fit. Chosen by hand; no benchmark isolates it."""

BYTES_PER_FETCHED_VALUE = 16
"""Bytes of a value that an engine sends home, and of its code. Chosen by hand: numbers take eight
and short texts some more."""

BYTES_PER_KEY = 12
"""Bytes of a key and its count."""

LARGE_SWEEP_ROWS = 10**6
"""Records from which on the memory of the largest block is planned; below, it is little. Chosen by
hand; no benchmark isolates it."""

LEAST_PORTION_ROWS = 1 << 14
"""Combinations of values that are walked at once, at the least, however little memory is free: some
megabytes. Chosen by hand; no benchmark isolates it."""

MOST_PORTION_ROWS = 1 << 23
"""The same at the most: with more, what a stop loses grows and nothing else gets better. Chosen by
hand; no benchmark isolates it."""

SHARE_FOR_PORTIONS = 0.25
"""Share of the free memory for them; DuckDB takes up to `SHARE_OF_FREE_MEMORY` beside it. Chosen by
hand; no benchmark isolates it."""

ENTROPY_DIGITS = 9
"""Digits to which entropies are compared, so that a sum in another order gives the same order of
attributes. By the size of doubles."""

# --- sweep: records, and the order of the walk ---

ROWS_PER_PASS = 1 << 22
"""Records that are coded or selected at once: NumPy's intermediate results stay some tens of
megabytes. `benchmarks/sweep.py` times the sweep as a whole."""

ORDER_SAMPLE_ROWS = 50_000
"""Records, about, that are looked at to find a good order of the walk: time to look against a walk
that meets more cells. `benchmarks/sweep.py` times the sweep as a whole."""

ORDER_SAMPLE_EXCESS = 4
"""How many times `ORDER_SAMPLE_ROWS` are looked at, at most, where whole blocks that were chosen
hold more. Chosen by hand; no benchmark isolates it."""

ENTROPY_SAMPLE_ROWS = 1 << 14
"""Records from which the entropy of several attributes is estimated, for the forecast of the time
left. `benchmarks/sweep.py` times the sweep as a whole."""

# --- sweep: the walk ---

MOST_KEY_ATTRIBUTES = 10
"""Attributes that are decided within the key, one more if they are all: the walk doubles with each,
while those outside cost a sort a set of them. `benchmarks/sweep.py` times the sweep as a whole."""

MOST_SETS_FOR_PREFIXES = 20
"""Sets for each sort of all records up to which they are counted one by one, each from the classes
of its prefix: that takes a pass over those who are not alone yet. `benchmarks/sweep.py` with 90
attributes and sets of at most three."""

FEW_ROWS = 4096
"""Distinct rows up to which the rest is walked as one block, and not attribute by attribute.
`benchmarks/sweep.py` times the sweep as a whole."""

ROWS_OF_A_CHUNK = 1 << 16
"""Records that a thread walks at once: work that is shared evenly against calls.
`benchmarks/sweep.py` times the sweep as a whole."""

ROWS_OF_A_PORTION = 1 << 23
"""Records that are walked between two checkpoints: what is lost by a stop against files that are
written. `benchmarks/sweep.py` times the sweep as a whole."""

SORTING_COST = 0.5
"""What sorting a record costs against a step of the walk, in the forecast of the time left; results
do not depend on it. An estimate; no benchmark isolates it."""

MOST_HALVINGS = 10.0
"""Halvings from a block to a row beyond which the walk costs no more, in the same forecast. An
estimate; no benchmark isolates it."""

# --- linked years ---

MIN_SHARED_VALUES = 0.5
"""Share of a year's records with values that the first year knows too, below which an attribute is
taken to be coded anew: a new classification that nobody mentions against years that differ by
chance, which have to be declared. Chosen by hand; no benchmark isolates it."""

# --- who is in a protected release ---

MAX_PRESENCE_STEPS = 20_000
"""Ways to give records to classes of people that are counted at the most before chances are taken
from averages: exact chances against time, about 0.1 s. Chosen by hand; no benchmark isolates it."""

PRESENCE_TOLERANCE = 1e-9
"""How near to none the share of people who are left is taken for none: a sum of shares ends a hair
beside it. Chosen by hand; no benchmark isolates it."""

CAPACITY_DIGITS = 12
"""Digits to which a capacity is told: sums of millions of shares agree in so many, in whatever
order they were added up. By the size of doubles; tests/engines holds all engines to it."""

MAX_GAIN_VALUES_OF_RELATION = 20_000
"""Values of a secret up to which a gain that names them is weighed by an engine: they come home.
Chosen by hand; no benchmark isolates it."""

MAX_GAIN_CELLS_OF_RELATION = 1_000_000
"""Cells of a gain (guesses x values) up to which it is a table that an engine joins to each class.
Chosen by hand; no benchmark isolates it."""

LARGEST_GAIN_UNIT = 2**40
"""The largest part of one into which gains are cut where an engine adds them up as whole numbers:
the product with weights of 2**74 in all has room in 38 digits up to a gain of a thousand. From the
sizes of the types; no benchmark isolates it."""

# --- pictures of a sweep ---

MOST_DOTS = 5000
"""Sets that a picture of a sweep shows at the most: what is seen against the size of the picture.
Chosen by hand; no benchmark isolates it."""

MOST_PANEL_DOTS = 300
"""The same of each of several pictures on a page, which share 2 MB with all else: about 200 bytes a
dot. Chosen by hand; no benchmark isolates it."""

MOST_REPORTED_SETS = 2_500
"""Sets of which `result.json` tells the success: all of eleven attributes, as in the paper; of more
so many. Chosen by hand; no benchmark isolates it."""

# --- years without an id ---

MATCHING_ROUNDS = 60
"""Rounds of expectation maximisation for the rates of those who leave, come and move. Chosen by
hand; no benchmark isolates it."""

FIRST_LEAVING = 0.1
"""Share of those who leave, and of those who come, from which estimation begins. Chosen by hand; no
benchmark isolates it."""

FIRST_STAYING = 0.8
"""Share of people with whom what may move stays, from which estimation begins. Chosen by hand; no
benchmark isolates it."""

MATCHING_TOLERANCE = 1e-4
"""Change of a rate at which these rounds end: far below what a figure shows. Chosen by hand; no
benchmark isolates it."""

LEAST_RATE = 1e-4
"""The least that a rate may be, so that nothing is excluded for certain. Chosen by hand; no
benchmark isolates it."""

PROPAGATION_ROUNDS = 50
"""Rounds of belief propagation: most records have few pairs, and few rounds suffice. Chosen by
hand; no benchmark isolates it."""

PROPAGATION_TOLERANCE = 1e-6
"""Change of a message at which propagation ends. Chosen by hand; no benchmark isolates it."""

MAX_MATCHING_PAIRS = 50_000_000
"""Pairs of records that agree on what never changes, 2 GB: with more it is refused. Chosen by hand;
no benchmark isolates it."""

LEAST_LIKELIHOOD = 1e-9
"""Likelihood of a pair below which it is left out: all such pairs together do not show in a figure.
Chosen by hand; no benchmark isolates it."""

CHANCE_FACTORS = (0.2, 5.0)
"""By what the chance that a newcomer is taken for somebody is multiplied, to see what hangs on it:
attributes are not independent, and how far they are not is unknown. Chosen by hand;
tests/records/test_unlinked_years.py holds the range to hidden ids."""

DEVIATIONS = 3.0
"""Standard deviations that guesses which come out by chance add to the range. Chosen by hand."""
