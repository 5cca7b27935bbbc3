"""What is known of one part of an instance while the ladder is climbed."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from divulge.reconstruction.problem.amounts import Bools, Ints
from divulge.reconstruction.problem.counts import Counted
from divulge.reconstruction.problem.instance import Instance
from divulge.reconstruction.propagation.propagation import propagate
from divulge.reconstruction.propagation.ratio_bounds import narrowed


@dataclass
class Known:
    """What the rungs have found so far of one part of an instance."""

    instance: Instance
    possible: Bools
    proved: Bools
    certificates: list[Ints] = field(default_factory=list)
    counted: Counted | None = None
    uncounted: tuple[int, ...] = ()
    infeasible: bool = False

    @classmethod
    def nothing_of(cls, instance: Instance) -> Known:
        """What is known at first: what the instance allows."""
        return cls(instance, instance.allowed.copy(), np.zeros_like(instance.allowed))

    @property
    def closed(self) -> bool:
        """Whether all that is not excluded is proved."""
        return bool((self.possible == self.proved).all())

    @property
    def settled(self) -> bool:
        """Whether no rung has more to say, but for counts."""
        return self.infeasible or self.counted is not None or self.closed

    def enter(self, allocations: Ints) -> None:
        """Keep allocations as certificates: their pairs are proved."""
        for of_package in allocations:
            self.proved[np.arange(len(of_package)), of_package] = True
            self.certificates.append(of_package)

    def enter_new(self, allocations: Ints) -> None:
        """Keep those of the allocations that prove a pair which the others have not proved."""
        for of_package in allocations:
            if not self.proved[np.arange(len(of_package)), of_package].all():
                self.enter(of_package[None].astype(np.int16))

    def take(self, counted: Counted) -> None:
        """All allocations were counted, so that every pair is decided."""
        self.counted = counted
        self.infeasible = counted.count == 0
        self.possible = self.possible & (counted.pairs > 0).astype(bool)
        self.enter(counted.proofs)

    def exclude(self, pairs: Bools) -> bool:
        """Take pairs away, and what that excludes at a glance; False if nothing can be then."""
        left = propagate(self.instance, self.possible & ~pairs)
        self.infeasible = left is None
        if left is not None:
            self.possible = left
        return not self.infeasible

    def narrow(self) -> bool:
        """Take away what two amounts, or bins together, rule out; False if nothing can be then."""
        left = narrowed(self.instance, self.possible)
        self.infeasible = left is None
        if left is not None:
            self.possible = left
        return not self.infeasible
