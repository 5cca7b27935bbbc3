"""What a release may say of an adversary of whom nobody knows what they know."""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

from divulge.classes.people import RecordsKnown


class SweepSettings(BaseModel):
    """What an adversary of `attack = "sweep"` may be told."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    knows: str | list[str] | None = Field(
        None,
        description="What somebody might know; every set of it is tried. All quasi-identifiers if "
        "not given.",
    )
    seeks: str | None = Field(None, description="The secret; none: who is who.")
    sizes: int | list[int] | None = Field(
        None, description="How many attributes they know: at most a number, or one of several."
    )
    sets: list[str | list[str]] | None = Field(
        None, description="Only these sets of attributes are tried."
    )
    prior: Literal["weight"] | None = Field(
        None, description="Each record is as likely the one they are looking for as it weighs."
    )
    records_known: RecordsKnown = Field(
        "one", description="Of somebody with several records (role person): one is known, or all."
    )
