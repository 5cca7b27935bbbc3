"""What becomes of a column when data are published: by its role, and by what its owner says."""

from __future__ import annotations

from collections.abc import Collection
from typing import Literal, TypeAlias

from divulge.data.dictionary import WITHHELD_ROLES

Fate: TypeAlias = Literal[
    "shown", "pseudonyms", "exposed", "unlisted", "presumed", "dropped", "withheld"
]
Unlisted: TypeAlias = Literal["drop", "non_identifying"]
"""What an owner may say of attributes without a role."""

UNLISTED: tuple[Unlisted, ...] = ("drop", "non_identifying")


def find_column_fate(
    name: str,
    role: str | None,
    publish: Collection[str] = (),
    unlisted: Unlisted | None = None,
    *,
    links: bool = False,
) -> Fate:
    """What becomes of a column that has a role or none.

    An id of a panel or a history `links` its records, and goes out under a pseudonym.

    >>> find_column_fate("passport", "identifier"), find_column_fate("age", "quasi_identifier")
    ('withheld', 'shown')
    >>> find_column_fate("hh", "household", publish=["hh"]), find_column_fate("x", None)
    ('pseudonyms', 'unlisted')
    """
    if links:
        return "pseudonyms"
    if role in WITHHELD_ROLES:
        if name not in publish:
            return "withheld"
        return "exposed" if role == "identifier" else "pseudonyms"
    if role is not None:
        return "shown"
    if unlisted is None:
        return "unlisted"
    return "dropped" if unlisted == "drop" else "presumed"
