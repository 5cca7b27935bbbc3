"""Tables of the same records that go out together: who reads one reads all, and subtracts.

Cells of the same codes are the same cell, whatever table they stand in, so that one table may show
what another withholds. Tables that are protected by the same rules get one pattern, as linked
tables do, where each of them alone would withhold a cell that another has too. Tables by other
rules keep their own patterns, and are judged by what all of them show.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from divulge.assessment import Assessment, Sentence
from divulge.data import Dataset
from divulge.tables.feasibility.assess import CATALOGUE, assess_judgement, judge_cells
from divulge.tables.feasibility.sensitivity import find_sensitive_cells
from divulge.tables.feasibility.shared_records import is_ring
from divulge.tables.release_attack import (
    assess_suppression,
    choose_zeros,
    collect_rules,
    publish_suppression,
    state_method,
    suppress_by_settings,
)
from divulge.tables.settings import TablesSettings, list_dimensions
from divulge.tables.suppression.result import Suppression
from divulge.tables.table.linked_tables import link
from divulge.tables.table.published import Published
from divulge.tables.table.structure import Structure
from divulge.tables.table.structure import link as link_structures
from divulge.tables.table.table import Table
from divulge.work.arrays import Bools, Ints

Names = tuple[str, ...]


class TablesSeenTogether(TablesSettings):
    """What an adversary is told who reads other tables of the same records too."""

    together: tuple[TablesSettings, ...]
    """All of them, one's own at `place`."""
    place: int


@dataclass(frozen=True, eq=False, kw_only=True)
class TablePattern:
    """Tables that are protected as one, and what is withheld of them."""

    settings: TablesSettings
    table: Table
    suppression: Suppression | None
    published: Published

    @property
    def dimensions(self) -> list[Names]:
        """The attributes of each of the tables."""
        return [tuple(names) for names in list_dimensions(self.settings)]

    def find_cells(self, dimensions: Sequence[Names]) -> Ints:
        """The numbers of the cells of some of the tables, one table after the other."""
        numbers, own = self.table.structure.numbers, self.dimensions
        return np.concatenate([numbers[own.index(names)].ravel() for names in dimensions])


def see_together(settings: TablesSettings, tables: Sequence[TablesSettings]) -> TablesSettings:
    """The same adversary, who reads all these tables (their own among them)."""
    others = [each for each in tables if each.value == settings.value and not each.cells]
    if settings.cells or len(others) < 2:
        return settings
    own = settings.model_dump()
    return TablesSeenTogether(**own, together=tuple(others), place=others.index(settings))


def has_same_rules(settings: TablesSettings, other: TablesSettings) -> bool:
    """Whether two tables can be protected by one pattern."""
    return _describe_rules(settings) == _describe_rules(other)


def choose_pattern(settings: TablesSettings, dataset: Dataset) -> TablePattern:
    """The pattern of an adversary's tables, and of those that are protected with them."""
    own, _ = _choose_patterns(settings, dataset)
    return own


def assess_together(settings: TablesSettings, dataset: Dataset) -> Assessment:
    """Attack an adversary's tables with all that the tables of the release show."""
    own, others = _choose_patterns(settings, dataset)
    dimensions = [tuple(names) for names in list_dimensions(settings)]
    telling = [each for each in others if _adds_to(own, each)]
    if telling:
        assessment = _assess_by_all(settings, [own, *telling], dimensions, dataset)
    else:
        mine = None
        if own.dimensions != dimensions:
            mine = _mark(own.table.structure.size, own.find_cells(dimensions))
        assessment = assess_suppression(
            own.settings, own.table, own.suppression, dataset.name, only=mine
        )
    beside = [names for each in (own, *telling) for names in each.dimensions]
    names = dict.fromkeys(" x ".join(each) for each in beside if each not in dimensions)
    if not names:
        return assessment
    said = Sentence(CATALOGUE, "together", {"tables": list(names), "count": len(names)})
    return replace(assessment, sentences=(*assessment.sentences, said))


def _choose_patterns(
    settings: TablesSettings, dataset: Dataset
) -> tuple[TablePattern, list[TablePattern]]:
    """The pattern of one's own tables, and those of the others."""
    if not isinstance(settings, TablesSeenTogether):
        return _suppress(settings, dataset), []
    groups: dict[str, list[TablesSettings]] = {}
    for each in settings.together:
        groups.setdefault(_describe_rules(each), []).append(each)
    mine = settings.together[settings.place]
    own: list[TablePattern] = []
    others: list[TablePattern] = []
    for rules, group in groups.items():
        patterns = _choose_together(group, dataset)
        if rules == _describe_rules(mine):
            needed = {tuple(names) for names in list_dimensions(mine)}
            place = next(n for n, each in enumerate(patterns) if needed <= set(each.dimensions))
            own.append(patterns.pop(place))
        others += patterns
    return own[0], others


