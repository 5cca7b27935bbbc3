"""Attacks and measures as another package would bring them; tests install it for themselves.

`RegisterMatch` and `LargestShare` have what they must and no more.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt
from pydantic import BaseModel

from divulge.assessment import (
    Adversary,
    Assessment,
    AttackDefaults,
    Limit,
    LimitedAdversary,
    Measurement,
    ProtectionPlan,
    PublishedTable,
    Sentence,
)
from divulge.data import Dataset
from divulge.qif import PriorPosterior
from divulge.work import Problem


class RegisterSettings(BaseModel, extra="forbid"):
    """What somebody with a register compares."""

    agree: list[str]


class RegisterMatch:
    """Somebody who looks for each record in a register: the release first, then the register."""

    Settings: ClassVar[type[BaseModel]] = RegisterSettings

    def problems(
        self, settings: RegisterSettings, names: Mapping[str, Sequence[str]]
    ) -> Iterator[Problem]:
        """Attributes that both have."""
        for dataset, attributes in names.items():
            for name in settings.agree:
                if name not in attributes:
                    message = f'dataset "{dataset}" has no attribute "{name}".'
                    yield Problem("agree", message, value=name, allowed=attributes)

    def run(self, settings: RegisterSettings, datasets: Sequence[Dataset]) -> Assessment:
        """How many records agree with one entry of the register alone."""
        entries = count_entries(settings.agree, datasets)
        return assess(datasets[0], settings.agree, np.where(entries == 1, 1.0, 0.0))


class RegisterMatchInFull(RegisterMatch, AttackDefaults):
    """The same, with all that a release may ask: a third dataset goes out too."""

    def run(self, settings: RegisterSettings, datasets: Sequence[Dataset]) -> Assessment:
        """As before, with the risk of each record."""
        entries = count_entries(settings.agree, datasets)
        risk = np.where(entries == 1, 1.0, 0.0)
        return replace(assess(datasets[0], settings.agree, risk), _risk=lambda: risk)

    def undisclosed(self, settings: Any, datasets: Sequence[str]) -> Sequence[str]:  # noqa: ARG002
        """The register alone."""
        return datasets[1:2]

    def risk_per_record(self, settings: Any) -> bool:  # noqa: ARG002
        """As `run` gives it."""
        return True

    def known_columns(self, settings: RegisterSettings, dataset: Dataset) -> Sequence[str]:  # noqa: ARG002
        """What is compared."""
        return settings.agree

    def advice(self, adversary: Adversary) -> Sentence:
        """Coarser attributes."""
        return Sentence("foreign_attacks", "advice", {"agree": adversary.settings.agree})


class RegisterMatchRemoved(RegisterMatchInFull):
    """The same, with a protection of its own: who is found in the register is left out."""

    def risk_per_record(self, settings: Any) -> bool:  # noqa: ARG002
        """Not to be lowered by anything else."""
        return False

    def undisclosed_columns(
        self,
        settings: Any,  # noqa: ARG002
        datasets: Sequence[str],
    ) -> Mapping[str, Sequence[str]]:
        """What the owner alone knows."""
        return {datasets[0]: ["illness"]}

    def protect(
        self, adversaries: Sequence[LimitedAdversary], dataset: Dataset, plan: ProtectionPlan
    ) -> Iterable[Removal]:
        """Only towns with many people stay."""
        for adversary in adversaries:
            if plan.has_failing(
                [limit.for_adversary(adversary.name) for limit in adversary.limits]
            ):
                towns = dataset.to_arrow()["town"].to_pylist()
                many = [row for row, town in enumerate(towns) if Counter(towns)[town] > 2]
                yield Removal(dataset, np.array(many, np.int64))


@dataclass(frozen=True)
class Removal:
    """A dataset of which some records are left out."""

    original: Dataset
    kept: npt.NDArray[np.int64]

    @property
    def dataset(self) -> Dataset:
        """The records that are kept."""
        kept = self.original.to_arrow().take(self.kept)
        made = Dataset.from_arrow(kept, name=self.original.name)
        return replace(made, dictionary=self.original.dictionary)

    @property
    def sentences(self) -> Sequence[Sentence]:
        """How many were left out."""
        removed = self.original.rows - len(self.kept)
        return (Sentence("foreign_attacks", "removed", {"removed": removed}),)

    def to_dict(self) -> dict[str, Any]:
        """The same as plain values."""
        return {"kept": len(self.kept)}


class RegisterMatchMistaken(RegisterMatchInFull):
    """Keeps back a dataset by a name that it does not have."""

    def undisclosed(self, settings: Any, datasets: Sequence[str]) -> Sequence[str]:  # noqa: ARG002
        """Nobody's dataset."""
        return ["registr"]


class NoSettings(BaseModel, extra="forbid"):
    """Nothing to be said."""


class _Plain:
    Settings: ClassVar[type[BaseModel]] = NoSettings

    def problems(
        self,
        settings: NoSettings,  # noqa: ARG002
        names: Mapping[str, Sequence[str]],  # noqa: ARG002
    ) -> Iterator[Problem]:
        """None."""
        return iter(())


class HiddenValues(_Plain):
    """Somebody who knows that what is missing was rare: protection itself tells them."""

    def run(self, settings: NoSettings, datasets: Sequence[Dataset]) -> Assessment:  # noqa: ARG002
        """How many records lack something."""
        [dataset] = datasets
        rows = dataset.to_arrow().to_pylist()
        return assess(dataset, (), np.array([float(None in row.values()) for row in rows]))


