"""A release: loaded and checked for sense as a whole, before any record is read."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from math import inf
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pydantic import ValidationError

from divulge.assessment import Adversary, Limit, attacks
from divulge.data import Dataset, Hierarchy, Source
from divulge.data.dictionary import (
    ROLES,
    Role,
    as_names,
    problems_with_names,
    problems_with_roles,
)
from divulge.data.formats import Options
from divulge.data.formats.postgres import is_address
from divulge.data.reading import Place
from divulge.release.parse import parse, problems_of
from divulge.release.settings import (
    AdversaryTable,
    DatasetTable,
    HierarchyTable,
    LimitTable,
    ProtectionTable,
    ReleaseTable,
)
from divulge.work import DivulgeError, InvalidInput, Problems

if TYPE_CHECKING:
    from divulge.release.protected_release import ProtectedRelease
    from divulge.release.verdict import Verdict
    from divulge.release.writing import Also


@dataclass(frozen=True)
class DatasetPlan:
    """A dataset of a release before it is read: where it is and what it means."""

    name: str
    source: Source
    roles: Mapping[str, Sequence[str]]
    hierarchies: Mapping[str, Hierarchy]
    descriptions: Mapping[str, str]
    subjects: str
    labels: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    units: Mapping[str, str] = field(default_factory=dict)
    missing_codes: Mapping[str, Sequence[Any]] = field(default_factory=dict)

    def read(self) -> Dataset:
        """Read the records and describe them."""
        dataset = self.source.read(self.name, self.subjects)
        return dataset.describe(
            self.roles,
            self.hierarchies,
            self.descriptions,
            self.labels,
            self.units,
            self.missing_codes,
        )


@dataclass(frozen=True)
class Release:
    """What is to be published, who might attack it, and what they may learn."""

    path: Path
    datasets: Mapping[str, DatasetPlan]
    adversaries: Sequence[Adversary]
    limits: Sequence[Limit]
    methods: Sequence[str] = ()
    protection: ProtectionTable | None = None
    rules: Sequence[Path] = field(default=())

    @classmethod
    def load(cls, path: Path | str) -> Release:
        """Load a release file; what is wrong with it is said all at once.

        The names in data files are read, their records are not.

        Raises:
            InvalidInput: with every problem found, its place, what is allowed, the nearest match.
        """
        path = Path(path)
        tables, problems = parse(path)
        if tables is None:
            problems.raise_any()
        assert tables is not None  # noqa: S101  # parse gives tables or problems
        release = _Loader(path, tables, problems).load()
        problems.raise_any()
        return release

    def to_dict(self) -> dict[str, Any]:
        """What the release says, as plain values."""
        return {
            "datasets": {name: str(plan.source.path) for name, plan in self.datasets.items()},
            "adversaries": [
                {
                    "name": adversary.name,
                    "attack": adversary.attack,
                    "dataset": list(adversary.datasets),
                    **adversary.settings.model_dump(),
                }
                for adversary in self.adversaries
            ],
            "limits": [limit.to_dict() for limit in self.limits],
            "methods": list(self.methods),
            "rules": [str(path) for path in self.rules],
        }

    def decided_roles(self) -> dict[str, Role]:
        """The roles that this file gives, by attribute: what a user has decided."""
        return {
            attribute: role
            for plan in self.datasets.values()
            for role in ROLES
            for attribute in plan.roles.get(role, ())
        }

    def check(self) -> Verdict:
        """Run every attack, judge every limit, and give the verdict."""
        from divulge.release.check import check

        return check(self)

    def protect(
        self,
        out: Path | str | None = None,
        overwrite: bool = False,
        values: bool = False,
        also: Also | None = None,
    ) -> ProtectedRelease:
        """Change the data until every limit holds, attack them again, and write what may go out.

        Args:
            out: a folder for the protected data, the log of decisions and the result; nothing is
                written if it is not given, or if anything goes wrong.
            overwrite: whether files in the folder may be replaced (the originals never are).
            values: whether the log says what values were.
            also: writes something more into the folder before it appears, such as a report.

        Raises:
            OutOfReachError: if a limit cannot be reached, with what would be needed.
        """
        from divulge.release.protect import protect

        return protect(self, out, overwrite, values, also)


class _Loader:
    """Turns tables into a release, noting every problem on the way instead of stopping."""

    def __init__(self, path: Path, tables: ReleaseTable, problems: Problems) -> None:
        self.folder = path.parent
        self.path = path
        self.tables = tables
        self.problems = problems
        self.names: dict[str, list[str]] = {}

    def load(self) -> Release:
        datasets = {table.name: self._dataset(table) for table in self.tables.dataset}
        self._all_differ("dataset", [table.name for table in self.tables.dataset])
        self._all_differ("adversary", [table.name for table in self.tables.adversary])
        adversaries = [self._adversary(table) for table in self.tables.adversary]
        limits = [self._limit(n, table) for n, table in enumerate(self.tables.limit, start=1)]
        return Release(
            self.path,
            datasets,
            [adversary for adversary in adversaries if adversary is not None],
            [limit for limit in limits if limit is not None],
            tuple(self.tables.protection.methods) if self.tables.protection else (),
            self._protection(),
            self._rules(),
        )

    def _dataset(self, table: DatasetTable) -> DatasetPlan:
        place = f'dataset "{table.name}"'
        options = Options(
            table.separator,
            table.encoding,
            tuple(table.missing),
            table.decimal,
            table.thousands,
            table.quote,
            tuple(table.text),
            table.table,
            header=table.header,
        )
        source = Source(self._place(table.source), options, table.columns)
        try:
            names = source.names()
        except InvalidInput as error:
            self.problems.add(f"{place}, source", str(error))
        except OSError as error:
            reason = (error.strerror or "no reason is given").lower()
            self.problems.add(f"{place}, source", f"cannot be used: {reason}.")
        else:
            self.names[table.name] = names
            self.problems.extend(place, problems_with_roles(table.roles, names))
            for setting in ("hierarchies", "descriptions", "labels", "units", "missing_codes"):
                given = getattr(table, setting)
                self.problems.extend(place, problems_with_names(setting, given, names))
        hierarchies = {}
        for attribute, given in table.hierarchies.items():
            try:
                hierarchies[attribute] = self._hierarchy(given)
            except DivulgeError as error:
                self.problems.add(f'{place}, hierarchies, "{attribute}"', f"{error}")
        return DatasetPlan(
            table.name,
            source,
            table.roles,
            hierarchies,
            table.descriptions,
            table.subjects,
            table.labels,
            table.units,
            table.missing_codes,
        )

    def _place(self, given: str | list[str]) -> Place:
        """A source as it is meant in the release file: files are relative to it."""
        if isinstance(given, str):
            return given if is_address(given) else self.folder / given
        return tuple(self.folder / path for path in given)

    def _hierarchy(self, given: str | HierarchyTable) -> Hierarchy:
        if isinstance(given, str):
            return Hierarchy.from_file(self.folder / given)
        rules = given.model_dump(exclude_none=True)
        if len(rules) != 1:
            raise DivulgeError("give one of intervals, dates, prefixes, pairs, levels.")
        [(kind, setting)] = rules.items()
        if kind == "levels":
            return Hierarchy.from_levels(setting)
        if kind == "pairs":
            return Hierarchy.from_pairs(setting)
        make: Any = getattr(Hierarchy, kind)
        made: Hierarchy = make(*setting)
        return made

    def _adversary(self, table: AdversaryTable) -> Adversary | None:
        place = f'adversary "{table.name}"'
        found = len(self.problems)
        datasets = self._datasets_of(table, place)
        installed = attacks()
        if table.attack not in installed:
            message = f'"{table.attack}" is not an attack that is installed.'
            self.problems.add(f"{place}, attack", message, table.attack, installed)
            return None
        attack = installed[table.attack]
        given = table.model_extra or {}
        try:
            settings = attack.Settings.model_validate(given)
        except ValidationError as error:
            self.problems.extend(place, problems_of(error, attack.Settings, given))
            return None
        names = {name: self.names[name] for name in datasets if name in self.names}
        self.problems.extend(place, attack.problems(settings, names))
        if len(self.problems) > found:
            return None
        return Adversary(table.name, table.attack, tuple(datasets), settings)

    def _datasets_of(self, table: AdversaryTable, place: str) -> list[str]:
        known = [dataset.name for dataset in self.tables.dataset]
        if table.dataset is None:
            if len(known) > 1:
                self.problems.add(f"{place}, dataset", "is missing; name one.", "", known)
            return known[:1]
        if not table.dataset:
            self.problems.add(f"{place}, dataset", "names none.", "", known)
        for name in {name for name in table.dataset if table.dataset.count(name) > 1}:
            self.problems.add(f"{place}, dataset", f'names "{name}" more than once.')
        for name in table.dataset:
            if name not in known:
                message = f'the release has no dataset "{name}".'
                self.problems.add(f"{place}, dataset", message, name, known)
        return table.dataset

    def _limit(self, number: int, table: LimitTable) -> Limit | None:
        place = f"limit {number}"
        adversaries = [adversary.name for adversary in self.tables.adversary]
        if table.adversary is not None and table.adversary not in adversaries:
            message = f'the release has no adversary "{table.adversary}".'
            self.problems.add(f"{place}, adversary", message, table.adversary, adversaries)
        datasets = [dataset.name for dataset in self.tables.dataset]
        if table.dataset is not None and table.dataset not in datasets:
            message = f'the release has no dataset "{table.dataset}".'
            self.problems.add(f"{place}, dataset", message, table.dataset, datasets)
        try:
            limit = Limit(**table.model_dump())
        except InvalidInput as error:
            self.problems.extend(place, error.problems)
            return None
        if limit.of_assessment and not adversaries:
            self.problems.add(place, "limits an adversary, and the release names none.")
        if not limit.of_assessment:
            self._measured(place, limit, datasets)
        return limit

    def _measured(self, place: str, limit: Limit, datasets: list[str]) -> None:
        """The names in a limit of datasets; one that names nobody holds for every dataset."""
        limited = [name for name in datasets if name not in limit.others.values()]
        if limit.dataset is not None:
            limited = [limit.dataset]
        if not limited:
            message = "limits no dataset: what a limit compares with is not itself limited."
            self.problems.add(place, message)
        among = limit.options.get("among")
        given = {
            "attribute": [] if limit.attribute is None else [limit.attribute],
            "among": as_names(among) if isinstance(among, str | list) else [],
        }
        for name in limited:
            for setting, listed in given.items():
                names = self.names.get(name, listed)
                found = problems_with_names(setting, listed, names, f'dataset "{name}"')
                self.problems.extend(place, found)
        for option, name in limit.others.items():
            if name not in datasets:
                message = f'the release has no dataset "{name}".'
                self.problems.add(f"{place}, {option}", message, name, datasets)
            elif name == limit.dataset:
                self.problems.add(f"{place}, {option}", "names the dataset that is limited.")

    def _protection(self) -> ProtectionTable | None:
        table = self.tables.protection
        if table is None:
            return None
        everywhere = sorted({name for names in self.names.values() for name in names})
        for setting in ("never", "importance"):
            given = getattr(table, setting)
            found = problems_with_names(setting, given, everywhere, "no dataset of the release")
            for problem in found:
                message = f'no dataset has an attribute "{problem.value}".'
                self.problems.add(f"protection, {setting}", message, problem.value, everywhere)
        if not all(0 < figure < inf for figure in table.importance.values()):
            self.problems.add("protection, importance", "holds a figure that is not above 0.")
        return table

    def _rules(self) -> tuple[Path, ...]:
        files = (
            [self.folder / name for name in self.tables.rules.files] if self.tables.rules else []
        )
        for file in files:
            if not file.is_file():
                self.problems.add("rules, files", f'"{file.name}" does not exist.')
        return tuple(files)

    def _all_differ(self, kind: str, names: list[str]) -> None:
        for name in {name for name in names if names.count(name) > 1}:
            self.problems.add(f'{kind} "{name}"', "this name is given more than once.")
