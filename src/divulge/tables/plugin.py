"""The attack `tables` of a release: records, published as a table of totals."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any, ClassVar, Literal

from pydantic import BaseModel, ConfigDict, Field

from divulge.assessment import Adversary, Assessment, AttackDefaults, PublishedTable, Sentence
from divulge.data import Dataset
from divulge.data.dictionary import as_names, find_name_problems
from divulge.tables.release_attack import (
    assess_by_settings,
    list_matching_problems,
    publish_by_settings,
)
from divulge.tables.table.count_rows import build_table_of_counts
from divulge.tables.table.crosstab_files import write_crosstab
from divulge.tables.table.linked_tables import link
from divulge.tables.table.published import Published, Zeros
from divulge.tables.table.table import Table
from divulge.work import Problem

SENSITIVITY_RULES = ("min_frequency", "dominance", "p_percent", "pq", "request", "singletons")


class TablesSettings(BaseModel):
    """What an adversary of `attack = "tables"` may be told."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    by: str | list[str] | list[list[str]] = Field(
        description="The attributes along which the table is made; or several lists of them, for "
        "linked tables, which are published and attacked together."
    )
    value: str | None = Field(None, description="What is summed; records are counted if not given.")
    contributor: str | None = Field(
        None, description="Whose records belong together; those of a person, if none is named."
    )
    cells: bool = Field(
        False,
        description="Each record is a cell of a table of counts, and value is its count; "
        "rows of totals are left out and computed again.",
    )
    total: str | list[str] | None = Field(
        None, description="Of cells: what stands for the total; one for each attribute of by."
    )
    min_frequency: int | None = Field(None, ge=1, description="Fewer contributors are sensitive.")
    zeros_primary: bool = Field(False, description="Whether none counts as fewer.")
    dominance: tuple[int, float] | None = Field(None, description="(n, k) dominance in percent.")
    p_percent: float | None = Field(None, gt=0, description="The p% rule.")
    pq: tuple[float, float] | None = Field(None, description="The (p, q) rule.")
    request: float | None = Field(None, gt=0, le=100, description="The request rule, in percent.")
    singletons: bool = Field(False, description="Whether a single contributor is sensitive.")
    suppress: Literal["optimal", "fast", "primary", "none"] = Field(
        "optimal",
        description="How the table is protected: by a pattern, by hiding sensitive cells only, "
        "or not at all.",
    )
    width: float | None = Field(None, ge=0, description="How wide intervals are made.")
    margins: Literal["published", "suppressible"] = Field(
        "suppressible", description="Whether totals may be suppressed."
    )
    seconds: float = Field(
        60.0, gt=0, description="The effort to find a pattern, in nominal seconds."
    )
    share: float | None = Field(
        None, gt=0, description="How uncertain cells are made above and below, in percent of them."
    )
    zeros: Zeros | None = Field(
        None,
        description="Whether readers know which cells are empty: known, or secret. Known, unless "
        "zeros_primary.",
    )
    insider: bool = Field(
        False, description="Whether the adversary may be a contributor, who knows their own amount."
    )
    method: Literal["known", "secret"] = Field(
        "known", description="Whether the adversary knows how the suppressed cells were chosen."
    )
    resist_matching: bool = Field(
        False, description="Whether the pattern is drawn so that knowing it does not help."
    )
    seed: int | None = Field(
        None,
        description="The secret of the draw; "
        "protect takes it from the secret of the release if not given.",
    )


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
        return assess_by_settings(settings, _build_table(settings, dataset), dataset.name)

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

    def reveal_table(self, settings: TablesSettings) -> TablesSettings:
        """Without a pattern, so that there is no method to know of."""
        return settings.model_copy(update={"suppress": "none", "resist_matching": False})

    def publishes_table(self) -> bool:
        """Instead of the records."""
        return True

    def publish_table(self, settings: TablesSettings, dataset: Dataset) -> PublishedTable:
        """The table with its pattern, as it is judged."""
        published = publish_by_settings(settings, _build_table(settings, dataset))
        dimensions = tuple(tuple(names) for names in list_dimensions(settings))
        return PublishedTable(
            subject=(dimensions, settings.value),
            suppressed=published.suppressed,
            write=partial(_write_tables, published),
            content=published,
            files=len(dimensions),
            is_crosstab=_is_crosstab(published),
        )

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


def _build_table(settings: TablesSettings, dataset: Dataset) -> Table:
    """The table; several are linked, and published and attacked as one."""
    if settings.cells:
        return build_table_of_counts(
            dataset,
            list_dimensions(settings)[0],
            settings.value or "",
            as_names(settings.total or ()),
        )
    tables = [
        Table.from_records(dataset, names, settings.value, settings.contributor)
        for names in list_dimensions(settings)
    ]
    return tables[0] if len(tables) == 1 else link(*tables)


def list_dimensions(settings: TablesSettings) -> list[list[str]]:
    """The attributes of each table: `by` holds names, or a list of names for each linked table."""
    by = [settings.by] if isinstance(settings.by, str) else settings.by
    if all(isinstance(names, str) for names in by):
        return [[str(names) for names in by]]
    return [as_names(names) for names in by]


def _is_crosstab(published: Published) -> bool:
    """Whether it is one table of two dimensions."""
    grids = published.structure.grids
    return len(grids) == 1 and len(grids[0]) == 2


def _write_tables(published: Published, path: Path, guard_formulas: bool) -> None:
    """A table of two dimensions as a crosstab, any other with a row for each cell.

    Linked tables become name-1, name-2: the first is the file that was asked for.
    """
    grids = published.structure.grids
    for table in range(len(grids)):
        target = path if table == 0 else path.with_stem(f"{path.stem}-{table + 1}")
        if _is_crosstab(published):
            write_crosstab(published, target, guard_formulas=guard_formulas)
        else:
            published.write(target, table, guard_formulas=guard_formulas)


def list_cell_problems(settings: TablesSettings) -> Iterator[Problem]:
    """What a table that was made by others does not say: who contributed, and other tables."""
    if not settings.cells:
        if settings.total is not None:
            yield Problem("total", "is of cells: say cells = true, or leave it out.")
        return
    if settings.value is None:
        yield Problem("value", "is missing; name the attribute that holds the counts.")
    if len(list_dimensions(settings)) > 1:
        yield Problem("by", "names several tables; cells are of one.")
    if settings.contributor is not None:
        yield Problem("contributor", "cells of a table do not say who contributed.")
    if any(getattr(settings, rule) for rule in SENSITIVITY_RULES if rule != "min_frequency"):
        yield Problem("cells", "hold counts: min_frequency is the rule of sensitivity for them.")
    totals = as_names(settings.total or ())
    if len(totals) not in (0, 1, len(list_dimensions(settings)[0])):
        yield Problem("total", "names one for all attributes of by, or one for each.")


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
