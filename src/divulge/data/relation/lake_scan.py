"""Scanning: records are looked at where they are, and stay there.

What is learned is what a plan needs: names, types, how many there are, and a fingerprint by which a
change is seen. `engine="auto"` reads what fits into memory and leaves the rest where it is.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from glob import glob, has_magic
from pathlib import Path
from typing import TYPE_CHECKING, Any

from divulge.data import tuning
from divulge.data.dataset import DEFAULT_SUBJECTS, Dataset, check_names
from divulge.data.dictionary import (
    Dictionary,
    RoleAssignment,
    as_names,
    find_name_problems,
    find_repeated_names,
)
from divulge.data.files import derive_dataset_name, describe_files, list_files
from divulge.data.formats import Options, find_format
from divulge.data.formats.duckdb_file import find_database_table
from divulge.data.formats.file_signature import DUCKDB, PARQUET
from divulge.data.formats.postgres import is_address as is_postgres
from divulge.data.relation.relation import ColumnsElsewhere, Relation, check_types
from divulge.data.source import Place, Source
from divulge.engines import DatabaseTable, Lake, LakeTable, ParquetFiles
from divulge.engines.lake import RAW, open_raw, read_lake_names
from divulge.engines.spark import SCHEME, hide_secrets, split_address
from divulge.work import InvalidInput, MemoryPlan, Problem, Problems, note_input

if TYPE_CHECKING:
    import pyarrow as pa

    from divulge.data.hierarchies.hierarchy import Hierarchy

ENGINES = ("auto", "memory", "duckdb", "sail", "sc://...")
READING_ENGINES = ("auto", "memory")
"""Those by which records may be read."""
_UNITS = {"kb": 10**3, "mb": 10**6, "gb": 10**9, "kib": 2**10, "mib": 2**20, "gib": 2**30}


def scan(
    place: Place,
    roles: RoleAssignment | None = None,
    hierarchies: Mapping[str, Hierarchy | Path | str] | None = None,
    columns: str | Sequence[str] | None = None,
    *,
    engine: str | None = None,
    table: str | None = None,
    name: str | None = None,
    subjects: str = DEFAULT_SUBJECTS,
    memory_limit: str | int | None = None,
) -> Dataset:
    r"""Look at records where they are, and leave them there: a `Relation`.

    Args:
        place: a Parquet file, several, a folder or a pattern (`lake/*.parquet`); a DuckDB database;
            or `sc://host:port`, a Spark Connect server, with a `table` that it knows.
        roles: which attributes are identifiers, quasi-identifiers, sensitive, and so on.
        hierarchies: per attribute a `Hierarchy`, or a file of levels.
        columns: only these attributes are looked at.
        engine: who counts. `duckdb` if not given, here, within a limit of memory, and on disk where
            that does not do; `sail`, in this process; `sc://host:port`, a server that sees the same
            files; `memory` reads them; `auto` reads what fits into memory and counts the rest by
            DuckDB (`choice` of the relation says why).
        table: of a database or a server.
        name: what the dataset is called in results.
        subjects: whom or what the records are about, for sentences.
        memory_limit: what DuckDB may hold before it writes to disk: `"2GB"`, or bytes; a share of
            the free memory if not given.

    Raises:
        InvalidInput: if there is nothing to scan, files differ in their columns, or a column has a
            type that cannot be counted.
        EngineError: if the engine does not answer.

    >>> import tempfile
    >>> import pyarrow as pa, pyarrow.parquet as pq
    >>> lake = Path(tempfile.mkdtemp())
    >>> for part in range(2):
    ...     pq.write_table(pa.table({"age": [25, part]}), lake / f"part{part}.parquet")
    >>> scan(lake / "*.parquet", roles={"quasi_identifier": "age"}, name="people")
    Dataset "people": 4 records, 1 attributes (1 quasi_identifier), counted by duckdb
    """
    chosen = choose_engine(place, engine)
    source = LakeSource(
        path=place,
        engine=chosen,
        options=Options(table=table),
        columns=None if columns is None else as_names(columns),
        memory_limit=parse_memory_limit(memory_limit),
    )
    return source.read(name, subjects).describe(roles, hierarchies)


@dataclass(frozen=True, kw_only=True)
class LakeSource:
    """Where records are that may stay there, and who counts them; names can be asked before.

    >>> LakeSource(path="sc://lake:15002/;token=secret", engine="sail").said
    'sc://lake:15002'
    """

    path: Place = field(repr=False)
    engine: str = field(repr=False)
    """`memory`, `duckdb`, `sail`, the address of a server (it may hold a token); or `auto`."""
    options: Options = field(default_factory=Options)
    columns: Sequence[str] | None = None
    memory_limit: int | None = None

    @property
    def said(self) -> str:
        """The source as messages name it, without what may be secret in an address."""
        if isinstance(self.path, str) and self.path.startswith(SCHEME):
            return hide_secrets(self.path)
        return self._build_source(self.path).said

    def list_files(self) -> list[Path]:
        """The files or folders that it reads; none of a database or a server."""
        if is_address(self.path):
            return []
        files = expand_place(self.path)
        return [Path(files)] if isinstance(files, str | Path) else [Path(path) for path in files]

    def names(self) -> list[str]:
        """The names of the attributes that would be looked at, checked."""
        files = expand_place(self.path)
        if self.engine in READING_ENGINES:
            return self._build_source(files).names()
        lake, names = _find_lake(files, self.engine, self.options.table)
        return self._choose_names(_describe_lake(lake), names)

    def read(self, name: str | None = None, subjects: str = DEFAULT_SUBJECTS) -> Dataset:
        """A relation, or (with `memory`, or with `auto` where they fit) the records themselves."""
        files = expand_place(self.path)
        choice = ""
        if self.engine in READING_ENGINES:
            choice = self._explain_staying(files)
            if not choice:
                return self._build_source(files).read(name, subjects)
        engine = "duckdb" if choice else self.engine
        lake, names = _find_lake(files, engine, self.options.table)
        column_names = self._choose_names(_describe_lake(lake), names)
        relation = _look_at(lake, names, column_names, limit=self.memory_limit)
        name = name or _derive_name(files, self.options.table)
        relation = replace(relation, name=name, subjects=subjects, choice=choice)
        return relation.select(column_names)

    def _explain_staying(self, files: Place) -> str:
        """Why records that an engine can count are not read: they would not fit; empty if so."""
        if self.engine == "memory" or not is_scannable(files):
            return ""
        source = self._build_source(files)
        rows = count_file_rows(list_files(files), self.options, self.memory_limit)
        plan = plan_reading(source.said, rows, len(source.names()))
        return "" if plan.fits() else plan.describe()

    def _build_source(self, files: Place) -> Source:
        return Source(files, self.options, self.columns)

    def _choose_names(self, said: str, names: list[str]) -> list[str]:
        check_names(names, said)
        column_names = list(names if self.columns is None else self.columns)
        problems = Problems(said)
        problems.extend("", find_name_problems("columns", column_names, names, "it"))
        for repeated in find_repeated_names(column_names):
            problems.add("columns", f'names "{repeated}" more than once.')
        problems.raise_any()
        return column_names


def is_address(place: Place) -> bool:
    """Whether a place is a database or a Spark server, and no file.

    >>> is_address("sc://lake:15002"), is_address("lake/*.parquet")
    (True, False)
    """
    return isinstance(place, str) and (place.startswith(SCHEME) or is_postgres(place))


def is_scannable(place: Place) -> bool:
    """Whether DuckDB can count records where they are: Parquet files, or one of its databases."""
    if is_address(place):
        return False
    kinds = [find_format(path).kind for path in list_files(place)]
    return kinds == [DUCKDB] or set(kinds) == {PARQUET}


def plan_reading(name: str, rows: int, columns: int) -> MemoryPlan:
    """What it would take to read records and to count their classes."""
    needs = {
        "codes": rows * (columns + 1) * tuning.BYTES_PER_CODE,
        "classes": rows * tuning.BYTES_PER_CLASSIFIED_RECORD,
    }
    return MemoryPlan(f"reading {name}", needs)


def count_file_rows(files: Sequence[Path], options: Options, memory_limit: int | None) -> int:
    """How many records Parquet files or a database's table have, without a look at them."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    if find_format(files[0]).kind == DUCKDB:
        lake = DatabaseTable(files[0], find_database_table(files[0], options))
        with open_raw(lake, memory_limit) as session:
            return int(session.arrays(f"SELECT count(*) AS n FROM {RAW}")["n"][0])
    try:
        return sum(pq.read_metadata(path).num_rows for path in files)
    except (pa.ArrowException, OSError, UnicodeDecodeError):
        return 0  # whoever reads it says what is wrong


