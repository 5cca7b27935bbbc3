"""Releases of other sources: protected before, the same people twice, histories."""

from __future__ import annotations

import csv
import datetime as dt
import json
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from random import Random
from typing import Any

from tests.redteam.finding import Finding
from tests.redteam.kinds import (
    describe_dataset,
    describe_protection,
    judge_file,
    limit_adversary,
    limit_people,
    make_case,
    make_people,
    protect,
    start,
    write,
)
from tests.redteam.made_releases import Case, Row, list_coarser
from tests.redteam.oracle import (
    HIDDEN,
    Evidence,
    Shown,
    find_published,
    list_broken_limits,
    read_published,
    write_text,
)

from divulge import Release

MARK = "suppressed"


# Protected before.


def attack_protected_before(seed: int, folder: Path) -> Finding:
    """A source that somebody protected before, with its original or without."""
    random = start("before", seed)
    is_whole = random.random() < 0.3  # every missing cell is a hidden one
    people = make_people(random, gaps=not is_whole)
    case = replace(make_case(folder, random, people, seed), k=random.choice((2, 3)))
    has_original = random.random() < 0.7
    shown = hide_naively(case, random)
    said = ["protected = true"] if is_whole else [f'hidden = "{MARK}"']
    limit = limit_people("k_anonymity", f"at_least = {case.k}")
    if has_original:
        limit += ['original = "before"']
    described = describe_dataset(case, random)
    other = [
        line.replace('"people"', '"before"').replace("people.csv", "before.csv")
        for line in described
    ]
    write(
        case,
        [*described[:3], *said, *described[3:]],
        other if has_original else [],
        limit,
        describe_protection(random, recode=False),
    )
    write_table(folder / "before.csv", case.rows)
    write_table(case.source, [write_marks(case, record, is_whole=is_whole) for record in shown])
    evidence = Evidence(case=case, records=shown, victims=case.rows)
    status = Release.load(case.path).check().status
    hides = any(HIDDEN in record.values() for record in shown)
    faults = []
    if hides and not has_original and status == "pass":
        faults.append("check: passes though nobody knows what was hidden")
    broken, bold = judge_file(evidence, list_broken_limits)
    if status == "pass":
        faults += [f"check: passes, and {fault}" for fault in broken]
    out = folder / "out"
    outcome = protect(case.path, out)
    if outcome != "pass":
        return Finding(outcome=outcome, faults=faults)
    if hides and not has_original:
        faults.append("passes though nobody knows what was hidden")
    published = read_again(case, find_published(out), is_whole=is_whole)
    found, bold = judge_file(published, list_broken_limits)
    for record, victim in zip(published.records, published.victims, strict=True):
        if not published.fits(record, victim, case.keys):
            faults.append("a published record shows what its victim is not")
    return Finding(outcome="passes", faults=faults + found, bold=bold)


def hide_naively(case: Case, random: Random) -> list[Shown]:
    """The records as somebody protected them who hid a cell of whoever stood out, or any cell."""
    records = [{name: write_text(value) for name, value in row.items()} for row in case.rows]
    counts = Counter(tuple(record[name] for name in case.keys) for record in records)
    share = random.choice((0.0, 0.1))
    least = random.choice((0, 2, 3))
    for record in records:
        alike = counts[tuple(record[name] for name in case.keys)]
        name = random.choice(case.keys)
        if record[name] is not None and (alike < least or random.random() < share):
            record[name] = HIDDEN
    return records


def write_marks(case: Case, record: Shown, *, is_whole: bool) -> dict[str, str | None]:
    """A record as a protection writes it: texts marked, numbers by a column of their own."""
    marked: dict[str, str | None] = {}
    for name, text in record.items():
        is_hidden = text == HIDDEN
        is_number = name == "age"
        marked[name] = (None if is_whole or is_number else MARK) if is_hidden else text
        if is_number and not is_whole:
            marked["age_status"] = MARK if is_hidden else None
    return marked


def read_again(case: Case, path: Path, *, is_whole: bool) -> Evidence:
    """A published file of such a source; what was missing in it was hidden."""
    by_receipt = {write_text(row["receipt"]): row for row in case.rows}
    records = read_published(path)
    victims = [by_receipt[record["receipt"]] for record in records]
    if is_whole:
        for record in records:
            for name in case.keys:
                record[name] = HIDDEN if record[name] is None else record[name]
    return Evidence(case=case, records=records, victims=victims)


def write_table(path: Path, rows: Sequence[Mapping[str, Any]]) -> None:
    """A CSV file of rows, with nothing where a value is missing."""
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, list(rows[0]))
        writer.writeheader()
        writer.writerows(
            {name: "" if value is None else value for name, value in row.items()} for row in rows
        )


# The same people twice.

NAMES = {"region": "area", "age": "years", "sex": "gender", "shoe": "foot", "job": "trade"}


