"""Tuned numbers of reconstruction, in one table: prices of work, budgets, limits, shares of effort.

Results depend on all of them: with other numbers, other pairs may stay open. Each line says the
unit, what more or less of it trades off, and how it was found. Prices are measured by
`benchmarks/effort.py`. What all numbers do together is shown by `benchmarks/reconstruction.py`: how
many instances are closed, by class of complexity. "Chosen by hand; no benchmark isolates it" means
that it is not known how a number was found, and that no benchmark varies it alone. Modules read
them as `tuning.NAME` when they run.

Not here: numbers that follow from the width of a word or of a float, sentinels, and constants of
compiled loops, which stand in the `*_kernels.py` that they are compiled into.
"""

from __future__ import annotations

from dataclasses import dataclass

from divulge.work import Cost

# --- prices of the effort meter, in nominal seconds: of a call, and of each of its steps ---
#
# By benchmarks/effort.py, which attributes the time of the processor to what was charged in it:
# instances of a synthetic month of every class of complexity, on one quiet core, compiled kernels.
# Another processor has other prices; they are not changed for it: results depend on them.

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
"""It has no steps."""

QUESTION = Cost("choice of a question", per_call=0.0002, per_step=0)
"""It has no steps."""

CONSTRUCTION = Cost("start of an instance", per_call=0.0001, per_step=1.2e-06)
"""A step is a package that may be in a bin."""

# --- problem ---

CERTIFICATES_MOST = 48
"""Allocations kept of an instance, at least: more prove more pairs without a new search, and take
memory and checkpoint files in every round. Chosen by hand; no benchmark isolates it."""

CERTIFICATES_MOST_PLACES = 16_000
"""Places (packages times allocations) kept of an instance: a small instance keeps more allocations
than `CERTIFICATES_MOST`, so that fewer pairs are searched for again. Chosen by hand; no benchmark
isolates it."""

CERTIFICATES_SECOND_PLACE_WEIGHT = 10
"""How many further places the first two places of a package are worth, when allocations to keep
are chosen: two places are a finding (the record is ambiguous), a third adds detail. Chosen by
hand; no benchmark isolates it."""

# --- propagation ---

RATIOS_MOST = 48
"""Packages of a bin whose ratio of two amounts is tried, at most: more exclude little more, and
the price is linear. Chosen by hand; no benchmark isolates it."""

RATIOS_FEWEST = 6
"""Packages of a bin whose ratio is tried, however large the instance. Chosen by hand; no benchmark
isolates it."""

RATIOS_MOST_AMOUNTS = 600_000
"""Weighed amounts (packages x bins x pairs of amounts x ratios) of one pass, beyond which fewer
ratios are tried: in large instances they exclude less. Chosen by hand; no benchmark isolates
it."""

# --- subset_sum ---

LATTICE_MOST_PACKAGES = 100
"""Packages of a lattice: the reduction of its basis grows fast with their number. Chosen by hand;
no benchmark isolates it."""

LATTICE_MOST_REDUCTION_STEPS = 200_000
"""Rows that LLL visits before a basis is given up; nearly all are done long before. Chosen by
hand; no benchmark isolates it."""

MEET_IN_MIDDLE_STEPS_PER_SUM = 16
"""Pairs of sums looked at for each sum that a side may have, before a bin is given up: more decide
bins with wide windows, fewer leave the effort to other bins. Chosen by hand; no benchmark isolates
it."""

SUPPORT_LONGEST_LIST = 100_000
"""Sums of a side when one pair is tested by meeting in the middle, after its lattice gave no
answer. More answer more pairs of small bins, at more effort each. Chosen by hand; no benchmark
isolates it."""

SUPPORT_MEET_IN_MIDDLE_SECONDS = 0.3
"""Nominal seconds of one such test, at most. Chosen by hand; no benchmark isolates it."""

# --- counting: the sets of each bin (rungs 1 and 2) ---

SETS_BUDGETS = (20_000, 400_000, 8_000_000, 60_000_000, 160_000_000)
"""Steps in which the sets of one bin are listed, from try to try: small budgets first, because
what an easy bin excludes makes the others easier. The first one is depth first, the others are by
lattice or meeting in the middle. Chosen by hand; no benchmark isolates it."""

SETS_STEPS_PER_SECOND = 100_000_000
"""Steps of these budgets in a nominal second: a budget that does not fit into the effort left is
not begun. An estimate; no benchmark isolates it."""

SETS_MOST_WORDS = 400_000
"""Words of 64 bits in which the sets of one bin are kept: a longer list is counted, but not kept
for the dynamic program. Memory against instances that can be counted. Chosen by hand; no benchmark
isolates it."""

