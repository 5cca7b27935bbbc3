"""What each kind of work costs, and how long searches go on before others take over.

Prices are nominal seconds: a call, and each of its steps. They were measured by
`benchmarks/effort.py --tables`, which attributes the processor's time to what was charged in it:
cheapest patterns and matching attacks of random tables, on one quiet core. Another processor has
other prices; they are not changed for it, because results depend on them.
"""

from __future__ import annotations

from divulge.work import Cost

MAXIMUM_FLOWS = Cost("maximum flows", per_call=3.5e-4, per_step=1.1e-8)
"""A step is an arc, for each cell that is asked for."""

CHEAP_CYCLES = Cost("cheap cycles", per_call=5e-5, per_step=5e-8)
"""A step is an arc."""

CYCLE_WORK_PER_ARC = 20
"""Arcs of a maximum flow that an arc of a cheap cycle is worth, where it is decided whether a loop
is worth compiling; results do not depend on it. An estimate; no benchmark isolates it."""

CANDIDATES = Cost("candidate tables", per_call=1e-3, per_step=4.3e-6)
"""A step is a candidate, a pattern that is checked, or a node of the search for a better one."""

OTHER_SUPPRESSOR = Cost("suppressor of others", per_call=1e-2, per_step=0.0)
"""A candidate for which a function of the user's is called: what it does cannot be counted."""

CANDIDATE_SECONDS = 5.0
"""Nominal seconds for the cheapest pattern of one candidate; without a proof by then it stays
undecided. One hard candidate must not take much more than the attack as a whole may. Chosen by
hand; no benchmark isolates it."""

STEPS_PER_CANDIDATE = 200
"""Values tried for each candidate that is wanted, before a list is given up: few lead nowhere.
Chosen by hand; no benchmark isolates it."""

LEAST_CANDIDATE_STEPS = 1000
"""Values tried besides, so that few wanted candidates do not end a list at once. Chosen by hand; no
benchmark isolates it."""

MOST_PATTERN_STEPS = 200_000
"""Branches that the search for a pattern of a small network may take before it is left to the
general solver. `benchmarks/matching_attack.py` times the attack as a whole."""

MOST_TIE_STEPS = 100 * MOST_PATTERN_STEPS
"""Branches that the search for all equally cheap patterns may take: it cannot end at the first.
Chosen by hand; no benchmark isolates it."""

PATTERN_POOL_SIZE = 4096
"""Patterns that beat the released one and are tried first on later candidates: a hit spares a
search, and each is looked at for every candidate. `benchmarks/matching_attack.py` times the attack
as a whole."""

MOST_COUNTING_STEPS = 200_000
"""Values tried while the tables of one group of cells are counted; groups with more are left out.
Chosen by hand; no benchmark isolates it."""

MOST_COUNTED_CELLS = 300
"""Cells of such a group, at most: the walk is as deep as there are cells, and Python's own limit is
1,000 calls. Chosen by hand; no benchmark isolates it."""

MAX_RIGHT_HAND_SIDE = 2.0**14
"""Right-hand sides are brought below this where the solver fails: its tolerances are fixed. Chosen
by hand; no benchmark isolates it."""

MAX_DENOMINATOR = 60
"""Prices are multiples of one over a number up to this; halves and thirds are what is met. Chosen
by hand; no benchmark isolates it."""

PRICE_TOLERANCE = 1e-6
"""How far a price of the solver may be from such a multiple and is taken for it. What it proves is
then checked in whole numbers: a wrong guess costs a proof, and never gives a false one. Chosen by
hand; no benchmark isolates it."""

SECONDS_PER_PORTION = 0.1
"""Nominal seconds of a portion of candidates, about, between two looks at effort and clock: a
portion that took less is followed by one of twice its size. Chosen by hand; no benchmark isolates
it."""

FIRST_PORTION = 64
"""Candidates of the first portion; where a suppressor is run anew for each, it is one. Chosen by
hand; no benchmark isolates it."""

CANDIDATES_AT_ONCE = 256
"""Candidates between two looks at whether the question is answered already: answers that come soon
against calls. Chosen by hand; no benchmark isolates it."""

WEIGHED_AT_ONCE = 10_000
"""Candidates whose tables are handed to a prior of the user's at once: memory against calls. Chosen
by hand; no benchmark isolates it."""

HINT_SECONDS = 5.0
"""Nominal seconds for the search for rules that would have given an impossible release. Chosen by
hand; no benchmark isolates it."""