def attack_datasets(seed: int, folder: Path) -> Finding:
    """A second dataset of the same people, with some columns under other names."""
    random = start("datasets", seed)
    case = make_case(folder, random, make_people(random), seed)
    case = replace(case, k=random.choice((2, 3)))
    shared = [name for name in (*case.keys, "shoe", "job") if name in case.rows[0]]
    shared = [name for name in shared if random.random() < 0.7] or shared[:1]
    names = {name: NAMES[name] if random.random() < 0.5 else name for name in shared}
    has_id, publishes = random.random() < 0.6, random.random() < 0.4
    people = [row for row in case.rows if random.random() < random.choice((0.9, 1.0))]
    random.shuffle(people)
    wealth = {row["receipt"]: random.randint(1_000, 99_999) for row in case.rows}
    shows_wealth = random.random() < 0.4
    others: list[Row] = []
    for row in people:
        other = {"person": row["person"]} if has_id else {}
        other |= {names[name]: row[name] for name in shared}
        other |= {"wealth": wealth[row["receipt"]]} if shows_wealth else {}
        others.append(other)
    if shows_wealth:
        case = replace(case, rows=[row | {"wealth": wealth[row["receipt"]]} for row in case.rows])
    described = describe_dataset(case, random, ['publish = ["person"]'] if publishes else [])
    described = [
        line.replace("non_identifying = [", 'non_identifying = ["wealth", ')
        if shows_wealth and line.startswith("non_identifying")
        else line
        for line in described
    ]
    is_limited = random.random() < 0.4
    of_other = [names[name] for name in shared if name in case.keys]
    rest = [name for name in others[0] if name != "person" and name not in of_other]
    roles = ["[[dataset]]", 'name = "other"', 'source = "other.csv"']
    roles += ['publish = ["person"]'] if has_id and publishes else []
    roles += ["[dataset.roles]", f"non_identifying = {json.dumps(rest)}"]
    roles += [f"{'quasi_identifier' if is_limited else 'sensitive'} = {json.dumps(of_other)}"]
    roles += ['person = "person"'] if has_id else []
    both = random.random() < 0.5 and publishes and has_id and set(case.keys) <= set(names.values())
    write(
        case,
        described,
        roles,
        limit_people("k_anonymity", f"at_least = {case.k}"),
        ["[[limit]]", 'dataset = "other"', 'measure = "k_anonymity"', "at_least = 2"]
        if is_limited and of_other
        else [],
        limit_adversary(
            "records",
            0.99,
            dataset=["people", "other"],
            model="CRL",
            on="person",
            knows=list(case.keys),
        )
        if both
        else [],
        describe_protection(random, recode=True),
    )
    write_table(folder / "other.csv", others)
    out = folder / "out"
    outcome = protect(case.path, out)
    if outcome != "pass":
        return Finding(outcome=outcome, faults=[])
    own, theirs = (
        read_published(next(iter((out / "release").glob(f"{name}*"))))
        for name in ("people", "other")
    )
    victims = {write_text(row["receipt"]): row for row in case.rows}
    evidence = Evidence(
        case=case, records=own, victims=[victims[record["receipt"]] for record in own]
    )
    faults, bold = judge_file(evidence, list_broken_limits)
    joined = join(evidence, theirs, names, shows_wealth=shows_wealth)
    for fault in list_broken_limits(joined):
        faults.append(f"joined: {fault}")
    hides = any(HIDDEN in record.values() for record in own)
    return Finding(outcome="hidden" if hides else "shown", faults=faults, bold=bold)


def join(
    evidence: Evidence, theirs: Sequence[Shown], names: Mapping[str, str], *, shows_wealth: bool
) -> Evidence:
    """The records with what the other file shows of them, where they are found in it.

    By a pseudonym, or by a number that nobody else has.
    """
    by_pseudonym = {record["person"]: record for record in theirs if record.get("person")}
    counts = Counter(record.get("wealth") for record in theirs)
    by_wealth = {
        record["wealth"]: record
        for record in theirs
        if shows_wealth and counts[record["wealth"]] == 1
    }
    records = []
    for record, victim in zip(evidence.records, evidence.victims, strict=True):
        twin = by_pseudonym.get(record.get("person")) or by_wealth.get(record.get("wealth"))
        seen = dict(record)
        for name, other in names.items():
            if twin is not None and name in evidence.case.keys:
                order = [write_text(victim[name]), *list_coarser(name, victim[name]), HIDDEN]
                texts = [text for text in (record[name], twin[other]) if text in order]
                seen[name] = min(texts, key=order.index)
        records.append(seen)
    return Evidence(case=evidence.case, records=records, victims=evidence.victims)


# Histories.

GOODS = {
    "tea": "drink",
    "milk": "drink",
    "juice": "drink",
    "bread": "food",
    "rice": "food",
    "soap": "care",
}
Event = dict[str, Any]