def _choose_together(group: Sequence[TablesSettings], dataset: Dataset) -> list[TablePattern]:
    """Each with its own pattern; or all with one, if a cell that two of them have is withheld."""
    patterns = [_suppress(each, dataset) for each in group]
    if not _share_withheld_cell(patterns):
        return patterns
    dimensions = dict.fromkeys(names for each in patterns for names in each.dimensions)
    by = [list(names) for names in dimensions]
    return [_suppress(group[0].model_copy(update={"by": by}), dataset)]


def _suppress(settings: TablesSettings, dataset: Dataset) -> TablePattern:
    table = build_tables(settings, dataset)
    suppression = suppress_by_settings(settings, table)
    published = publish_suppression(settings, table, suppression)
    return TablePattern(
        settings=settings, table=table, suppression=suppression, published=published
    )


def build_tables(settings: TablesSettings, dataset: Dataset) -> Table:
    """The table of records; several are linked, and published and attacked as one."""
    tables = [
        Table.from_records(dataset, names, settings.value, settings.contributor)
        for names in list_dimensions(settings)
    ]
    return tables[0] if len(tables) == 1 else link(*tables)


def _describe_rules(settings: TablesSettings) -> str:
    """What must be the same for tables to be protected as one: all but what they are of."""
    return TablesSettings.model_dump_json(settings, exclude={"by", "seed", "together", "place"})


def _share_withheld_cell(patterns: Sequence[TablePattern]) -> bool:
    """Whether a cell that stands in tables of two patterns is withheld in one of them.

    If none is, all that one says of the cells of another is shown there anyway.
    """
    if len(patterns) < 2:
        return False
    if is_ring([names for each in patterns for names in each.dimensions]):
        # Records that show all of them say more than the cells that they have in common.
        return any(bool(each.published.suppressed.any()) for each in patterns)
    structure, places = _link_patterns(patterns)
    times = np.zeros(structure.size, dtype=np.int64)
    is_withheld = np.zeros(structure.size, dtype=bool)
    for pattern, cells in zip(patterns, places, strict=True):
        times[np.unique(cells)] += 1
        is_withheld[cells[_find_withheld(pattern)]] = True
    return bool((is_withheld & (times > 1)).any())


def _adds_to(own: TablePattern, other: TablePattern) -> bool:
    """Whether the tables of another pattern may tell more of one's own."""
    if set(other.dimensions) <= set(own.dimensions):
        cells = own.find_cells(other.dimensions)
        return bool((own.published.suppressed[cells] != _find_withheld(other)).any())
    return _share_withheld_cell([own, other])


def _assess_by_all(
    settings: TablesSettings,
    patterns: Sequence[TablePattern],
    dimensions: Sequence[Names],
    dataset: Dataset,
) -> Assessment:
    """What all patterns together leave of the sensitive cells of one's own tables."""
    every = list(dict.fromkeys(names for each in patterns for names in each.dimensions))
    table = build_tables(
        settings.model_copy(update={"by": [list(names) for names in every]}), dataset
    )
    cells_of = dict(zip(every, table.structure.numbers, strict=True))
    is_shown = np.zeros(table.structure.size, dtype=bool)
    for pattern in patterns:
        cells = np.concatenate([cells_of[names].ravel() for names in pattern.dimensions])
        is_shown[cells[~_find_withheld(pattern)]] = True
    mine = _mark(table.structure.size, np.concatenate([cells_of[n].ravel() for n in dimensions]))
    sensitive = find_sensitive_cells(table, collect_rules(settings)) & mine
    judgement = judge_cells(
        table,
        table.publish(~is_shown),
        sensitive,
        rules=collect_rules(settings),
        width=settings.width,
        share=settings.share,
        zeros=choose_zeros(settings),
        insider=settings.insider,
    )
    is_open = bool(sensitive.any() and not is_shown.all())
    return state_method(settings, assess_judgement(table, judgement, dataset.name), is_open=is_open)


def _link_patterns(patterns: Sequence[TablePattern]) -> tuple[Structure, list[Ints]]:
    """The cells of all patterns numbered once; for each, the numbers of those of its tables."""
    grids = [
        (Structure.from_grid(axes), each.table.measure)
        for each in patterns
        for axes in each.table.structure.grids
    ]
    structure = link_structures(grids)
    numbers = iter(structure.numbers)
    places = [
        np.concatenate([next(numbers).ravel() for _ in each.table.structure.grids])
        for each in patterns
    ]
    return structure, places


def _find_withheld(pattern: TablePattern) -> Bools:
    """Which cells are withheld, table after table."""
    return pattern.published.suppressed[pattern.find_cells(pattern.dimensions)]


def _mark(size: int, cells: Ints) -> Bools:
    mask = np.zeros(size, dtype=bool)
    mask[cells] = True
    return mask
