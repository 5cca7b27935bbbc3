"""What to do next where a release fails: single changes tried, and judged anew.

Each attribute that adversaries or limits look at is made coarser, level by level, or left out, and
all limits that fail and that it may help are judged again. The best is the change after which most
of them hold, of those the one that loses least; where none holds, the one that lowers what is above
a limit most. How much is tried is counted (`tuning`), so that the same release gets the same advice
everywhere.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from divulge import work
from divulge.assessment import Adversary, Limit, Outcome, Sentence, find_attack
from divulge.data import Column, Dataset, Relation
from divulge.data.column import column_from_codes
from divulge.protection.limits.limit_kinds import has_protection_method
from divulge.protection.result.cell_utility import compute_leaf_shares
from divulge.release import tuning
from divulge.release.check import check_data
from divulge.release.rule_programs.rule_program import RISK

if TYPE_CHECKING:
    from divulge.release.verdict import Verdict

CATALOGUE = "divulge.release"


@dataclass(frozen=True, kw_only=True)
class NextStep:
    """A change of one attribute, and what the verdict would be after it."""

    dataset: str
    attribute: str
    level: int
    """Of its hierarchy; 0 if it is left out."""
    height: int
    loss: float
    """The share of values that a value of the attribute then stands for; 1 if it is left out."""
    outcomes: tuple[tuple[Outcome, Outcome], ...]
    """The limits that failed and were judged again, before and after."""
    failing: int
    """How many limits of the release would not hold after it."""
    total: int
    untried: tuple[str, ...] = ()
    """Adversaries who were left out of the trial: their limits count as they stand."""

    @property
    def mended(self) -> int:
        """How many limits would hold that do not."""
        return sum(after.status == "pass" for _, after in self.outcomes)

    @property
    def rest(self) -> float:
        """What would be left of all that is above limits, 1 for all; on average."""
        return float(np.mean([_measure_rest(*pair) for pair in self.outcomes]))

    def sentences(self) -> list[Sentence]:
        """What to change, what it does to the limit that it helps most, and how all then stand."""
        key = "left_out" if self.level == 0 else "coarser"
        values = {
            "attribute": self.attribute, "dataset": self.dataset, "level": self.level,
            "height": self.height,
        }  # fmt: skip
        before, after = min(self.outcomes, key=lambda pair: _measure_rest(*pair))
        helped = {
            "measure": before.limit.title_with_attributes,
            "subject": before.subject,
            "before": before.found,
            "after": after.found,
            "allowed": after.allowed,
        }
        counts = {"failing": self.failing, "total": self.total}
        names = {"names": list(self.untried), "count": len(self.untried)}
        untried = [Sentence(CATALOGUE, "next_step.untried", names)] if self.untried else []
        return [
            Sentence(CATALOGUE, f"next_step.{key}", values),
            Sentence(CATALOGUE, "next_step.effect", helped),
            Sentence(CATALOGUE, "next_step.verdict", counts),
            *untried,
            Sentence(CATALOGUE, "next_step.not_refilled", values),
        ]

    def to_dict(self) -> dict[str, Any]:
        """The change and its consequences as plain values."""
        return {
            "dataset": self.dataset,
            "attribute": self.attribute,
            "level": self.level or None,
            "left_out": self.level == 0,
            "loss": self.loss,
            "limits_mended": self.mended,
            "limits_failing_after": self.failing,
            "not_tried": list(self.untried),
            "sentences": [sentence.render() for sentence in self.sentences()],
        }


def find_next_steps(verdict: Verdict) -> list[NextStep]:
    """By dataset that fails, the best single change that was found; the most helpful first."""
    if verdict.status != "fail":
        return []
    steps: list[NextStep] = []
    for name in verdict.publications:
        trial = _build_affordable_trial(verdict, name)
        if trial is not None:
            steps += trial.find_best()
    return sorted(steps, key=lambda step: (step.failing, step.rest))


def may_be_tried(adversary: Adversary, name: str, verdict: Verdict) -> bool:
    """Whether coarser attributes of a dataset that goes out may lower an adversary's success."""
    attack = find_attack(adversary)
    return (
        name in verdict.publications
        and adversary.datasets[:1] == (name,)
        and not attack.publishes_table()
        and attack.risk_per_record(adversary.settings)
    )


