"""Reading data: from a file on disk to a described dataset."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from divulge.data.dataset import DEFAULT_SUBJECTS, Dataset, check_names
from divulge.data.dictionary import RolesGiven, problems_with_names
from divulge.data.formats import Options, format_of
from divulge.work import Problems

if TYPE_CHECKING:
    from divulge.data.hierarchy import Hierarchy


@dataclass(frozen=True)
class Source:
    """A file of data and how it is to be understood; its names can be asked before it is read."""

    path: Path
    options: Options = field(default_factory=Options)
    columns: Sequence[str] | None = None

    def names(self) -> list[str]:
        """The names of the attributes that would be read, checked."""
        found = format_of(self.path).names(self.path, self.options)
        check_names(found, str(self.path))
        problems = Problems(str(self.path))
        problems.extend("", problems_with_names("columns", self.columns or (), found, "the file"))
        problems.raise_any()
        return found if self.columns is None else list(self.columns)

    def read(self, name: str | None = None, subjects: str = DEFAULT_SUBJECTS) -> Dataset:
        """Read the records."""
        wanted = self.names()
        columns = format_of(self.path).columns(self.path, wanted, self.options)
        return Dataset(columns, name=name or self.path.stem, subjects=subjects).describe()


def read(
    path: Path | str,
    roles: RolesGiven | None = None,
    hierarchies: Mapping[str, Hierarchy | Path | str] | None = None,
    columns: Sequence[str] | None = None,
    separator: str | None = None,
    encoding: str | None = None,
    missing: Sequence[str] = ("",),
    name: str | None = None,
    subjects: str = DEFAULT_SUBJECTS,
) -> Dataset:
    r"""Read records from a CSV, Parquet or Arrow file.

    Args:
        path: the file; its ending says the format.
        roles: which attributes are identifiers, quasi-identifiers, sensitive, and so on.
        hierarchies: per attribute a `Hierarchy`, or a file of levels.
        columns: only these attributes are read.
        separator: what stands between the fields of a text file; found out if not given.
        encoding: of a text file; UTF-8, or what its byte order mark says, if not given.
        missing: what stands for a missing value in a text file.
        name: what the dataset is called in results; the file's name if not given.
        subjects: whom or what the records are about ("pupils"), for sentences.

    Raises:
        InvalidInput: with all that is wrong, and where.

    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp()) / "people.csv"
    >>> _ = path.write_text("age;sex\n25;F\n;M\n")
    >>> read(path, roles={"quasi_identifier": ["age", "sex"]}).to_arrow().to_pylist()
    [{'age': 25, 'sex': 'F'}, {'age': None, 'sex': 'M'}]
    """
    source = Source(Path(path), Options(separator, encoding, missing), columns)
    return source.read(name, subjects).describe(roles, hierarchies)
