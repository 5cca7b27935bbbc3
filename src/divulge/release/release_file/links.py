"""Links that a release file names, settled before any record is read.

A text is an attribute of the dataset in question, or else a dataset of pairs. Pairs name the values
of an id: the attribute that `on` names, or the only identifier (or person, or group). Links of
`[protection]` are those of all limits that have none of their own; where a limit cannot take them,
that is said.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from divulge.assessment import attacks, measures
from divulge.assessment.assessment_measures import ASSESSMENT_MEASURES
from divulge.data.dictionary import find_name_problems
from divulge.records.risk.links.links import Links, choose_id, find_column_problems, read_links
from divulge.records.risk.links.links_table import LinksTable, as_settings
from divulge.records.risk.measure_spec import MeasureSpec
from divulge.records.risk.registry import MEASURES, find_measure
from divulge.release.release_file.settings import AdversaryTable, LimitTable, ReleaseTable
from divulge.work import Problem, Problems


class LinksLoader:
    """Settles the links of a release file, noting every problem on the way."""

    def __init__(
        self, tables: ReleaseTable, names: Mapping[str, Sequence[str]], problems: Problems
    ) -> None:
        self.tables = tables
        self.names = names
        self.problems = problems
        self.common = None if tables.protection is None else tables.protection.links

    def add_common_links(self, table: AdversaryTable) -> dict[str, Any]:
        """The settings of an adversary, with the links of all limits if they have none."""
        settings = dict(table.model_extra or {})
        if self.common is not None and _takes_links(table):
            settings.setdefault("links", self.common)
        return settings

    def check_common_links(self) -> None:
        """Links of `[protection]` go with every limit; where they do not, that is said."""
        if self.common is None:
            return
        place = "protection, links"
        if not self._has_takers():
            message = "no limit and no adversary takes them, or all have links of their own."
            self.problems.add(place, message)
        adversaries = {table.name: table for table in self.tables.adversary}
        for number, limit in enumerate(self.tables.limit, start=1):
            spec = _find_spec(limit.measure)
            if limit.links is None and spec is not None and spec.linked is None:
                message = f'limit {number}, measure "{limit.measure}", does not go with links: '
                self.problems.add(place, message + "say links in the limits that they are for.")
            if limit.measure not in ASSESSMENT_MEASURES:
                continue
            limited = [limit.adversary] if limit.adversary in adversaries else list(adversaries)
            for name in limited:
                if not _takes_links(adversaries[str(name)]):
                    message = f'limit {number} is on the adversary "{name}", who takes no links: '
                    self.problems.add(place, message + "say links in the limits that they are for.")

    def _has_takers(self) -> bool:
        """Whether links of `[protection]` are those of any limit or adversary."""
        specs = [_find_spec(limit.measure) for limit in self.tables.limit if limit.links is None]
        return any(spec is not None and spec.linked is not None for spec in specs) or any(
            _takes_links(table) and "links" not in (table.model_extra or {})
            for table in self.tables.adversary
        )

    def load_limit_links(self, table: LimitTable, place: str) -> Links | None:
        """The links of a limit on datasets, its own or those of all limits."""
        spec = _find_spec(table.measure)
        links = table.links
        if links is None and spec is not None and spec.linked is not None:
            links = self.common
        if links is None:
            return None
        extra = table.model_extra or {}
        if spec is not None and spec.people_option in extra:
            linked = [str(extra[spec.people_option])]
        elif table.dataset is not None:
            linked = [table.dataset]
        else:
            beside = {*self.list_pair_datasets(), *map(str, extra.values())}
            linked = [each.name for each in self.tables.dataset if each.name not in beside]
        settled = self.settle(links, linked, place)
        return None if settled is None else read_links(as_settings(settled))

    def list_pair_datasets(self) -> set[str]:
        """The datasets of pairs that some links name; a text may also be an attribute."""
        named: list[Any] = [self.common, *(limit.links for limit in self.tables.limit)]
        named += [(table.model_extra or {}).get("links") for table in self.tables.adversary]
        datasets = set()
        for links in named:
            name = links.dataset if isinstance(links, LinksTable) else links
            name = name.get("dataset") if isinstance(name, dict) else name
            if isinstance(name, str) and name in self.names:
                datasets.add(name)
        return datasets

    def settle(
        self, links: str | LinksTable, linked: Sequence[str], place: str
    ) -> LinksTable | None:
        """The links of some datasets with all that was left out; None if something is wrong."""
        linked = [name for name in linked if name in self.names]
        before = len(self.problems)
        table = self._classify(links, linked, place)
        if table is not None:
            self.problems.extend(place, self._find_problems(table, linked))
        if table is None or len(self.problems) > before:
            return None
        if table.dataset is None:
            return table
        columns = table.columns or list(self.names[table.dataset])
        return table.model_copy(
            update={"columns": columns, "on": table.on or self._choose_id(linked)}
        )

    def _classify(
        self, links: str | LinksTable, linked: Sequence[str], place: str
    ) -> LinksTable | None:
        """A text as a table: an attribute, or a dataset of pairs."""
        if isinstance(links, LinksTable):
            if (links.attribute is None) == (links.dataset is None):
                self.problems.add(place, "give either an attribute, or a dataset of pairs.")
                return None
            return links
        is_attribute = any(links in self.names[name] for name in linked)
        is_dataset = links in self.names and links not in linked
        if is_attribute and is_dataset:
            message = f'"{links}" is an attribute and a dataset; say which: '
            message += f'{{ attribute = "{links}" }} or {{ dataset = "{links}" }}.'
            self.problems.add(place, message)
            return None
        if is_dataset:
            return LinksTable(dataset=links)
        if not is_attribute and linked:
            allowed = [*(n for name in linked for n in self.names[name]), *self.names]
            subjects = " and ".join(f'"{name}"' for name in linked)
            message = f'"{links}" is neither an attribute of {subjects} nor a dataset of pairs.'
            self.problems.add(place, message, links, list(dict.fromkeys(allowed)))
            return None
        return LinksTable(attribute=links)

    def _find_problems(self, table: LinksTable, linked: Sequence[str]) -> Iterator[Problem]:
        if table.dataset is None:
            if table.on is not None or table.columns is not None:
                yield Problem("on", "and columns are of pairs; an attribute links by its values.")
            for name in linked:
                yield from find_name_problems(
                    "attribute", [str(table.attribute)], self.names[name], f'dataset "{name}"'
                )
            return
        if table.dataset not in self.names:
            message = f'the release has no dataset "{table.dataset}".'
            yield Problem("dataset", message, table.dataset, list(self.names))
            return
        if table.dataset in linked:
            yield Problem("dataset", "names the dataset whose records are linked.")
            return
        pairs = self.names[table.dataset]
        yield from find_name_problems(
            "columns", table.columns or (), pairs, f'dataset "{table.dataset}"'
        )
        yield from find_column_problems(table.columns or pairs)
        on = table.on or self._choose_id(linked)
        if on is None:
            message = "is missing: no single attribute is an id; name the one that pairs name."
            yield Problem("on", message)
            return
        for name in linked:
            yield from find_name_problems("on", [on], self.names[name], f'dataset "{name}"')

    def _choose_id(self, linked: Sequence[str]) -> str | None:
        roles = {table.name: table.roles for table in self.tables.dataset}
        return choose_id(roles[linked[0]]) if linked else None


def _find_spec(measure: str) -> MeasureSpec | None:
    return MEASURES.get(measures().first_name(measure))


def _takes_links(table: AdversaryTable) -> bool:
    """Whether an adversary of the release may be told of links."""
    installed = attacks()
    if table.attack not in installed:
        return True  # that is a problem of its own
    if "links" not in installed[table.attack].Settings.model_fields:
        return False
    spec = _find_spec(
        str((table.model_extra or {}).get("measure", find_measure("individual").name))
    )
    return spec is None or (spec.linked is not None and spec.people_option is None)
