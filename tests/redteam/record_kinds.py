"""Releases of records with other limits: sweeps, the population, people with records, rules."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import combinations, permutations
from pathlib import Path
from typing import Any

from tests.redteam.finding import Finding
from tests.redteam.kinds import (
    describe_dataset,
    describe_protection,
    limit_adversary,
    limit_people,
    make_case,
    make_people,
    start,
    try_release,
    write,
)
from tests.redteam.made_releases import Row
from tests.redteam.oracle import (
    HIDDEN,
    ROUNDING,
    Evidence,
    Shown,
    list_broken_limits,
    write_text,
)


def attack_sweep(seed: int, folder: Path) -> Finding:
    """Somebody who knows any few of the attributes, and who else has them."""
    random = start("sweep", seed)
    case = make_case(folder, random, make_people(random, repeats=random.random() < 0.3), seed)
    seeks = random.random() < 0.4
    case = replace(case, k=random.choice((None, 2, 3)))
    most = random.randint(1, len(case.keys))
    settings: dict[str, Any] = {"knows": list(case.keys), "sizes": most}
    settings |= {"seeks": "job"} if seeks else {}
    write(
        case,
        describe_dataset(case, random),
        limit_adversary("sweep", case.at_most, **settings),
        [] if case.k is None else limit_people("k_anonymity", f"at_least = {case.k}"),
        describe_protection(random, recode=True),
    )
    model = "CAS" if seeks else "CRS"

    def judge(evidence: Evidence) -> Iterator[str]:
        yield from list_broken_limits(evidence)
        for size in range(1, most + 1):
            for known in combinations(case.keys, size):
                few = replace(case, keys=known, model=model, k=None)
                for fault in list_broken_limits(replace(evidence, case=few, candidates={})):
                    yield f"by {', '.join(known)}: {fault}"

    return try_release(case, judge)


def attack_population(seed: int, folder: Path) -> Finding:
    """A limit on the people whom the records that look alike stand for."""
    random = start("population", seed)
    case = make_case(folder, random, make_people(random), seed)
    for row in case.rows:  # every record has a weight, whatever other columns there are
        row.setdefault("weight", float(random.randint(1, 30)))
    least = random.choice((5, 20, 60))
    write(
        case,
        describe_dataset(case, random),
        limit_people("k_anonymity", f"at_least = {least}", count="population"),
        describe_protection(random, recode=True),
    )

    def judge(evidence: Evidence) -> Iterator[str]:
        for victim in evidence.victims:
            crowd = sum(float(str(each["weight"])) for each in evidence.find_candidates(victim))
            if crowd < least - ROUNDING:
                yield f"{crowd} of the population are alike, and should be {least}"

    return try_release(case, judge)


def attack_people(seed: int, folder: Path) -> Finding:
    """People with several records, of whom one record is known, or all."""
    random = start("people", seed)
    rows = make_people(random)
    rows += [change_record(row, random) for row in rows if random.random() < 0.5]
    case = make_case(folder, random, rows, seed)
    for receipt, row in enumerate(case.rows, start=2**60):
        row["receipt"] = receipt
    known = random.choice(("one", "all"))
    case = replace(case, k=random.choice((2, 3)), model=random.choice((None, "CRS")))
    adversary = {"model": "CRS", "knows": list(case.keys), "records_known": known}
    write(
        case,
        describe_dataset(case, random),
        limit_people("k_anonymity", f"at_least = {case.k}", records_known=known),
        [] if case.model is None else limit_adversary("records", case.at_most, **adversary),
        describe_protection(random, recode=True),
    )
    return try_release(case, list_broken_limits if known == "one" else judge_all_records)


def change_record(row: Row, random: Any) -> Row:
    """Another record of somebody, in which one thing may be otherwise."""
    again = dict(row)
    if random.random() < 0.5:
        again["sex"] = "f" if row["sex"] == "m" else "m"
    return again


def judge_all_records(evidence: Evidence) -> Iterator[str]:
    """Limits on who knows all records of somebody, in no order."""
    case = evidence.case
    records: dict[Any, list[Shown]] = {}
    known: dict[Any, list[Row]] = {}
    for record, victim in zip(evidence.records, evidence.victims, strict=True):
        records.setdefault(victim["person"], []).append(record)
        known.setdefault(victim["person"], []).append(victim)
    if not any(HIDDEN in each.values() for each in evidence.records):
        crowds = [
            sum(may_be_all(evidence, shown, own) for shown in records.values())
            for own in known.values()
        ]
        if case.k is not None and min(crowds, default=case.k) < case.k:
            yield f"{min(crowds)} people have such records, and should be {case.k}"
        share = Fraction(sum(crowd == 1 for crowd in crowds), max(1, len(crowds)))
        if case.model is not None and share > Fraction(str(case.at_most)):
            yield f"{float(share):.4f} are certain by all their records"


def may_be_all(evidence: Evidence, shown: list[Shown], known: list[Row]) -> bool:
    """Whether records may be those of somebody, each one of them."""
    return len(shown) == len(known) and any(
        all(
            evidence.fits(one, row, evidence.case.keys)
            for one, row in zip(shown, order, strict=True)
        )
        for order in permutations(known)
    )


@dataclass(frozen=True, kw_only=True)
class Asked:
    """What rules ask of a release."""

    hidden: set[tuple[str, str]]
    removed: set[str]
    kept: set[tuple[str, str]]
    strict: Mapping[str, float]
    """By name, the highest risk or the least company: one in four, either way."""
    recodes: bool

    def describe(self) -> list[str]:
        """The rules."""
        rules = [f'hide("{name}", "{of}").' for name, of in sorted(self.hidden)]
        rules += [f'remove("{name}").' for name in sorted(self.removed)]
        rules += [f'keep("{name}", "{of}").' for name, of in sorted(self.kept)]
        rules += [f'threshold("{name}", {bound}).' for name, bound in sorted(self.strict.items())]
        return [*rules, *(['recode("age", 1).'] if self.recodes else [])]

    def judge(self, evidence: Evidence) -> Iterator[str]:
        """What was not done, or was done and must not be."""
        yield from list_broken_limits(evidence)
        for record, victim in zip(evidence.records, evidence.victims, strict=True):
            name = str(victim["name"])
            if name in self.removed:
                yield f"{name} is published, and was to be removed"
            if self.recodes and record["age"] == write_text(victim["age"]) is not None:
                yield f"{name} shows an age, and was to show a band"
            if name in self.strict and evidence.effective_frequency(victim) < 4 - ROUNDING:
                yield f"{name} has a risk above one in four"
            for of in evidence.case.keys:
                if (name, of) in self.hidden and record[of] not in (None, HIDDEN):
                    yield f"{name} shows {of}, and was to hide it"
                # What is coarser for all is not as it was: that keep is out of reach is said.
                is_recoded = self.recodes and of == "age"
                if (name, of) in self.kept and not is_recoded and record[of] == HIDDEN:
                    yield f"{name} hides {of}, and was to keep it"


def attack_rules(seed: int, folder: Path) -> Finding:
    """Rules that hide, remove, keep and recode, beside a limit."""
    random = start("rules", seed)
    case = make_case(folder, random, make_people(random), seed)
    case = replace(case, k=random.choice((2, 3)))
    described = describe_dataset(case, random)
    has_levels = "[dataset.hierarchies]" in described and "age" in case.keys
    names = sorted({str(row["name"]) for row in case.rows})
    drawn = random.sample(names, min(len(names), 9))
    asked = Asked(
        hidden={(name, random.choice(case.keys)) for name in drawn[: random.choice((0, 1, 3))]},
        removed=set(drawn[3 : random.choice((3, 4))]),
        kept={(name, random.choice(case.keys)) for name in drawn[4 : random.choice((4, 5))]},
        strict={name: random.choice((4, 0.25)) for name in drawn[6 : random.choice((6, 7, 9))]},
        recodes=has_levels and random.random() < 0.3,
    )
    rules = asked.describe()
    rules += [f'prefer("{random.choice(case.keys)}", 1).'] if random.random() < 0.4 else []
    (folder / "asked.rules").write_text("\n".join([*rules, ""]), "utf-8")
    write(
        case,
        described,
        limit_people("k_anonymity", f"at_least = {case.k}"),
        describe_protection(random, recode=has_levels),
        ["[rules]", 'files = ["asked.rules"]'],
    )
    return try_release(case, asked.judge)
