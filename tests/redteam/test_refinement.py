"""Local recodings refined by linear programs: what follows of coarse values, and that k still holds."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import combinations_with_replacement, pairwise, product
from random import Random

import pyarrow as pa
import pytest
from tests.protection.recoding.plain_schemes import Node, Records, join, recode_nested
from tests.protection.recoding.product_schemes import recode_by_product
from tests.redteam.refinement import Ladder, Refinement, Shown, refine

from divulge import Dataset, Limit, protection

NAMES = ("town", "age")
NODES = (
    tuple((Node({v}), Node(range(v // 3 * 3, v // 3 * 3 + 3)), Node(range(9))) for v in range(9)),
    tuple(
        (Node({v}), Node({v // 2 * 2, v // 2 * 2 + 1}), Node(range(v // 4 * 4, v // 4 * 4 + 4)),
         Node(range(8)))
        for v in range(8)
    ),
)  # fmt: skip
K = 3


def write_node(node: Node) -> str:
    return str(min(node)) if len(node) == 1 else f"{min(node)}-{max(node)}"


LADDERS: Mapping[str, Mapping[str, Ladder]] = {
    name: {write_node(ladder[0]): [write_node(node) for node in ladder] for ladder in ladders}
    for name, ladders in zip(NAMES, NODES, strict=True)
}


def make_records(seed: int, rows: int) -> Records:
    """People in towns of different sizes, and of all ages."""
    random = Random(seed)  # noqa: S311  # made-up data, not secrets
    return tuple(
        (min(random.randrange(9), random.randrange(9)), random.randrange(8)) for _ in range(rows)
    )


def recode_by_clusters(records: Records) -> list[tuple[Node, ...]]:
    """K at a time, the nearest to the first that is left: tight classes, and no care."""
    waiting = sorted(range(len(records)), key=lambda place: records[place])
    shown: list[tuple[Node, ...]] = [()] * len(records)
    while waiting:
        first = waiting[0]
        near = sorted(
            waiting,
            key=lambda other: sum(
                map(len, join(frozenset({records[first], records[other]}), NODES))
            ),
        )
        members = waiting if len(waiting) < 2 * K else near[:K]
        node = join(frozenset(records[place] for place in members), NODES)
        for place in members:
            shown[place] = node
        waiting = [place for place in waiting if place not in members]
    return shown


def recode_by_splits(records: Records) -> list[tuple[Node, ...]]:
    [(_, shown)] = recode_nested(records, NODES, K)
    return list(shown)


def recode_nested_by_product(records: Records) -> list[tuple[Node, ...]]:
    [(_, shown)] = recode_by_product(records, "nested", ladders=NODES, least=K)
    return list(shown)


def recode_clusters_by_product(records: Records) -> list[tuple[Node, ...]]:
    [(_, shown)] = recode_by_product(records, "clusters", ladders=NODES, least=K)
    return list(shown)


SCHEMES = {
    "clusters": recode_by_clusters,
    "nested": recode_by_splits,
    "our nested": recode_nested_by_product,
    "our clusters": recode_clusters_by_product,
}


def count_margins(records: Records) -> dict[str, Counter[str]]:
    return {name: Counter(str(record[a]) for record in records) for a, name in enumerate(NAMES)}


def attack(records: Records, scheme: str, *, with_margins: bool = True) -> Refinement:
    shown = [tuple(map(write_node, each)) for each in SCHEMES[scheme](records)]
    margins = count_margins(records) if with_margins else {}
    return refine(shown, NAMES, LADDERS, margins, is_tight=True)


@pytest.mark.parametrize("scheme", SCHEMES)
@pytest.mark.parametrize("seed", range(3))
def test_what_is_bounded_is_what_the_records_are(scheme: str, seed: int) -> None:
    records = make_records(seed, 40)
    refined = attack(records, scheme)
    shown = [tuple(map(write_node, each)) for each in SCHEMES[scheme](records)]
    assert refined.counts
    for (of, name), intervals in refined.counts.items():
        a = NAMES.index(name)
        truth = Counter(str(r[a]) for r, each in zip(records, shown, strict=True) if each == of)
        for value, (least, most) in intervals.items():
            assert least <= truth[value] <= most


@pytest.mark.parametrize("scheme", SCHEMES)
@pytest.mark.parametrize("seed", range(3))
def test_who_refines_a_release_still_has_k_records_for_everybody(scheme: str, seed: int) -> None:
    records = make_records(seed, 40)
    refined = attack(records, scheme)
    for record in records:
        victim = dict(zip(NAMES, map(str, record), strict=True))
        assert refined.count_company(victim, NAMES) >= K


def test_a_class_that_is_too_small_is_noticed() -> None:
    shown = [("0-2", "0"), ("0-2", "0"), ("3", "1")]
    margins = {"town": Counter("013")}
    refined = refine(shown, NAMES, LADDERS, margins, is_tight=True)
    assert refined.count_company({"town": "3", "age": "1"}, NAMES) == 1
    assert refined.count_company({"town": "0", "age": "0"}, NAMES) == 2
    assert refined.counts[("0-2", "0"), "town"] == {"0": (1, 1), "1": (1, 1)}


def list_fitting_counts(
    classes: Sequence[tuple[str, int]], margin: Counter[str]
) -> list[tuple[Counter[str], ...]]:
    """All counts of towns that classes may have, one combination after the other."""
    towns = LADDERS["town"]
    choices = []
    for node, size in classes:
        values = [value for value in towns if node in towns[value] and margin[value]]
        fitting = []
        for chosen in combinations_with_replacement(values, size):
            ancestors = [towns[value] for value in chosen]
            joined = next(
                text for level, text in enumerate(ancestors[0])
                if all(each[level] == text for each in ancestors)
            )  # fmt: skip
            if joined == node:
                fitting.append(Counter(chosen))
        choices.append(fitting)
    return [each for each in product(*choices) if sum(each, Counter[str]()) == margin]


@pytest.mark.parametrize("seed", range(12))
def test_the_ends_of_the_linear_program_are_those_of_all_originals(seed: int) -> None:
    random = Random(seed)  # noqa: S311  # made-up data, not secrets
    classes: list[tuple[str, int]] = []
    margin: Counter[str] = Counter()
    for _ in range(3):
        members = [random.randrange(6) for _ in range(random.choice((2, 2, 3)))]
        node = join(frozenset((v, 0) for v in members), NODES)[0]
        classes.append((write_node(node), len(members)))
        margin += Counter(map(str, members))
    # The second attribute only tells the classes apart.
    shown: list[Shown] = [
        (node, str(place)) for place, (node, size) in enumerate(classes) for _ in range(size)
    ]
    refined = refine(shown, NAMES, LADDERS, {"town": margin}, is_tight=True)
    fitting = list_fitting_counts(classes, margin)
    assert fitting
    for place, (text, _) in enumerate(classes):
        for value, interval in refined.counts.get(((text, str(place)), "town"), {}).items():
            numbers = [each[place][value] for each in fitting]
            assert interval == (min(numbers), max(numbers))


@pytest.mark.parametrize("scheme", ["clusters", "nested"])
def test_margins_rule_values_out_and_without_them_nothing_is(scheme: str) -> None:
    records = make_records(0, 24)
    assert attack(records, scheme, with_margins=False).list_narrowed() == []
    # Some values are in few classes: their counts give values of others away.
    refined = attack(records, scheme)
    assert refined.list_narrowed()
    assert refined.list_certain() == []
    assert refined.compute_factor() > 1


def publish(seed: int, *, local: bool) -> tuple[Records, list[Shown]]:
    """A release of the product."""
    records = make_records(seed, 40)
    table = pa.table({name: [str(r[a]) for r in records] for a, name in enumerate(NAMES)})
    people = Dataset.from_arrow(table, roles={"quasi_identifier": list(NAMES)})
    pairs = {
        name: sorted({pair for ladder in LADDERS[name].values() for pair in pairwise(ladder)})
        for name in NAMES
    }
    limits = [Limit("k_anonymity", at_least=K)]
    p = protection.recode(people, limits, 0.0, local=local, is_a=pairs, suppress=False)
    shown = p.dataset.to_arrow()
    rows = zip(*(shown[name].to_pylist() for name in NAMES), strict=True)
    return records, [tuple(map(str, row)) for row in rows]


@pytest.mark.parametrize("local", [False, True])
@pytest.mark.parametrize("seed", range(3))
def test_no_recoding_of_ours_leaves_fewer_than_k_to_who_refines_it(seed: int, local: bool) -> None:
    records, shown = publish(seed, local=local)
    refined = refine(shown, NAMES, LADDERS, count_margins(records), is_tight=False)
    for record in records:
        victim = dict(zip(NAMES, map(str, record), strict=True))
        assert refined.count_company(victim, NAMES) >= K
