"""What is published of a dataset: which columns go out, and why the others do not.

Published is the source without direct identifiers and without the ids of persons, households and
groups, unless its owner names them. Every other attribute has a role, so that somebody has decided
what it gives away; where one has none, the release is not judged. Dropping an id is no protection
by itself (weights or incomes may tell a household as well), but it costs nothing.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from divulge.assessment import (
    Adversary,
    Limit,
    PluginError,
    Sentence,
    find_attack,
    measures,
)
from divulge.classes.people import UnjudgedPeopleError, find_people
from divulge.data.column_fate import find_column_fate
from divulge.data.dictionary import CLUSTER_ROLES, WITHHELD_ROLES, as_names
from divulge.work import Problem

if TYPE_CHECKING:
    from collections.abc import Sequence

    from divulge.data import Dataset
    from divulge.release.release import Release
    from divulge.release.release_file.dataset_plan import DatasetPlan


@dataclass(frozen=True)
class Reservation:
    """Why a release does not pass, whatever its limits say."""

    status: Literal["fail", "not judged"]
    sentence: Sentence

    def to_dict(self) -> dict[str, Any]:
        """The status and the sentence, as plain values."""
        return {"status": self.status, "sentence": self.sentence.render()}


@dataclass(frozen=True, kw_only=True)
class Publication:
    """Which columns of a dataset go out; every column is in exactly one of the first lists."""

    dataset: str
    shown: tuple[str, ...] = ()
    pseudonyms: tuple[str, ...] = ()
    """Ids that go out under a keyed pseudonym: they link records, and count as known links."""
    exposed: tuple[str, ...] = ()
    """Direct identifiers that their owner named to be published: the release fails."""
    unlisted: tuple[str, ...] = ()
    """Attributes without a role, of which nothing was decided: the release is not judged."""
    presumed: tuple[str, ...] = ()
    """Attributes without a role that are published by the owner's choice."""
    dropped: tuple[str, ...] = ()
    """Attributes without a role that are not published by the owner's choice."""
    withheld: tuple[str, ...] = ()
    """Ids of people and clusters, which are not published by default."""
    clusters: tuple[str, ...] = ()
    """Of these, what tells which records belong together: measures of households count with it."""
    undisclosed: tuple[str, ...] = ()
    """Columns that belong to the owner alone, such as a truth."""
    telling: tuple[str, ...] = ()
    """Columns that protection leaves out because they would tell what it hides."""
    needed: frozenset[str] = field(default=frozenset())
    ordered: bool = False
    """Whether records go out in the order of the source."""

    @property
    def published(self) -> frozenset[str]:
        """All columns that go out."""
        lists = (self.shown, self.pseudonyms, self.exposed, self.unlisted, self.presumed)
        return frozenset(name for names in lists for name in names)

    def leave_out(self, names: Collection[str]) -> Publication:
        """The same without columns that would tell what was hidden or made coarser."""
        left = {
            key: tuple(name for name in getattr(self, key) if name not in names)
            for key in ("shown", "pseudonyms", "presumed", "unlisted")
        }
        telling = tuple(name for name in self.published if name in names)
        return replace(self, **left, telling=(*self.telling, *sorted(telling)))  # type: ignore[arg-type]

    def select_published(self, dataset: Dataset) -> Dataset:
        """The dataset with the columns that go out, in their order."""
        return _select(dataset, self.published)

    def select_attackable(self, dataset: Dataset) -> Dataset:
        """The dataset with what adversaries see, and what their attacks cannot do without."""
        return _select(dataset, self.published | self.needed | set(self.clusters))

    def find_unpublished(self, names: Sequence[str]) -> list[str]:
        """Which of some columns are those of the dataset that do not go out."""
        return [name for name in (*self.withheld, *self.dropped) if name in names]

    def list_reservations(self) -> Iterator[Reservation]:
        """Why the release cannot pass because of this dataset."""
        if self.exposed:
            yield Reservation("fail", self._build_sentence("exposed", self.exposed))
        if self.unlisted:
            yield Reservation("not judged", self._build_sentence("unlisted", self.unlisted))

    def list_sentences(self) -> Iterator[Sentence]:
        """What does not go out, and what goes out by a choice that every reader should know."""
        for key in ("withheld", "telling", "pseudonyms", "dropped", "presumed"):
            names = getattr(self, key)
            if names:
                yield self._build_sentence(key, names)
        if self.ordered:
            yield self._build_sentence("ordered", ())

    def to_dict(self) -> dict[str, Any]:
        """The columns by what becomes of them, as plain values."""
        keys = (
            "shown",
            "pseudonyms",
            "exposed",
            "unlisted",
            "presumed",
            "dropped",
            "withheld",
            "telling",
            "undisclosed",
        )
        return {key: list(getattr(self, key)) for key in keys if getattr(self, key)}

    def _build_sentence(self, key: str, names: Sequence[str]) -> Sentence:
        values = {"dataset": self.dataset, "names": list(names), "count": len(names)}
        return Sentence("divulge.release", f"publication.{key}", values)


