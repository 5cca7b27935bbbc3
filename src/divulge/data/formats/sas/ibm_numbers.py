"""IBM hexadecimal floating point: numbers as old machines held them, and SAS transports them.

A number is a sign bit, seven bits of exponent (of 16, less 64) and 56 bits of fraction. Seven
zero bytes after a dot, a letter or an underscore are a missing value and its tag.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from divulge.work import DivulgeError
from divulge.work.arrays import Floats

Bytes = npt.NDArray[np.uint8]

_FRACTION = np.uint64((1 << 56) - 1)
_TAGS = b"_ABCDEFGHIJKLMNOPQRSTUVWXYZ"


def from_ibm(cells: Bytes) -> tuple[Floats, npt.NDArray[np.bool_], Bytes]:
    """Rows of 2 to 8 bytes as numbers; which are missing; the tags of those (0: none).

    >>> numbers, missing, tags = from_ibm(to_ibm(np.array([1.5, 0.0, 0.0]), np.array([0, 46, 97])))
    >>> numbers.tolist()[0], missing.tolist(), tags.tolist()
    (1.5, [False, True, True], [0, 0, 97])
    """
    whole = np.zeros((len(cells), 8), dtype=np.uint8)
    whole[:, : cells.shape[1]] = cells
    bits = whole.view(">u8").ravel().astype(np.uint64)
    fraction = bits & _FRACTION
    exponent = ((bits >> np.uint64(56)) & np.uint64(0x7F)).astype(np.int32)
    sign = np.where(bits >> np.uint64(63), -1.0, 1.0)
    first = whole[:, 0]
    missing = (fraction == 0) & (first != 0) & (first != 0x80)
    tags = np.where(missing & np.isin(first, np.frombuffer(_TAGS, np.uint8)), first, 0)
    lower = np.where((tags >= 65) & (tags <= 90), tags + 32, tags).astype(np.uint8)
    numbers = sign * np.ldexp(fraction.astype(np.float64), 4 * (exponent - 64) - 56)
    return np.where(missing, 0.0, numbers), missing, lower


def to_ibm(numbers: Floats, marks: npt.NDArray[Any]) -> Bytes:
    """Numbers as rows of 8 bytes; where a mark is given (a dot, a letter), a missing value.

    Raises:
        DivulgeError: for a number that is too large or too small for the format.
    """
    missing = marks != 0
    values = np.where(missing, 0.0, numbers)
    mantissa, power = np.frexp(np.abs(values))
    exponent = -(-power // 4)  # a fraction from 1/16 to below 1
    shift = 4 * exponent - power
    fraction = np.ldexp(mantissa, 56 - shift).astype(np.uint64)
    zero = fraction == 0
    biased = np.where(zero, 0, exponent + 64)
    if np.any((biased < 0) | (biased > 127)) or not np.all(np.isfinite(values)):
        raise DivulgeError("SAS transport files store numbers from about 5e-79 to 7e75 only")
    sign = np.signbit(values).astype(np.uint64) << np.uint64(63)
    bits = np.where(zero, 0, sign | (biased.astype(np.uint64) << np.uint64(56)) | fraction)
    cells: Bytes = bits.astype(">u8").view(np.uint8).reshape(-1, 8).copy()
    letters = np.where((marks >= 97) & (marks <= 122), marks - 32, marks)
    cells[missing] = 0
    cells[missing, 0] = letters[missing].astype(np.uint8)
    return cells
