"""What was tuned in checking a release, each with what it trades off and how it was found."""

MOST_TRIED_RECORDS = 10_000_000
"""Records that are looked at, change by change and attack by attack, to say what would help: about
3 s of one core, of a check that takes as long for as many records. Beyond it the adversaries that
cost most are left out, and the report says so. Chosen by hand; no benchmark isolates it."""

SETS_PER_RUN = 16
"""Sets of attributes that a sweep counts in the time of one attack: the walk shares its work.
Measured on 20,000 pupils and 231 sets; benchmarks/sweep.py shows the walk."""

LEAST_HELP = 0.01
"""The least part of what is beyond a limit that a change must take away to be worth telling. Chosen
by hand; no benchmark isolates it."""

RARE_SHARE = 0.05
"""The share of records below which a value is rare where it is told who bears the risk. Chosen by
hand; no benchmark isolates it."""

FEWEST_EXPOSED = 10
"""Records of which a mean risk is told: of fewer it would be that of single people. Chosen by hand;
no benchmark isolates it."""

FAR_ABOVE = 1.5
"""By what factor a group's mean risk exceeds that of all where it is told. Chosen by hand; no
benchmark isolates it."""

MOST_EXPOSED_GROUPS = 5
"""Groups that are told of one adversary. Chosen by hand; no benchmark isolates it."""

LEAST_SHARED = 0.5
"""The share of the smaller of two datasets that must be found in the other where no id says that
they are of the same people: fewer, and they look alike by chance. Chosen by hand; no benchmark
isolates it."""

LEAST_DISTINCT = 0.5
"""The distinct values of a column, per record, above which equal values are no chance: numbers that
hardly anybody else has. Chosen by hand; no benchmark isolates it."""

LEAST_ALIKE = 0.9
"""The share of the smaller of two datasets whose values a column must have in common with one of
another name to be taken for the same. Chosen by hand; no benchmark isolates it."""

LEAST_COMBINATIONS = 30
"""Combinations of values from which on it is said whether chance makes two datasets alike: by
fewer, it may. Chosen by hand; no benchmark isolates it."""

MOST_OF_CHANCE = 0.5
"""The part of what would differ in two samples of one population that may differ in two datasets
which are taken for the same records, of which some are left out. Higher, and two samples are taken
for one; lower, and fewer records need be left out to hide that they are one. Chosen by hand; no
benchmark isolates it."""

MOST_TELLERS = 5
"""Relations that are named where a protection is refused since other columns tell what it hides. A
reader follows as many; no benchmark isolates it."""
