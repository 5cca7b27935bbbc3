"""What no value of a fact may be: a text with the mark of nulls, a number that is too large."""

from __future__ import annotations

import math
from decimal import Decimal

from divulge.rules import tuning

NULL_MARK = "\x01"
"""What a null begins with where it is stored; no text that comes in may hold it, so that none is
ever taken for a null, whatever functions make of it."""

LEAST_TOO_LARGE = 10**tuning.MOST_WHOLE_DIGITS
MARKED_TEXT = "a text with the control character U+0001, which marks nulls here"
TOO_LARGE = f"a number too large: whole numbers go up to {tuning.MOST_WHOLE_DIGITS} digits"
ENDLESS = "an infinite number"
UNDEFINED = "what is not a number (NaN)"
BROKEN_TEXT = "a text that is not valid Unicode"


def find_misfit(value: object) -> str | None:
    """Why a value cannot be kept, or None if it can; of what is within it, too.

    >>> find_misfit(("area", 10**18))
    'a number too large: whole numbers go up to 18 digits'
    >>> find_misfit(frozenset({0.5}))
    """
    if isinstance(value, str):
        if NULL_MARK in value:
            return MARKED_TEXT
        return None if value.isascii() or _is_valid(value) else BROKEN_TEXT
    if isinstance(value, float):
        if math.isfinite(value):
            return None
        return UNDEFINED if math.isnan(value) else ENDLESS
    if isinstance(value, Decimal) and not value.is_finite():
        return UNDEFINED if value.is_nan() else ENDLESS
    if isinstance(value, int | Decimal):
        return TOO_LARGE if abs(value) >= LEAST_TOO_LARGE else None
    if isinstance(value, set | frozenset | tuple | list):
        return next(filter(None, map(find_misfit, value)), None)
    return None


def _is_valid(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True