def choose_engine(place: Any, engine: str | None) -> str:
    """Who counts: as the caller says, else as the place does.

    >>> choose_engine("lake/*.parquet", None), choose_engine("sc://lake:15002", None)
    ('duckdb', 'sc://lake:15002')
    """
    at_server = isinstance(place, str) and place.startswith(SCHEME)
    engine = str(place) if at_server and engine in (None, "auto") else engine or "duckdb"
    if engine not in ENGINES[:-1] and not engine.startswith(SCHEME):
        problem = Problem("engine", f'"{engine}" is not an engine.', engine, ENGINES)
        raise InvalidInput("scan", [problem])
    if engine.startswith(SCHEME) and not split_address(engine)[0]:
        raise InvalidInput("scan", [Problem("engine", 'names no server: write "sc://host:port".')])
    if at_server and engine not in ("auto", place):
        message = "the records are behind a server, which counts them itself: leave it out."
        raise InvalidInput("scan", [Problem("engine", message)])
    return engine


def parse_memory_limit(limit: str | int | None) -> int | None:
    """A limit of memory in bytes.

    >>> parse_memory_limit("1.5GB"), parse_memory_limit(None)
    (1500000000, None)
    """
    if limit is None:
        return None
    number = limit if isinstance(limit, int) and not isinstance(limit, bool) else None
    if isinstance(limit, str):
        match = re.fullmatch(r"(\d+(?:\.\d+)?)\s*([kmg]i?b)", limit.strip().lower())
        number = None if match is None else int(float(match[1]) * _UNITS[match[2]])
    if number is None or number < tuning.LEAST_MEMORY_LIMIT:
        message = 'is a size such as "2GB" or "800MiB", or a number of bytes, 64 MiB or more.'
        raise InvalidInput("scan", [Problem("memory_limit", message)])
    return number


