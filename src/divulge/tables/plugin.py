"""The attack `tables` of a release: records, published as a table of totals."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any, ClassVar

from pydantic import BaseModel

from divulge.assessment import (
    Adversary,
    Assessment,
    AttackDefaults,
    PublicRule,
    PublishedTable,
    Sentence,
)
from divulge.assessment.sentence import format_number
from divulge.data import Dataset
from divulge.data.dictionary import as_names, find_name_problems
from divulge.tables.release_attack import (
    assess_suppression,
    list_matching_problems,
    publish_suppression,
    suppress_by_settings,
)
from divulge.tables.settings import (
    SENSITIVITY_RULES,
    TablesSettings,
    list_cell_problems,
    list_dimensions,
)
from divulge.tables.table.count_rows import build_table_of_counts, list_counted_records
from divulge.tables.table.crosstab_files import write_crosstab
from divulge.tables.table.published import Published
from divulge.tables.tables_together import (
    TablePattern,
    assess_together,
    choose_pattern,
    has_same_rules,
    see_together,
)
from divulge.work import Problem

CATALOGUE = "divulge.tables"


class TablesAttack(AttackDefaults):
    """One dataset, published as a table, attacked with what is published."""

    Settings: ClassVar[type[BaseModel]] = TablesSettings

    def problems(
        self, settings: TablesSettings, names: Mapping[str, Sequence[str]]
    ) -> Iterator[Problem]:
        """One dataset, attributes that exist, and a rule."""
        if len(names) > 1:
            yield Problem("dataset", f'names {len(names)}; attack "tables" takes one.')
        for dataset, attributes in names.items():
            subject = f'dataset "{dataset}"'
            for names_of_table in list_dimensions(settings):
                yield from find_name_problems("by", names_of_table, attributes, subject)
            for setting in ("value", "contributor"):
                attribute = getattr(settings, setting)
                yield from find_name_problems(
                    setting, [attribute] if attribute else [], attributes, subject
                )
        yield from list_cell_problems(settings)
        if not any(getattr(settings, rule) for rule in SENSITIVITY_RULES):
            yield Problem("", f"give a rule of sensitivity: {', '.join(SENSITIVITY_RULES)}.")
        yield from list_matching_problems(settings)

    def run(self, settings: TablesSettings, datasets: Sequence[Dataset]) -> Assessment:
        """Make the table, protect it as told, and audit it."""
        [dataset] = datasets
        if not settings.cells:
            return assess_together(settings, dataset)
        pattern = _choose_pattern(settings, dataset)
        return assess_suppression(settings, pattern.table, pattern.suppression, dataset.name)

    def adds_amounts(self) -> bool:
        """Cells are sums of amounts."""
        return True

    def counts_people(self, settings: TablesSettings, person: str) -> bool:
        """Those of one person are one contributor, unless others are named."""
        return settings.contributor in (None, person)

    def needed_columns(self, settings: TablesSettings) -> Collection[str]:
        """What the table is made of."""
        names = {name for names in list_dimensions(settings) for name in names}
        return names | {name for name in (settings.value, settings.contributor) if name is not None}

    def tabulated_columns(self, settings: TablesSettings) -> Collection[str]:
        """Its dimensions, and what is summed: who contributed does not change a cell."""
        names = {name for names in list_dimensions(settings) for name in names}
        return names if settings.value is None else names | {settings.value}

    def tabulated_records(
        self, settings: TablesSettings, dataset: Dataset, most: int
    ) -> Dataset | None:
        """Those that cells count, where the records of the dataset are cells."""
        if not settings.cells:
            return dataset
        by, totals = list_dimensions(settings)[0], as_names(settings.total or ())
        return list_counted_records(dataset, by, settings.value or "", totals, most)

    def reveal_table(self, settings: TablesSettings) -> TablesSettings:
        """Without a pattern, so that there is no method to know of."""
        return settings.model_copy(update={"suppress": "none", "resist_matching": False})

    def publishes_table(self) -> bool:
        """Instead of the records."""
        return True

    def publish_table(self, settings: TablesSettings, dataset: Dataset) -> PublishedTable:
        """The table with its pattern, as it is judged."""
        pattern = _choose_pattern(settings, dataset)
        dimensions = tuple(tuple(names) for names in list_dimensions(settings))
        places = [pattern.dimensions.index(names) for names in dimensions]
        published = pattern.published
        # In the order of their own tables, whatever others are protected with them.
        cells = list(dict.fromkeys(pattern.find_cells(dimensions).tolist()))
        return PublishedTable(
            subject=(dimensions, settings.value),
            suppressed=published.suppressed[cells],
            write=partial(_write_tables, published, places),
            content=published,
            files=len(dimensions),
            is_crosstab=_is_crosstab(published),
        )

    def see_tables(self, settings: TablesSettings, tables: Sequence[TablesSettings]) -> Any:
        """With all of them: cells of the same codes are the same cell."""
        return see_together(settings, tables)

    def has_same_rules(self, settings: TablesSettings, other: TablesSettings) -> bool:
        """Whether they differ in what they are of, and in whether they are protected."""
        return has_same_rules(settings, other.model_copy(update={"suppress": settings.suppress}))

    def public_rules(self, settings: TablesSettings) -> Sequence[PublicRule]:
        """Those of sensitive cells, and the levels of protection; none where they are a secret."""
        if settings.method == "secret":
            return ()
        return [
            PublicRule(
                Sentence(CATALOGUE, f"rule.{rule}"),
                Sentence(CATALOGUE, f"rule.told.{rule}", {"figures": format_figures(value)}),
            )
            for rule in (*SENSITIVITY_RULES, "width", "share")
            if (value := getattr(settings, rule))
        ]

    def seed_draws(
        self, settings: TablesSettings, derive_seed: Callable[[str], int]
    ) -> TablesSettings:
        """With the seed of the table, which is the same for every adversary who sees it."""
        if not settings.resist_matching or settings.seed is not None:
            return settings
        subject = f"{list_dimensions(settings)}, {settings.value or 'count'}"
        return settings.model_copy(update={"seed": derive_seed(subject)})

    def protect_table(self, settings: TablesSettings) -> TablesSettings:
        """With the pattern of least cost that protects it."""
        return settings.model_copy(update={"suppress": "optimal"})

    def advice(self, adversary: Adversary) -> Sentence:
        """A pattern."""
        return Sentence("divulge.protection", "advice.table", {"adversary": adversary.name})


def format_figures(parameters: float | Sequence[float]) -> str:
    """The parameters of a rule as people write them.

    >>> format_figures(10), format_figures((2, 80.0))
    ('10', '2, 80')
    """
    figures = [parameters] if isinstance(parameters, int | float) else parameters
    return ", ".join(map(format_number, figures))


def _choose_pattern(settings: TablesSettings, dataset: Dataset) -> TablePattern:
    """The tables with what is withheld of them, and of those that are protected with them."""
    if not settings.cells:
        return choose_pattern(settings, dataset)
    table = build_table_of_counts(
        dataset,
        list_dimensions(settings)[0],
        settings.value or "",
        as_names(settings.total or ()),
    )
    suppression = suppress_by_settings(settings, table)
    published = publish_suppression(settings, table, suppression)
    return TablePattern(
        settings=settings, table=table, suppression=suppression, published=published
    )


def _is_crosstab(published: Published) -> bool:
    """Whether it is one table of two dimensions."""
    grids = published.structure.grids
    return len(grids) == 1 and len(grids[0]) == 2


def _write_tables(
    published: Published, places: Sequence[int], path: Path, guard_formulas: bool
) -> None:
    """A table of two dimensions as a crosstab, any other with a row for each cell.

    `places` are those of the tables among the linked ones. Several become name-1, name-2: the
    first is the file that was asked for.
    """
    for number, table in enumerate(places):
        target = path if number == 0 else path.with_stem(f"{path.stem}-{number + 1}")
        if _is_crosstab(published):
            write_crosstab(published, target, guard_formulas=guard_formulas)
        else:
            published.write(target, table, guard_formulas=guard_formulas)


def draft_reader(
    dataset: str, by: Sequence[str], value: str, totals: Sequence[str], min_frequency: int
) -> dict[str, Any]:
    """The entry in a release file of somebody who reads a table of counts, given cell by cell.

    >>> draft_reader("pupils", ["area", "sex"], "n", ["", ""], 3)["cells"]
    True
    """
    settings: dict[str, Any] = {
        "attack": "tables",
        "dataset": dataset,
        "by": list(by),
        "value": value,
        "cells": True,
    }
    if any(totals):
        settings["total"] = totals[0] if len(set(totals)) == 1 else list(totals)
    return settings | {
        "min_frequency": min_frequency,
        "width": min_frequency,
        "resist_matching": True,
    }
