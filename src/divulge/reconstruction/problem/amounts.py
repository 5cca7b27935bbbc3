"""Amounts as whole numbers of a unit: cents, 0.00001 kg. Nothing is rounded on the way."""

from __future__ import annotations

from collections.abc import Iterable
from decimal import Decimal, InvalidOperation
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from divulge.work.arrays import Bools, Ints

Amount: TypeAlias = int | float | str | Decimal
"""An amount as people write it; a float stands for its shortest decimal."""


MAX_SUM_IN_UNITS = 2**60
"""Of an amount and of all together, so that sums stay in 64 bits."""

FINEST_SCALE, COARSEST_SCALE = Decimal("1e-12"), Decimal("1e12")
"""Between what a unit, a step, a tolerance or noise has a sense."""

# Up to here every whole number is a float, so that a decimal and its float are one.
MAX_EXACT_FLOAT = 2**52


class NotAnAmount(ValueError):
    """Not a number, below zero, or no whole number of units; the text says which."""


def parse_decimal(amount: Amount) -> Decimal:
    """An amount as a decimal, exactly as it is written.

    >>> parse_decimal(3388.41), parse_decimal("0.00001")
    (Decimal('3388.41'), Decimal('0.00001'))
    """
    try:
        number = Decimal(str(amount))
    except InvalidOperation:
        raise NotAnAmount("is not a number") from None
    if not number.is_finite():
        raise NotAnAmount("is missing or not finite")
    return number


def describe_scale_problem(amount: Amount, or_nothing: bool = False) -> str | None:
    """What is wrong with a unit or step, or (or nothing) a tolerance or noise; None if it will do.

    >>> describe_scale_problem("0.01"), describe_scale_problem(0)
    (None, 'must be above 0.')
    >>> describe_scale_problem(0, or_nothing=True), describe_scale_problem("1e30")
    (None, 'must be at most 1E+12.')
    """
    try:
        number = parse_decimal(amount)
    except NotAnAmount as error:
        return f"{error}."
    if number < 0 or (not number and not or_nothing):
        return "must be from 0." if or_nothing else "must be above 0."
    if number > COARSEST_SCALE:
        return f"must be at most {COARSEST_SCALE}."
    return f"must be at least {FINEST_SCALE}." if 0 < number < FINEST_SCALE else None


def is_within_integers(distance: Decimal | None, unit: Decimal, times: int) -> bool:
    """Whether a distance, so often, stays within the integers that are added up; as units of it.

    >>> is_within_integers(Decimal(10), Decimal("0.01"), 1000)
    True
    >>> is_within_integers(Decimal("1e12"), Decimal("1e-9"), 2)
    False
    """
    return distance is None or distance / unit * times < MAX_SUM_IN_UNITS


def infer_unit(amounts: Iterable[Amount | None]) -> Decimal:
    """The unit that the decimals of amounts show, so that all are whole multiples of it.

    What is missing or no number shows none.

    >>> infer_unit([3388.41, 420.5, 7.0, None]), infer_unit(["0.00001"]), infer_unit([1200])
    (Decimal('0.01'), Decimal('0.00001'), Decimal('1'))
    """
    finest = 0
    for amount in amounts:
        try:
            exponent = parse_decimal(amount).normalize().as_tuple().exponent  # type: ignore[arg-type]  # None is no number
        except NotAnAmount:
            continue
        finest = min(finest, int(exponent))
    return Decimal(1).scaleb(finest)


def find_common_unit(unit: Decimal, step: Decimal) -> Decimal:
    """The largest unit of which both are whole multiples, so that both are exact in it.

    >>> find_common_unit(Decimal("0.3"), Decimal(1)), find_common_unit(Decimal("0.01"), Decimal(10))
    (Decimal('0.1'), Decimal('0.01'))
    """
    while step:
        unit, step = step, unit % step
    return unit


def to_units(amount: Amount, unit: Decimal) -> int:
    """How many units an amount is.

    >>> to_units("420.69", Decimal("0.00001"))
    42069000
    """
    number = parse_decimal(amount)
    if number < 0:
        raise NotAnAmount("is negative")
    units = number / unit
    if units != units.to_integral_value():
        raise NotAnAmount(f"is no whole number of units of {unit}")
    if units >= MAX_SUM_IN_UNITS:
        raise NotAnAmount(f"is too large for units of {unit}")
    return int(units)


def column_to_units(values: npt.NDArray[Any], unit: Decimal) -> tuple[Ints, dict[str, Bools]]:
    """Many amounts in units, and for every kind of trouble the records that have it.

    >>> units, troubles = column_to_units(np.array([1.25, -1.0, 0.333, np.nan]), Decimal("0.01"))
    >>> units.tolist(), {kind: int(where.sum()) for kind, where in troubles.items()}
    ([125, 0, 0, 0], {'missing': 1, 'negative': 1, 'undivided': 1, 'too_large': 0})
    """
    if values.dtype == object:
        # Decimals and texts, as a format without floats gives them.
        values = np.array([np.nan if v is None else float(v) for v in values])
    numbers = values.astype(np.float64)
    missing = ~np.isfinite(numbers)
    numbers = np.where(missing, 0.0, numbers)
    numerator, denominator = unit.as_integer_ratio()
    units = np.rint(numbers * denominator / numerator)
    too_large = np.abs(units) >= MAX_EXACT_FLOAT
    # A decimal of few digits comes back from its units to within the last bit of a float.
    restored = units * numerator / denominator
    undivided = np.abs(restored - numbers) > 4 * np.spacing(np.abs(numbers) + 1e-300)
    negative = numbers < 0
    bad = missing | negative | (undivided & ~missing) | too_large
    troubles = {
        "missing": missing,
        "negative": negative,
        "undivided": undivided & ~missing & ~negative,
        "too_large": too_large,
    }
    return np.where(bad, 0, units).astype(np.int64), troubles
