"""Lattice enumeration (LLL, Schnorr-Euchner, Ritter): the sets of packages that fit one bin.

They are the points of a lattice near its middle. A point has how often each package is taken and,
in units of the windows, the sums of the amounts. The sets that fit are the points in a cube of edge
1 around one half of everything and the middle of the windows. With a short basis of the lattice,
the points of the cube are listed nearly without detours, however many packages there are: what it
takes depends on how many sets fit. Meeting in the middle is for bins with very many sets of few
packages, this is for sixty packages and more.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from divulge import work
from divulge.reconstruction import tuning
from divulge.reconstruction.problem.bitsets import Bitsets, pack_bitsets
from divulge.reconstruction.problem.instance import Instance
from divulge.reconstruction.subset_sum.meet_in_middle import FittingSets
from divulge.work.arrays import Bools, Floats, Ints

MAX_INITIAL_ENTRY = 2.0**44
MAX_REDUCED_ENTRY = 2.0**27
"""Up to which entries floating numbers tell exactly enough what is near: before, and in the end."""


def enumerate_fitting_sets(
    instance: Instance,
    b: int,
    candidates: Bools,
    *,
    forced: Bools,
    most_steps: int,
    most_sets: int,
    enough: int | None = None,
    random: np.random.Generator | None = None,
) -> FittingSets | None:
    """All sets of the candidates, with all that are forced, that make the sums of bin b.

    None if it takes more steps. With `enough`, the first so many that are found, which may be not
    all; where they are looked for first is at random if `random` is given.
    """
    from divulge.reconstruction.subset_sum import lattice_enumeration_kernels

    free = np.flatnonzero(candidates & ~forced)
    if not 0 < len(free) <= tuning.LATTICE_MOST_PACKAGES:
        return None
    if random is not None:
        free = random.permutation(free)
    already_in_bin = int(instance.already_in_bin[b] + forced.sum())
    base = instance.amounts[forced].sum(axis=0)
    windows = np.stack([instance.low[b], instance.high[b]]) - base
    most = already_in_bin + len(free)
    high = windows[1] + instance.slack_by_count[:, most] + instance.extra_above[:, most]
    if (windows[0] - instance.slack_by_count[:, most] > high).any():
        no_sets = pack_bitsets(forced)[None][:0]
        return FittingSets(
            count=0,
            sets=no_sets,
            witnesses=no_sets,
            with_package=np.zeros(instance.packages, np.int64),
        )
    amounts = np.ascontiguousarray(instance.amounts[free])
    reduced_basis = _reduce_basis(instance, amounts, windows, already_in_bin)
    if reduced_basis is None:
        return None
    complete, count, steps, sets, witnesses, with_each = (
        lattice_enumeration_kernels.enumerate_lattice_points(
            amounts,
            windows,
            instance.slack_by_count,
            instance.extra_above,
            already_in_bin,
            reduced_basis.multiples,
            reduced_basis.lengths,
            reduced_basis.directions,
            reduced_basis.centre,
            reduced_basis.outside,
            most_steps,
            most_sets,
            2**62 if enough is None else enough,
        )
    )
    work.charge(tuning.LATTICE_ENUMERATION, steps)
    if not complete and (enough is None or not count):
        return None
    always = pack_bitsets(forced)
    with_package = np.where(forced, int(count), 0)
    with_package[free] = with_each
    return FittingSets(
        count=int(count),
        sets=_pack_members(sets, free, instance.packages) | always,
        witnesses=_pack_members(witnesses, free, instance.packages) | always,
        with_package=with_package,
        steps=int(steps),
        complete=bool(complete),
    )


@dataclass(frozen=True, eq=False, kw_only=True)
class _ReducedBasis:
    """A short basis: its orthogonal directions, and where the middle lies by them.

    Of each row the multiples of the directions before it, and the square of its own length; what
    of the middle is in no direction is `outside`.
    """

    multiples: Floats
    lengths: Floats
    directions: Floats
    centre: Floats
    outside: Floats


def _reduce_basis(
    instance: Instance, amounts: Ints, windows: Ints, already_in_bin: int
) -> _ReducedBasis | None:
    """A basis of the lattice; None if it is not short enough to calculate with."""
    from divulge.reconstruction.subset_sum import lattice_enumeration_kernels

    n = len(amounts)
    most = already_in_bin + n
    low = windows[0] - instance.slack_by_count[:, most]
    high = windows[1] + instance.slack_by_count[:, most] + instance.extra_above[:, most]
    binding = (amounts.sum(axis=0) > high) | (low > 0)
    # Between two whole numbers there is none, so that a window may be so much wider.
    scale = np.concatenate([np.ones(n), 1 / (high - low + 1)[binding]])
    weighed = amounts[:, binding] * scale[n:]
    if (weighed > MAX_INITIAL_ENTRY).any():
        return None
    order = np.argsort(weighed.max(axis=1, initial=0), kind="stable")
    basis = np.hstack([np.eye(n, dtype=np.int64), amounts[:, binding]])[order]
    basis = np.ascontiguousarray(basis)
    room = np.zeros((n, n)), np.zeros((n, n))
    is_short, steps = lattice_enumeration_kernels.reduce_basis_lll(
        basis, scale, *room, tuning.LATTICE_MOST_REDUCTION_STEPS
    )
    work.charge(tuning.BASIS_REDUCTION, (steps + n) * basis.size)
    if not is_short:
        return None
    if np.abs(basis * scale).max() > MAX_REDUCED_ENTRY:
        return None
    padded = len(scale) + -len(scale) % 4  # the loop that lists takes four entries at a time
    reduced_basis = _ReducedBasis(
        multiples=np.zeros((n, n)),
        lengths=np.zeros(n),
        directions=np.zeros((n, padded)),
        centre=np.zeros(n),
        outside=np.zeros(padded),
    )
    twice_the_middle = np.concatenate([np.ones(n, np.int64), (low + high)[binding]])
    exact = lattice_enumeration_kernels.orthogonalise_basis(
        basis,
        scale,
        twice_the_middle,
        reduced_basis.directions,
        reduced_basis.multiples,
        reduced_basis.lengths,
        reduced_basis.centre,
        reduced_basis.outside,
    )
    return reduced_basis if exact else None


def _pack_members(sets: npt.NDArray[np.uint8], free: Ints, packages: int) -> Bitsets:
    members = np.zeros((len(sets), packages), np.uint8)
    members[:, free] = sets
    return pack_bitsets(members)
