"""Rules evaluated again on what protection has left, until they ask for nothing new."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from divulge.assessment import Sentence
from divulge.data import Dataset
from divulge.protection import Directives, OutOfReachError
from divulge.release.publication import list_published_datasets
from divulge.release.rule_programs import tuning
from divulge.release.rule_programs.evaluation import evaluate_rules
from divulge.release.rule_programs.rule_data import RuleData
from divulge.release.rule_programs.rule_program import DEMANDS
from divulge.release.rule_programs.rule_results import gather_results
from divulge.release.rule_programs.unmet_directives import list_least_values, list_unmet

if TYPE_CHECKING:
    from divulge.release.release import Release

AGAIN = "rules.again"


def ask_rules_again(
    release: Release, originals: Mapping[str, Dataset], current: Mapping[str, Dataset]
) -> Release | None:
    """The release with what its rules ask for besides, now that records have changed.

    A province of three banks has two when one of them is gone: a rule that reads published values
    then names these. What rules asked for before stays.

    Returns:
        None if nothing further must be hidden, removed or made coarser.
    """
    rules, results = release.rule_program, release.rule_results
    if rules is None or results is None or not rules.demands_read_records:
        return None
    if all(current[name] is dataset for name, dataset in originals.items()):
        return None
    demands = rules.select_for(DEMANDS)
    data = RuleData(
        datasets={**originals, **current},
        originals=originals,
        published=list_published_datasets(release),
    )
    with evaluate_rules(demands, data) as facts:
        found = gather_results(demands, data, facts).directives
    merged, least_values = dict(results.directives), dict(results.least_values)
    count = 0
    for name, directives in found.items():
        together, further = _merge(results.directives.get(name), directives)
        least = list_least_values(originals[name], together)
        if further and any(list_unmet(current[name], together, least)):
            merged[name], least_values[name] = together, least
            count += further
    if not count:
        return None
    count += sum(each.values["count"] for each in results.choices if each.key == AGAIN)
    choices = [each for each in results.choices if each.key != AGAIN]
    choices.append(Sentence("divulge.release", AGAIN, {"count": count}))
    results = replace(results, directives=merged, least_values=least_values, choices=tuple(choices))
    return replace(release, rule_results=results)


def refuse_endless_rounds() -> OutOfReachError:
    """Why a protection whose rules ask for more each time is given up."""
    return OutOfReachError(
        f"the rules ask for further changes after each of {tuning.MOST_ROUNDS} protections. A "
        "value that protection has hidden is a null, which nobody shares: let rules say V is not "
        "null, or read original in place of val."
    )


def _merge(before: Directives | None, now: Directives) -> tuple[Directives, int]:
    """What was asked for with what is asked for now, and how much of that is new."""
    if before is None:
        before = Directives(on=now.on)
    added: dict[str, Any] = {}
    count = 0
    for name in DEMANDS:
        rows = getattr(before, name)
        known = {row[:-1] for row in rows}
        new = [row for row in getattr(now, name) if row[:-1] not in known]
        added[name], count = (*rows, *new), count + len(new)
    return replace(before, **added), count
