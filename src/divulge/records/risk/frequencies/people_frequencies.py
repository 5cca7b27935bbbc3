"""How many people look like a record, where somebody has several records.

Who knows that their victim has a record with some values counts the persons who have one: a person
whose fitting records hide cells counts by the chance that at least one of them is such a record. As
records of one person tend to repeat each other, that chance lies between that of the surest record
and that of independent ones: others count by the lower, the likeliest person by the higher.
Who knows a record of their victim that was drawn at random also weighs how often it would have been
drawn of each of them: a person with all their records here is likelier than one with a few.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from divulge.assessment import Sentence
from divulge.classes.key_codes import encode_keys
from divulge.classes.keys import assign_classes
from divulge.classes.original_values import check_same_records
from divulge.classes.overlapping_classes import Together, gather_overlapping_entries
from divulge.classes.partition import Partition, number_ids
from divulge.classes.people import People, RecordsKnown, find_people, require_shown_cells
from divulge.data import Dataset
from divulge.work.arrays import Floats, Ints


@dataclass(frozen=True, kw_only=True)
class PeopleFrequencies:
    """Of each record: how many people look like it, what they weigh, and the likeliest of them."""

    sample: Floats
    population: Floats
    likeliest: Floats
    """The chance of the likeliest person, of whom the record that is known was drawn."""
    weighed: bool


def count_people(
    dataset: Dataset,
    names: Sequence[str],
    nulls: str,
    *,
    people: People,
    records_known: RecordsKnown,
    original: Dataset | None,
    weights: Floats,
) -> PeopleFrequencies:
    """Count the people who look like each record.

    Args:
        dataset: the records of the release.
        names: the attributes that make records look alike.
        nulls: what a missing value may stand for.
        people: who the records are of.
        records_known: whether one record of the victim is known, or all.
        original: the records before protection (`known`, `bayes`); None if nothing is hidden.
        weights: the sampling weight of each record.

    Raises:
        UnjudgedPeopleError: if all records are known and some hide cells.
    """
    # A person stands for as many as the least of their records does: more would flatter.
    weight_of_person = np.full(people.number, np.inf)
    np.minimum.at(weight_of_person, people.of_record, weights)
    knows_original = original is not None and nulls in ("known", "bayes")
    if original is not None:
        check_same_records(dataset, original, names)
    if records_known == "all":
        require_shown_cells(dataset, tuple(names), people)
    keys = encode_keys(dataset, names, absence_apart=nulls not in ("maybe", "standard"))
    hides = any(key.hides for key in keys)
    if records_known == "one" and (knows_original or (nulls == "maybe" and hides)):
        return _count_overlapping(
            dataset, names, nulls, people=people, original=original, weight=weight_of_person
        )
    alike = assign_classes(
        [key.codes for key in keys], [key.cardinality for key in keys], dataset.rows
    )
    if nulls == "standard":
        alone = np.zeros(dataset.rows, np.bool_)
        for key in keys:
            alone |= key.codes == key.hidden_code
        alike = np.where(alone, int(alike.max(initial=0)) + 1 + np.arange(dataset.rows), alike)
    of_record, number = number_ids(alike)
    classes = Partition(of_record, number)
    if records_known == "all":
        classes = people.gather_all_records(classes)
    return _count_disjoint(classes, people, weight_of_person)


def _count_disjoint(classes: Partition, people: People, weight: Floats) -> PeopleFrequencies:
    """The persons of classes that share no record."""
    joint = classes.of_record.astype(np.int64) * people.number + people.of_record
    entries, place = np.unique(joint, return_inverse=True)
    of_class, person = entries // people.number, entries % people.number
    share = np.bincount(place.reshape(-1), people.weight, entries.size)
    total = np.bincount(of_class, share, classes.number)
    highest = np.zeros(classes.number)
    np.maximum.at(highest, of_class, share)
    sample = np.bincount(of_class, minlength=classes.number).astype(np.float64)
    population = np.bincount(of_class, weight[person], classes.number)
    return PeopleFrequencies(
        sample=sample[classes.of_record],
        population=population[classes.of_record],
        likeliest=(highest / total)[classes.of_record],
        weighed=False,
    )


def _count_overlapping(
    dataset: Dataset,
    names: Sequence[str],
    nulls: str,
    *,
    people: People,
    original: Dataset | None,
    weight: Floats,
) -> PeopleFrequencies:
    """The persons whose records may be a record, weighed by how likely they are."""

    def gather(
        reading: str, together: Together, each: Floats | None = None
    ) -> tuple[Ints, Ints, Ints, Floats]:
        entries = gather_overlapping_entries(
            dataset,
            names,
            reading,
            original=original,
            codes=people.of_record,
            values=people.number,
            weights=each,
            together=together,
        )
        return entries.of_record, entries.of_class, entries.code, entries.amount

    of_record, of_class, person, lowest = gather(nulls, "surest")
    *_, highest = gather(nulls, "independent")
    _, drawn_class, _, drawn = gather(nulls, "added", people.weight)
    number = int(of_record.max()) + 1
    if len(np.unique(of_class)) < number:
        # A prior that excludes everybody weighs nothing: they are left to be counted.
        of_record, of_class, person, lowest = gather("known", "surest")
        *_, highest = gather("known", "independent")
        _, drawn_class, _, drawn = gather("known", "added", people.weight)
    others = np.bincount(of_class, lowest, number)[of_class] - lowest
    company = 1 + others / highest
    sample = np.full(number, np.inf)
    np.minimum.at(sample, of_class, company)
    weighed = lowest * weight[person]
    other_weights = np.bincount(of_class, weighed, number)[of_class] - weighed
    is_likeliest = company == sample[of_class]
    population = np.full(number, np.inf)
    np.minimum.at(
        population,
        of_class[is_likeliest],
        (weight[person] + other_weights / highest)[is_likeliest],
    )
    most_drawn = np.zeros(number)
    np.maximum.at(most_drawn, drawn_class, drawn)
    return PeopleFrequencies(
        sample=sample[of_record],
        population=population[of_record],
        likeliest=(most_drawn / np.bincount(drawn_class, drawn, number))[of_record],
        weighed=nulls == "bayes",
    )


def describe_people(dataset: Dataset, records_known: RecordsKnown = "one") -> tuple[Sentence, ...]:
    """That people are counted, where somebody has several records."""
    people = find_people(dataset)
    if people is None:
        return ()
    values = {"people": people.number, "records": dataset.rows}
    return (Sentence("divulge.records", f"people.counted_{records_known}", values),)
