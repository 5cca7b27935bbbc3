"""Numbers made coarser by a rule: intervals, rounding, top and bottom coding.

Rounding is downwards, to multiples of a base, and every base is a multiple of the one before: the
nearest multiples would not nest (14 is nearest to 15 in fives and to 10 in tens). A rounded number
is written as what it stands for, `[10, 15)`. Top and bottom coding come first, as levels of their
own; above them, intervals stand for what lies between the edges.
"""

from __future__ import annotations

import math
import sys
from bisect import bisect_right
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from itertools import pairwise
from typing import Any, TypeAlias

from divulge.data.hierarchies.tables import Ancestors
from divulge.data.value_texts import format_value
from divulge.work import DivulgeError

Number: TypeAlias = int | float | Fraction
Bounds: TypeAlias = tuple[Number | None, Number | None]
"""From a number to below another; None where there is no end."""

EVERYTHING = "*"


@dataclass(frozen=True)
class Caps:
    """Numbers from `top` on are one value, and so are those up to `bottom`."""

    bottom: Number | None = None
    top: Number | None = None

    def find_label(self, number: Number) -> str | None:
        """What a number beyond an edge becomes; None for the others.

        >>> Caps(bottom=18, top=90).find_label(99), Caps(bottom=18).find_label(40)
        ('>= 90', None)
        """
        if self.bottom is not None and number <= self.bottom:
            return f"<= {format_edge(self.bottom)}"
        if self.top is not None and number >= self.top:
            return f">= {format_edge(self.top)}"
        return None


def check_caps(bottom: Sequence[float], top: Sequence[float]) -> list[Caps]:
    """The edges level by level, from far to near; of the shorter list the last goes on.

    >>> check_caps([], [100, 90])
    [Caps(bottom=None, top=100), Caps(bottom=None, top=90)]
    """
    if not bottom and not top:
        raise DivulgeError("caps: give a bottom, a top, or both")
    for edges, way in ((bottom, "rise"), (top, "fall")):
        if not all(_is_finite_number(edge) for edge in edges):
            raise DivulgeError("caps: an edge is no finite number")
        if list(edges) != sorted(set(edges), reverse=way == "fall"):
            word = "bottoms" if way == "rise" else "tops"
            raise DivulgeError(f"caps: {word} of several levels must {way}")
    caps = [
        Caps(bottom[min(n, len(bottom) - 1)] if bottom else None,
             top[min(n, len(top) - 1)] if top else None)
        for n in range(max(len(bottom), len(top)))
    ]  # fmt: skip
    last = caps[-1]
    if last.bottom is not None and last.top is not None and last.bottom >= last.top:
        message = f"{format_value(last.bottom)} is not below {format_value(last.top)}"
        raise DivulgeError(f"caps: {message}")
    return caps


def check_intervals(levels: Sequence[Sequence[float]]) -> None:
    """Edges must rise, and those of a coarser level must be edges of the finer one."""
    if not levels:
        raise DivulgeError("intervals: give the edges of at least one level")
    for level, edges in enumerate(levels, start=1):
        if not all(_is_finite_number(edge) for edge in edges):
            raise DivulgeError(f"intervals: an edge of level {level} is no finite number")
        is_top = level > 1 and level == len(levels)
        if list(edges) != sorted(set(edges)) or not (edges or is_top):
            raise DivulgeError(f"intervals: the edges of level {level} must rise")
        if level > 1 and not set(edges) <= set(levels[level - 2]):
            message = f"intervals: every edge of level {level} must be an edge of the level below"
            raise DivulgeError(message)


def check_rounding(bases: Sequence[float]) -> None:
    """Bases are above 0, and each is a multiple of the one before."""
    if not bases:
        raise DivulgeError("rounding: give at least one base, such as 1000")
    if not all(_is_finite_number(base) and base > 0 for base in bases):
        raise DivulgeError("rounding: a base is a number above 0")
    exact = [to_exact_number(base) for base in bases]
    for finer, coarser in pairwise(exact):
        if coarser <= finer or (coarser / finer).denominator != 1:
            message = "rounding: every base must be a multiple of the one before, as 5, 10, 50"
            raise DivulgeError(message)


