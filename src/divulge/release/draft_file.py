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

from divulge.data import Categorisation, Dataset, Experience, Source, categorise, compare
from divulge.data.dictionary import SINGLE_ROLES
from divulge.data.formats import Options
from divulge.data.formats.postgres import is_address, remove_password
from divulge.records.plugin import draft_adversary
from divulge.release.settings import FORMAT
from divulge.release.toml_text import format_comment, format_table, format_value
from divulge.work import step, usable_path, whole_file

# What somebody knows of others, by the topics of the experience base; the birthday of a neighbour
# is not known to the day, that of an entry in a register is.
KNOWN_BY: Mapping[str, tuple[str, frozenset[str]]] = {
    "neighbour": (
        "Somebody next door: sees who lives there, about how old, in what household.",
        frozenset({"person", "home", "household"}),
    ),
    "colleague": (
        "Somebody at work or at school: knows the person, the job, the schooling.",
        frozenset({"person", "work", "education"}),
    ),
    "register holder": (
        "Somebody with a register of residents: births, sex, nationality, addresses.",
        frozenset({"birth", "person", "home"}),
    ),
    "competitor": (
        "Somebody in the same trade: knows the market and its firms.",
        frozenset({"business", "home"}),
    ),
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
    yield "# A draft: what is published, who might attack it, what they may learn."
    yield "# Every role below is a proposal with its reason. Read them, decide what is marked with"
    yield "# DECIDE, look at what is marked with DOUBT, and change what is wrong."
    yield "# Check it with:  divulge check <this file> --out <folder>"
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
            yield format_comment(
                "The password is taken from PGPASSWORD or the file .pgpass, not from here."
            )
        for setting in ("table", "separator", "encoding", "decimal", "thousands", "quote"):
            if getattr(options, setting) is not None:
                yield f"{setting} = {format_value(getattr(options, setting))}"
        if options.text:
            yield f"text = {format_value(list(options.text))}"
        yield 'subjects = "records"    # whom they are about, for sentences: "people", "firms"'
        yield from _draft_roles(categorisation)
        yield from draft_dictionary(dataset)
        for remark in compare(dataset):
            yield format_comment(f"DOUBT: {remark}")


def _draft_roles(categorisation: Categorisation) -> Iterator[str]:
    yield ""
    yield "[dataset.roles]"
    for role, names in categorisation.roles.items():
        for name in names:
            proposal = categorisation.proposals[name]
            mark = "DOUBT: " if proposal.status == "doubt" else ""
            yield format_comment(f"{mark}{format_value(name)}: {'; '.join(proposal.reasons)}")
        yield f"{role} = {format_value(names[0] if role in SINGLE_ROLES else names)}"
    for proposal in categorisation.conflicts:
        could = " or ".join(proposal.candidates)
        yield format_comment(f"DECIDE: {format_value(proposal.attribute)} could be {could}:")
        for reason in proposal.reasons:
            yield format_comment(f"  {reason}")
    for proposal in categorisation.unknown:
        yield format_comment(
            f"DECIDE: {format_value(proposal.attribute)}: not recognised; give it a role."
        )
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
        for who, (why, known_topics) in KNOWN_BY.items():
            knows = [attribute for attribute, topic in topics.items() if topic in known_topics]
            if knows and _is_plausible(who, topics.values()):
                yield from _draft_adversary_table(who + suffix, name, why, knows)
        everything = [
            attribute
            for attribute in dataset.names
            if categorisation.proposals[attribute].role not in ("identifier", "weight", "household")
        ]
        if everything:
            why = "The worst case: knows all that is published of everybody, and seeks the person."
            yield from _draft_adversary_table(
                MAXIMUM_KNOWLEDGE + suffix, name, why, everything, limited=False
            )
        if topics:
            yield ""
            yield format_comment(f"At least {ALIKE_AT_LEAST} records share every combination.")
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
    yield format_comment(why)
    yield "[[adversary]]"
    yield f"name = {format_value(who)}"
    for setting, content in draft_adversary(dataset, knows).items():
        yield f"{setting} = {format_value(content)}"
    yield ""
    if not limited:
        yield format_comment("Few data withstand this; uncomment to hold the release to it.")
    mark = "" if limited else "# "
    yield f"{mark}[[limit]]"
    yield f"{mark}adversary = {format_value(who)}"
    yield f'{mark}measure = "deterministic.posterior"'
    yield f"{mark}at_most = {CERTAIN_AT_MOST}"


def _draft_protection() -> Iterator[str]:
    yield ""
    yield format_comment("How the data may be changed where a limit does not hold.")
    yield "[protection]"
    yield 'methods = ["recode", "suppress"]'
