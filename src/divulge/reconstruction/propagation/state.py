"""Search state of one component of an instance, while the ladder is climbed."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from divulge.reconstruction.problem.counts import AllocationCounts
from divulge.reconstruction.problem.instance import Instance
from divulge.reconstruction.propagation.propagation import propagate
from divulge.reconstruction.propagation.ratio_bounds import exclude_by_ratios
from divulge.work.arrays import Bools, Ints


@dataclass(kw_only=True)
class SearchState:
    """What the rungs have found so far of one part of an instance."""

    instance: Instance
    possible: Bools
    proved: Bools
    certificates: list[Ints] = field(default_factory=list)
    allocation_counts: AllocationCounts | None = None
    uncounted_list_sizes: tuple[int, ...] = ()
    infeasible: bool = False

    @classmethod
    def from_instance(cls, instance: Instance) -> SearchState:
        """What is known at first: what the instance allows."""
        return cls(
            instance=instance,
            possible=instance.allowed.copy(),
            proved=np.zeros_like(instance.allowed),
        )

    @property
    def is_closed(self) -> bool:
        """Whether all that is not excluded is proved."""
        return bool((self.possible == self.proved).all())

    @property
    def is_settled(self) -> bool:
        """Whether no rung has more to say, but for counts."""
        return self.infeasible or self.allocation_counts is not None or self.is_closed

    def add_certificates(self, allocations: Ints) -> None:
        """Keep allocations as certificates: their pairs are proved."""
        for of_package in allocations:
            self.proved[np.arange(len(of_package)), of_package] = True
            self.certificates.append(of_package)

    def add_new_certificates(self, allocations: Ints) -> None:
        """Keep those of the allocations that prove a pair which the others have not proved."""
        for of_package in allocations:
            if not self.proved[np.arange(len(of_package)), of_package].all():
                self.add_certificates(of_package[None].astype(np.int16))

    def set_count(self, allocation_counts: AllocationCounts) -> None:
        """All allocations were counted, so that every pair is decided."""
        self.allocation_counts = allocation_counts
        self.infeasible = allocation_counts.count == 0
        self.possible = self.possible & (allocation_counts.pairs > 0).astype(bool)
        self.add_certificates(allocation_counts.proofs)

    def exclude_pairs(self, pairs: Bools) -> bool:
        """Take pairs away, and what that excludes at a glance; False if nothing can be then."""
        remaining = propagate(self.instance, self.possible & ~pairs)
        self.infeasible = remaining is None
        if remaining is not None:
            self.possible = remaining
        return not self.infeasible

    def exclude_by_ratios(self) -> bool:
        """Take away what two amounts, or bins together, rule out; False if nothing can be then."""
        remaining = exclude_by_ratios(self.instance, self.possible)
        self.infeasible = remaining is None
        if remaining is not None:
            self.possible = remaining
        return not self.infeasible
