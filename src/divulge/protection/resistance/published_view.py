"""What an attacker sees of protected records, and the refill attack on it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from divulge.data import Dataset
from divulge.protection.changes.changes import select_records
from divulge.protection.refill.attack import refill
from divulge.protection.refill.cells import has_secret_cells
from divulge.protection.refill.result import Refill
from divulge.protection.result.protected import Protected


@dataclass(frozen=True)
class PublishedView:
    """What an attacker sees of a dataset: its published columns, and perhaps their order."""

    columns: Sequence[str]
    ordered: bool = False
    """Whether records go out in the order of the source, so that neighbours tell."""
    required: frozenset[str] = frozenset()
    """Columns that must go out, whatever they tell."""
    tabulated: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """By attribute of which tables of all records go out too, the names of these tables."""

    def leave_out(self, names: Iterable[str]) -> PublishedView:
        """The same without some columns."""
        dropped = set(names)
        return replace(self, columns=[name for name in self.columns if name not in dropped])


def refill_released(
    released: Dataset, original: Dataset, keys: Sequence[str], published: PublishedView
) -> Refill | None:
    """The attack on what is published of released records; None if nothing is hidden."""
    names = [name for name in released.names if name in {*published.columns, *keys}]
    shared = [name for name in names if name in original.columns]
    seen, known = released.select(names), original.select(shared)
    if not has_secret_cells(seen, known):
        return None
    return refill(
        seen,
        known,
        keys=[key for key in keys if key in names],
        columns=[name for name in names if name in set(published.columns)],
        ordered=published.ordered,
    )


def select_known(protected: Protected) -> Dataset:
    """The records that are released, as an adversary knows them."""
    original = protected.original if protected.known is None else protected.known
    return select_records(original, protected.kept) if protected.removed else original
