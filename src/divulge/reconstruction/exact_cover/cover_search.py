"""Exact cover (Knuth's Algorithm X on bitsets): each bin takes a set, that with fewest left first.

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
from divulge.reconstruction.problem.bitsets import Bitsets, pack_bitsets, unpack_bitsets
from divulge.reconstruction.problem.instance import Instance
from divulge.work.arrays import Bools, Ints


class BinSetLists:
    """The sets of all bins but the `last`, which share what the others leave.

    >>> low, high = np.array([[6], [5]]), np.array([[6], [5]])
    >>> one = Instance.from_intervals(np.array([[5], [4], [2]]), low, high)
    >>> of_first = np.array([[0b110]], np.uint64)  # the packages of 4 and 2
    >>> BinSetLists(one, {0: of_first}).search_covers()
    (True, array([[0]]))
    """

    def __init__(self, instance: Instance, of_bins: dict[int, Bitsets]) -> None:
        from divulge.reconstruction.exact_cover import cover_search_kernels

        self.instance, self.of_bins = instance, of_bins
        self.listed_bins = list(of_bins)
        self.last = [b for b in range(instance.bins) if b not in of_bins]
        self.may_be_left = np.array(instance.allowed[:, self.last].any(axis=1), np.uint8)
        sizes = np.array([len(sets) for sets in of_bins.values()])
        self.words = np.cumsum([0, *((sizes + 63) // 64)])
        self.all_sets = np.full(self.words[-1], ~np.uint64(0))
        for size, end in zip(sizes, self.words[1:], strict=True):
            self.all_sets[end - 1] >>= np.uint64(-size % 64)
        self.sets_with_package = cover_search_kernels.index_sets_by_package(
            np.ascontiguousarray(np.concatenate(list(of_bins.values()))),
            np.cumsum([0, *sizes]),
            self.words,
            instance.packages,
        )

    def search_covers(
        self,
        most: int = tuning.COVER_MOST_COVERS,
        steps: int = tuning.COVER_MOST_STEPS,
        among: Bitsets | None = None,
    ) -> tuple[bool, Ints]:
        """The ways to give each bin one of its sets: of each way its place in every bin's list.

        Not all of them, and False, if there are more than `most` or more steps are needed.
        """
        from divulge.reconstruction.exact_cover import cover_search_kernels

        instance, last = self.instance, self.last
        complete, cover_rows, steps_made = cover_search_kernels.search_exact_covers(
            self.sets_with_package,
            self.words,
            self.all_sets if among is None else among,
            self.may_be_left,
            instance.amounts,
            instance.low[last].sum(axis=0),
            instance.high[last].sum(axis=0),
            most,
            steps,
        )
        work.charge(tuning.EXACT_COVER, steps_made)
        return complete, cover_rows

    def restrict_to_pair(self, package: int, b: int) -> Bitsets:
        """The sets that are left if a package is in some bin."""
        among: Bitsets = self.all_sets & ~self.sets_with_package[package]
        if b in self.of_bins:
            place = self.listed_bins.index(b)
            of_bin = slice(self.words[place], self.words[place + 1])
            among[of_bin] = self.all_sets[of_bin] & self.sets_with_package[package, of_bin]
        return among

    def find_leftovers(self, covers: Ints) -> Bitsets:
        """Which packages covers leave to the last bins."""
        leftovers = np.tile(pack_bitsets(np.ones(self.instance.packages, bool)), (len(covers), 1))
        for sets, places in zip(self.of_bins.values(), covers.T, strict=True):
            leftovers &= ~sets[places]
        return leftovers

    def build_remainder(self, packages: Ints, allowed: Bools) -> Instance:
        """What some packages are to the last bins: an instance of its own."""
        instance, last = self.instance, self.last
        return Instance(
            amounts=np.ascontiguousarray(instance.amounts[packages]),
            low=instance.low[last],
            high=instance.high[last],
            slack_by_count=instance.slack_by_count,
            extra_above=instance.extra_above,
            allowed=allowed[packages][:, last],
            already_in_bin=instance.already_in_bin[last],
        )

    def place_cover(self, cover: Ints) -> Ints:
        """Where packages are in a cover; those that are left, in the first of the last bins."""
        of_package = np.full(self.instance.packages, self.last[0], np.int16)
        for (b, sets), place in zip(self.of_bins.items(), cover, strict=True):
            of_package[unpack_bitsets(sets[place], len(of_package))] = b
        return of_package