def make_number_rule(
    *,
    caps: Sequence[Caps] = (),
    intervals: Sequence[Sequence[float]] = (),
    rounding: Sequence[float] = (),
) -> Callable[[Any], Ancestors | None]:
    """Numbers to their ladders: levels of caps first, then intervals or rounding within these."""
    bases = [to_exact_number(base) for base in rounding]
    inner = caps[-1] if caps else Caps()

    def find_ancestors(value: Any) -> Ancestors | None:
        number = parse_number(value)
        if number is None:
            return None
        ladder = [level.find_label(number) or format_value(value) for level in caps]
        beyond = inner.find_label(number)
        if beyond is not None:
            everywhere = [EVERYTHING if not edges else beyond for edges in intervals]
            return (*ladder, *everywhere, *(beyond for _ in bases))
        ladder += [_format_within(_find_interval(number, edges), inner) for edges in intervals]
        if bases:
            if isinstance(number, float) and math.isinf(number):
                return None  # no multiple is below it
            exact = to_exact_number(value)
            floors = [(exact // base * base, base) for base in bases]
            ladder += [_format_within((low, low + base), inner) for low, base in floors]
        return tuple(ladder)

    return find_ancestors


def parse_number(value: Any) -> float | int | None:
    """A value as a number; None if it is none.

    >>> parse_number("25"), parse_number("low"), parse_number(float("nan"))
    (25.0, None, None)
    """
    try:
        number = float(value)
    except (TypeError, ValueError, OverflowError):
        return None
    if math.isnan(number):
        return None
    return value if isinstance(value, int) else number


def to_exact_number(value: Any) -> Fraction:
    """A finite number as it is written: a float is its shortest decimal.

    >>> to_exact_number(0.1), to_exact_number("2.50")
    (Fraction(1, 10), Fraction(5, 2))
    """
    if isinstance(value, int | Fraction):
        return Fraction(value)
    if isinstance(value, Decimal) and abs(value.adjusted()) <= sys.float_info.max_10_exp:
        return Fraction(value)
    text = str(value).strip()
    if isinstance(value, str) and text.lstrip("+-").isdecimal():
        return Fraction(int(text))
    return Fraction(repr(float(value)))


def format_edge(edge: Number) -> str:
    """An edge in full: no exponent, no digit too many.

    >>> format_edge(1234567.0), format_edge(Fraction(5, 2)), format_edge(0.1)
    ('1234567', '2.5', '0.1')
    """
    if not isinstance(edge, Fraction):
        return format_value(edge)
    digits = 0
    while (edge * 10**digits).denominator != 1:
        digits += 1
    text = str(abs(int(edge * 10**digits))).rjust(digits + 1, "0")
    sign = "-" if edge < 0 else ""
    return sign + (f"{text[:-digits]}.{text[-digits:]}" if digits else text)


def _is_finite_number(edge: Any) -> bool:
    return isinstance(edge, int | float) and math.isfinite(edge)


def _find_interval(number: Number, edges: Sequence[float]) -> Bounds:
    place = bisect_right(edges, number)
    return (
        edges[place - 1] if place > 0 else None,
        edges[place] if place < len(edges) else None,
    )


def _format_within(bounds: Bounds, caps: Caps) -> str:
    """An interval as text; where it reaches beyond a cap, only what is left of it."""
    low, high = bounds
    if low is None and high is None:
        return EVERYTHING
    is_open = caps.bottom is not None and (low is None or low <= caps.bottom)
    low = caps.bottom if is_open else low
    if caps.top is not None and (high is None or high > caps.top):
        high = caps.top
    if low is None:
        return f"< {format_edge(high)}" if high is not None else EVERYTHING
    if high is None:
        return f"{'>' if is_open else '>='} {format_edge(low)}"
    return f"{'(' if is_open else '['}{format_edge(low)}, {format_edge(high)})"