SETS_FEWEST_KEPT = 64
"""Sets of one bin that are kept, at least, however many words each has. Chosen by hand; no
benchmark isolates it."""

SETS_LONGEST_TAIL = 16
"""Packages of the table of last sums of the depth-first search: 2 to this power rows are made
whether they are needed or not. Chosen by hand; no benchmark isolates it."""

SETS_SHORTEST_TAIL = 4
"""Packages of that table, at least, if there are as many: its 16 rows cost nothing. Chosen by hand;
no benchmark isolates it."""

SETS_TAIL_BITS_BELOW_BUDGET = 3
"""How many binary digits the rows of that table stay below the budget of steps: an eighth to a
quarter of it at most is for the table. Chosen by hand; no benchmark isolates it."""

SETS_MOST_LISTED_AT_ONCE = 24
"""Free packages of a bin up to which meeting in the middle lists all sets without asking how many
are expected: two sides of 2^12 sums at most. Chosen by hand; no benchmark isolates it."""

SETS_MOST_COUNTED_PACKAGES = 66
"""Packages of two bins up to which all allocations are counted, however many there are: what it
takes doubles with every two packages. Chosen by hand; no benchmark isolates it."""

SETS_EXPECTATION_MARGIN = 4
"""How many times as many sets as there are steps may be expected of a bin whose lattice is listed
all the same: the estimate may be too high. Chosen by hand; no benchmark isolates it."""

SETS_REACHABLE_EXTRA_PACKAGES = 8
"""Packages beyond those whose sums fill both sides, up to which meeting in the middle is tried:
sums that cannot reach the window any more are dropped. Chosen by hand; no benchmark isolates
it."""

# --- counting: the dynamic program over bins ---

PROGRAM_MOST_PAIRS = 1_000_000_000
"""Pairs of a state and a set compared for one bin, at most: two seconds by the price of
`STATE_TRANSITIONS`. Chosen by hand; no benchmark isolates it."""

PROGRAM_MOST_STATES = 400_000
"""States after a bin, at most: memory, above all. Chosen by hand; no benchmark isolates it."""

PROGRAM_MOST_STEPS = 4_000_000
"""Sets taken in states, over all bins, at most: memory of the routes that are kept for
certificates. Chosen by hand; no benchmark isolates it."""

PROGRAM_SHARED_WEIGHT = 8
"""How much a package that earlier bins share with a bin brings it forward, against the number of
its sets: shared packages make states meet again, few sets make few states. Chosen by hand; no
benchmark isolates it."""

PROGRAM_EFFORT_DIVISOR = 3
"""Part of the effort left that the dynamic program has, as one over this: if it fails, the rest is
for other rungs. Chosen by hand; no benchmark isolates it."""

PROGRAM_LEAST_SECONDS = 0.02
"""Nominal seconds of which it has that part, at least. Chosen by hand; no benchmark isolates it."""

FINAL_SHORTEST_HALF = 2**14
"""Sums for which a side has room when what is left is split between the last two bins, however
little effort is left. Chosen by hand; no benchmark isolates it."""

FINAL_LONGEST_HALF = 2**21
"""Sums for which a side has room, at most: memory. Chosen by hand; no benchmark isolates it."""

FINAL_STEPS_PER_SUM = 4
"""Steps that a sum of a side takes in each state, about: what the effort has room for is shared out
among the states by it. An estimate; no benchmark isolates it."""

FINAL_FEW_PACKAGES = 28
"""Packages left in a state up to which it is split by meeting in the middle alone; with more,
states are split at once, or one by one by lattice. Chosen by hand; no benchmark isolates it."""

FINAL_LATTICE_SECONDS = 0.008
"""Nominal seconds that splitting one state by its lattice takes, about: if all states take more
than is left, it is not begun. An estimate; no benchmark isolates it."""

FINAL_MOST_LISTING_STEPS = 1_000_000
"""Steps of listing the splits of one state, before they are counted without listing them. Listing
is quicker where there are few, counting where there are many. Chosen by hand; no benchmark
isolates it."""

SHARED_MOST_SMALL = 20
"""Packages on the side of the small ones, whose sums are listed for every state anew: 2 to this
power at most. Chosen by hand; no benchmark isolates it."""

SHARED_LONGEST_LARGE_SIDE = 2**23
"""Sums of the side that states have in common, at most: memory. Chosen by hand; no benchmark
isolates it."""

SHARED_MOST_CELLS = 2**22
"""Cells of the grid in which these sums are looked up: smaller cells mean fewer sums looked at in
vain, and more memory. Chosen by hand; no benchmark isolates it."""

