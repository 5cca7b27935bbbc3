"""Kinds of releases beside the usual one: other adversaries, rules, sources, several datasets.

Each kind makes a release up from its seed, has it checked and protected, and judges the written
files by plain code. What they have in common is here: a release file, and how a pass is tried.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from random import Random

from tests.redteam.finding import Finding
from tests.redteam.made_releases import AGE_EDGES, PUBLIC, REGIONS, Case, Row, make_rows, write_rows
from tests.redteam.oracle import (
    BOLD,
    DOCUMENTED,
    HIDDEN,
    Evidence,
    downcode,
    find_published,
    list_wrong_values,
    read_evidence,
    read_source,
    refill,
)

from divulge import Release
from divulge.classes.people import UnjudgedPeopleError
from divulge.protection import OutOfReachError

Judge = Callable[[Evidence], Iterable[str]]
"""What a published file breaks of the limits of its release."""
KEYS = ("region", "age", "sex")


def start(kind: str, seed: int) -> Random:
    """The chance of one release of a kind."""
    return Random(f"{kind} {seed}")  # noqa: S311  # made-up data


def make_people(random: Random, *, repeats: bool = False, gaps: bool = True) -> list[Row]:
    """People as `made_releases` has them, at most 80; each with one record unless they repeat."""
    rows = make_rows(random, is_small=False)
    seen: set[object] = set()
    people = []
    for row in rows:
        is_first = row["person"] not in seen
        seen.add(row["person"])
        if (is_first or repeats) and (gaps or None not in (row[name] for name in (*KEYS, "job"))):
            people.append(row)
    return people[:80]


def make_case(folder: Path, random: Random, rows: Sequence[Row], seed: int) -> Case:
    """A case without limits, of some of the columns."""
    keys = KEYS if random.random() < 0.6 else tuple(random.sample(KEYS, 2))
    public = [name for name in PUBLIC if name == "receipt" or random.random() < 0.5]
    names = [*("name", "person", "household"), *public, *keys, "job"]
    return Case(
        seed=seed,
        path=folder / "release.toml",
        source=folder / "people.csv",
        rows=[{name: row[name] for name in names} for row in rows],
        keys=keys,
        k=None,
        l_diversity=False,
        model=None,
        at_most=random.choice((0.0, 0.05, 0.2)),
        local=False,
        decoys=0.0,
    )


def describe_dataset(case: Case, random: Random, more: Sequence[str] = ()) -> list[str]:
    """The dataset of a case in its release file, perhaps with hierarchies."""
    public = [n for n in PUBLIC if n in case.rows[0] and n not in ("weight", *case.keys)]
    lines = ["[[dataset]]", 'name = "people"', f'source = "{case.source.name}"', *more]
    lines += ["[dataset.roles]", 'identifier = ["name"]', 'person = "person"']
    lines += ['household = "household"', 'sensitive = ["job"]']
    lines += ['weight = "weight"'] if "weight" in case.rows[0] else []
    lines += [f"quasi_identifier = {json.dumps(case.keys)}"]
    lines += [f"non_identifying = {json.dumps(public)}"]
    if random.random() < 0.5:
        ladders = {
            "region": "{ pairs = " + json.dumps([list(pair) for pair in REGIONS.items()]) + " }",
            "age": "{ intervals = " + json.dumps(AGE_EDGES) + " }",
        }
        lines += ["[dataset.hierarchies]"]
        lines += [f"{name} = {of}" for name, of in ladders.items() if name in case.keys]
    return lines


def describe_protection(random: Random, *, recode: bool) -> list[str]:
    """How a release is protected."""
    methods = random.choice((["recode", "suppress"], ["suppress"])) if recode else ["suppress"]
    return ["[protection]", f"methods = {json.dumps(methods)}", 'out_of_reach = "remove"']


def write(case: Case, *parts: Sequence[str]) -> Case:
    """Write the source and the release file."""
    write_rows(case.source, case.rows)
    case.path.write_text("\n".join(line for part in parts for line in part) + "\n", "utf-8")
    return case


def limit_people(measure: str, bound: str, **options: object) -> list[str]:
    """A limit on the dataset."""
    lines = ["[[limit]]", 'dataset = "people"', f'measure = "{measure}"', bound]
    return [*lines, *(f"{name} = {json.dumps(value)}" for name, value in options.items())]


def limit_adversary(attack: str, at_most: float, **settings: object) -> list[str]:
    """An adversary, and how many they may find for certain."""
    lines = ["[[adversary]]", 'name = "neighbour"', f'attack = "{attack}"']
    lines += [f"{name} = {json.dumps(value)}" for name, value in settings.items()]
    lines += ["[[limit]]", 'adversary = "neighbour"', 'measure = "deterministic.posterior"']
    return [*lines, f"at_most = {at_most}"]


def try_release(case: Case, judge: Judge, *, checks: bool = True) -> Finding:
    """Check and protect a release, and attack what is published.

    Where nothing is hidden in the source and nothing else is asked for (`checks`), its verdict must
    be that of the judge.
    """
    faults = []
    if checks:
        status, broken = Release.load(case.path).check().status, list(judge(read_source(case)))
        if status != "not judged" and (status == "pass") == bool(broken):
            faults.append(f"check: the verdict is {status}; broken: {broken[:3]}")
    out = case.path.parent / "out"
    outcome = protect(case.path, out)
    if outcome != "pass":
        if (out / "release").exists():
            faults.append(f"{outcome}, and yet something was written")
        return Finding(outcome=outcome, faults=faults)
    evidence = read_evidence(case, find_published(out))
    faults += list_wrong_values(evidence)
    found, bold = judge_file(evidence, judge)
    hides = any(HIDDEN in record.values() for record in evidence.records)
    return Finding(outcome="hidden" if hides else "shown", faults=faults + found, bold=bold)


def protect(path: Path, out: Path) -> str:
    """What becomes of a protection: its status, or that it is out of reach."""
    try:
        return Release.load(path).protect(out=out).status
    except OutOfReachError:
        return "out of reach"
    except UnjudgedPeopleError:
        return "not judged"


def judge_file(evidence: Evidence, judge: Judge) -> tuple[list[str], list[str]]:
    """What is broken as it is published, refilled and downcoded; and what only the bold break."""
    faults, bold = list(judge(evidence)), list[str]()
    for attack in (refill, downcode):
        for standard, found in ((DOCUMENTED, faults), (BOLD, bold)):
            seen = replace(attack(evidence, standard), candidates={})
            found += [f"after {attack.__name__}: {fault}" for fault in judge(seen)]
    return faults, bold
