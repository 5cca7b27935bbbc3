"""What is known of one instance, with the certificates of it; and many as arrays."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from divulge.reconstruction.problem.amounts import Bools, Ints
from divulge.reconstruction.problem.certificates import most_telling, pairs_of, still_holding
from divulge.reconstruction.problem.premises import PREMISES, Premise

STATUSES = ("closed", "open", "infeasible")


@dataclass(frozen=True, eq=False)
class Result:
    """What is known of one instance; `discardable` packages may have been left out of the totals.

    `sure` are packages whose places left are so even if small records are missing from the totals.
    Shares are those of all allocations, None where they were not counted. `certificates` are some
    of the allocations that were found, one per row, of an instance that is open.
    """

    status: str
    premise: Premise
    possible: Bools
    proved: Bools
    discardable: Bools
    sure: Bools
    shares: npt.NDArray[np.float64] | None
    discarded: npt.NDArray[np.float64]
    count: int | None
    seconds: float
    certificates: Ints

    @property
    def findings(self) -> int:
        """Of how many packages the bin is certain, or shown to be ambiguous."""
        certain = (self.possible.sum(axis=1) == 1) & ~self.discardable
        return int((certain | (self.proved.sum(axis=1) > 1)).sum())

    def with_proofs_of(self, earlier: Result, allowed: Bools) -> Result:
        """The same with what was proved before, as far as no pair of it was taken away since.

        Args:
            earlier: of the same instance, when packages were perhaps allowed in more bins.
            allowed: where packages were allowed when this was found.
        """
        if self.premise != earlier.premise or (self.status, earlier.status) != ("open", "open"):
            return self
        bins = self.possible.shape[1]
        kept = still_holding(earlier.certificates, self.possible)
        known = pairs_of(kept, bins)[:, :bins]
        sure = self.sure
        if (allowed == earlier.possible).all():
            # Nothing was taken away: all that was proved is, of certificates that are kept or not.
            known = known | earlier.proved
            if (self.possible == earlier.possible).all():
                sure = sure | earlier.sure
        proved = (self.proved | known) & self.possible
        certificates = most_telling(np.concatenate([self.certificates, kept]), bins)
        left_out = pairs_of(certificates, bins)[:, bins]
        done = (proved == self.possible).all() and (left_out >= self.discardable).all()
        return replace(
            self,
            proved=proved,
            sure=sure,
            status="closed" if done else "open",
            certificates=certificates[:0] if done else certificates,
        )

    def narrowed(self, allowed: Bools) -> Result | None:
        """The same where packages may go to fewer bins; None if no certificate of it is left."""
        kept = still_holding(self.certificates, allowed)
        if not len(kept):
            return None
        bins = allowed.shape[1]
        return replace(
            self,
            status="open",
            possible=self.possible & allowed,
            proved=pairs_of(kept, bins)[:, :bins],
            shares=None,
            discarded=np.zeros(len(allowed)),
            count=None,
            certificates=kept,
        )


def packed(results: Sequence[Result]) -> dict[str, npt.NDArray[Any]]:
    """Results as arrays: what a checkpoint keeps, and what travels between processes."""
    flat = [r.shares.ravel() for r in results if r.shares is not None]
    return {
        "shape": np.array([r.possible.shape for r in results], np.int64).reshape(-1, 2),
        "status": np.array([STATUSES.index(r.status) for r in results], np.int8),
        "premise": np.array([PREMISES.index(r.premise) for r in results], np.int8),
        "possible": np.concatenate([r.possible.ravel() for r in results]),
        "proved": np.concatenate([r.proved.ravel() for r in results]),
        "discardable": np.concatenate([r.discardable for r in results]),
        "sure": np.concatenate([r.sure for r in results]),
        "counted": np.array([r.shares is not None for r in results]),
        "shares": np.concatenate([*flat, np.empty(0)]),
        "discarded": np.concatenate([r.discarded for r in results]),
        # Counts have any number of digits.
        "count": np.array(["" if r.count is None else str(r.count) for r in results], np.str_),
        "seconds": np.array([r.seconds for r in results]),
        "kept": np.array([len(r.certificates) for r in results], np.int64),
        "certificates": np.concatenate([r.certificates.astype(np.int16).ravel() for r in results]),
    }


def unpacked(arrays: Mapping[str, npt.NDArray[Any]]) -> Iterator[Result]:
    """The results that arrays hold, in their order."""
    pair = package = shared = stored = 0
    for place, (n, m) in enumerate(arrays["shape"]):
        pairs, packages = slice(pair, pair + n * m), slice(package, package + n)
        shares = None
        if arrays["counted"][place]:
            shares = arrays["shares"][shared : shared + n * m].reshape(n, m)
            shared += n * m
        count, kept = str(arrays["count"][place]), int(arrays["kept"][place])
        yield Result(
            STATUSES[arrays["status"][place]],
            PREMISES[arrays["premise"][place]],
            arrays["possible"][pairs].reshape(n, m),
            arrays["proved"][pairs].reshape(n, m),
            arrays["discardable"][packages],
            arrays["sure"][packages],
            shares,
            arrays["discarded"][packages],
            int(count) if count else None,
            float(arrays["seconds"][place]),
            # A copy, so that the bundle's others can be forgotten.
            arrays["certificates"][stored : stored + kept * n].reshape(kept, n).copy(),
        )
        pair, package, stored = pair + n * m, package + n, stored + kept * n