SHARED_CELLS_OF_WINDOW = (4, 8)
"""Cells that a window is wide, by the first and by the second amount: more are more precise, and
more of them are looked into. Chosen by hand; no benchmark isolates it."""

SHARED_SAMPLED_GROUPS = 3
"""Groups of states from which the number of sums of all groups is estimated. Chosen by hand; no
benchmark isolates it."""

# --- counting: two bins, however many allocations ---

TWO_BINS_COUNTING_SHARE = 0.8
"""Share of the effort left for counting: if it fails, enough is left to prove and exclude pair by
pair. Chosen by hand; no benchmark isolates it."""

TWO_BINS_LISTING_SHARE = 0.5
"""Share of the effort left for listing, for the same reason. Chosen by hand; no benchmark isolates
it."""

TWO_BINS_SAMPLE_STEPS = 1_000_000
"""Steps of the first sets, from which the effort of listing all is estimated; 0.04 nominal seconds
by the price of `LATTICE_ENUMERATION`. Chosen by hand; no benchmark isolates it."""

TWO_BINS_LISTING_MARGIN = 16
"""How many times the effort left listing may be estimated to take, and is tried all the same:
there may be fewer sets than expected. Chosen by hand; no benchmark isolates it."""

TWO_BINS_SAMPLE_SIZE = 2**14
"""Sums that stand for all of a list while its length is estimated: more are more precise, at a
price on every call. Chosen by hand; no benchmark isolates it."""

TWO_BINS_LONGEST_FIRST_LIST = 2**22
"""Sums of the first list, the longest of the four: memory. Chosen by hand; no benchmark isolates
it."""

TWO_BINS_MOST_SECOND = 20
"""Packages of the second list; 2 to this power sums: memory. Chosen by hand; no benchmark isolates
it."""

TWO_BINS_MOST_SMALL = 30
"""Packages of the third and fourth list together; 2 to half of it sums each, 2 to all of it
points. Chosen by hand; no benchmark isolates it."""

TWO_BINS_SLAB_SIZE = 2**19
"""Needs and points of a slab that are aimed at: small ones take less memory, and every slab begins
anew. Chosen by hand; no benchmark isolates it."""

TWO_BINS_LARGEST_SLAB = 2**24
"""Needs or points of a slab, at most: memory. Chosen by hand; no benchmark isolates it."""

TWO_BINS_FIRST_SLAB = 2**16
"""Needs or points for which there is room at first; more room is made as slabs need it. Chosen by
hand; no benchmark isolates it."""

TWO_BINS_SLAB_GROWTH = 4
"""How many times as long the next slab may be, or as short where one has no room, and how many
times the room grows: large steps find the right length sooner, and miss it by more. What is aimed
at stays below the largest slab by as much. Chosen by hand; no benchmark isolates it."""

TWO_BINS_MOST_LEADS = 2**20
"""Leading amounts of a slab, at most: counts are kept for each of them. Chosen by hand; no
benchmark isolates it."""

TWO_BINS_WIDEST_WINDOW = 2**22
"""Width of the window of the leading amount, in units, at most: a slab is as wide, and counts are
kept for each unit. Chosen by hand; no benchmark isolates it."""

TWO_BINS_BANDS = 16
"""Bands of the second list by the other amount that a need reaches over: more bands drop more sums
that no point meets, and make more runs. Chosen by hand; no benchmark isolates it."""

TWO_BINS_MOST_BANDS = 256
"""Bands of the whole second list, at most: each makes a run with every sum of the first. Chosen by
hand; no benchmark isolates it."""

TWO_BINS_MOST_LISTED = 1_000_000
"""Expected allocations, where there are more than two amounts, below which they are left to
listing. Chosen by hand; no benchmark isolates it."""

TWO_BINS_SLAB_COST = 300.0
"""What a slab costs, in needs (a need costs 1). This and the next three choose how packages are
cut into four lists, and whether counting is begun. An estimate; no benchmark isolates it."""

TWO_BINS_POINT_COST = 7.0
"""What a point costs, in needs. An estimate; no benchmark isolates it."""

TWO_BINS_LISTING_COST = 10.0
"""What a sum of the first two lists costs, in needs. An estimate; no benchmark isolates it."""

TWO_BINS_PAIR_COST = 0.01
"""What a pair that fits in two amounts costs, in needs, where there are more amounts. An estimate;
no benchmark isolates it."""

# --- exact_cover ---

COVER_MOST_SETS = 400_000
"""Words of 64 bits in which the sets of one bin are kept: memory, and the price of every step of
the search. Chosen by hand; no benchmark isolates it."""

COVER_MOST_BITS = 20
"""Binary logarithm of the sets expected of a bin, above which it is not listed. Chosen by hand; no
benchmark isolates it."""