MAX_PARAMETER_DISTANCE = 12
"""How far from the given parameters others are looked for, the nearest first; `HINT_SECONDS` ends
it. Chosen by hand; no benchmark isolates it."""

MAX_WEIGHED_CANDIDATES = 150
"""Possible candidates that are weighed; of more, as many at random. Chosen by hand; no benchmark
isolates it."""

TOTAL_DRAWS = 30_000
"""Draws in all: the fewer candidates share them, the surer each weight. A best guess among weights
that few draws estimate looks better than it is. `benchmarks/matching_attack.py` times the attack as
a whole."""

MOST_DRAWS_PER_CANDIDATE = 4000
"""Draws a candidate at the most, where few share `TOTAL_DRAWS`. `benchmarks/matching_attack.py`
times the attack as a whole."""

DRAWS_PER_JUDGED_DRAW = 50
"""How many times fewer draws there are where each pattern is judged before it counts: judging lists
candidates anew. Chosen by hand; no benchmark isolates it."""

MOST_PATTERN_DRAWS = 500
"""Patterns that are drawn before a table counts as one that no draw protects. Chosen by hand; no
benchmark isolates it."""

MOST_JUDGED_CANDIDATES = 200_000
"""Candidates that are listed to judge one drawn pattern; of more, a sample is judged. Chosen by
hand; no benchmark isolates it."""

JUDGED_SAMPLE = 20_000
"""Candidates of that sample: surer verdicts against time. Chosen by hand; no benchmark isolates
it."""

COST_UNIT = 1000
"""Drawn costs are whole numbers of one over this, so that ties are rare and sums stay small. Chosen
by hand; no benchmark isolates it."""

BASE_COST_FACTOR = 0.5
"""What every cell costs before chance adds to it: the larger, the fewer cells are suppressed, and
the surer a guess at the pattern. `benchmarks/matching_attack.py` shows both, suppressors side by
side."""

WIDTH_PER_EXTRA = 16
"""Width that is asked for each unit that chance adds to it in the mean: the smaller, the wider the
drawn intervals, and the more cells are suppressed. `benchmarks/matching_attack.py` shows both,
suppressors side by side."""

MAX_CUT_ROUNDS = 15
"""Times that one subproblem is cut before it is divided: a tighter bound against more subproblems.
`benchmarks/tables.py` times patterns as a whole."""

BRANCH_VIOLATION = 1e-2
"""Share of what a cut asks by which shares must miss it, in a subproblem, for the cut to be added:
fewer cuts against a tighter bound. `benchmarks/tables.py` times patterns as a whole."""

ROOT_VIOLATION = 1e-3
"""The same before the first subproblem, where a tighter bound serves all. `benchmarks/tables.py`
times patterns as a whole."""

KEPT_VIOLATION = 1e-4
"""Share of what a cut asks by which shares must still miss it once it is strengthened. Chosen by
hand; no benchmark isolates it."""

COEFFICIENT_SCALE = 2**20
"""Coefficients are rounded up to multiples of this part of what a cut asks, never too strict: cuts
that lose little against numbers that CP-SAT adds without overflow. Chosen by hand; no benchmark
isolates it."""

COEFFICIENT_SLACK = 1e-3
"""Part of such a multiple by which a coefficient may be above a whole one and is not rounded up:
what floating numbers leave. Chosen by hand; no benchmark isolates it."""

CEILING_FACTOR = 10
"""How many times everything there is a cell may be thought to rise, where sums form no network and
a movement may be a small multiple of another. Chosen by hand; no benchmark isolates it."""

WHOLE_TOLERANCE = 1e-6
"""Units of the costs by which a bound may be above a whole number and is not rounded up: far more
than the solver's tolerance, so that the bound never claims too much. Chosen by hand; no benchmark
isolates it."""

MAX_PRUNING_WORK = 2_000_000
"""Work up to which a fast pattern is freed of cells that nobody needs: primary cells times cells of
the table (`PROGRAM_CELLS` where linear programs answer) times cells to try, in units of
`NETWORK_PRUNING_UNIT` on networks and of `PROGRAM_PRUNING_UNIT` elsewhere. `benchmarks/tables.py`
times patterns as a whole."""

PROGRAM_CELLS = 20_000
"""Cells that a linear program counts for, however small the table: it takes far longer than a flow.
Chosen by hand; no benchmark isolates it."""

