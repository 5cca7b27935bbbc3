"""Kernels of lattice enumeration: LLL with deep insertions (Schnorr-Euchner), Ritter's pruning.

A row of a basis has whole numbers: how often each package is taken, then the sums of its amounts.
Columns are weighed by `scale`, so that one unit is as much as the whole width of a window.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from divulge.engines import kernel

LOVASZ_DELTA = 0.99
"""Of Lovasz' condition: near 1, the basis is short and its reduction long."""
SIZE_REDUCTION_BOUND = 0.51
"""Of multiples after size reduction: 0.5, and what floating numbers err."""
MOST_SIZE_REDUCTIONS = 1_000
"""Passes over one row: only an end, should rounding go back and forth."""
ROUNDING_SLACK = 1e-6
"""Rounding errors of the sums of squares are smaller by far; what is found is checked exactly."""

INITIAL_ROOM = 1024  # sets that there is room for at first

MAX_EXACT_INTEGER = 2.0**62
"""Up to which whole numbers of 64 bits are added, with room for what floating numbers err."""


@kernel
def orthogonalise_row(
    basis: NDArray[Any], scale: NDArray[Any], k: int, mu: NDArray[Any], r: NDArray[Any]
) -> None:
    """Orthogonalise row k: its products with the directions before (r), and as multiples (mu).

    Invariant: `r[k, :j]` and `mu[k, :j]` are final.
    """
    for j in range(k + 1):
        product = 0.0
        for t in range(basis.shape[1]):
            product += (basis[k, t] * scale[t]) * (basis[j, t] * scale[t])
        for i in range(j):
            product -= mu[j, i] * r[k, i]
        r[k, j] = product
        if j < k:
            mu[k, j] = product / r[j, j]


@kernel
def size_reduce_row(
    basis: NDArray[Any], scale: NDArray[Any], k: int, mu: NDArray[Any], r: NDArray[Any]
) -> None:
    """Take whole multiples of the rows before off row k until it cannot be made shorter so.

    Invariant: the rows span the same lattice, and `mu[k]` is that of row k as it is now.
    """
    for _ in range(MOST_SIZE_REDUCTIONS):
        again = False
        orthogonalise_row(basis, scale, k, mu, r)
        for j in range(k - 1, -1, -1):
            # A little more than one half, or rounding would turn it back and forth.
            if abs(mu[k, j]) > SIZE_REDUCTION_BOUND:
                again = True
                times = np.rint(mu[k, j])
                for t in range(basis.shape[1]):
                    basis[k, t] -= np.int64(times) * basis[j, t]
                for i in range(j):
                    mu[k, i] -= times * mu[j, i]
                mu[k, j] -= times
        if not again:
            return


@kernel
def reduce_basis_lll(
    basis: NDArray[Any], scale: NDArray[Any], mu: NDArray[Any], r: NDArray[Any], most_steps: int
) -> tuple[bool, int]:
    """Make a basis short (LLL with deep insertions): whether it is, and after how many steps.

    A row goes before the first one that is longer than what the row adds there.

    Invariant: the rows span the lattice that they spanned at first; those before k are reduced, and
    their `mu` and `r` are right.
    """
    k = 1
    orthogonalise_row(basis, scale, 0, mu, r)
    for step in range(most_steps):
        if k >= basis.shape[0]:
            return True, step
        size_reduce_row(basis, scale, k, mu, r)
        rest_length = 0.0
        for t in range(basis.shape[1]):
            rest_length += (basis[k, t] * scale[t]) ** 2
        insert_at = k
        for i in range(k):
            if rest_length < LOVASZ_DELTA * r[i, i]:
                insert_at = i
                break
            rest_length -= mu[k, i] * r[k, i]
        if insert_at == k:
            k += 1
            continue
        for t in range(basis.shape[1]):
            entry = basis[k, t]
            for i in range(k, insert_at, -1):
                basis[i, t] = basis[i - 1, t]
            basis[insert_at, t] = entry
        orthogonalise_row(basis, scale, insert_at, mu, r)
        k = max(insert_at, 1)
    return False, most_steps