COVER_MOST_UNLISTED = 2
"""Bins whose sets need not be listed; they share what the others leave. With more, the rest is no
small instance any more. Chosen by hand; no benchmark isolates it."""

COVER_STEPS_PER_SET = 20
"""Steps that listing takes for each set expected, at least: if all take more than there is effort
for, listing is not begun. An estimate; no benchmark isolates it."""

COVER_REMAINDERS_PER_SECOND = 200
"""Remainders of covers solved in a nominal second, about: more covers than that are not listed. An
estimate; no benchmark isolates it."""

COVER_LISTING_SHARE = 0.5
"""Share of the effort of the rung for listing the sets of bins. Chosen by hand; no benchmark
isolates it."""

COVER_ALL_SHARE = 0.6
"""Share of what is then left for all covers; the rest is for one pair after the other. Chosen by
hand; no benchmark isolates it."""

COVER_QUESTION_SECONDS = (0.01, 0.1, 1.0)
"""Nominal seconds for one pair, from round to round: pairs that are easy are decided before effort
goes into hard ones. Chosen by hand; no benchmark isolates it."""

COVER_FEW = 8
"""Covers with a pair whose remainders are solved, before the pair is left open. Chosen by hand; no
benchmark isolates it."""

COVER_MOST_CELLS = 2**28
"""Bytes of the table of who can take what (bins x bins x packages), at most: memory. Chosen by
hand; no benchmark isolates it."""

COVER_MOST_COVERS = 400_000
"""Covers that are listed, at most: memory. Chosen by hand; no benchmark isolates it."""

COVER_MOST_STEPS = 500_000_000
"""Steps of a search without a limit of its own; a third of a nominal second by the price of
`EXACT_COVER`. Chosen by hand; no benchmark isolates it."""

# --- local_search: choice of moves ---

WALK_SHORT_HALF = 100_000
"""Sums of a side when two bins are split anew in all ways: the quick form of the move. Chosen by
hand; no benchmark isolates it."""

WALK_LONG_HALF = 1_500_000
"""The same, for the slow form, which splits larger bins. Chosen by hand; no benchmark isolates
it."""

WALK_MOST_PACKAGES_IN_FULL = 150
"""Packages of an instance up to which moves that need whole bins are tried; above, only some
packages of two bins move at a time. Chosen by hand; no benchmark isolates it."""

WALK_MEMORY_DECAY = 0.5
"""What is left, from turn to turn, of what a move has proved and spent: small forgets fast and
follows what works now. Chosen by hand; no benchmark isolates it."""

WALK_SHORTEST_TURN = 0.02
"""Nominal seconds of a turn of one move, at least. Chosen by hand; no benchmark isolates it."""

WALK_LEAST_EFFORT = 1e-6
"""Nominal seconds that a move counts as having used, at least: one that was never tried comes
first. Below the price of any move."""

WALK_TURN_SHARE = 0.08
"""Share of the effort left for one turn: long turns serve a good move, short ones find it sooner.
Chosen by hand; no benchmark isolates it."""

WALK_IDLE_TRIES = 40
"""Tries of several bins that prove nothing, after which the move is given up. Chosen by hand; no
benchmark isolates it."""

WALK_MOST_COMPLEXITY = 26.0
"""Complexity (log10 of the ways to choose a bin for each package) of several bins that are solved
together, at most: larger parts prove more and fail more often. Chosen by hand; no benchmark
isolates it."""

WALK_TRIES_PER_PAIR = 16
"""Tries of one pair by the compiled walk, at most. Chosen by hand; no benchmark isolates it."""

WALK_PROOFS_AT_ONCE = 256
"""Allocations for which a call of the compiled walk has room; then it returns. Chosen by hand; no
benchmark isolates it."""

WALK_STEPS_AT_ONCE = 3_000_000
"""Steps of a call of the compiled walk; 0.02 nominal seconds by the price of `TWO_BIN_RESPLIT`, so
that the clock is looked at often enough. Chosen by hand; no benchmark isolates it."""

WALK_SHORTEST_LIST = 16_384
"""Sums of a side at the first try of the compiled walk; four times as many at every further one.
Chosen by hand; no benchmark isolates it."""

WALK_LONGEST_LIST = 2**19
"""Sums of a side, at most: memory, and the effort of one try. Chosen by hand; no benchmark
isolates it."""

# --- local_search: two bins split anew, depth first ---

RESPLIT_NODE_BUDGETS = (60_000, 1_000_000, 6_000_000)
"""Steps of the search for a split: at the first try of a pair, at the second, from the third on.
Chosen by hand; no benchmark isolates it."""

