"""Which keys other columns would restore: found on the original, before anything is hidden.

A key that is determined by what is published need not be suppressed: whoever looks reads it from
there. Suppression has to leave it shown, and hide others.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from itertools import combinations

import numpy.typing as npt

from divulge import work
from divulge.data import Dataset
from divulge.protection.refill.cells import gather_groups, read_cells
from divulge.protection.refill.columns import build_absence_columns
from divulge.protection.refill.search.arithmetic import (
    may_fit_sample,
    measure_numbers,
    screen_calculations,
)
from divulge.protection.refill.search.discovery import RelationFinder, choose_pair_columns
from divulge.protection.refill.search.member_sums import screen_member_sums
from divulge.protection.refill.search.ranges import RangeFinder, is_step
from divulge.protection.refill.search.relations import ColumnRelation, Form, name_column
from divulge.protection.refill.search.state import RefillState, StrippedPartition, Target
from divulge.protection.refill.search.support import Support, choose_support


def find_determined_attributes(
    dataset: Dataset,
    keys: str | Iterable[str] | None = None,
    columns: str | Iterable[str] | None = None,
    known_groups: Mapping[str, npt.ArrayLike] | None = None,
) -> dict[str, tuple[ColumnRelation, ...]]:
    """For each key, the relations that would restore it if it were hidden.

    The evidence is that of the attack, on complete data: `support.rows` are the records whose value
    the others tell, `support.right` those for whom that is true. Nothing is hidden yet, so twins
    are evidence like others.

    Args:
        dataset: the original.
        keys: the quasi-identifiers; those declared if not given.
        columns: the columns that will be published; all if not given.
        known_groups: groups known from elsewhere, by name: for each record the number of its
            group, negative if it is not known.

    >>> import divulge as dv
    >>> import pyarrow as pa
    >>> home = [n // 2 for n in range(400)]
    >>> homes = pa.table({"home": home, "area": [number % 7 for number in home]})
    >>> people = dv.Dataset.from_arrow(homes, roles={"quasi_identifier": ["area"]})
    >>> [relation.columns for relation in find_determined_attributes(people)["area"]]
    [('home',)]
    """
    key_names = dataset.attributes(keys, "keys")
    published = dataset.names if columns is None else dataset.attributes(columns, "columns")
    names = [name for name in dataset.names if name in {*published, *key_names}]
    groups = gather_groups(dataset, None, (), known_groups or {})
    cells = read_cells(dataset.select(names), None, key_names, groups=groups)
    coded = [*cells.columns, *build_absence_columns(cells.columns)]
    state = RefillState(coded, key_names, read_from=published, seek=key_names)
    finder = RelationFinder(state)
    relations: dict[str, list[ColumnRelation]] = {name: [] for name in key_names}
    _add_calculations(state, relations)
    in_pairs = choose_pair_columns(state, key_names)
    pairs = list(combinations(in_pairs, 2))
    sets = [*((place,) for place in state.sources), *pairs]
    with work.step("Looking for relations", len(sets)) as step:
        for places in sets:
            _add_groups(state, finder, places, relations)
            step.advance()
    return {
        name: tuple(sorted(told, key=lambda r: (-r.support.rows, len(r.columns), r.columns)))
        for name, told in relations.items()
    }


def _add_calculations(state: RefillState, relations: dict[str, list[ColumnRelation]]) -> None:
    ranges = RangeFinder(state)
    for target in _list_sought(state, relations):
        for form, places, constant, predictions in screen_calculations(state, target):
            support = measure_numbers(target, predictions, 0)
            if support.suffices:
                relation = _build_relation(state, target, form, places, support, constant=constant)
                relations[relation.target].append(relation)
        for form, places, predictions, groups in screen_member_sums(state, target):
            support = measure_numbers(target, predictions, groups)
            if support.suffices:
                relation = _build_relation(state, target, form, places, support)
                relations[relation.target].append(relation)
        for place, support in ranges.screen_ranges(target):
            if is_step(support):
                relation = _build_relation(state, target, "range", (place,), support)
                relations[relation.target].append(relation)


def _add_groups(
    state: RefillState,
    finder: RelationFinder,
    places: tuple[int, ...],
    relations: dict[str, list[ColumnRelation]],
) -> None:
    """The keys that groups of records tell, by the value they share or by their size."""
    partition: StrippedPartition | None = None
    for target in _list_sought(state, relations):
        if not target.may_read(places) or _is_told_by_one(state, target, places, relations):
            continue
        partition = partition or finder.build_partition(places, finder.modulus)
        support = choose_support(finder.count_support(partition, target), trusts_twins=True)
        if support is not None:
            relation = _build_relation(state, target, "determines", places, support)
            relations[relation.target].append(relation)
        if target.numbers is None or not target.sample.size or finder.modulus > 1:
            continue
        sizes = finder.count_members(places, partition)
        if may_fit_sample(target, sizes[target.sample]):
            support = measure_numbers(target, sizes, 0)
            if support.suffices:
                relation = _build_relation(state, target, "count", places, support)
                relations[relation.target].append(relation)


def _list_sought(state: RefillState, relations: Mapping[str, list[ColumnRelation]]) -> list[Target]:
    """The keys; a dataset that was protected before may hide other columns' cells too."""
    return [target for target in state.targets if state.columns[target.place].name in relations]


def _is_told_by_one(
    state: RefillState,
    target: Target,
    places: tuple[int, ...],
    relations: dict[str, list[ColumnRelation]],
) -> bool:
    """Whether one of two columns tells the key by itself, so that the pair adds nothing."""
    if len(places) == 1:
        return False
    names = {name_column(state.columns[place]) for place in places}
    told = relations[state.columns[target.place].name]
    return any(len(r.columns) == 1 and r.columns[0] in names and r.support.is_exact for r in told)


def _build_relation(
    state: RefillState,
    target: Target,
    form: Form,
    places: tuple[int, ...],
    support: Support,
    *,
    constant: float | None = None,
) -> ColumnRelation:
    return ColumnRelation(
        form=form,
        columns=tuple(name_column(state.columns[place]) for place in places),
        target=state.columns[target.place].name,
        support=support,
        cells=support.rows,
        constant=constant,
    )
