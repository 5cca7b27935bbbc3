"""Types of arrays, by what they hold: each has one name, here.

A package may name what its own arrays mean (codes of a column, words of a bitset); it does not
name the same type again.
"""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

Ints: TypeAlias = npt.NDArray[np.signedinteger[Any]]
"""Whole numbers: counts, places, row numbers; narrow where that saves memory."""

Floats: TypeAlias = npt.NDArray[np.float64]
"""Chances, weights, bounds of linear programs."""

Bools: TypeAlias = npt.NDArray[np.bool_]
"""Marks: which of several things have a property."""

Array: TypeAlias = npt.NDArray[Any]
"""What a compiled function takes, whatever it holds; objects such as integers of any length."""
