"""A relation: records that stay where they are, with all that is known of them but the records.

It is a dataset without columns in memory: names, roles, rows, a fingerprint. What can be counted by
an engine is; whoever asks for a column is told that there is none here, and what can be done.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, NoReturn

from divulge.data.column import Column, encode_array, normalise_type
from divulge.data.dataset import Dataset
from divulge.data.dictionary import Dictionary
from divulge.engines import EngineError, Lake, LakeView, Session, open_views
from divulge.engines.spark import SCHEME, hide_secrets
from divulge.work import DivulgeError, InvalidInput, Problem, Problems

if TYPE_CHECKING:
    import pyarrow as pa


class RecordsElsewhere(InvalidInput):
    """Something needs the records in memory, and they are somewhere else."""


class ColumnsElsewhere(Mapping[str, Column]):
    """The names of columns that are not in memory; to ask for one of them is an error."""

    def __init__(self, dataset: str, engine: str, names: Iterable[str]) -> None:
        self._dataset = dataset
        self._engine = engine
        self._names = dict.fromkeys(names)

    def __getitem__(self, name: str) -> Column:
        if name not in self._names:
            raise KeyError(name)
        raise build_elsewhere_error(self._dataset, self._engine, "this")

    def __iter__(self) -> Iterator[str]:
        return iter(self._names)

    def __len__(self) -> int:
        return len(self._names)

    def __contains__(self, name: object) -> bool:
        return name in self._names


def build_elsewhere_error(dataset: str, engine: str, what: str) -> RecordsElsewhere:
    """What cannot be counted where the records are, and what can be done."""
    message = (
        f"{what} is counted in memory only, and the records stay with {engine}: read them "
        '(dv.read, or engine = "memory").'
    )
    return RecordsElsewhere(f'dataset "{dataset}"', [Problem("", message)])


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class Relation(Dataset):
    """Records that stay in files, in a database or behind a server, and are counted there.

    Made by `divulge.scan`. It goes where a dataset goes, if what is asked can be counted by an
    engine; else it says so.
    """

    lake: Lake
    kinds: Mapping[str, pa.DataType]
    """The type of each attribute, as the engine has it."""
    places: Mapping[str, int]
    """Which column of the lake each attribute is."""
    records: int
    mark: str
    """The fingerprint of the records when they were first looked at."""
    memory_limit: int | None = None
    choice: str = ""
    """Which engine counts, and why."""

    @property
    def rows(self) -> int:
        """How many records there are."""
        return self.records

    @property
    def engine(self) -> str:
        """Who counts: `duckdb`, `sail`, or the address of a server without what may be secret."""
        engine = self.lake.engine
        return hide_secrets(engine) if engine.startswith(SCHEME) else engine

    @property
    def fingerprint(self) -> str:
        """A digest of the records: two relations with the same one are the same data."""
        return f"{self.engine} {self.mark} {sorted(self.places.items())}"

    def select(self, names: Iterable[str]) -> Relation:
        """The same records with some of the attributes."""
        column_names = self.attributes(names, "select")
        return replace(
            self,
            columns=ColumnsElsewhere(self.name, self.engine, column_names),
            dictionary=self.dictionary.only(column_names),
            kinds={name: self.kinds[name] for name in column_names},
            places={name: self.places[name] for name in column_names},
        )

    def find_column(self, name: str) -> str:
        """What an attribute is called in SQL."""
        return f"c{self.places[name]}"

    def rename(self, names: Mapping[str, str]) -> Relation:
        """The same records with other names for attributes (theirs: ours)."""
        new_names = {name: names.get(name, name) for name in self.names}
        attributes = {
            new_names[name]: replace(attribute, name=new_names[name])
            for name, attribute in self.dictionary.attributes.items()
            if name in new_names
        }
        return replace(
            self,
            columns=ColumnsElsewhere(self.name, self.engine, new_names.values()),
            dictionary=Dictionary(attributes),
            kinds={new_names[name]: kind for name, kind in self.kinds.items()},
            places={new_names[name]: place for name, place in self.places.items()},
        )

    @contextmanager
    def open(self) -> Iterator[Session]:
        """A session in which the records are `records`.

        Raises:
            EngineError: if the engine is away, or if the records are not those that were scanned.
        """
        with open_relations({"records": self}) as session:
            yield session

    def offer_as(self, name: str) -> LakeView:
        """The records with the columns of the attributes, for a session."""
        kinds: list[pa.DataType | None] = [None] * (max(self.places.values()) + 1)
        for attribute, place in self.places.items():
            kinds[place] = self.kinds[attribute]
        return LakeView(name=name, lake=self.lake, kinds=kinds)

    def encode_values(self, name: str, values: pa.Array) -> Column:
        """Distinct values of an attribute as a column, coded and named as in memory."""
        return encode_array(values.cast(self.find_type(name)))

    def read(self) -> NoReturn:
        """There is no way back: records are read from where they are by `divulge.read`."""
        raise build_elsewhere_error(self.name, self.engine, "a relation")

    def to_dict(self) -> dict[str, Any]:
        """What it is, without a value of a record, as plain values."""
        return {**super().to_dict(), "engine": self.engine}

    def __repr__(self) -> str:
        return f"{super().__repr__()}, counted by {self.engine}"

    def find_type(self, name: str) -> pa.DataType:
        """The type that values of an attribute have in memory."""
        return find_value_type(self.kinds[name])

    def _type_of(self, name: str) -> pa.DataType:
        return self.find_type(name)

    def require_same(self, session: Session | None, name: str) -> None:
        """Refuse records that are not those that were scanned; `name` is theirs in a session."""
        if session is None and not self.lake.has_cheap_fingerprint:
            return  # one look at all records, at the end, tells the same
        if self.lake.find_fingerprint(session, f"raw_{name}") != self.mark:
            raise EngineError(
                f'the records of "{self.name}" changed since they were scanned: scan them again; '
                "nothing was kept of what was counted"
            )


@contextmanager
def open_relations(relations: Mapping[str, Relation]) -> Iterator[Session]:
    """A session in which each relation stands under its name.

    Raises:
        EngineError: if an engine is away, if it is not the same for all, or if the records are not
            those that were scanned.
    """
    for name, relation in relations.items():
        relation.require_same(None, name)
    limits = [each.memory_limit for each in relations.values() if each.memory_limit is not None]
    views = [relation.offer_as(name) for name, relation in relations.items()]
    with open_views(views, min(limits, default=None)) as session:
        yield session
        for name, relation in relations.items():
            relation.require_same(session, name)


def find_value_type(kind: pa.DataType) -> pa.DataType:
    """The type that values of a column have in memory.

    Raises:
        DivulgeError: if an attribute cannot have such values.

    >>> import pyarrow as pa
    >>> find_value_type(pa.int32())
    DataType(int64)
    """
    import pyarrow as pa

    if pa.types.is_dictionary(kind):
        kind = kind.value_type
    return normalise_type(pa.chunked_array([], kind)).type


def check_types(subject: str, kinds: Mapping[str, pa.DataType]) -> None:
    """Refuse columns that no attribute can be, all at once."""
    problems = Problems(subject)
    for name, kind in kinds.items():
        try:
            find_value_type(kind)
        except DivulgeError as error:
            problems.add(f'column "{name}"', f"{error}; leave it out (columns=...).")
    problems.raise_any()
