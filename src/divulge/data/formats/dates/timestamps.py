"""Moments as SPSS and Stata count them: seconds since 1582, milliseconds since 1960, in a double.

So far from their beginning a double has no room for every microsecond: SPSS keeps whole seconds and
some of their parts, Stata whole milliseconds. What a reader makes of the double again is told here
as pyreadstat tells it, so that it can be known before a file is written.
"""

from __future__ import annotations

import datetime as dt

import numpy as np

from divulge.work.arrays import Floats, Ints

_UNIX = dt.date(1970, 1, 1)
_SECONDS_TO_UNIX = (_UNIX - dt.date(1582, 10, 14)).days * 86_400
_MILLISECONDS_TO_UNIX = (_UNIX - dt.date(1960, 1, 1)).days * 86_400_000


def to_spss(ticks: Ints) -> Floats:
    """Microseconds since 1970 as seconds since 14 October 1582.

    >>> to_spss(np.array([1_500_000])).tolist()
    [12219379201.5]
    """
    whole = ticks // 1_000_000 + _SECONDS_TO_UNIX
    return whole.astype(np.float64) + (ticks % 1_000_000) / 1e6


def from_spss(seconds: Floats) -> Ints:
    """What is read of such seconds again: microseconds, rounded.

    >>> from_spss(to_spss(np.array([1_500_000, 1_577_840_523_123_000]))).tolist()
    [1500000, 1577840523122999]
    """
    whole = np.floor(seconds)
    parts = np.rint((seconds - whole) * 1e6).astype(np.int64)
    return (whole.astype(np.int64) - _SECONDS_TO_UNIX) * 1_000_000 + parts


def to_stata(ticks: Ints) -> Floats:
    """Microseconds since 1970 as milliseconds since 1960.

    >>> to_stata(np.array([1_500_000])).tolist()
    [315619201500.0]
    """
    whole = ticks // 1000 + _MILLISECONDS_TO_UNIX
    return whole.astype(np.float64) + (ticks % 1000) / 1e3


def from_stata(milliseconds: Floats) -> Ints:
    """What is read of such milliseconds again: microseconds, cut off.

    >>> from_stata(to_stata(np.array([1_500_000, 1_500_001]))).tolist()
    [1500000, 1500000]
    """
    whole = np.floor(milliseconds)
    within = whole.astype(np.int64) % 1000
    # The reader cuts off within the second, where a double is finer than within the day.
    parts = np.trunc((within + (milliseconds - whole)) * 1000).astype(np.int64)
    return (whole.astype(np.int64) - within - _MILLISECONDS_TO_UNIX) * 1000 + parts
