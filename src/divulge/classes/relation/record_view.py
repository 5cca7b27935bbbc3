"""Records as an engine sees them: those of one relation, or of several that are joined.

Whatever is counted is counted of a view: a table of an engine whose columns have names of ours. A
view remembers of which relations it is made, so that what was counted can be kept under their
fingerprints.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from divulge import work
from divulge.data.relation.relation import open_relations

if TYPE_CHECKING:
    import pyarrow as pa

    from divulge.data import Relation
    from divulge.engines import Session

RECORDS = "records"
EVERYBODY = "everybody"
"""A column that is the same for all: the class of somebody of whom nothing is known."""


@dataclass(frozen=True, kw_only=True)
class RecordView:
    """Records to be counted, each of them one row."""

    relations: tuple[Relation, ...]
    rows: int
    template: str = "SELECT * FROM {0}"
    """The query that makes the view, with a place for the name of each relation."""
    tables: tuple[tuple[str, pa.Table], ...] = ()
    """Small tables of ours that the query needs, by name."""

    @classmethod
    def from_relation(cls, relation: Relation) -> RecordView:
        """The records of one relation as they are."""
        return cls(relations=(relation,), rows=relation.rows)

    @property
    def fingerprint(self) -> str:
        """What the counts of this view depend on."""
        return f"{[each.fingerprint for each in self.relations]} {self.template}"

    def extend(self, columns: str, source: str = "") -> RecordView:
        """The same records with more columns; `source` is joined to them, as `v`."""
        template = f"SELECT v.*, {columns} FROM ({self.template}) AS v {source}"
        return replace(self, template=template)

    @contextmanager
    def open(self) -> Iterator[Session]:
        """A session in which the view is `records`."""
        with open_record_views({RECORDS: self}) as session:
            yield session


@contextmanager
def open_record_views(views: Mapping[str, RecordView]) -> Iterator[Session]:
    """A session in which each view stands under its name.

    Raises:
        EngineError: if an engine is away, or the records are not those that were scanned.
    """
    relations = {
        f"{name}_{place}": relation
        for name, view in views.items()
        for place, relation in enumerate(view.relations)
    }
    [subjects, *_] = [relation.subjects for relation in relations.values()]
    with work.step(f"Counting classes of {subjects}"), open_relations(relations) as session:
        for name, view in views.items():
            for table_name, table in view.tables:
                session.register(table_name, table)
            parts = [f"{name}_{place}" for place in range(len(view.relations))]
            session.define(
                name, f"SELECT *, 0 AS {EVERYBODY} FROM ({view.template.format(*parts)}) AS q"
            )
        yield session


def join_names(names: Iterable[str]) -> str:
    """Names of columns as SQL lists them."""
    return ", ".join(names)
