"""Values before and after protection: what each value that people have may stand as in the release.

A value may stand in the release as itself, as what is above it in the attribute's hierarchy, as
what the records of the original show that it became, or it may be hidden. Absence from a year is a
value and stands as itself; where records of a year were removed, who is not shown in it may be
anybody. A value of which nothing of this is known, in an attribute that was made
coarser, is `unplaced`: it is taken to be hidden wherever it occurs, and that is said.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from divulge.data import Column, Dataset, Hierarchy
from divulge.data.ladders import text_of
from divulge.engines import IntArray
from divulge.work import Problems

REMOVED = -1


@dataclass(frozen=True)
class Paired:
    """One attribute, as people have it (`known`) and as released records show it (`shown`).

    The value with code c of people may be shown as `flat[starts[c]:starts[c + 1]]`, and `share`
    weighs these ways: by the part that their value has in all that is shown so, and 1 for the way
    that tells most. `hidden` is the code of a cell that may be anything.
    """

    known: IntArray
    shown: IntArray
    cardinality: int
    hidden: int
    starts: IntArray
    flat: IntArray
    share: npt.NDArray[np.float64]
    unplaced: int

    @classmethod
    def of_presence(
        cls, known: npt.NDArray[np.bool_], shown: npt.NDArray[np.bool_], removed: bool
    ) -> Paired:
        """Who is there in a year; where records were removed, who is not shown may be there."""
        ways = np.arange(2, dtype=np.int64)
        seen = np.where(shown, 1, 2 if removed else 0)
        return cls(known.astype(np.int64), seen, 3, 2, np.arange(3), ways, np.ones(2), 0)

    @property
    def mixed(self) -> bool:
        """Whether somebody's value may be shown in several ways."""
        return bool(np.any(np.diff(self.starts) > 1))