def expand_place(place: Place) -> Place:
    """The files of a pattern, by name; any other place as it is."""
    if not isinstance(place, str | Path):
        return place
    text = str(place)
    if text.startswith(SCHEME) or is_postgres(text) or not has_magic(text) or Path(text).exists():
        return place
    # Path.glob takes no pattern that begins at the root.
    files = sorted(path for path in glob(text, recursive=True) if Path(path).is_file())  # noqa: PTH207
    if not files:
        raise InvalidInput(text, [Problem("", "no file has a name of this pattern.")])
    if "**" in text:  # what is written below would be read by the next run
        note_input(Path(f"{text[: text.index('**')]}.").parent)
    return [Path(path) for path in files]


def _find_lake(place: Place, engine: str, table: str | None) -> tuple[Lake, list[str]]:
    """Where the records are, and the names of all their columns."""
    if isinstance(place, str) and place.startswith(SCHEME):
        if not table:
            message = "is missing: which table of the server?"
            raise InvalidInput(hide_secrets(place), [Problem("table", message)])
        lake = LakeTable(place, table)
        return lake, read_lake_names(lake)
    if isinstance(place, str) and is_postgres(place):
        message = "a PostgreSQL database is read (dv.read), not scanned."
        raise InvalidInput("scan", [Problem("", message)])
    files = list_files(place)
    for path in files:
        note_input(path)
    format_ = find_format(files[0])
    if format_.kind == DUCKDB and len(files) == 1:
        if engine != "duckdb":
            message = "a DuckDB database is counted by DuckDB alone."
            raise InvalidInput("scan", [Problem("engine", message)])
        found = find_database_table(files[0], Options(table=table))
        return DatabaseTable(files[0], found), format_.read_names(files[0], Options(table=table))
    others = [path for path in files if find_format(path).kind != PARQUET]
    if others:
        message = f"is {find_format(others[0]).kind}: only Parquet files and DuckDB databases are "
        message += "scanned. Read it (dv.read), or write it as Parquet."
        raise InvalidInput(str(others[0]), [Problem("", message)])
    _check_same_schema(files)
    return ParquetFiles(tuple(files), engine), format_.read_names(files[0], Options())


