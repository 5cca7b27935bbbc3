"""The sweep: every set of quasi-identifiers that an adversary might know, assessed at once."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from math import comb
from numbers import Integral
from typing import Any

from divulge.classes.people import (
    RECORDS_KNOWN,
    RecordsKnown,
    build_unjudged_error,
    find_people,
)
from divulge.classes.weights import read_weights
from divulge.data import Dataset
from divulge.data.dictionary import as_names, find_name_problems
from divulge.records import tuning
from divulge.records.risk.uniques.minimal_uniques import MOST_ATTRIBUTES
from divulge.records.sweep.duckdb_sweep import count_by_sql
from divulge.records.sweep.people_sweep import count_people_by_set
from divulge.records.sweep.result import Sweep, SweepFigures
from divulge.records.sweep.subset_cube import CubeAttribute, Floats, SubsetCounts, SubsetCube
from divulge.work import MemoryPlan, Problems, checks

ENGINES = ("auto", "cube", "duckdb")


def sweep(
    dataset: Dataset,
    knows: str | Iterable[str] | None = None,
    seeks: str | Iterable[str] | None = None,
    sizes: int | Iterable[int] | None = None,
    engine: str = "auto",
    *,
    capacity: bool = True,
    records_known: RecordsKnown = "one",
) -> Sweep:
    """Assess every non-empty set of quasi-identifiers: who is singled out, what is inferred.

    Args:
        dataset: the records.
        knows: the attributes whose sets are assessed; all quasi-identifiers if not given.
        seeks: sensitive attributes, each a secret of its own; all that are declared if not given.
        sizes: how many attributes a set may have: at most a number, or one of several numbers.
        engine: `cube` counts in memory, `duckdb` groups set by set and spills to disk, `auto`
            takes the cube if it fits.
        capacity: whether the multiplicative Bayes capacity of each secret is counted too.
        records_known: with the role `person`, whether `one` record of the victim is known, drawn
            at random, or `all` of them. Then sets are counted one by one in memory, and classes
            and their sizes are of people; `certain` and `right` are further columns.

    Raises:
        InvalidInput: if an attribute does not exist, is known and sought at once, or if there
            are more sets than is sensible.
        NotEnoughMemory: before the run, if the cube is asked for and does not fit.

    >>> import divulge as dv
    >>> found = sweep(dv.datasets.school_year_example(), seeks="disability")
    >>> found
    Sweep of "school year 1": 7 sets of 3 quasi-identifiers, 1 secret
    >>> found.to_arrow().to_pylist()[-1]["singletons"]
    4
    """
    problems = Problems("sweep")
    known = dataset.quasi_identifiers if knows is None else as_names(knows)
    sought = dataset.dictionary.having("sensitive") if seeks is None else as_names(seeks)
    if seeks is None:
        sought = [name for name in sought if name not in known]
    _problems_with_attributes(problems, dataset, known, sought)
    set_sizes = _choose_sizes(problems, sizes, len(known))
    if engine not in ENGINES:
        problems.add("engine", f'"{engine}" is not an engine.', engine, ENGINES)
    if dataset.rows == 0:
        problems.add("dataset", "has no records.")
    problems.extend("", checks.one_of("records_known", records_known, RECORDS_KNOWN))
    problems.raise_any()
    people = find_people(dataset)
    if people is not None and engine == "duckdb":
        what = 'engine = "duckdb" counts records, and so only engine = "auto" or "cube" can count'
        raise build_unjudged_error(dataset, people, what)
    weight = dataset.dictionary.having("weight")
    weights = read_weights(dataset) if weight else None
    if people is not None:
        figures = count_people_by_set(
            dataset,
            known,
            sought,
            people=people,
            records_known=records_known,
            sizes=set_sizes,
            weights=weights,
            capacity=capacity,
        )
        swept = figures.sort_sets()
        return Sweep(dataset, tuple(known), tuple(sought), swept, people, records_known)
    if engine == "auto":
        engine = "cube" if _plan_memory(dataset, known, weights).fits() else "duckdb"
    if engine == "cube":
        _plan_memory(dataset, known, weights).require('use engine="duckdb", which spills to disk')
        groups = _group_secrets(dataset, sought)
        counts = [
            _count_cube(
                dataset, known, group, weights=weights, at_most=max(set_sizes), capacity=capacity
            )
            for group in groups
        ]
        figures = SweepFigures.from_counts(counts, groups, dataset, weights)
    else:
        figures = count_by_sql(
            dataset, known, sought, max(set_sizes), weight[0] if weight else None
        )
    figures = figures.select_sizes(set_sizes).sort_sets()
    return Sweep(dataset, tuple(known), tuple(sought), figures)


def _problems_with_attributes(
    problems: Problems, dataset: Dataset, known: list[str], sought: list[str]
) -> None:
    of = f'dataset "{dataset.name}"'
    problems.extend("", find_name_problems("knows", known, dataset.names, of))
    problems.extend("", find_name_problems("seeks", sought, dataset.names, of))
    if not known:
        problems.add("knows", "names no attribute, and no quasi-identifier is declared.")
    if len(known) > MOST_ATTRIBUTES:
        message = f"names {len(known)} attributes; at most {MOST_ATTRIBUTES} can be swept at once."
        problems.add("knows", message)
    for argument, names in (("knows", known), ("seeks", sought)):
        for name in sorted({name for name in names if names.count(name) > 1}):
            problems.add(argument, f'names "{name}" more than once.')
    for name in sought:
        if name in known:
            problems.add("seeks", f'"{name}" is known already; take it out of knows.')


def _choose_sizes(
    problems: Problems, sizes: int | Iterable[int] | None, attributes: int
) -> list[int]:
    """The sizes of the sets that are asked for."""
    if attributes == 0:
        return [1]  # that nothing is known is said already
    if sizes is None:
        set_sizes = list(range(1, attributes + 1))
    elif isinstance(sizes, Integral):
        set_sizes = list(range(1, min(int(sizes), attributes) + 1))
    else:
        raw_sizes: Any = sizes
        each = set(raw_sizes) if isinstance(raw_sizes, Iterable) else {raw_sizes}
        set_sizes = sorted(int(size) if isinstance(size, Integral) else 0 for size in each)
    wrong = [size for size in set_sizes if not 1 <= size <= max(1, attributes)]
    if wrong or not set_sizes:
        problems.add("sizes", f"a set has from 1 to {attributes} attributes.")
        return [1]
    sets = sum(comb(attributes, size) for size in range(1, max(set_sizes) + 1))
    if sets > tuning.MAX_SETS:
        allowed_sizes = [
            size
            for size in range(1, attributes + 1)
            if sum(comb(attributes, s) for s in range(1, size + 1)) <= tuning.MAX_SETS
        ]
        message = (
            f"{attributes} attributes have {sets:,} sets, and {tuning.MAX_SETS:,} are the most."
        )
        problems.add("sizes", f"{message} Give sizes={max(allowed_sizes, default=1)} or less.")
    return set_sizes


def _group_secrets(dataset: Dataset, sought: Sequence[str]) -> list[list[str]]:
    """Sensitive attributes that go through one walk together; one with many values goes alone."""
    groups: list[list[str]] = []
    bits_left = 0
    for name in sought:
        bits = _encode_attribute(dataset, name).bits
        if not groups or bits > bits_left:
            groups.append([])
            bits_left = tuning.JOINT_BITS
        groups[-1].append(name)
        bits_left -= bits
    return groups or [[]]


def _count_cube(
    dataset: Dataset,
    known: Sequence[str],
    sought: Sequence[str],
    *,
    weights: Floats | None,
    at_most: int,
    capacity: bool,
) -> SubsetCounts:
    lattice = SubsetCube(
        [_encode_attribute(dataset, name) for name in known],
        [_encode_attribute(dataset, name) for name in sought],
        weights,
        at_most=at_most,
        capacity=capacity,
        key=lambda: {
            "data": dataset.fingerprint,
            "knows": list(known),
            "seeks": list(sought),
            "weight": dataset.dictionary.having("weight"),
            "capacity": capacity,
        },
    )
    return lattice.count_subsets()


def _encode_attribute(dataset: Dataset, name: str) -> CubeAttribute:
    column = dataset.columns[name]
    return CubeAttribute(column.codes, max(1, column.cardinality))


def _plan_memory(dataset: Dataset, known: Sequence[str], weights: Floats | None) -> MemoryPlan:
    """Keys and counts twice while they are grouped; one block many times over while it is walked.

    The largest block is as large as the most frequent value of the attribute of highest entropy.
    """
    attributes = [_encode_attribute(dataset, name) for name in known]
    bytes_per_row = 12 if weights is None else 28
    largest = 0
    if dataset.rows > tuning.LARGE_SWEEP_ROWS:
        largest = min(int(a.occurrences.max()) for a in attributes)
    copies = min(len(known), tuning.MOST_KEY_ATTRIBUTES + 1) + 2  # as the walk makes room for
    return MemoryPlan(
        f'sweeping "{dataset.name}"',
        {
            "keys": 2 * dataset.rows * bytes_per_row,
            "blocks": 2 * largest * bytes_per_row * copies,
        },
    )