RESPLIT_ENOUGH_SETS = 4
"""Sets after which the search ends; one of them is taken at random. More vary more, at more
effort. Chosen by hand; no benchmark isolates it."""

RESPLIT_LONGEST_TAIL = 14
"""Packages of the table of last sums, as `SETS_LONGEST_TAIL`; shorter, since few sets are wanted.
Chosen by hand; no benchmark isolates it."""

RESPLIT_SHORTEST_TAIL = 4
"""Packages of that table, at least, as `SETS_SHORTEST_TAIL`. Chosen by hand; no benchmark isolates
it."""

RESPLIT_PAIRS_IN_TURN = 8
"""Pairs with the fewest tries among which the next is drawn: chance against strict turns. Chosen by
hand; no benchmark isolates it."""

# --- local_search: two bins split anew, by lattice ---

LATTICE_RESPLIT_UNAMBIGUOUS_WEIGHT = 10.0
"""How many pairs a pair counts for whose package has one place proved only: the second place is a
finding. Chosen by hand; no benchmark isolates it."""

LATTICE_RESPLIT_OPEN_PAIR_BONUS = 0.3
"""How far packages with something to prove come forward, where 1 is the whole order. Chosen by
hand; no benchmark isolates it."""

LATTICE_RESPLIT_ONE_PAIR_SHARE = 0.5
"""Share of tries that aim at one pair, rather than at two bins between which much is open. Chosen
by hand; no benchmark isolates it."""

LATTICE_RESPLIT_TRIES_PER_PAIR = 16
"""Tries of one pair, or of two bins, at most. Chosen by hand; no benchmark isolates it."""

LATTICE_RESPLIT_SURPLUS_BITS = 8.0
"""Packages beyond the bits that their sums must meet: 2 to this power splits are expected. More
find a split more surely, and take longer. Chosen by hand; no benchmark isolates it."""

LATTICE_RESPLIT_MOST_PACKAGES = 90
"""Packages that may move at once, below `LATTICE_MOST_PACKAGES`: the reduction of the basis gets
slow. Chosen by hand; no benchmark isolates it."""

LATTICE_RESPLIT_MOST_STEPS = 200_000
"""Steps of listing in one try; 0.008 nominal seconds by the price of `LATTICE_ENUMERATION`. Chosen
by hand; no benchmark isolates it."""

LATTICE_RESPLIT_ENOUGH_SPLITS = 12
"""Splits after which a try ends. Chosen by hand; no benchmark isolates it."""

# --- local_search: bins refilled for a wanted pair ---

REFILL_EXTRA_BINS = (0, 1, 1, 2, 1, 2, 3)
"""Bins filled beside the two of a pair, from try to try: more bins offer more, and fail more
often. Chosen by hand; no benchmark isolates it."""

REFILL_TRIES_PER_PAIR = 30 * len(REFILL_EXTRA_BINS)
"""Tries of one pair, at most. Chosen by hand; no benchmark isolates it."""

REFILL_AMBIGUOUS_PENALTY = 3
"""Tries that a pair comes later whose package is known to be ambiguous. Chosen by hand; no
benchmark isolates it."""

REFILL_SURPLUS_BITS = 2.0
"""Bits that the deciding packages have to choose among, beyond those that their sums must meet, at
the first tries; one more at each doubling. Chosen by hand; no benchmark isolates it."""

REFILL_LEAST_SURPLUS_BITS = -12.0
"""Surplus of bits below which a try is not made: one in 2^12 would succeed. Chosen by hand; no
benchmark isolates it."""

REFILL_MOST_DECIDING = 90
"""Packages that decide, at most, below `LATTICE_MOST_PACKAGES`. Chosen by hand; no benchmark
isolates it."""

REFILL_MOST_TO_MEET = 44
"""Deciding packages whose sums are listed from two sides; more are left to their lattice. Chosen
by hand; no benchmark isolates it."""

REFILL_LONGEST_LIST = 2**15
"""Sums of a side at the first tries of a pair. Chosen by hand; no benchmark isolates it."""

REFILL_MOST_DOUBLINGS = 3
"""How often lists become twice as long, where a pair was tried in vain: memory, and effort for one
try. Chosen by hand; no benchmark isolates it."""

REFILL_MOST_STEPS = 200_000
"""Steps of listing by lattice in one try. Chosen by hand; no benchmark isolates it."""

REFILL_ENOUGH_SETS = 12
"""Sets that a try keeps. Chosen by hand; no benchmark isolates it."""

REFILL_CHANCE_BITS = 0.3
"""Bits that chance counts for when packages are chosen to decide, so that they are not always the
same. Chosen by hand; no benchmark isolates it."""

