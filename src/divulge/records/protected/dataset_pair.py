"""Originals and their protected versions, with the records of one matched to those of the other."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from divulge.data import Dataset
from divulge.data.value_texts import format_value
from divulge.records.models.linked_datasets import LinkedDatasets
from divulge.records.protected.value_mapping import (
    REMOVED,
    AttributePair,
    Recoding,
    match_own_records,
)
from divulge.work import Problems
from divulge.work.arrays import Ints


@dataclass(frozen=True)
class DatasetPair:
    """Originals and their protected versions, year by year; `record_links` matches their records.

    `linked_release` are the records of the focal release with those of the other years joined to
    them.
    """

    originals: tuple[Dataset, ...]
    releases: tuple[Dataset, ...]
    record_links: tuple[Ints, ...]
    linked_release: LinkedDatasets

    @classmethod
    def from_datasets(
        cls, originals: Sequence[Dataset], releases: Sequence[Dataset | None], on: str | None,
        knows: Sequence[str], seeks: Sequence[str],
    ) -> DatasetPair:  # fmt: skip
        """Match records; a year of which no protected version is given was released as it is."""
        problems = Problems("attack")
        if len(releases) > len(originals):
            problems.add("release", f"{len(releases)} are given for {len(originals)} datasets.")
            problems.raise_any()
        versions = [*releases, *[None] * (len(originals) - len(releases))]
        released = [
            one if two is None else two for one, two in zip(originals, versions, strict=True)
        ]
        for year, (one, two) in enumerate(zip(originals, released, strict=True)):
            needed_names = [
                *(name for name in knows if name in one.names),
                *(seeks if not year else []),
            ]
            if on is not None:
                needed_names.append(on)
            for name in needed_names:
                if name not in two.names:
                    message = f'"{two.name}" has no attribute "{name}".'
                    problems.add("release", message, name, two.names)
        problems.raise_any()
        owns = tuple(
            match_own_records(one, two, on) for one, two in zip(originals, released, strict=True)
        )
        return cls(tuple(originals), tuple(released), owns, _join_releases(released, owns, on))

    def locate_own_records(self, linked: LinkedDatasets) -> Ints:
        """For each focal record of the original, its place among the released; -1 if removed."""
        place = np.full(self.releases[0].rows + 1, REMOVED, np.int64)
        place[self.linked_release.records] = np.arange(len(self.linked_release.records))
        own: Ints = place[self.record_links[0][linked.records]]
        return own

    def pair_attributes(self, people: LinkedDatasets, knows: Sequence[str]) -> list[AttributePair]:
        """What is known of people, beside what released records show, in every year."""
        pairs = []
        theirs = ((people.focal, people.records), *people.years)
        ours = (
            (self.linked_release.focal, self.linked_release.records),
            *self.linked_release.years,
        )
        for year, ((dataset, places), (release, release_places)) in enumerate(
            zip(theirs, ours, strict=True)
        ):
            names = [name for name in knows if name in self.originals[year].names]
            # Who is absent from a release may have been removed from it, if anybody was.
            removed = bool(np.any(self.record_links[year] == REMOVED))
            if names and (np.any(places < 0) or np.any(release_places < 0)):
                # A hidden cell still tells that somebody is there.
                pairs.append(AttributePair.from_presence(places >= 0, release_places >= 0, removed))
            for name in names:
                recoding = Recoding.from_records(
                    name, self.originals[year], release, self.record_links[year]
                )
                column = dataset.columns[name]
                pairs.append(
                    recoding.pair_column(
                        column, places, recoding.encode_shown(release_places, removed)
                    )
                )
        return pairs

    def pair_secrets(self, linked: LinkedDatasets, seeks: Sequence[str]) -> list[AttributePair]:
        """What is sought, as people have it and as released records show it."""
        pairs = []
        for name in seeks:
            recoding = Recoding.from_records(
                name, self.originals[0], self.releases[0], self.record_links[0]
            )
            shown = recoding.encode_shown(self.linked_release.records)
            column = self.originals[0].columns[name]
            pairs.append(recoding.pair_column(column, linked.records, shown))
        return pairs


def _join_releases(
    releases: Sequence[Dataset], owns: Sequence[Ints], on: str | None
) -> LinkedDatasets:
    """The released years joined to the focal release by the id; who was removed is not there."""
    records = np.sort(owns[0][owns[0] != REMOVED])
    years = []
    for release, own in zip(releases[1:], owns[1:], strict=True):
        assert on is not None  # noqa: S101  # several years are linked by an id
        of_id = {format_value(v): i for i, v in enumerate(release.columns[on].values.to_pylist())}
        ids = releases[0].columns[on]
        is_released = np.zeros(release.rows, bool)
        is_released[own[own != REMOVED]] = True
        row = np.full(len(of_id) + 1, REMOVED, np.int64)
        row[release.columns[on].codes[is_released]] = np.flatnonzero(is_released)
        place = np.array([of_id.get(format_value(v), -1) for v in ids.values.to_pylist()], np.int64)
        years.append((release, row[place[ids.codes[records]]]))
    return LinkedDatasets(focal=releases[0], records=records, years=tuple(years), records_dropped=0)
