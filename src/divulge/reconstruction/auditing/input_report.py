"""What of the data has no counterpart: counted and named, and refused by who wants it so."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass

import numpy as np

from divulge.assessment import Sentence
from divulge.data import Dataset
from divulge.reconstruction.auditing.suppressed_codes import count_suppressed_codes
from divulge.reconstruction.auditing.totals import TotalsMatch
from divulge.work import Problems

CATALOGUE = "divulge.reconstruction"


@dataclass(frozen=True, eq=False, kw_only=True)
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
    def from_tables(
        cls,
        tables: Sequence[TotalsMatch],
        records: Dataset,
        parties: Dataset,
        *,
        places_of_parties: Collection[str],
        dropped: int,
        unused_weights: int,
    ) -> InputReport:
        """Count; the finest table comes first."""
        return cls(
            records=records.rows,
            dropped_records=dropped,
            records_without_totals={
                table.totals.dataset.name: table.records_without_totals for table in tables
            },
            totals_without_records={
                table.totals.dataset.name: len(table.totals_without_records) for table in tables
            },
            unknown_places={
                table.totals.dataset.name: _count_unknown_places(tables[0], table)
                for table in tables[1:]
            },
            suppressed_codes=count_suppressed_codes(tables, records),
            places_without_parties=sum(name not in places_of_parties for name in tables[0].names),
            parties=parties.rows,
            unused_weights=unused_weights,
        )

    def check_counterparts(self, unmatched: str) -> None:
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
        unmatched = []
        for key in ("records_without_totals", "totals_without_records", "unknown_places"):
            for name, count in getattr(self, key).items():
                if count:
                    values = {"table": name, "count": count}
                    unmatched.append(Sentence(CATALOGUE, f"unmatched.{key}", values))
        if self.places_without_parties:
            values = {"count": self.places_without_parties}
            unmatched.append(Sentence(CATALOGUE, "unmatched.places_without_parties", values))
        return unmatched


def refuse_split_places(table: TotalsMatch) -> None:
    """One place in two coarser ones is two places of one name: then nothing can be concluded."""
    problems = Problems(f'dataset "{table.totals.dataset.name}"')
    for column, (codes, _) in table.coarser.items():
        pairs = np.unique(np.stack([table.place, codes], axis=1), axis=0)
        split = len(pairs) - len(np.unique(pairs[:, 0]))
        if split:
            message = f'{split} of column "{table.totals.finest}" lie in more than one {column}; '
            problems.add("place", message + "give each place a name of its own.")
    problems.raise_any()


def _count_unknown_places(fine: TotalsMatch, table: TotalsMatch) -> int:
    """Places of the finest table in a coarser place that a table does not have."""
    codes, names = fine.look_up_places(table.totals.finest)
    missing = np.array([name not in table.names for name in names], bool)
    return len(np.unique(fine.place[missing[codes]]))
