"""How long protection searches: rounds, tries, and how many sets are listed."""

from __future__ import annotations

from divulge.work.effort import Cost

MOST_ROUNDS = 200
"""Rounds, in each of which everything is measured anew and something changed, before the cycle
gives up. Chosen by hand; no benchmark isolates it."""

PARTITION_RECORDS = 11
"""Records whose cheapest classes are found exactly, over all their subsets: 3 to this power steps,
about a millisecond (`benchmarks/tiny_suppression.py`)."""

IMPROVED_RECORDS = 250
"""Records that hide something and are put into classes anew, a dozen at a time. It saves 9% of the
cells of 30 records, 1% of 200 and half a percent of 1,000, where it takes ten times the time of all
the rest (`benchmarks/tiny_suppression.py`)."""

REFINEMENT_TRIES = 120
"""Hidden sets of cells that are measured to find a cheaper one; each costs one measurement of
everybody (`benchmarks/tiny_suppression.py`)."""

REFINEMENT_RECORDS = 6_000
"""Records that are measured in all of these tries together: many records get few tries, since what
a single cell saves there is little (`benchmarks/tiny_suppression.py`)."""

QUICK_LOOK_RECORDS = 300
"""Records of which all pairs are compared to spare a measurement; beyond it the measurement is the
quicker of the two. Chosen by hand; no benchmark isolates it."""

FIGURE_COUNTS = (2, 3, 5, 8, 12, 20, 50, 100)
"""Numbers of records alike that are tried for a limit on what an adversary finds, a suppression
each: finer steps hide fewer cells and take longer. Chosen by hand; no benchmark isolates it."""

CLASS_TABLE_SHARE = 0.8
"""Share of the places of a table of classes that may be taken at the most: memory against longer
searches. `benchmarks/recoding.py --census` shows both."""

MOST_DONORS = 30
"""Records that are asked to hide the same as somebody whom nothing else helps; each costs a
measurement of everybody. Chosen by hand; no benchmark isolates it."""

MOST_LEVEL_COMBINATIONS = 1_000_000
"""Combinations of levels up to which the best is proved by branch and bound: three arrays of that
many places, and time that the bounds keep short. Beyond, good levels are searched and bounded.
`benchmarks/recoding.py`."""

LEVEL_SECONDS = 2.0
"""Nominal seconds for levels of larger lattices: better levels against time; both public files of
the benchmark end at the best that is known before it (`benchmarks/recoding.py`)."""

PROOF_SECONDS = 60.0
"""Nominal seconds in which a lattice is searched to the end; else the best found is told with a
bound. Limits that do not prune (t-closeness with removals) may need more on large files. Chosen by
hand; no benchmark isolates it."""

KICKED_ATTRIBUTES = (2, 5)
"""Attributes (from, and fewer than) whose levels are drawn anew when a descent has ended: fewer
fall back to where they came from, more are a new start. Chosen by hand; `benchmarks/recoding.py`
shows what is found."""

DESCENT_SHARE = 0.7
"""Share of that effort for better levels; the rest is for a better bound. Chosen by hand;
`benchmarks/recoding.py` shows both."""

LEVEL_COST = Cost("level", per_call=2e-5, per_step=1.0e-9)
"""Measuring one combination of levels: a step is a distinct record times an attribute
(`benchmarks/recoding.py`)."""

BOX_COST = Cost("box", per_call=2e-5, per_step=3.0e-9)
"""Bounding a box of levels: a step is a distinct record times an attribute. Summing what is removed
makes it 1.4 (mach2019) to 3 times (creditcard) as dear as measuring levels
(`benchmarks/recoding.py`)."""

MOST_JUDGED_LEVELS = 400
"""Combinations of levels that are judged by limits which only the records can tell, each with a
measurement or an attack on all records. Chosen by hand; no benchmark isolates it."""

MOST_SCORED_LEVELS = 5_000
"""Combinations of levels of which a utility without costs of cells is measured, each by a count of
classes or a call of somebody's function: up to so many, all of them. Chosen by hand; no benchmark
isolates it."""

MOST_MAPPED_LEVELS = 500
"""Combinations of levels on a risk-utility map, each at every k: a fuller picture against time and
a chart that can still be drawn. Chosen by hand; no benchmark isolates it."""

MOST_JOINT_TRIALS = 12
"""Combinations of levels for which it is found out what suppression then costs: a cycle each,
against levels that lose less. Chosen by hand; `benchmarks/recoding.py` shows what they save."""

