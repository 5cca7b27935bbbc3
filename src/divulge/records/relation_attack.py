"""Attacks on records that stay where they are: an engine counts, and the figures are the same.

What all figures are made of is a small table of classes by their size (`classes.relation_classes`).
Models of a single dataset run so; what they need of single records stays in memory for now, and is
refused by name.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt

from divulge.assessment import Assessment, Breakdown
from divulge.assessment.assessment import as_count_share
from divulge.classes.people import find_people
from divulge.classes.relation_classes import (
    SecretCounts,
    count_group_secrets,
    count_group_sizes,
    count_relation_classes,
    count_relation_secrets,
)
from divulge.data import Relation
from divulge.data.relation import RecordsElsewhere
from divulge.engines import ClassSizes
from divulge.qif import PriorPosterior
from divulge.records.inference.per_record import GroupSums, assess_group, round_pair
from divulge.records.models.everybody import assess_counts, describe_attack
from divulge.records.models.linked_datasets import check_attributes
from divulge.records.models.one_person import build_person_assessment, list_posterior_figures
from divulge.records.models.relation_target import count_matches, count_target_values
from divulge.records.participation import describe_participation
from divulge.work import InvalidInput, Problem
from divulge.work.arrays import Floats

MODELS_OF_RELATIONS = ("CRS", "CAS", "IRS", "IAS")


def attack_relation(
    relation: Relation,
    model: str,
    knows: str | Iterable[str] | None,
    seeks: str | Iterable[str] | None,
    target: Any = None,
) -> Assessment:
    """Attack records where they are; the arguments are checked already.

    Raises:
        UnjudgedPeopleError: if somebody has several records.
        EngineError: if the engine is away, or the records change meanwhile.
    """
    find_people(relation)
    known = relation.attributes(knows, "knows")
    _, sought = check_attributes([relation], "", known, seeks)
    if model.startswith("I"):
        assessment = _attack_one_person(relation, model, known, sought, target)
    else:
        assessment = _attack_everybody(relation, model, known, sought)
    # Of a sample: what weights tell is counted in memory only, and said to be unknown.
    return describe_participation(assessment, relation, None if sought else _count_nothing)


def _count_nothing(weights: Floats) -> float:
    """Never called: a relation has no weights at hand, which is told before."""
    raise NotImplementedError(f"{len(weights)} weights of a relation")


def require_countable(model: str, datasets: Sequence[Any], options: Mapping[str, Any]) -> None:
    """Refuse what of an attack cannot be counted where records are.

    Args:
        model: by its acronym.
        datasets: all that are attacked.
        options: other arguments of the attack, by name; None where one was not given.

    Raises:
        RecordsElsewhere: with all of it, and what can be done.
    """
    if not any(isinstance(dataset, Relation) for dataset in datasets):
        return
    where = "is counted in memory only so far, and records stay where they are."
    hint = 'Read them (dv.read, or engine = "memory").'
    problems = []
    if model not in MODELS_OF_RELATIONS:
        allowed = ", ".join(MODELS_OF_RELATIONS)
        problems.append(Problem("model", f"{model} {where} {hint} Of relations: {allowed}."))
    problems += [
        Problem(name, f"{where} {hint}") for name, value in options.items() if value is not None
    ]
    if problems:
        raise RecordsElsewhere("attack", problems)


def _attack_everybody(
    relation: Relation, model: str, known: list[str], sought: list[str]
) -> Assessment:
    rows = relation.rows
    if sought:
        secrets = count_relation_secrets(relation, known, sought)
        sizes, counts = secrets.sizes, _gather_secret_counts(secrets, rows)
        highest = as_count_share(secrets.highest, rows)
    else:
        sizes = count_relation_classes(relation, known)
        counts, highest = _gather_class_counts(sizes, rows), Fraction(1, sizes.smallest)

    def break_down(group: str) -> Breakdown:
        [name] = relation.attributes(group, "by")
        return _break_down(relation, model, known, sought, name)

    return assess_counts(
        relation,
        counts,
        known,
        seeks=sought,
        model=model,
        _breakdown=break_down,
        _highest=lambda: highest,
    )


def _gather_class_counts(sizes: ClassSizes, rows: int) -> dict[str, npt.NDArray[Any]]:
    certain, right = (int(rows == 1), sizes.singletons), (1.0, float(sizes.count))
    return _gather_counts(sizes, certain, right, float(sizes.count), rows)


def _gather_secret_counts(secrets: SecretCounts, rows: int) -> dict[str, npt.NDArray[Any]]:
    certain = (rows if secrets.kinds == 1 else 0, secrets.pure)
    right = (float(secrets.commonest), float(secrets.best))
    return _gather_counts(secrets.sizes, certain, right, secrets.capacity, rows)


def _gather_counts(
    sizes: ClassSizes,
    certain: tuple[int, int],
    right: tuple[float, float],
    capacity: float,
    rows: int,
) -> dict[str, npt.NDArray[Any]]:
    """What `assess_counts` takes."""
    return {
        "size": sizes.size,
        "classes": sizes.classes,
        "certain": np.array(certain),
        "right": np.array(right),
        "deterministic": np.array(certain) / rows,
        "probabilistic": np.array(right) / rows,
        "capacity": np.array([capacity]),
    }


def _break_down(
    relation: Relation, model: str, known: list[str], sought: list[str], group: str
) -> Breakdown:
    """The figures of every value of an attribute."""
    sums: dict[Any, _GroupTally] = {}

    def find_tally(value: Any) -> _GroupTally:
        return sums.setdefault(value, _GroupTally())

    if sought:
        after, before = count_group_secrets(relation, known, sought, group)
        secrets = count_relation_secrets(relation, known, sought)
        for row in after.to_pylist():
            find_tally(row["value"]).add_secrets(**row)
        for row in before.to_pylist():
            tally = find_tally(row["value"])
            tally.right_before += Fraction(row["common"], secrets.tied)
            tally.certain_before += row["records"] if secrets.kinds == 1 else 0
        values = before.column("value")
    else:
        found = count_group_sizes(relation, known, group)
        for row in found.to_pylist():
            find_tally(row["value"]).add_sizes(row["size"], row["records"], relation.rows)
        values = found.column("value")
    description = describe_attack(relation, known, sought, model)
    names = relation.encode_values(group, values.combine_chunks())
    order = np.unique(names.codes, return_index=True)[1]
    raw = values.to_pylist()
    return Breakdown(
        group,
        {
            names.value(int(names.codes[place])): assess_group(
                description, sums[raw[place]].to_sums()
            )
            for place in order
        },
    )


class _GroupTally:
    """Sums over the records of a group, in whole numbers and fractions."""

    def __init__(self) -> None:
        self.records = 0
        self.certain = 0
        self.certain_before = 0
        self.right = Fraction(0)
        self.right_before = Fraction(0)

    def add_sizes(self, size: int, records: int, rows: int) -> None:
        self.records += records
        self.certain += records if size == 1 else 0
        self.certain_before += records if rows == 1 else 0
        self.right += Fraction(records, size)
        self.right_before += Fraction(records, rows)

    def add_secrets(
        self,
        value: Any,  # noqa: ARG002  # of which group it is
        is_best: int,
        tied: int,
        is_pure: int,
        records: int,
    ) -> None:
        self.records += records
        self.certain += records if is_pure else 0
        self.right += Fraction(records, tied) if is_best else 0

    def to_sums(self) -> GroupSums:
        certain = round_pair((self.certain_before, self.certain))
        right = round_pair((self.right_before, self.right))
        return GroupSums(
            secrets=self.records, certain=certain, sure=certain, right=right, worth=None
        )


def _attack_one_person(
    relation: Relation, model: str, known: list[str], sought: list[str], target: Any
) -> Assessment:
    if not isinstance(target, Mapping):
        message = "give a value for each attribute that is known, as {attribute: value}."
        raise InvalidInput("attack", [Problem("target", message)])
    rows = relation.rows
    matching = count_matches(relation, known, target)
    figures: dict[str, float] = {"matching": matching}
    if sought:
        if len(sought) > 1:
            message = f"names {len(sought)} attributes; of one person where records are, seek one."
            raise InvalidInput("attack", [Problem("seeks", message)])
        counts, labels = count_target_values(relation, known, sought[0], target)
        shares = counts / counts.sum()
        figures |= list_posterior_figures(shares, labels)
        before = count_relation_secrets(relation, known, sought)
        prior_certain, prior_right = int(before.kinds == 1), before.commonest / rows
    else:
        shares = np.full(matching, 1.0) / matching
        prior_certain, prior_right = int(rows == 1), 1.0 / rows
    return build_person_assessment(
        relation,
        known,
        sought,
        model=model,
        certain=PriorPosterior(prior_certain, int(np.count_nonzero(shares) == 1)),
        right=PriorPosterior(prior_right, float(shares.max())),
        figures=figures,
    )
