"""How data are read and looked at: portions, sizes of samples, when names are alike."""

from __future__ import annotations

MAX_RECORDS_ENCODED_SINGLY = 1_000
"""Records that are encoded faster one by one than by calls of Arrow, each of which looks at all of
them and has a price of its own. `benchmarks/many_columns.py` times short columns as a whole."""

RECORDS_AT_A_TIME = 1 << 19
"""Records that are decoded at once: some tens of megabytes for a dozen attributes, against calls a
portion. `benchmarks/reading.py` times reading as a whole."""

PLACES_AT_A_TIME = 1 << 16
"""Codes that are looked up at once: NumPy widens them to 64 bits first, and so many stay within the
cache. `benchmarks/reading.py` times reading as a whole."""

PARSED_BYTES_AT_A_TIME = 8 << 20
"""Bytes of delimited text that Arrow parses at once: work for its threads, against memory. No row
may be longer. Chosen by hand; no benchmark isolates it."""

SCANNED_BYTES_AT_A_TIME = 1 << 20
"""Bytes of a text file that are read at once to check its encoding and marks: memory against calls.
Chosen by hand; no benchmark isolates it."""

MAX_SAMPLED_LINES = 50
"""Lines from which separator and quotation mark are told: more are surer and slower. Chosen by
hand; no benchmark isolates it."""

LONGEST_RECORD = 32 << 20
"""Bytes within which a quotation mark must be closed; else it counts as never closed. It bounds the
memory for a file with a stray mark. Chosen by hand; no benchmark isolates it."""

STATISTICAL_ROWS_AT_A_TIME = 100_000
"""Rows of an SPSS, Stata or SAS file that are read at once: fewer than of others, as every cell is
a Python object on its way. Chosen by hand; no benchmark isolates it."""

TEXTS_AT_A_TIME = 500
"""Names that are compared with all known ones at once: a matrix of so many rows of bytes.
`benchmarks/many_columns.py` times it among the rest of a draft."""

SIMILARITY_THRESHOLD = 0.8
"""From here on, of 0 to 1, two names are sufficiently similar (the paper's A ~ A1): roles that are
missed against roles that are wrong. Chosen by hand; no benchmark isolates it, and
`tests/data/test_categorisation.py` has names on both sides."""

MIN_LETTERS_COMPARED = 6
"""Letters from which on a name may be a misspelling of another: short words are near many. Chosen
by hand; no benchmark isolates it."""

MISSPELLING_SCORE = 88
"""Of 100: how much of their letters two names share for one to be a misspelling (rapidfuzz's
ratio). Chosen by hand; no benchmark isolates it."""

TIE_MARGIN = 0.03
"""Known names that are alike by no less than this below the best speak with the same voice:
conflicts that are shown against conflicts that are hidden. Chosen by hand; no benchmark isolates
it."""

CLEAR_LEAD = 0.1
"""A category that is less supported than another by more than this is a doubt, not a conflict.
Chosen by hand; no benchmark isolates it."""

OWN_BASE_BONUS = 0.05
"""A user's own decision outranks the shipped base by this, which is more than `TIE_MARGIN`. Chosen
by hand; no benchmark isolates it."""

MOSTLY_NUMERIC_SHARE = 0.9
"""Share of records that are numbers, from which on the others are remarked on: slips and codes that
are missed against remarks on plain text. Chosen by hand; no benchmark isolates it."""

MIN_RECORDS_FOR_UNIQUENESS = 20
"""Records from which on it means something that nearly all differ. Chosen by hand; no benchmark
isolates it."""

MIN_RECORDS_TO_COMBINE = 200
"""Records from which on pairs of attributes are looked at: among a few dozen nearly every pair
singles out many, a sign of nothing. Chosen by hand; no benchmark isolates it."""

NEARLY_ALL_SHARE = 0.95
"""Share of values that must have a shape, or differ, for the attribute to count as such: room for
errors in the data against false signs. Chosen by hand; no benchmark isolates it."""

MAX_SAMPLED_VALUES = 2_000
"""Values whose shape is looked at: time against rare shapes that are missed. Chosen by hand; no
benchmark isolates it."""

MAX_SAMPLED_RECORDS = 50_000
"""Records among which combinations single out: time against shares that are too high, as a sample
has more uniques. Chosen by hand; no benchmark isolates it."""

MIN_SINGLED_OUT_SHARE = 0.1
"""Share of records that a combination singles out to be worth a line. Chosen by hand; no benchmark
isolates it."""

