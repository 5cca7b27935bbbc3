"""What a release may say of an adversary who reconstructs: totals, parties, prior and truth."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field


def _keep_decimals(value: Any) -> Any:
    """A number of a file as it was written there, 0.01 and not the nearest binary fraction."""
    is_number = isinstance(value, (int, float)) and not isinstance(value, bool)
    return repr(value) if is_number else value


Decimals = Annotated[str, BeforeValidator(_keep_decimals, json_schema_input_type=str | float)]
"""A number with all its digits, as text or plainly."""


class GeneralisedSettings(BaseModel):
    """An attribute of the records as the totals have it: its first characters, or a level."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    attribute: str = Field(description="The attribute of the records.")
    prefix: int | None = Field(None, ge=1, description="How many of its first characters.")
    level: int | None = Field(None, ge=1, description="A level of its hierarchy.")


class TotalsSettings(BaseModel):
    """One table of totals of an adversary of `attack = "reconstruction"`."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    by: dict[str, str | GeneralisedSettings] = Field(
        description="Its key: column of the totals -> attribute of the records."
    )
    place: str | list[str] = Field(description="The column with places; then coarser ones.")
    amounts: list[str] | dict[str, str] | None = Field(
        None,
        description="Amounts that it has: names, or attribute of the records -> its column; "
        "all with a unit that both have if not given.",
    )
    rounding: str = Field("sum_then_round", description='A rule of rounding, or "diagnose".')
    step: Decimals = Field("1", description="To multiples of what totals were rounded.")
    tolerance: Decimals | None = Field(None, description="How wrong a total may be, instead.")
    noise: Decimals | None = Field(
        None, description="By how much totals were changed besides: a number, or its column."
    )


class PriorSettings(BaseModel):
    """What an adversary thinks likely: weights by sector of a party and kind of a record."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    weights: str = Field(description="The dataset with a weight for each sector and kind.")
    about: str | GeneralisedSettings = Field(
        description="The attribute of the records that says what they are about."
    )
    sector: str = Field(
        "sector", description="The column with the sector, of the weights and of the parties."
    )
    kind: str | None = Field(
        None, description="The column of the weights with what records are about."
    )
    weight: str = Field("weight", description="The column with the weights, above 0.")
    otherwise: float = Field(1.0, gt=0, description="The weight of pairs without a row.")


class TruthSettings(BaseModel):
    """The true places, which the owner has; a start for proofs, and never shown."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    dataset: str | None = Field(
        None, description="The dataset with them; the records themselves if not given."
    )
    on: str | None = Field(
        None, description="The id that it and the records have; the same order if not given."
    )
    columns: dict[str, str] | None = Field(
        None, description="Column of places of the totals -> its column; equal names if not given."
    )


class ReconstructionSettings(BaseModel):
    """What an adversary of `attack = "reconstruction"` may be told."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    totals: dict[str, TotalsSettings] = Field(description="Per dataset of totals, what it is.")
    parties: str = Field(description="The dataset with the parties.")
    units: dict[str, Decimals] | None = Field(
        None,
        description="Per amount, the unit that divides all records; as their decimals show if not.",
    )
    rule_is_known: bool | None = Field(None, description="Whether rules are beyond doubt.")
    premise: Literal["complete", "excluded", "extra", "both", "any"] = Field(
        "any", description="What is assumed where no allocation fits."
    )
    bad: Literal["refuse", "drop"] = Field("refuse", description="Records with bad amounts.")
    unmatched: Literal["count", "refuse"] = Field(
        "count", description="Records without totals, totals without records, unknown places."
    )
    prior: PriorSettings | None = Field(None, description="What the adversary thinks likely.")
    truth: str | TruthSettings | None = Field(
        None, description="The true places, by which more is proved: a dataset, or where they are."
    )
    target: int | None = Field(
        None, ge=0, description="A record, counted from 0, that the report shows phase by phase."
    )
    what_would_help: bool | list[str] = Field(
        False, description="Whether the report shows remedies and their costs; or which."
    )
    seconds: float = Field(
        10.0, gt=0, description="The effort for one instance, in nominal seconds."
    )
    in_all: float | None = Field(
        None, gt=0, description="The effort for all instances, about, in nominal seconds."
    )
    workers: int | None = Field(None, ge=1, description="How many processes.")
