"""What a release file may hold, table by table."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field

from divulge.data.column_fate import Unlisted
from divulge.data.dictionary import as_names
from divulge.data.hierarchies.files import HierarchyFormat
from divulge.protection.method.decoys import MOST_DECOYS
from divulge.records.risk.links.links_table import LinksTable


def _as_list(value: Any) -> Any:
    return as_names(value) if isinstance(value, str) else value


Names = Annotated[list[str], BeforeValidator(_as_list, json_schema_input_type=str | list[str])]
"""One name or several."""

Source = Annotated[str, Field(min_length=1)] | Annotated[list[str], Field(min_length=1)]
"""One place or several."""

Code = str | int | float

Number = Annotated[float, Field(strict=True)]

FORMAT = 1
"""The newest format of release files that this version reads; a file that names none is of 1."""


class _StrictTable(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class HierarchyTable(_StrictTable):
    """How an attribute becomes coarser: a rule, or a file and how to read it.

    Give one; `bottom` and `top` go alone, or before `intervals` and `rounding`. `separator`,
    `format`, `lead` and `total` go with `file`.
    """

    file: str | None = Field(
        None, description="A file of levels (ARX) or a code list of tau-ARGUS (.hrc)."
    )
    separator: str | None = Field(None, description="Of levels; found out if not given.")
    format: HierarchyFormat | None = Field(
        None, description="arx or argus; by the ending of the file's name if not given."
    )
    lead: str | None = Field(None, description="The leading string of tau-ARGUS; @ if not given.")
    total: str | None = Field(
        None,
        description="What stands above all codes of tau-ARGUS, which its files leave out; nothing "
        "does if not given.",
    )
    intervals: list[list[float]] | None = Field(None, description="Edges, finest level first.")
    rounding: list[float] | None = Field(
        None, description="Numbers rounded down to multiples of these, finest first."
    )
    bottom: float | list[float] | None = Field(
        None, description="Numbers up to this are one; several for several levels. Alone, or first."
    )
    top: float | list[float] | None = Field(
        None,
        description="Numbers from this on are one; several for several levels. Alone, or first.",
    )
    dates: Names | None = Field(None, description="Units such as month, year; finest first.")
    prefixes: list[int] | None = Field(None, description="Lengths of prefixes, longest first.")
    pairs: list[tuple[str, str]] | None = Field(None, description="Pairs (value, coarser).")
    levels: list[list[str]] | None = Field(None, description="Rows: value, coarser, coarser.")


class DatasetTable(_StrictTable):
    """One dataset: its name, its file, and what its attributes are."""

    name: str = Field(min_length=1)
    source: Source = Field(
        description="A data file, several, a folder or a pattern (lake/*.parquet), relative to the "
        "release file; or the address of a PostgreSQL database or a Spark Connect server (sc://)."
    )
    table: str | None = Field(
        None, description="Of a database; not needed if it has only one. Of a Spark Connect server."
    )
    engine: str | None = Field(
        None,
        description="Who counts: auto (memory where the records fit, else DuckDB), memory, duckdb, "
        "sail, or a Spark Connect server (sc://host:port). With all but memory, records may stay "
        "where they are. If not given: auto, and the server where the source is one.",
    )
    memory_limit: str | int | None = Field(
        None,
        description='What DuckDB may hold before it writes to disk: "2GB", or bytes.',
    )
    roles: dict[str, Names] = Field(default_factory=dict, description="Attributes by role.")
    publish: Names = Field(
        [],
        description="Ids of persons, households and groups that go out all the same, as pseudonyms "
        "(a direct identifier that is named here fails).",
    )
    unlisted: Unlisted | None = Field(
        None, description="Attributes without a role: not judged if not given."
    )
    keep_order: bool = Field(
        False, description="Write records in the order of the source, not in a secret one."
    )
    hierarchies: dict[str, str | HierarchyTable] = Field(
        default_factory=dict, description="Per attribute a file of levels, or a rule."
    )
    descriptions: dict[str, str] = Field(default_factory=dict, description="In words.")
    labels: dict[str, dict[str, str]] = Field(
        default_factory=dict, description="Per attribute what its values mean."
    )
    units: dict[str, str] = Field(default_factory=dict, description="In what it is measured.")
    missing_codes: dict[str, list[Code | tuple[Code, Code]]] = Field(
        default_factory=dict, description="Values that mean missing, or [from, to]."
    )
    protected: bool = Field(
        False, description="Protected before: what is missing was hidden, not absent."
    )
    hidden: str | None = Field(
        None, description="What stands for a value that was hidden by an earlier protection."
    )
    columns: Names | None = Field(None, description="Only these attributes are read.")
    separator: str | None = Field(None, description="Of a text file; found out if not given.")
    encoding: str | None = Field(None, description="Of a text file; UTF-8 if not given.")
    decimal: str | None = Field(None, description="Of a text file; found out if not given.")
    thousands: str | None = Field(None, description="Of a text file; none if not given.")
    quote: str | None = Field(None, description="Of a text file; found out if not given.")
    dates: str | dict[str, str] = Field(
        "", description="Of a text file: dmy, mdy, ymd or a format as %d.%m.%Y; or by column."
    )
    text: Names = Field([], description="Columns of a text file that are text in any case.")
    header: bool = Field(
        False,
        description="Of a text file: its first line contains names, although it may not look so.",
    )
    missing: Names = Field(
        default_factory=list, description="What stands for a missing value, beside the empty field."
    )
    subjects: str = Field("records", description="Whom the records are about, for sentences.")


class AdversaryTable(BaseModel):
    """One adversary: their name, their attack, what they see; the attack says what else."""

    model_config = ConfigDict(extra="allow", frozen=True)

    name: str = Field(min_length=1)
    attack: str
    dataset: Names | None = Field(None, description="May be left out if there is only one.")


class LimitTable(BaseModel):
    """One limit: a measure of an adversary or of a dataset, and its bound."""

    model_config = ConfigDict(extra="allow", frozen=True)

    measure: str
    at_most: Number | None = None
    at_least: Number | None = None
    adversary: str | None = None
    dataset: str | None = None
    attribute: str | None = None
    links: str | LinksTable | None = Field(
        None, description="What links records: an attribute, or a dataset of pairs."
    )


class ProtectionTable(_StrictTable):
    """How the data may be changed where a limit does not hold."""

    methods: list[Literal["recode", "suppress"]] = Field(
        min_length=1, description="In the order of trial."
    )
    never: Names = Field([], description="Attributes that must not be touched.")
    importance: dict[str, Number] = Field(
        default_factory=dict, description="The cost of changing each attribute; 1 if not given."
    )
    order: Literal["weight", "risk", "given", "random"] = Field(
        "weight", description="Which record first: least weight, highest risk, ..."
    )
    local: bool | Literal["nested", "clusters"] = Field(
        False,
        description="Make single records coarser, not whole columns, where that loses less: in "
        "nested classes (`true`), or in clusters, which lose least and reveal most.",
    )
    suppression_limit: float = Field(
        0.05, ge=0, le=1, description="The share of records that recoding may leave at risk."
    )
    utility: str = Field(
        "loss",
        description="What is kept as high as can be where ways to recode and suppress are "
        "compared: loss, granularity, precision, entropy, discernibility, class_size, or a "
        "function that a package registers.",
    )
    target: str | None = Field(
        None, description="An attribute: how well models predict it, before and after, is told."
    )
    out_of_reach: Literal["raise", "remove"] = Field(
        "raise", description="Whom no method helps: an error, or removed."
    )
    determined: Literal["keep", "recode", "drop_determinants"] = Field(
        "keep",
        description="Attributes that published columns tell: kept as they are while others are "
        "hidden, made coarser for all records, or those columns are not published.",
    )
    histories: list[Literal["time", "item", "rare", "basket", "sample"]] = Field(
        ["time", "item", "rare", "basket", "sample"],
        description="What may be done to histories.",
    )
    links: str | LinksTable | None = Field(
        None, description="What links records, for all limits that do not say it themselves."
    )
    decoys: float = Field(
        0.0,
        ge=0,
        le=MOST_DECOYS,
        description="Further cells that are suppressed at random, for each that had to be; drawn "
        "with the release's secret.",
    )
    seed: int | None = Field(None, ge=0, description="Of random choices; keep it secret.")
    guard_formulas: bool = Field(
        True, description="Guard texts that a spreadsheet would run, in released text files."
    )


class RulesTable(_StrictTable):
    """Rules of subject-matter experts: who belongs together, what is risky."""

    files: Names = Field(description="Rule files, relative to the release file.")
    risk: str = Field(
        "prosecutor_risk", description="The measure of risk that rules ask by #risk(I, R)."
    )
    value_lists: Literal["known", "secret"] = Field(
        "known",
        description="Whether somebody may have the list of values of an attribute, and see which "
        "one is missing because rules hide it.",
    )


class ReleaseTable(_StrictTable):
    """A whole release file."""

    format: Annotated[int, Field(strict=True, ge=1, le=FORMAT)] = Field(
        1, description="Of the file itself: what its settings mean."
    )
    title: str = Field("", description="What is to be published, for the reports.")
    publisher: str = Field("", description="By whom.")
    description: str = Field("", description="Of whom, what for: a sentence for the reports.")
    accept_count_only: bool = Field(
        False, description="Let limits pass that hold only where hidden cells count as matches."
    )
    dataset: list[DatasetTable] = Field(min_length=1)
    adversary: list[AdversaryTable] = Field(default_factory=list)
    limit: list[LimitTable] = Field(default_factory=list)
    protection: ProtectionTable | None = None
    rules: RulesTable | None = None
