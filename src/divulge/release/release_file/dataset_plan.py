"""The datasets of a release before they are read: where they are, and what they mean."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from divulge.data import Dataset, Hierarchy, Relation
from divulge.data.column_fate import Unlisted
from divulge.data.dictionary import find_name_problems, find_role_problems
from divulge.data.formats import Options
from divulge.data.hidden_marks import drop_status_names
from divulge.data.relation.lake_scan import (
    LakeSource,
    choose_engine,
    is_address,
    parse_memory_limit,
)
from divulge.data.source import Place, list_date_formats, read_marks
from divulge.release.release_file.settings import DatasetTable, HierarchyTable
from divulge.work import DivulgeError, Interruption, InvalidInput, Problems

READING_SETTINGS = ("file", "separator", "format", "lead", "total")
"""Of a hierarchy in a file: where it is, and how it is read."""
NAMING_SETTINGS = ("hierarchies", "descriptions", "labels", "units", "missing_codes", "publish")
"""Settings of a dataset that name attributes, besides its roles."""


_SETTINGS_OF_VALUES = ("missing_codes", "hidden", "protected")
"""Settings of a dataset by which values of its records are other ones."""


@dataclass(frozen=True, kw_only=True)
class DatasetPlan:
    """A dataset of a release before it is read: where it is and what it means."""

    name: str
    source: LakeSource
    engine: str | None = None
    """Who counts, as the file says it."""
    roles: Mapping[str, Sequence[str]]
    hierarchies: Mapping[str, Hierarchy]
    descriptions: Mapping[str, str]
    subjects: str
    labels: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    units: Mapping[str, str] = field(default_factory=dict)
    missing_codes: Mapping[str, Sequence[Any]] = field(default_factory=dict)
    publish: Sequence[str] = ()
    """Ids that go out although their roles are withheld."""
    unlisted: Unlisted | None = None
    """What becomes of attributes without a role; None: the release is not judged."""
    keep_order: bool = False
    protected: bool = False
    """Whether what is missing was hidden by an earlier protection."""
    hidden: str | None = None
    """What stands for a hidden value in the source."""
    names: Sequence[str] = ()
    """All attributes of the source, in its order."""

    def read(self) -> Dataset:
        """Read the records and describe them."""
        dataset = self.source.read(self.name, self.subjects)
        if isinstance(dataset, Relation):
            self._require_plain_values(dataset)
            return self.describe(dataset)
        return self.describe(read_marks(dataset, self.hidden, self.protected))

    def _require_plain_values(self, relation: Relation) -> None:
        """Refuse what says that values mean something else, where records are not read."""
        problems = Problems(f'dataset "{self.name}"')
        for setting in _SETTINGS_OF_VALUES:
            if getattr(self, setting):
                message = f"is read in memory only, and the records stay with {relation.engine}: "
                problems.add(setting, message + 'read them (engine = "memory").')
        problems.raise_any()

    def describe(self, dataset: Dataset) -> Dataset:
        """Records with what this plan says of their attributes."""
        return dataset.describe(
            self.roles,
            self.hierarchies,
            self.descriptions,
            self.labels,
            self.units,
            missing_codes=self.missing_codes,
        )


class DatasetLoader:
    """Turns the tables of datasets into plans, noting every problem on the way."""

    def __init__(self, folder: Path, names: dict[str, list[str]], problems: Problems) -> None:
        self.folder = folder
        self.names = names
        """The attributes of each dataset whose source can be used, by its name."""
        self.problems = problems

    def load(self, table: DatasetTable) -> DatasetPlan:
        """The plan of a dataset; the names in its source are read."""
        place = f'dataset "{table.name}"'
        options = Options(
            separator=table.separator,
            encoding=table.encoding,
            missing=tuple(table.missing),
            decimal=table.decimal,
            thousands=table.thousands,
            quote=table.quote,
            text=tuple(table.text),
            table=table.table,
            header=table.header,
            dates=list_date_formats(table.dates),
        )
        source = self._build_source(table, options, place)
        try:
            names = source.names()
        except InvalidInput as error:
            self.problems.add(f"{place}, source", str(error))
        except OSError as error:
            reason = (error.strerror or "no reason is given").lower()
            self.problems.add(f"{place}, source", f"cannot be used: {reason}.")
        else:
            if table.hidden is not None:
                names = drop_status_names(names)
            self.names[table.name] = names
            self.problems.extend(place, find_role_problems(table.roles, names))
            for setting in NAMING_SETTINGS:
                content = getattr(table, setting)
                self.problems.extend(place, find_name_problems(setting, content, names))
        hierarchies = {}
        for attribute, content in table.hierarchies.items():
            try:
                hierarchies[attribute] = self._load_hierarchy(content)
            except Interruption:
                raise
            except DivulgeError as error:
                self.problems.add(f'{place}, hierarchies, "{attribute}"', f"{error}")
        return DatasetPlan(
            name=table.name,
            source=source,
            engine=table.engine,
            roles=table.roles,
            hierarchies=hierarchies,
            descriptions=table.descriptions,
            subjects=table.subjects,
            labels=table.labels,
            units=table.units,
            missing_codes=table.missing_codes,
            publish=table.publish,
            unlisted=table.unlisted,
            keep_order=table.keep_order,
            protected=table.protected,
            hidden=table.hidden,
            names=tuple(self.names.get(table.name, ())),
        )

    def _build_source(self, table: DatasetTable, options: Options, place: str) -> LakeSource:
        """Where the records are, and who counts them."""
        path = self._resolve_source(table.source)
        engine, memory_limit = "memory", None
        try:
            engine = choose_engine(path, table.engine or "auto")
            memory_limit = parse_memory_limit(table.memory_limit)
        except InvalidInput as error:
            self.problems.extend(place, error.problems)
        return LakeSource(
            path=path,
            engine=engine,
            options=options,
            columns=table.columns,
            memory_limit=memory_limit,
        )

    def _resolve_source(self, source: str | list[str]) -> Place:
        """A source as it is meant in the release file: files are relative to it."""
        if isinstance(source, str):
            return source if is_address(source) else self.folder / source
        return tuple(self.folder / path for path in source)

    def _load_hierarchy(self, rule: str | HierarchyTable) -> Hierarchy:
        if isinstance(rule, str):
            return Hierarchy.from_file(self.folder / rule)
        settings = rule.model_dump(exclude_none=True)
        reading = {name: settings.pop(name) for name in READING_SETTINGS if name in settings}
        if "file" not in reading:
            if reading:
                raise DivulgeError(f"{', '.join(reading)} says how a file is read: give file, too.")
            return Hierarchy.from_settings(settings)
        if settings:
            raise DivulgeError(f"file is a hierarchy of its own; leave out {', '.join(settings)}.")
        return Hierarchy.from_file(self.folder / reading.pop("file"), **reading)
