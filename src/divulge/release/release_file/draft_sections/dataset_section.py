"""A dataset as a table of a drafted release file: its roles, each with its reason."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from divulge.data import Dataset, compare
from divulge.data.dictionary import SINGLE_ROLES
from divulge.data.formats import Options
from divulge.data.formats.postgres import is_address
from divulge.release.release_file.draft_sections.comments import comment_on, say
from divulge.release.release_file.draft_sections.dataset_draft import DatasetDraft
from divulge.release.release_file.draft_sections.gallery import is_about_people
from divulge.release.release_file.draft_sections.hierarchy_section import (
    HierarchyDraft,
    format_hierarchies,
)
from divulge.release.release_file.toml_text import (
    format_comment,
    format_key,
    format_table,
    format_value,
)

READING_SETTINGS = ("table", "separator", "encoding", "decimal", "thousands", "quote")


def format_dataset(
    draft: DatasetDraft, options: Options, hierarchies: Mapping[str, HierarchyDraft]
) -> Iterator[str]:
    """The table of one dataset, with what is doubtful about it."""
    yield ""
    yield from _describe_kind(draft)
    yield "[[dataset]]"
    yield f"name = {format_value(draft.name)}"
    yield f"source = {format_value(draft.source)}"
    yield from _format_reading(draft, options)
    yield f"subjects = {format_value(_name_subjects(draft))}    {comment_on('subjects')}"
    if draft.dropped and not draft.published:
        yield f'# unlisted = "drop"    {comment_on("nothing_published")}'
    elif draft.dropped:
        yield f'unlisted = "drop"    {comment_on("unlisted")}'
    user = draft.kind.user
    if draft.kind.kind == "panel" and user is not None:
        yield f"# publish = {format_value([user])}    {comment_on('publish')}"
    yield from _format_roles(draft)
    yield from _format_dropped(draft)
    for combination in draft.categorisation.combinations:
        yield format_comment(str(combination))
    yield from draft_dictionary(draft.dataset)
    has_table = any(a.hierarchy is not None for a in draft.dataset.dictionary)
    yield from format_hierarchies(hierarchies, has_table)
    for remark in compare(draft.dataset):
        yield comment_on("doubt", remark=remark)


def _format_reading(draft: DatasetDraft, options: Options) -> Iterator[str]:
    """How the file is read, where somebody said so."""
    if is_address(draft.source):
        yield comment_on("password")
    for setting in READING_SETTINGS:
        if getattr(options, setting) is not None:
            yield f"{setting} = {format_value(getattr(options, setting))}"
    for column, text in options.dates:
        setting = f"dates.{format_key(column)}" if column else "dates"
        yield f"{setting} = {format_value(text)}"
    if options.text:
        yield f"text = {format_value(list(options.text))}"
    if options.header:
        yield "header = true"
    if codes := [code for code in options.missing if code]:
        yield f"missing = {format_value(codes)}"


def _describe_kind(draft: DatasetDraft) -> Iterator[str]:
    reasons = "; ".join(draft.kind.reasons)
    said = say(f"kind.{draft.kind.kind}")
    yield format_comment(f"{said}: {reasons}." if reasons else f"{said}.")
    for doubt in draft.doubts:
        yield comment_on("doubt", remark=doubt)


def _name_subjects(draft: DatasetDraft) -> str:
    """Whom sentences are about: what the topics say, else records."""
    topics = {draft.topic_of(name) for name in draft.role_of}
    if draft.kind.kind in ("records", "households") and draft.kind.user is None:
        if is_about_people(draft) and {"person", "birth"} & topics:
            return "people"
        if "business" in topics and not is_about_people(draft):
            return "firms"
    return "records"


def _format_roles(draft: DatasetDraft) -> Iterator[str]:
    yield ""
    yield "[dataset.roles]"
    for role, names in draft.roles.items():
        for name in names:
            yield from _format_reasons(draft, name)
        yield f"{role} = {format_value(names[0] if role in SINGLE_ROLES else names)}"


def _format_reasons(draft: DatasetDraft, name: str) -> Iterator[str]:
    proposal = draft.categorisation.proposals[name]
    reasons: Sequence[str] = proposal.reasons
    if proposal.role != draft.role_of[name]:
        reasons = [say("by_kind")]
    remark = f"{format_value(name)}: {'; '.join(reasons)}"
    is_doubt = proposal.status == "doubt" and proposal.role == draft.role_of[name]
    yield comment_on("doubt", remark=remark) if is_doubt else format_comment(remark)


def _format_dropped(draft: DatasetDraft) -> Iterator[str]:
    """What is left out, and why: whoever knows better gives it a role."""
    if not draft.dropped:
        return
    yield ""
    yield comment_on("dropped", attributes=len(draft.dropped))
    for name, proposal in draft.dropped.items():
        attribute = format_value(name)
        if name in draft.unguarded:
            yield comment_on("left_out", attribute=attribute, reason=draft.unguarded[name])
        elif proposal.status == "conflict":
            could = say("or").join(proposal.candidates)
            yield comment_on("conflict", attribute=attribute, could=could)
            for reason in proposal.reasons:
                yield format_comment(f"  {reason}")
        elif proposal.role is None:
            yield comment_on("unknown", attribute=attribute)
        else:
            yield comment_on(
                "doubtful",
                attribute=attribute,
                role=proposal.role,
                reason="; ".join(proposal.reasons),
            )


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
