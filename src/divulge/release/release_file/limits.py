"""Limits of a release file: that what they limit, and what they compare it with, exists."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from divulge.assessment import Limit
from divulge.data.dictionary import as_names, find_name_problems
from divulge.release.release_file.links import LinksLoader
from divulge.release.release_file.settings import LimitTable, ReleaseTable
from divulge.release.rule_programs.rule_program import RISK, RuleProgram
from divulge.release.rule_programs.rule_risk import RULE_RISK, RuleRisk
from divulge.work import InvalidInput, Problems


class LimitLoader:
    """Turns the tables of limits into limits, noting every problem on the way."""

    def __init__(
        self,
        *,
        tables: ReleaseTable,
        names: Mapping[str, Sequence[str]],
        links: LinksLoader,
        rules: RuleProgram | None,
        problems: Problems,
    ) -> None:
        self.tables = tables
        self.names = names
        self.links = links
        self.rules = rules
        self.problems = problems

    def load(self, number: int, table: LimitTable) -> Limit | None:
        """The limit of a table, the first being number 1; or problems."""
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
        limited = [name for name in datasets if name not in limit.compared_datasets.values()]
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
        derived = () if self.rules is None else self.rules.pairs
        for option, name in limit.compared_datasets.items():
            if name not in datasets and name not in derived:
                message = f'the release has no dataset "{name}".'
                self.problems.add(f"{place}, {option}", message, name, datasets)
            elif name == limit.dataset:
                self.problems.add(f"{place}, {option}", "names the dataset that is limited.")

    def _list_rule_datasets(self) -> set[str]:
        """The datasets that rules alone read."""
        read = set() if self.rules is None else self.rules.dataset_names
        return {
            table.name for table in self.tables.dataset if table.name in read and not table.roles
        }

    def _refuse_rule_risk(self, place: str) -> None:
        """Note that no rule says what the risk is, unless the rules themselves are not sound."""
        if self.rules is not None or self.tables.rules is None:
            message = "is what rules derive by risk(I, R), and no rule of the release does."
            self.problems.add(place, message)
