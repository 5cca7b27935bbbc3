"""Rules evaluated again on what protection has left, until nothing new follows from them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

from divulge.data import Dataset
from divulge.protection import OutOfReachError
from divulge.release.publication import list_published_datasets
from divulge.release.rule_programs import tuning
from divulge.release.rule_programs.evaluation import evaluate_rules
from divulge.release.rule_programs.fact_reader import gather_results
from divulge.release.rule_programs.joined_rounds import JoinedRounds
from divulge.release.rule_programs.rule_data import RuleData
from divulge.release.rule_programs.rule_program import DEMANDS, GUIDANCE, KNOWLEDGE

if TYPE_CHECKING:
    from divulge.release.release import Release


class NextRound(NamedTuple):
    """A release with what its rules say besides, and the datasets of links that they derive."""

    release: Release
    pairs: Mapping[str, Dataset]
    judges_otherwise: bool
    """Whether it may be judged otherwise: by links, knowledge or thresholds."""


def ask_rules_again(
    release: Release, originals: Mapping[str, Dataset], current: Mapping[str, Dataset]
) -> NextRound | None:
    """The release with what follows from its rules besides, now that records have changed.

    A province of three banks has two when one of them is gone: a rule that reads published values
    then names these. What followed before stays, since an adversary may know what was there.

    Returns:
        None if nothing new follows that protection has not met.
    """
    rules, results = release.rule_program, release.rule_results
    if rules is None or results is None:
        return None
    links = [name for name in rules.pairs if name in release.pair_datasets]
    asked = rules.select_for([*DEMANDS, *GUIDANCE, *KNOWLEDGE, *links])
    if not asked.reads_current_records:
        return None
    if all(current[name] is dataset for name, dataset in originals.items()):
        return None
    data = RuleData(
        datasets={**originals, **current},
        originals=originals,
        published=list_published_datasets(release),
    )
    with evaluate_rules(asked, data) as facts:
        found = gather_results(asked, data, facts)
    joined = JoinedRounds(results, data)
    for name, directives in found.directives.items():
        joined.add_demands(name, directives)
        joined.add_guidance(name, directives)
    for name in links:
        if name == "knows_only":
            joined.lift_restrictions(found.pairs[name])
        else:
            joined.add_pairs(name, found.pairs[name])
    joined.add_conflicts(found)
    if not joined.is_new:
        return None
    settled = joined.build_results()
    return NextRound(replace(release, rule_results=settled), joined.pairs, joined.judges_otherwise)


def refuse_endless_rounds() -> OutOfReachError:
    """Why a protection whose rules ask for more each time is given up."""
    return OutOfReachError(
        f"the rules ask for further changes after each of {tuning.MOST_ROUNDS} protections. A "
        "value that protection has hidden is a null, which nobody shares: let rules say V is not "
        "null, or read original in place of val."
    )
