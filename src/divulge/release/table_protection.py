"""Tables of totals that a release publishes: suppressed where a limit fails, else as they are."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from divulge.assessment import Adversary, Outcome, PublishedTable, find_attack
from divulge.data import Dataset
from divulge.protection import OutOfReachError
from divulge.release.verdict import Verdict

if TYPE_CHECKING:
    from divulge.release.release import Release


def suppress_tables(
    release: Release, originals: Mapping[str, Dataset], before: Verdict
) -> tuple[list[Adversary], dict[str, PublishedTable]]:
    """Tables whose limits fail are published with a protecting pattern; the others as they are.

    One that no limit is on was not judged, and does not go out.
    """
    failing = [outcome for outcome in before.outcomes if outcome.status == "fail"]
    adversaries: list[Adversary] = []
    tables: dict[str, PublishedTable] = {}
    for adversary in release.adversaries:
        attack, settings = find_attack(adversary), adversary.settings
        if attack.publishes_table() and any(
            is_of_adversary(outcome, adversary.name) for outcome in failing
        ):
            settings = attack.protect_table(settings)
        adversaries.append(replace(adversary, settings=settings))
        if attack.publishes_table() and any(
            limit.of_assessment and limit.adversary in (None, adversary.name)
            for limit in release.limits
        ):
            dataset = originals[adversary.datasets[0]]
            tables[adversary.name] = attack.publish_table(settings, dataset)
    _refuse_other_patterns(adversaries, tables)
    return adversaries, tables


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
