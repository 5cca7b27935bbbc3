"""All sets of a relation that does not fit into memory: combinations of values, block by block.

An engine codes the values and counts which combinations there are. Of the sets that hold the first
attribute, each class lies within one of its values; so the combinations pass in that order, and the
cube walks as many as fit at once (`portion_walk`). Then the attribute is dropped, equal rows become
one, and the sets that hold the second follow; once the rest fits, it comes home and is walked at
once. Where a value is so frequent that its block does not fit, the sets that hold the attribute are
those with the next one, whose blocks are smaller, and those without it; a single set that is left
over at the end is grouped where the records are.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from importlib.metadata import version
from math import comb, log2
from typing import TYPE_CHECKING

import numpy as np

from divulge import work
from divulge.data.relation.value_codes import build_code_join, keep_value_codes
from divulge.engines import BlockQuery, EngineError
from divulge.records import tuning
from divulge.records.sweep.engine_sweep.portion_walk import (
    COUNT,
    PortionWalk,
    name_known,
    name_sought,
)
from divulge.records.sweep.set_choice import AttributeSet
from divulge.records.sweep.subset_cube import (
    MOST_ROWS,
    SubsetCounts,
    add_block_counts,
    concatenate_counts,
)
from divulge.work.arrays import Ints

if TYPE_CHECKING:
    import pyarrow as pa

    from divulge.data import Relation

# What is remembered changes with this number: what another version remembered is not taken up.
_VERSION = 1


@dataclass(frozen=True)
class LatticeCounts:
    """What the walks noted of most sets, and which sets are still to be grouped one by one."""

    counts: SubsetCounts | None
    left_over: Sequence[AttributeSet]
    kinds: Mapping[str, int]
    """How many values each secret has."""


@dataclass(kw_only=True)
class RelationLattice:
    """The walk over the sets of at most `at_most` attributes, for some secrets, in a session."""

    relation: Relation
    known: Sequence[str]
    sought: Sequence[str]
    at_most: int
    capacity: bool
    most_rows: int
    """Rows of combinations that are held in memory at once."""
    _parts: list[SubsetCounts] = field(default_factory=list)
    _left_over: list[AttributeSet] = field(default_factory=list)
    _tables: int = 0

    def count_sets(self) -> LatticeCounts:
        """What every set loses, wherever the records are."""
        total = self._count_sets((), range(len(self.known)))
        with (
            work.step("Assessing every set of quasi-identifiers", total) as step,
            self.relation.open() as session,
        ):
            self._session, self._step = session, step
            codes = self._code_values()
            order = sorted(range(len(self.known)), key=lambda i: (-codes[i].entropy, i))
            self._cardinalities = {i: codes[i].cardinality for i in order}
            first = self._keep_rows(self._build_combinations_query())
            self._walk_sets((), order, first)
        counts = concatenate_counts(self._parts) if self._parts else None
        kinds = {
            name: len(totals) for name, totals in zip(self.sought, self._secret_totals, strict=True)
        }
        return LatticeCounts(counts, self._left_over, kinds)

    def _code_values(self) -> list[_CodedValues]:
        """Number the values of every attribute, where they are; only figures come home."""
        coded = []
        for name in (*self.known, *self.sought):
            table = keep_value_codes(self._session, self.relation, name)
            [found] = self._session.table(
                "SELECT count(*) AS kinds, sum(CAST(n AS DOUBLE) * log2(CAST(n AS DOUBLE))) AS s "
                f"FROM {table}"
            ).to_pylist()
            entropy = log2(self.relation.rows) - found["s"] / self.relation.rows
            coded.append(_CodedValues(found["kinds"], round(entropy, tuning.ENTROPY_DIGITS)))
        self._secret_totals = [self._fetch_totals(name) for name in self.sought]
        return coded

    def _fetch_totals(self, name: str) -> Ints:
        found = self._session.arrays(f"SELECT code, n FROM codes_{self.relation.find_column(name)}")
        totals = np.zeros(len(found["code"]), np.int64)
        totals[found["code"]] = found["n"]
        return totals

    def _build_combinations_query(self) -> str:
        """Each combination of codes once, with how many records have it."""
        columns, sources, groups = [], ["records AS r"], []
        names = [(name_known(i), name) for i, name in enumerate(self.known)]
        names += [(name_sought(i), name) for i, name in enumerate(self.sought)]
        for place, (alias, name) in enumerate(names):
            columns.append(f"d{place}.code AS {alias}")
            groups.append(f"d{place}.code")
            sources.append(build_code_join(self.relation, name, f"d{place}"))
        return (
            f"SELECT {', '.join(columns)}, count(*) AS {COUNT} FROM {' '.join(sources)} "
            f"GROUP BY {', '.join(groups)}"
        )

    def _keep_rows(self, sql: str) -> _KeptRows:
        self._tables += 1
        name = f"rows_{self._tables}"
        self._session.keep(name, sql)
        rows = int(self._session.arrays(f"SELECT count(*) AS n FROM {name}")["n"][0])
        return _KeptRows(name, rows)

    def _walk_sets(self, always: AttributeSet, open_: Sequence[int], rows: _KeptRows) -> None:
        """All sets that hold `always` and any of `open_`; the rows are left as they are."""
        current = rows
        while True:
            if len(always) == self.at_most:
                open_ = ()
            if current.rows <= self.most_rows and self.relation.rows <= MOST_ROWS:
                self._walk_at_home(always, open_, current)
                break
            blocks = self._count_blocks(always, current) if always else None
            if blocks is not None and blocks.are_short(self.most_rows):
                self._walk_blocks(always, open_, current, blocks.number)
                break
            if not open_:
                self._left_over.append(tuple(sorted(always)))
                self._step.advance()
                break
            self._walk_sets((*always, open_[0]), open_[1:], current)
            open_ = open_[1:]
            if not (always or open_):
                break
            smaller = self._keep_rows(self._build_dropping_query((*always, *open_), current))
            if current is not rows:
                self._session.forget(current.name)
            current = smaller
        if current is not rows:
            self._session.forget(current.name)

    def _build_dropping_query(self, places: Sequence[int], rows: _KeptRows) -> str:
        """The rows with these attributes alone, equal ones as one."""
        columns = ", ".join(self._list_columns(places))
        return (
            f"SELECT {columns}, CAST(sum({COUNT}) AS BIGINT) AS {COUNT} FROM {rows.name} "
            f"GROUP BY {columns}"
        )

    def _list_columns(self, places: Sequence[int]) -> list[str]:
        secrets = [name_sought(place) for place in range(len(self.sought))]
        return [*(name_known(place) for place in places), *secrets]

    def _count_blocks(self, always: AttributeSet, rows: _KeptRows) -> _Blocks:
        """How many blocks some attributes make, and how long they are."""
        names = ", ".join(name_known(place) for place in always)
        [found] = self._session.table(
            f"SELECT count(*) AS number, max(m) AS longest, max(records) AS largest "
            f"FROM (SELECT count(*) AS m, CAST(sum({COUNT}) AS BIGINT) AS records "
            f"FROM {rows.name} GROUP BY {names}) AS q"
        ).to_pylist()
        return _Blocks(**found)

    def _walk_at_home(self, always: AttributeSet, open_: Sequence[int], rows: _KeptRows) -> None:
        """All rows come home, in an order that is the same in a run that is resumed."""
        columns = ", ".join(self._list_columns((*always, *open_)))
        sql = f"SELECT {columns}, {COUNT} FROM {rows.name} ORDER BY {columns}"
        table = self._session.table(sql).combine_chunks()
        self._parts.append(self._build_walk(always, open_).count_portion(table))
        self._step.advance(self._count_sets(always, open_))

    def _walk_blocks(
        self, always: AttributeSet, open_: Sequence[int], rows: _KeptRows, blocks: int
    ) -> None:
        """The rows pass block by block, here or in the workers of a server."""
        walk = self._build_walk(always, open_)
        columns = ", ".join(self._list_columns((*always, *open_)))
        sets = self._count_sets(always, open_)
        carry_out = walk.walk

        def walk_here(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
            for number, table in enumerate(walk.list_portions(batches)):
                share = sets * table.num_rows / rows.rows

                def advance(part: float, share: float = share) -> None:
                    self._step.advance(part * share)

                counts = walk.count_portion(table, number, advance)
                yield from walk.to_table(counts).to_batches()

        if self._session.walks_here:
            carry_out = walk_here
        query = BlockQuery(
            sql=f"SELECT {columns}, {COUNT} FROM {rows.name}",
            by=[name_known(place) for place in always],
            rows=rows.rows,
            walk=carry_out,
            schema=walk.build_schema(),
            reduce=walk.build_reduction(),
        )
        if self._session.walks_here:  # each portion is remembered for itself
            self._parts.append(self._add_up_blocks(walk, query, blocks))
            return
        key = {**self._build_key(), "always": list(always), "open": list(open_)}
        columns_by_name = work.memoise(
            "sweep-blocks",
            lambda: key,
            lambda: walk.to_arrays(self._add_up_blocks(walk, query, blocks)),
        )
        self._parts.append(walk.from_arrays(columns_by_name))
        self._step.advance(sets)

    def _add_up_blocks(self, walk: PortionWalk, query: BlockQuery, blocks: int) -> SubsetCounts:
        """The counts of all blocks together, checked against how many blocks there are.

        The counts are right only if no block was torn apart, which is the engine's promise.
        """
        total: SubsetCounts | None = None
        for table in self._session.map_blocks(query):
            counts = walk.from_table(table)
            total = counts if total is None else add_block_counts([total, counts])
        if total is None or walk.count_blocks(total, self.relation.rows) != blocks:
            message = "the engine tore apart rows that belong together; nothing was kept"
            raise EngineError(message)
        return total

    def _build_walk(self, always: AttributeSet, open_: Sequence[int]) -> PortionWalk:
        is_here = self._session.walks_here
        return PortionWalk(
            always=always,
            open_=tuple(open_),
            attributes=len(self.known),
            cardinalities=self._cardinalities,
            secret_totals=self._secret_totals,
            at_most=self.at_most,
            capacity=self.capacity,
            most_rows=self.most_rows,
            key=self._build_key(),
            threads=None if is_here else 1,
            divulge_version="" if is_here else version("divulge"),
        )

    def _build_key(self) -> dict[str, object]:
        named = {"known": list(self.known), "sought": list(self.sought)}
        options = {"capacity": self.capacity, "most_rows": self.most_rows, "version": _VERSION}
        return {"data": self.relation.fingerprint, **named, **options}

    def _count_sets(self, always: AttributeSet, open_: Sequence[int]) -> int:
        """How many sets hold `always` and any of `open_`."""
        sizes = range(0 if always else 1, self.at_most - len(always) + 1)
        return sum(comb(len(open_), size) for size in sizes)


@dataclass(frozen=True)
class _CodedValues:
    """Of an attribute how many codes there are, and the entropy of its values in bits."""

    cardinality: int
    entropy: float


@dataclass(frozen=True)
class _Blocks:
    """Rows that agree on some attributes: how many blocks, rows and records of the largest."""

    number: int
    longest: int
    largest: int

    def are_short(self, rows: int) -> bool:
        """Whether every one can be walked at once."""
        return self.longest <= rows and self.largest <= MOST_ROWS


@dataclass(frozen=True)
class _KeptRows:
    """Combinations of codes that a session keeps."""

    name: str
    rows: int
