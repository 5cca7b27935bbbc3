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

from divulge.classes.hidden_chances import weigh_shown_codes
from divulge.data import Column, Dataset, Hierarchy
from divulge.data.column import find_hidden_cells
from divulge.data.value_texts import format_value
from divulge.work import Problems, format_quantity
from divulge.work.arrays import Ints

REMOVED = -1


@dataclass(frozen=True, kw_only=True)
class AttributePair:
    """One attribute, as people have it (`known_codes`) and as the release has it (`shown_codes`).

    The value with code c of people may be shown as `flat[starts[c]:starts[c + 1]]`, and `share`
    weighs these ways: by the part that their value has in all that is shown so, and 1 for the way
    that tells most. `hidden_code` is the code of a cell that may be anything.
    """

    known_codes: Ints
    shown_codes: Ints
    cardinality: int
    hidden_code: int
    starts: Ints
    flat: Ints
    share: npt.NDArray[np.float64]
    unplaced: int

    @classmethod
    def from_presence(
        cls, known: npt.NDArray[np.bool_], shown: npt.NDArray[np.bool_], removed: bool
    ) -> AttributePair:
        """Who is there in a year; where records were removed, who is not shown may be there."""
        ways = np.arange(2, dtype=np.int64)
        shown_code = np.where(shown, 1, 2 if removed else 0)
        return cls(
            known_codes=known.astype(np.int64),
            shown_codes=shown_code,
            cardinality=3,
            hidden_code=2,
            starts=np.arange(3),
            flat=ways,
            share=np.ones(2),
            unplaced=0,
        )

    @property
    def is_ambiguous(self) -> bool:
        """Whether somebody's value may be shown in several ways."""
        return bool(np.any(np.diff(self.starts) > 1))


