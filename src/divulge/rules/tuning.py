"""Numbers of the rule engine that were chosen: what each trades off, and how it was found."""

from __future__ import annotations

MOST_WHOLE_DIGITS = 18
"""Digits of a whole number: what 64 bits hold with room for a sum of a few."""

MOST_DECIMAL_DIGITS = 18
"""Digits after the point that are kept exactly. DuckDB's decimals have 38 digits in all, so that 20
are left before the point and products of two shares of 9 digits stay exact; chosen by hand."""

DIGITS_OF_ANY_VALUE = 12
"""Digits after the point of a number that is read out of a column of values of any kind; chosen by
hand: 26 are left before the point."""

MOST_NULLS = 1_000_000
"""Nulls that a program may invent unless it is told otherwise; chosen by hand, about what fits
into a few hundred megabytes."""

MOST_ROUNDS = 10_000
"""Rounds of a stratum of a program that ends by itself, unless it is told otherwise; chosen by
hand: chains of ownership or of addresses are far shorter."""

MOST_OPEN_ROUNDS = 2_000
"""The same of a program that may not end: each round costs about four milliseconds, so that one
that counts without end is stopped within ten seconds of work."""

MOST_CONFLICTS = 1_000
"""Conflicts of equality rules that are listed, each with both derivations; more than a person
reads."""

MOST_EXPLAINED_FACTS = 2_000
"""Facts of one explanation; beyond it the rest is counted. Chosen by hand: ten seconds of
work where there are half a million facts (`benchmarks/rules.py`)."""

MOST_ALTERNATIVES = 12
"""Facts that a drawing or a text shows side by side before it counts the rest; chosen by eye."""

MOST_CHARACTERS = 20_000_000
"""Characters of a program; more facts than that belong into a file of data. Twice the longest
program that was tried."""

MOST_NESTING = 40
"""Brackets and cases within each other; a person loses count far below, and the parser's own calls
stay well below the depth that Python allows."""

MOST_OPERATIONS = 60
"""Operations in a row in one term; each makes the tree of the term one deeper, for all that
walk it."""

MOST_DIGITS = 300
"""Digits of a written number before the point, and after it: about what double precision can
span."""

MOST_PROBLEMS = 50
"""Problems of one program that are listed; more than a person mends at once."""

MOST_CHARACTERS_OF_A_LABEL = 60
"""Of a rule in a message; chosen by eye, so that a message stays on two lines."""
MOST_RULES = 5_000
"""Rules, sources and predicates of a program; each costs some milliseconds to prepare. Facts are
not counted. By hand."""

MOST_TERMS = 1_000
"""Arguments of an atom, columns of a source; wider than any table that is handed in. By hand: each
is a column of a table, and the database takes minutes and gigabytes for half a million."""

MOST_TESTS = 200
"""Tests of a case, and parts of one that "and" or "or" joins; by hand: the tree of the query is as
deep."""

MOST_LITERALS = 100
"""Literals of a body; DuckDB's search for an order of joins takes long beyond it. By hand."""

DEEPEST_TYPE = 8
"""Sets and tuples inside each other; a rule that wraps its own result would go on for ever."""

MOST_REPEATED_NODES = 300
"""Nodes of a term that is written again for each use of its variable; beyond it a column of its own
is joined. By hand: longer than any term of the library, and 40 equations take a second."""

PLUGIN_BATCH = 100_000
"""Inputs that a plug-in is asked for at once: a few megabytes of texts. Chosen by hand."""

MOST_QUICK_DIGITS = 9
"""Digits after the point up to which binary fractions are looked at as numbers, not as texts."""

MOST_COMPARED_ELEMENTS = 20
"""Elements of the longest set of a column up to which it is asked whether all are sorted; each
neighbour is one more comparison of a row. Of 1,000,000 sets of four pairs, sorting takes 1.2 CPU-s
and the question .05 (`benchmarks/rules.py`)."""