# --- solving: the ladder of one instance ---


@dataclass(frozen=True, kw_only=True)
class Schedule:
    """One turn of the ladder: until which share of an instance's effort each rung may go on.

    `budgets` are steps for the sets of a bin, `first_question` is the row of `QUESTION_LIMITS` to
    begin with. Proofs that are found soon spare much: what is proved need not be excluded.
    """

    budgets: tuple[int, ...]
    sets: float
    walks: float
    covers: float
    questions: float
    first_question: int


LADDER_SCHEDULE = (
    Schedule(
        budgets=SETS_BUDGETS[:2], sets=1.0, walks=0.1, covers=0.22, questions=0.3, first_question=0
    ),
    Schedule(
        budgets=SETS_BUDGETS[2:4], sets=0.4, walks=0.6, covers=0.8, questions=0.9, first_question=1
    ),
    Schedule(
        budgets=SETS_BUDGETS[4:],
        sets=0.9,
        walks=0.95,
        covers=0.95,
        questions=0.98,
        first_question=2,
    ),
)
"""The turns of an instance: what is cheap first in every rung, then the same with more effort.
Chosen by hand; benchmarks/reconstruction.py shows what all turns do together, no benchmark isolates
a share."""

LADDER_SCHEDULE_MANY_PAIRS = (
    Schedule(
        budgets=SETS_BUDGETS[:2], sets=0.3, walks=0.6, covers=0.6, questions=0.8, first_question=0
    ),
    Schedule(
        budgets=SETS_BUDGETS[2:3], sets=0.9, walks=1.0, covers=1.0, questions=1.0, first_question=1
    ),
)
"""The same where there are many pairs: few can be excluded, and most of the effort is for proofs.
Chosen by hand, as `LADDER_SCHEDULE`."""

LADDER_MANY_PAIRS = 800
"""Pairs of package and bin above which an instance has this other schedule. Chosen by hand; no
benchmark isolates it."""

LADDER_MOST_LOG_WAYS = 25.0
"""Decimal logarithm of the ways to choose among the pairs left, up to which allocations are
counted even if walks have settled all pairs before: counts give shares, at more effort. Chosen by
hand; no benchmark isolates it."""

LADDER_MOST_CP_SAT_PAIRS = 1_500
"""Pairs of an instance that CP-SAT is given, at most: larger models hardly ever end in time.
Chosen by hand; no benchmark isolates it."""

LADDER_LEAST_CP_SAT_SECONDS = 0.02
"""Nominal seconds left, up to which CP-SAT is not begun: too little to build a model and to solve
it. Chosen by hand; no benchmark isolates it."""

LADDER_WALK_SHARE = 0.6
"""Share of the effort left for a walk from the first allocation that CP-SAT finds; the rest is for
CP-SAT to go on, which alone can exclude. Chosen by hand; no benchmark isolates it."""

LADDER_MOST_BACKTRACK_PACKAGES = 200
"""Packages of an instance up to which all allocations are walked through: of larger ones there are
too many. Chosen by hand; no benchmark isolates it."""

LADDER_MOST_BACKTRACK_STEPS = 30_000
"""Steps of the walk through all allocations, which comes first: 0.0012 nominal seconds by the
price of `BACKTRACKING`, lost where it does not end. Chosen by hand; no benchmark isolates it."""

LADDER_MOST_EXCHANGE_TRIES = 300_000
"""Exchanges tried from a known allocation; 0.005 nominal seconds by the price of `EXCHANGE`.
Chosen by hand; no benchmark isolates it."""

LADDER_MOST_EXCHANGE_PROOFS = 4096
"""Allocations that exchanges have room to write down, at most: memory. Chosen by hand; no benchmark
isolates it."""

LADDER_REMAINDER_SECONDS = 0.1
"""Nominal seconds for what one cover leaves to the last bins: there are many covers. Chosen by
hand; no benchmark isolates it."""

# --- solving: one pair after the other ---

QUESTION_LIMITS = ((20_000, 0.03), (100_000, 0.15), (600_000, 0.6), (3_000_000, 2.5))
"""Steps for one bin and nominal seconds for the whole instance, to decide one pair, from round to
round: easy pairs first, because what they exclude makes the others easier. Chosen by hand; no
benchmark isolates it."""

QUESTION_ONE_BIN_SHARE = 0.5
"""Share of the effort for one bin alone: that excludes much, or nothing for long. Chosen by hand;
no benchmark isolates it."""

QUESTION_WALK_SHARE = 0.1
"""Share of the effort for a walk from the allocations that were found. Chosen by hand; no
benchmark isolates it."""

