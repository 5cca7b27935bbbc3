"""The sweep: every set of quasi-identifiers that an adversary might know, assessed at once."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from divulge import work
from divulge.classes.people import (
    RECORDS_KNOWN,
    RecordsKnown,
    build_unjudged_error,
    find_people,
)
from divulge.classes.weights import read_weights
from divulge.data import Dataset, Relation
from divulge.data.dictionary import as_names, find_name_problems
from divulge.engines import DuckSession, WorkersLackDivulge
from divulge.engines.spark import SCHEME
from divulge.records import tuning
from divulge.records.sweep.engine_sweep.relation_sweep import (
    count_code_bits,
    count_relation_lattice,
    count_relation_sets,
    fetch_combinations,
)
from divulge.records.sweep.engine_sweep.sql_sweep import SqlSweep
from divulge.records.sweep.people_sweep import count_people_by_set
from divulge.records.sweep.prefix_walk import PrefixWalk
from divulge.records.sweep.result import Sweep, SweepFigures
from divulge.records.sweep.set_choice import AttributeSet, SetChoice, choose_known, choose_sets
from divulge.records.sweep.subset_cube import CubeAttribute, Floats, SubsetCube
from divulge.work import MemoryPlan, Problem, Problems, checks

ENGINES = ("auto", "memory", "duckdb", "sail", "sc://...")
CUBE_NAMES = ("memory", "cube")
"""The cube in memory; `cube` is what it was called before."""
SPILLING = "duckdb"


def sweep(
    dataset: Dataset,
    knows: str | Iterable[str] | None = None,
    seeks: str | Iterable[str] | None = None,
    sizes: int | Iterable[int] | None = None,
    engine: str = "auto",
    *,
    sets: Iterable[str | Iterable[str]] | None = None,
    capacity: bool = True,
    records_known: RecordsKnown = "one",
) -> Sweep:
    """Assess every non-empty set of quasi-identifiers: who is singled out, what is inferred.

    Args:
        dataset: the records, in memory or a relation.
        knows: the attributes whose sets are assessed; all quasi-identifiers if not given.
        seeks: sensitive attributes, each a secret of its own; all that are declared if not given.
        sizes: how many attributes a set may have: at most a number, or one of several numbers.
        engine: `memory` (or `cube`) counts all sets in one walk; `duckdb` groups set by set and
            spills to disk; `auto` takes the walk if it fits. Of a relation, the walk takes the
            combinations of values that its engine has counted, and what does not fit is grouped set
            by set by that engine, which may also be named.
        sets: only these sets; `knows` are all that they name, if it is not given.
        capacity: whether the multiplicative Bayes capacity of each secret is counted too.
        records_known: with the role `person`, whether `one` record of the victim is known, drawn
            at random, or `all` of them. Then sets are counted one by one in memory, and classes
            and their sizes are of people; `certain` and `right` are further columns.

    Weights are counted in memory, and not of a relation.

    Raises:
        InvalidInput: if an attribute does not exist, is known and sought at once, or if there
            are more sets than is sensible.
        NotEnoughMemory: before the run, if the walk is asked for and does not fit; or if an engine
            runs out of memory.
        EngineError: if the engine of a relation is away, or its records change meanwhile.

    >>> import divulge as dv
    >>> found = sweep(dv.datasets.school_year_example(), seeks="disability")
    >>> found
    Sweep of "school year 1": 7 sets of 3 quasi-identifiers, 1 secret
    >>> found.to_arrow().to_pylist()[-1]["singletons"]
    4
    """
    problems = Problems("sweep")
    listed = None if sets is None else [as_names(each) for each in sets]
    known = choose_known(dataset, knows, listed)
    sought = dataset.dictionary.having("sensitive") if seeks is None else as_names(seeks)
    if seeks is None:
        sought = [name for name in sought if name not in known]
    _problems_with_attributes(problems, dataset, known, sought)
    choice = choose_sets(problems, sizes, listed, known)
    problems.extend("", _find_engine_problems(dataset, engine))
    if dataset.rows == 0:
        problems.add("dataset", "has no records.")
    problems.extend("", checks.one_of("records_known", records_known, RECORDS_KNOWN))
    problems.raise_any()
    people = find_people(dataset)
    if people is not None and engine == SPILLING:
        what = 'engine = "duckdb" counts records, and so only engine = "auto" or "memory" can count'
        raise build_unjudged_error(dataset, people, what)
    if people is not None:
        weight = dataset.dictionary.having("weight")
        figures = count_people_by_set(
            dataset,
            known,
            sought,
            people=people,
            records_known=records_known,
            sets=choice.list_sets(),
            weights=read_weights(dataset) if weight else None,
            capacity=capacity,
        )
    elif isinstance(dataset, Relation):
        figures = _sweep_relation(dataset, known, sought, choice, engine=engine, capacity=capacity)
    else:
        figures = _sweep_records(dataset, known, sought, choice, engine=engine, capacity=capacity)
    if choice.listed is None:
        figures = figures.select_sizes(choice.sizes)
    else:
        figures = figures.select_sets(choice.list_bits())
    figures = figures.sort_sets()
    return Sweep(dataset, tuple(known), tuple(sought), figures, people, records_known)


def _find_engine_problems(dataset: Dataset, engine: str) -> Iterator[Problem]:
    if engine not in (*ENGINES[:-1], "cube") and not engine.startswith(SCHEME):
        yield Problem("engine", f'"{engine}" is not an engine.', engine, ENGINES)
    elif isinstance(dataset, Relation):
        if engine not in ("auto", *CUBE_NAMES, dataset.lake.engine):
            message = f"the records stay with {dataset.engine}, which counts them: leave it out."
            yield Problem("engine", message)
    elif engine not in ("auto", *CUBE_NAMES, SPILLING):
        yield Problem(
            "engine", "the records are in memory: scan them (dv.scan) to count elsewhere."
        )


def _sweep_records(
    dataset: Dataset,
    known: Sequence[str],
    sought: Sequence[str],
    choice: SetChoice,
    *,
    engine: str,
    capacity: bool,
) -> SweepFigures:
    """All sets by the cube, or some of them set by set, of records in memory."""
    weight = dataset.dictionary.having("weight")
    weights = read_weights(dataset) if weight else None
    plan = _plan_memory(dataset, known, weights)
    if engine == "auto":
        engine = "memory" if plan.fits() and choice.is_worth_a_walk else SPILLING
    if engine == SPILLING:
        return _count_codes(
            dataset, known, sought, choice.list_sets(), weights=weights, capacity=capacity
        )
    plan.require('use engine="duckdb", which spills to disk')
    secrets = [_encode_attribute(dataset, name) for name in sought]
    key = {"data": dataset.fingerprint} if work.current().checkpoints else {}
    return _walk_cube(
        {name: _encode_attribute(dataset, name) for name in known},
        dict(zip(sought, secrets, strict=True)),
        at_most=choice.at_most,
        capacity=capacity,
        weights=weights,
        key={**key, "weight": weight},
    )


def _sweep_relation(
    relation: Relation,
    known: Sequence[str],
    sought: Sequence[str],
    choice: SetChoice,
    *,
    engine: str,
    capacity: bool,
) -> SweepFigures:
    """All sets by the cube over combinations of values, or set by set where the records are."""
    walks = engine in CUBE_NAMES or (engine == "auto" and choice.is_worth_a_walk)
    if walks:
        names = list(dict.fromkeys([*known, *sought]))
        found = fetch_combinations(relation, names)
        if not isinstance(found, MemoryPlan):
            return _walk_cube(
                {name: found[name] for name in known},
                {name: found[name] for name in sought},
                at_most=choice.at_most,
                capacity=capacity,
                key={"data": relation.fingerprint, "combinations": names},
            )
        if engine != "auto":
            found.require("leave engine out: sets are then counted where the records are")
        bits = {name: count_code_bits(relation, name) for name in sought}
        try:
            return count_relation_lattice(
                relation,
                known,
                _group_secrets(bits),
                at_most=choice.at_most,
                capacity=capacity,
            )
        except WorkersLackDivulge:
            pass  # set by set, every engine can
    return count_relation_sets(relation, known, sought, choice.list_sets(), capacity=capacity)


def _count_codes(
    dataset: Dataset,
    known: Sequence[str],
    sought: Sequence[str],
    sets: Sequence[AttributeSet],
    *,
    weights: Floats | None,
    capacity: bool,
) -> SweepFigures:
    """Set by set in DuckDB, which is handed codes: a user's names never reach SQL."""
    import pyarrow as pa

    known_columns = [f"known{i}" for i in range(len(known))]
    sought_columns = [f"sought{i}" for i in range(len(sought))]
    codes = dataset.codes([*known, *sought]).rename_columns([*known_columns, *sought_columns])
    if weights is not None:
        codes = codes.append_column("weight", pa.array(weights))
    swept = SqlSweep(
        known=known_columns,
        sought=dict(zip(sought, sought_columns, strict=True)),
        rows=dataset.rows,
        key={
            "data": dataset.fingerprint if work.current().checkpoints else "",
            "knows": list(known),
            "weight of": dataset.dictionary.having("weight"),
        },
        weight=None if weights is None else "weight",
        capacity=capacity,
    )
    with DuckSession(records=codes) as duck:
        return swept.count_sets(duck, sets)


