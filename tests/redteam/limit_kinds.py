"""Releases with limits on clusters of linked people, on the highest risk, and on minimal uniques."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import combinations
from math import prod
from pathlib import Path
from random import Random

from tests.redteam.finding import Finding
from tests.redteam.kinds import (
    describe_dataset,
    describe_protection,
    limit_people,
    make_case,
    make_people,
    start,
    try_release,
    write,
)
from tests.redteam.made_releases import Case, Row, write_rows
from tests.redteam.oracle import ROUNDING, Evidence

Pairs = Sequence[tuple[str, str]]


def attack_limits(seed: int, folder: Path) -> Finding:
    """Somebody who looks for the most exposed record, or for any of a group of people."""
    random = start("limits", seed)
    case = make_case(folder, random, make_people(random), seed)
    pairs = draw_pairs(case, random)
    measure = random.choice(("links", "links", "highest", "unique"))
    least = random.choice((2, 3))
    linked: list[str] = []
    limit: list[str] = []
    if measure == "links":
        limit = limit_people("k_anonymity", f"at_least = {least}")
        limit += ['links = { dataset = "owners", on = "name" }']
    elif measure == "highest":
        limit = ["[[adversary]]", 'name = "neighbour"', 'attack = "risk"', 'dataset = "people"']
        limit += ['measure = "prosecutor"']
        if random.random() < 0.5:
            limit += ['links = { dataset = "owners", on = "name" }']
        else:
            pairs = []
        limit += ["[[limit]]", 'adversary = "neighbour"', 'measure = "risk.highest"']
        limit += [f"at_most = {1 / least:.6f}"]
    else:
        pairs = []
        limit = limit_people("minimal_unique_size", f"at_least = {least}", max_size=least - 1)
    if pairs:
        linked = ["[[dataset]]", 'name = "owners"', 'source = "owners.csv"']
        write_rows(folder / "owners.csv", [{"one": one, "other": other} for one, other in pairs])
    decoys = random.choice((0.0, 0.0, 0.5))
    write(
        case,
        describe_dataset(case, random),
        linked,
        limit,
        [*describe_protection(random, recode=True), f"decoys = {decoys}"],
    )

    def judge(evidence: Evidence) -> Iterator[str]:
        if measure == "unique":
            yield from list_uniques(evidence, least)
            return
        highest = find_highest_risk(evidence, pairs)
        if highest > 1 / least + ROUNDING:
            yield f"somebody of a cluster is found by {highest:.4f}, at most 1/{least} may be"

    return try_release(case, judge)


def draw_pairs(case: Case, random: Random) -> Pairs:
    """People who belong together: directly, or by way of somebody outside the file."""
    names = [str(row["name"]) for row in case.rows]
    pairs = []
    for number in range(random.randint(1, 6)):
        ends = random.sample(names, min(len(names), random.choice((2, 2, 3))))
        middle = f"Holding {number}" if random.random() < 0.5 else ends[0]
        pairs += [(middle, end) for end in ends if end != middle]
    return pairs


def find_highest_risk(evidence: Evidence, pairs: Pairs) -> float:
    """The chance that one of the most exposed cluster is found; a record alone is one too."""
    cluster = find_clusters(pairs)
    missed: dict[str, list[float]] = {}
    for victim in evidence.victims:
        name = str(victim["name"])
        risk = 1 / evidence.effective_frequency(victim)
        missed.setdefault(cluster.get(name, name), []).append(1 - risk)
    return max((1 - prod(each) for each in missed.values()), default=0.0)


def find_clusters(pairs: Pairs) -> Mapping[str, str]:
    """By name, the first name of those who hang together."""
    cluster = {end: end for pair in pairs for end in pair}
    for _ in cluster:
        for one, other in pairs:
            cluster[one] = cluster[other] = min(cluster[one], cluster[other])
    return cluster


def list_uniques(evidence: Evidence, least: int) -> Iterator[str]:
    """People whom fewer attributes lead to one record only."""
    for size in range(1, min(least, len(evidence.case.keys) + 1)):
        for known in combinations(evidence.case.keys, size):
            few = replace(evidence, case=replace(evidence.case, keys=known), candidates={})
            alone = [victim for victim in few.victims if is_alone(few, victim)]
            if alone:
                yield f"{len(alone)} are alone by {', '.join(known)}, and {least} should be needed"


def is_alone(evidence: Evidence, victim: Row) -> bool:
    """Whether only one record may be a victim's of whom all these values are there."""
    has_all = all(victim[name] is not None for name in evidence.case.keys)
    return has_all and len(evidence.find_candidates(victim)) == 1
