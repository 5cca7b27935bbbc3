"""Datasets of the same people that go out together: each may show what the other withholds.

Two waves of a panel under one pseudonym, or the records of households beside those of their
members: who joins them reads in one what was hidden in the other. So where records that hide
something can be found in another dataset, the release is not judged, unless a limit is on somebody
who has both and knows or seeks all of which something is withheld.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from itertools import permutations
from typing import TYPE_CHECKING, TypeAlias

import numpy as np
import numpy.typing as npt

from divulge.assessment import Adversary, Sentence, find_attack
from divulge.data import Column, Dataset
from divulge.data.column import find_hidden_cells
from divulge.data.dictionary import WITHHELD_ROLES, as_names
from divulge.data.value_texts import format_value
from divulge.release import tuning
from divulge.release.publication import Publication, Reservation
from divulge.work.arrays import Bools, Ints

if TYPE_CHECKING:
    from divulge.release.release import Release

Texts: TypeAlias = npt.NDArray[np.object_]


def list_telling_datasets(
    release: Release,
    publications: Mapping[str, Publication],
    current: Mapping[str, Dataset],
    sources: Mapping[str, Dataset],
) -> Iterator[Reservation]:
    """Datasets that hide or recode something, of records that another one shows too.

    `sources` are the records of `current` as they were.
    """
    names = [name for name in publications if name in current]
    for name, other in permutations(names, 2):
        changed = find_changed_records(publications[name], current[name], sources[name])
        if not changed.any():
            continue
        withheld = {
            attribute
            for attribute in set(publications[name].shown) & set(publications[other].shown)
            if attribute in current[name].columns
            and find_changed_cells(
                current[name].columns[attribute], sources[name].columns[attribute]
            ).any()
        }
        if any(list_attackers_of(release, (name, other), withheld, current)):
            continue
        found = changed & find_linked_records(
            publications[name],
            publications[other],
            current[name],
            current[other],
            before=(sources[name], sources[other]),
        )
        count = int(np.count_nonzero(found))
        if count:
            values = {"dataset": name, "other": other, "count": count}
            yield Reservation(
                "not judged", Sentence("divulge.release", "publication.telling_dataset", values)
            )


def list_attackers_of(
    release: Release,
    names: tuple[str, str],
    withheld: set[str],
    current: Mapping[str, Dataset],
) -> Iterator[Adversary]:
    """The adversaries with a limit who have both datasets, and all that one of them withholds."""
    limited = {limit.adversary for limit in release.limits if limit.of_assessment}
    for adversary in release.adversaries:
        if limited & {None, adversary.name} and _is_about(adversary, names, withheld, current):
            yield adversary


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


def find_changed_records(publication: Publication, dataset: Dataset, source: Dataset) -> Bools:
    """The records of which a published cell shows less than its source."""
    changed = np.zeros(dataset.rows, np.bool_)
    for name in dataset.names:
        if name in publication.published and name not in publication.pseudonyms:
            changed |= find_changed_cells(dataset.columns[name], source.columns[name])
    return changed


def find_changed_cells(column: Column, before: Column) -> Bools:
    """The cells that were hidden, or show something else than they did."""
    if column is before:
        return np.zeros(column.codes.size, np.bool_)
    is_changed = find_hidden_cells(column, before) | (read_texts(column) != read_texts(before))
    return np.asarray(is_changed, np.bool_)


def find_linked_records(
    publication: Publication,
    other_publication: Publication,
    dataset: Dataset,
    other: Dataset,
    *,
    before: tuple[Dataset, Dataset],
) -> Bools:
    """The records that somebody who has both datasets finds in the other one.

    By a pseudonym that both publish; or by all that both show alike, where the record that looks
    so is the only one there.
    """
    linked = np.zeros(dataset.rows, np.bool_)
    for name in publication.pseudonyms:
        own = read_texts(dataset.columns[name])
        for theirs in other_publication.pseudonyms:
            known = {text for text in read_texts(other.columns[theirs]) if text is not None}
            linked |= np.array([text in known for text in own], np.bool_)
    shared = find_shared_columns(publication, other_publication, dataset, other, before=before)
    if shared:
        linked |= _find_likeness(dataset, other, shared, before)
    return linked


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
    return shared | _find_renamed(
        before,
        [each for each in dataset.names if each in publication.shown and each not in shared],
        [each for each in other.names if each in other_publication.shown and each not in shared],
    )


def _find_renamed(
    before: tuple[Dataset, Dataset], names: Sequence[str], others: Sequence[str]
) -> dict[str, str]:
    """The columns that another dataset has under another name: about as many show each value."""
    counts, other_counts = (
        {name: Counter(read_texts(dataset.columns[name]).tolist()) for name in chosen}
        for dataset, chosen in zip(before, (names, others), strict=True)
    )
    smaller = min(dataset.rows for dataset in before)
    renamed: dict[str, str] = {}
    for name, of in counts.items():
        alike = {
            theirs: (of & found).total()
            for theirs, found in other_counts.items()
            if theirs not in renamed.values() and len(found) > 1
        }
        best = max(alike, key=lambda theirs: alike[theirs], default=None)
        if best is not None and alike[best] >= tuning.LEAST_ALIKE * smaller > 0:
            renamed[name] = best
    return renamed


def _find_likeness(
    dataset: Dataset, other: Dataset, shared: Mapping[str, str], before: tuple[Dataset, Dataset]
) -> Bools:
    """The records of which the other dataset has exactly one that shows the same.

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
        return np.asarray(np.any([_agree(*pair, found) for pair in pairs], axis=0), np.bool_)
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
    return np.zeros(dataset.rows, np.bool_) if is_chance else is_found


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


def read_texts(column: Column) -> Texts:
    """What each record shows; None where nothing is shown."""
    texts = [format_value(value) for value in column.values.to_pylist()]
    return np.array([*texts, None], object)[column.codes]
