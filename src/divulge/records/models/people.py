"""Attacks on people who have several records each: the person is the secret, or what they hide.

The figures count people. Each stands for one, however many records they have: somebody whose
records are alone in half of the cases is half singled out.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt

from divulge import work
from divulge.assessment import Assessment, Sentence
from divulge.classes.people import People, RecordsKnown
from divulge.data import Dataset
from divulge.engines import ClassSizes
from divulge.qif import PriorPosterior
from divulge.records.inference import charts
from divulge.records.inference.people_secrets import PeopleSecrets, plain_number
from divulge.records.inference.per_record import AttackDescription, PerRecordSuccess
from divulge.records.models.everybody import describe_attack

SUBJECTS = "people"


def assess_people(
    dataset: Dataset,
    secrets: Callable[[], PeopleSecrets],
    knows: list[str],
    *,
    seeks: list[str],
    model: str,
    people: People,
    records_known: RecordsKnown,
    gain: Any = None,
    key: Callable[[], Mapping[str, object]] | None = None,
    weighed: bool = False,
) -> Assessment:
    """Assess what is inferred of all people of a dataset; their secrets are made when needed."""

    def count_figures() -> dict[str, npt.NDArray[Any]]:
        return _count_figures(secrets(), gain)

    counts = (
        count_figures()
        if key is None or gain is not None
        else work.memoise("people", key, count_figures)
    )
    number = people.number
    certain, right = (_read_pair(counts[name]) for name in ("certain", "right"))
    probabilistic = PriorPosterior(*(float(share) for share in counts["probabilistic"]))
    sizes = ClassSizes(counts["size"], counts["classes"])
    description = describe_people(dataset, people, records_known, describe_attack(
        dataset, knows, seeks, model, weighed
    ))  # fmt: skip
    return Assessment(
        **description.to_assessment_fields(
            number, certain, right, None if gain is None else probabilistic
        ),
        deterministic=PriorPosterior(
            float(certain.prior / number), float(certain.posterior / number)
        ),
        probabilistic=probabilistic,
        figures={
            "classes": sizes.count,
            "singletons": sizes.singletons,
            "smallest_class": sizes.smallest,
            "records": dataset.rows,
            "capacity": float(counts["capacity"][0]),
        },
        _chart=lambda: charts.draw_class_sizes(sizes, SUBJECTS),
        _breakdown=lambda group: assess_each(secrets(), gain).break_down(
            description, dataset, group
        ),
        _risk=lambda: secrets().weighed.risk,
    )


def describe_people(
    dataset: Dataset, people: People, records_known: RecordsKnown, description: AttackDescription
) -> AttackDescription:
    """The same attack on people, with what is known of them said."""
    values = {"people": people.number, "records": dataset.rows}
    sentence = Sentence("divulge.records", f"people.{records_known}", values)
    return replace(description, subjects=SUBJECTS, notes=(*description.notes, sentence))


def assess_each(secrets: PeopleSecrets, gain: Any = None) -> PerRecordSuccess:
    """What is known of whoever has each record, before and after."""
    return replace(secrets.weighed.assess_records(gain), people=secrets.people)


def _count_figures(secrets: PeopleSecrets, gain: Any) -> dict[str, npt.NDArray[Any]]:
    """All figures, before and after; fractions as two texts of whole numbers."""
    before, number = secrets.prior_knowledge, secrets.people.number
    occurrences = np.bincount(secrets.people_per_class)
    size = np.flatnonzero(occurrences)
    right = before.right, secrets.right
    worth = (
        [float(count / number) for count in right]
        if gain is None
        else secrets.weighed.compute_g_vulnerability(gain)
    )
    return {
        "size": size,
        "classes": occurrences[size],
        "certain": np.array([str(before.certain), str(secrets.certain)]),
        "right": np.array([str(count) for count in right]),
        "probabilistic": np.array(worth),
        "capacity": np.array([secrets.capacity]),
    }


def _read_pair(texts: npt.NDArray[Any]) -> PriorPosterior:
    """Counts of people as they were written: whole numbers, fractions, or floats."""
    counts: Iterator[Any] = (
        float(text) if any(letter in text for letter in ".en") else plain_number(Fraction(text))
        for text in map(str, texts)
    )
    return PriorPosterior(*counts)