MAX_COMBINED_ATTRIBUTES = 20
"""Attributes whose pairs and triples are looked at: 1,330 of them. Chosen by hand; no benchmark
isolates it."""

PROPOSED_INTERVALS = 16
"""Intervals of numbers at the finest level that is proposed, at most: four levels of halving are
above it. Chosen by hand; no benchmark isolates it."""

CROWDED_SHARE = 0.5
"""Share of records in one of these intervals from which on they are cut by quantiles instead.
Chosen by hand; no benchmark isolates it."""

MIN_CODE_LETTERS = 3
"""Characters from which on texts of one length may be codes whose beginnings mean something. Chosen
by hand; no benchmark isolates it."""

LIKENESS_SCORES = (85, 65)
"""Of 100: how alike the words of two values are (rapidfuzz's token set ratio) to be put together,
level by level. Chosen by hand; no benchmark isolates it."""

MIN_MERGED_SHARE = 0.25
"""Share of values that must find others alike for a hierarchy by likeness to be proposed. Chosen by
hand; no benchmark isolates it."""

MAX_VALUES_ALIKE = 1_000
"""Values that are compared with each other: a matrix of so many rows. Chosen by hand; no benchmark
isolates it."""

RARE_SHARES = (0.01, 0.05, 0.2)
"""Shares of records below which values are put together as others, level by level. Chosen by hand;
no benchmark isolates it."""

MAX_BRANCHES_SHOWN = 12
"""Branches of a node that a tree shows before it says how many more there are. Chosen by hand; no
benchmark isolates it."""

MIN_CODEBOOK_NAMES = 3
"""Names of a codebook, beside everyday ones, that a dataset must have for the codebook to be
recognised: names that meet by chance against extracts of few columns. Chosen by hand; no
benchmark isolates it."""

NUMBERING_SPREAD = 10
"""Times the records that numbers may be spread over to count as numbers that were given out: gaps
of those who left against amounts. Chosen by hand; `tests/data/accepted_roles.toml` shows it."""

LEAST_LONG_NUMBER = 100_000
"""From here on numbers of one length are numbers that were given out: shorter ones may be amounts.
Chosen by hand; no benchmark isolates it."""

MIN_CHECKED_NUMBERS = 5
"""Different values from which on right check digits are no chance (one in ten by Luhn's sum).
Chosen by hand; no benchmark isolates it."""

MIN_FREE_TEXTS = 20
"""Different values from which on an attribute may be free text: fewer are categories with long
names. Chosen by hand; no benchmark isolates it."""

FREE_TEXT_WORDS = 6
"""Words of the middle value from which on it is free text. Chosen by hand; no benchmark isolates
it."""

MIN_COUNTRIES = 3
"""Different values from which on an attribute may hold countries: two short codes may be anything.
Chosen by hand; no benchmark isolates it."""

COUNTRY_SHARE = 0.7
"""Share of values that must be countries: room for "other", and for spellings of old files. Chosen
by hand; `tests/data/accepted_roles.toml` shows it."""

MAX_BLOCK_RECORDS = 250_000
"""Records among which blocks are looked for, the first of a file: time against keys that repeat
late. Chosen by hand; no benchmark isolates it."""

MIN_BLOCK_REPEATS = 20
"""Records that must share the value of the record before them for a key of blocks: fewer are
chance. Chosen by hand; no benchmark isolates it."""

MAX_HOUSEHOLD_SIZE = 40
"""Records of one block up to which it may be a household. Chosen by hand; no benchmark isolates
it."""

MIN_WEIGHT_MEAN = 5.0
"""Mean from which on positive numbers may be sampling weights: one person in five, or fewer, was
asked. Chosen by hand; no benchmark isolates it."""

MAX_WEIGHT_RATIO = 50
"""Times their mean that sampling weights are at most: amounts have longer tails. Chosen by hand; no
benchmark isolates it."""

MIN_DEPENDENT_RECORDS = 10
"""Records for each value of a quasi-identifier from which on it is no chance that another attribute
follows from it in all of them; as many must have another value than most. Chosen by hand; no
benchmark isolates it."""

MIN_BATTERY = 4
"""Attributes of one name but for a number, and of the same few values, that are a battery of
questions. Chosen by hand; no benchmark isolates it."""

MAX_BATTERY_VALUES = 12
"""Values that answers of a battery have at most. Chosen by hand; no benchmark isolates it."""

