"""Adversaries that a release file names: their attack, their datasets, what they are told."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from pydantic import ValidationError

from divulge.assessment import Adversary, attacks
from divulge.release.release_file.links import LinksLoader
from divulge.release.release_file.parse import translate_errors
from divulge.release.release_file.settings import AdversaryTable, ReleaseTable
from divulge.release.rule_programs.rule_program import RuleProgram
from divulge.work import Problems, checks


class AdversaryLoader:
    """Turns the tables of adversaries into adversaries, noting every problem on the way."""

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

    def load(self, table: AdversaryTable) -> Adversary | None:
        """The adversary of a table, with links and knowledge that are those of all; or problems."""
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
                message = f'"{name}" contains the links; leave it out here.'
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
