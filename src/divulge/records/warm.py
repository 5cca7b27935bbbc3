"""Compile the kernels ahead of time: `python -m divulge.records.warm`, once, at set-up.

The compiled code is kept beside the package (or in the user's cache), so that no later process
waits for it.
"""

from __future__ import annotations

import numpy as np

from divulge.classes import key_kernels
from divulge.records.sweep.prefix_walk import PrefixWalk
from divulge.records.sweep.subset_cube import CubeAttribute, SubsetCube


def warm() -> None:
    """Run every kernel on a few records, with codes of every width, with and without weights."""
    random = np.random.default_rng(0)
    for dtype in (np.uint8, np.uint16, np.uint32):
        key_kernels.add_code(np.zeros(1, np.int64), np.zeros(1, dtype), 0)
    rows = 5_000  # more than are walked as one block
    for weights in (None, np.ones(rows)):
        for dtype in (np.uint8, np.uint16, np.uint32):
            attributes = [CubeAttribute(random.integers(0, 60, rows).astype(dtype), 60)] * 12
            sensitive = [CubeAttribute(random.integers(0, 2, rows).astype(np.uint8), 2)]
            key_kernels.tally_secrets(np.zeros(1, np.int32), np.zeros(1, dtype), 1, 1, np.ones(1))
            cube = SubsetCube(attributes, sensitive, weights, at_most=2)
            cube.count_subsets()
            PrefixWalk(
                records=cube.records, order=cube.order, at_most=2, capacity=True, key=dict
            ).count_subsets()