REPEATED_SHARE = 0.9
"""Share of records up to which an id has different values where it is one of persons with several
records: room for ids that are given twice by mistake. Chosen by hand; no benchmark isolates it."""

MIN_STEM_LETTERS = 3
"""Letters of a word that another is made of. Chosen by hand; no benchmark isolates it."""

MIN_PREFIX_LETTERS = 5
"""Letters from which on the beginning of a word stands for it: `exper`, `relig`. Chosen by hand; no
benchmark isolates it."""

MAX_JOINED_LETTERS = 24
"""Letters of words run together that are taken apart: longer ones cost time and are rare. Chosen by
hand; no benchmark isolates it."""

MIN_KEY_SHARE = 0.002
"""Values for each record that a key has at least: with fewer, hundreds of records share each.
Chosen by hand; no benchmark isolates it."""

MOST_ANSWERS = 4
"""Values up to which an attribute that many records share is an answer (yes, no, not asked) and no
key. Chosen by hand; no benchmark isolates it."""

MIN_RECORDS_OF_CODE = 50
"""Records for each value from which on an attribute of at most `MAX_BATTERY_VALUES` values is a
code (a party, a scale) and no key of people, whatever its name. Chosen by hand; no benchmark
isolates it."""

BYTES_PER_CODE = 4
"""Bytes a code takes while records are read, as the formats estimate it: what `scan` weighs against
the free memory before it leaves records where they are. Chosen by hand."""

BYTES_PER_CLASSIFIED_RECORD = 24
"""Bytes a record takes while it is put into its class (two keys and the class), beside its codes.
Measured with the attack on everybody; benchmarks/lake.py shows both ways side by side."""

LEAST_MEMORY_LIMIT = 2**26
"""Bytes below which DuckDB cannot even open what it counts. Found by trial."""

MAX_DIFFERENCES_SHOWN = 5
"""Columns that are named, at the most, where a file lacks some or has others. Chosen by hand."""

MIN_DIGIT_DATES = 3
"""Different values from which on eight digits each are dates if all are on the calendar: of numbers
by chance one in thirty is. Chosen by hand; no benchmark isolates it."""

MAX_WRONG_DATES_SHARE = 0.1
"""Share of values of a column that look like dates and are none up to which they are taken for
slips, and refused; with more, the column holds codes. Chosen by hand; no benchmark isolates it."""

MAX_WAVES = 60
"""Different moments up to which somebody's records are waves of a panel, such as years or months:
more are a history. Chosen by hand; no benchmark isolates it."""

MIN_WAVES = 2
"""Records that somebody has on average, from which on they come again. By definition."""

MIN_CELLS = 4
"""Rows from which on a file may be a table of totals: two by two. By definition."""

MAX_CELLS = 1_000_000
"""Rows up to which a file may be a table of totals: larger ones are not looked at as such. Chosen
by hand; no benchmark isolates it."""

MIN_CELLS_SHARE = 0.8
"""Share of all combinations that must be there for rows to be the cells of a table: room for cells
that are empty and left out, against small files of records that happen to differ. Chosen by hand;
no benchmark isolates it."""

MIN_SHARED_KEYS = 0.3
"""Share of the values of the smaller file's key that must be in the other for both to be of the
same people: panels that rotate against numbers that are given out anew in each file. Chosen by
hand; no benchmark isolates it."""

MIN_LINKED_KEYS = 20
"""Different values from which on a key links files: fewer are shared by chance. Chosen by hand; no
benchmark isolates it."""

DIGIT_DATE_YEARS = (1800, 2100)
"""Years between which eight digits may be a date that nobody said to be one. Chosen by hand; no
benchmark isolates it."""

MAX_NUMBERED_CATEGORIES = 12
"""Values up to which whole numbers from 0 or 1 are read as categories, whose neighbours have
nothing in common: a region put beside another against an age put beside the next. Chosen by hand;
no benchmark isolates it."""

SUMMARY_BARS = 12
"""Bars of the small chart of an attribute. A matter of taste."""

SUMMARY_VALUES = 3
"""Most frequent values that a first look at an attribute shows. A matter of taste."""

MAX_COMPARED_RECORDS = 2_000_000
"""Records up to which a first look finds those that are equal: seconds against an answer. Chosen by
hand; no benchmark isolates it."""

MAX_NESTED_OBJECTS = 200
"""How deeply objects of R may lie in each other: data frames are flat, and a damaged file that is
not would exhaust the stack. Chosen by hand; no benchmark isolates it."""
