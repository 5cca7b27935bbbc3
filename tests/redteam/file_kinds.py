"""Releases in other formats of files, and records beside a table of the same records."""

from __future__ import annotations

import csv
import json
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

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
from tests.redteam.made_releases import Row
from tests.redteam.oracle import (
    HIDDEN,
    Evidence,
    Shown,
    find_published,
    list_broken_limits,
    list_wrong_values,
    mark_hidden,
    read_published,
    write_text,
)
from tests.redteam.other_formats import WRITERS, list_contents, read_records, write_labels
from tests.redteam.source_kinds import write_table

# Other formats.

RARE = ("quaint", "peerless")
"""Values that one person has: what is hidden of them must be nowhere in what is published."""


def attack_formats(seed: int, folder: Path) -> Finding:
    """A workbook, a file of Arrow, or of a statistics program, read back by other libraries."""
    random = start("formats", seed)
    rows = make_people(random)
    for receipt, row in enumerate(rows, start=10_000_000):
        row["receipt"] = receipt  # a workbook's numbers are floats
    for word, row in zip(RARE, random.sample(rows, 2), strict=True):
        row["sex"] = word
    case = make_case(folder, random, rows, seed)
    name = random.choice(sorted(WRITERS))
    case = replace(
        case,
        source=folder / name,
        k=random.choice((2, 3)),
        model=random.choice((None, "CRS")),
        at_most=random.choice((0.0, 0.1)),
    )
    described = describe_dataset(case, random)
    if (
        WRITERS[name] is write_labels
    ):  # the values are codes, of which a hierarchy of texts has none
        described = [line for line in described if not line.startswith("region = ")]
    reader = {"dataset": "people", "model": "CRS", "knows": list(case.keys)}
    lines = [
        described,
        limit_people("k_anonymity", f"at_least = {case.k}"),
        [] if case.model is None else limit_adversary("records", case.at_most, **reader),
        describe_protection(random, recode=True),
    ]
    case.path.write_text("\n".join(line for part in lines for line in part) + "\n", "utf-8")
    WRITERS[name](case.source, case.rows)
    out = folder / "out"
    outcome = protect(case.path, out)
    if outcome != "pass":
        return Finding(outcome=outcome, faults=[])
    file = find_published(out)
    is_tagged = file.suffix == ".dta"
    records = [mark_hidden(record, is_tagged=is_tagged) for record in read_records(file)]
    by_receipt = {write_text(row["receipt"]): row for row in case.rows}
    evidence = Evidence(
        case=case,
        records=records,
        victims=[by_receipt[record["receipt"]] for record in records],
    )
    faults = [*list_wrong_values(evidence), *list_remains(evidence, out / "release")]
    found, bold = judge_file(evidence, list_broken_limits)
    return Finding(outcome=f"{outcome}, {file.suffix}", faults=faults + found, bold=bold)


def list_remains(evidence: Evidence, folder: Path) -> Iterator[str]:
    """Texts of the source that no published record shows, and that are in a file all the same."""
    shown = {text for record in evidence.records for text in record.values()}
    texts = {value for row in evidence.case.rows for value in row.values()}
    gone = {text for text in texts if isinstance(text, str) and len(text) > 3} - shown
    for place, content in list_contents(folder):
        for text in sorted(gone):
            # Stata writes single bytes, SPSS and others UTF-8; some programs two bytes a letter.
            if any(text.encode(code) in content for code in ("utf-8", "utf-16-le")):
                yield f"{place} holds {text!r}, which no record shows"


# A table of the same records.


def attack_table_beside(seed: int, folder: Path) -> Finding:
    """Records and a table of them, of one dataset or of one that somebody gave another name."""
    random = start("table", seed)
    case = make_case(folder, random, make_people(random, gaps=False), seed)
    case = replace(case, k=random.choice((2, 3)))
    by = random.sample(case.keys, random.choice((1, 1, 2)))
    is_own = random.random() < 0.5
    renames = not is_own and random.random() < 0.5
    names = {name: f"{name}_of" if renames else name for name in (*case.keys, "job")}
    others: list[Row] = [{names[name]: row[name] for name in names} for row in case.rows]
    random.shuffle(others)
    others = others[: len(others) - random.choice((0, 0, len(others) // 20))]
    described = [line for line in describe_dataset(case, random) if "intervals" not in line]
    described = [line for line in described if "pairs" not in line]
    dataset = "people" if is_own else "other"
    roles = ["[[dataset]]", 'name = "other"', 'source = "other.csv"', "[dataset.roles]"]
    roles += [f"non_identifying = {json.dumps(list(names.values()))}"]
    write(
        case,
        described,
        [] if is_own else roles,
        limit_people("k_anonymity", f"at_least = {case.k}"),
        limit_adversary(
            "tables",
            1.0,
            dataset=dataset,
            by=[name if is_own else names[name] for name in by],
            min_frequency=1,
            method="secret",
        ),
        describe_protection(random, recode=False),
    )
    write_table(folder / "other.csv", others)
    out = folder / "out"
    outcome = protect(case.path, out)
    if outcome != "pass":
        return Finding(outcome=outcome, faults=[])
    release = out / "release"
    records = read_published(release / "people.csv")
    victims = {write_text(row["receipt"]): row for row in case.rows}
    evidence = Evidence(
        case=case, records=records, victims=[victims[record["receipt"]] for record in records]
    )
    faults, bold = judge_file(evidence, list_broken_limits)
    told = fill_by_table(evidence, by, read_table(release / "table_neighbour.csv", len(by)))
    faults += [f"by the table: {fault}" for fault in list_broken_limits(told)]
    return Finding(outcome=f"{outcome}, {dataset}", faults=faults, bold=bold)


def read_table(path: Path, width: int) -> Counter[tuple[str, ...]]:
    """The cells of a table of counts by one attribute or two, without totals."""
    cells: Counter[tuple[str, ...]] = Counter()
    with path.open(newline="", encoding="utf-8") as file:
        head, *body = csv.reader(file)
    for line in body:
        if width == 1 and line[0] != "Total":
            cells[(line[0],)] += int(line[head.index("count")] or 0)
        elif width == 2:
            for column, value in zip(head[1:], line[1:], strict=True):
                if "Total" not in (line[0], column):
                    cells[line[0], column] += int(value or 0)
    return cells


def fill_by_table(evidence: Evidence, by: list[str], cells: Counter[tuple[str, ...]]) -> Evidence:
    """The records with what is left of the table once those that show all are taken from it."""
    left = Counter(cells)
    for record in evidence.records:
        left[tuple(str(record[name]) for name in by)] -= 1
    candidates = list((+left).keys())
    records: list[Shown] = []
    for record in evidence.records:
        hidden = [name for name in by if record[name] == HIDDEN]
        fitting = [
            cell
            for cell in candidates
            if all(
                name in hidden or text == record[name] for name, text in zip(by, cell, strict=True)
            )
        ]
        told = dict(zip(by, fitting[0], strict=True)) if hidden and len(fitting) == 1 else {}
        records.append({**record, **told})
    return Evidence(case=evidence.case, records=records, victims=evidence.victims)
