"""What a release may say of a table that is made of its records, and of who reads it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

from divulge.data.dictionary import as_names
from divulge.tables.table.published import Zeros
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


def list_dimensions(settings: TablesSettings) -> list[list[str]]:
    """The attributes of each table: `by` holds names, or a list of names for each linked table."""
    by = [settings.by] if isinstance(settings.by, str) else settings.by
    if all(isinstance(names, str) for names in by):
        return [[str(names) for names in by]]
    return [as_names(names) for names in by]


def list_cell_problems(settings: TablesSettings) -> Iterator[Problem]:
    """What a table that was made by others does not say: who contributed, and other tables."""
    if not settings.cells:
        if settings.total is not None:
            yield Problem("total", "is of cells: say cells = true, or leave it out.")
        return
    if settings.value is None:
        yield Problem("value", "is missing; name the attribute that contains the counts.")
    if len(list_dimensions(settings)) > 1:
        yield Problem("by", "names several tables; cells are of one.")
    if settings.contributor is not None:
        yield Problem("contributor", "cells of a table do not say who contributed.")
    if any(getattr(settings, rule) for rule in SENSITIVITY_RULES if rule != "min_frequency"):
        yield Problem("cells", "contain counts: min_frequency is the rule of sensitivity for them.")
    totals = as_names(settings.total or ())
    if len(totals) not in (0, 1, len(list_dimensions(settings)[0])):
        yield Problem("total", "names one for all attributes of by, or one for each.")