FEASIBILITY_STEPS_TO_LIST = 30_000
"""Steps in which the sets of a bin are listed when an allocation is searched for, if the caller
sets no other limit. Chosen by hand; no benchmark isolates it."""

FEASIBILITY_MOST_SETS = 3_000
"""Sets of a bin that are branched on, at most: each is a search of its own. Chosen by hand; no
benchmark isolates it."""

FEASIBILITY_MOST_BINS_LISTED = 3
"""Bins whose sets are listed to find the one with fewest: a better choice, at more effort. Chosen
by hand; no benchmark isolates it."""

FEASIBILITY_EXPECTATION_MARGIN = 8
"""How many times too many sets may be expected of a bin that is listed all the same: the estimate
may be too high. Chosen by hand; no benchmark isolates it."""

FEASIBILITY_MOST_SETS_TRIED = 3
"""Sets that are tried where there are too many to list: then the search can find an allocation,
but not show that there is none. Chosen by hand; no benchmark isolates it."""

FEASIBILITY_SPLIT_SECONDS = 5.0
"""Nominal seconds of one split of the last two bins, at most. Chosen by hand; no benchmark
isolates it."""

FEASIBILITY_MOST_MEETING_PACKAGES = 20
"""Free packages up to which sets are listed by meeting in the middle, and by lattice above: two
sides of 2^10 sums take less than a basis. Chosen by hand; no benchmark isolates it."""

FEASIBILITY_MOST_HALF_SUMS = 20_000
"""Sums of a side there. Chosen by hand; no benchmark isolates it."""

CP_SAT_QUESTION_SECONDS = 20.0
"""Nominal seconds of one question to CP-SAT, at most. Chosen by hand; no benchmark isolates it."""

# --- solving: totals that are not of just these records; proofs that are added later ---

PREMISE_LEAST_SHARE = 0.1
"""Share of the effort that every premise has at least, however much those before it took. Chosen
by hand; no benchmark isolates it."""

LEFT_OUT_MOST_COMBINATIONS = 100_000
"""Combinations of one or two records of a bin that are tried as those left out: memory. Chosen by
hand; no benchmark isolates it."""

CONTINUATION_PART_SECONDS = 0.02
"""Nominal seconds for a part of an instance while a walk goes on from a certificate. Chosen by
hand; no benchmark isolates it."""

# --- auditing: how effort is shared out ---

EASY_COMPLEXITY = 30.0
"""Complexity (log10 of the ways to choose a bin for each package) up to which nearly all instances
are closed with next to no effort: benchmarks/reconstruction.py closes all of the class 20 to 40.
Where exactly the border lies was chosen by hand."""

EASY_MOST_MULTIPLE = 10.0
"""How many times an equal share of the effort an easy instance may have: most take a tenth of it.
Chosen by hand; no benchmark isolates it."""

LARGE_COMPLEXITY = 85.0
"""Complexity above which an instance is seldom closed in a round: benchmarks/reconstruction.py
closes few of the class 80 to 200, even with ten seconds each. Where exactly the border lies was
chosen by hand."""

LARGE_MOST_SECONDS = 0.05
"""Nominal seconds of a large instance in a round, at most: enough for what is excluded at a
glance. Chosen by hand; no benchmark isolates it."""

INSTANCE_LEAST_SECONDS = 0.002
"""Nominal seconds that every instance has, however many there are. Chosen by hand; no benchmark
isolates it."""

LAST_EFFORT_SHARE = 0.15
"""Share of the whole effort that rounds leave for proofs, when tables do not limit each other any
more. More in rounds excludes more, more at last proves more. Chosen by hand;
benchmarks/reconstruction.py --month shows the whole, no benchmark isolates it."""

# --- auditing: rounds ---

RUN_MOST_ROUNDS = 7
"""Rounds in which tables limit each other before open instances have their effort, if effort is
limited: the last rounds change little. Chosen by hand; no benchmark isolates it."""

RUN_FIRST_SHARE = 0.1
"""Share of the effort of rounds for the first pass over the finest table: the other tables make it
easier later. Chosen by hand; no benchmark isolates it."""

RUN_ALONE_SHARE = 0.6
"""The same where there is no other table. Chosen by hand; no benchmark isolates it."""

RUN_COARSE_SHARE = 0.35
"""Share of what is left for the first pass over all coarser tables together. Chosen by hand; no
benchmark isolates it."""

RUN_ROUND_SHARE = 0.12
"""Share of what is left for the instances of one table that a round has changed. Chosen by hand;
no benchmark isolates it."""

RUN_OPEN_SHARE = 0.5
"""Share of what is left for one pass over open instances; the rest is for what that changes.
Chosen by hand; no benchmark isolates it."""

