"""A release: loaded and checked for sense as a whole, before any record is read."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from math import inf
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pydantic import ValidationError

from divulge.assessment import Adversary, Limit, attacks, find_attack
from divulge.data.dictionary import (
    ROLES,
    Role,
    as_names,
    find_name_problems,
)
from divulge.protection.recoding.utilities import find_utility_name_problems
from divulge.release.publication import find_publication_problems
from divulge.release.release_file.dataset_plan import DatasetLoader, DatasetPlan
from divulge.release.release_file.links import LinksLoader
from divulge.release.release_file.parse import parse_release, translate_errors
from divulge.release.release_file.settings import (
    AdversaryTable,
    LimitTable,
    ProtectionTable,
    ReleaseTable,
)
from divulge.release.rule_programs.rule_program import (
    RISK,
    RuleProgram,
    list_risk_measures,
    load_rule_program,
)
from divulge.release.rule_programs.rule_risk import RULE_RISK, RuleRisk
from divulge.work import InvalidInput, Problems, checks

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
        of_limits = {limit.others["links"] for limit in self.limits if "links" in limit.others}
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
        self.names |= {name: list(pair) for name, pair in self._list_derived_pairs().items()}
        self.links.check_common_links()
        adversaries = [self._load_adversary(table) for table in self.tables.adversary]
        limits = [self._load_limit(n, table) for n, table in enumerate(self.tables.limit, start=1)]
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

    def _load_adversary(self, table: AdversaryTable) -> Adversary | None:
        place = f'adversary "{table.name}"'
        problems_before = len(self.problems)
        datasets = self._list_datasets(table, place)
        installed = attacks()
        if table.attack not in installed:
            message = f'"{table.attack}" is not an attack that is installed.'
            self.problems.add(f"{place}, attack", message, table.attack, installed)
            return None
        attack = installed[table.attack]
        extra_settings = self.links.add_common_links(table)
        try:
            settings = attack.Settings.model_validate(extra_settings)
        except ValidationError as error:
            self.problems.extend(place, translate_errors(error, attack.Settings, extra_settings))
            return None
        named_links = getattr(settings, "links", None)
        if named_links is not None:
            links = self.links.settle(named_links, datasets[:1], f"{place}, links")
            settings = settings.model_copy(update={"links": links})
        settings = self._add_rule_knowledge(settings, datasets)
        companions = attack.companion_datasets(settings)
        for name in companions:
            if name in datasets:
                message = f'"{name}" holds the links; leave it out here.'
                self.problems.add(f"{place}, dataset", message)
        datasets = [*datasets, *companions]
        names = {name: self.names[name] for name in datasets if name in self.names}
        self.problems.extend(place, attack.problems(settings, names))
        if len(self.problems) > problems_before:
            return None
        return Adversary(table.name, table.attack, tuple(datasets), settings)

    def _add_rule_knowledge(self, settings: Any, datasets: Sequence[str]) -> Any:
        """What rules say is known of single records, for adversaries who are told nothing else."""
        derived = {} if self.rules is None else self.rules.knowledge
        takes = getattr(settings, "takes_single_knowledge", False)
        if not derived or not takes or any(getattr(settings, place) for place in derived):
            return settings
        roles = {table.name: table.roles for table in self.tables.dataset}
        ids = roles.get(datasets[0], {}).get("identifier", []) if datasets else []
        on = settings.on or (ids[0] if len(ids) == 1 else None)
        return settings.model_copy(update={**derived, "on": on})

    def _list_datasets(self, table: AdversaryTable, place: str) -> list[str]:
        dataset_names = [dataset.name for dataset in self.tables.dataset]
        if table.dataset is None:
            if len(dataset_names) > 1:
                self.problems.add(f"{place}, dataset", "is missing; name one.", "", dataset_names)
            return dataset_names[:1]
        if not table.dataset:
            self.problems.add(f"{place}, dataset", "names none.", "", dataset_names)
        for name in checks.list_repeated(table.dataset):
            self.problems.add(f"{place}, dataset", f'names "{name}" more than once.')
        for name in table.dataset:
            if name not in dataset_names:
                message = f'the release has no dataset "{name}".'
                self.problems.add(f"{place}, dataset", message, name, dataset_names)
        return table.dataset

    def _load_limit(self, number: int, table: LimitTable) -> Limit | None:
        place = f"limit {number}"
        adversaries = [adversary.name for adversary in self.tables.adversary]
        if table.adversary is not None and table.adversary not in adversaries:
            message = f'the release has no adversary "{table.adversary}".'
            self.problems.add(f"{place}, adversary", message, table.adversary, adversaries)
        datasets = [dataset.name for dataset in self.tables.dataset]
        if table.dataset is not None and table.dataset not in datasets:
            message = f'the release has no dataset "{table.dataset}".'
            self.problems.add(f"{place}, dataset", message, table.dataset, datasets)
        options = table.model_dump(exclude={"links"})
        links = self.links.load_limit_links(table, f"{place}, links")
        options |= {} if links is None else {"links": links}
        if table.measure == RULE_RISK:
            if self.rules is None or RISK not in self.rules.heads:
                self._refuse_rule_risk(f"{place}, measure")
                return None
            options |= {"measure": "custom_risk", RISK: RuleRisk(self.rules)}
        try:
            limit = Limit(**options)
        except InvalidInput as error:
            self.problems.extend(place, error.problems)
            return None
        if limit.of_assessment and not adversaries:
            self.problems.add(place, "limits an adversary, and the release names none.")
        if not limit.of_assessment:
            self._check_limit_names(place, limit, datasets)
        return limit

    def _check_limit_names(self, place: str, limit: Limit, datasets: list[str]) -> None:
        """The names in a limit of datasets; one that names nobody holds for every dataset."""
        limited = [name for name in datasets if name not in limit.others.values()]
        if limit.dataset is None:
            beside = self.links.list_pair_datasets() | self._list_rule_datasets()
            limited = [name for name in limited if name not in beside]
        if limit.dataset is not None:
            limited = [limit.dataset]
        if not limited:
            message = "limits no dataset: what a limit compares with is not itself limited."
            self.problems.add(place, message)
        among = limit.options.get("among")
        names_by_setting = {
            "attribute": [] if limit.attribute is None else [limit.attribute],
            "among": as_names(among) if isinstance(among, str | list) else [],
        }
        for name in limited:
            for setting, setting_names in names_by_setting.items():
                names = self.names.get(name, setting_names)
                problems = find_name_problems(setting, setting_names, names, f'dataset "{name}"')
                self.problems.extend(place, problems)
        for option, name in limit.others.items():
            if name not in datasets and name not in self._list_derived_pairs():
                message = f'the release has no dataset "{name}".'
                self.problems.add(f"{place}, {option}", message, name, datasets)
            elif name == limit.dataset:
                self.problems.add(f"{place}, {option}", "names the dataset that is limited.")

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
            self.problems.add("protection, importance", "holds a figure that is not above 0.")
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
        return load_rule_program(paths, table.risk, dataset_names, self.problems)

    def _list_rule_datasets(self) -> set[str]:
        """The datasets that rules alone read."""
        read = set() if self.rules is None else self.rules.dataset_names
        return {
            table.name for table in self.tables.dataset if table.name in read and not table.roles
        }

    def _list_derived_pairs(self) -> Mapping[str, tuple[str, str]]:
        """Predicates of the rules that links may name as they name datasets of pairs."""
        return {} if self.rules is None else self.rules.pairs

    def _refuse_rule_risk(self, place: str) -> None:
        """Note that no rule says what the risk is, unless the rules themselves are not sound."""
        if self.rules is not None or self.tables.rules is None:
            message = "is what rules derive by risk(I, R), and no rule of the release does."
            self.problems.add(place, message)

    def _require_unique_names(self, kind: str, names: list[str]) -> None:
        for name in checks.list_repeated(names):
            self.problems.add(f'{kind} "{name}"', "this name is given more than once.")
