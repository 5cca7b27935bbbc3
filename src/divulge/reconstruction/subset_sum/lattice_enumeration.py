"""The sets that fit into one bin, as the points of a lattice near its middle.

A point has how often each package is taken and, in units of the windows, the sums of the amounts.
The sets that fit are the points in a cube of edge 1 around one half of everything and the middle of
the windows. With a short basis of the lattice, the points of the cube are listed nearly without
detours, however many packages there are: what it takes depends on how many sets fit. Meeting in the
middle is for bins with very many sets of few packages, this is for sixty packages and more.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from divulge import work
from divulge.reconstruction import tuning
from divulge.reconstruction.problem.amounts import Bools, Ints
from divulge.reconstruction.problem.bitsets import Words, words_of
from divulge.reconstruction.problem.instance import Instance
from divulge.reconstruction.subset_sum.meet_in_middle import Fitting

A_LONG_WHILE = 1e6  # nominal seconds, where there is no end
MOST_PACKAGES = 100
MOST_STEPS_OF_BASIS = 200_000
WIDEST = 2.0**44
LONGEST = 2.0**27
"""Up to which entries floating numbers tell exactly enough what is near: before, and in the end."""

Floats: TypeAlias = npt.NDArray[np.float64]


def steps_in(seconds: float) -> int:
    """How many steps of listing are so many nominal seconds."""
    return int(min(seconds, A_LONG_WHILE) / tuning.LATTICE_ENUMERATION.per_step)


def fitting(
    instance: Instance,
    b: int,
    candidates: Bools,
    forced: Bools,
    most_steps: int,
    most_sets: int,
    enough: int | None = None,
    random: np.random.Generator | None = None,
) -> Fitting | None:
    """All sets of the candidates, with all that are forced, that make the sums of bin b.

    None if it takes more steps. With `enough`, the first so many that are found, which may be not
    all; where they are looked for first is at random if `random` is given.
    """
    from divulge.reconstruction.subset_sum import lattice_enumeration_kernels

    free = np.flatnonzero(candidates & ~forced)
    if not 0 < len(free) <= MOST_PACKAGES:
        return None
    if random is not None:
        free = random.permutation(free)
    held = int(instance.held[b] + forced.sum())
    base = instance.amounts[forced].sum(axis=0)
    windows = np.stack([instance.low[b], instance.high[b]]) - base
    most = held + len(free)
    high = windows[1] + instance.widening[:, most] + instance.deeper[:, most]
    if (windows[0] - instance.widening[:, most] > high).any():
        none = words_of(forced)[None][:0]
        return Fitting(0, none, none, np.zeros(instance.packages, np.int64))
    amounts = np.ascontiguousarray(instance.amounts[free])
    short = _short_basis(instance, amounts, windows, held)
    if short is None:
        return None
    complete, count, steps, sets, telling, having = lattice_enumeration_kernels.listed(
        amounts,
        windows,
        instance.widening,
        instance.deeper,
        held,
        short.multiples,
        short.lengths,
        short.directions,
        short.centre,
        short.outside,
        most_steps,
        most_sets,
        2**62 if enough is None else enough,
    )
    work.charge(tuning.LATTICE_ENUMERATION, steps)
    if not complete and (enough is None or not count):
        return None
    always = words_of(forced)
    with_package = np.where(forced, int(count), 0)
    with_package[free] = having
    return Fitting(
        int(count),
        _words(sets, free, instance.packages) | always,
        _words(telling, free, instance.packages) | always,
        with_package,
        int(steps),
        bool(complete),
    )


@dataclass(frozen=True, eq=False)
class _Short:
    """A short basis: its orthogonal directions, and where the middle lies by them.

    Of each row the multiples of the directions before it, and the square of its own length; what
    of the middle is in no direction is `outside`.
    """

    multiples: Floats
    lengths: Floats
    directions: Floats
    centre: Floats
    outside: Floats


def _short_basis(instance: Instance, amounts: Ints, windows: Ints, held: int) -> _Short | None:
    """A basis of the lattice; None if it is not short enough to calculate with."""
    from divulge.reconstruction.subset_sum import lattice_enumeration_kernels

    n = len(amounts)
    most = held + n
    low = windows[0] - instance.widening[:, most]
    high = windows[1] + instance.widening[:, most] + instance.deeper[:, most]
    telling = (amounts.sum(axis=0) > high) | (low > 0)
    # Between two whole numbers there is none, so that a window may be so much wider.
    scale = np.concatenate([np.ones(n), 1 / (high - low + 1)[telling]])
    weighed = amounts[:, telling] * scale[n:]
    if (weighed > WIDEST).any():
        return None
    order = np.argsort(weighed.max(axis=1, initial=0), kind="stable")
    basis = np.hstack([np.eye(n, dtype=np.int64), amounts[:, telling]])[order]
    basis = np.ascontiguousarray(basis)
    room = np.zeros((n, n)), np.zeros((n, n))
    is_short, steps = lattice_enumeration_kernels.reduced(basis, scale, *room, MOST_STEPS_OF_BASIS)
    work.charge(tuning.BASIS_REDUCTION, (steps + n) * basis.size)
    if not is_short:
        return None
    if np.abs(basis * scale).max() > LONGEST:
        return None
    padded = len(scale) + -len(scale) % 4  # the loop that lists takes four entries at a time
    short = _Short(
        np.zeros((n, n)), np.zeros(n), np.zeros((n, padded)), np.zeros(n), np.zeros(padded)
    )
    twice_the_middle = np.concatenate([np.ones(n, np.int64), (low + high)[telling]])
    exact = lattice_enumeration_kernels.orthogonal(
        basis,
        scale,
        twice_the_middle,
        short.directions,
        short.multiples,
        short.lengths,
        short.centre,
        short.outside,
    )
    return short if exact else None


def _words(sets: npt.NDArray[np.uint8], free: Ints, packages: int) -> Words:
    members = np.zeros((len(sets), packages), np.uint8)
    members[:, free] = sets
    return words_of(members)
