"""A risk for each record, and what is made of it: summary, assessment, chart, who bears it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from math import fsum
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from divulge.assessment import Assessment, Breakdown, Chart, Claim, Sentence, html
from divulge.assessment.limit import is_beyond_bound
from divulge.assessment.sentence import format_number, format_percent, read_phrases
from divulge.classes.people import People
from divulge.classes.population_size import count_population
from divulge.data import Dataset
from divulge.qif import PriorPosterior
from divulge.records.risk.charts import draw_risks
from divulge.records.risk.measure_names import name_risk
from divulge.records.risk.risk_reason import RiskReason, explain_risk
from divulge.records.risk.weighted_rows import (
    count_chosen,
    count_rows,
    find_quantiles,
    require_groups_at_home,
    require_rows_at_home,
    sum_over_records,
    write_rows,
)
from divulge.work import DivulgeError
from divulge.work.arrays import Floats, Ints

if TYPE_CHECKING:
    import pyarrow as pa

DEFAULT_THRESHOLD = 0.2
"""Records at risk by default: one right guess in five, which many agencies use."""


@dataclass(frozen=True, repr=False, kw_only=True)
class RecordRisk:
    """The probability, for each record, that whoever it is of is found.

    >>> import divulge as dv
    >>> companies = dv.datasets.inflation_and_growth_example()
    >>> risk = dv.records.reidentification_risk(companies)
    >>> print(risk)
    The reidentification risk is 1.02% on average and 3.33% at the highest.
    Of 20 companies, 0.2 are expected to be found; none is at a risk above 20%.
    These figures are estimates.
    """

    values: Floats
    measure: str
    dataset: Dataset
    attributes: tuple[str, ...]
    claim: Claim
    notes: Sequence[Sentence] = ()
    figures: Mapping[str, float] = field(default_factory=dict)
    detail: str = ""
    people: People | None = None
    """Where somebody has several records, who they are: figures count people, and not records."""
    number: Ints | None = None
    """How many records each value is of, where records stay elsewhere; None: one."""
    nulls: str | None = None
    """How missing values were read, if the values follow from frequencies alone."""

    @property
    def records(self) -> int:
        """How many records there are."""
        return count_rows(self.values, self.number)

    @property
    def title(self) -> str:
        """What the risk is called in sentences and pictures."""
        return str(name_risk(self.measure, self.detail))

    @property
    def highest(self) -> float:
        """The risk of the record that is easiest to find."""
        return float(self.values.max())

    @property
    def average(self) -> float:
        """The mean risk: the share of records that are expected to be found."""
        return self.expected / (self.records if self.people is None else self.people.number)

    @property
    def expected(self) -> float:
        """Global risk: how many records are expected to be found."""
        if self.people is not None:
            return fsum(self.values * self.people.weight)
        return sum_over_records(self.values, self.number)

    def above(self, threshold: float = DEFAULT_THRESHOLD) -> int:
        """How many records have a risk above a threshold."""
        return count_chosen(is_beyond_bound(self.values, threshold, "highest"), self.number)

    def threshold_for(self, share: float) -> float:
        """The highest risk that may be left so that no more than a share is expected to be found.

        Whoever protects every record above the threshold down to it leaves `share` of all
        records to be found at most (Polettini 2003, the rule of mu-Argus).

        >>> import divulge as dv
        >>> example = dv.datasets.inflation_and_growth_example()
        >>> risk = dv.records.reidentification_risk(example)
        >>> round(risk.threshold_for(0.005), 5), risk.threshold_for(0.5)
        (0.00524, 1.0)
        """
        if not 0 <= share <= 1:
            raise DivulgeError(f"{share:g} is not a share (0 to 1)")
        order = np.argsort(self.values, kind="stable")
        ascending = self.values[order]
        weight = np.ones(order.size) if self.people is None else self.people.weight[order]
        weight = weight if self.number is None else self.number[order].astype(np.float64)
        allowed = share * fsum(weight)
        below = np.concatenate([[0.0], np.cumsum(weight * ascending)[:-1]])
        left = np.cumsum(weight[::-1])[::-1]
        # With the i smallest left as they are and the rest cut to t: below[i] + left[i] * t.
        if below[-1] + left[-1] * ascending[-1] <= allowed:
            return 1.0
        place = int(np.argmax(below + left * ascending > allowed))
        return float(max(0.0, (allowed - below[place]) / left[place]))

    def why(self, record: int) -> RiskReason:
        """Why a record (by its number, from 0) has its risk: its group, weights, and rank.

        >>> import divulge as dv
        >>> companies = dv.datasets.inflation_and_growth_example()
        >>> print(dv.records.reidentification_risk(companies).why(3))
        Nobody else of 20 companies shows the same values.
        The group stands for 60 in the population, the record for 60.
        Its reidentification risk is 1.67%: place 1 of 1 in its group, 3 of 20 of all.
        """
        require_rows_at_home(self.dataset)
        names = self.attributes
        return explain_risk(self.values, self.dataset, names, record, self.title)

    def summary(self, threshold: float = DEFAULT_THRESHOLD) -> dict[str, Any]:
        """The figures that people ask for first, as plain values."""
        quarters = find_quantiles(self.values, self.number, [0.25, 0.5, 0.75, 0.95])
        return {
            "measure": self.measure,
            "detail": self.detail,
            "dataset": self.dataset.name,
            "attributes": list(self.attributes),
            "records": self.records,
            "claim": self.claim,
            "highest": self.highest,
            "average": self.average,
            "expected": self.expected,
            "threshold": threshold,
            "above_threshold": self.above(threshold),
            "quantiles": dict(zip(("25%", "50%", "75%", "95%"), quarters, strict=True)),
            **self.figures,
        }

    def to_dict(self) -> dict[str, Any]:
        """The summary and the sentences; no record."""
        return {**self.summary(), "sentences": self.explain()}

    def to_arrow(self) -> pa.Table:
        """One row per record, in the order of the records."""
        import pyarrow as pa

        require_rows_at_home(self.dataset)

        return pa.table({self.measure: self.values})

    def write(self, path: Path | str, id: str, *, overwrite: bool = False) -> None:  # noqa: A002  # as the role
        """Write the risk of each record to a Parquet file, where the records stay elsewhere.

        Args:
            path: the file; it appears whole or not at all.
            id: the attribute that says whose each row is.
            overwrite: whether a file may be replaced.
        """
        figures = {self.measure: self.values}
        write_rows(
            self.dataset, self.attributes, self.nulls, figures, path, id_=id, overwrite=overwrite
        )

    def explain(self) -> list[str]:
        """What was found, in sentences."""
        return self.assessment().explain()

    def assessment(self, threshold: float = DEFAULT_THRESHOLD) -> Assessment:
        """The risk in the currency of all attacks: found for certain, found on average."""
        return self.of(np.ones(self.values.size, np.bool_), threshold, whole=True)

    def by(self, group: str) -> Breakdown:
        """The same figures for every value of an attribute: who bears the risk."""
        [group] = self.dataset.attributes(group, "by")
        require_groups_at_home(self.dataset)
        column = self.dataset.columns[group]
        assessments = {
            column.value(int(code)): self.of(column.codes == code)
            for code in np.unique(column.codes)
        }
        return Breakdown(group, assessments)

    def chart(self, threshold: float = DEFAULT_THRESHOLD) -> Chart:
        """How many records have which risk."""
        return draw_risks(self, threshold)

    def of(
        self, chosen: Any, threshold: float = DEFAULT_THRESHOLD, whole: bool = False
    ) -> Assessment:
        """The assessment of some records; of all of them with chart, breakdown and notes."""
        values = self.values[chosen]
        number = None if self.number is None else self.number[chosen]
        everybody = count_population(self.dataset)
        secrets = count_rows(values, number)
        right = sum_over_records(values, number)
        certain: float = count_chosen(values >= 1, number)
        is_above = is_beyond_bound(values, threshold, "highest")
        records_above = above = count_chosen(is_above, number)
        subjects = self.dataset.subjects
        if self.people is not None:
            everybody, subjects = float(self.people.number), "people"
            secrets = int(np.unique(self.people.of_record[chosen]).size)
            share = self.people.weight[chosen]
            share = share * (secrets / fsum(share))
            right, certain = fsum(values * share), fsum(share[values >= 1])
            above = int(np.unique(self.people.of_record[chosen][is_above]).size)
        sentence_values = {
            "measure": self.title,
            "subjects": subjects,
            "total": secrets,
            "average": right / secrets,
            "highest": float(values.max()),
            "right": right,
            "above": above,
            "threshold": threshold,
        }
        callbacks: dict[str, Any] = {}
        if whole:
            callbacks = {
                "_chart": lambda: self.chart(threshold),
                "_breakdown": self.by,
                "_risk": lambda: self.values,
            }
        if whole and self.number is not None:
            del callbacks["_risk"]
            callbacks["_highest"] = lambda: self.highest
        return Assessment.from_counts(
            attack="risk",
            model=f"{self.measure} {self.detail}".strip(),
            dataset=self.dataset.name,
            knows=self.attributes,
            seeks=(),
            secrets=secrets,
            subjects=subjects,
            claim=self.claim,
            certain=PriorPosterior(secrets if everybody == 1 else 0, certain),
            right=PriorPosterior(min(right, secrets / everybody), right),
            sentences=(
                Sentence("divulge.records", "risk.level", sentence_values),
                Sentence("divulge.records", "risk.expected", sentence_values),
                *(self.notes if whole else ()),
            ),
            figures={
                "highest_risk": sentence_values["highest"],
                "records_above_threshold": records_above,
                **(self.figures if whole else {}),
            },
            **callbacks,
        )

    def __str__(self) -> str:
        return "\n".join(self.explain())

    def __repr__(self) -> str:
        return (
            f'RecordRisk({self.title} of "{self.dataset.name}", {self.claim}: '
            f"{format_percent(self.average)} on average, "
            f"{format_percent(self.highest)} at the highest)"
        )

    def _repr_html_(self) -> str:
        head = read_phrases("divulge.records", "head.record_risk")
        row = (
            format_percent(self.highest),
            format_percent(self.average),
            format_number(self.expected),
        )
        return html.render_paragraphs(self.explain()) + html.render_table(head, [row])
