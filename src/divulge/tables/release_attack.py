"""The adversary of a release who reads a table, with or without the method by which it was made.

Whoever knows how the suppressed cells were chosen rules out every table that would have been
suppressed otherwise. Methods do get known, so that this adversary is the rule; `method = "secret"`
is the exception that a release must state.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from divulge.assessment import Assessment, Most, Sentence
from divulge.tables.feasibility.assess import (
    CATALOGUE,
    Judgement,
    assess_judgement,
    describe_circumstances,
    judge_cells,
)
from divulge.tables.feasibility.sensitivity import (
    Protection,
    SensitivityRules,
    find_sensitive_cells,
)
from divulge.tables.feasibility.shared_records import is_limited_by_records
from divulge.tables.matching.assess import assess_matching_by_rules
from divulge.tables.matching.attack import matching_attack
from divulge.tables.matching.result import Matching
from divulge.tables.suppress import suppress
from divulge.tables.suppression.result import Suppression
from divulge.tables.table.published import Published, Zeros
from divulge.tables.table.table import Table
from divulge.work import InvalidInput, Problem
from divulge.work.arrays import Bools
from divulge.work.secret_key import SecretKey

if TYPE_CHECKING:
    from divulge.tables.settings import TablesSettings

RULES_ON_AMOUNTS = ("dominance", "p_percent", "pq", "request", "singletons")


def list_matching_problems(settings: TablesSettings) -> Iterator[Problem]:
    """What is wrong with the settings of a pattern that resists who knows the method."""
    if settings.resist_matching:
        if settings.suppress != "optimal":
            yield Problem("resist_matching", 'needs suppress = "optimal".')
        if settings.min_frequency is None or any(
            getattr(settings, rule) for rule in RULES_ON_AMOUNTS
        ):
            message = "min_frequency is the one rule of sensitivity that it knows."
            yield Problem("resist_matching", message)
        is_amount = settings.value is not None and not settings.cells
        if is_amount or settings.contributor is not None:
            message = "records must be counted: leave out value and contributor."
            yield Problem("resist_matching", message)
        if settings.share is not None:
            yield Problem("resist_matching", "ask for a width instead of a share.")
    if settings.seed is not None and not settings.resist_matching:
        yield Problem("seed", "is for resist_matching = true.")
    if settings.zeros == "known" and settings.zeros_primary:
        yield Problem("zeros", "an empty cell that is sensitive is secret: leave one of them out.")


def assess_suppression(
    settings: TablesSettings,
    table: Table,
    suppression: Suppression | None,
    name: str,
    *,
    only: Bools | None = None,
) -> Assessment:
    """Attack a table with the pattern that was chosen for it by these settings.

    `only` are the cells that count as secrets, if not all that are sensitive do.
    """
    published = publish_suppression(settings, table, suppression)
    sensitive = find_sensitive_cells(table, collect_rules(settings))
    if only is not None:
        sensitive &= only
    by_sums = judge_cells(
        table,
        published,
        sensitive,
        rules=collect_rules(settings),
        width=settings.width,
        share=settings.share,
        zeros=choose_zeros(settings),
        insider=settings.insider,
    )
    assessment = assess_judgement(table, by_sums, name)
    is_open = bool(sensitive.any() and published.suppressed.any())
    if settings.method == "secret" or not is_open:
        return state_method(settings, assessment, is_open=is_open)
    if is_limited_by_records(table):
        # Candidates are listed by the sums: who knows of records excludes more of them.
        return _leave_method_open(assessment, "method.ring")
    if not _is_method_computable(settings, table):
        return _leave_method_open(assessment)
    if suppression is not None and _is_search_unfinished(suppression):
        # Each candidate's search would take the whole effort, and be given up like this one.
        return _leave_method_open(assessment, "method.not_settled")
    matching = _attack_by_method(settings, table, suppression, sensitive=sensitive, name=name)
    if matching is None:
        return _leave_method_open(assessment)
    return _add_circumstances(assess_matching_by_rules(matching, table, by_sums), table, by_sums)


def assess_by_levels(
    suppression: Suppression,
    sensitive: Bools,
    protection: Protection,
    *,
    method: Literal["known", "secret"],
    name: str,
) -> Assessment:
    """Attack a table of which it is known what is sensitive and by how much, and not by what rule.

    Nobody can say what the choice of such cells tells who knows the method.
    """
    table = suppression.table
    by_sums = judge_cells(
        table, suppression.published, sensitive, zeros=suppression.zeros, protection=protection
    )
    assessment = assess_judgement(table, by_sums, name)
    if method == "secret":
        return _state_secret_method(assessment)
    return _leave_method_open(assessment) if sensitive.any() else assessment


def decide_status(assessment: Assessment) -> Literal["pass", "fail", "not judged"]:
    """Whether a table may go out as it is: if no sensitive cell is known more closely than asked.

    >>> from divulge.tables.feasibility.assess import assess
    >>> table = Table.from_cells([[7, 11, 60], [10, 60, 11], [60, 12, 60]])
    >>> published = table.publish({(0, 0), (0, 1), (1, 0), (1, 1)})
    >>> [
    ...     decide_status(assess(table, published, {(0, 0)}, zeros="secret", width=width))
    ...     for width in (10, 18)
    ... ]
    ['pass', 'fail']
    """
    if assessment.certain.posterior > 0:
        return "fail"
    is_open = assessment.not_judged is not None or assessment.at_worst.certain.posterior > 0
    return "not judged" if is_open else "pass"


def state_method(settings: TablesSettings, assessment: Assessment, *, is_open: bool) -> Assessment:
    """With what it says of somebody who knows the method: not tried, or (`is_open`) not judged."""
    if settings.method == "secret":
        return _state_secret_method(assessment)
    return _leave_method_open(assessment) if is_open else assessment


def _state_secret_method(assessment: Assessment) -> Assessment:
    said = (*assessment.sentences, Sentence(CATALOGUE, "method.secret"))
    return replace(assessment, sentences=said)


def _leave_method_open(assessment: Assessment, key: str = "method.not_known") -> Assessment:
    reason = Sentence(CATALOGUE, key)
    most = Most(assessment.secrets, assessment.secrets)
    said = (reason, *assessment.sentences)
    return replace(assessment, most=most, claim="bound", not_judged=reason, sentences=said)


def _add_circumstances(assessment: Assessment, table: Table, by_sums: Judgement) -> Assessment:
    circumstances = describe_circumstances(table, by_sums.published.zeros)
    return replace(assessment, sentences=(*assessment.sentences, *circumstances))


def _attack_by_method(
    settings: TablesSettings,
    table: Table,
    suppression: Suppression | None,
    *,
    sensitive: Bools,
    name: str,
) -> Matching | None:
    """The matching attack on the table as published; None if it is not known for these rules."""
    published = publish_suppression(settings, table, suppression)
    is_replayed = suppression is not None and not _is_own_rule(suppression)
    if suppression is not None and is_replayed and suppression.priced_by != "number":
        return None  # settings say nothing of costs, so that no pattern can be chosen again by them
    suppressor: Any = None
    if suppression is None:

        def suppressor(candidate: Table) -> Any:
            return candidate.structure.to_grids(
                find_sensitive_cells(candidate, collect_rules(settings))
            )

    elif is_replayed:

        def suppressor(candidate: Table) -> Any:
            return suppress_by_settings(settings, candidate)

    try:
        return matching_attack(
            published if callable(suppressor) or suppression is None else suppression,
            settings.min_frequency,
            1 if settings.width is None else settings.width,
            settings.zeros_primary,
            suppressor=suppressor,
            mode="full",
            primary=table.structure.to_grids(sensitive),
            margins=settings.margins,
            zeros=choose_zeros(settings),
            seconds=settings.seconds,
            name=name,
        )
    except InvalidInput:  # such as a cell that no published total bounds
        return None


def _is_method_computable(settings: TablesSettings, table: Table) -> bool:
    """Whether candidates can be suppressed again: counts of contributors, by a rule on counts."""
    counts = None if table.contributions is None else table.contributions.count_contributors()
    if not table.is_frequency or (counts is not None and not np.array_equal(counts, table.units)):
        return False
    return not any(getattr(settings, rule) for rule in RULES_ON_AMOUNTS)


def _is_search_unfinished(suppression: Suppression) -> bool:
    """Whether the effort for an optimal pattern was spent before it was the only one there is."""
    is_drawn = suppression.resistance is not None
    return suppression.method == "optimal" and not (is_drawn or suppression.first)


def _is_own_rule(suppression: Suppression) -> bool:
    """Whether the attack knows the rule of the pattern, and need not choose it again."""
    if suppression.resistance is not None:
        return True
    return suppression.method == "optimal" and suppression.first and not suppression.by_hand


def suppress_by_settings(settings: TablesSettings, table: Table) -> Suppression | None:
    """The pattern that is chosen for a table as the settings say; None if none is."""
    if settings.suppress in ("none", "primary"):
        return None
    rules = collect_rules(settings)
    return suppress(
        table,
        rules.min_frequency,
        settings.width,
        rules.zeros_primary,
        "fast" if settings.suppress == "fast" else "optimal",
        dominance=rules.dominance,
        p_percent=rules.p_percent,
        pq=rules.pq,
        request=rules.request,
        singletons=rules.singletons,
        share=settings.share,
        zeros=choose_zeros(settings),
        margins=settings.margins,
        seconds=settings.seconds,
        resist_matching=settings.resist_matching,
        seed=_choose_seed(settings, table),
    )


def _choose_seed(settings: TablesSettings, table: Table) -> int | None:
    """The seed of the draw; a check without one takes it from the table, so as to be repeatable."""
    if not settings.resist_matching or settings.seed is not None:
        return settings.seed
    return SecretKey.from_text(str(table.units.tolist())).derive_seed("check of a table")


def publish_suppression(
    settings: TablesSettings, table: Table, suppression: Suppression | None
) -> Published:
    """What is published of a table for which this pattern was chosen."""
    if suppression is not None:
        return suppression.published
    if settings.suppress == "none":
        return table.publish()
    return table.publish(find_sensitive_cells(table, collect_rules(settings)))


def collect_rules(settings: TablesSettings) -> SensitivityRules:
    """The rules of sensitivity that the settings state."""
    return SensitivityRules(
        min_frequency=settings.min_frequency,
        zeros_primary=settings.zeros_primary,
        dominance=settings.dominance,
        p_percent=settings.p_percent,
        pq=settings.pq,
        request=settings.request,
        singletons=settings.singletons,
    )


def choose_zeros(settings: TablesSettings) -> Zeros:
    """Readers know which cells are empty, unless empty cells are sensitive or declared secret."""
    return settings.zeros or ("secret" if settings.zeros_primary else "known")
