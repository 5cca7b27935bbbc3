"""Whether the first line of a text file holds names: a record in its place must not be shown.

Messages list the names of attributes, and of a file without a header these would be values of its
first record. A column of figures under a word shows that the first line holds names; a first line
that holds a value of its own column shows the contrary. Where there is neither, nobody can tell.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence

from divulge.work import UnconfirmedName

_FIGURE = re.compile(r"[-+.,]?\d[-+.,:/' \dTZeE%]*")
"""A number, a date or a time, in any of the ways in which they are written."""

MISSING_WORDS = {"missing", "n/a", "na", "nan", "nil", "none", "null", "refused", "unknown"}
"""Words that stand among figures in records, and so do not tell a header."""


def confirms_names(
    names: Sequence[str], rows: Sequence[Sequence[str]], missing: Collection[str] = ()
) -> bool:
    """Whether some column has a word in the first line, and in all others figures.

    >>> confirms_names(["name", "age"], [["Smith", "34"], ["Jones", ""]])
    True
    >>> confirms_names(["Smith", "34"], [["Jones", "35"]])
    False
    """
    for column, name in enumerate(names):
        word = name.strip()
        values = [value for row in rows if (value := row[column].strip()) not in ("", *missing)]
        is_word = word[:1].isalpha() or word[:1] == "_"
        if word.lower() in MISSING_WORDS or word in missing or not is_word:
            continue
        if values and all(map(_FIGURE.fullmatch, values)):
            return True
    return False


def has_figure(names: Sequence[str]) -> bool:
    """Whether a name is a figure: years and item numbers are, and values of a record.

    >>> has_figure(["region", "2019"]), has_figure(["region", "size"])
    (True, False)
    """
    return any(_FIGURE.fullmatch(name.strip()) for name in names)


def contradicts_names(names: Sequence[str], rows: Sequence[Sequence[str]]) -> bool:
    """Whether the first line has a value that its column has in another line too.

    >>> contradicts_names(["Smith", "F"], [["Jones", "M"], ["Brown", "F"]])
    True
    """
    return any(
        name.strip() and any(row[column].strip() == name.strip() for row in rows)
        for column, name in enumerate(names)
    )


def select_listable_names(names: Sequence[str], user_names: Collection[str]) -> list[str]:
    """The names that messages may list, to a user who has given some.

    One that both the user and the file use shows that the first line of the file holds names.

    >>> unsure = [UnconfirmedName("name"), UnconfirmedName("town")]
    >>> select_listable_names(unsure, ["nam"]), select_listable_names(unsure, ["nam", "town"])
    ([], ['name', 'town'])
    """
    if any(name in names for name in user_names):
        return [str(name) for name in names]
    return [name for name in names if not isinstance(name, UnconfirmedName)]