def list_advice(verdict: Verdict, steps: Sequence[NextStep]) -> list[tuple[Sentence, ...]]:
    """What to do next: the best change of each dataset, and advice where none was found."""
    advice = [tuple(step.sentences()) for step in steps]
    told = {before.subject for step in steps for before, _ in step.outcomes}
    failing = {each.subject for each in verdict.outcomes if each.status == "fail"}
    advice += [
        (_advise(verdict, adversary),)
        for adversary in verdict.release.adversaries
        if adversary.name in failing - told
    ]
    advice += [
        (Sentence(CATALOGUE, "overview.protect_dataset", {"dataset": name}),)
        for name in verdict.datasets
        if name in failing - told
    ]
    if failing:
        advice.append((Sentence(CATALOGUE, "overview.protect"),))
    elif verdict.status == "pass":
        advice.append((Sentence(CATALOGUE, "overview.publish"),))
    else:
        advice.append((Sentence(CATALOGUE, "overview.settle"),))
    return advice


def _advise(verdict: Verdict, adversary: Adversary) -> Sentence:
    """What helps against an adversary for whom no single change was found."""
    if may_be_tried(adversary, adversary.datasets[0], verdict):
        trial = _build_affordable_trial(verdict, adversary.datasets[0])
        is_tried = trial is not None and adversary in trial.adversaries
        key = "several" if is_tried else "untried"
        return Sentence(CATALOGUE, f"overview.{key}", {"subject": adversary.name})
    advice = find_attack(adversary).advice(adversary)
    values = {"subject": adversary.name, "advice": advice}
    return Sentence(CATALOGUE, "overview.advice", values)


