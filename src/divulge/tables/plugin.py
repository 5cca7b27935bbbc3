"""The attack `tables` of a release: records, published as a table of totals."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any, ClassVar, Literal

from pydantic import BaseModel, ConfigDict, Field

from divulge.assessment import Adversary, Assessment, AttackDefaults, PublishedTable, Sentence
from divulge.data import Dataset
from divulge.data.dictionary import as_names, find_name_problems
from divulge.tables.feasibility.assess import assess
from divulge.tables.feasibility.sensitivity import sensitive_cells
from divulge.tables.release_attack import (
    assess_known_algorithm,
    list_matching_problems,
    suppress_by_settings,
)
from divulge.tables.suppress import suppress
from divulge.tables.table.crosstab_files import write_crosstab
from divulge.tables.table.published import Published
from divulge.tables.table.table import Table
from divulge.work import Problem

SENSITIVITY_RULES = ("min_frequency", "dominance", "p_percent", "pq", "request", "singletons")


class TablesSettings(BaseModel):
    """What an adversary of `attack = "tables"` may be told."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    by: str | list[str] = Field(description="The attributes along which the table is made.")
    value: str | None = Field(None, description="What is summed; records are counted if not given.")
    contributor: str | None = Field(None, description="Whose records belong together.")
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
    knows_algorithm: bool = Field(
        False, description="Whether the adversary knows how the suppressed cells were chosen."
    )
    resist_matching: bool = Field(
        False, description="Whether the pattern is drawn so that knowing it does not help."
    )
    seed: int | None = Field(None, description="The secret of the draw; keep it.")


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
            yield from find_name_problems("by", as_names(settings.by), attributes, subject)
            for setting in ("value", "contributor"):
                attribute = getattr(settings, setting)
                yield from find_name_problems(
                    setting, [attribute] if attribute else [], attributes, subject
                )
        if not any(getattr(settings, rule) for rule in SENSITIVITY_RULES):
            yield Problem("", f"give a rule of sensitivity: {', '.join(SENSITIVITY_RULES)}.")
        yield from list_matching_problems(settings)

    def run(self, settings: TablesSettings, datasets: Sequence[Dataset]) -> Assessment:
        """Make the table, protect it as told, and audit it."""
        [dataset] = datasets
        table = Table.from_records(dataset, settings.by, settings.value, settings.contributor)
        if settings.knows_algorithm or settings.resist_matching:
            return assess_known_algorithm(settings, table, dataset.name)
        sensitive = sensitive_cells(table, **_collect_rules(settings))
        return assess(table, _publish_protected(settings, table), sensitive, dataset.name)

    def adds_amounts(self) -> bool:
        """Cells are sums of amounts."""
        return True

    def needed_columns(self, settings: TablesSettings) -> Collection[str]:
        """What the table is made of."""
        names = [*as_names(settings.by), settings.value, settings.contributor]
        return {name for name in names if name is not None}

    def publishes_table(self) -> bool:
        """Instead of the records."""
        return True

    def publish_table(self, settings: TablesSettings, dataset: Dataset) -> PublishedTable:
        """The table with its pattern, as it is judged."""
        table = Table.from_records(dataset, settings.by, settings.value, settings.contributor)
        if settings.knows_algorithm or settings.resist_matching:
            published = suppress_by_settings(settings, table).published
        else:
            published = _publish_protected(settings, table)
        return PublishedTable(
            subject=(tuple(as_names(settings.by)), settings.value),
            suppressed=published.suppressed,
            write=partial(_write_table, published),
            content=published,
        )

    def protect_table(self, settings: TablesSettings) -> TablesSettings:
        """With the pattern of least cost that protects it."""
        return settings.model_copy(update={"suppress": "optimal"})

    def advice(self, adversary: Adversary) -> Sentence:
        """A pattern."""
        return Sentence("divulge.protection", "advice.table", {"adversary": adversary.name})


def _write_table(published: Published, path: Path, guard_formulas: bool) -> None:
    """A table of two dimensions as a crosstab, any other with a row for each cell."""
    if len(published.structure.grids[0]) == 2:
        write_crosstab(published, path, guard_formulas=guard_formulas)
    else:
        published.write(path, guard_formulas=guard_formulas)


def _publish_protected(settings: TablesSettings, table: Table) -> Published:
    sensitive = sensitive_cells(table, **_collect_rules(settings))
    if settings.suppress == "none":
        return table.publish()
    if settings.suppress == "primary":
        return table.publish(sensitive)
    return suppress(
        table,
        **_collect_rules(settings),
        width=settings.width,
        method="fast" if settings.suppress == "fast" else "optimal",
        margins=settings.margins,
        seconds=settings.seconds,
    ).published


def _collect_rules(settings: TablesSettings) -> dict[str, Any]:
    rules = {rule: getattr(settings, rule) for rule in SENSITIVITY_RULES}
    return {**rules, "zeros_primary": settings.zeros_primary}
