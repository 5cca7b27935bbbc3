"""Two protections of data that overlap, put together by somebody who can tell which records are one.

The receipts tell them (in real data an income or a weight does). Of each cell they have the finer of
the two that were published.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

from tests.redteam.made_releases import Case, Row, write_rows
from tests.redteam.oracle import (
    HIDDEN,
    ROUNDING,
    Evidence,
    Shown,
    find_published,
    is_certain,
    list_broken_limits,
    read_evidence,
    write_text,
)

from divulge import Release
from divulge.classes.people import UnjudgedPeopleError
from divulge.protection import OutOfReachError


def combine(one: Evidence, other: Evidence) -> Evidence:
    """The records of two files, of each cell the finer text."""
    texts = {record["receipt"]: record for record in other.records}
    victims = {write_text(row["receipt"]): row for row in (*one.victims, *other.victims)}
    records: list[Shown] = []
    for record in one.records:
        twin = texts.pop(record["receipt"], record)
        victim = victims[record["receipt"]]
        records.append(
            {
                name: min(record[name], twin[name], key=order_texts(one, victim, name))
                if name in one.case.keys
                else text
                for name, text in record.items()
            }
        )
    records += texts.values()
    owners = [victims[record["receipt"]] for record in records]
    return Evidence(case=one.case, records=records, victims=owners)


def order_texts(evidence: Evidence, victim: Row, name: str) -> Callable[[str | None], int]:
    """A key that puts the finest text first, and hidden last."""
    order = [*evidence.possible_texts(victim, name), HIDDEN]
    return order.index


def list_revision_faults(case: Case, out: Path, folder: Path) -> Iterator[str]:
    """Revisions with a stricter limit, and of fewer people, each beside the first protection.

    Those who are in both are judged, and everybody, who left the source included.
    """
    first = read_evidence(case, find_published(out))
    for kind, revised in (("stricter", ask_for_more(case)), ("smaller", leave_out_household(case))):
        second = protect_revision(revised, out, folder / kind)
        if second is None:
            continue
        both = combine(first, second)
        for fault in list_broken_limits(select_people(both, revised)):
            yield f"beside a {kind} revision: {fault}"
        for fault in list_surer(first, both, revised):
            yield f"beside a {kind} revision, who left: {fault}"


def list_surer(first: Evidence, both: Evidence, revised: Case) -> Iterator[str]:
    """What both files tell of people who left the source, and the first one alone did not.

    A share is of those who are in a release: of who left, only their number can be compared.
    """
    there = {write_text(row["receipt"]) for row in revised.rows}
    gone = [row for row in first.victims if write_text(row["receipt"]) not in there]
    if not gone:
        return
    case = first.case
    before, after = (replace(each, case=case) for each in (first, both))
    for victim in gone:
        if case.k is not None:
            least = min(case.k, before.effective_frequency(victim))
            if after.effective_frequency(victim) < least - ROUNDING:
                yield f"k was {least:.4f}, and is {after.effective_frequency(victim):.4f}"
        if case.l_diversity and len(after.secrets(victim)) < min(2, len(before.secrets(victim))):
            yield "a secret is known that was not"
    if case.model is not None:
        alone, together = (
            sum(is_certain(each, victim) for victim in gone) for each in (before, after)
        )
        if together > alone:
            yield f"{alone} of them were certain by {case.model}, and {together} are"


def ask_for_more(case: Case) -> Case:
    """The release with one more alike, if it counts them; certain of fewer, if it limits that."""
    if case.k is None:
        return replace(case, at_most=case.at_most / 2)
    return replace(case, k=case.k + 1)


def leave_out_household(case: Case) -> Case:
    """The release without the last household."""
    last = case.rows[-1]["household"]
    return replace(case, rows=[row for row in case.rows if row["household"] != last])


def protect_revision(case: Case, out: Path, folder: Path) -> Evidence | None:
    """Protect another version of a release; None if that does not pass."""
    folder.mkdir()
    text = case.path.read_text(encoding="utf-8")
    for name, value in (("at_least", case.k), ("at_most", case.at_most)):
        if value is not None:
            text = re.sub(rf"{name} = .*", f"{name} = {value}", text, count=1)
    (folder / case.path.name).write_text(text, encoding="utf-8")
    write_rows(folder / case.source.name, case.rows)
    try:
        protected = Release.load(folder / case.path.name).protect(folder / "out", revises=out)
    except (OutOfReachError, UnjudgedPeopleError):
        return None
    if protected.status != "pass":
        return None
    return read_evidence(case, find_published(folder / "out"))


def select_people(evidence: Evidence, case: Case) -> Evidence:
    """The records of who is in a release, judged by its limits."""
    people = {write_text(row["receipt"]) for row in case.rows}
    chosen = [place for place, r in enumerate(evidence.records) if r["receipt"] in people]
    return Evidence(
        case=case,
        records=[evidence.records[place] for place in chosen],
        victims=[evidence.victims[place] for place in chosen],
    )
