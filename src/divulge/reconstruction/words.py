"""Sets of packages as words of 64 bits: what is kept of millions of them."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from divulge.reconstruction.amounts import Bools

Words = npt.NDArray[np.uint64]


def words_of(mask: Bools) -> Words:
    """A set of packages as words of 64 bits."""
    size = (len(mask) + 63) // 64
    bits = np.zeros(size * 64, np.uint8)
    bits[: len(mask)] = mask
    return np.packbits(bits, bitorder="little").view(np.uint64)


def masks_of(sets: Words, packages: int) -> Bools:
    """Sets of packages, as rows of truth values."""
    bits = np.unpackbits(np.ascontiguousarray(sets).view(np.uint8), axis=-1, bitorder="little")
    return bits[..., :packages].astype(bool)