RUN_MOST_TRIES = 4
"""Passes in which an open instance has its full effort, at most. Chosen by hand; no benchmark
isolates it."""

RUN_PAIRS_PER_TRY = 20
"""Open pairs that an earlier try counts for, when the easiest open instances are chosen. Chosen by
hand; no benchmark isolates it."""

RUN_LEAST_EFFORT_SHARE = 0.02
"""Share of the whole effort below which nothing new is begun. Chosen by hand; no benchmark
isolates it."""

RUN_LEAST_SECONDS = 0.01
"""Nominal seconds of one pass over a table, at least, however little is left. Chosen by hand; no
benchmark isolates it."""

RUN_DOUBTFUL_SHARE = 0.05
"""Share of instances without an allocation above which a rounding rule that was given is not
believed. Chosen by hand; no benchmark isolates it."""

# --- auditing: worker processes ---

BUNDLE_MOST_INSTANCES = 400
"""Instances of a bundle: what a killed run has to solve again, against the number of checkpoint
files. Chosen by hand; no benchmark isolates it."""

BUNDLE_COMPLEXITY = 600.0
"""Sum of the complexities of a bundle, for the same reason. Chosen by hand; no benchmark isolates
it."""

BUNDLE_LAST_COMPLEXITY = 60.0
"""Complexity above which an instance ends its bundle, so that what it took is kept at once. Chosen
by hand; no benchmark isolates it."""

CLOCK_LEAST_SECONDS = 0.001
"""Seconds of the clock that a worker has, at least, where it begins when time is up: it must be a
positive time, and end at once. Chosen by hand; no benchmark isolates it."""

PROCESSES_LEAST_COMPLEXITY = 300.0
"""Sum of complexities from which on worker processes are started: each takes about a second to
start. Chosen by hand; no benchmark isolates it."""

# --- auditing: premises and rounding rules ---

MISSING_DOUBT_SHARE = 0.1
"""Share of an instance's effort to ask whether records that are missing unnoticed would matter.
Chosen by hand; no benchmark isolates it."""

ROUNDING_DIAGNOSIS_SAMPLE = 200
"""Instances on which a diagnosis tries every rounding rule. Chosen by hand; no benchmark isolates
it."""

ROUNDING_DIAGNOSIS_PAIRS = (4, 60)
"""Pairs of package and bin of these instances, fewest and most: smaller ones say little of the
order of rounding and adding, larger ones take long. Chosen by hand; no benchmark isolates it."""

ROUNDING_DIAGNOSIS_SECONDS = 0.2
"""Nominal seconds of an instance under one rule, in a diagnosis. Chosen by hand; no benchmark
isolates it."""

ROUNDING_EVIDENCE_MOST_KEYS = 20_000
"""Keys of a table whose sums are compared with rounding rules: more are no better evidence. Chosen
by hand; no benchmark isolates it."""

ROUNDING_EVIDENCE_RATIO = 10
"""Keys against a rule that rule it out; there must also be so many times as many as there are for
it, since some records may be missing or added. Chosen by hand; no benchmark isolates it."""

JOINT_MOST_PAIRS = 3_000
"""Pairs of coupled instances that CP-SAT is given together, at most. Chosen by hand; no benchmark
isolates it."""

JOINT_QUESTION_SECONDS = 1.0
"""Nominal seconds of one question for an allocation of all tables. Chosen by hand; no benchmark
isolates it."""

# --- reporting ---

CHART_MOST_BINS = 12
"""Bins of the chart of packages: more cannot be told apart on a page. Chosen by hand."""

REPORT_MOST_INCONSISTENT = 20
"""Inconsistent instances of a table for which the total that would have to give way is found: each
takes a call of CP-SAT. Chosen by hand; no benchmark isolates it."""

# --- allocation.py, audit.py and remedies ---

ALLOCATE_DOUBT_SHARE = 0.3
"""Share of the effort of `allocate` kept to ask whether something is certain by every rule that
the totals may be rounded by. Chosen by hand; no benchmark isolates it."""

AUDIT_FIRST_READING_SHARE = 0.6
"""Share of the effort of `reconstruct` for the rules as given, where others must be tried as well.
Chosen by hand; no benchmark isolates it."""

DENIABILITY_SECONDS = 2.0
"""Nominal seconds in which allocations of all tables at once are looked for. Chosen by hand; no
benchmark isolates it."""

ROUNDING_BASE_FACTOR = 10
"""How many times as large the numbers become to whose multiples totals are rounded, from audit to
audit: large steps need fewer audits, and may round more than is needed. Chosen by hand; no
benchmark isolates it."""