@kernel
def orthogonalise_basis(
    basis: NDArray[Any],
    scale: NDArray[Any],
    twice_the_middle: NDArray[Any],
    directions: NDArray[Any],
    mu: NDArray[Any],
    lengths: NDArray[Any],
    centre: NDArray[Any],
    outside: NDArray[Any],
) -> bool:
    """Write directions, squared lengths and multiples of a basis, and where the middle lies.

    The middle is moved by whole multiples of rows to near nought, in whole numbers, or small
    differences of large numbers would err; False if they become too large for that, as where one
    window is narrow and another wide. What of it no direction has is left in `outside`.

    Invariant: directions before k are orthogonal to each other; then, `middle` differs from twice
    the middle by twice a point of the lattice.
    """
    n, d = basis.shape
    for k in range(n):
        for t in range(d):
            directions[k, t] = basis[k, t] * scale[t]
        for _ in range(2):  # what rounding has left over is taken off the second time
            for j in range(k):
                product = 0.0
                for t in range(d):
                    product += directions[k, t] * directions[j, t]
                times = product / lengths[j]
                mu[k, j] += times
                for t in range(d):
                    directions[k, t] -= times * directions[j, t]
        for t in range(d):
            lengths[k] += directions[k, t] ** 2
    middle = twice_the_middle.copy()
    for k in range(n - 1, -1, -1):
        product = 0.0
        for t in range(d):
            product += 0.5 * middle[t] * scale[t] * directions[k, t]
        whole = np.rint(product / lengths[k])
        for t in range(d):
            if abs(float(middle[t])) + abs(2.0 * whole * basis[k, t]) > MAX_EXACT_INTEGER:
                return False
            middle[t] -= 2 * np.int64(whole) * basis[k, t]
    for t in range(d):
        outside[t] = 0.5 * middle[t] * scale[t]
    for k in range(n - 1, -1, -1):
        product = 0.0
        for t in range(d):
            product += outside[t] * directions[k, t]
        centre[k] = product / lengths[k]
        for t in range(d):
            outside[t] -= centre[k] * directions[k, t]
    return True


@kernel
def is_fitting_set(
    amounts: NDArray[Any],
    members: NDArray[Any],
    low: NDArray[Any],
    high: NDArray[Any],
    slack_by_count: NDArray[Any],
    extra_above: NDArray[Any],
    already_in_bin: int,
) -> bool:
    """Whether just these packages make the sums of the bin, in whole numbers.

    Invariant: all sums before i are within their intervals.
    """
    count = already_in_bin
    for p in range(amounts.shape[0]):
        count += members[p]
    for i in range(amounts.shape[1]):
        total = 0
        for p in range(amounts.shape[0]):
            total += amounts[p, i] * members[p]
        slack = slack_by_count[i, count]
        if total < low[i] - slack or total > high[i] + slack + extra_above[i, count]:
            return False
    return True


@kernel
def step_with_l1_norm(
    before: NDArray[Any], step: float, direction: NDArray[Any], after: NDArray[Any]
) -> float:
    """Go a step in a direction; gives the sum of the entries (a multiple of four) without signs.

    Invariant: `a + b + c + d` is the sum over the entries before t.
    """
    a, b, c, d = 0.0, 0.0, 0.0, 0.0
    for t in range(0, before.shape[0], 4):
        after[t] = before[t] + step * direction[t]
        after[t + 1] = before[t + 1] + step * direction[t + 1]
        after[t + 2] = before[t + 2] + step * direction[t + 2]
        after[t + 3] = before[t + 3] + step * direction[t + 3]
        a += abs(after[t])
        b += abs(after[t + 1])
        c += abs(after[t + 2])
        d += abs(after[t + 3])
    return a + b + c + d


