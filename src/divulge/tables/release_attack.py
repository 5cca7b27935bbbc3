"""An adversary of a release who knows how the suppressed cells of a table were chosen."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from divulge.assessment import Assessment
from divulge.tables.feasibility.assess import assess
from divulge.tables.matching.attack import matching_attack
from divulge.tables.suppress import suppress
from divulge.tables.suppression.result import Suppression
from divulge.tables.table.table import Table
from divulge.work import Problem

if TYPE_CHECKING:
    from divulge.tables.plugin import TablesSettings


def list_matching_problems(settings: TablesSettings) -> Iterator[Problem]:
    """What is wrong with the settings of somebody who knows the algorithm."""
    for setting in ("knows_algorithm", "resist_matching"):
        if not getattr(settings, setting):
            continue
        if settings.suppress not in ("optimal", "fast"):
            yield Problem(setting, 'a pattern must be chosen: suppress = "optimal" or "fast".')
        others = ("dominance", "p_percent", "pq", "request", "singletons")
        if settings.min_frequency is None or any(getattr(settings, rule) for rule in others):
            yield Problem(setting, "min_frequency is the one rule of sensitivity that it knows.")
        if settings.value is not None or settings.contributor is not None:
            yield Problem(setting, "records must be counted: leave out value and contributor.")
    if settings.resist_matching and settings.suppress == "fast":
        yield Problem("resist_matching", 'needs suppress = "optimal".')
    if settings.resist_matching and settings.seed is None:
        message = "give one, and keep it: the same table must be drawn alike in every check."
        yield Problem("seed", message)
    if settings.seed is not None and not settings.resist_matching:
        yield Problem("seed", "is for resist_matching = true.")


def assess_known_algorithm(settings: TablesSettings, table: Table, name: str) -> Assessment:
    """Protect the table as told, and attack it with all that the adversary knows."""
    suppression = suppress_by_settings(settings, table)
    if not settings.knows_algorithm:
        return assess(table, suppression.published, suppression.primary, name)
    rule: Any = None
    if suppression.resistance is not None:
        rule = "resisting"
    elif settings.suppress == "fast":

        def rule(candidate: Table) -> Suppression:
            return suppress_by_settings(settings, candidate)

    return matching_attack(
        suppression,
        settings.min_frequency,
        1 if settings.width is None else settings.width,
        settings.zeros_primary,
        suppressor=rule,
        mode="full",
        margins=settings.margins,
        seconds=settings.seconds,
        name=name,
    ).assessment


def suppress_by_settings(settings: TablesSettings, table: Table) -> Suppression:
    """The pattern that is chosen for a table as the settings say."""
    return suppress(
        table,
        settings.min_frequency,
        settings.width,
        settings.zeros_primary,
        "fast" if settings.suppress == "fast" else "optimal",
        margins=settings.margins,
        seconds=settings.seconds,
        resist_matching=settings.resist_matching,
        seed=settings.seed,
    )
