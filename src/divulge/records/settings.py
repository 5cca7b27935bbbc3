"""What a release may say of an adversary who knows records: known, sought, years, register."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, field_validator

from divulge.classes.people import RecordsKnown
from divulge.data.dictionary import as_names, find_name_problems
from divulge.records.attack_arguments import EVERYDAY_NAMES
from divulge.records.models.attribute_gaps import YearChoices
from divulge.records.single_knowledge import MODELS_OF_SINGLE_RECORDS
from divulge.work import Problem

if TYPE_CHECKING:
    from divulge.data import Dataset

Target = dict[str, Any]


Gain = dict[str, Any] | list[list[float]] | None
GAIN_DESCRIPTION = (
    "What guesses are worth: { guesses = 3 }, { within = 5 }, { worth = { yes = 10 }, wrong = 1 }, "
    "or rows of numbers, one row per guess."
)

Renaming = dict[str, dict[str, str]]
NamesByDataset = dict[str, str | list[str]]
RENAME_DESCRIPTION = (
    "By dataset of several years, attributes that it calls otherwise: "
    '{ "third year" = { ethnicity = "race" } }.'
)
ABSENT_DESCRIPTION = (
    "By dataset of several years, what is known in others and not published there: "
    '{ "third year" = ["race"] }.'
)
RECODED_DESCRIPTION = (
    "What is coded anew in some year, on purpose: what is known is what each year has."
)


class _Settings(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class RecordsSettings(_Settings):
    """What an adversary of `attack = "records"` may be told."""

    model: str = Field("CRS", description="The attack model, by acronym or everyday name.")
    knows: str | list[str] | None = Field(
        None,
        description="What the adversary knows of everybody; all quasi-identifiers if not given.",
    )
    seeks: str | list[str] | None = Field(None, description="The secret; several are one secret.")
    target: Target | list[Target | Literal["absent"] | None] | None = Field(
        None,
        description="The values of one person, by attribute (models with I); of several years one "
        'each, or "absent" where the person is not in it.',
    )
    prior: str | None = Field(
        None, description="An attribute: how likely each record is the one they are looking for."
    )
    gain: Gain = Field(None, description=GAIN_DESCRIPTION)
    on: str | None = Field(
        None, description="The id that links datasets (models with L) and protected versions."
    )
    by: str | None = Field(
        None, description="Who bears the risk: an attribute, whose groups the report then shows."
    )
    protected: bool = Field(
        False, description="After the original datasets come their protected versions."
    )
    duplicates: Literal["error", "first", "random"] = "error"
    seed: int = 0
    rename: Renaming = Field({}, description=RENAME_DESCRIPTION)
    absent: NamesByDataset = Field({}, description=ABSENT_DESCRIPTION)
    recoded: str | list[str] = Field([], description=RECODED_DESCRIPTION)
    records_known: RecordsKnown = Field(
        "one", description="Of somebody with several records (role person): one is known, or all."
    )
    knows_also: str | None = Field(
        None,
        description="A dataset of pairs (the id that `on` names, an attribute): what is known of "
        "single records beside.",
    )
    knows_only: str | None = Field(
        None, description="The same: what alone is known of single records, instead of `knows`."
    )

    @field_validator("target", mode="after")
    @classmethod
    def _leave_absent_years_out(cls, target: Any) -> Any:
        """In a file nothing stands for nothing; in Python it is None."""
        if not isinstance(target, list):
            return target
        return [None if each == "absent" else each for each in target]

    @property
    def takes_single_knowledge(self) -> bool:
        """Whether the model looks for each record by what is known of it."""
        return resolve_model(self) in MODELS_OF_SINGLE_RECORDS and not self.protected

    @property
    def pair_datasets(self) -> tuple[str, ...]:
        """The datasets of pairs that say what is known of single records; each once."""
        named = (self.knows_also, self.knows_only)
        return tuple(dict.fromkeys(name for name in named if name is not None))


class LongitudinalSettings(_Settings):
    """What an adversary of `attack = "longitudinal"` may be told."""

    on: str = Field(description="The id that links the datasets.")
    knows: str | list[str] | None = Field(
        None, description="What the adversary knows in every dataset."
    )
    seeks: str | list[str] | None = Field(None, description="The secret; none: who is who.")
    prior: str | None = Field(
        None, description="An attribute: how likely each record is the one they are looking for."
    )
    gain: Gain = Field(None, description=GAIN_DESCRIPTION)
    protected: bool = Field(
        False, description="After the original datasets come their protected versions."
    )
    duplicates: Literal["error", "first", "random"] = "error"
    seed: int = 0
    rename: Renaming = Field({}, description=RENAME_DESCRIPTION)
    absent: NamesByDataset = Field({}, description=ABSENT_DESCRIPTION)
    recoded: str | list[str] = Field([], description=RECODED_DESCRIPTION)


class LinkageSettings(_Settings):
    """What an adversary of `attack = "linkage"` may be told."""

    block: str | list[str] = Field(description="Only who agrees on these is compared.")
    compare: dict[str, Any] = Field(
        default_factory=dict, description='By attribute: "equal", ["near", 2], ["likeness", 0.9].'
    )
    truth: str | None = Field(None, description="An id that both have, to judge the links.")
    agreement: float | dict[str, float] | Literal["truth"] | None = Field(
        None, description="How often the values of one person agree; estimated if not given."
    )
    by: str | None = Field(
        None, description="Who bears the risk: an attribute, whose groups the report then shows."
    )
    coverage: float | None = Field(
        None, description="How likely a record's person is among its candidates."
    )


def resolve_model(settings: RecordsSettings) -> str:
    """The attack model, whatever it is called in the release."""
    return EVERYDAY_NAMES.get(settings.model, settings.model)


def split_pairs(
    settings: RecordsSettings, datasets: Sequence[Dataset]
) -> tuple[Sequence[Dataset], dict[str, Dataset]]:
    """The datasets without those of pairs, which come last; these by setting."""
    names = settings.pair_datasets
    if not names:
        return datasets, {}
    by_name = dict(zip(names, datasets[-len(names) :], strict=True))
    named = {"knows_also": settings.knows_also, "knows_only": settings.knows_only}
    pairs = {place: by_name[name] for place, name in named.items() if name is not None}
    return datasets[: -len(names)], pairs


def problems_with_pairs(
    settings: RecordsSettings, names: Mapping[str, Sequence[str]]
) -> Iterator[Problem]:
    """Datasets of pairs that exist, with two columns, and an id that they name records by."""
    model = resolve_model(settings)
    for place in ("knows_also", "knows_only"):
        name = getattr(settings, place)
        if name is None:
            continue
        if model not in MODELS_OF_SINGLE_RECORDS:
            models = ", ".join(MODELS_OF_SINGLE_RECORDS)
            yield Problem(place, f"is for the models {models}, not for {model}.")
        if name not in names:
            yield Problem(place, f'the release has no dataset "{name}".', name, list(names))
        elif len(names[name]) != 2:
            message = f'"{name}" has {len(names[name])} columns; pairs have two (id, attribute).'
            yield Problem(place, message)
    if settings.pair_datasets and settings.on is None:
        yield Problem("on", "is missing; name the id that pairs name records by.")
    first = next(iter(names.values()), ())
    if settings.pair_datasets and settings.on is not None and names:
        yield from find_name_problems("on", [settings.on], first, f'dataset "{next(iter(names))}"')


def is_membership(settings: RecordsSettings) -> bool:
    """Whether the adversary seeks who is in the release; then the population comes last."""
    return resolve_model(settings)[1:2] == "M"


def collect_names(settings: BaseModel, *fields: str) -> set[str]:
    """The attributes that some settings name."""
    values = [getattr(settings, field) for field in fields]
    return {name for value in values if value is not None for name in as_names(value)}


def find_choices(settings: RecordsSettings | LongitudinalSettings) -> YearChoices:
    """What the release says of attributes that years do not have alike."""
    return YearChoices.from_arguments(settings.rename, settings.absent, settings.recoded)


def list_renamed(settings: RecordsSettings | LongitudinalSettings) -> set[str]:
    """Attributes by the names that single datasets call them."""
    return {theirs for renamed in settings.rename.values() for theirs in renamed}


def problems_with_dataset_count(model: str, number: int, protected: bool) -> Iterator[Problem]:
    """As many datasets as the model takes."""
    people = int(model[1:2] == "M")
    releases = number - people
    if people and releases < 1:
        yield Problem("dataset", f"{model} takes the release and, last, the population.")
    elif protected and releases % 2:
        yield Problem("dataset", "name the originals, then as many protected versions.")
    elif model.endswith("S") and releases > 1 + protected:
        parts = ["the original and its protected version" if protected else "the release"]
        requirement = " and ".join([*parts, *(["the population"] if people else [])])
        requirement = "one" if requirement == "the release" else requirement
        yield Problem("dataset", f"names {number}; {model} takes {requirement}.")


def problems_with_names(
    settings: RecordsSettings | LongitudinalSettings, names: Mapping[str, Sequence[str]]
) -> Iterator[Problem]:
    """What is known stands in some dataset, what is sought in the first."""
    if not names:
        return
    choices = find_choices(settings)
    yield from choices.find_problems(names)
    first, attributes = next(iter(names.items()))
    renamed = {dataset: choices.list_names(dataset, each) for dataset, each in names.items()}
    everywhere = list(dict.fromkeys(name for each in renamed.values() for name in each))
    known = as_names(settings.knows) if settings.knows is not None else []
    subject = f'dataset "{first}"' if len(names) == 1 else "none of the datasets"
    for problem in find_name_problems("knows", known, everywhere, subject):
        message = problem.message.replace("none of the datasets has no", "no dataset has an")
        yield replace(problem, message=message)
    sought = as_names(settings.seeks) if settings.seeks is not None else []
    yield from find_name_problems("seeks", sought, attributes, f'dataset "{first}"')
    for name in sought:
        if name in known:
            yield Problem("seeks", f'"{name}" is known already; take it out of knows.')
