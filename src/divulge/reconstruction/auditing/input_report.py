"""What of the data has no counterpart: counted and named, and refused by who wants it so."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass

import numpy as np

from divulge.assessment import Sentence
from divulge.data import Dataset
from divulge.reconstruction.auditing.suppressed_codes import suppressed_codes
from divulge.reconstruction.auditing.totals import Matched
from divulge.work import Problems

CATALOGUE = "divulge.reconstruction"


@dataclass(frozen=True, eq=False)
class InputReport:
    """What was found in the data before anything was solved, as counts.

    By table: records whose key no row has, rows whose key no record has, and places that the
    finest table puts into a place which the table does not have.
    """

    records: int
    dropped_records: int
    records_without_totals: dict[str, int]
    totals_without_records: dict[str, int]
    unknown_places: dict[str, int]
    suppressed_codes: int
    places_without_parties: int
    parties: int
    unused_weights: int = 0

    @classmethod
    def of(
        cls,
        tables: Sequence[Matched],
        records: Dataset,
        parties: Dataset,
        places_of_parties: Collection[str],
        dropped: int,
        unused_weights: int,
    ) -> InputReport:
        """Count; the finest table comes first."""
        return cls(
            records.rows,
            dropped,
            {table.totals.dataset.name: table.records_without_totals for table in tables},
            {table.totals.dataset.name: len(table.totals_without_records) for table in tables},
            {table.totals.dataset.name: _unknown(tables[0], table) for table in tables[1:]},
            suppressed_codes(tables, records),
            sum(name not in places_of_parties for name in tables[0].names),
            parties.rows,
            unused_weights,
        )

    def refuse(self, unmatched: str) -> None:
        """Raise what cannot be right; with "refuse", also all that has no counterpart."""
        problems = Problems("reconstruct")
        for name, without in self.records_without_totals.items():
            if without == self.records:
                message = "no record has the key of any row; are codes read as texts in both?"
                problems.add(f'dataset "{name}"', message)
        if unmatched == "refuse":
            for sentence in self.sentences:
                problems.add("unmatched", str(sentence))
        problems.raise_any()

    @property
    def sentences(self) -> list[Sentence]:
        """All that has no counterpart, in words."""
        found = []
        for key in ("records_without_totals", "totals_without_records", "unknown_places"):
            for name, count in getattr(self, key).items():
                if count:
                    values = {"table": name, "count": count}
                    found.append(Sentence(CATALOGUE, f"unmatched.{key}", values))
        if self.places_without_parties:
            values = {"count": self.places_without_parties}
            found.append(Sentence(CATALOGUE, "unmatched.places_without_parties", values))
        return found


def refuse_split_places(table: Matched) -> None:
    """One place in two coarser ones is two places of one name: then nothing can be told."""
    problems = Problems(f'dataset "{table.totals.dataset.name}"')
    for column, (codes, _) in table.coarser.items():
        pairs = np.unique(np.stack([table.place, codes], axis=1), axis=0)
        split = len(pairs) - len(np.unique(pairs[:, 0]))
        if split:
            message = f'{split} of column "{table.totals.finest}" lie in more than one {column}; '
            problems.add("place", message + "give each place a name of its own.")
    problems.raise_any()


def _unknown(fine: Matched, table: Matched) -> int:
    """Places of the finest table in a coarser place that a table does not have."""
    codes, names = fine.within(table.totals.finest)
    missing = np.array([name not in table.names for name in names], bool)
    return len(np.unique(fine.place[missing[codes]]))