def _check_same_schema(files: Sequence[Path]) -> None:
    """Every file has the columns of the first, in its order and of its types.

    Engines would go on with the columns of one file, and turn the values of another into its types.
    """
    problems = Problems(describe_files(files))
    first = _read_types(files[0])
    for path in files[1:]:
        types = _read_types(path)
        for verb, names in (
            ("lacks", [name for name in first if name not in types]),
            ("also has", [name for name in types if name not in first]),
        ):
            for name in names[: tuning.MAX_DIFFERENCES_SHOWN]:
                problems.add(path.name, f'{verb} "{name}", unlike {files[0].name}.')
        for name, kind in types.items():
            if name in first and kind != first[name]:
                message = f"is {kind} where {files[0].name} has {first[name]}."
                problems.add(f'{path.name}, column "{name}"', message)
        if set(types) == set(first) and list(types) != list(first):
            problems.add(path.name, f"has its columns in another order than {files[0].name}.")
    problems.raise_any()


def _read_types(path: Path) -> dict[str, pa.DataType]:
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        schema = pq.read_schema(path)
    except (pa.ArrowException, OSError, UnicodeDecodeError):
        message = "is a Parquet file that is damaged or cut off."
        raise InvalidInput(str(path), [Problem("", message)]) from None
    return {
        field.name: field.type.value_type if pa.types.is_dictionary(field.type) else field.type
        for field in schema
    }


def _look_at(
    lake: Lake, names: Sequence[str], column_names: Sequence[str], *, limit: int | None
) -> Relation:
    said = _describe_lake(lake)
    mark = lake.find_fingerprint(None) if lake.has_cheap_fingerprint else ""
    with open_raw(lake, limit) as session:
        types = session.schema(RAW).types
        kinds = dict(zip(names, types, strict=True))
        check_types(said, {name: kinds[name] for name in column_names})
        rows = int(session.arrays(f"SELECT count(*) AS n FROM {RAW}")["n"][0])
        if not lake.has_cheap_fingerprint:
            mark = lake.find_fingerprint(session)
    if rows == 0:
        raise InvalidInput(said, [Problem("", "has no records.")])
    return Relation(
        columns=ColumnsElsewhere(said, lake.engine, names),
        dictionary=Dictionary.of(names),
        lake=lake,
        kinds=kinds,
        places={name: place for place, name in enumerate(names)},
        records=rows,
        mark=mark,
        memory_limit=limit,
    )


def _describe_lake(lake: Lake) -> str:
    if isinstance(lake, ParquetFiles):
        return describe_files(lake.paths)
    if isinstance(lake, DatabaseTable):
        return str(lake.path)
    return f"{hide_secrets(lake.engine)}, table {lake.table}"


def _derive_name(place: Place, table: str | None) -> str:
    if isinstance(place, str) and place.startswith(SCHEME):
        return str(table)
    return derive_dataset_name(place)
