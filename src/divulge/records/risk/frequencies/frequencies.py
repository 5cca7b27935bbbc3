"""Who is unique: frequencies of combinations of quasi-identifiers, in sample and population.

f_k counts the records that share a record's quasi-identifiers, F_k sums their sampling weights
(Benedetti & Franconi 1998). What "share" means where cells are missing is a choice of its own:
see `classes.null_semantics`.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import cast

import numpy as np

from divulge.classes.people import (
    RECORDS_KNOWN,
    People,
    RecordsKnown,
    build_unjudged_error,
    find_people,
)
from divulge.classes.relation.frequencies import FrequencyRows, count_relation_frequencies
from divulge.classes.survey_design import weights_or_ones
from divulge.data import Dataset, Relation
from divulge.data.column import find_hidden_cells
from divulge.data.relation.relation import build_elsewhere_error
from divulge.records.risk.frequencies.figures_on_demand import CountsOnDemand
from divulge.records.risk.frequencies.pattern_counter import FrequencyCounter, Prior
from divulge.records.risk.frequencies.people_frequencies import PeopleFrequencies, count_people
from divulge.records.risk.frequencies.result import Frequencies, count_alone
from divulge.records.risk.null_readings import (
    SEMANTICS,
    SEMANTICS_OF_ORIGINAL,
    Nulls,
    build_hidden_cells_error,
)
from divulge.work import DivulgeError, InvalidInput, Problem, checks


def frequencies(
    dataset: Dataset,
    nulls: Nulls = "bayes",
    alpha: float = 1.0,
    among: str | Iterable[str] | None = None,
    original: Dataset | None = None,
    *,
    prior: Prior | None = None,
    records_known: RecordsKnown = "one",
) -> Frequencies:
    """Count, for every record, the records that look like it.

    Args:
        dataset: the records as they are to be released.
        nulls: what a missing value may stand for: `maybe`, `standard`, `value`, `known`, `bayes`.
        alpha: what a record with nulls counts for a complete record that it may match (`maybe`).
        among: the attributes to consider; all quasi-identifiers if none are given.
        original: the same records before protection, in the same order: what an adversary who
            knows their victim knows (`known`, `bayes`; needed if the release has nulls).
        prior: by attribute, the chance of each value where it is hidden (`bayes`); else the
            share among the complete records that agree on the rest.
        records_known: with the role `person`, people are counted: those who have a record like
            the `one` that is known, or those who are alike in `all` their records.

    >>> import divulge as dv
    >>> before = dv.datasets.local_suppression_example()
    >>> after = dv.datasets.local_suppression_example(protected=True)
    >>> frequencies(after, nulls="maybe").sample.tolist()
    [5, 3, 3, 3, 3, 2, 2]
    >>> frequencies(after, nulls="known", original=before).sample.tolist()
    [1, 3, 3, 3, 3, 2, 2]
    """
    _check_arguments(nulls, alpha, dataset, prior, records_known)
    names = dataset.attributes(among, "among")
    people = find_people(dataset)
    if isinstance(dataset, Relation):
        return _count_where_they_are(dataset, nulls, names, alpha=alpha, original=original)
    if people is not None:
        if alpha != 1 or prior is not None:
            raise build_unjudged_error(dataset, people, "alpha and prior weigh records")
        return _count_by_people(
            dataset, nulls, names, original=original, people=people, records_known=records_known
        )
    counter = FrequencyCounter(dataset, names, original, prior)
    sample, population = counter.count_frequencies(nulls, alpha)
    whole = (nulls != "bayes" or not counter.hides) and (alpha == 1 or nulls != "maybe")
    ways = [
        each for each in SEMANTICS if each not in SEMANTICS_OF_ORIGINAL or counter.knows_original
    ]
    return Frequencies(
        sample=np.rint(sample).astype(np.int64) if whole else sample,
        population=population,
        nulls=nulls,
        dataset=dataset,
        attributes=tuple(names),
        # Counted where they are asked for: protection counts again after every change.
        others=CountsOnDemand(
            ways, lambda each: count_alone(counter.count_frequencies(cast(Nulls, each), alpha)[0])
        ),
        weighed=nulls == "bayes" and counter.hides,
    )


def _count_where_they_are(
    relation: Relation, nulls: Nulls, names: list[str], *, alpha: float, original: Dataset | None
) -> Frequencies:
    """The same counted by an engine: what is missing there is absent, as nothing is hidden."""
    if original is not None:
        raise build_elsewhere_error(relation.name, relation.engine, "an original beside a release")

    def count(reading: str) -> FrequencyRows:
        return count_relation_frequencies(relation, names, reading, alpha)

    rows = count(nulls)
    is_whole = alpha == 1 or nulls != "maybe"

    def count_others(reading: str) -> int:
        other = count(reading)
        return count_alone(other.sample, other.number)

    return Frequencies(
        sample=np.rint(rows.sample).astype(np.int64) if is_whole else rows.sample,
        population=rows.population,
        number=rows.number,
        nulls=nulls,
        dataset=relation,
        attributes=tuple(names),
        others=CountsOnDemand(list(SEMANTICS), count_others),
    )


def _count_by_people(
    dataset: Dataset,
    nulls: Nulls,
    names: list[str],
    *,
    original: Dataset | None,
    people: People,
    records_known: RecordsKnown,
) -> Frequencies:
    """The frequencies of people, where somebody has several records."""
    hides = any(np.any(find_hidden_cells(dataset.columns[name])) for name in names)
    if nulls in SEMANTICS_OF_ORIGINAL and original is None and hides:
        raise build_hidden_cells_error(dataset, names, nulls)

    def count(reading: str) -> PeopleFrequencies:
        return count_people(
            dataset,
            names,
            reading,
            people=people,
            records_known=records_known,
            original=original,
            weights=weights_or_ones(dataset),
        )

    counts = count(nulls)
    ways = [n for n in SEMANTICS if n not in SEMANTICS_OF_ORIGINAL or original or not hides]
    return Frequencies(
        sample=counts.sample if counts.weighed else np.rint(counts.sample).astype(np.int64),
        population=counts.population,
        nulls=nulls,
        dataset=dataset,
        attributes=tuple(names),
        # Counted where they are asked for: protection counts again after every change.
        others=CountsOnDemand(ways, lambda reading: count_alone(count(reading).sample)),
        weighed=counts.weighed and hides,
        people=people,
        likeliest=counts.likeliest,
    )


def _check_arguments(
    nulls: str, alpha: float, dataset: Dataset, prior: Prior | None, records_known: str
) -> None:
    problems = list(checks.one_of("records_known", records_known, RECORDS_KNOWN))
    if nulls not in SEMANTICS:
        message = f'"{nulls}" is not a way to count missing values.'
        problems.append(Problem("nulls", message, value=nulls, allowed=SEMANTICS))
    problems += checks.share("alpha", alpha)
    if prior is not None and nulls != "bayes":
        problems.append(Problem("prior", 'is used by nulls="bayes" only.'))
    if problems:
        raise InvalidInput("frequencies", problems)
    if dataset.rows == 0:
        raise DivulgeError(f'dataset "{dataset.name}" has no records')