JOINT_ROWS = 500_000
"""Records that these cycles look at together: of many records, fewer combinations are tried. Chosen
by hand; no benchmark isolates it."""

MOST_JOINT_RECORDS = 5_000_000
"""Records up to which levels are weighed against suppression; beyond, attributes are climbed one at
a time, which needs less memory. Chosen by hand; no benchmark isolates it."""

LEAST_JOINT_GAIN = 1e-9
"""What another combination of levels must lose less to be taken: more than sums of floating numbers
differ by."""

STAND_IN_SIZE = 2
"""Records of a class that rank levels where only an adversary's attack can judge them: those who
are alone need cells hidden first. Chosen by hand; no benchmark isolates it."""

MOST_SUFFICIENT_LEVELS = 60
"""Combinations of levels that an adversary attacks to find the best after which nothing need be
hidden. Chosen by hand; no benchmark isolates it."""

HIDDEN_CELL_ESTIMATES = (0.5, 1.0, 2.0, 4.0)
"""Hidden cells that a record at risk is expected to need when levels are ranked, each with a search
of its own. On Adult it is 1.1 to 1.6. Chosen by hand; no benchmark isolates it."""

MOST_CONTINGENCY_PAIRS = 60
"""Pairs of attributes whose joint distribution is compared, one pass over the records each. Chosen
by hand; no benchmark isolates it."""

MOST_TARGET_VALUES = 50
"""Values of an attribute that models are compared on, at most: of more, each has too few records to
learn from. Chosen by hand; no benchmark isolates it."""

FEWEST_MODEL_RECORDS = 20
"""Records from which on models are compared: of fewer, two or none would be asked about. Chosen by
hand; no benchmark isolates it."""

MOST_COMPARED_VALUES = 20
"""Values of an attribute that are compared one by one; of more, tenths or the most frequent ones
are. Chosen by hand; no benchmark isolates it."""

VALUE_GROUPS = 10
"""Groups of equally many records into which numbers of many values are put: tenths, as the page
says. Chosen by hand; no benchmark isolates it."""

MOST_COMPARED_PAIRS = 300
"""Pairs of numeric attributes of which the correlation is compared, one pass over the records each.
Chosen by hand; no benchmark isolates it."""

MOST_INDICATORS = 50
"""Values of a key that enter a regression, an indicator each: of more, each has too few records,
and time grows with the square. Chosen by hand; no benchmark isolates it."""

MOST_LISTED_CORRELATIONS = 10
"""Correlations that a page lists, those that moved most; `result.json` has all. Chosen by hand; no
benchmark isolates it."""

SINGULAR_SHARE = 1e-10
"""Share of the largest variance of a design below which a direction has none: far above what
rounding leaves (1e-16), far below what data show. Chosen by hand; no benchmark isolates it."""

SHARED_DIRECTION = 1e-6
"""Part that a key has in a direction without variance from which on its effect is not told apart.
Chosen by hand; no benchmark isolates it."""

DESIGN_CHUNK_RECORDS = 65_536
"""Records of which the design of a regression is held in memory at once: 26 MB with 50 columns.
Chosen by hand; no benchmark isolates it."""

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

LEAST_INDEXED_ROWS = 64
"""Rows that hide the same from which on they are looked up in tables and not compared one by one.
Tables take memory and must be kept; `benchmarks/protection.py` shows the seconds of the cycle."""

SCANS_BEFORE_INDEX = 20
"""Times that all rows are compared with rows that hide the same before tables are made for these,
which takes about as long as so many comparisons. From the same benchmark."""

MOST_INDEXED_PLACES = 50_000_000
"""Places in all such tables, eight bytes each; beyond, rows are compared one by one. Chosen by
hand."""

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

REFILL_LEAST_ROWS = 30
"""Shown cells on which a relation of the refill attack must have been tried. From a trial on public
data; `benchmarks/refill.py` shows what is claimed and how much of it is right."""

REFILL_LEAST_OTHER_ROWS = 15
"""The same among cells whose value is not the most frequent one: without it, skewed columns are
told by anything. From the same trial."""

REFILL_LOWER_BOUND = 0.95
"""What the lower end of a relation's share of right predictions must reach: fewer relations against
fewer wrong cells. From the same trial."""

REFILL_OTHER_LOWER_BOUND = 0.90
"""The same among cells whose value is not the most frequent one. From the same trial."""

REFILL_TRUSTED_ROWS = 1_000
"""Right predictions without a wrong one from which on twins cannot have forged a relation. From the
same trial, where the highest number that twins forged was 187."""

