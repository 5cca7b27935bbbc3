"""Result of an instance (excluded, proved, open pairs; certificates), and many in arrays."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, get_args

import numpy as np
import numpy.typing as npt

from divulge.reconstruction.problem.certificates import (
    keep_valid_certificates,
    mark_proved_pairs,
    select_certificates,
)
from divulge.reconstruction.problem.premises import PREMISES, Premise
from divulge.reconstruction.problem.solution import InstanceSolution, Status
from divulge.work.arrays import Bools

STATUSES: tuple[Status, ...] = get_args(Status)


@dataclass(frozen=True, eq=False, kw_only=True)
class InstanceResult(InstanceSolution):
    """A solution under its premise; `discardable` packages may have been left out of the totals.

    `sure` are packages whose places left are so even if small records are missing from the totals;
    `discarded` says in which share of allocations each was left out. `certificates` are kept of an
    instance that is open.
    """

    premise: Premise
    discardable: Bools
    sure: Bools
    discarded: npt.NDArray[np.float64]

    @property
    def findings(self) -> int:
        """Of how many packages the bin is certain, or shown to be ambiguous."""
        certain = (self.possible.sum(axis=1) == 1) & ~self.discardable
        return int((certain | (self.proved.sum(axis=1) > 1)).sum())

    def with_proofs_of(self, earlier: InstanceResult, allowed: Bools) -> InstanceResult:
        """The same with what was proved before, as far as no pair of it was taken away since.

        Args:
            earlier: of the same instance, when packages were perhaps allowed in more bins.
            allowed: where packages were allowed when this was found.
        """
        if self.premise != earlier.premise or (self.status, earlier.status) != ("open", "open"):
            return self
        bins = self.possible.shape[1]
        still_valid = keep_valid_certificates(earlier.certificates, self.possible)
        proved_before = mark_proved_pairs(still_valid, bins)[:, :bins]
        sure = self.sure
        if (allowed == earlier.possible).all():
            # Nothing was taken away: all that was proved is, of certificates that are kept or not.
            proved_before = proved_before | earlier.proved
            if (self.possible == earlier.possible).all():
                sure = sure | earlier.sure
        proved = (self.proved | proved_before) & self.possible
        certificates = select_certificates(np.concatenate([self.certificates, still_valid]), bins)
        left_out = mark_proved_pairs(certificates, bins)[:, bins]
        is_closed = (proved == self.possible).all() and (left_out >= self.discardable).all()
        return replace(
            self,
            proved=proved,
            sure=sure,
            status="closed" if is_closed else "open",
            certificates=certificates[:0] if is_closed else certificates,
        )

    def restricted_to(self, allowed: Bools) -> InstanceResult | None:
        """The same where packages may go to fewer bins; None if no certificate of it is left."""
        still_valid = keep_valid_certificates(self.certificates, allowed)
        if not len(still_valid):
            return None
        bins = allowed.shape[1]
        return replace(
            self,
            status="open",
            possible=self.possible & allowed,
            proved=mark_proved_pairs(still_valid, bins)[:, :bins],
            shares=None,
            discarded=np.zeros(len(allowed)),
            count=None,
            certificates=still_valid,
        )


def pack_results(results: Sequence[InstanceResult]) -> dict[str, npt.NDArray[Any]]:
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


def unpack_results(arrays: Mapping[str, npt.NDArray[Any]]) -> Iterator[InstanceResult]:
    """The results that arrays hold, in their order."""
    pair = package = shared = stored = 0
    for place, (n, m) in enumerate(arrays["shape"]):
        pairs, packages = slice(pair, pair + n * m), slice(package, package + n)
        shares = None
        if arrays["counted"][place]:
            shares = arrays["shares"][shared : shared + n * m].reshape(n, m)
            shared += n * m
        count, stored_rows = str(arrays["count"][place]), int(arrays["kept"][place])
        yield InstanceResult(
            status=STATUSES[arrays["status"][place]],
            premise=PREMISES[arrays["premise"][place]],
            possible=arrays["possible"][pairs].reshape(n, m),
            proved=arrays["proved"][pairs].reshape(n, m),
            discardable=arrays["discardable"][packages],
            sure=arrays["sure"][packages],
            shares=shares,
            discarded=arrays["discarded"][packages],
            count=int(count) if count else None,
            seconds=float(arrays["seconds"][place]),
            # A copy, so that the bundle's others can be forgotten.
            certificates=arrays["certificates"][stored : stored + stored_rows * n]
            .reshape(stored_rows, n)
            .copy(),
        )
        pair, package, stored = pair + n * m, package + n, stored + stored_rows * n
