"""A dataset: columns of codes, and the dictionary that says what they mean."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from divulge.data.column import Column, encode_array
from divulge.data.dictionary import (
    WITHHELD_ROLES,
    Dictionary,
    Role,
    RoleAssignment,
    as_names,
    find_name_problems,
    find_repeated_names,
    find_role_problems,
)
from divulge.data.hierarchies.hierarchy import Hierarchy
from divulge.data.values import convert_labels, convert_missing_codes
from divulge.work import (
    DivulgeError,
    Interruption,
    InvalidInput,
    Problem,
    Problems,
    usable_path,
)

if TYPE_CHECKING:
    import pandas as pd
    import polars as pl
    import pyarrow as pa

    from divulge.data.formats.text.text_style import TextStyle

DEFAULT_SUBJECTS = "records"


@dataclass(frozen=True, eq=False)
class Dataset:
    """Records that are to be published or already are, with what is known of their attributes.

    >>> import pyarrow as pa
    >>> people = Dataset.from_arrow(
    ...     pa.table({"id": [1, 2, 3], "sex": ["F", "M", None]}),
    ...     roles={"identifier": ["id"], "quasi_identifier": ["sex"]},
    ... )
    >>> people
    Dataset "data": 3 records, 2 attributes (1 identifier, 1 quasi_identifier)
    """

    columns: Mapping[str, Column]
    dictionary: Dictionary = field(default_factory=Dictionary)
    name: str = "data"
    subjects: str = DEFAULT_SUBJECTS
    style: TextStyle | None = None
    """How the text file was written that the records are from; what is written is alike."""

    @classmethod
    def from_arrow(
        cls,
        table: pa.Table,
        roles: RoleAssignment | None = None,
        hierarchies: Mapping[str, Hierarchy | Path | str] | None = None,
        name: str = "data",
        subjects: str = DEFAULT_SUBJECTS,
    ) -> Dataset:
        """From an Arrow table; nulls are missing values."""
        check_names(table.column_names, f'dataset "{name}"')
        problems = Problems(f'dataset "{name}"')
        if table.num_rows == 0:
            problems.add("", "has no records.")
        columns = {}
        for attribute in table.column_names:
            try:
                columns[attribute] = encode_array(table.column(attribute))
            except Interruption:
                raise
            except DivulgeError as error:
                problems.add(f'column "{attribute}"', f"{error}.")
        problems.raise_any()
        return cls(columns, name=name, subjects=subjects).describe(roles, hierarchies)

    @classmethod
    def from_pandas(cls, frame: pd.DataFrame, **described: Any) -> Dataset:
        """From a pandas data frame, without its index; takes what `from_arrow` takes."""
        import pyarrow as pa

        check_names([str(name) for name in frame.columns], "the data frame")
        problems = Problems("the data frame")
        arrays = {}
        for name in frame.columns:
            try:
                arrays[str(name)] = pa.array(frame[name], from_pandas=True)
            except UnicodeEncodeError:
                message = "contains text that is not Unicode (half a pair of surrogates)."
                problems.add(f'column "{name}"', message)
            except (pa.ArrowException, TypeError, OverflowError):
                message = "contains values of different kinds; make it numbers, text or dates."
                problems.add(f'column "{name}"', message)
        problems.raise_any()
        return cls.from_arrow(pa.table(arrays), **described)

    @classmethod
    def from_polars(cls, frame: pl.DataFrame, **described: Any) -> Dataset:
        """From a Polars data frame; takes what `from_arrow` takes."""
        return cls.from_arrow(frame.to_arrow(), **described)

    def describe(
        self,
        roles: RoleAssignment | None = None,
        hierarchies: Mapping[str, Hierarchy | Path | str] | None = None,
        descriptions: Mapping[str, str] | None = None,
        labels: Mapping[str, Mapping[Any, str]] | None = None,
        units: Mapping[str, str] | None = None,
        *,
        missing_codes: Mapping[str, Sequence[Any]] | None = None,
    ) -> Dataset:
        """The same records with another dictionary.

        Args:
            roles: attributes by role; none play any if not given.
            hierarchies: per attribute a hierarchy, or a file of levels; none if not given.
            descriptions: what attributes mean; what is not given here and below stays as it was.
            labels: what values mean, per attribute; a value may be given as text.
            units: in what numbers are measured.
            missing_codes: values that mean missing; a pair is all values from one to another.
        """
        problems = Problems(f'dataset "{self.name}"')
        problems.extend("", find_role_problems(roles or {}, self.names))
        for setting, value in (
            ("hierarchies", hierarchies),
            ("descriptions", descriptions),
            ("labels", labels),
            ("units", units),
            ("missing_codes", missing_codes),
        ):
            if value and not value.keys() <= self.columns.keys():
                problems.extend("", find_name_problems(setting, value, self.names))
        problems.raise_any()
        hierarchy_objects = {
            name: value if isinstance(value, Hierarchy) else Hierarchy.from_file(value)
            for name, value in (hierarchies or {}).items()
        }
        parts = Dictionary.of(
            self.columns, roles, hierarchy_objects, descriptions, before=self.dictionary
        )
        attributes = dict(parts.attributes)
        for name in dict.fromkeys((*(labels or {}), *(units or {}), *(missing_codes or {}))):
            before, kind = attributes[name], self._type_of(name)
            value_labels = (labels or {}).get(name)
            codes = (missing_codes or {}).get(name)
            attributes[name] = replace(
                before,
                labels=before.labels
                if value_labels is None
                else convert_labels(value_labels, kind),
                unit=(units or {}).get(name, before.unit),
                missing=before.missing if codes is None else convert_missing_codes(codes, kind),
            )
        return replace(self, dictionary=Dictionary(attributes))

    def _type_of(self, name: str) -> pa.DataType:
        """The type of the values of an attribute."""
        return self.columns[name].values.type

    @property
    def rows(self) -> int:
        """How many records there are."""
        return len(next(iter(self.columns.values())).codes) if self.columns else 0

    @property
    def names(self) -> list[str]:
        """The names of the attributes, in the order of the columns."""
        return list(self.columns)

    @property
    def roles(self) -> dict[Role, str | list[str]]:
        """Which attributes play which role, as they were given."""
        return self.dictionary.roles

    @property
    def quasi_identifiers(self) -> list[str]:
        """The attributes by which a record may be recognised."""
        return self.dictionary.having("quasi_identifier")

    def attributes(self, given: str | Iterable[str] | None, argument: str) -> list[str]:
        """The attributes that a caller names, checked; all quasi-identifiers if none are given."""
        names = self.quasi_identifiers if given is None else as_names(given)
        problems = Problems(f'dataset "{self.name}"')
        problems.extend("", find_name_problems(argument, names, self.names))
        if not names:
            problems.add(argument, "names no attribute, and no quasi-identifier is declared.")
        for name in find_repeated_names(names):
            problems.add(argument, f'names "{name}" more than once.')
        problems.raise_any()
        return names

    def codes(self, names: Iterable[str] | None = None) -> pa.Table:
        """The codes of some attributes as an Arrow table, for an engine; nothing is copied."""
        import pyarrow as pa

        column_names = self.names if names is None else list(names)
        return pa.table({name: pa.array(self.columns[name].codes) for name in column_names})

    def to_arrow(self) -> pa.Table:
        """The values as an Arrow table; missing ones are null."""
        import pyarrow as pa

        return pa.table({name: column.to_arrow() for name, column in self.columns.items()})

    def to_pandas(self) -> pd.DataFrame:
        """The values as a pandas data frame."""
        frame: pd.DataFrame = self.to_arrow().to_pandas()
        return frame

    def to_polars(self) -> pl.DataFrame:
        """The values as a Polars data frame."""
        import polars as pl

        frame = pl.from_arrow(self.to_arrow())
        assert isinstance(frame, pl.DataFrame)  # noqa: S101  # a table never gives a series
        return frame

    def write(
        self,
        path: Path | str,
        table: str | None = None,
        separator: str | None = None,
        overwrite: bool = False,
        guard_formulas: bool = True,
        *,
        with_ids: bool = False,
        encoding: str | None = None,
        decimal: str | None = None,
    ) -> None:
        """Write the records to a file; its ending says the format. It appears whole or not.

        Formats that have them keep descriptions, labels and codes that mean missing. All columns
        are written, in the order of the records: what may be published is for a release to say, or
        for `Protected.write`. Records of which protection has hidden something are not written
        together with identifiers and ids of people, households and groups unless `with_ids` says
        so. Hidden values are told apart from missing ones (`divulge.data.hidden_marks`).

        A text file is written as the one that the records are from: its separator, quotation mark,
        decimal mark, encoding, and formats of dates.

        Args:
            path: the file.
            table: the table of a DuckDB file.
            separator: what stands between the fields of a text file.
            overwrite: whether a file that exists may be replaced.
            guard_formulas: whether texts that a spreadsheet would run (`=HYPERLINK(...)`) get an
                apostrophe before them in a text file.
            with_ids: whether protected records may be written with what names people and clusters.
            encoding: of a text file.
            decimal: the mark before decimals in a text file.

        Raises:
            InvalidInput: if the file exists already, or cannot hold the records, or if protected
                records would be written with ids.
        """
        from divulge.data.formats import EncodedRecords, Options, write_records

        self._refuse_ids_of_protected(with_ids)
        written = self.as_written(path)
        attributes = {a.name: a for a in written.dictionary if a.name in written.columns}
        options = Options(
            separator=separator,
            table=table,
            guard_formulas=guard_formulas,
            encoding=encoding,
            decimal=decimal,
        )
        records = EncodedRecords(written.columns, attributes, self.style)
        write_records(records, usable_path(path), options, overwrite)

    def _refuse_ids_of_protected(self, with_ids: bool) -> None:
        from divulge.data.hidden_marks import has_hidden_cells

        ids = [name for role in WITHHELD_ROLES for name in self.dictionary.having(role)]
        if ids and not with_ids and has_hidden_cells(self):
            message = (
                "do not go out with protected records: use the write of the protection, select "
            )
            message += "the columns that go out, or say with_ids=True for a file that stays."
            names = ", ".join(f'"{name}"' for name in ids)
            raise InvalidInput(f'dataset "{self.name}"', [Problem("write", f"{names} {message}")])

    def as_written(self, path: Path | str) -> Dataset:
        """The dataset as a file of this name has it: values that were hidden are marked as such."""
        from divulge.data.formats import has_declared_missing, has_tagged_missing
        from divulge.data.hidden_marks import encode_hidden

        place = usable_path(path)
        return encode_hidden(
            self, has_tags=has_tagged_missing(place), has_codes=has_declared_missing(place)
        )

    def select(self, names: Iterable[str]) -> Dataset:
        """The same records with some of the attributes."""
        column_names = self.attributes(names, "select")
        columns = {name: self.columns[name] for name in column_names}
        return replace(self, columns=columns, dictionary=self.dictionary.only(column_names))

    def equals(self, other: Dataset) -> bool:
        """Whether both hold the same attributes with the same values in the same order."""
        return self.names == other.names and all(
            self.columns[name].equals(other.columns[name]) for name in self.names
        )

    @cached_property
    def fingerprint(self) -> str:
        """A digest of all values: two datasets with the same one are the same data."""
        import pyarrow as pa

        digest = hashlib.blake2b(digest_size=16)
        for name, column in self.columns.items():
            values = pa.table({name: column.values})
            sink = pa.BufferOutputStream()
            with pa.ipc.new_stream(sink, values.schema) as stream:
                stream.write_table(values)
            digest.update(sink.getvalue())
            digest.update(np.ascontiguousarray(column.codes).data)
        return digest.hexdigest()

    def to_dict(self) -> dict[str, Any]:
        """What it is, without a value of a record, as plain values."""
        return {
            "name": self.name,
            "records": self.rows,
            "subjects": self.subjects,
            "attributes": self.names,
            "roles": dict(self.roles),
        }

    def __repr__(self) -> str:
        # Never a value: a dataset is printed into logs and notebooks that are shared.
        parts = ", ".join(f"{len(as_names(names))} {role}" for role, names in self.roles.items())
        role_counts = f" ({parts})" if parts else ""
        return (
            f'Dataset "{self.name}": {self.rows:,} {self.subjects}, '
            f"{len(self.columns)} attributes{role_counts}"
        )


def check_names(names: list[str], subject: str) -> None:
    """Every column has a name, and no name occurs twice; else all that is wrong, at once."""
    problems = Problems(subject)
    for number, name in enumerate(names, start=1):
        if not name.strip():
            problems.add(f"column {number}", "has no name in the header; give it one there.")
        elif any("\ud800" <= letter <= "\udfff" for letter in name):
            message = "has a name that is not Unicode text (half a pair of surrogates)."
            problems.add(f"column {number}", message)
    first: dict[str, int] = {}
    for number, name in enumerate(names, start=1):
        if name.strip() and name in first:
            # The name itself is not shown: without a header it is a value of the first record.
            message = f"has the same name as column {first[name]}; names must differ."
            problems.add(f"column {number}", message)
        first.setdefault(name, number)
    if not names:
        problems.add("", "has no columns.")
    problems.raise_any()
