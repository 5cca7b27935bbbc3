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
from divulge.data.formats.postgres import is_address, without_password
from divulge.records.plugin import draft_adversary
from divulge.release.settings import FORMAT
from divulge.release.toml_text import comment, settings, value
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
MAXIMUM = "maximum knowledge"
CERTAIN_AT_MOST = 0.05
ALIKE_AT_LEAST = 3


@dataclass(frozen=True)
class Draft:
    """A drafted release file and the proposals behind it."""

    text: str
    proposals: Mapping[str, Categorisation]

    def to_dict(self) -> dict[str, Any]:
        """The proposals as plain values."""
        return {"datasets": {name: found.to_dict() for name, found in self.proposals.items()}}


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
    >>> [adversary.name for adversary in dv.Release.load(folder / "release.toml").adversaries]
    ['neighbour', 'colleague', 'register holder', 'maximum knowledge']
    """
    given = options or Options()
    datasets: dict[str, tuple[str, Dataset, Categorisation]] = {}
    with step("Looking at the data", len(sources)) as progress:
        for place in sources:
            dataset = Source(_path(place), given).read()
            name = _free_name(dataset.name, datasets)
            datasets[name] = (_relative(place, folder), dataset, categorise(dataset, experience))
            progress.advance()
    lines = [*_preface(), *_datasets(datasets, given), *_adversaries(datasets)]
    text = "\n".join([*lines, *_closing()]) + "\n"
    return Draft(text, {name: found for name, (_, _, found) in datasets.items()})


def write_draft(drafted: Draft, path: Path | str, overwrite: bool = False) -> None:
    """Write a draft; one that somebody has worked on is not lost unasked."""
    with whole_file(path, overwrite) as part:
        part.write_text(drafted.text, encoding="utf-8")


def _path(place: Path | str) -> Path | str:
    return place if is_address(place) else usable_path(place)


def _relative(place: Path | str, folder: Path | str) -> str:
    if is_address(place):
        return without_password(str(place))
    return Path(os.path.relpath(place, folder)).as_posix()


def _free_name(name: str, taken: Mapping[str, object]) -> str:
    candidates = (name, *(f"{name} {number}" for number in range(2, len(taken) + 3)))
    return next(candidate for candidate in candidates if candidate not in taken)


def _preface() -> Iterator[str]:
    yield "# A draft: what is published, who might attack it, what they may learn."
    yield "# Every role below is a proposal with its reason. Read them, decide what is marked with"
    yield "# DECIDE, look at what is marked with DOUBT, and change what is wrong."
    yield "# Check it with:  divulge check <this file> --out <folder>"
    yield ""
    yield f"format = {FORMAT}"


def _datasets(
    datasets: Mapping[str, tuple[str, Dataset, Categorisation]], options: Options
) -> Iterator[str]:
    for name, (source, dataset, found) in datasets.items():
        yield ""
        yield "[[dataset]]"
        yield f"name = {value(name)}"
        yield f"source = {value(source)}"
        if is_address(source):
            yield comment(
                "The password is taken from PGPASSWORD or the file .pgpass, not from here."
            )
        for setting in ("table", "separator", "encoding", "decimal", "thousands", "quote"):
            if getattr(options, setting) is not None:
                yield f"{setting} = {value(getattr(options, setting))}"
        if options.text:
            yield f"text = {value(list(options.text))}"
        yield 'subjects = "records"    # whom they are about, for sentences: "people", "firms"'
        yield from _roles(found)
        yield from described(dataset)
        for remark in compare(dataset):
            yield comment(f"DOUBT: {remark}")


def _roles(found: Categorisation) -> Iterator[str]:
    yield ""
    yield "[dataset.roles]"
    for role, names in found.roles.items():
        for name in names:
            proposal = found.proposals[name]
            mark = "DOUBT: " if proposal.status == "doubt" else ""
            yield comment(f"{mark}{value(name)}: {'; '.join(proposal.reasons)}")
        yield f"{role} = {value(names[0] if role in SINGLE_ROLES else names)}"
    for proposal in found.conflicts:
        could = " or ".join(proposal.candidates)
        yield comment(f"DECIDE: {value(proposal.attribute)} could be {could}:")
        for reason in proposal.reasons:
            yield comment(f"  {reason}")
    for proposal in found.unknown:
        yield comment(f"DECIDE: {value(proposal.attribute)}: not recognised; give it a role.")
    for combination in found.combinations:
        yield comment(str(combination))


def described(dataset: Dataset) -> Iterator[str]:
    """What the dictionary says, as tables of a release file: it is saved there, and read again."""
    about = list(dataset.dictionary)
    yield from settings("dataset.descriptions", {a.name: a.description for a in about})
    yield from settings("dataset.units", {a.name: a.unit for a in about})
    yield from settings("dataset.labels", {a.name: dict(a.labels) for a in about})
    codes = {a.name: [_code(c) for c in a.missing] for a in about}
    yield from settings("dataset.missing_codes", codes)
    coarser = {a.name: a.hierarchy.as_settings() for a in about if a.hierarchy is not None}
    yield from settings("dataset.hierarchies", coarser)


def _code(code: Any) -> Any:
    return code.low if code.low == code.high else [code.low, code.high]


def _adversaries(datasets: Mapping[str, tuple[str, Dataset, Categorisation]]) -> Iterator[str]:
    for name, (_, dataset, found) in datasets.items():
        of = f" of {name}" if len(datasets) > 1 else ""
        topics = {
            p.attribute: p.topic for p in found.proposals.values() if p.role == "quasi_identifier"
        }
        for who, (why, known) in KNOWN_BY.items():
            knows = [attribute for attribute, topic in topics.items() if topic in known]
            if knows and _fits(who, topics.values()):
                yield from _adversary(who + of, name, why, knows)
        everything = [
            attribute
            for attribute in dataset.names
            if found.proposals[attribute].role not in ("identifier", "weight", "household")
        ]
        if everything:
            why = "The worst case: knows all that is published of everybody, and seeks the person."
            yield from _adversary(MAXIMUM + of, name, why, everything, limited=False)
        if topics:
            yield ""
            yield comment(f"At least {ALIKE_AT_LEAST} records share every combination.")
            yield "[[limit]]"
            yield f"dataset = {value(name)}"
            yield 'measure = "k_anonymity"'
            yield f"at_least = {ALIKE_AT_LEAST}"


def _fits(who: str, topics: Any) -> bool:
    """Firms have competitors, people have neighbours."""
    firms = "business" in set(topics)
    people = bool({"person", "birth", "household", "education"} & set(topics))
    return (firms or not people) if who == "competitor" else (people or not firms)


def _adversary(
    who: str, dataset: str, why: str, knows: list[str], limited: bool = True
) -> Iterator[str]:
    yield ""
    yield comment(why)
    yield "[[adversary]]"
    yield f"name = {value(who)}"
    for setting, given in draft_adversary(dataset, knows).items():
        yield f"{setting} = {value(given)}"
    yield ""
    if not limited:
        yield comment("Few data withstand this; uncomment to hold the release to it.")
    mark = "" if limited else "# "
    yield f"{mark}[[limit]]"
    yield f"{mark}adversary = {value(who)}"
    yield f'{mark}measure = "deterministic.posterior"'
    yield f"{mark}at_most = {CERTAIN_AT_MOST}"


def _closing() -> Iterator[str]:
    yield ""
    yield comment("How the data may be changed where a limit does not hold.")
    yield "[protection]"
    yield 'methods = ["recode", "suppress"]'
