"""SUDA: how special each record is, by the smallest sets of attributes on which it is unique.

The score of a record sums (m - k)! over its minimal sample uniques of k among m attributes
(Elliot, Manning & Ford 2002): few attributes weigh much. DIS-SUDA turns scores into the chance
that a match of a unique is right, given the share of the population that was sampled (Elliot &
Manning 2003).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cache, cached_property
from math import factorial
from numbers import Integral
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import numpy.typing as npt

from divulge.assessment import Assessment, Breakdown, Chart, Sentence
from divulge.classes import null_semantics
from divulge.classes.key_codes import encode_nulls_alike
from divulge.classes.keys import assign_classes
from divulge.classes.people import require_one_record_each
from divulge.data import Dataset
from divulge.records.risk.charts import draw_contributions
from divulge.records.risk.frequencies.frequencies import frequencies
from divulge.records.risk.frequencies.result import Frequencies
from divulge.records.risk.measure_names import name_risk
from divulge.records.risk.null_readings import settle_reading
from divulge.records.risk.record_risk import RecordRisk
from divulge.records.risk.risk_reason import RiskReason, explain_risk
from divulge.records.risk.uniques.minimal_uniques import (
    MOST_ATTRIBUTES,
    MinimalUniqueRows,
    find_minimal_uniques,
    find_uniques_by_frequency,
)
from divulge.records.risk.uniques.special_sets import MinimalUniques
from divulge.work import InvalidInput, Problem, checks
from divulge.work.arrays import Floats

if TYPE_CHECKING:
    import pyarrow as pa


@dataclass(frozen=True, repr=False, kw_only=True)
class Suda:
    """Scores, chances and minimal uniques of every record.

    `scores` are the sums of (m - k)!, `dis` the chances of DIS-SUDA (0 for whoever is not
    unique), `uniques[i]` the sets of attributes on which record i is alone.
    """

    scores: Floats
    dis: Floats
    uniques: MinimalUniques
    dataset: Dataset
    attributes: tuple[str, ...]
    max_size: int
    sampling_fraction: float

    def why(self, record: int) -> RiskReason:
        """Why a record (by its number, from 0) has its chance: its group, weights, and rank."""
        name = str(name_risk("dis_suda"))
        return explain_risk(self.dis, self.dataset, self.attributes, record, name)

    def risky(
        self, smaller_than: float, by: Literal["smallest", "mean"] = "smallest"
    ) -> npt.NDArray[np.bool_]:
        """Whether each record is unique on too few attributes.

        By the size of the smallest minimal unique (Bellomarini et al., Algorithm 6), or by the
        mean size of all of them.

        >>> import divulge as dv
        >>> found = dv.records.suda(dv.datasets.inflation_and_growth_example())
        >>> (np.flatnonzero(found.risky(smaller_than=2)) + 1).tolist()
        [20]
        """
        if by not in ("smallest", "mean"):
            problem = Problem("by", f'"{by}" is not a size.', by, ["smallest", "mean"])
            raise InvalidInput("risky", [problem])
        record, sizes = self.uniques.found.record, self.uniques.sizes
        set_size = np.full(self.scores.size, np.inf)
        if by == "smallest":
            np.minimum.at(set_size, record, sizes)
        else:
            count = np.bincount(record, minlength=set_size.size)
            total = np.bincount(record, sizes, minlength=set_size.size)
            np.divide(total, count, out=set_size, where=count > 0)
        return set_size < smaller_than

    def contributions(self) -> dict[str, float]:
        """The share of all scores that comes from sets with each attribute.

        >>> import divulge as dv
        >>> found = dv.records.suda(dv.datasets.inflation_and_growth_example())
        >>> max(found.contributions(), key=found.contributions().get)
        'Sector'
        """
        worth, bits = self._weigh_uniques(), self.uniques.found.attributes
        total = max(float(worth.sum()), 1.0)
        return {
            name: float(worth[bits >> bit & 1 == 1].sum()) / total
            for bit, name in enumerate(self.attributes)
        }

    def contributions_of_values(self, attribute: str) -> dict[Any, float]:
        """The share of all scores that comes from sets with each value of an attribute."""
        [attribute] = self.dataset.attributes(attribute, "attribute")
        if attribute not in self.attributes:
            message = f'"{attribute}" was not among the attributes of this search.'
            problem = Problem("attribute", message, attribute, self.attributes)
            raise InvalidInput("contributions_of_values", [problem])
        worth, uniques = self._weigh_uniques(), self.uniques.found
        has_attribute = uniques.attributes >> self.attributes.index(attribute) & 1 == 1
        column = self.dataset.columns[attribute]
        codes = column.codes[uniques.record[has_attribute]]
        sums = np.bincount(codes, worth[has_attribute], minlength=len(column.values) + 1)
        total = max(float(worth.sum()), 1.0)
        return {
            column.value(code): float(sums[code]) / total for code in np.flatnonzero(sums).tolist()
        }

    def risk(self) -> RecordRisk:
        """DIS-SUDA as the risk of each record."""
        hides = any(self.dataset.columns[name].has_missing for name in self.attributes)
        counted = self.counted if hides else None
        return RecordRisk(
            values=self.dis,
            measure="dis_suda",
            dataset=self.dataset,
            attributes=self.attributes,
            claim="estimate",
            notes=(
                Sentence("divulge.records", "suda.found", self._list_sentence_values()),
                *(counted.flattery() if counted else ()),
            ),
            figures={
                "minimal_uniques": self.uniques.total,
                **(counted.side_by_side() if counted else {}),
            },
        )

    @cached_property
    def counted(self) -> Frequencies:
        """How many stand alone on all attributes together, under each way of counting nulls."""
        return frequencies(self.dataset, "maybe", among=self.attributes)

    def assessment(self) -> Assessment:
        """DIS-SUDA in the currency of all attacks."""
        return self.risk().assessment()

    def by(self, group: str) -> Breakdown:
        """DIS-SUDA for every value of an attribute."""
        return self.risk().by(group)

    def chart(self) -> Chart:
        """How much each attribute contributes."""
        return draw_contributions(self)

    def to_arrow(self) -> pa.Table:
        """One row per record: score and chance."""
        import pyarrow as pa

        return pa.table({"score": self.scores, "dis": self.dis})

    def summary(self) -> dict[str, Any]:
        """How many are special, on how few attributes, and what contributes; no record."""
        sizes = np.bincount(self.uniques.sizes, minlength=self.max_size + 1)[1:]
        return {
            "dataset": self.dataset.name,
            "attributes": list(self.attributes),
            "max_size": self.max_size,
            "sampling_fraction": self.sampling_fraction,
            "records": int(self.scores.size),
            "special": int((self.scores > 0).sum()),
            "minimal_uniques": {str(size + 1): int(n) for size, n in enumerate(sizes)},
            "highest_score": float(self.scores.max()),
            "highest_dis": float(self.dis.max()),
            "contributions": self.contributions(),
            "alone_by_semantics": dict(self.counted.others),
        }

    def to_dict(self) -> dict[str, Any]:
        """The summary and the sentences."""
        return {**self.summary(), "sentences": self.explain()}

    def explain(self) -> list[str]:
        """What was found, in sentences."""
        return self.assessment().explain()

    def _weigh_uniques(self) -> Floats:
        table = np.array([factorial(len(self.attributes) - k) for k in range(self.max_size + 1)])
        return table.astype(np.float64)[self.uniques.sizes]

    def _list_sentence_values(self) -> dict[str, Any]:
        sizes = self.uniques.sizes
        return {
            "special": int((self.scores > 0).sum()),
            "total": int(self.scores.size),
            "subjects": self.dataset.subjects,
            "smallest": int(sizes.min()) if sizes.size else 0,
            "alone": int(np.unique(self.uniques.found.record[sizes == 1]).size),
        }

    def __str__(self) -> str:
        return "\n".join(self.explain())

    def __repr__(self) -> str:
        return (
            f'Suda("{self.dataset.name}": {self.uniques.total:,} minimal uniques of '
            f"{int((self.scores > 0).sum()):,} {self.dataset.subjects})"
        )


def suda(
    dataset: Dataset,
    max_size: int | None = None,
    sampling_fraction: float = 0.01,
    among: str | Iterable[str] | None = None,
    nulls: Literal["maybe", "value", "bayes"] = "bayes",
) -> Suda:
    """Find what makes records special, and score them.

    Args:
        dataset: the records.
        max_size: the most attributes of a set; all if None.
        sampling_fraction: the share of the population that is in the file, for DIS-SUDA.
        among: the attributes to consider; all quasi-identifiers if none are given.
        nulls: `maybe` (a missing value may be anything, so it never makes special) or `value`;
            if not given, `value`, unless protection has hidden cells: then one must be chosen.

    >>> import divulge as dv
    >>> companies = dv.datasets.inflation_and_growth_example()
    >>> four = ["Area", "Sector", "Employees", "Residential Rev."]
    >>> [sorted(each) for each in suda(companies, among=four).uniques[19]]
    [['Sector'], ['Employees', 'Residential Rev.']]
    """
    names = dataset.attributes(among, "among")
    largest = len(names) if max_size is None else max_size
    problems = []
    if len(names) > MOST_ATTRIBUTES:
        message = f"names {len(names)} attributes; at most {MOST_ATTRIBUTES} can be combined."
        problems.append(Problem("among", message))
    if not isinstance(largest, Integral) or not 1 <= largest <= len(names):
        problems.append(Problem("max_size", f"{largest} is not a size from 1 to {len(names)}."))
    problems += checks.share("sampling_fraction", sampling_fraction, zero=False)
    if nulls not in ("maybe", "value", "bayes"):
        message = f'"{nulls}" is not a way to look for uniques.'
        problems.append(Problem("nulls", message, nulls, ["maybe", "value"]))
    if problems:
        raise InvalidInput("suda", problems)
    require_one_record_each(dataset, "SUDA looks for records that are unique")
    reading = settle_reading(dataset, names, nulls)
    columns = [dataset.columns[name] for name in names]
    codes = [column.codes for column in columns]
    cardinalities = [len(column.values) + 1 for column in columns]
    rows = dataset.rows
    if reading == "maybe" and any(column.has_missing for column in columns):
        minimal, frequency = _search_with_nulls(dataset, names, largest)
    else:
        identity = _build_identity(dataset, names, "value")
        minimal = find_minimal_uniques(codes, cardinalities, rows, largest, identity)
        of_record = assign_classes(codes, cardinalities, rows)
        frequency = np.bincount(of_record)[of_record].astype(np.float64)
    uniques = MinimalUniques(minimal, names, rows)
    worth = np.array([float(factorial(len(names) - size)) for size in range(largest + 1)])
    scores = np.bincount(minimal.record, worth[uniques.sizes], minlength=rows).astype(np.float64)
    dis = compute_dis_scores(scores, frequency, len(names), sampling_fraction)
    return Suda(
        scores=scores,
        dis=dis,
        uniques=uniques,
        dataset=dataset,
        attributes=tuple(names),
        max_size=largest,
        sampling_fraction=sampling_fraction,
    )


def compute_dis_scores(
    scores: Floats, frequency: Floats, attributes: int, sampling_fraction: float
) -> Floats:
    """The chance that a match with each unique is right (DIS-SUDA).

    The chance for all uniques together is U d / (U d + P (1 - d)), with U uniques, P records in
    pairs and d the sampling fraction; it is shared out by the scores to the power
    Q = 1 + (8 - m)/20.
    """
    dis = np.zeros(scores.size)
    special = scores > 0
    uniques = float((frequency <= 1).sum())
    if not special.any() or uniques == 0:
        return dis
    pairs = float((frequency == 2).sum())
    d = sampling_fraction
    together = uniques * d / (uniques * d + pairs * (1 - d))
    power = scores[special] ** (1 + (8 - attributes) / 20)
    dis[special] = 1 / (1 + (uniques / together - uniques) / (power * (1 / power).sum()))
    return dis


def _search_with_nulls(
    dataset: Dataset, names: list[str], largest: int
) -> tuple[MinimalUniqueRows, Floats]:
    """The same search where a missing value may be anything: frequencies are counted set by set."""
    columns = [dataset.columns[name] for name in names]
    ones = np.ones(dataset.rows)

    def count_alike(chosen: list[int]) -> Floats:
        keys = [encode_nulls_alike(columns[a]) for a in chosen]
        shown_patterns = null_semantics.gather_patterns(keys, ones)
        return null_semantics.count_by_maybe(shown_patterns, 1.0)[0][shown_patterns.of_record]

    identity = _build_identity(dataset, names, "maybe")
    is_alone = lambda chosen: count_alike(chosen) < 2  # noqa: E731  # one line, one use
    minimal = find_uniques_by_frequency(len(names), largest, is_alone, identity)
    return minimal, count_alike(list(range(len(names))))


def _build_identity(
    dataset: Dataset, names: list[str], nulls: str
) -> Callable[[], dict[str, object]]:
    """What a search depends on; the fingerprint of the data is taken once, and only if needed."""

    @cache
    def describe_search() -> dict[str, object]:
        return {"data": dataset.fingerprint, "attributes": names, "nulls": nulls}

    return describe_search
