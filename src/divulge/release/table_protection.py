"""Tables of totals that a release publishes: suppressed where a limit fails, else as they are."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from divulge.assessment import Adversary, Outcome, PublishedTable, find_attack
from divulge.data import Dataset
from divulge.protection import OutOfReachError
from divulge.release.check import name_place_in_errors
from divulge.release.tables_beside import see_tables_together
from divulge.release.verdict import Verdict

if TYPE_CHECKING:
    from divulge.release.release import Release


def suppress_tables(
    release: Release, originals: Mapping[str, Dataset], before: Verdict
) -> tuple[list[Adversary], dict[str, PublishedTable]]:
    """Tables whose limits fail are published with a protecting pattern; the others as they are.

    One that no limit is on was not judged, and does not go out.
    """
    failing = {
        outcome.subject
        for outcome in before.outcomes
        if outcome.status == "fail" and outcome.limit.of_assessment
    }
    adversaries = _protect_settings(release.adversaries, failing)
    tables: dict[str, PublishedTable] = {}
    for adversary in see_tables_together(release, adversaries):
        attack = find_attack(adversary)
        if attack.publishes_table() and any(
            limit.of_assessment and limit.adversary in (None, adversary.name)
            for limit in release.limits
        ):
            dataset = originals[adversary.datasets[0]]
            with name_place_in_errors(release, f'adversary "{adversary.name}"'):
                tables[adversary.name] = attack.publish_table(adversary.settings, dataset)
    _refuse_other_patterns(adversaries, tables)
    return adversaries, tables


def _protect_settings(
    adversaries: Sequence[Adversary], failing: Collection[str]
) -> list[Adversary]:
    """The tables of those whose limits fail are protected, and what can be protected with them."""
    readers = [each for each in adversaries if find_attack(each).publishes_table()]
    to_protect = [each for each in readers if each.name in failing]
    protected = []
    for adversary in adversaries:
        attack = find_attack(adversary)
        if adversary in readers and any(
            adversary is each
            or (
                (each.attack, each.datasets[0]) == (adversary.attack, adversary.datasets[0])
                and attack.has_same_rules(adversary.settings, each.settings)
            )
            for each in to_protect
        ):
            adversary = replace(adversary, settings=attack.protect_table(adversary.settings))
        protected.append(adversary)
    return protected


def _refuse_other_patterns(
    adversaries: Sequence[Adversary], tables: Mapping[str, PublishedTable]
) -> None:
    """One table with two patterns would tell more than what each was judged by."""
    first_names: dict[Any, str] = {}
    for adversary in adversaries:
        if adversary.name not in tables:
            continue
        name = adversary.name
        first = first_names.setdefault((adversary.datasets[0], tables[name].subject), name)
        if not (tables[first].suppressed == tables[name].suppressed).all():
            raise OutOfReachError(
                f'"{first}" and "{name}" would see the same table with other cells suppressed, '
                "which together reveal more than was judged: give them the same settings, or limit "
                "one of them."
            )


def is_of_adversary(outcome: Outcome, name: str) -> bool:
    """Whether an outcome is an adversary's: a dataset may have the same name."""
    return outcome.limit.of_assessment and outcome.subject == name
