"""A first release file, drafted from the data: roles with reasons, adversaries, limits.

The draft is a file to read and change, so every proposal stands beside its reason, and what a
person must decide is marked. It can be checked as it is.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from divulge.assessment.sentence import Sentence, read_phrases
from divulge.data import Categorisation, Dataset, Experience, Source, categorise, compare
from divulge.data.dictionary import SINGLE_ROLES, WITHHELD_ROLES
from divulge.data.formats import Options
from divulge.data.formats.postgres import is_address, remove_password
from divulge.records.plugin import draft_adversary
from divulge.release.release_file.settings import FORMAT
from divulge.release.release_file.toml_text import (
    format_comment,
    format_key,
    format_table,
    format_value,
)
from divulge.work import step, usable_path, whole_file

CATALOGUE = "divulge.release"

# What somebody knows of others, by the topics of the experience base; the birthday of a neighbour
# is not known to the day, that of an entry in a register is.
KNOWN_BY: Mapping[str, frozenset[str]] = {
    "neighbour": frozenset({"person", "home", "household"}),
    "colleague": frozenset({"person", "work", "education"}),
    "register holder": frozenset({"birth", "person", "home"}),
    "competitor": frozenset({"business", "home"}),
}
MAXIMUM_KNOWLEDGE = "maximum knowledge"
CERTAIN_AT_MOST = 0.05
ALIKE_AT_LEAST = 3


@dataclass(frozen=True)
class Draft:
    """A drafted release file and the proposals behind it."""

    text: str
    proposals: Mapping[str, Categorisation]

    def to_dict(self) -> dict[str, Any]:
        """The proposals as plain values."""
        return {
            "datasets": {
                name: categorisation.to_dict() for name, categorisation in self.proposals.items()
            }
        }


def draft(
    sources: Sequence[Path | str],
    folder: Path | str,
    options: Options | None = None,
    experience: Experience | None = None,
) -> Draft:
    """Read data and draft the release file that describes them, for a file in `folder`.

    Args:
        sources: data files, folders of files, addresses of databases; one dataset each.
        folder: where the release file will be; the paths in it are relative to that.
        options: how text files and databases are to be read.
        experience: what is known of attributes; the shipped base and the user's own by default.

    >>> import tempfile
    >>> import divulge as dv
    >>> folder = Path(tempfile.mkdtemp())
    >>> dv.datasets.school_year_example().write(folder / "pupils.csv")
    >>> drafted = draft([folder / "pupils.csv"], folder)
    >>> write_draft(drafted, folder / "release.toml")
    >>> release = dv.Release.load(folder / "release.toml")
    >>> [adversary.name for adversary in release.adversaries]
    ['neighbour', 'colleague', 'register holder', 'maximum knowledge']
    """
    read_options = options or Options()
    datasets: dict[str, tuple[str, Dataset, Categorisation]] = {}
    with step("Looking at the data", len(sources)) as progress:
        for place in sources:
            dataset = Source(_resolve_source(place), read_options).read()
            name = _find_free_name(dataset.name, datasets)
            datasets[name] = (
                _make_relative(place, folder),
                dataset,
                categorise(dataset, experience),
            )
            progress.advance()
    lines = [
        *_draft_preface(),
        *_draft_datasets(datasets, read_options),
        *_draft_adversaries(datasets),
    ]
    text = "\n".join([*lines, *_draft_protection()]) + "\n"
    return Draft(text, {name: categorisation for name, (_, _, categorisation) in datasets.items()})


def write_draft(drafted: Draft, path: Path | str, overwrite: bool = False) -> None:
    """Write a draft; one that somebody has worked on is not lost unasked."""
    with whole_file(path, overwrite) as part:
        part.write_text(drafted.text, encoding="utf-8")


def _resolve_source(place: Path | str) -> Path | str:
    return place if is_address(place) else usable_path(place)


def _make_relative(place: Path | str, folder: Path | str) -> str:
    if is_address(place):
        return remove_password(str(place))
    return Path(os.path.relpath(place, folder)).as_posix()


def _find_free_name(name: str, used: Mapping[str, object]) -> str:
    candidates = (name, *(f"{name} {number}" for number in range(2, len(used) + 3)))
    return next(candidate for candidate in candidates if candidate not in used)


def _draft_preface() -> Iterator[str]:
    for line in read_phrases(CATALOGUE, "draft.preface"):
        yield f"# {line}"
    yield ""
    yield f"format = {FORMAT}"


def _draft_datasets(
    datasets: Mapping[str, tuple[str, Dataset, Categorisation]], options: Options
) -> Iterator[str]:
    for name, (source, dataset, categorisation) in datasets.items():
        yield ""
        yield "[[dataset]]"
        yield f"name = {format_value(name)}"
        yield f"source = {format_value(source)}"
        if is_address(source):
            yield _comment("password")
        for setting in ("table", "separator", "encoding", "decimal", "thousands", "quote"):
            if getattr(options, setting) is not None:
                yield f"{setting} = {format_value(getattr(options, setting))}"
        for column, text in options.dates:
            setting = f"dates.{format_key(column)}" if column else "dates"
            yield f"{setting} = {format_value(text)}"
        if options.text:
            yield f"text = {format_value(list(options.text))}"
        yield f'subjects = "records"    {_comment("subjects")}'
        if categorisation.conflicts or categorisation.unknown:
            yield f'# unlisted = "drop"    {_comment("unlisted")}'
        yield from _draft_roles(categorisation)
        yield from draft_dictionary(dataset)
        for remark in compare(dataset):
            yield _comment("doubt", remark=remark)


def _draft_roles(categorisation: Categorisation) -> Iterator[str]:
    yield ""
    yield "[dataset.roles]"
    for role, names in categorisation.roles.items():
        for name in names:
            proposal = categorisation.proposals[name]
            remark = f"{format_value(name)}: {'; '.join(proposal.reasons)}"
            doubted = proposal.status == "doubt"
            yield _comment("doubt", remark=remark) if doubted else format_comment(remark)
        yield f"{role} = {format_value(names[0] if role in SINGLE_ROLES else names)}"
    for proposal in categorisation.conflicts:
        could = str(Sentence(CATALOGUE, "draft.or")).join(proposal.candidates)
        yield _comment("conflict", attribute=format_value(proposal.attribute), could=could)
        for reason in proposal.reasons:
            yield format_comment(f"  {reason}")
    for proposal in categorisation.unknown:
        yield _comment("unknown", attribute=format_value(proposal.attribute))
    for combination in categorisation.combinations:
        yield format_comment(str(combination))


def draft_dictionary(dataset: Dataset) -> Iterator[str]:
    """What the dictionary says, as tables of a release file: it is saved there, and read again."""
    about = list(dataset.dictionary)
    yield from format_table("dataset.descriptions", {a.name: a.description for a in about})
    yield from format_table("dataset.units", {a.name: a.unit for a in about})
    yield from format_table("dataset.labels", {a.name: dict(a.labels) for a in about})
    codes = {a.name: [_format_code(c) for c in a.missing] for a in about}
    yield from format_table("dataset.missing_codes", codes)
    coarser = {a.name: a.hierarchy.as_settings() for a in about if a.hierarchy is not None}
    yield from format_table("dataset.hierarchies", coarser)


def _format_code(code: Any) -> Any:
    return code.low if code.low == code.high else [code.low, code.high]


def _draft_adversaries(
    datasets: Mapping[str, tuple[str, Dataset, Categorisation]],
) -> Iterator[str]:
    for name, (_, dataset, categorisation) in datasets.items():
        suffix = f" of {name}" if len(datasets) > 1 else ""
        topics = {
            p.attribute: p.topic
            for p in categorisation.proposals.values()
            if p.role == "quasi_identifier"
        }
        for who, known_topics in KNOWN_BY.items():
            knows = [attribute for attribute, topic in topics.items() if topic in known_topics]
            if knows and _is_plausible(who, topics.values()):
                yield from _draft_adversary_table(who + suffix, name, _comment_on(who), knows)
        everything = [
            attribute
            for attribute in dataset.names
            if categorisation.proposals[attribute].role not in (None, "weight", *WITHHELD_ROLES)
        ]
        if everything:
            why = _comment_on(MAXIMUM_KNOWLEDGE)
            yield from _draft_adversary_table(
                MAXIMUM_KNOWLEDGE + suffix, name, why, everything, limited=False
            )
        if topics:
            yield ""
            yield _comment("alike", least=ALIKE_AT_LEAST)
            yield "[[limit]]"
            yield f"dataset = {format_value(name)}"
            yield 'measure = "k_anonymity"'
            yield f"at_least = {ALIKE_AT_LEAST}"


def _is_plausible(who: str, topics: Any) -> bool:
    """Firms have competitors, people have neighbours."""
    firms = "business" in set(topics)
    people = bool({"person", "birth", "household", "education"} & set(topics))
    return (firms or not people) if who == "competitor" else (people or not firms)


def _draft_adversary_table(
    who: str, dataset: str, why: str, knows: list[str], limited: bool = True
) -> Iterator[str]:
    yield ""
    yield why
    yield "[[adversary]]"
    yield f"name = {format_value(who)}"
    for setting, content in draft_adversary(dataset, knows).items():
        yield f"{setting} = {format_value(content)}"
    yield ""
    if not limited:
        yield _comment("unlimited")
    mark = "" if limited else "# "
    yield f"{mark}[[limit]]"
    yield f"{mark}adversary = {format_value(who)}"
    yield f'{mark}measure = "deterministic.posterior"'
    yield f"{mark}at_most = {CERTAIN_AT_MOST}"


def _draft_protection() -> Iterator[str]:
    yield ""
    yield _comment("protection")
    yield "[protection]"
    yield 'methods = ["recode", "suppress"]'


def _comment_on(who: str) -> str:
    """Who an adversary is."""
    return _comment(f"adversary.{who.replace(' ', '_')}")


def _comment(key: str, **values: Any) -> str:
    return format_comment(str(Sentence(CATALOGUE, f"draft.{key}", values)))