def plan_publications(release: Release) -> dict[str, Publication]:
    """What is published of each dataset of a release that goes out as records."""
    return {
        name: _plan_publication(release, plan)
        for name, plan in release.datasets.items()
        if name in list_published_datasets(release)
    }


def find_publication_problems(release: Release) -> Iterator[Problem]:
    """What is wrong with a release because of what it does not publish."""
    publications = plan_publications(release)
    never = () if release.protection is None else release.protection.never
    for name, publication in publications.items():
        if not publication.published:
            message = "publishes nothing: every attribute is an id or has no role. Leave it out."
            yield Problem(f'dataset "{name}"', message)
        for column in publication.find_unpublished(never):
            message = f'"{column}" of dataset "{name}" is not published, so it cannot be kept '
            yield Problem("protection, never", message + "as it is: leave it out.")
    for adversary in release.adversaries:
        known = as_names(getattr(adversary.settings, "knows", None) or ())
        for dataset in (name for name in dict.fromkeys(adversary.datasets) if name in publications):
            publication, place = publications[dataset], f'adversary "{adversary.name}", knows'
            for name in (each for each in publication.withheld if each in known):
                message = f'"{name}" is not published, so nobody can be found by it: name it '
                message += f'in publish of dataset "{dataset}", or leave it out.'
                yield Problem(place, message)
            dropped = [name for name in publication.dropped if name in known]
            if dropped:
                names = ", ".join(f'"{name}"' for name in dropped)
                message = f'{names}: without a role, and dropped by unlisted = "drop" of dataset '
                message += f'"{dataset}". Give a role to what is published, and leave the rest out.'
                yield Problem(place, message)


def _plan_publication(release: Release, plan: DatasetPlan) -> Publication:
    adversaries = [each for each in release.adversaries if plan.name in each.datasets]
    linking: set[str] = set()
    needed: set[str] = set()
    identifying: set[str] = set()
    undisclosed: set[str] = set()
    for adversary in adversaries:
        attack, settings = find_attack(adversary), adversary.settings
        linking |= set(as_names(attack.linking_columns(settings)))
        needed |= set(as_names(attack.needed_columns(settings)))
        identifying |= set(as_names(attack.identifying_columns(settings)))
        columns = attack.undisclosed_columns(settings, adversary.datasets)
        undisclosed |= set(as_names(columns.get(plan.name, ())))
    role_of = {name: role for role, names in plan.roles.items() for name in as_names(names)}
    lists: dict[str, list[str]] = {}
    for name in plan.names:
        links = name in identifying or (name in linking and role_of.get(name) in WITHHELD_ROLES)
        fate = find_column_fate(name, role_of.get(name), plan.publish, plan.unlisted, links=links)
        lists.setdefault("undisclosed" if name in undisclosed else fate, []).append(name)
    return Publication(
        dataset=plan.name,
        needed=frozenset(needed & set(plan.names)),
        clusters=tuple(name for name in plan.names if role_of.get(name) in CLUSTER_ROLES),
        ordered=plan.keep_order,
        **{key: tuple(names) for key, names in lists.items()},
    )


def find_repeated_persons(
    adversaries: Sequence[Adversary], datasets: Mapping[str, Dataset]
) -> Iterator[Reservation]:
    """Attacks that count records of a dataset in which somebody has several of them."""
    for adversary in adversaries:
        for name in adversary.datasets:
            dataset = datasets[name]
            if not has_several_records(dataset):
                continue
            [person] = dataset.dictionary.having("person")
            if find_attack(adversary).counts_people(adversary.settings, person):
                continue
            column = dataset.columns[person]
            shown = column.codes[column.codes != column.missing_code]
            values = {
                "dataset": name,
                "rows": dataset.rows,
                "persons": int(np.unique(shown).size),
                "adversary": adversary.name,
                "attack": adversary.attack,
            }
            sentence = Sentence("divulge.release", "publication.repeated", values)
            yield Reservation("not judged", sentence)


