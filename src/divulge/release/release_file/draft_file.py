"""A first release file, drafted from the data: roles with reasons, adversaries, limits.

The draft is a file to read and change, so every proposal stands beside its reason, and what a
person must decide is marked. It can be checked, and the data protected, as it is: what nobody could
say a role of is left out.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, TypeAlias

from divulge.assessment.sentence import read_phrases
from divulge.data import (
    Categorisation,
    Dataset,
    Experience,
    Hierarchy,
    KindProposal,
    Role,
    Source,
    categorise,
    propose_kind,
)
from divulge.data.formats import Options
from divulge.data.formats.postgres import is_address, remove_password
from divulge.data.proposals.file_relations import FileRelation, find_file_relations
from divulge.release.release_file.draft_sections.comments import CATALOGUE, comment_on, say
from divulge.release.release_file.draft_sections.dataset_draft import DatasetDraft
from divulge.release.release_file.draft_sections.dataset_section import (
    draft_dictionary,
    format_dataset,
)
from divulge.release.release_file.draft_sections.gallery import AdversaryChoice, choose_adversaries
from divulge.release.release_file.draft_sections.hierarchy_section import (
    HierarchyDraft,
    propose_hierarchies,
)
from divulge.release.release_file.draft_sections.history_adversaries import (
    draft_history_adversaries,
)
from divulge.release.release_file.draft_sections.profiles import (
    DEFAULT_PROFILE,
    Profile,
    load_profile,
)
from divulge.release.release_file.draft_sections.record_adversaries import draft_record_adversaries
from divulge.release.release_file.draft_sections.table_adversaries import draft_table_adversaries
from divulge.release.release_file.draft_sections.year_adversaries import draft_year_adversaries
from divulge.release.release_file.settings import FORMAT
from divulge.work import step, usable_path, whole_file

__all__ = ["Ask", "Draft", "draft", "draft_dictionary", "write_draft"]


Ask: TypeAlias = Callable[[Dataset, Categorisation], Mapping[str, Role]]
"""Whoever answers what is open about the roles of a dataset: roles by attribute."""


@dataclass(frozen=True)
class Draft:
    """A drafted release file, the files of levels beside it, and the proposals behind it."""

    text: str
    proposals: Mapping[str, Categorisation]
    kinds: Mapping[str, KindProposal] = field(default_factory=dict)
    published: Mapping[str, Sequence[str]] = field(default_factory=dict)
    """Of each dataset the attributes that go out if the draft is taken as it stands."""
    hierarchies: Mapping[str, Hierarchy] = field(default_factory=dict)
    """By the path of their file, relative to the release file."""
    answers: Mapping[str, Role] = field(default_factory=dict)
    """What a person answered of attributes that were open."""

    def to_dict(self) -> dict[str, Any]:
        """The proposals as plain values."""
        return {
            "datasets": {
                name: {
                    "kind": self.kinds[name].kind,
                    "published": list(self.published[name]),
                    **categorisation.to_dict(),
                }
                for name, categorisation in self.proposals.items()
            },
            "hierarchies": list(self.hierarchies),
        }


def draft(
    sources: Sequence[Path | str],
    folder: Path | str,
    options: Options | None = None,
    experience: Experience | None = None,
    *,
    profile: str = DEFAULT_PROFILE,
    name: str = "release",
    ask: Ask | None = None,
) -> Draft:
    """Read data and draft the release file that describes them, for a file in `folder`.

    Args:
        sources: data files, folders of files, addresses of databases; one dataset each.
        folder: where the release file will be; the paths in it are relative to that.
        options: how text files and databases are to be read.
        experience: what is known of attributes; the shipped base and the user's own by default.
        profile: the limits: `scientific-use`, `public-use`, `hipaa-expert`, `acro` or `strict`.
        name: the name of the release file without its ending; hierarchies are in a folder that
            begins with it.
        ask: who is asked about attributes whose role is not clear; the draft takes what they say.

    >>> import tempfile
    >>> import divulge as dv
    >>> folder = Path(tempfile.mkdtemp())
    >>> dv.datasets.school_year_example().write(folder / "pupils.csv")
    >>> drafted = draft([folder / "pupils.csv"], folder)
    >>> write_draft(drafted, folder / "release.toml")
    >>> release = dv.Release.load(folder / "release.toml")
    >>> [adversary.name for adversary in release.adversaries]
    ['neighbour', 'colleague', 'maximum knowledge']
    """
    limits = load_profile(profile)
    read_options = options or Options()
    drafts: dict[str, DatasetDraft] = {}
    answers: dict[str, Role] = {}
    with step("Looking at the data", len(sources)) as progress:
        for place in sources:
            dataset = Source(_resolve_source(place), read_options).read()
            free_name = _find_free_name(dataset.name, drafts)
            source = _make_relative(place, folder)
            categorisation = categorise(dataset, experience)
            if ask is not None and (told := ask(dataset, categorisation)):
                answers |= told
                categorisation = categorise(dataset, _add_answers(experience, told))
            kind = propose_kind(dataset, categorisation)
            drafts[free_name] = DatasetDraft(
                name=free_name,
                source=source,
                dataset=dataset,
                categorisation=categorisation,
                kind=kind,
            )
            progress.advance()
    relations = find_file_relations(
        {name: (each.dataset, each.categorisation) for name, each in drafts.items()}
    )
    choices = {name: choose_adversaries(each) for name, each in drafts.items()}
    drafts = {name: _leave_out(each, choices[name]) for name, each in drafts.items()}
    taken: set[str] = set()
    hierarchies = {
        key: propose_hierarchies(each, f"{name}-hierarchies", taken) for key, each in drafts.items()
    }
    lines = [
        *_draft_preface(limits),
        *(
            line
            for key, each in drafts.items()
            for line in format_dataset(each, read_options, hierarchies[key])
        ),
        *_draft_adversaries(drafts, choices, relations, limits),
        *_draft_protection(),
    ]
    return Draft(
        text="\n".join(lines) + "\n",
        proposals={name: each.categorisation for name, each in drafts.items()},
        kinds={name: replace(each.kind, doubts=each.doubts) for name, each in drafts.items()},
        published={name: each.published for name, each in drafts.items()},
        hierarchies=_list_files(hierarchies.values()),
        answers=answers,
    )


def write_draft(drafted: Draft, path: Path | str, overwrite: bool = False) -> None:
    """Write a draft and its hierarchies; one that somebody has worked on is not lost unasked."""
    with whole_file(path, overwrite) as part:
        for file, hierarchy in drafted.hierarchies.items():
            hierarchy.write(Path(path).parent / file, overwrite=overwrite)
        part.write_text(drafted.text, encoding="utf-8")


def _add_answers(experience: Experience | None, answers: Mapping[str, Role]) -> Experience:
    """What is known, with what was answered just now above it."""
    known = Experience.own() + Experience.shipped() if experience is None else experience
    answered = Experience().accept(answers)
    return answered + Experience(tuple(k for k in known if not (k.is_own and k.name in answers)))


def _leave_out(each: DatasetDraft, choice: AdversaryChoice) -> DatasetDraft:
    """Without what no adversary of the draft would judge."""
    unguarded = {}
    if each.kind.kind not in ("histories", "totals", "crosstab"):
        unguarded = dict.fromkeys(choice.unknown_keys, say("no_room"))
    if each.kind.kind == "histories":
        amounts = [n for n in each.published if each.topic_of(n) in ("measure", "finance")]
        unguarded = dict.fromkeys(amounts, say("amount_of_event"))
    return replace(each, unguarded=unguarded)


def _list_files(
    hierarchies: Any,
) -> dict[str, Hierarchy]:
    drafts: list[HierarchyDraft] = [each for of in hierarchies for each in of.values()]
    return {each.file: each.hierarchy for each in drafts if each.file is not None}


def _resolve_source(place: Path | str) -> Path | str:
    return place if is_address(place) else usable_path(place)


def _make_relative(place: Path | str, folder: Path | str) -> str:
    if is_address(place):
        return remove_password(str(place))
    return Path(os.path.relpath(place, folder)).as_posix()


def _find_free_name(name: str, used: Mapping[str, object]) -> str:
    candidates = (name, *(f"{name} {number}" for number in range(2, len(used) + 3)))
    return next(candidate for candidate in candidates if candidate not in used)


def _draft_preface(profile: Profile) -> Iterator[str]:
    for line in read_phrases(CATALOGUE, "draft.preface"):
        yield f"# {line}"
    yield comment_on("profile", profile=profile.name, title=profile.title)
    yield ""
    yield f"format = {FORMAT}"


def _draft_adversaries(
    drafts: Mapping[str, DatasetDraft],
    choices: Mapping[str, AdversaryChoice],
    relations: Sequence[FileRelation],
    profile: Profile,
) -> Iterator[str]:
    for name, each in drafts.items():
        suffix = f" of {name}" if len(drafts) > 1 else ""
        match each.kind.kind:
            case "totals":
                yield from draft_table_adversaries(each, profile, suffix)
            case "histories":
                yield from draft_history_adversaries(each, profile, suffix)
            case "crosstab":
                yield ""
                yield comment_on("crosstab", source=each.source, least=profile.cell)
            case _:
                yield from draft_record_adversaries(each, choices[name], profile, suffix)
    yield from draft_year_adversaries(relations, drafts, profile)


def _draft_protection() -> Iterator[str]:
    yield ""
    yield comment_on("protection")
    yield "[protection]"
    yield 'methods = ["recode", "suppress"]'
    yield f'out_of_reach = "remove"    {comment_on("out_of_reach")}'
