"""Bitsets: sets of packages as words of 64 bits, since there are millions of them."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from divulge.work.arrays import Bools

Bitsets = npt.NDArray[np.uint64]


def pack_bitsets(masks: npt.NDArray[np.bool_ | np.uint8]) -> Bitsets:
    """A set of packages as words of 64 bits; rows of them are rows of words.

    >>> pack_bitsets(np.array([[True, False, True], [False, True, False]])).tolist()
    [[5], [2]]
    """
    packages = masks.shape[-1]
    bits = np.zeros((*masks.shape[:-1], (packages + 63) // 64 * 64), np.uint8)
    bits[..., :packages] = masks
    return np.packbits(bits, axis=-1, bitorder="little").view(np.uint64)


def unpack_bitsets(sets: Bitsets, packages: int) -> Bools:
    """Sets of packages, as rows of truth values."""
    bits = np.unpackbits(np.ascontiguousarray(sets).view(np.uint8), axis=-1, bitorder="little")
    return bits[..., :packages].astype(bool)