REFILL_TRUSTED_GROUPS = 50
"""Groups over which those predictions must be spread. From the same trial."""

REFILL_VERIFIED_SHARE = 0.8
"""Share of the hidden cells that a relation must tell rightly to count as verified: part of the
definition of the figure, not tuned."""

REFILL_SAMPLE = 64
"""Rows on which a calculation is tried before all rows are looked at: time against relations that
hold only in some rows. Chosen by hand; `benchmarks/refill.py` shows the time."""

REFILL_LEAST_SAMPLE = 12
"""Rows of that sample in which all columns of a calculation must be known. Chosen by hand."""

REFILL_SAMPLE_SHARE = 0.8
"""Share of that sample which a calculation must fit to be tried on all rows. From the same
trial."""

REFILL_ORDER_SHARE = 0.05
"""Share of rows in which an order must fail once the rows of one column are moved: an order that
chance keeps as well says nothing. Chosen by hand; no benchmark isolates it."""

REFILL_RANGE_LOWER_BOUND = 0.98
"""What the lower end of the share of right predictions must reach for ranges of a number: a coarser
form of the same thing has next to no exceptions. Lower, and what is merely usual is taken for known
(EU-SILC: who has a pension is retired in 96%, and 1.6% of the records would be removed for it)."""

REFILL_SUM_ROWS = 20
"""Rows beyond the number of columns that fix the coefficients of a sum of several columns; it is
tried on at least as many others. Chosen by hand; `benchmarks/refill.py` shows the time."""

REFILL_SUM_PARTS = 3
"""Columns of a sum at the least that is found by least squares: two have a form of their own."""

REFILL_SUM_TOLERANCE = 1e-6
"""By how much coefficients may miss nothing or a whole number: more than least squares leave, less
than any coefficient that is meant. Chosen by hand."""

REFILL_SUM_TRIES = 6
"""Choices of such rows that are tried, so that one of them may be without exceptions. Chosen by
hand; no benchmark isolates it."""

REFILL_MEMBER_ROWS = 3_200
"""Members of the groups of the sampled rows, up to which totals over groups are tried: fifty a
group; larger ones are no households, and one value of a large total is seldom left alone. Chosen by
hand; `benchmarks/refill.py` shows the time."""

REFILL_PAIR_COLUMNS = 60
"""Columns up to which all pairs are looked at, 1,770 of sixty; beyond, a fixed choice of sixty.
`benchmarks/refill.py` shows the time."""

REFILL_ROWS = 1_000_000
"""Records up to which all groups give evidence; beyond, a fixed choice of whole groups. Chosen by
hand; no benchmark isolates it."""

REFILL_LEAST_GROUPS = 10_000
"""Groups of a column that must be left by such a choice. Chosen by hand; no benchmark isolates
it."""

REFILL_GUESS_BINS = 12
"""Intervals into which numbers are cut for naive Bayes guesses. From the same trial."""

REFILL_GUESS_COLUMNS = 4
"""Columns whose combinations make the classes of best guesses: better guesses against time, which
grows with each. From the same trial."""

REFILL_GUESS_SAMPLE = 2_000
"""Shown cells on which guesses by naive Bayes are tried, to tell whether they are the better ones.
Chosen by hand; no benchmark isolates it."""

REFILL_GUESS_EFFORT = 5_000_000_000
"""Hidden cells times values times columns up to which naive Bayes guesses, a few seconds; beyond,
classes alone do. Chosen by hand; no benchmark isolates it."""

REFILL_PLAUSIBLE_ROWS = 15
"""Shown cells on which a relation was never wrong, for somebody bold to use it; only where the
truth then tells whether it holds on hidden cells. Fewer, and chance is taken for knowledge: records
are removed for relations that nobody could believe. `make redteam` refuted passes with 73."""

REFILL_PLAUSIBLE_OTHER_ROWS = 5
"""The same among values other than the most frequent."""

REFILL_PARTLY_ATTRIBUTES = 3
"""Attributes with refilled cells up to which every choice of them is judged; of more, each alone.
Time against attackers who know some relations and not others. `make redteam` refuted a pass where
of two attributes only one was refilled; choices of more than three were not tried."""

REFILL_PARTLY_RELATIONS = 6
"""Relations that tell different cells of one attribute, each of which is judged alone, and together
with those found before it; simple ones are found first. Time against attackers who know some
relations and not others: `make redteam` refuted a pass where a postcode told one region of two, and
its first character the other; choices of others were not tried."""

