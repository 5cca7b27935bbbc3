"""Who is unique: frequencies of combinations of quasi-identifiers, in sample and population.

f_k counts the records that share a record's quasi-identifiers, F_k sums their sampling weights
(Benedetti & Franconi 1998). What "share" means where cells are missing is a choice of its own:
see `classes.null_semantics`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias, cast

import numpy as np
import numpy.typing as npt

from divulge.assessment import Assessment, Breakdown, Chart, Claim, Sentence
from divulge.assessment.limit import is_beyond_bound
from divulge.classes import null_semantics
from divulge.classes.key_codes import encode_keys
from divulge.classes.keys import sum_by_place
from divulge.classes.original_values import build_prior_chances, check_same_records, gather_victims
from divulge.classes.partition import Partition
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
from divulge.records.risk.charts import draw_frequencies as picture
from divulge.records.risk.figures_on_demand import CountsOnDemand, SentencesOnDemand
from divulge.records.risk.null_readings import (
    SEMANTICS,
    SEMANTICS_OF_ORIGINAL,
    Nulls,
    build_hidden_cells_error,
)
from divulge.records.risk.people_frequencies import PeopleFrequencies, count_people
from divulge.records.risk.record_risk import RecordRisk
from divulge.records.risk.row_numbers import count_chosen, count_rows, require_rows_at_home
from divulge.work import DivulgeError, InvalidInput, Problem, checks
from divulge.work.arrays import Floats, Ints

if TYPE_CHECKING:
    import pyarrow as pa

Prior: TypeAlias = Mapping[str, Mapping[Any, float]]
"""By attribute, how likely the adversary holds each value where it is hidden."""


@dataclass(frozen=True, repr=False, kw_only=True)
class Frequencies:
    """How many look like each record, in the sample and in the population.

    `sample` is f_k (whole numbers unless records are weighed), `population` is F_k. Where somebody
    has several records, `people` are counted, and `likeliest` is the chance of the likeliest one.
    """

    sample: npt.NDArray[Any]
    population: Floats
    nulls: Nulls
    dataset: Dataset
    attributes: tuple[str, ...]
    others: Mapping[str, int]
    weighed: bool = False
    """Whether some records that fit somebody are likelier theirs than others."""
    people: People | None = None
    likeliest: Floats | None = None
    number: Ints | None = None
    """How many records each figure is of, where records stay elsewhere; None: one."""

    @property
    def records(self) -> int:
        """How many records there are."""
        return count_rows(self.sample, self.number)

    @property
    def uniques(self) -> int:
        """Records that nobody else looks like: fewer than two are left, weighed where asked for."""
        return _count_alone(self.sample, self.number)

    @property
    def smallest(self) -> float:
        """The lowest frequency: k of k-anonymity under these semantics."""
        return float(self.sample.min())

    @property
    def claim(self) -> Claim:
        """Counting is exact; weighing is an estimate."""
        return "estimate" if self.weighed else "exact"

    def below(self, k: float) -> int:
        """How many records have a frequency below k."""
        return count_chosen(is_beyond_bound(self.sample, k, "lowest"), self.number)

    def risk(self) -> RecordRisk:
        """One over the frequency in the sample: the risk if the adversary knows who is in it."""
        alone = self.side_by_side()
        return RecordRisk(
            values=1 / np.maximum(self.sample, 1.0) if self.likeliest is None else self.likeliest,
            people=self.people,
            number=self.number,
            measure="prosecutor_risk",
            dataset=self.dataset,
            attributes=self.attributes,
            claim=self.claim,
            notes=SentencesOnDemand(self.sentences),
            figures=CountsOnDemand(
                ["uniques", *alone],
                lambda name: self.uniques if name == "uniques" else alone[name],
            ),
            detail=self.nulls,
        )

    def sentences(self) -> tuple[Sentence, ...]:
        """How many are unique under each way of counting, and where that understates the risk."""
        values = {
            "total": self.records,
            "subjects": self.dataset.subjects,
            "uniques": self.uniques,
            "nulls": self.nulls,
        }
        return Sentence("divulge.records", "frequencies.alone", values), *self.flattery()

    def flattery(self) -> tuple[Sentence, ...]:
        """A sentence where one way of counting makes the data look safer than another does."""
        if {"maybe", "known"} <= set(self.others) and self.others["known"] > self.others["maybe"]:
            key = "frequencies.flatters"
        elif "known" not in self.others and self.others["standard"] > self.others["maybe"]:
            key = "frequencies.hidden"
        else:
            return ()
        return (Sentence("divulge.records", key, dict(self.side_by_side())),)

    def side_by_side(self) -> Mapping[str, int]:
        """How many are unique under each way of counting, as figures of a risk."""
        return CountsOnDemand(
            [f"alone_{name}" for name in self.others],
            lambda name: self.others[name.removeprefix("alone_")],
        )

    def summary(self) -> dict[str, Any]:
        """The figures under these semantics, and how many are unique under the others."""
        return {
            "dataset": self.dataset.name,
            "attributes": list(self.attributes),
            "nulls": self.nulls,
            "claim": self.claim,
            "records": self.records,
            "smallest": self.smallest,
            "uniques": self.uniques,
            "below": {str(k): self.below(k) for k in (2, 3, 5, 10)},
            "alone_by_semantics": dict(self.others),
        }

    def to_dict(self) -> dict[str, Any]:
        """The summary and the sentences; no record."""
        return {**self.summary(), "sentences": [str(each) for each in self.sentences()]}

    def to_arrow(self) -> pa.Table:
        """One row per record: f_k and F_k."""
        import pyarrow as pa

        require_rows_at_home(self.dataset)

        return pa.table({"sample": self.sample, "population": self.population})

    def assessment(self) -> Assessment:
        """The risk of an adversary who knows who is in the sample."""
        return self.risk().assessment()

    def by(self, group: str) -> Breakdown:
        """The same risk for every value of an attribute."""
        return self.risk().by(group)

    def chart(self) -> Chart:
        """How many records have how many that look like them."""
        return picture(self)

    def __str__(self) -> str:
        return "\n".join(map(str, self.sentences()))

    def __repr__(self) -> str:
        return (
            f'Frequencies("{self.dataset.name}", {self.nulls}: {self.uniques:,} of '
            f"{self.records:,} {self.dataset.subjects} unique)"
        )


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
    counter = _FrequencyCounter(dataset, names, original, prior)
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
            ways, lambda each: _count_alone(counter.count_frequencies(cast(Nulls, each), alpha)[0])
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
        return _count_alone(other.sample, other.number)

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
        others=CountsOnDemand(ways, lambda reading: _count_alone(count(reading).sample)),
        weighed=counts.weighed and hides,
        people=people,
        likeliest=counts.likeliest,
    )


def _count_alone(sample: npt.NDArray[Any], number: Ints | None = None) -> int:
    """How many records have not one other to hide behind; sums of chances end a hair below."""
    return count_chosen(sample < 2 - 1e-9, number)


class _FrequencyCounter:
    """Patterns are made once and counted in as many ways as are asked for."""

    def __init__(
        self, dataset: Dataset, names: list[str], original: Dataset | None, prior: Prior | None
    ) -> None:
        if original is not None:
            check_same_records(dataset, original, names)
        self.weights = weights_or_ones(dataset)
        self._source = (dataset, names, original, prior)
        self._cache: dict[tuple[Nulls, float], tuple[Floats, Floats]] = {}
        self.is_plain = _is_recoded_alike(dataset, names, original)
        self.hides, self.knows_original = False, True
        if not self.is_plain:
            self._gather_patterns()

    def _gather_patterns(self) -> None:
        dataset, names, original, _ = self._source
        keys = encode_keys(dataset, names, absence_apart=False)
        apart = encode_keys(dataset, names, absence_apart=True, original=original)
        self.hides = any(key.hides for key in apart)
        self.knows_original = original is not None or not self.hides
        self.patterns = null_semantics.gather_patterns(keys, self.weights)
        # Where nothing is missing, both ways to read what is missing are one.
        self.patterns_apart = (
            null_semantics.gather_patterns(apart, self.weights)
            if any(key.hides for key in keys)
            else self.patterns
        )

    def count_frequencies(self, nulls: Nulls, alpha: float) -> tuple[Floats, Floats]:
        """Frequency and weight of each record."""
        key = (nulls, alpha)
        if key not in self._cache:
            self._cache[key] = self._count_by_semantics(nulls, alpha)
        return self._cache[key]

    def _count_by_semantics(self, nulls: Nulls, alpha: float) -> tuple[Floats, Floats]:
        dataset, names, original, prior = self._source
        if self.is_plain:
            return _count_classes(dataset, names, self.weights)
        if nulls == "standard":
            return null_semantics.count_by_standard(self.patterns, self.weights)
        if nulls == "maybe":
            counts = null_semantics.count_by_maybe(self.patterns, alpha)
            return counts[0][self.patterns.of_record], counts[1][self.patterns.of_record]
        if nulls == "value" or (original is None and not self.hides):
            # A reader of the file tells what is hidden from what is absent: two values.
            counts = null_semantics.count_by_value(self.patterns_apart)
            of_record = self.patterns_apart.of_record
            return counts[0][of_record], counts[1][of_record]
        if original is None:
            raise build_hidden_cells_error(dataset, names, nulls)
        victims = gather_victims(dataset, original, names)
        if nulls == "known":
            counts = null_semantics.count_by_known(self.patterns_apart, victims)
        else:
            chances = build_prior_chances(original, names, prior) if prior else None
            counts = null_semantics.count_by_bayes(self.patterns_apart, victims, chances)
        return counts[0][victims.of_record], counts[1][victims.of_record]


def _is_recoded_alike(dataset: Dataset, names: Sequence[str], original: Dataset | None) -> bool:
    """Whether all readings are one: nothing is missing, and a value became the same for all.

    Then whoever fits somebody by their original values is whoever looks like them.
    """
    for name in names:
        column = dataset.columns[name]
        before = None if original is None else original.columns[name]
        if column.has_missing or (before is not None and before.has_missing):
            return False
        if before is None or before is column:
            continue
        became = np.zeros(len(before.values) + 1, column.codes.dtype)
        became[before.codes] = column.codes
        if not np.array_equal(became[before.codes], column.codes):
            return False
    return True


def _count_classes(
    dataset: Dataset, names: Sequence[str], weights: Floats
) -> tuple[Floats, Floats]:
    """How many look like each record, and their weight, in little memory."""
    classes = Partition.from_attributes(dataset, names)
    weight = sum_by_place(classes.of_record, weights, classes.number)
    return classes.sizes[classes.of_record].astype(np.float64), weight[classes.of_record]


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