class OutsideTheData(_Plain):
    """Somebody who asks nothing of the data: a second run would be a waste."""

    runs: ClassVar[int] = 0

    def run(self, settings: NoSettings, datasets: Sequence[Dataset]) -> Assessment:  # noqa: ARG002
        """What was known from elsewhere."""
        type(self).runs += 1
        return assess(datasets[0], (), np.zeros(datasets[0].rows))

    def runs_after_protection(self) -> bool:
        """No."""
        return False


class Broken(_Plain):
    """Stumbles over a record, and quotes it."""

    def run(self, settings: NoSettings, datasets: Sequence[Dataset]) -> Assessment:  # noqa: ARG002
        """Fail."""
        raise KeyError(datasets[0].to_arrow().to_pylist()[0]["illness"])


class NoAssessment(_Plain):
    """Gives what no limit can judge."""

    def run(self, settings: NoSettings, datasets: Sequence[Dataset]) -> Any:  # noqa: ARG002
        """A figure."""
        return 0.5


class TownCounts(_Plain, AttackDefaults):
    """Somebody who reads how many people live in each town; small towns are withheld."""

    class Settings(BaseModel, extra="forbid"):
        """From how many people on a town is shown."""

        least: int = 0

    def run(self, settings: Any, datasets: Sequence[Dataset]) -> Assessment:
        """Towns with one person are known, unless they are withheld."""
        counts = self._counts(datasets[0])
        alone = [float(n == 1 and n >= settings.least) for n in counts.values()]
        return assess(datasets[0], ("town",), np.array(alone))

    def publishes_table(self) -> bool:
        """Yes."""
        return True

    def protect_table(self, settings: Any) -> Any:
        """Towns of one are withheld."""
        return settings.model_copy(update={"least": 2})

    def publish_table(self, settings: Any, dataset: Dataset) -> PublishedTable:
        """Towns and numbers."""
        counts = self._counts(dataset)
        return PublishedTable(
            subject="towns",
            suppressed=np.array([n < settings.least for n in counts.values()]),
            write=partial(self._write, counts, settings.least),
        )

    @staticmethod
    def _counts(dataset: Dataset) -> dict[str, int]:
        return dict(Counter(dataset.to_arrow()["town"].to_pylist()))

    @staticmethod
    def _write(counts: dict[str, int], least: int, path: Path, guard_formulas: bool) -> None:  # noqa: ARG004
        lines = [f"{town},{n if n >= least else '*'}" for town, n in counts.items()]
        path.write_text("\n".join(["town,people", *lines]) + "\n")


class LargestShare:
    """The largest share of records with one value of an attribute."""

    def problems(self, limit: Limit) -> Iterator[Problem]:
        """An attribute is named."""
        if limit.attribute is None:
            yield Problem("attribute", "is missing; whose largest share?")

    def of(self, dataset: Dataset, limit: Limit) -> Measurement:
        """Count."""
        values = dataset.to_arrow()[str(limit.attribute)].to_pylist()
        return Measurement(max(Counter(values).values()) / len(values), "share")


class TownRisk:
    """How likely somebody is picked out of their town, for each record: it can be lowered."""

    def problems(self, limit: Limit) -> Iterator[Problem]:
        """From above."""
        if limit.at_most is None:
            yield Problem("at_least", "give at_most.")

    def of(self, dataset: Dataset, limit: Limit) -> Measurement:
        """The highest."""
        return Measurement(max(self.record_risk(dataset, limit)), "share")

    def record_risk(self, dataset: Dataset, limit: Limit) -> list[float]:  # noqa: ARG002
        """One over the people of the town; nobody knows where somebody lives who hides it."""
        towns = dataset.to_arrow()["town"].to_pylist()
        return [0.0 if town is None else 1 / Counter(towns)[town] for town in towns]


class OutOfRange(TownRisk):
    """Risks that are none, once there are fewer towns."""

    def record_risk(self, dataset: Dataset, limit: Limit) -> list[float]:  # noqa: ARG002
        """Above 1."""
        return [2.0] * dataset.rows


class BrokenMeasure:
    """Stumbles over a record, and quotes it."""

    def problems(self, limit: Limit) -> Iterator[Problem]:  # noqa: ARG002
        """None."""
        return iter(())

    def of(self, dataset: Dataset, limit: Limit) -> Measurement:  # noqa: ARG002
        """Fail."""
        raise KeyError(dataset.to_arrow().to_pylist()[0]["illness"])


def count_entries(agree: Sequence[str], datasets: Sequence[Dataset]) -> npt.NDArray[np.int64]:
    """How many entries of the register agree with each record."""
    release, register, *_ = [each.to_arrow().select(agree).to_pylist() for each in datasets]
    entries = Counter(tuple(row.values()) for row in register)
    return np.array([entries[tuple(row.values())] for row in release])


def assess(dataset: Dataset, knows: Sequence[str], risk: npt.NDArray[np.float64]) -> Assessment:
    """An assessment from a chance of each secret, 0 or 1."""
    matched = int(risk.sum())
    return Assessment.from_counts(
        attack="foreign",
        model="foreign",
        dataset=dataset.name,
        knows=tuple(knows),
        seeks=(),
        secrets=len(risk),
        subjects=dataset.subjects,
        claim="exact",
        certain=PriorPosterior(0, matched),
        right=PriorPosterior(0, matched),
        sentences=(Sentence("foreign_attacks", "matched", {"matched": matched}),),
    )
