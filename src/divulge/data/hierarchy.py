"""Hierarchies: how the values of an attribute become coarser, level by level.

Level 0 is the value itself; each level above is coarser, and two values that are one at some
level stay one above it. Recoding, tables with margins, reconstruction from totals and event
histories all climb the same type.

A hierarchy is either a table (from a file of levels or from pairs) or a rule (intervals, dates,
prefixes) that knows where any value goes. `over` turns a rule into a table of the values at hand.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from divulge.data import hierarchy_rules
from divulge.data.column import Column, replace_values
from divulge.work import DivulgeError, Problems, usable_path

if TYPE_CHECKING:
    import pyarrow as pa

Ancestors = tuple[str, ...]
"""What a value becomes at levels 1, 2, ... of its hierarchy."""


@dataclass(frozen=True)
class Hierarchy:
    """The levels of one attribute, from its values to the coarsest.

    >>> area = Hierarchy.from_pairs([("Roma", "Center"), ("Milano", "North")])
    >>> area.at("Roma", 1), area.height, area.leaves(1)
    ('Center', 1, {'Center': ['Roma'], 'North': ['Milano']})
    """

    height: int
    _find_ancestors: Callable[[Any], Ancestors | None]
    table: Mapping[str, Ancestors] | None = None
    rule: Mapping[str, Any] | None = None

    @classmethod
    def from_levels(cls, rows: Iterable[Sequence[str]], subject: str = "hierarchy") -> Hierarchy:
        """From rows of levels: the value first, then ever coarser ones.

        >>> Hierarchy.from_levels([["25", "20-29", "*"], ["31", "30-39", "*"]]).at(25, 1)
        '20-29'
        """
        table = hierarchy_rules.build_table_from_rows(rows, Problems(subject))
        return cls._from_table(table)

    @classmethod
    def from_file(cls, path: Path | str, separator: str = ";") -> Hierarchy:
        """From a text file without header: `value;coarser;coarser`, one value a line."""
        return cls.from_levels(
            hierarchy_rules.read_level_rows(usable_path(path), separator), str(path)
        )

    @classmethod
    def from_pairs(cls, pairs: Iterable[tuple[str, str]], subject: str = "hierarchy") -> Hierarchy:
        """From pairs (value, what it is one of); chains may be of different lengths."""
        return cls._from_table(hierarchy_rules.build_table_from_pairs(pairs, Problems(subject)))

    @classmethod
    def intervals(cls, *levels: Sequence[float]) -> Hierarchy:
        """Numbers in intervals between edges, finest level first.

        >>> ages = Hierarchy.intervals([18, 30, 45, 65], [18, 65])
        >>> ages.at(25, 1), ages.at(25, 2), ages.at(70, 1)
        ('[18, 30)', '[18, 65)', '>= 65')
        """
        rule = {"intervals": [list(edges) for edges in levels]}
        return cls(len(levels), hierarchy_rules.make_interval_rule(levels), rule=rule)

    @classmethod
    def dates(cls, *levels: str) -> Hierarchy:
        """Dates and times by hour, day, week, month, quarter, year, decade.

        >>> Hierarchy.dates("month", "year").at("2010-12-01", 1)
        '2010-12'
        """
        return cls(
            len(levels), hierarchy_rules.make_date_rule(levels), rule={"dates": list(levels)}
        )

    @classmethod
    def prefixes(cls, *lengths: int) -> Hierarchy:
        """Codes by their first characters, longest prefix first.

        >>> Hierarchy.prefixes(4, 2).at("52083900", 1)
        '5208*'
        """
        return cls(
            len(lengths),
            hierarchy_rules.make_prefix_rule(lengths),
            rule={"prefixes": list(lengths)},
        )

    @classmethod
    def _from_table(cls, table: Mapping[str, Ancestors]) -> Hierarchy:
        height = max((len(ancestors) for ancestors in table.values()), default=0)
        return cls(height, lambda value: table.get(hierarchy_rules.format_value(value)), table)

    def at(self, value: Any, level: int) -> Any:
        """What a value becomes at a level; the value itself at level 0."""
        if not 0 <= level <= self.height:
            raise DivulgeError(f"level {level} does not exist: levels are 0 to {self.height}")
        if level == 0:
            return value
        ancestors = self._find_ancestors(value)
        if ancestors is None:
            raise DivulgeError("the hierarchy lacks a value of the data; `lacks` lists them")
        return ancestors[level - 1]

    def as_settings(self) -> Mapping[str, Any]:
        """The hierarchy as a release file writes it: its rule, or the rows of its levels.

        >>> Hierarchy.prefixes(4, 2).as_settings()
        {'prefixes': [4, 2]}
        """
        if self.rule is not None:
            return self.rule
        return {"levels": [[value, *ancestors] for value, ancestors in (self.table or {}).items()]}

    def lacks(self, values: Iterable[Any]) -> list[Any]:
        """The values that have no place in the hierarchy."""
        return [value for value in values if self._find_ancestors(value) is None]

    def over(self, values: Iterable[Any]) -> Hierarchy:
        """The same hierarchy as a table of just these values."""
        ancestors_by_value = {
            hierarchy_rules.format_value(value): self._find_ancestors(value) for value in values
        }
        return Hierarchy._from_table(
            {v: ancestors for v, ancestors in ancestors_by_value.items() if ancestors}
        )

    def leaves(self, level: int) -> dict[str, list[str]]:
        """The values under each coarser value of a level (of a table; see `over`)."""
        if self.table is None:
            raise DivulgeError("a rule has no list of values: ask `over(values)` for a table")
        under: dict[str, list[str]] = {}
        for value in self.table:
            under.setdefault(self.at(value, level), []).append(value)
        return under

    def coarsen(self, column: Column, level: int) -> Column:
        """A column with every value at a level of the hierarchy.

        >>> import pyarrow as pa
        >>> from divulge.data.column import encode_array
        >>> towns = encode_array(pa.array(["Roma", None, "Milano"]))
        >>> area = Hierarchy.from_pairs([("Roma", "Center"), ("Milano", "North")])
        >>> area.coarsen(towns, 1).to_arrow().to_pylist()
        ['Center', None, 'North']
        """
        if level == 0:
            return column
        values = column.values.to_pylist()
        lacking = self.lacks(values)
        if lacking:
            raise DivulgeError(f"the hierarchy lacks {len(lacking)} of {len(values)} values")
        return replace_values(column, _to_string_array([self.at(value, level) for value in values]))


def _to_string_array(texts: list[str]) -> pa.Array:
    import pyarrow as pa

    return pa.array(texts, pa.string())
