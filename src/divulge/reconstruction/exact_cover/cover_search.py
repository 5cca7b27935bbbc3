"""All allocations by an exact cover: bin after bin takes a set, that with fewest left first.

The dynamic programme goes through bins in one order and remembers what is left. Where each bin
alone has thousands of sets and only all together are few, it drowns in what one bin leaves to the
next. Here the bin that comes next is chosen anew each time, and a bin must take what no other can:
then a few thousand steps often suffice where the products of the lists would be 10^12. What is
left to bins whose sets cannot be listed is an instance of its own, and small.
"""

from __future__ import annotations

import numpy as np

from divulge import work
from divulge.reconstruction import tuning
from divulge.reconstruction.problem.amounts import Bools, Ints
from divulge.reconstruction.problem.bitsets import Words, masks_of, words_of
from divulge.reconstruction.problem.instance import Instance

A_LONG_WHILE = 1e6  # nominal seconds, where there is no end
MOST_COVERS, MOST_STEPS = 400_000, 500_000_000


def steps_in(seconds: float) -> int:
    """How many steps of covering are so many nominal seconds."""
    return int(min(seconds, A_LONG_WHILE) / tuning.EXACT_COVER.per_step)


class Lists:
    """The sets of all bins but the `last`, which share what the others leave.

    >>> one = Instance.of(np.array([[5], [4], [2]]), np.array([[6], [5]]), np.array([[6], [5]]))
    >>> of_first = np.array([[0b110]], np.uint64)  # the packages of 4 and 2
    >>> Lists(one, {0: of_first}).covers()
    (True, array([[0]]))
    """

    def __init__(self, instance: Instance, of_bins: dict[int, Words]) -> None:
        from divulge.reconstruction.exact_cover import cover_search_kernels

        self.instance, self.of_bins = instance, of_bins
        self.listed = list(of_bins)
        self.last = [b for b in range(instance.bins) if b not in of_bins]
        self.may_be_left = np.array(instance.allowed[:, self.last].any(axis=1), np.uint8)
        sizes = np.array([len(sets) for sets in of_bins.values()])
        self.words = np.cumsum([0, *((sizes + 63) // 64)])
        self.all = np.full(self.words[-1], ~np.uint64(0))
        for size, end in zip(sizes, self.words[1:], strict=True):
            self.all[end - 1] >>= np.uint64(-size % 64)
        self.has = cover_search_kernels.having(
            np.ascontiguousarray(np.concatenate(list(of_bins.values()))),
            np.cumsum([0, *sizes]),
            self.words,
            instance.packages,
        )

    def covers(
        self, most: int = MOST_COVERS, steps: int = MOST_STEPS, among: Words | None = None
    ) -> tuple[bool, Ints]:
        """The ways to give each bin one of its sets: of each way its place in every bin's list.

        Not all of them, and False, if there are more than `most` or more steps are needed.
        """
        from divulge.reconstruction.exact_cover import cover_search_kernels

        instance, last = self.instance, self.last
        complete, found, looked = cover_search_kernels.covers(
            self.has,
            self.words,
            self.all if among is None else among,
            self.may_be_left,
            instance.amounts,
            instance.low[last].sum(axis=0),
            instance.high[last].sum(axis=0),
            most,
            steps,
        )
        work.charge(tuning.EXACT_COVER, looked)
        return complete, found

    def with_pair(self, package: int, b: int) -> Words:
        """The sets that are left if a package is in some bin."""
        among: Words = self.all & ~self.has[package]
        if b in self.of_bins:
            place = self.listed.index(b)
            of_bin = slice(self.words[place], self.words[place + 1])
            among[of_bin] = self.all[of_bin] & self.has[package, of_bin]
        return among

    def left_by(self, covers: Ints) -> Words:
        """Which packages covers leave to the last bins."""
        left = np.tile(words_of(np.ones(self.instance.packages, bool)), (len(covers), 1))
        for sets, places in zip(self.of_bins.values(), covers.T, strict=True):
            left &= ~sets[places]
        return left

    def share_out(self, packages: Ints, allowed: Bools) -> Instance:
        """What some packages are to the last bins: an instance of its own."""
        instance, last = self.instance, self.last
        return Instance(
            np.ascontiguousarray(instance.amounts[packages]),
            instance.low[last],
            instance.high[last],
            instance.widening,
            instance.deeper,
            allowed[packages][:, last],
            instance.held[last],
        )

    def placed(self, cover: Ints) -> Ints:
        """Where packages are in a cover; those that are left, in the first of the last bins."""
        of_package = np.full(self.instance.packages, self.last[0], np.int16)
        for (b, sets), place in zip(self.of_bins.items(), cover, strict=True):
            of_package[masks_of(sets[place], len(of_package))] = b
        return of_package