REFILL_DICTIONARY_ROWS = 10
"""Records for each value of a column from which on its values may be looked up somewhere: postcodes
and strata are, incomes and numbers of households are not. Lower, and no attribute can be made
coarser that an income tells; higher, and long classifications are taken for meaningless. Chosen by
hand; no benchmark isolates it."""

REFILL_FINER_CODES = 3
"""Codes for each value that they tell up to which they may be looked up whatever the number of
records: three articles of each kind of goods. Higher, and incomes of a few households tell their
region. Chosen by hand; no benchmark isolates it."""

REFILL_CODE_CHANCE = 0.05
"""How likely codes of a few records may tell a value by chance, and are still taken for its
classification. Lower, and what a person can read in ten records passes. Chosen by hand; no
benchmark isolates it."""

REFILL_MAJORITY_MEMBERS = 20
"""Shown members from which on what most of a group have is a majority: of fewer, one exception more
or less would decide. Chosen by hand; `benchmarks/refill.py` shows the time."""

REFILL_MAJORITY = 0.95
"""Share of a group that its majority must have where nobody knows the truth: few exceptions. What
all these groups tell must then reach the bound of ranges. Lower, and who is usual is claimed where
those are hidden who are not (sdcMicro's test data: 220 claims, 102 of them right)."""

REFILL_BOLD_MAJORITIES = (0.5, 0.8)
"""The same where the truth tells whether majorities hold on hidden cells: first all groups that
have one, then only those that nearly agree, since of a column only some values may mean something.
All of them must be right as often as a verified relation. Chosen by hand."""

REFILL_POWER_MARGIN = 0.1
"""By how much the middle quotient may miss a power of ten: more than numbers to two digits do, less
than another factor would. Chosen by hand."""

REFILL_TEXT_PLACES = (24, 8, 8)
"""The places in a code at which one character, two and three are looked at. Each is a column more
for the search; fields of two and three characters further inside are rare. Chosen by hand."""

REFILL_TEXT_PART = 8
"""Characters at the beginning and at the end of a text up to which its parts are looked at: codes
have their meaning there, and longer parts are as many as the texts. Chosen by hand."""

METHOD_CANDIDATES = 16
"""Originals that are protected again, whenever something was protected, to tell exactly what the
method gives away; each takes tens of milliseconds. Beyond, counts tell it; `audit` replays more.
Chosen by hand; no benchmark isolates it."""

# Withstanding refilling (`refill_resistance.py`).
LEAST_DETERMINED_SHARE = 0.25
"""The share of records whose value a relation must tell for an attribute not to be hidden any more.
Lower, and an attribute stays shown for the sake of a few cells, which costs others (EU-SILC with
ages by ten years: 1.4% told, 11% more cells); higher, and more records are removed in the end.
benchmarks/refill.py."""

LEAST_TOLD_SHARE = 0.5
"""The share of an attribute's hidden cells that others tell from which on it is not hidden any
more: where most of them are read, hiding others costs less than removing these records. Chosen by
hand."""

LEAST_TOLD_RECORDS = 0.001
"""The share of all records that this must concern: fewer are removed. Chosen by hand."""

CERTAIN_RISK = 1 - 1e-6
"""The risk of a record that is found for certain, as logarithms can take it: of two such members of
a cluster each counts. Chosen by hand; no benchmark isolates it."""

MOST_CLUSTER_ROUNDS = 60
"""Rounds in which every cluster at risk takes one move, and all is measured again. Chosen by hand;
no benchmark isolates it."""

MOST_TRIED_MEMBERS = 4
"""Members of a cluster, those at the highest risk first, of whom the cheapest move is looked for.
Chosen by hand; no benchmark isolates it."""

CLUSTER_STARTS = 4
"""Numbers of records alike from which the search for linked records begins, from what somebody
alone needs to what the largest cluster needs: fewer cells against a suppression each. Chosen by
hand; no benchmark isolates it."""

MOST_CLUSTER_MASKS = 64
"""Sets of attributes that a member of a cluster may hide, the smallest first. Chosen by hand; no
benchmark isolates it."""

MOST_TRIED_MOVES = 200
"""Moves up to which all are tried on small data, a measurement each: fewer cells against time.
Chosen by hand; no benchmark isolates it."""

MOST_CLUSTER_TRIALS = 400
"""Measurements in which small data are searched for fewer cells. Chosen by hand; no benchmark
isolates it."""

MOST_PRUNED_ROWS = 5_000_000
"""Rows that are measured to see which hidden cells may be shown again. Chosen by hand; no benchmark
isolates it."""