def has_several_records(dataset: Dataset) -> bool:
    """Whether somebody has several records in a dataset, or may have for all that is known."""
    try:
        return find_people(dataset) is not None
    except UnjudgedPeopleError:
        return True


def find_linked_people(
    publications: Mapping[str, Publication], datasets: Mapping[str, Dataset]
) -> frozenset[str]:
    """Datasets whose published ids show which records are of one person.

    Who finds one record of somebody there has found all of them, so all are taken for known.
    """
    return frozenset(
        name
        for name, publication in publications.items()
        if set(datasets[name].dictionary.having("person")) & publication.published
        and has_several_records(datasets[name])
    )


def assume_linked_people(adversary: Adversary, linked: frozenset[str]) -> Adversary:
    """An adversary who sees which records are of one person, where ids are published."""
    settings = adversary.settings
    if not linked & set(adversary.datasets) or not hasattr(settings, "records_known"):
        return adversary
    return replace(adversary, settings=settings.model_copy(update={"records_known": "all"}))


def assume_kept_order(adversary: Adversary, publications: Mapping[str, Publication]) -> Adversary:
    """An adversary to whom neighbouring records tell, where the order of the source is kept."""
    publication = publications.get(adversary.datasets[0]) if adversary.datasets else None
    if publication is None or not publication.ordered or not hasattr(adversary.settings, "ordered"):
        return adversary
    return replace(adversary, settings=adversary.settings.model_copy(update={"ordered": True}))


def explain_linked_secret(adversary: Adversary, linked: frozenset[str]) -> str | None:
    """Why what an adversary seeks is not judged where ids link a person's records; None if it is.

    Persons who are alike in what is known may have the same values in another order: that is no
    secret of one record.
    """
    settings = adversary.settings
    if not linked & set(adversary.datasets) or not hasattr(settings, "records_known"):
        return None
    if not getattr(settings, "seeks", None):
        return None
    return (
        "the ids of people are published, and what all records of a person together tell of a "
        "secret is not counted; do not publish them."
    )


def assume_linked_people_in_limit(limit: Limit, is_linked: bool) -> Limit:
    """A limit where ids link a person's records: then all of them are known."""
    if not is_linked or limit.of_assessment or not counts_people(limit):
        return limit
    return limit.with_options(records_known="all")


def counts_people(limit: Limit) -> bool:
    """Whether a limit counts people who have several records; clusters are of records."""
    counts = "records_known" in getattr(measures()[limit.measure], "options", {})
    return counts and not limit.options.get("links")


def list_published_datasets(release: Release) -> list[str]:
    """The datasets that go out as records: no register, population, original or mere source."""
    # What a limit compares with is known to an adversary, or to nobody; it is never released.
    beside = {other for limit in release.limits for other in limit.compared_datasets.values()}
    for adversary in release.adversaries:
        beside |= set(list_undisclosed_datasets(adversary))
    beside |= release.pair_datasets | _list_tabulated_only(release)
    return [name for name in release.datasets if name not in beside]


def list_undisclosed_datasets(adversary: Adversary) -> Sequence[str]:
    """What an adversary has beside a release, or its owner: registers, originals, the truth.

    Raises:
        PluginError: if the attack names a dataset that the adversary does not see: what it meant
            would go out.
    """
    names = as_names(find_attack(adversary).undisclosed(adversary.settings, adversary.datasets))
    unknown = [name for name in names if name not in adversary.datasets]
    if unknown:
        raise PluginError(
            f'adversary "{adversary.name}": attack "{adversary.attack}" keeps back a dataset that '
            "they do not see; nothing was written."
        )
    return names


def _list_tabulated_only(release: Release) -> set[str]:
    """Datasets that are published as tables: nobody sees their records, none is limited."""
    tabulated: set[str] = set()
    visible: set[str] = set()
    for adversary in release.adversaries:
        as_table = find_attack(adversary).publishes_table()
        (tabulated if as_table else visible).update(adversary.datasets)
    limited = {limit.dataset for limit in release.limits if not limit.of_assessment}
    return set() if None in limited else tabulated - visible - limited


def select_attackable(
    publications: Mapping[str, Publication], name: str, dataset: Dataset
) -> Dataset:
    """What adversaries see of a dataset; all of it, where it does not go out as records."""
    publication = publications.get(name)
    return dataset if publication is None else publication.select_attackable(dataset)


def _select(dataset: Dataset, names: frozenset[str]) -> Dataset:
    chosen = [name for name in dataset.names if name in names]
    return dataset if len(chosen) == len(dataset.names) else dataset.select(chosen)
