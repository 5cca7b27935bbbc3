"""Plain twins of attacks on people with several records: sums of fractions over dictionaries.

Everybody is equally likely the victim; one of their records is drawn, each as likely. What is seen of
it is its class, or (all records known) its class and those of all records of its person.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence
from fractions import Fraction
from math import prod
from typing import Any

Row = dict[str, Any]


def key(row: Row, knows: Sequence[str]) -> tuple[Any, ...]:
    return tuple(row[name] for name in knows)


def observe(rows: Sequence[Row], knows: Sequence[str], known: str) -> list[Any]:
    """What is seen of each record."""
    if known == "one":
        return [key(row, knows) for row in rows]
    belongings = defaultdict(list)
    for row in rows:
        belongings[row["pid"]].append(repr(key(row, knows)))
    return [(key(row, knows), tuple(sorted(belongings[row["pid"]]))) for row in rows]


def joint(rows: Sequence[Row], seen: Sequence[Any], secret: str) -> dict[Any, dict[Any, Fraction]]:
    """By what is seen, the number of people with each secret: fractions of people."""
    records = Counter(row["pid"] for row in rows)
    found: dict[Any, dict[Any, Fraction]] = defaultdict(lambda: defaultdict(Fraction))
    for row, what in zip(rows, seen, strict=True):
        found[what][row[secret]] += Fraction(1, records[row["pid"]])
    return found


def attack(rows: Sequence[Row], knows: Sequence[str], secret: str, known: str) -> tuple[Any, Any]:
    """How many people are known for certain, and guessed right."""
    found = joint(rows, observe(rows, knows, known), secret).values()
    certain = sum((sum(of.values()) for of in found if len(of) == 1), Fraction(0))
    return certain, sum((max(of.values()) for of in found), Fraction(0))


def count_people(rows: Sequence[Row], knows: Sequence[str], known: str) -> list[int]:
    """How many persons each record may be of."""
    seen = observe(rows, knows, known)
    persons = defaultdict(set)
    for row, what in zip(rows, seen, strict=True):
        persons[what].add(row["pid"])
    return [len(persons[what]) for what in seen]


def find_likeliest(rows: Sequence[Row], knows: Sequence[str], known: str) -> list[Fraction]:
    """The chance of the likeliest person, for each record."""
    seen = observe(rows, knows, known)
    found = joint(rows, seen, "pid")
    return [max(found[what].values()) / sum(found[what].values()) for what in seen]


def weigh_people(
    released: Sequence[Row], original: Sequence[Row], knows: Sequence[str], hidden: Any
) -> list[tuple[float, float]]:
    """To somebody who knows a record before cells were hidden: people, and the likeliest of them.

    A record that hides cells is the victim's with the share of their values among the complete
    records that agree on the rest, and twenty whose attributes are independent. A person has such a
    record if at least one of theirs is it, and these may repeat each other or not.
    """
    records = Counter(row["pid"] for row in released)

    def share(name: str, value: Any) -> float:
        shown = [row[name] for row in released if row[name] != hidden]
        return shown.count(value) / len(shown) if value in shown else 1 / (len(shown) + 1)

    complete = [row for row in released if all(row[name] != hidden for name in knows)]
    found = []
    for victim in original:
        whole = sum(key(row, knows) == key(victim, knows) for row in complete)
        lacks: dict[Any, list[float]] = defaultdict(list)
        drawn: dict[Any, float] = defaultdict(float)
        for row in released:
            shown = [name for name in knows if row[name] != hidden]
            if any(row[name] != victim[name] for name in shown):
                continue
            comparable = sum(key(other, shown) == key(victim, shown) for other in complete)
            chance = 1.0
            if len(shown) < len(knows):
                alone = prod(share(name, victim[name]) for name in knows if name not in shown)
                chance = (whole + 20 * alone) / (comparable + 20)
            lacks[row["pid"]].append(1 - chance)
            drawn[row["pid"]] += chance / records[row["pid"]]
        surest = {pid: 1 - min(each) for pid, each in lacks.items()}
        people = min(
            1 + sum(surest[other] for other in surest if other != pid) / (1 - prod(each))
            for pid, each in lacks.items()
        )
        found.append((people, max(drawn.values()) / sum(drawn.values())))
    return found