@dataclass(frozen=True)
class Recoding:
    """What became of the values of one attribute, as the records of original and release show."""

    became: Mapping[str, frozenset[int]]
    after: Column
    hierarchy: Hierarchy | None
    hides: bool
    occurrences: Mapping[str, int]

    @classmethod
    def observed(
        cls, name: str, original: Dataset, release: Dataset, own: npt.NDArray[Any]
    ) -> Recoding:
        """From the records that both have; `own` is the released record of each original one."""
        before, after = original.columns[name], release.columns[name]
        kept = np.flatnonzero(own != REMOVED)
        codes, now = before.codes[kept].astype(np.int64), after.codes[own[kept]].astype(np.int64)
        gone = now == after.missing_code
        # A missing value that was always missing tells that it is; but where others were hidden,
        # nobody can tell the one from the other.
        hides = bool(np.any(gone & (codes != before.missing_code)))
        size = len(after.values) + 1
        pairs = np.unique(codes[~gone] * size + now[~gone])
        texts = [text_of(value) for value in before.values.to_pylist()]
        became: dict[str, set[int]] = {}
        for pair in pairs.tolist():
            if pair // size < len(texts):
                became.setdefault(texts[pair // size], set()).add(pair % size)
        counts = np.bincount(before.codes, minlength=len(texts) + 1)
        hierarchy = original.dictionary[name].hierarchy or release.dictionary[name].hierarchy
        return cls(
            {text: frozenset(codes) for text, codes in became.items()},
            after,
            hierarchy,
            hides,
            {text: int(count) for text, count in zip(texts, counts, strict=False)},
        )

    @property
    def missing_is_shown(self) -> int:
        """The code of a missing value that is known to have been missing before."""
        return len(self.after.values) + 2

    @property
    def absent(self) -> int:
        """The code of those who are not in this year's release."""
        return len(self.after.values) + 1

    def shown(self, places: npt.NDArray[Any], removed: bool = False) -> IntArray:
        """What the released records show; the place -1 is absence, or a record was removed."""
        codes = self.after.codes.astype(np.int64)
        if not self.hides:
            codes = np.where(codes == self.after.missing_code, self.missing_is_shown, codes)
        gone = self.after.missing_code if removed else self.absent
        return np.asarray(np.append(codes, gone)[places], np.int64)

    def paired(self, people: Column, places: npt.NDArray[Any], shown: IntArray) -> Paired:
        """Put what people have beside what records show."""
        values = people.values.to_pylist()
        ways = self._ways(values)
        unplaced = [
            code
            for code, way in enumerate(ways)
            if not way and self._coarser and not self._climbs(values[code])
        ]
        ways.append([] if self.hides else [self.missing_is_shown])
        ways.append([self.absent])
        known = np.append(people.codes.astype(np.int64), len(values) + 1)[places]
        flat = np.array([code for way in ways for code in way], np.int64)
        starts = np.cumsum([0, *map(len, ways)], dtype=np.int64)
        weight = np.array([*(self.occurrences.get(text_of(v), 0) for v in values), 0, 0], float)
        of_way = np.maximum(weight, 1.0)[np.repeat(np.arange(len(ways)), np.diff(starts))]
        cardinality = len(self.after.values) + 3
        share = of_way / np.bincount(flat, of_way, cardinality)[flat]
        of_code = np.repeat(np.arange(len(ways)), np.diff(starts))
        most = np.zeros(len(ways))
        np.maximum.at(most, of_code, share)
        return Paired(
            known, shown, cardinality, self.after.missing_code, starts, flat,
            share / most[of_code], int(np.isin(known, unplaced).sum()),
        )  # fmt: skip

    @cached_property
    def _coarser(self) -> bool:
        """Whether some value was released as another."""
        texts = [text_of(value) for value in self.after.values.to_pylist()]
        return any(
            any(texts[code] != text for code in codes) for text, codes in self.became.items()
        )

    def _climbs(self, value: Any) -> bool:
        """Whether a hierarchy tells what a value may become."""
        return self.hierarchy is not None and not self.hierarchy.lacks([value])

    def _ways(self, values: Sequence[Any]) -> list[list[int]]:
        place = {text_of(value): code for code, value in enumerate(self.after.values.to_pylist())}
        ways: list[list[int]] = []
        for value in values:
            names = [text_of(value)]
            if self.hierarchy is not None and self._climbs(value):
                names += [text_of(self.hierarchy.at(value, level))
                          for level in range(1, self.hierarchy.height + 1)]  # fmt: skip
            codes = {place[name] for name in names if name in place}
            ways.append(sorted(codes | self.became.get(names[0], frozenset())))
        return self._bridged(values, ways)

    def _bridged(self, values: Sequence[Any], ways: list[list[int]]) -> list[list[int]]:
        """A number between two that became one value is of that value too."""
        numbers = values and not isinstance(values[0], (str, bool))
        if not (numbers and self._coarser):
            return ways
        placed = [code for code, way in enumerate(ways) if way]
        for code, way in enumerate(ways):
            if way:
                continue
            below = max((p for p in placed if p < code), default=None)
            above = min((p for p in placed if p > code), default=None)
            if below is not None and above is not None:
                ways[code] = sorted(set(ways[below]) & set(ways[above]))
        return ways


def _shows_nothing(dataset: Dataset, names: Sequence[str]) -> npt.NDArray[np.bool_]:
    """Which records have none of these values."""
    empty = np.ones(dataset.rows, bool)
    for name in names:
        column = dataset.columns[name]
        empty &= column.codes == column.missing_code if column.has_missing else False
    return empty


def own_records(original: Dataset, release: Dataset, on: str | None) -> IntArray:
    """The released record of each original one; -1 where it was removed.

    Records are matched by an id that both have, or by their order. A released record that shows
    nothing at all is a removed one.
    """
    problems = Problems("attack")
    if on is None:
        if original.rows != release.rows:
            problems.add(
                "release",
                f"has {release.rows:,} records and the original {original.rows:,}; where records "
                "were removed, name in on= an id that both have (or leave a removed record in its "
                "place, with every value missing).",
            )
        problems.raise_any()
        own = np.arange(original.rows, dtype=np.int64)
    else:
        own = _by_id(problems, original, release, on)
    shared = [name for name in release.names if name != on]
    # Who showed nothing before was not removed for showing nothing now.
    spoke = ~_shows_nothing(original, [name for name in shared if name in original.names])
    own[(own != REMOVED) & _shows_nothing(release, shared)[own] & spoke] = REMOVED
    if not np.any(own != REMOVED):
        problems.add("release", "shows nothing: every record is removed.")
        problems.raise_any()
    return own


def _by_id(problems: Problems, original: Dataset, release: Dataset, on: str) -> IntArray:
    for dataset in (original, release):
        if on not in dataset.names:
            message = f'dataset "{dataset.name}" has no attribute "{on}".'
            problems.add("on", message, on, dataset.names)
            problems.raise_any()
        column = dataset.columns[on]
        if column.has_missing:
            problems.add("on", f'"{on}" is missing in some records of dataset "{dataset.name}".')
    problems.raise_any()
    texts = [text_of(value) for value in original.columns[on].values.to_pylist()]
    place = {text: code for code, text in enumerate(texts)}
    ids = release.columns[on]
    known = np.array([place.get(text_of(v), REMOVED) for v in ids.values.to_pylist()], np.int64)
    extra = int(np.count_nonzero(known[ids.codes] == REMOVED))
    if extra:
        problems.add(
            "release", f'{extra:,} records have an "{on}" that the original does not have.'
        )
    if release.rows > len(ids.values) or original.rows > len(texts):
        problems.add("on", f'"{on}" does not tell records apart: some values occur twice.')
    problems.raise_any()
    of_id = np.full(len(texts), REMOVED, np.int64)
    of_id[known[ids.codes]] = np.arange(release.rows)
    return of_id[original.columns[on].codes.astype(np.int64)]
