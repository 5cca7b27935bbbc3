"""What a release file may say of links: of limits, of adversaries, and of protection."""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, ConfigDict, Field


class LinksTable(BaseModel):
    """What links records: an attribute, or a dataset of pairs."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    attribute: str | None = Field(None, description="Equal values link records.")
    dataset: str | None = Field(None, description="A dataset of the release that contains pairs.")
    columns: list[str] | None = Field(
        None, description="The two columns of pairs; all it has if not given."
    )
    on: str | None = Field(
        None, description="The attribute whose values pairs name; the id if not given."
    )
    unknown: Literal["outsider", "error"] = Field(
        "outsider", description="What an id is that no record has."
    )


def as_settings(links: str | LinksTable) -> str | dict[str, object]:
    """The same as plain values, as `read_links` takes them.

    >>> as_settings(LinksTable(dataset="owners", on="Id"))
    {'dataset': 'owners', 'on': 'Id', 'unknown': 'outsider'}
    """
    return links if isinstance(links, str) else links.model_dump(exclude_none=True)