NETWORK_PRUNING_UNIT = 1_000
"""Units of `MAX_PRUNING_WORK` on networks: flows are quick. Chosen by hand; no benchmark isolates
it."""

PROGRAM_PRUNING_UNIT = 10
"""Units of `MAX_PRUNING_WORK` where linear programs answer. Chosen by hand; no benchmark isolates
it."""

FREE_CELL_PRICE = 1e-3
"""What moving a cell that is suppressed already costs, beside the costs of others: little, and not
nothing, so that no needless cell is moved. Chosen by hand; no benchmark isolates it."""

MAX_CACHED_PROGRAMS = 256
"""Linear programs that are kept to begin from: a warm start against memory, of which a family of 16
x 16 cells takes little. Chosen by hand; no benchmark isolates it."""

MAX_BRANCH_NODES = 60
"""Subproblems of one question about a price, before CP-SAT is asked. `benchmarks/tables.py` times
patterns as a whole."""

MAX_BOUND_RISES = 100
"""Times that the bound rises by one unit of the costs; where amounts are the costs, units are tiny
beside what separates two patterns, and CP-SAT is asked instead. `benchmarks/tables.py` times
patterns as a whole."""

MAX_STALE_ROUNDS = 40
"""Rounds of cutting the relaxation without gain, after which it is left as it is.
`benchmarks/tables.py` times patterns as a whole."""

STALE_GAIN = 1e-4
"""Share of the relaxation's price by which it must rise for a round to count as a gain.
`benchmarks/tables.py` times patterns as a whole."""

GUIDED_COST_UNIT = 1000
"""Costs in the heuristic that a relaxation guides are whole numbers of one over this. Chosen by
hand; no benchmark isolates it."""

ROOM_SHARES = (1.0, 0.7, 0.4, 0.2)
"""Shares of what free cells might move, with which cuts of a relaxation are looked for: more kinds
of cuts against a maximum flow each. `benchmarks/tables.py` times patterns as a whole."""

MAX_TIE_NODES = 100
"""Subproblems of one cell's question whether an equally cheap pattern suppresses it, before CP-SAT
is asked. Chosen by hand; no benchmark isolates it."""

WHOLE_TABLE_SECONDS = 20.0
"""Nominal seconds for all questions whether a whole-numbered table leaves a cell as uncertain as
the linear program does; cells without an answer are not shown to be protected. Chosen by hand; no
benchmark isolates it."""

WHOLE_TABLE_SECONDS_PER_CELL = 2.0
"""Nominal seconds of one such question: one hard cell must not use up what settles the others.
Chosen by hand; no benchmark isolates it."""

LARGEST_SEARCHED_RISE = 2.0**40
"""How far above its value a cell that nothing bounds is looked for: beyond it sums of many such
cells could overflow. Chosen by hand; no benchmark isolates it."""

MOST_INSIDERS = 2000
"""Contributors with different amounts who are tried as insiders, the largest first; each costs an
audit of the sensitive cells. Chosen by hand; no benchmark isolates it."""

INSIDER_PROOF_SECONDS = 20.0
"""Nominal seconds for proofs that cells are not unique to insiders, all of them together. More
leaves fewer cells of linked and hierarchical tables undecided; chosen by hand, no benchmark
isolates it."""

MOST_COMBINATIONS = 4_096
"""Combinations of the attributes of linked tables of which it is asked whether records show all of
the tables; of more, that is not judged. Chosen by hand; no benchmark isolates it."""

MOST_EXACT_CELLS = 1_500
"""Suppressed cells up to which the interval of each is computed; of more, cells that whole-numbered
tables certify are left without. Two linear programs a cell take some seconds at this size
(`benchmarks/tables.py --survey`)."""

STALE_CERTIFICATES = 6
"""Draws in a row that certify hardly any further cell, after which the rest get their intervals. By
hand, on the made-up survey of businesses: each costs less than the intervals of a few cells."""

STALE_CERTIFICATE_SHARE = 0.01
"""Share of the open cells that a draw must certify to count as more than hardly any. By hand."""

CERTIFICATE_REPAIRS = 4
"""Programs of one draw: the first, and again with all cells held that were not whole. By hand, on
the made-up survey of businesses, where the second is mostly whole."""

CERTIFICATE_SEED = 20261119
"""Of the signs with which cells are drawn, so that a table is judged the same every time."""
