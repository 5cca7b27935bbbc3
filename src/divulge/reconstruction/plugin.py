"""The attack `reconstruction` of a release: records, tables of totals, and a list of parties."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, ClassVar, Literal

from pydantic import BaseModel, ConfigDict, Field

from divulge.assessment import Assessment
from divulge.data import Dataset
from divulge.data.dictionary import as_names, problems_with_names
from divulge.reconstruction.audit import reconstruct
from divulge.reconstruction.findings import Reconstruction
from divulge.reconstruction.remedies import Remedy, what_would_help
from divulge.reconstruction.rounding import RULES
from divulge.reconstruction.totals import Generalised, Totals
from divulge.work import Problem


class GeneralisedSettings(BaseModel):
    """An attribute of the records as the totals have it: its first characters, or a level."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    attribute: str = Field(description="The attribute of the records.")
    prefix: int | None = Field(None, ge=1, description="Its first so many characters.")
    level: int | None = Field(None, ge=1, description="A level of its hierarchy.")


class TotalsSettings(BaseModel):
    """One table of totals of an adversary of `attack = "reconstruction"`."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    by: dict[str, str | GeneralisedSettings] = Field(
        description="Its key: column of the totals -> attribute of the records."
    )
    place: str | list[str] = Field(description="The column with places; then coarser ones.")
    amounts: list[str] | dict[str, str] = Field(
        description="Amounts that it has: names, or attribute of the records -> its column."
    )
    rounding: str = Field("sum_then_round", description='A rule of rounding, or "diagnose".')
    step: str = Field("1", description="To multiples of what totals were rounded.")
    tolerance: str | None = Field(None, description="How wrong a total may be, instead.")


class ReconstructionSettings(BaseModel):
    """What an adversary of `attack = "reconstruction"` may be told."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    totals: dict[str, TotalsSettings] = Field(description="Per dataset of totals, what it is.")
    parties: str = Field(description="The dataset with the parties.")
    units: dict[str, str] = Field(description="Per amount, the unit that divides all records.")
    rule_is_known: bool | None = Field(None, description="Whether rules are beyond doubt.")
    premise: Literal["complete", "excluded", "extra", "any"] = Field(
        "any", description="What is assumed where no allocation fits."
    )
    bad: Literal["refuse", "drop"] = Field("refuse", description="Records with bad amounts.")
    seconds: float = Field(10.0, gt=0, description="For one instance.")
    in_all: float | None = Field(None, gt=0, description="Seconds for all instances.")
    workers: int | None = Field(None, ge=1, description="How many processes.")


class ReconstructionAttack:
    """Records without identities, attacked with tables of totals and a list of parties."""

    Settings: ClassVar[type[BaseModel]] = ReconstructionSettings

    def problems(
        self, settings: ReconstructionSettings, names: Mapping[str, Sequence[str]]
    ) -> Iterator[Problem]:
        """Datasets that are told apart, attributes that exist, rules that mean something."""
        told = [*settings.totals, settings.parties]
        for name in told:
            if name not in names:
                message = f'"{name}" is not a dataset of this adversary.'
                yield Problem("dataset", message, value=name, allowed=list(names))
        rest = [name for name in names if name not in told]
        if len(rest) != 1:
            message = f"{len(rest)} datasets are neither totals nor parties; one must be: records."
            yield Problem("dataset", message)
            return
        records = names[rest[0]]
        of_records = f'dataset "{rest[0]}"'
        for name, table in settings.totals.items():
            place = f'totals, "{name}"'
            if table.rounding not in (*RULES, "diagnose"):
                message = f'"{table.rounding}" is not a rule of rounding.'
                yield Problem(place, message, value=table.rounding, allowed=(*RULES, "diagnose"))
            own = [*table.by, *as_names(table.place), *_summed(table).values()]
            yield from problems_with_names(place, own, names.get(name, own), f'dataset "{name}"')
            theirs = [*(g.attribute for g in _key(table).values()), *_summed(table)]
            yield from problems_with_names(place, theirs, records, of_records)
            for amount in _summed(table):
                if amount not in settings.units:
                    yield Problem("units", f'give the unit of "{amount}".')

    def run(self, settings: ReconstructionSettings, datasets: Sequence[Dataset]) -> Assessment:
        """Reconstruct, and give the assessment after the last phase."""
        return reconstruction(settings, datasets).assessment


def reconstruction(
    settings: ReconstructionSettings, datasets: Sequence[Dataset], **other: Any
) -> Reconstruction:
    """The whole result of an adversary of a release; `other` settings come before hers."""
    return reconstruct(*_inputs(settings, datasets), **{**_settings(settings), **other})


def remedies(
    settings: ReconstructionSettings, datasets: Sequence[Dataset], **other: Any
) -> list[Remedy]:
    """What would help against an adversary of a release."""
    return what_would_help(*_inputs(settings, datasets), **{**_settings(settings), **other})


def _settings(settings: ReconstructionSettings) -> dict[str, Any]:
    return settings.model_dump(
        include={"units", "rule_is_known", "premise", "bad", "seconds", "in_all", "workers"}
    )


def _inputs(
    settings: ReconstructionSettings, datasets: Sequence[Dataset]
) -> tuple[Dataset, list[Totals], Dataset]:
    by_name = {dataset.name: dataset for dataset in datasets}
    told = {*settings.totals, settings.parties}
    [records] = [dataset for dataset in datasets if dataset.name not in told]
    totals = [
        Totals(
            by_name[name],
            dict(_key(table)),
            table.place,
            table.amounts,
            table.rounding,
            table.step,
            table.tolerance,
        )
        for name, table in settings.totals.items()
    ]
    return records, totals, by_name[settings.parties]


def _key(table: TotalsSettings) -> dict[str, Generalised]:
    return {
        column: Generalised(of) if isinstance(of, str) else Generalised(**of.model_dump())
        for column, of in table.by.items()
    }


def _summed(table: TotalsSettings) -> dict[str, str]:
    if isinstance(table.amounts, dict):
        return dict(table.amounts)
    return {name: name for name in table.amounts}
