"""The cube over records that come in portions: rows in order of some attributes, block after block.

Of the sets that hold some attributes, every class lies within one of the blocks that these make. So
whole blocks may be walked apart, wherever they are, and what they lose adds up. It runs in this
process, or in a worker of a Spark server, which gets this object by pickle.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from importlib.metadata import version
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from divulge.records.sweep.cube_rows import CubeAttribute
from divulge.records.sweep.set_bits import MOST_NARROW, SetBits, choose_bit_type
from divulge.records.sweep.subset_cube import MOST_ROWS, SubsetCounts, SubsetCube
from divulge.work import Interruption
from divulge.work.arrays import Ints

if TYPE_CHECKING:
    import pyarrow as pa

COUNT = "n"
"""The column that says how many records a row stands for."""
SETS = "sets"


def name_known(place: int) -> str:
    """The column with the codes of an attribute that may be known."""
    return f"k{place}"


def name_sought(place: int) -> str:
    """The column with the codes of a secret."""
    return f"x{place}"


@dataclass(frozen=True, kw_only=True)
class PortionWalk:
    """Which sets are walked over rows of codes: those that hold `always`, and any of `open_`."""

    always: Sequence[int]
    open_: Sequence[int]
    attributes: int
    """How many attributes there are in all; places are among these."""
    cardinalities: Mapping[int, int]
    """How many codes each attribute has."""
    secret_totals: Sequence[Ints]
    """Of each secret how often each code occurs among all records."""
    at_most: int
    capacity: bool
    most_rows: int
    """Rows that are walked at once, if no block is longer."""
    key: Mapping[str, object]
    """What identifies the data, for a run that is resumed."""
    threads: int | None = None
    divulge_version: str = ""
    """Of whoever asks: a worker of another version might count something else."""

    def count_portion(
        self, table: pa.Table, number: int = 0, advance: Callable[[float], None] = lambda _: None
    ) -> SubsetCounts:
        """What every set loses in these rows, which hold whole blocks."""
        counts = _take_codes(table, COUNT)
        counts = counts.astype(np.int32)
        places = [*self.always, *self.open_]
        cube = SubsetCube(
            [
                CubeAttribute(_take_codes(table, name_known(i)), self.cardinalities[i], counts)
                for i in places
            ],
            [
                CubeAttribute(_take_codes(table, name_sought(i)), len(totals), counts, totals)
                for i, totals in enumerate(self.secret_totals)
            ],
            at_most=self.at_most,
            capacity=self.capacity,
            key=lambda: {**self.key, **self._identify_portion(table, number)},
            threads=self.threads,
        )
        if self.always:
            found = cube.count_supersets(range(len(self.always)), advance)
        else:
            found = cube.count_subsets()
        return replace(found, sets=self._name_sets(found.sets, places))

    def _identify_portion(self, table: pa.Table, number: int) -> dict[str, object]:
        """What tells a portion from others: whole blocks in order are told by the first and last.

        An engine that hands its rows over in other batches may cut elsewhere in another run.
        """
        ends = [
            [int(table.column(name_known(place))[row].as_py()) for place in self.always]
            for row in (0, table.num_rows - 1)
        ]
        walked = {"always": list(self.always), "open": list(self.open_)}
        return {**walked, "number": number, "rows": table.num_rows, "ends": ends}

    def list_portions(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.Table]:
        """The rows in portions of whole blocks; `batches` are in the order of `always`."""
        import pyarrow as pa

        waiting: list[pa.RecordBatch] = []
        rows = 0
        for piece in _cut_batches(batches, self.most_rows):
            waiting.append(piece)
            rows += piece.num_rows
            if rows < self.most_rows:
                continue
            table = pa.Table.from_batches(waiting).combine_chunks()
            end = self._find_last_block(table)
            if end:
                yield from self._cut_by_records(table.slice(0, end))
            rest = table.slice(end)
            waiting, rows = rest.to_batches(), rest.num_rows
        if rows:
            yield from self._cut_by_records(pa.Table.from_batches(waiting).combine_chunks())

    def _cut_by_records(self, table: pa.Table) -> Iterator[pa.Table]:
        """Whole blocks of no more records than a walk can count."""
        records = np.cumsum(_take_codes(table, COUNT), dtype=np.int64)
        if records[-1] <= MOST_ROWS:
            yield table
            return
        is_first = np.zeros(table.num_rows, bool)
        for place in self.always:
            codes = _take_codes(table, name_known(place))
            is_first[1:] |= codes[1:] != codes[:-1]
        ends = [*np.flatnonzero(is_first).tolist(), table.num_rows]
        start, taken = 0, 0
        for place, end in enumerate(ends):
            following = ends[min(place + 1, len(ends) - 1)]
            if following == end or records[following - 1] - taken > MOST_ROWS:
                yield table.slice(start, end - start)
                start, taken = end, int(records[end - 1])

    def walk(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """What each portion loses, as a table; this runs where the rows are, in any order."""
        import pyarrow as pa

        if version("divulge") != self.divulge_version:
            raise ImportError("divulge of another version")
        part = list(batches)
        if not part:
            return
        order = [(name_known(place), "ascending") for place in self.always]
        table = pa.Table.from_batches(part).sort_by(order).combine_chunks()
        for number, portion in enumerate(self.list_portions(iter(table.to_batches()))):
            yield from self.to_table(self.count_portion(portion, number)).to_batches()

    def to_table(self, counts: SubsetCounts) -> pa.Table:
        """Counts as a table that an engine can add up."""
        import pyarrow as pa

        sets = counts.sets if self._has_narrow_sets else [str(each) for each in counts.sets]
        columns: dict[str, Any] = {SETS: sets}
        columns |= {f"noted{i}": column for i, column in enumerate(counts.noted.T)}
        columns |= {f"capacity{i}": column for i, column in enumerate(counts.capacity.T)}
        return pa.table(columns, schema=self.build_schema())

    def build_schema(self) -> pa.Schema:
        """The columns of such a table."""
        import pyarrow as pa

        from divulge.records.sweep import cube_kernels

        several = len(self.secret_totals)
        fields = [(SETS, pa.int64() if self._has_narrow_sets else pa.string())]
        noted = cube_kernels.SECRETS + 2 * several
        fields += [(f"noted{i}", pa.int64()) for i in range(noted)]
        fields += [(f"capacity{i}", pa.float64()) for i in range(several * self.capacity)]
        return pa.schema(fields)

    def build_reduction(self) -> str:
        """The query that adds such tables up."""
        from divulge.records.sweep import cube_kernels

        def reduce(name: str) -> str:
            if name == f"noted{cube_kernels.SMALLEST}":
                return f"min({name}) AS {name}"
            if name.startswith("noted"):
                return f"CAST(sum({name}) AS BIGINT) AS {name}"
            return f"sum({name}) AS {name}"

        columns = ", ".join(reduce(name) for name in self.build_schema().names if name != SETS)
        return f"SELECT {SETS}, {columns} FROM parts GROUP BY {SETS}"

    def from_table(self, table: pa.Table) -> SubsetCounts:
        """Counts that came home."""
        values = {name: table.column(name).to_numpy() for name in table.column_names}

        def stack(kind: str, dtype: type) -> Any:
            columns = [values[name] for name in values if name.startswith(kind)]
            empty = np.empty((table.num_rows, 0), dtype)
            return np.column_stack(columns) if columns else empty

        arrays = {"noted": stack("noted", np.int64), "capacity": stack("capacity", np.float64)}
        return self.from_arrays({SETS: values[SETS], **arrays})

    def to_arrays(self, counts: SubsetCounts) -> dict[str, npt.NDArray[Any]]:
        """Counts as they are remembered."""
        sets = counts.sets if self._has_narrow_sets else np.array([str(s) for s in counts.sets])
        return {SETS: sets, "noted": counts.noted, "capacity": counts.capacity}

    def from_arrays(self, arrays: Mapping[str, npt.NDArray[Any]]) -> SubsetCounts:
        """Counts that were remembered."""
        sets = arrays[SETS]
        if not self._has_narrow_sets:
            sets = np.array([int(each) for each in sets], choose_bit_type(self.attributes))
        nothing = np.zeros((len(sets), 0))
        return SubsetCounts(sets, arrays["noted"], arrays["capacity"], nothing)

    def count_blocks(self, counts: SubsetCounts, records: int) -> int:
        """How many classes of `always` were counted: as many as there are blocks."""
        from divulge.records.sweep import cube_kernels

        own = sum(1 << place for place in self.always)
        [noted] = counts.noted[counts.sets == own]
        of_size = noted[2:10]
        alone = records - noted[cube_kernels.RECORDS] - int(np.dot(of_size, np.arange(2, 10)))
        return int(alone + of_size.sum() + noted[cube_kernels.TEN_OR_MORE])

    @property
    def _has_narrow_sets(self) -> bool:
        return self.attributes <= MOST_NARROW

    def _name_sets(self, sets: SetBits, places: Sequence[int]) -> SetBits:
        """Sets over the attributes of these rows, as sets over all."""
        bit_type = choose_bit_type(self.attributes)
        named: SetBits = np.zeros(len(sets), bit_type)
        for bit, place in enumerate(places):
            named |= ((sets >> bit) & 1).astype(bit_type) << place
        return named

    def _find_last_block(self, table: pa.Table) -> int:
        """Where the last block begins, of which more may come."""
        last = np.ones(table.num_rows, bool)
        for place in self.always:
            codes = _take_codes(table, name_known(place))
            last &= codes == codes[-1]
        return int(np.argmax(last))


def _cut_batches(batches: Iterator[pa.RecordBatch], rows: int) -> Iterator[pa.RecordBatch]:
    for batch in batches:
        for start in range(0, batch.num_rows, rows):
            yield batch.slice(start, rows)


def _take_codes(table: pa.Table, name: str) -> Ints:
    """A column of whole numbers, in one piece."""
    column = table.column(name)
    if column.null_count:
        raise Interruption("the records changed while they were counted: scan them again")
    return np.asarray(column.to_numpy())
