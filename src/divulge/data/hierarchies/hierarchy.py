"""Hierarchies: how the values of an attribute become coarser, level by level.

Level 0 is the value itself; each level above is coarser, and two values that are one at some
level stay one above it. Recoding, tables with margins, reconstruction from totals and event
histories all climb the same type.

A hierarchy is either a table (from a file of levels or from pairs) or a rule (intervals, rounding,
caps, dates, prefixes) that knows where any value goes. `over` turns a rule into a table of the
values at hand.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from divulge.data.column import Column, replace_values
from divulge.data.hierarchies import files, numbers, rules, tables
from divulge.data.hierarchies.files import LEAD, HierarchyFormat
from divulge.data.hierarchies.tables import Ancestors, Node
from divulge.data.value_texts import format_value
from divulge.work import DivulgeError, InvalidInput, Problem, Problems, usable_path

if TYPE_CHECKING:
    import pyarrow as pa


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
    renamed: Mapping[Node, str] = field(default_factory=dict)
    """By level and label, the names of labels that stood for other values at a level below."""

    @classmethod
    def from_levels(cls, rows: Iterable[Sequence[str]], subject: str = "hierarchy") -> Hierarchy:
        """From rows of levels: the value first, then ever coarser ones.

        A label that stands for other values at a level below gets a name of its own (`renamed`).

        >>> Hierarchy.from_levels([["25", "20-29", "*"], ["31", "30-39", "*"]]).at(25, 1)
        '20-29'
        >>> marital = Hierarchy.from_levels([["7", "8"], ["8", "8"]])
        >>> marital.at(7, 1), marital.renamed
        ('8 (level 1)', {(1, '8'): '8 (level 1)'})
        """
        table = tables.build_table_from_rows(rows, Problems(subject))
        return cls._from_table(*tables.name_nodes_apart(table))

    @classmethod
    def from_file(
        cls,
        path: Path | str,
        separator: str | None = None,
        format: HierarchyFormat | None = None,  # noqa: A002  # as others call it
        *,
        lead: str = LEAD,
        total: str | None = None,
    ) -> Hierarchy:
        """From a file of levels, as ARX has them, or a code list of tau-ARGUS.

        Args:
            path: the file. Of levels: text without header, `value;coarser;coarser`, one value a
                line. Of tau-ARGUS (`.hrc`): one code a line, indented by a leading string.
            separator: of levels; found out if not given.
            format: `arx` or `argus`; by the ending of the name if not given.
            lead: the leading string of tau-ARGUS.
            total: what stands above all codes of tau-ARGUS, which does not write it; nothing does
                if not given.
        """
        place = usable_path(path)
        if files.find_hierarchy_format(place, format) == "argus":
            return cls._from_table(files.read_indented_codes(place, lead, total))
        if total is not None:
            message = "goes with a code list of tau-ARGUS (.hrc); a file of levels has them all."
            raise InvalidInput(str(path), [Problem("total", message)])
        return cls.from_levels(files.read_level_rows(place, separator), str(path))

    @classmethod
    def from_settings(cls, settings: Mapping[str, Any], subject: str = "hierarchy") -> Hierarchy:
        """From what a release file says: a rule, pairs, or rows of levels; see `as_settings`.

        >>> Hierarchy.from_settings({"rounding": [5, 10], "top": 90}).at(93, 2)
        '>= 90'
        """
        allowed = ("intervals", "rounding", "bottom", "top", "dates", "prefixes", "pairs", "levels")
        problems = Problems(subject)
        for name in settings:
            if name not in allowed:
                problems.add("", f'"{name}" is not a rule.', value=name, allowed=allowed)
        problems.raise_any()
        kinds = [name for name in settings if name not in ("bottom", "top")]
        caps = {name: settings[name] for name in ("bottom", "top") if name in settings}
        if len(kinds) > 1 or not settings:
            names = "intervals, rounding, dates, prefixes, pairs, levels"
            raise DivulgeError(f"give one of {names}; bottom and top go with the first two.")
        if not kinds:
            return cls.capped(**caps)
        [kind] = kinds
        content = settings[kind]
        if kind == "levels":
            hierarchy = cls.from_levels(content, subject)
        elif kind == "pairs":
            hierarchy = cls.from_pairs(content, subject)
        else:
            hierarchy = getattr(cls, kind)(*content)
        return hierarchy.with_caps(**caps) if caps else hierarchy

    @classmethod
    def from_pairs(cls, pairs: Iterable[tuple[str, str]], subject: str = "hierarchy") -> Hierarchy:
        """From pairs (value, what it is one of); chains may be of different lengths."""
        return cls._from_table(tables.build_table_from_pairs(pairs, Problems(subject)))

    @classmethod
    def intervals(cls, *levels: Sequence[float]) -> Hierarchy:
        """Numbers in intervals between edges, finest level first; no edges at the top: all are one.

        >>> ages = Hierarchy.intervals([18, 30, 45, 65], [18, 65], [])
        >>> ages.at(25, 1), ages.at(25, 2), ages.at(25, 3), ages.at(70, 1)
        ('[18, 30)', '[18, 65)', '*', '>= 65')
        """
        return cls._from_number_rule({"intervals": [list(edges) for edges in levels]})

    @classmethod
    def rounding(cls, *bases: float) -> Hierarchy:
        """Numbers rounded down to multiples of a base, finest first, each a multiple of the last.

        What is rounded is written as what it stands for.

        >>> incomes = Hierarchy.rounding(1000, 10000)
        >>> incomes.at(23456, 1), incomes.at(23456, 2), Hierarchy.rounding(0.1).at(0.3, 1)
        ('[23000, 24000)', '[20000, 30000)', '[0.3, 0.4)')
        """
        return cls._from_number_rule({"rounding": list(bases)})

    @classmethod
    def capped(
        cls,
        bottom: float | Sequence[float] | None = None,
        top: float | Sequence[float] | None = None,
    ) -> Hierarchy:
        """Top and bottom coding: numbers beyond an edge are one; several edges are levels.

        >>> ages = Hierarchy.capped(bottom=18, top=[95, 90])
        >>> [ages.at(age, 1) for age in (3, 40, 92, 99)], ages.at(92, 2)
        (['<= 18', '40', '92', '>= 95'], '>= 90')
        """
        return cls._from_number_rule(_gather_caps(bottom, top))

    def with_caps(
        self,
        bottom: float | Sequence[float] | None = None,
        top: float | Sequence[float] | None = None,
    ) -> Hierarchy:
        """Intervals or rounding after top and bottom coding, which are the first levels then.

        >>> ages = Hierarchy.rounding(5, 20).with_caps(bottom=18, top=90)
        >>> [ages.at(19, level) for level in range(4)], ages.at(99, 2), ages.at(85, 3)
        ([19, '19', '(18, 20)', '(18, 20)'], '>= 90', '[80, 90)')
        """
        if self.rule is None or not {"intervals", "rounding"} & set(self.rule):
            raise DivulgeError("top and bottom coding go with intervals and rounding")
        if "bottom" in self.rule or "top" in self.rule:
            raise DivulgeError("the hierarchy has top and bottom coding already")
        return Hierarchy._from_number_rule({**self.rule, **_gather_caps(bottom, top)})

    @classmethod
    def dates(cls, *levels: str) -> Hierarchy:
        """Dates and times by hour, day, week, month, quarter, year, decade.

        >>> Hierarchy.dates("month", "year").at("2010-12-01", 1)
        '2010-12'
        """
        return cls(len(levels), rules.make_date_rule(levels), rule={"dates": list(levels)})

    @classmethod
    def prefixes(cls, *lengths: int) -> Hierarchy:
        """Codes by their first characters, longest prefix first.

        >>> Hierarchy.prefixes(4, 2).at("52083900", 1)
        '5208*'
        """
        return cls(
            len(lengths),
            rules.make_prefix_rule(lengths),
            rule={"prefixes": list(lengths)},
        )

    @classmethod
    def _from_number_rule(cls, rule: Mapping[str, Any]) -> Hierarchy:
        intervals, rounding = rule.get("intervals", ()), rule.get("rounding", ())
        if "intervals" in rule:
            numbers.check_intervals(intervals)
        if "rounding" in rule:
            numbers.check_rounding(rounding)
        caps = []
        if "bottom" in rule or "top" in rule or not (intervals or rounding):
            edges = [_as_list(rule.get(name)) for name in ("bottom", "top")]
            caps = numbers.check_caps(*edges)
        find_ancestors = numbers.make_number_rule(caps=caps, intervals=intervals, rounding=rounding)
        return cls(len(caps) + len(intervals) + len(rounding), find_ancestors, rule=rule)

    @classmethod
    def _from_table(
        cls, table: Mapping[str, Ancestors], renamed: Mapping[Node, str] | None = None
    ) -> Hierarchy:
        height = max((len(ancestors) for ancestors in table.values()), default=0)
        return cls(
            height,
            lambda value: table.get(format_value(value)),
            table,
            renamed=renamed or {},
        )

    def with_given_labels(self) -> Hierarchy:
        """The same with labels as they were given, though one may stand for other values below.

        >>> Hierarchy.from_levels([["7", "8"], ["8", "8"]]).with_given_labels().at(7, 1)
        '8'
        """
        given = {(level, name): label for (level, label), name in self.renamed.items()}
        if not given or self.table is None:
            return self
        return Hierarchy._from_table(
            {
                leaf: tuple(given.get((at, label), label) for at, label in enumerate(ancestors, 1))
                for leaf, ancestors in self.table.items()
            }
        )

    def at(self, value: Any, level: int) -> Any:
        """What a value becomes at a level; the value itself at level 0."""
        self._check_level(level)
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

    def write(
        self,
        path: Path | str,
        format: HierarchyFormat | None = None,  # noqa: A002  # as others call it
        *,
        separator: str = ";",
        lead: str = LEAD,
        overwrite: bool = False,
    ) -> None:
        """Write a table as a file that ARX or tau-ARGUS reads, and `from_file` too.

        In a code list of tau-ARGUS, one top of all values is the total, and is not written.

        Args:
            path: the file.
            format: `arx` or `argus`; by the ending of the name (`.hrc`) if not given.
            separator: of levels.
            lead: the leading string of tau-ARGUS.
            overwrite: whether a file that exists may be replaced.
        """
        if self.table is None:
            raise DivulgeError("a rule has no list of values: write `over(values)`, a table")
        place = usable_path(path)
        if files.find_hierarchy_format(place, format) == "argus":
            files.write_indented_codes(self.table, place, lead, overwrite)
        else:
            files.write_level_rows(self.table, place, separator, overwrite)

    def lacks(self, values: Iterable[Any]) -> list[Any]:
        """The values that have no place in the hierarchy."""
        return [value for value in values if self._find_ancestors(value) is None]

    def over(self, values: Iterable[Any]) -> Hierarchy:
        """The same hierarchy as a table of just these values."""
        ancestors_by_value = {format_value(value): self._find_ancestors(value) for value in values}
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
        self._check_level(level)
        ladders = [self._find_ancestors(value) for value in column.values.to_pylist()]
        texts = [ladder[level - 1] for ladder in ladders if ladder is not None]
        lacking = len(ladders) - len(texts)
        if lacking:
            raise DivulgeError(
                f"the hierarchy lacks {lacking:,} of {len(ladders):,} values; add them to it"
            )
        return replace_values(column, _to_string_array(texts))

    def _check_level(self, level: int) -> None:
        if not 0 <= level <= self.height:
            raise DivulgeError(f"level {level} does not exist: levels are 0 to {self.height}")


def _to_string_array(texts: list[str]) -> pa.Array:
    import pyarrow as pa

    return pa.array(texts, pa.string())


def _gather_caps(bottom: Any, top: Any) -> dict[str, Any]:
    return {name: edge for name, edge in (("bottom", bottom), ("top", top)) if edge is not None}


def _as_list(edges: Any) -> list[float]:
    if edges is None:
        return []
    return list(edges) if isinstance(edges, Sequence) else [edges]
