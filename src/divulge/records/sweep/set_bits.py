"""Sets of attributes as numbers whose bits are attributes, however many attributes there are.

Up to 62 of them an array of 64-bit numbers holds the sets; beyond, the numbers are Python's own.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from divulge.work.arrays import Ints

SetBits: TypeAlias = npt.NDArray[Any]
"""One number a set: bit i is the i-th attribute."""

MOST_NARROW = 62
"""Attributes whose bits fit a number of 64 bits that is never below 0."""


def choose_bit_type(attributes: int) -> type:
    """What holds sets of so many attributes.

    >>> choose_bit_type(62), choose_bit_type(63)
    (<class 'numpy.int64'>, <class 'object'>)
    """
    return np.int64 if attributes <= MOST_NARROW else object


def build_set_bits(sets: Iterable[Iterable[int]], attributes: int) -> SetBits:
    """Sets that list places of attributes, as numbers.

    >>> build_set_bits([(0,), (0, 2)], 3).tolist()
    [1, 5]
    """
    numbers = [sum(1 << place for place in each) for each in sets]
    return np.array(numbers, choose_bit_type(attributes))


def holds(sets: SetBits, place: int) -> npt.NDArray[np.bool_]:
    """Which sets hold an attribute."""
    if sets.dtype != object and place > MOST_NARROW:
        return np.zeros(len(sets), bool)
    return np.asarray((sets >> place) & 1, bool)


def count_attributes(sets: SetBits) -> Ints:
    """How many attributes each set has."""
    if sets.dtype != object:
        return np.bitwise_count(sets).astype(np.int64)
    return np.array([number.bit_count() for number in sets], np.int64)


def are_among(sets: SetBits, chosen: Sequence[int]) -> npt.NDArray[np.bool_]:
    """Which sets are among some."""
    if sets.dtype != object:
        return np.isin(sets, np.array(chosen, np.int64))
    some = set(chosen)
    return np.array([number in some for number in sets], bool)


def order_sets(sets: SetBits) -> Ints:
    """Small sets first; within a size, in the order of the attributes.

    >>> order_sets(np.array([7, 2, 1, 3])).tolist()
    [2, 1, 3, 0]
    """
    size = count_attributes(sets)
    bits = int(sets.max()).bit_length() if len(sets) else 0
    mirrored = np.zeros_like(sets)
    for bit in range(bits):
        mirrored |= ((sets >> bit) & 1) << (bits - 1 - bit)
    if sets.dtype != object:
        return np.lexsort([-mirrored, size])
    keys = [(int(size[place]), -mirrored[place]) for place in range(len(sets))]
    return np.array(sorted(range(len(sets)), key=keys.__getitem__), np.int64)
