"""Seeds that were found: refuted and not yet mended, or mended and kept."""

from __future__ import annotations

KNOWN: dict[int, str] = {}
"""Releases that pass and are refuted, each with the reason why that is not mended yet."""

FOUND_LOCAL: tuple[tuple[int, str], ...] = ((71013, "nested"),)
"""Seeds that failed where records were recoded one by one, each with the search. The first could not
be written: what was recoded was removed afterwards, and the summary listed no attribute."""

FOUND_KINDS: tuple[tuple[str, int], ...] = (
    ("datasets", 104),
    ("protected before", 135),
    ("limits", 1),
)
"""Seeds of other kinds. In the first a dataset that hides cells itself is joined, which ended in an
error; in the second a postcode told one of two hidden regions, and parts of it the other: whoever
used whole columns only was surer than who used all relations, or those of one attribute. In the last
all people who are linked were removed, which ended in an error."""

FOUND: tuple[int, ...] = (
    *(27, 30, 38, 39, 687, 1214, 7165, 7203),
    *(20184, 20302, 20444, 20675, 20865),
    *(20390, 20510),
    *(30482, 30837),
    *(40008,),
)
"""Seeds that were refuted once, and are mended. In most of the first line hidden cells were read by
relations that the attack had too few cells to believe, until the truth told it which of them hold; in
the sixth a recoded date was hidden that no shown record has; in the seventh a revision hid that a
value was absent, which the protection that it revises had shown; in the last an adversary's limit was
judged after refilling as if they did not know their victim. In the second line a region that was
recoded for all is told by a weight of few values on fewer records than the attack believed. In the
third a smaller revision was compared with what it revises only for who reads the files as they are,
and not for who knows their victim. In the fourth somebody who believed fewer relations than the
attack, or those of one attribute only, was surer of their victim than who believed all of them. In
the last line nothing is refuted: all cells that were recoded were suppressed or removed afterwards,
and the sentence that names the coarser attributes had none to name."""