MOST_CLUSTER_WORK = 20_000_000_000
"""Cells that are compared to find the cheapest move of each cluster at risk; beyond that,
clusters are lowered a cell at a time. Chosen by hand; no benchmark isolates it."""

# Local recoding (`recoding/`).
SPLITS_PER_STEP = 4_096
"""Classes that are split between two looks at whether the run was stopped: some milliseconds.
`benchmarks/recoding_local.py` shows the time of all."""

JOIN_TABLE_ENTRIES = 30_000_000
"""Pairs of a node and a leaf whose common ancestor is kept in tables, eight bytes each; attributes
that are wider climb instead, which takes several times as long. Chosen by hand; no benchmark
isolates it."""

PRICE_OF_NOTHING_COMMON = 1e9
"""What it costs to show values alike that have no common ancestor: more than all records at their
tops, so that nobody does. Part of the method, not tuned."""

NEIGHBOURS = 24
"""Near units that are kept of each unit: better classes against time and memory, both of which grow
with it (`benchmarks/recoding_local.py`)."""

NEIGHBOUR_SORTS = 8
"""Random orders in which units are compared with those that follow them. From a trial on public
data, where the neighbours were within .2% of the true ones (`benchmarks/recoding_local.py`)."""

NEIGHBOUR_WINDOW = 15
"""Units that follow one in such an order and are compared with it. From the same trial."""

NEIGHBOUR_ROUNDS = 2
"""Times that units are compared with the neighbours of their neighbours. From the same trial."""

NEAREST_CLASSES = 4
"""Classes with whose units a unit may change places. From the same trial."""

CLUSTER_PASSES = 6
"""Times that every unit is asked for its best move. From the same trial."""

LEAST_PASS_GAIN = 2e-5
"""What a pass must save for another one to follow, as a share of everything at its top. From the
same trial."""

UNITS_PER_STEP = 4_096
"""Units that are looked at between two looks at whether the run was stopped: a tenth of a second.
`benchmarks/recoding_local.py` shows the time of all."""

NEIGHBOUR_COST = Cost("neighbours", per_call=0.0, per_step=4e-6)
"""What it takes to find the neighbours of a unit, by attribute: 2 (Adult) to 5 (creditcard) times
10^-6 seconds, more where there are more values (`benchmarks/recoding_local.py`)."""

CLUSTER_COST = Cost("clusters", per_call=0.0, per_step=1.3e-6)
"""What the best move of a unit takes, by attribute: .2 (Adult) to 1.3 (creditcard) times 10^-6
seconds, and more where classes are near each other (`benchmarks/recoding_local.py`)."""

MOST_BOUNDED_UNITS = 20_000
"""Units up to which all pairs are compared for a lower bound on local recoding, some seconds for
this many (`benchmarks/recoding_local.py`)."""

UNITS_PER_BOUND_STEP = 256
"""Units that are compared with all others between two looks at whether the run was stopped."""

MOST_PEOPLE_TRIES = 12
"""Numbers of records that are made alike, one after another, until enough people are among them:
fewer cells against time. Chosen by hand; no benchmark isolates it."""

PREFERENCE_FACTOR = 10.0
"""How much dearer each rank of attributes is than those that rules want changed before it: one
cell of a later rank is hidden instead of ten. Chosen by hand; no benchmark isolates it."""

# The audit of recoding (`result/audit/recoding_audit.py`).
AUDIT_DRAWS = 200
"""Originals that are drawn and recoded again to audit a recoding of many records: surer figures
against time, one run of the scheme each. Chosen by hand; no benchmark isolates it."""

AUDIT_PROBES = 8
"""Draws of a block of classes after which, if none gave the same release, fewer classes are drawn
anew at once. Chosen by hand; no benchmark isolates it."""

AUDIT_BLOCK_STEP = 8
"""By what a block of classes is divided then: fewer draws that are lost against larger blocks, of
which more is learnt at once. Chosen by hand; no benchmark isolates it."""

AUDIT_BLOCK_DRAWS = 40
"""Draws of a block of classes of which some gave the same release, all in all: surer figures of its
classes against more classes. Chosen by hand; no benchmark isolates it."""

LEAST_AUDIT_SURVIVORS = 4
"""Draws that must have given the same release for anything to be said of a class: two in each half.
Chosen by hand; no benchmark isolates it."""

SHARPENING_ERRORS = 4.0
"""Standard errors by which the share of a value must be above what it is compared with: so many
that of ten thousand classes hardly one is called sharper by chance."""

AUDIT_SEED = 0
"""The seed of the audit's draws: no secret, and the same figures every time."""
