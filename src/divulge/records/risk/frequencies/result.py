"""What comes of counting: how many look like each record, and how many are unique."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from divulge.assessment import Assessment, Breakdown, Chart, Claim, Sentence
from divulge.assessment.limit import is_beyond_bound
from divulge.classes.people import (
    People,
)
from divulge.data import Dataset
from divulge.records.risk.charts import draw_frequencies as picture
from divulge.records.risk.frequencies.figures_on_demand import CountsOnDemand, SentencesOnDemand
from divulge.records.risk.null_readings import (
    Nulls,
)
from divulge.records.risk.record_risk import RecordRisk
from divulge.records.risk.weighted_rows import (
    count_chosen,
    count_rows,
    require_rows_at_home,
    write_rows,
)
from divulge.work.arrays import Floats, Ints

if TYPE_CHECKING:
    import pyarrow as pa


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
        return count_alone(self.sample, self.number)

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
            nulls=self.nulls,
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

    def write(self, path: Path | str, id: str, *, overwrite: bool = False) -> None:  # noqa: A002  # as the role
        """Write f_k and F_k of each record to a Parquet file, where the records stay elsewhere.

        Args:
            path: the file; it appears whole or not at all.
            id: the attribute that says whose each row is.
            overwrite: whether a file may be replaced.
        """
        figures = {"sample": np.asarray(self.sample), "population": self.population}
        write_rows(
            self.dataset, self.attributes, self.nulls, figures, path, id_=id, overwrite=overwrite
        )

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


def count_alone(sample: npt.NDArray[Any], number: Ints | None = None) -> int:
    """How many records have not one other to hide behind; sums of chances end a hair below."""
    return count_chosen(sample < 2 - 1e-9, number)