def attack_history(seed: int, folder: Path) -> Finding:
    """Somebody who knows a day and an item, or one of the two, of somebody's purchases."""
    random = start("history", seed)
    days = [dt.date(2024, 3, 1) + dt.timedelta(n) for n in range(random.choice((5, 20, 40)))]
    goods = random.sample(sorted(GOODS), random.randint(3, 6))
    chosen = random.sample(range(10, 99), len(goods))
    codes = dict(zip(goods, chosen, strict=True))
    code = random.choice((None, None, "always", "loosely"))
    events: list[Event] = []
    for user in range(random.randint(5, 14)):
        for _ in range(random.randint(1, 6)):
            item = random.choice(goods)
            event = {"user": f"u{user}", "day": random.choice(days), "item": item}
            event |= {"receipt": 10_000 + len(events), "pieces": random.randint(1, 3)}
            if code is not None:
                event["code"] = codes[item] if code == "always" else random.choice(chosen)
            events.append(event)
    knows = random.choice((["day", "item"], ["item"], ["day"]))
    at_most = random.choice((0.05, 0.2, 0.5))
    rest = [name for name in ("receipt", "pieces", "code") if name in events[0]]
    pairs = json.dumps([[name, GOODS[name]] for name in goods])
    lines = ["[[dataset]]", 'name = "people"', 'source = "people.csv"']
    lines += [f"hierarchies = {{ item = {{ pairs = {pairs} }} }}", "[dataset.roles]"]
    lines += ['identifier = "user"', 'time = "day"', 'sensitive = ["item"]']
    lines += [f"non_identifying = {json.dumps(rest)}"]
    lines += limit_adversary(
        "events", at_most, dataset="people", user="user", time="day", item="item", knows=knows
    )
    methods = random.choice((["time", "item"], ["item"], ["time", "item", "rare"]))
    lines += ["[protection]", 'methods = ["suppress"]', f"histories = {json.dumps(methods)}"]
    path = folder / "release.toml"
    path.write_text("\n".join(lines) + "\n", "utf-8")
    write_table(folder / "people.csv", events)
    faults = []
    whole = [{name: write_text(value) for name, value in event.items()} for event in events]
    broken = list(judge_history(events, whole, knows, at_most))
    status = Release.load(path).check().status
    if (status == "pass") == bool(broken):
        faults.append(f"check: the verdict is {status}; broken: {broken}")
    out = folder / "out"
    outcome = protect(path, out)
    if outcome != "pass":
        return Finding(outcome=outcome, faults=faults)
    shown = read_published(find_published(out))
    faults += judge_history(events, shown, knows, at_most)
    if code == "always" and len(shown) >= 15:
        told = {codes[item]: item for item in goods}
        read = [{**record, "item": told[int(str(record["code"]))]} for record in shown]
        faults += [f"by codes: {f}" for f in judge_history(events, read, knows, at_most)]
    return Finding(outcome="shown" if len(shown) == len(events) else "fewer", faults=faults)


def judge_history(
    events: Sequence[Event], shown: Sequence[Shown], knows: Sequence[str], at_most: float
) -> Iterator[str]:
    """How many records of the source lead to one user only, among those that are published."""
    victims = {str(event["receipt"]): event for event in events}
    spans = find_spans(victims, shown)
    own = [victims[str(record["receipt"])] for record in shown]
    certain = 0
    for known in own:
        users = {
            record["user"]
            for record, victim in zip(shown, own, strict=True)
            if all(
                record["item"] in (None, HIDDEN, known["item"], GOODS[known["item"]])
                if word == "item"
                else record["day"] in (None, HIDDEN) or spans(victim["day"]) == spans(known["day"])
                for word in knows
            )
        }
        certain += len(users) == 1
    share = Fraction(certain, max(1, len(own)))
    if share > Fraction(str(at_most)):
        yield f"{float(share):.4f} are certain by {', '.join(knows)}, at most {at_most} may be"


SPANS: Mapping[str, Callable[[dt.date], dt.date]] = {
    "day": lambda day: day,
    "week": lambda day: day - dt.timedelta(day.weekday()),
    "month": lambda day: day.replace(day=1),
    "quarter": lambda day: day.replace(month=(day.month - 1) // 3 * 3 + 1, day=1),
    "year": lambda day: day.replace(month=1, day=1),
    "ever": lambda day: dt.date(1, 1, 1),  # shown in another way: as if nothing was
}


def find_spans(
    victims: Mapping[str, Event], shown: Iterable[Shown]
) -> Callable[[dt.date], dt.date]:
    """The finest span of time of which all published days are the first."""
    pairs = [(victims[str(record["receipt"])]["day"], record["day"]) for record in shown]
    return next(
        span
        for name, span in SPANS.items()
        if name == "ever"
        or all(text in (None, HIDDEN) or text[:10] == str(span(day)) for day, text in pairs)
    )
