"""Datasets of the same people that go out together: each may show what the other withholds.

Two waves of a panel under one pseudonym, or the records of households beside those of their
members: who joins them reads in one what was hidden in the other. So where records that hide
something can be found in another dataset, the release is not judged, unless a limit is on somebody
who has both and knows or seeks all of which something is withheld, and all limits hold as well with
what the other dataset tells.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import permutations
from typing import TYPE_CHECKING

import numpy as np

from divulge.assessment import Adversary, Sentence, find_attack
from divulge.data import Column, Dataset
from divulge.data.dictionary import WITHHELD_ROLES, as_names
from divulge.release import tuning
from divulge.release.joined_dataset import (
    RecordLinks,
    Texts,
    find_changed_cells,
    find_changed_records,
    join_dataset,
    read_texts,
)
from divulge.release.publication import Publication, Reservation
from divulge.release.same_records import find_renamed_columns
from divulge.work.arrays import Bools, Ints

if TYPE_CHECKING:
    from divulge.release.release import Release


def list_telling_datasets(
    release: Release,
    publications: Mapping[str, Publication],
    current: Mapping[str, Dataset],
    sources: Mapping[str, Dataset],
    withstands: Callable[[Mapping[str, Dataset], Mapping[str, float]], bool],
) -> Iterator[Reservation]:
    """Datasets that hide or recode something, of records that another one shows too.

    `sources` are the records of `current` as they were. Where a limit is on somebody who has both,
    `withstands` says whether all limits hold as well with what the other dataset tells, but for
    those on adversaries that are as strict on somebody who has both (by measure, what that asks).
    """
    names = [name for name in publications if name in current]
    limited = {limit.adversary for limit in release.limits if limit.of_assessment}
    attackers = [each for each in release.adversaries if limited & {None, each.name}]
    for name, other in permutations(names, 2):
        pair = (name, other)
        changed = find_changed_records(publications[name], current[name], sources[name])
        if not changed.any():
            continue
        shared, links = find_links(
            publications[name],
            publications[other],
            current[name],
            current[other],
            before=(sources[name], sources[other]),
        )
        count = int(np.count_nonzero(changed & links.find_linked()))
        if not count:
            continue
        withheld = {
            attribute
            for attribute in shared
            if find_changed_cells(
                current[name].columns[attribute], sources[name].columns[attribute]
            ).any()
        }
        joining = [each for each in attackers if _is_about(each, pair, withheld, current)]
        bounds = _find_bounds(release, joining)
        if joining and all(
            withstands({name: seen}, bounds)
            for seen in join_dataset(
                current[name],
                sources[name],
                (current[other], sources[other]),
                publications=(publications[name], publications[other]),
                shared=shared,
                links=links,
            )
        ):
            continue
        key = "joining_undoes" if joining else "telling_dataset"
        values = {"dataset": name, "other": other, "count": count}
        sentence = Sentence("divulge.release", f"publication.{key}", values)
        yield Reservation("not judged", sentence)


def _find_bounds(release: Release, adversaries: Sequence[Adversary]) -> dict[str, float]:
    """By measure, the strictest limit on one of these adversaries."""
    names = {None, *(adversary.name for adversary in adversaries)}
    bounds: dict[str, float] = {}
    for limit in release.limits:
        if limit.of_assessment and limit.adversary in names:
            bounds[limit.measure] = min(limit.bound, bounds.get(limit.measure, limit.bound))
    return bounds


def _is_about(
    adversary: Adversary,
    names: tuple[str, str],
    withheld: set[str],
    current: Mapping[str, Dataset],
) -> bool:
    """Whether an adversary has both datasets, and knows or seeks all that one withholds."""
    if not set(names) <= set(adversary.datasets):
        return False
    attack, settings = find_attack(adversary), adversary.settings
    known = {each for name in names for each in attack.known_columns(settings, current[name])}
    return withheld <= known | set(as_names(getattr(settings, "seeks", None) or ()))


def find_links(
    publication: Publication,
    other_publication: Publication,
    dataset: Dataset,
    other: Dataset,
    *,
    before: tuple[Dataset, Dataset],
) -> tuple[dict[str, str], RecordLinks]:
    """The columns that both show, and the records that who has both datasets finds in the other.

    By a pseudonym that both publish; or by all that both show alike, where the record that looks
    so is the only one there.
    """
    links = RecordLinks(dataset.rows, other.rows)
    for name in publication.pseudonyms:
        for theirs in other_publication.pseudonyms:
            links.add_ids(read_texts(dataset.columns[name]), read_texts(other.columns[theirs]))
    shared = find_shared_columns(publication, other_publication, dataset, other, before=before)
    if shared:
        links.add_places(_find_likeness(dataset, other, shared, before))
    return shared, links


def find_shared_columns(
    publication: Publication,
    other_publication: Publication,
    dataset: Dataset,
    other: Dataset,
    *,
    before: tuple[Dataset, Dataset],
) -> dict[str, str]:
    """The columns that two datasets publish alike, by name or by what they show."""
    shared = {
        name: name
        for name in dataset.names
        if name in publication.shown and name in other_publication.shown and name in other.columns
    }
    return shared | find_renamed_columns(
        before,
        [each for each in dataset.names if each in publication.shown and each not in shared],
        [each for each in other.names if each in other_publication.shown and each not in shared],
    )


def _find_likeness(
    dataset: Dataset, other: Dataset, shared: Mapping[str, str], before: tuple[Dataset, Dataset]
) -> Ints:
    """By record, the only one of the other dataset that shows the same; -1 if there is none.

    Their ids say whether that is the same one. Without ids in common, it is taken for the same if
    so many are found that chance cannot be the reason.
    """
    found = _find_places(
        [read_texts(dataset.columns[name]) for name in shared],
        # A coarser value is no difference: what was changed on either side is compared by nobody.
        np.array(
            [find_changed_cells(dataset.columns[name], before[0].columns[name]) for name in shared]
        ),
        [read_texts(before[1].columns[name]) for name in shared.values()],
    )
    ids = [
        name
        for role in WITHHELD_ROLES
        for name in dataset.dictionary.having(role)
        if name in other.columns
    ]
    if ids:
        pairs = [(dataset.columns[name], other.columns[name]) for name in ids]
        is_same = np.any([_agree(*pair, found) for pair in pairs], axis=0)
        return np.asarray(np.where(is_same, found, -1), np.int64)
    is_found = found >= 0
    # Numbers that hardly anybody else has do not agree by chance.
    is_fine = any(
        len(other.columns[theirs].values) > tuning.LEAST_DISTINCT * other.rows
        and not find_changed_cells(dataset.columns[own], before[0].columns[own]).any()
        for own, theirs in shared.items()
    )
    is_chance = not is_fine and (
        np.unique(found[is_found]).size <= tuning.LEAST_SHARED * min(dataset.rows, other.rows)
    )
    return np.full(dataset.rows, -1, np.int64) if is_chance else found


def _find_places(own: Sequence[Texts], is_hidden: Bools, theirs: Sequence[Texts]) -> Ints:
    """By record, the one record that shows what it shows; -1 if there is none, or several."""
    found = np.full(own[0].size, -1, np.int64)
    patterns, number_of = np.unique(is_hidden, axis=1, return_inverse=True)
    for number in range(patterns.shape[1]):
        visible = np.flatnonzero(~patterns[:, number]).tolist()
        rows = np.flatnonzero(number_of.reshape(-1) == number)
        if not visible:
            continue
        places: dict[tuple[str | None, ...], int] = {}
        for place, texts in enumerate(zip(*(theirs[each] for each in visible), strict=True)):
            places[texts] = -1 if texts in places else place
        shown = zip(*(own[each][rows] for each in visible), strict=True)
        found[rows] = [places.get(texts, -1) for texts in shown]
    return found


def _agree(column: Column, other: Column, found: Ints) -> Bools:
    """Whether records have the same id as the ones at these places; -1 is no place."""
    own, theirs = read_texts(column), read_texts(other)
    is_same = (found >= 0) & (own == theirs[np.maximum(found, 0)]) & (own != np.array(None))
    return np.asarray(is_same, np.bool_)