@dataclass(frozen=True, kw_only=True)
class Recoding:
    """What became of the values of one attribute, as the records of original and release show."""

    released_codes: Mapping[str, frozenset[int]]
    released_column: Column
    hierarchy: Hierarchy | None
    is_hidden: npt.NDArray[np.bool_]
    """Which released records hide the attribute; where it is missing in others, it was absent."""
    occurrences: Mapping[str, int]

    @classmethod
    def from_records(
        cls, name: str, original: Dataset, release: Dataset, own: npt.NDArray[Any]
    ) -> Recoding:
        """From the records that both have; `own` is the released record of each original one."""
        before, after = original.columns[name], release.columns[name]
        kept_records = np.flatnonzero(own != REMOVED)
        codes, shown_codes = (
            before.codes[kept_records].astype(np.int64),
            after.codes[own[kept_records]].astype(np.int64),
        )
        is_missing = after.codes == after.missing_code
        was_shown = np.zeros(len(after.codes), np.bool_)
        was_shown[own[kept_records]] = codes != before.missing_code
        hidden_in_release = find_hidden_cells(after) | (is_missing & was_shown)
        is_hidden = hidden_in_release[own[kept_records]]
        size = len(after.values) + 1
        pairs = np.unique(codes[~is_hidden] * size + shown_codes[~is_hidden])
        texts = [format_value(value) for value in before.values.to_pylist()]
        became: dict[str, set[int]] = {}
        for pair in pairs.tolist():
            if pair // size < len(texts):
                became.setdefault(texts[pair // size], set()).add(pair % size)
        counts = np.bincount(before.codes, minlength=len(texts) + 1)
        hierarchy = original.dictionary[name].hierarchy or release.dictionary[name].hierarchy
        return cls(
            released_codes={text: frozenset(codes) for text, codes in became.items()},
            released_column=after,
            hierarchy=hierarchy,
            is_hidden=hidden_in_release,
            occurrences={text: int(count) for text, count in zip(texts, counts, strict=False)},
        )

    @property
    def visible_missing_code(self) -> int:
        """The code of a missing value that is known to have been missing before."""
        return len(self.released_column.values) + 2

    @property
    def absent_code(self) -> int:
        """The code of those who are not in this year's release."""
        return len(self.released_column.values) + 1

    def encode_shown(self, places: npt.NDArray[Any], removed: bool = False) -> Ints:
        """What the released records show; the place -1 is absence, or a record was removed."""
        codes = self.released_column.codes.astype(np.int64)
        is_absent = (codes == self.released_column.missing_code) & ~self.is_hidden
        codes[is_absent] = self.visible_missing_code
        absence_code = self.released_column.missing_code if removed else self.absent_code
        return np.asarray(np.append(codes, absence_code)[places], np.int64)

    def pair_column(self, people: Column, places: npt.NDArray[Any], shown: Ints) -> AttributePair:
        """Put what people have beside what records show."""
        values = people.values.to_pylist()
        ways = self._list_shown_codes(values)
        unplaced = [
            code
            for code, way in enumerate(ways)
            if not way and self._is_coarser and not self._is_in_hierarchy(values[code])
        ]
        ways.append([self.visible_missing_code])
        ways.append([self.absent_code])
        known_codes = np.append(people.codes.astype(np.int64), len(values) + 1)[places]
        flat = np.array([code for way in ways for code in way], np.int64)
        starts = np.cumsum([0, *map(len, ways)], dtype=np.int64)
        occurrences = [*(self.occurrences.get(format_value(v), 0) for v in values), 0, 0]
        cardinality = len(self.released_column.values) + 3
        return AttributePair(
            known_codes=known_codes,
            shown_codes=shown,
            cardinality=cardinality,
            hidden_code=self.released_column.missing_code,
            starts=starts,
            flat=flat,
            share=weigh_shown_codes(starts, flat, occurrences, cardinality),
            unplaced=int(np.isin(known_codes, unplaced).sum()),
        )

    @cached_property
    def _is_coarser(self) -> bool:
        """Whether some value was released as another."""
        texts = [format_value(value) for value in self.released_column.values.to_pylist()]
        return any(
            any(texts[code] != text for code in codes)
            for text, codes in self.released_codes.items()
        )

    def _is_in_hierarchy(self, value: Any) -> bool:
        """Whether a hierarchy tells what a value may become."""
        return self.hierarchy is not None and not self.hierarchy.lacks([value])

    def _list_shown_codes(self, values: Sequence[Any]) -> list[list[int]]:
        place = {
            format_value(value): code
            for code, value in enumerate(self.released_column.values.to_pylist())
        }
        ways: list[list[int]] = []
        for value in values:
            names = [format_value(value)]
            if self.hierarchy is not None and self._is_in_hierarchy(value):
                names += [format_value(self.hierarchy.at(value, level))
                          for level in range(1, self.hierarchy.height + 1)]  # fmt: skip
            codes = {place[name] for name in names if name in place}
            ways.append(sorted(codes | self.released_codes.get(names[0], frozenset())))
        return self._fill_between_neighbours(values, ways)

    def _fill_between_neighbours(
        self, values: Sequence[Any], ways: list[list[int]]
    ) -> list[list[int]]:
        """A number between two that became one value is of that value too."""
        numbers = values and not isinstance(values[0], (str, bool))
        if not (numbers and self._is_coarser):
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


def _is_all_missing(dataset: Dataset, names: Sequence[str]) -> npt.NDArray[np.bool_]:
    """Which records have none of these values."""
    empty = np.ones(dataset.rows, bool)
    for name in names:
        column = dataset.columns[name]
        empty &= column.codes == column.missing_code if column.has_missing else False
    return empty


def match_own_records(original: Dataset, release: Dataset, on: str | None) -> Ints:
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
        own = _match_by_id(problems, original, release, on)
    shared = [name for name in release.names if name != on]
    # Who showed nothing before was not removed for showing nothing now.
    had_values = ~_is_all_missing(original, [name for name in shared if name in original.names])
    own[(own != REMOVED) & _is_all_missing(release, shared)[own] & had_values] = REMOVED
    if not np.any(own != REMOVED):
        problems.add("release", "shows nothing: every record is removed.")
        problems.raise_any()
    return own


def _match_by_id(problems: Problems, original: Dataset, release: Dataset, on: str) -> Ints:
    for dataset in (original, release):
        if on not in dataset.names:
            message = f'dataset "{dataset.name}" has no attribute "{on}".'
            problems.add("on", message, on, dataset.names)
            problems.raise_any()
        column = dataset.columns[on]
        if column.has_missing:
            problems.add("on", f'"{on}" is missing in some records of dataset "{dataset.name}".')
    problems.raise_any()
    texts = [format_value(value) for value in original.columns[on].values.to_pylist()]
    place = {text: code for code, text in enumerate(texts)}
    ids = release.columns[on]
    original_codes = np.array(
        [place.get(format_value(v), REMOVED) for v in ids.values.to_pylist()], np.int64
    )
    extra = int(np.count_nonzero(original_codes[ids.codes] == REMOVED))
    if extra:
        records = format_quantity(extra, "record has", "records have")
        problems.add("release", f'{records} an "{on}" that the original does not have.')
    if release.rows > len(ids.values) or original.rows > len(texts):
        problems.add("on", f'"{on}" does not distinguish records: some values occur twice.')
    problems.raise_any()
    of_id = np.full(len(texts), REMOVED, np.int64)
    of_id[original_codes[ids.codes]] = np.arange(release.rows)
    return of_id[original.columns[on].codes.astype(np.int64)]
