"""A release: loaded and checked for sense as a whole, before any record is read."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import inf
from pathlib import Path
from typing import TYPE_CHECKING, Any

from divulge.assessment import Adversary, Limit, find_attack
from divulge.data.dictionary import (
    ROLES,
    Role,
    find_name_problems,
)
from divulge.protection.recoding.utilities import find_utility_name_problems
from divulge.release.publication import find_publication_problems
from divulge.release.release_file.adversaries import AdversaryLoader
from divulge.release.release_file.dataset_plan import DatasetLoader, DatasetPlan
from divulge.release.release_file.limits import LimitLoader
from divulge.release.release_file.links import LinksLoader
from divulge.release.release_file.parse import parse_release
from divulge.release.release_file.settings import (
    ProtectionTable,
    ReleaseTable,
)
from divulge.release.rule_programs.rule_program import (
    RuleProgram,
    list_risk_measures,
    load_rule_program,
)
from divulge.work import Problems, checks

if TYPE_CHECKING:
    from divulge.release.output.output_files import ExtraWriter
    from divulge.release.protected_release import ProtectedRelease
    from divulge.release.rule_programs.rule_results import RuleResults
    from divulge.release.verdict import Verdict


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
    rule_program: RuleProgram | None = None
    """The rule files as one program."""
    rule_results: RuleResults | None = None
    """What followed from them, once the datasets were read."""
    accept_count_only: bool = False
    """Whether limits pass that hold only where hidden cells count as company."""
    title: str = ""
    """What is to be published, for people; none: the name of the file."""
    publisher: str = ""
    description: str = ""

    @property
    def name(self) -> str:
        """What is to be published, as people call it."""
        return self.title or self.path.name

    def title_to_dict(self) -> dict[str, str]:
        """What is to be published, and by whom, where the file says it."""
        texts = {
            "title": self.title,
            "publisher": self.publisher,
            "description": self.description,
        }
        return {key: text for key, text in texts.items() if text}

    @classmethod
    def load(cls, path: Path | str) -> Release:
        """Load a release file; what is wrong with it is said all at once.

        The names in data files are read, their records are not.

        Raises:
            InvalidInput: with every problem found, its place, what is allowed, the nearest match.
        """
        path = Path(path)
        tables, problems = parse_release(path)
        if tables is None:
            problems.raise_any()
        assert tables is not None  # noqa: S101  # parse gives tables or problems
        release = _Loader(path, tables, problems).build_release()
        problems.raise_any()
        problems.extend("", find_publication_problems(release))
        problems.raise_any()
        return release

    def to_dict(self) -> dict[str, Any]:
        """What the release says, as plain values."""
        return {
            "datasets": {name: plan.source.said for name, plan in self.datasets.items()},
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

    @property
    def pair_datasets(self) -> frozenset[str]:
        """Datasets that hold links, or what rules alone read: without limits, and none goes out."""
        of_limits = {
            limit.compared_datasets["links"]
            for limit in self.limits
            if "links" in limit.compared_datasets
        }
        of_adversaries = {
            name
            for adversary in self.adversaries
            for name in find_attack(adversary).companion_datasets(adversary.settings)
        }
        return frozenset(of_limits | of_adversaries) | self.rule_datasets

    @property
    def rule_datasets(self) -> frozenset[str]:
        """The datasets that rules read and of whose attributes nobody said what they are."""
        read = set() if self.rule_program is None else self.rule_program.dataset_names
        return frozenset(
            name for name, plan in self.datasets.items() if name in read and not plan.roles
        )

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
        from divulge.release.check_sources import check_release

        return check_release(self)

    def protect(
        self,
        out: Path | str | None = None,
        overwrite: bool = False,
        values: bool = False,
        also: ExtraWriter | None = None,
        *,
        revises: Path | str | None = None,
    ) -> ProtectedRelease:
        """Change the data until every limit holds, attack them again, and write what may go out.

        Args:
            out: a folder for the protected data, the log of decisions and the result; nothing is
                written if it is not given, or if anything goes wrong.
            overwrite: whether files in the folder may be replaced (the originals never are).
            values: whether the log says what values were.
            also: writes something more into the folder before it appears, such as a report.
            revises: the folder of an earlier protection of these data that was published: its
                random choices are kept (those of one in `out` itself are without this), and limits
                must also hold for somebody who has both.

        Raises:
            OutOfReachError: if a limit cannot be reached, with what would be needed.
        """
        from divulge.release.protect import protect_release

        return protect_release(self, out, overwrite, values, also, revises=revises)


class _Loader:
    """Turns tables into a release, noting every problem on the way instead of stopping."""

    def __init__(self, path: Path, tables: ReleaseTable, problems: Problems) -> None:
        self.folder = path.parent
        self.path = path
        self.tables = tables
        self.problems = problems
        self.names: dict[str, list[str]] = {}
        self.datasets = DatasetLoader(self.folder, self.names, problems)
        self.links = LinksLoader(tables, self.names, problems)
        self.rule_paths: tuple[Path, ...] = ()
        self.rules: RuleProgram | None = None

    def build_release(self) -> Release:
        datasets = {table.name: self.datasets.load(table) for table in self.tables.dataset}
        self._require_unique_names("dataset", [table.name for table in self.tables.dataset])
        self._require_unique_names("adversary", [table.name for table in self.tables.adversary])
        self.rule_paths = self._find_rule_files()
        self.rules = self._load_rules(self.rule_paths)
        if self.rules is not None:
            self.names |= {name: list(pair) for name, pair in self.rules.pairs.items()}
        self.links.check_common_links()
        adversary_loader = AdversaryLoader(
            tables=self.tables,
            names=self.names,
            links=self.links,
            rules=self.rules,
            problems=self.problems,
        )
        adversaries = [adversary_loader.load(table) for table in self.tables.adversary]
        limit_loader = LimitLoader(
            tables=self.tables,
            names=self.names,
            links=self.links,
            rules=self.rules,
            problems=self.problems,
        )
        limits = [limit_loader.load(n, table) for n, table in enumerate(self.tables.limit, start=1)]
        return Release(
            self.path,
            datasets,
            [adversary for adversary in adversaries if adversary is not None],
            [limit for limit in limits if limit is not None],
            tuple(self.tables.protection.methods) if self.tables.protection else (),
            self._load_protection(),
            self.rule_paths,
            rule_program=self.rules,
            accept_count_only=self.tables.accept_count_only,
            title=self.tables.title,
            publisher=self.tables.publisher,
            description=self.tables.description,
        )

    def _load_protection(self) -> ProtectionTable | None:
        table = self.tables.protection
        if table is None:
            return None
        everywhere = sorted({name for names in self.names.values() for name in names})
        for setting in ("never", "importance"):
            attribute_names = getattr(table, setting)
            problems = find_name_problems(
                setting, attribute_names, everywhere, "no dataset of the release"
            )
            for problem in problems:
                message = f'no dataset has an attribute "{problem.value}".'
                self.problems.add(f"protection, {setting}", message, problem.value, everywhere)
        self.problems.extend("protection", find_utility_name_problems(table.utility))
        if table.target is not None and table.target not in everywhere:
            message = f'no dataset has an attribute "{table.target}".'
            self.problems.add("protection, target", message, table.target, everywhere)
        if not all(0 < figure < inf for figure in table.importance.values()):
            self.problems.add("protection, importance", "contains a figure that is not above 0.")
        return table

    def _find_rule_files(self) -> tuple[Path, ...]:
        files = (
            [self.folder / name for name in self.tables.rules.files] if self.tables.rules else []
        )
        for file in files:
            if not file.is_file():
                beside = file.parent.glob("*.rules") if file.parent.is_dir() else ()
                neighbours = sorted(path.name for path in beside)
                message = f'"{file.name}" does not exist.'
                self.problems.add("rules, files", message, file.name, neighbours)
        return tuple(files)

    def _load_rules(self, paths: Sequence[Path]) -> RuleProgram | None:
        table = self.tables.rules
        if table is None or not all(path.is_file() for path in paths):
            return None
        measures_of_risk = list_risk_measures()
        if table.risk not in measures_of_risk:
            message = f'"{table.risk}" is no measure of the risk of a record.'
            self.problems.add("rules, risk", message, table.risk, measures_of_risk)
        dataset_names = [dataset.name for dataset in self.tables.dataset]
        program = load_rule_program(paths, table.risk, dataset_names, self.problems)
        return None if program is None else replace(program, value_lists=table.value_lists)

    def _require_unique_names(self, kind: str, names: list[str]) -> None:
        for name in checks.list_repeated(names):
            self.problems.add(f'{kind} "{name}"', "this name is given more than once.")
