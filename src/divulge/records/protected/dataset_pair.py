"""Originals and their protected versions, with the records of one matched to those of the other."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from divulge.data import Dataset
from divulge.data.ladders import text_of
from divulge.engines import IntArray
from divulge.records.models.linked_datasets import Linked
from divulge.records.protected.value_mapping import REMOVED, Paired, Recoding, own_records
from divulge.work import Problems


@dataclass(frozen=True)
class Pair:
    """Originals and their protected versions, year by year; `owns` matches their records.

    `released` are the records of the focal release with those of the other years joined to them.
    """

    originals: tuple[Dataset, ...]
    releases: tuple[Dataset, ...]
    owns: tuple[IntArray, ...]
    released: Linked

    @classmethod
    def of(
        cls, originals: Sequence[Dataset], releases: Sequence[Dataset | None], on: str | None,
        knows: Sequence[str], seeks: Sequence[str],
    ) -> Pair:  # fmt: skip
        """Match records; a year of which no protected version is given was released as it is."""
        problems = Problems("attack")
        if len(releases) > len(originals):
            problems.add("release", f"{len(releases)} are given for {len(originals)} datasets.")
            problems.raise_any()
        given = [*releases, *[None] * (len(originals) - len(releases))]
        after = [one if two is None else two for one, two in zip(originals, given, strict=True)]
        for year, (one, two) in enumerate(zip(originals, after, strict=True)):
            wanted = [*(name for name in knows if name in one.names), *(seeks if not year else [])]
            if on is not None:
                wanted.append(on)
            for name in wanted:
                if name not in two.names:
                    message = f'"{two.name}" has no attribute "{name}".'
                    problems.add("release", message, name, two.names)
        problems.raise_any()
        owns = tuple(own_records(one, two, on) for one, two in zip(originals, after, strict=True))
        return cls(tuple(originals), tuple(after), owns, _joined(after, owns, on))

    def own(self, linked: Linked) -> IntArray:
        """For each focal record of the original, its place among the released; -1 if removed."""
        place = np.full(self.releases[0].rows + 1, REMOVED, np.int64)
        place[self.released.records] = np.arange(len(self.released.records))
        own: IntArray = place[self.owns[0][linked.records]]
        return own

    def attributes(self, people: Linked, knows: Sequence[str]) -> list[Paired]:
        """What is known of people, beside what released records show, in every year."""
        found = []
        theirs = ((people.focal, people.records), *people.years)
        ours = ((self.released.focal, self.released.records), *self.released.years)
        for year, ((dataset, places), (release, shown)) in enumerate(
            zip(theirs, ours, strict=True)
        ):
            told = [name for name in knows if name in self.originals[year].names]
            # Who is absent from a release may have been removed from it, if anybody was.
            removed = bool(np.any(self.owns[year] == REMOVED))
            if told and (np.any(places < 0) or np.any(shown < 0)):
                # A hidden cell still tells that somebody is there.
                found.append(Paired.of_presence(places >= 0, shown >= 0, removed))
            for name in told:
                recoding = Recoding.observed(name, self.originals[year], release, self.owns[year])
                column = dataset.columns[name]
                found.append(recoding.paired(column, places, recoding.shown(shown, removed)))
        return found

    def secrets(self, linked: Linked, seeks: Sequence[str]) -> list[Paired]:
        """What is sought, as people have it and as released records show it."""
        found = []
        for name in seeks:
            recoding = Recoding.observed(name, self.originals[0], self.releases[0], self.owns[0])
            shown = recoding.shown(self.released.records)
            column = self.originals[0].columns[name]
            found.append(recoding.paired(column, linked.records, shown))
        return found


def _joined(releases: Sequence[Dataset], owns: Sequence[IntArray], on: str | None) -> Linked:
    """The released years joined to the focal release by the id; who was removed is not there."""
    records = np.sort(owns[0][owns[0] != REMOVED])
    years = []
    for release, own in zip(releases[1:], owns[1:], strict=True):
        assert on is not None  # noqa: S101  # several years are linked by an id
        of_id = {text_of(v): i for i, v in enumerate(release.columns[on].values.to_pylist())}
        ids = releases[0].columns[on]
        kept = np.zeros(release.rows, bool)
        kept[own[own != REMOVED]] = True
        row = np.full(len(of_id) + 1, REMOVED, np.int64)
        row[release.columns[on].codes[kept]] = np.flatnonzero(kept)
        place = np.array([of_id.get(text_of(v), -1) for v in ids.values.to_pylist()], np.int64)
        years.append((release, row[place[ids.codes[records]]]))
    return Linked(releases[0], records, tuple(years), 0)
