"""The sweep of a dataset in which somebody has several records: set by set, counting people.

The cube adds records up; a person who has several must be counted once in a class, so every set is
grouped for itself. That is slower where there are many sets.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from divulge import work
from divulge.classes.partition import AttributeCodes, Partition
from divulge.classes.people import People, RecordsKnown, require_shown_cells
from divulge.data import Dataset
from divulge.records.inference.people_secrets import PeopleSecrets
from divulge.records.sweep.result import SweepFigures
from divulge.records.sweep.set_bits import build_set_bits
from divulge.records.sweep.set_choice import AttributeSet
from divulge.work.arrays import Floats

_SIZES = (("2", 2, 2), ("3_to_4", 3, 4), ("5_to_9", 5, 9), ("10_or_more", 10, None))


def count_people_by_set(
    dataset: Dataset,
    known: Sequence[str],
    sought: Sequence[str],
    *,
    people: People,
    records_known: RecordsKnown,
    sets: Sequence[AttributeSet],
    weights: Floats | None,
    capacity: bool,
) -> SweepFigures:
    """All figures of some sets, in people.

    Raises:
        UnjudgedPeopleError: if all records are known and some hide cells.
    """
    if records_known == "all":
        require_shown_cells(dataset, tuple(known), people)
    values_by_name: dict[str, list[float]] = {}
    secrets = {name: AttributeCodes.from_column(dataset.columns[name]) for name in sought}
    with work.step("Assessing every set of quasi-identifiers", len(sets)) as step:
        for chosen in sets:
            classes = Partition.from_attributes(dataset, [known[i] for i in chosen])
            alike = people.gather_all_records(classes) if records_known == "all" else classes
            whose = PeopleSecrets(people, alike, None)
            figures = dict(_list_class_figures(whose))
            figures.update(_list_guess_figures(whose, "certain", "right"))
            if weights is not None:
                weighed = PeopleSecrets(people, alike, None, weights)
                figures.update(_list_weighed_figures(weighed, "singletons", "classes"))
            observed = people.observe(classes, records_known)
            for name, secret in secrets.items():
                told = PeopleSecrets(people, observed, secret)
                figures.update(_list_guess_figures(told, f"{name}.pure", f"{name}.best"))
                if capacity:
                    figures[f"{name}.capacity"] = told.capacity
                if weights is not None:
                    weighed = PeopleSecrets(people, observed, secret, weights)
                    figures.update(_list_weighed_figures(weighed, f"{name}.pure", f"{name}.best"))
            for name, value in figures.items():
                values_by_name.setdefault(name, []).append(value)
            step.advance()
    columns = {name: np.array(values) for name, values in values_by_name.items()}
    return SweepFigures(build_set_bits(sets, len(known)), columns)


def _list_class_figures(secrets: PeopleSecrets) -> Iterator[tuple[str, float]]:
    """How many classes there are, by the number of persons in them."""
    sizes = secrets.people_per_class
    yield "classes", int(sizes.size)
    yield "singletons", int(np.count_nonzero(sizes == 1))
    for name, least, most in _SIZES:
        within = sizes >= least if most is None else (sizes >= least) & (sizes <= most)
        yield f"classes_of_{name}", int(np.count_nonzero(within))
    yield "k_anonymity", int(sizes.min())


def _list_guess_figures(
    secrets: PeopleSecrets, certain: str, right: str
) -> Iterator[tuple[str, float]]:
    """How many people are known for certain, and guessed right; halves of people are halves."""
    yield certain, float(secrets.certain)
    yield right, float(secrets.right)


def _list_weighed_figures(
    secrets: PeopleSecrets, certain: str, right: str
) -> Iterator[tuple[str, float]]:
    """The same in the weights of people."""
    scale = float(secrets.weight.sum()) / secrets.people.number
    yield f"weighted.{certain}", float(secrets.certain) * scale
    yield f"weighted.{right}", float(secrets.right) * scale
