"""Recoding schemes in plain code, and what each tells one who knows it: exact, for tiny data.

A node of a hierarchy is the set of values under it, and what a record shows is a node of each
attribute. Nothing is shared with the product.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from itertools import combinations_with_replacement, product
from math import factorial, prod

Node = frozenset[int]
Shown = tuple[Node, ...]
Record = tuple[int, ...]
Records = tuple[Record, ...]
Draws = list[tuple[Fraction, tuple[Shown, ...]]]
"""What a scheme may show of records, in their order, and how likely each of it is."""
Release = tuple[Shown, ...]
Scheme = Callable[[Records], Draws]

Ladders = tuple[tuple[tuple[Node, ...], ...], ...]
"""By attribute and value, its nodes from the finest to the top."""

LADDERS: Ladders = (
    tuple((Node({v}), Node({v // 2 * 2, v // 2 * 2 + 1}), Node(range(4))) for v in range(4)),
    tuple((Node({v}), Node(range(2))) for v in range(2)),
)
"""Four values in two pairs, and two values."""
LEAST = 2
RECORDS = 6
DOMAIN = tuple(product(range(4), range(2)))


def cost(shown: Shown, ladders: Ladders = LADDERS) -> Fraction:
    """What a record loses: by attribute nothing for a value, 1 for the top; the mean of these."""
    shares = (
        Fraction(len(node) - 1, len(values) - 1)
        for node, values in zip(shown, ladders, strict=True)
    )
    return sum(shares, Fraction(0)) / len(ladders)


cached_cost = cache(cost)


@cache
def count_cost(shown: Shown) -> int:
    """The same in units that are whole for all of it."""
    units = cost(shown) * len(LADDERS) * prod(len(values) - 1 for values in LADDERS)
    assert units.denominator == 1
    return int(units)


def list_full_domain(records: Records) -> Iterator[tuple[Shown, ...]]:
    """Records at every combination of levels at which classes are large enough."""
    for levels in product(*(range(len(ladders[0])) for ladders in LADDERS)):
        shown = tuple(
            tuple(LADDERS[a][value][levels[a]] for a, value in enumerate(record))
            for record in records
        )
        if min(Counter(shown).values()) >= LEAST:
            yield shown


def recode_full_domain(records: Records) -> Draws:
    """The best level of each attribute for all records alike."""
    best = min(list_full_domain(records), key=lambda shown: sum(map(cached_cost, shown)))
    return [(Fraction(1), best)]


def recode_nested(records: Records, ladders: Ladders = LADDERS, least: int = LEAST) -> Draws:
    """From the tops downwards: children that are large enough leave, where that saves most."""
    shown: list[Shown] = [()] * len(records)
    waiting: list[Part] = [(list(range(len(records))), tuple(each[0][-1] for each in ladders))]
    while waiting:
        members, node = waiting.pop()
        splits = []
        for a in range(len(ladders)):
            leaving, rest = _split(records, members, node, a, ladders=ladders, least=least)
            if leaving:
                savings = [
                    (cached_cost(node, ladders) - cached_cost(child, ladders)) * len(part)
                    for part, child in leaving
                ]
                splits.append((sum(savings, Fraction(0)), -a, leaving, rest))
        if not splits:
            for place in members:
                shown[place] = node
            continue
        *_, leaving, rest = max(splits, key=lambda split: split[:2])
        waiting += leaving
        if rest:
            waiting.append((rest, node))
    return [(Fraction(1), tuple(shown))]


Part = tuple[list[int], Shown]


def _split(
    records: Records, members: list[int], node: Shown, a: int, *, ladders: Ladders, least: int
) -> tuple[list[Part], list[int]]:
    """The children that leave by one attribute, and who stays."""
    children = defaultdict(list)
    for place in members:
        ladder = ladders[a][records[place][a]]
        level = ladder.index(node[a])
        children[ladder[max(0, level - 1)]].append(place)
    if list(children) == [node[a]]:
        return [], members
    leaving = [(part, child) for child, part in children.items() if len(part) >= least]
    staying = [place for part in children.values() if len(part) < least for place in part]
    if leaving and 0 < len(staying) < least:
        smallest = min(leaving, key=lambda each: (len(each[0]), sorted(each[1])))
        leaving.remove(smallest)
        staying += smallest[0]
    return [(part, (*node[:a], child, *node[a + 1 :])) for part, child in leaving], staying


@cache
def join(records: frozenset[Record], ladders: Ladders = LADDERS) -> Shown:
    """The lowest common ancestor of records."""
    return tuple(
        next(
            node
            for node in ladders[a][next(iter(records))[a]]
            if all(record[a] in node for record in records)
        )
        for a in range(len(ladders))
    )


@cache
def list_partitions(units: int) -> tuple[tuple[tuple[int, ...], ...], ...]:
    """All ways to put units into clusters, in the order of their restricted growth strings."""
    if not units:
        return ((),)
    last = units - 1
    partitions = []
    for each in list_partitions(last):
        for place, cluster in enumerate(each):
            partitions.append((*each[:place], (*cluster, last), *each[place + 1 :]))
        partitions.append((*each, (last,)))
    return tuple(partitions)


def list_best_clusters(units: Sequence[tuple[Record, int]]) -> list[dict[int, Shown]]:
    """By unit what it shows, for each partition into clusters that loses least."""
    best: list[dict[int, Shown]] = []
    least: int | None = None
    for partition in list_partitions(len(units)):
        sizes = [sum(units[unit][1] for unit in cluster) for cluster in partition]
        if min(sizes) < LEAST:
            continue
        nodes = [join(frozenset(units[unit][0] for unit in cluster)) for cluster in partition]
        loss = sum(size * count_cost(node) for size, node in zip(sizes, nodes, strict=True))
        if least is None or loss < least:
            least, best = loss, []
        if loss == least:
            best.append(
                {
                    unit: node
                    for cluster, node in zip(partition, nodes, strict=True)
                    for unit in cluster
                }
            )
    return best


def recode_clusters(records: Records, *, by_record: bool, random_ties: bool) -> Draws:
    """The best clusters of distinct records, or of single ones; of equally good ones the last, or any."""
    if by_record:
        units = [(record, 1) for record in records]
        unit_of = list(range(len(records)))
    else:
        units = sorted(Counter(records).items())
        number = {record: place for place, (record, _) in enumerate(units)}
        unit_of = [number[record] for record in records]
    best = list_best_clusters(units)
    chosen = best if random_ties else best[-1:]
    return [(Fraction(1, len(chosen)), tuple(shown[unit] for unit in unit_of)) for shown in chosen]


@dataclass(frozen=True, kw_only=True)
class Leak:
    """What a scheme loses, and how much sharper it makes values that it means to hide.

    The guess of one who knows the scheme is right with the chance of the likeliest record; without
    it, one of all records under what is shown is as likely as the next.
    """

    loss: Fraction
    guess_ratio: Fraction
    """Right guesses of all records, with and without knowing the scheme."""
    sharpened: Fraction
    """The share of records with a coarse value that are guessed right more than 1.5 times as often."""
    worst: Fraction


@dataclass(frozen=True, kw_only=True)
class Posteriors:
    """All releases of a scheme, with their chances, and the originals of what they show."""

    chances: dict[Release, Fraction]
    originals: dict[tuple[Release, Shown], dict[Record, Fraction]]
    """By release and what is shown in it, the chances of the records behind it."""
    loss: Fraction

    def find_factor(self, release: Release, shown: Shown) -> Fraction:
        """How much likelier the likeliest record is than any other under what is shown."""
        everybody = self.chances[release] * release.count(shown)
        return max(self.originals[release, shown].values()) / everybody * count_leaves(shown)


def count_leaves(shown: Shown) -> int:
    """How many records would show this."""
    return prod(map(len, shown))


def weigh_originals(scheme: Scheme) -> Posteriors:
    """A scheme on all data sets of a few records, each record as likely to be any."""
    chances: defaultdict[Release, Fraction] = defaultdict(Fraction)
    originals: defaultdict[tuple[Release, Shown], defaultdict[Record, Fraction]]
    originals = defaultdict(lambda: defaultdict(Fraction))
    loss = Fraction(0)
    orders = len(DOMAIN) ** RECORDS
    for records in combinations_with_replacement(DOMAIN, RECORDS):
        # A set of records comes in so many orders, and every order is as likely as the next.
        weight = Fraction(factorial(RECORDS), orders) / prod(
            factorial(count) for count in Counter(records).values()
        )
        for chance, shown in scheme(records):
            release = sort_release(shown)
            chances[release] += weight * chance
            loss += weight * chance * sum(map(cached_cost, shown)) / RECORDS
            for record, node in zip(records, shown, strict=True):
                originals[release, node][record] += weight * chance
    return Posteriors(chances=dict(chances), originals=dict(originals), loss=loss)


def measure_leak(scheme: Scheme) -> Leak:
    """What is told by all releases of a scheme, each as likely as it is."""
    posteriors = weigh_originals(scheme)
    informed = naive = coarse = sharpened = worst = Fraction(0)
    for release, shown in posteriors.originals:
        everybody = posteriors.chances[release] * release.count(shown)
        leaves = count_leaves(shown)
        factor = posteriors.find_factor(release, shown)
        informed += everybody * factor / leaves
        naive += everybody / leaves
        worst = max(worst, factor)
        if leaves > 1:
            coarse += everybody
            sharpened += everybody if factor > Fraction(3, 2) else 0
    return Leak(
        loss=posteriors.loss,
        guess_ratio=informed / naive,
        sharpened=sharpened / coarse,
        worst=worst,
    )


def sort_release(shown: Iterable[Shown]) -> Release:
    """The order in which records are published says nothing."""
    return tuple(sorted(shown, key=_sort_key))


@cache
def _sort_key(shown: Shown) -> tuple[tuple[int, ...], ...]:
    return tuple(tuple(sorted(node)) for node in shown)