def _problems_with_attributes(
    problems: Problems, dataset: Dataset, known: list[str], sought: list[str]
) -> None:
    of = f'dataset "{dataset.name}"'
    problems.extend("", find_name_problems("knows", known, dataset.names, of))
    problems.extend("", find_name_problems("seeks", sought, dataset.names, of))
    if not known:
        problems.add("knows", "names no attribute, and no quasi-identifier is declared.")
    for argument, names in (("knows", known), ("seeks", sought)):
        for name in sorted({name for name in names if names.count(name) > 1}):
            problems.add(argument, f'names "{name}" more than once.')
    for name in sought:
        if name in known:
            problems.add("seeks", f'"{name}" is known already; take it out of knows.')


def _group_secrets(code_bits: Mapping[str, int]) -> list[list[str]]:
    """Sensitive attributes that go through one walk together; one with many values goes alone."""
    groups: list[list[str]] = []
    bits_left = 0
    for name, bits in code_bits.items():
        if not groups or bits > bits_left:
            groups.append([])
            bits_left = tuning.JOINT_BITS
        groups[-1].append(name)
        bits_left -= bits
    return groups or [[]]


def _walk_cube(
    known: Mapping[str, CubeAttribute],
    sought: Mapping[str, CubeAttribute],
    *,
    at_most: int,
    capacity: bool,
    key: Mapping[str, object],
    weights: Floats | None = None,
) -> SweepFigures:
    """The figures of all sets up to a size; `key` says of which data they are."""
    groups = _group_secrets({name: each.bits for name, each in sought.items()})
    counts = []
    for group in groups:
        cube = SubsetCube(
            list(known.values()),
            [sought[name] for name in group],
            weights,
            at_most=at_most,
            capacity=capacity,
            key=lambda group=group: {  # type: ignore[misc]  # bound now, called later
                **key,
                "knows": list(known),
                "seeks": list(group),
                "capacity": capacity,
            },
        )
        prefixes = PrefixWalk(
            records=cube.records, order=cube.order, at_most=at_most, capacity=capacity, key=cube.key
        )
        few = cube.count_sets() <= cube.count_patterns() * tuning.MOST_SETS_FOR_PREFIXES
        counts.append(prefixes.count_subsets() if few else cube.count_subsets())
    return SweepFigures.from_counts(
        counts,
        groups,
        rows=next(iter(known.values())).records,
        cardinalities={name: each.cardinality for name, each in sought.items()},
        weights=weights,
    )


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