@kernel
def enumerate_lattice_points(
    amounts: NDArray[Any],
    windows: NDArray[Any],
    slack_by_count: NDArray[Any],
    extra_above: NDArray[Any],
    already_in_bin: int,
    mu: NDArray[Any],
    lengths: NDArray[Any],
    directions: NDArray[Any],
    centre: NDArray[Any],
    outside: NDArray[Any],
    most_steps: int,
    most_sets: int,
    enough: int,
) -> tuple[bool, int, int, NDArray[Any], NDArray[Any], NDArray[Any]]:
    """All sets whose points lie in the cube of edge 1 around the centre of the windows.

    The multiples of the basis are chosen from the last row to the first. After each choice, the
    part w of the point's distance from the centre that is settled by now is known, and for every
    point that can still come of it w's square is its product with the whole distance, none of
    whose entries is above one half: so it is at most half the sum of w's entries, or else there is
    no such point, nor one further on in the same direction (Ritter; Schnorr and Horner).
    Gives whether all were listed, how many, the steps made, the first of them (rows of 0 and 1),
    some that have and lack every package which any has or lacks, and how many have each package.

    Invariant: `w[k + 1]` is the part of the distance that the multiples of the rows after k settle,
    and `distance[k + 1]` its square; all points with a multiple tried before were listed; a package
    is in `with_each[p]` of the `count` sets so far, and the witnesses have and lack it if any of
    these do.
    """
    n, d = directions.shape
    packages = amounts.shape[0]
    w = np.zeros((n + 1, d), np.float64)
    distance = np.zeros(n + 1, np.float64)
    shift = np.zeros((n + 1, n), np.float64)
    middle, first = np.zeros(n, np.float64), np.zeros(n, np.int64)
    times, up = np.zeros(n, np.int64), np.ones(n, np.int64)
    sets = np.empty((min(most_sets, INITIAL_ROOM), packages), np.uint8)
    witnesses = np.empty((2 * packages, packages), np.uint8)
    members, with_each = np.zeros(packages, np.int64), np.zeros(packages, np.int64)
    count, steps, stored, witness_count = 0, 0, 0, 0
    for t in range(d):
        w[n, t] = -outside[t]
        distance[n] += outside[t] * outside[t]
    most = 0.25 * d + ROUNDING_SLACK
    k = n - 1
    middle[k] = centre[k]
    first[k] = np.int64(np.ceil(middle[k]))
    times[k] = first[k]
    while True:
        steps += 1
        if steps > most_steps or count >= enough:
            return False, count, steps, sets[:stored], witnesses[:witness_count], with_each
        step = times[k] - middle[k]
        distance[k] = distance[k + 1] + step * step * lengths[k]
        near = distance[k] <= most
        if near:
            near = (
                distance[k]
                <= 0.5 * step_with_l1_norm(w[k + 1], step, directions[k], w[k]) + ROUNDING_SLACK
            )
        if near and k > 0:
            for j in range(k):
                shift[k, j] = shift[k + 1, j] + times[k] * mu[k, j]
            k -= 1
            middle[k] = centre[k] - shift[k + 1, k]
            first[k] = np.int64(np.ceil(middle[k]))
            times[k], up[k] = first[k], 1
            continue
        if near:
            whole = True
            for p in range(packages):
                members[p] = np.int64(np.rint(w[0, p] + 0.5))
                whole &= 0 <= members[p] <= 1
            if whole and is_fitting_set(
                amounts,
                members,
                windows[0],
                windows[1],
                slack_by_count,
                extra_above,
                already_in_bin,
            ):
                new = count == 0
                for p in range(packages):
                    if with_each[p] == (0 if members[p] else count):
                        new = True
                count += 1
                for p in range(packages):
                    with_each[p] += members[p]
                if new and witness_count < witnesses.shape[0]:
                    for p in range(packages):
                        witnesses[witness_count, p] = members[p]
                    witness_count += 1
                if stored < most_sets:
                    if stored == sets.shape[0]:
                        more = np.empty((min(most_sets, 2 * stored), packages), np.uint8)
                        more[:stored] = sets
                        sets = more
                    for p in range(packages):
                        sets[stored, p] = members[p]
                    stored += 1
            times[k] += up[k]
            continue
        # Nothing further on in this direction: turn, or go back to the row after.
        if up[k] == 1:
            up[k] = -1
            times[k] = first[k] - 1
            continue
        k += 1
        if k == n:
            return True, count, steps, sets[:stored], witnesses[:witness_count], with_each
        times[k] += up[k]