@dataclass(frozen=True, kw_only=True)
class _Trial:
    """A dataset of which some limits fail that coarser attributes may help."""

    verdict: Verdict
    name: str
    dataset: Dataset
    adversaries: Sequence[Adversary]
    failing: Sequence[Outcome]
    attributes: Sequence[str]
    untried: tuple[str, ...] = ()
    """Adversaries whom it would cost too much to try again."""

    @property
    def price(self) -> int:
        """Records that are looked at in all trials; of a sweep, in a part of its sets."""
        sets = {a.adversary: a.figures.get("sets", 1) for a in self.verdict.assessments}
        tried = [int(sets.get(a.name, 1)) // tuning.SETS_PER_RUN for a in self.adversaries]
        runs = sum(max(1, each) for each in tried)
        measured = sum(not outcome.limit.of_assessment for outcome in self.failing)
        changes = sum(1 + _find_height(self.dataset, name) for name in self.attributes)
        return self.dataset.rows * changes * (runs + measured)

    def find_best(self) -> Iterator[NextStep]:
        """The best change, if one helps at all."""
        steps = []
        changes = [
            (name, level)
            for name in self.attributes
            for level in (*range(1, 1 + _find_height(self.dataset, name)), 0)
        ]
        with work.step("Looking for what would help", len(changes)) as step:
            for name, level in changes:
                steps.append(self._try_change(name, level))
                step.advance()
        best = min(steps, key=_rank, default=None)
        if best is not None and best.rest < 1 - tuning.LEAST_HELP:
            yield best

    def _try_change(self, attribute: str, level: int) -> NextStep:
        column, loss = _change_column(self.dataset, attribute, level)
        columns = {**self.dataset.columns, attribute: column}
        changed = {**self.verdict.datasets, self.name: replace(self.dataset, columns=columns)}
        limits = {id(outcome.limit): outcome.limit for outcome in self.failing}
        release = replace(
            self.verdict.release,
            adversaries=list(self.adversaries),
            limits=[_narrow(limit, self.name) for limit in limits.values()],
        )
        judged = check_data(
            release,
            changed,
            sources=self.verdict.datasets,
            publications=self.verdict.publications,
        )
        after = {_identify(outcome): outcome for outcome in judged.outcomes}
        pairs = tuple((each, after[_identify(each)]) for each in self.failing)
        others = sum(outcome.status == "fail" for outcome in self.verdict.outcomes)
        mended = sum(outcome.status == "pass" for _, outcome in pairs)
        return NextStep(
            dataset=self.name,
            attribute=attribute,
            level=level,
            height=_find_height(self.dataset, attribute),
            loss=loss,
            outcomes=pairs,
            failing=others - mended,
            total=len(self.verdict.outcomes),
            untried=self.untried,
        )


def _build_affordable_trial(verdict: Verdict, name: str) -> _Trial | None:
    """What may be tried for what it costs; of large data without the adversaries that cost most."""
    if isinstance(verdict.datasets[name], Relation):
        return None
    whole = _build_trial(verdict, name)
    if whole is None or whole.price <= tuning.MOST_TRIED_RECORDS:
        return whole
    alone = {each.name: _build_trial(verdict, name, {each.name}) for each in whole.adversaries}
    prices = {name: trial.price for name, trial in alone.items() if trial is not None}
    affordable, tried = None, set[str]()
    for adversary in sorted(prices, key=lambda each: prices[each]):
        trial = _build_trial(verdict, name, {*tried, adversary})
        if trial is not None and trial.price <= tuning.MOST_TRIED_RECORDS:
            affordable, tried = trial, {*tried, adversary}
    if affordable is None:
        return None
    untried = tuple(each.name for each in whole.adversaries if each.name not in tried)
    return replace(affordable, untried=untried)


def _build_trial(verdict: Verdict, name: str, among: Set[str] | None = None) -> _Trial | None:
    """What may be tried on a dataset: limits that fail, and what adversaries know of it.

    With `among`, of all adversaries only these are tried.
    """
    dataset = verdict.datasets[name]
    helped = {
        adversary.name: adversary
        for adversary in verdict.release.adversaries
        if (among is None or adversary.name in among) and may_be_tried(adversary, name, verdict)
    }
    failing = [
        outcome
        for outcome in verdict.outcomes
        if outcome.status == "fail" and _may_help(outcome, name, helped)
    ]
    if not failing or dataset.rows == 0:
        return None
    subjects = {outcome.subject for outcome in failing if outcome.limit.of_assessment}
    adversaries = [adversary for key, adversary in helped.items() if key in subjects]
    known = [
        attribute
        for adversary in adversaries
        for attribute in find_attack(adversary).known_columns(adversary.settings, dataset)
    ]
    for outcome in failing:
        if not outcome.limit.of_assessment:
            known += outcome.limit.options.get("among") or dataset.quasi_identifiers
    never = () if verdict.release.protection is None else verdict.release.protection.never
    published = verdict.publications[name].published
    return _Trial(
        verdict=verdict,
        name=name,
        dataset=dataset,
        adversaries=adversaries,
        failing=failing,
        attributes=[
            attribute
            for attribute in dict.fromkeys(known)
            if attribute in published and attribute in dataset.columns and attribute not in never
        ],
    )


def _may_help(outcome: Outcome, name: str, helped: Mapping[str, Adversary]) -> bool:
    """Whether coarser attributes of a dataset may lower what a limit looks at."""
    limit = outcome.limit
    if limit.of_assessment:
        return outcome.subject in helped and not limit.measure.endswith(".prior")
    return outcome.subject == name and has_protection_method(limit) and RISK not in limit.options


def _narrow(limit: Limit, dataset: str) -> Limit:
    """A limit on all datasets as one on the dataset that is changed."""
    if limit.of_assessment or limit.dataset is not None:
        return limit
    return Limit(
        limit.measure,
        at_most=limit.at_most,
        at_least=limit.at_least,
        dataset=dataset,
        attribute=limit.attribute,
        **limit.options,
    )


def _identify(outcome: Outcome) -> tuple[Any, ...]:
    """The limit of an outcome and whom it is of, the same before and after a change."""
    limit = outcome.limit
    options = tuple(sorted((name, str(value)) for name, value in limit.options.items()))
    return limit.measure, limit.direction, limit.bound, limit.attribute, options, outcome.subject


def _find_height(dataset: Dataset, attribute: str) -> int:
    hierarchy = dataset.dictionary[attribute].hierarchy
    return 0 if hierarchy is None else hierarchy.height


def _change_column(dataset: Dataset, attribute: str, level: int) -> tuple[Column, float]:
    """An attribute at a level of its hierarchy, or as if it were not there; and what that loses."""
    hierarchy = dataset.dictionary[attribute].hierarchy
    if level == 0 or hierarchy is None:
        codes = np.zeros(dataset.rows, np.int64)
        return column_from_codes(codes, pa.array(["*"])), 1.0
    column = hierarchy.coarsen(dataset.columns[attribute], level)
    share, _ = compute_leaf_shares(dataset, column, attribute)
    return column, float(share[column.codes].mean())


def _measure_rest(before: Outcome, after: Outcome) -> float:
    """What is left of the part of a figure that is beyond its limit."""
    beyond = abs(before.value - before.limit.bound)
    if after.status == "pass" or not np.isfinite(beyond) or beyond == 0:
        return 0.0 if after.status == "pass" else 1.0
    rest = abs(after.value - after.limit.bound) / beyond
    return min(1.0, rest) if np.isfinite(rest) else 1.0


def _rank(step: NextStep) -> tuple[float, ...]:
    """The best first: most limits mended at the least loss, else what lowers most."""
    if step.mended:
        return (-step.mended, step.loss, step.rest)
    return (0, step.rest, step.loss)
