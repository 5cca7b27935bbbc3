"""Decoys: further cells suppressed at random, so that the method no longer excludes for certain.

Who knows that as little as possible is hidden excludes values that would have been safe. If some
cells are hidden although they were safe, such a value may be the truth. A decoy is the cell of a
record that then looks like others who hide the same, out of a class that can spare it: whatever had
k alike still has. Which cells are drawn follows from a secret and from each record itself, so the
same data and the same secret give the same decoys, and other records leave them as they are.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from hashlib import blake2b
from typing import Any

import numpy as np
import numpy.typing as npt

from divulge.assessment import Sentence
from divulge.classes.keys import assign_classes
from divulge.data import Dataset
from divulge.data.value_texts import format_value
from divulge.protection.changes.changes import (
    build_code_matrix,
    hide_cells,
    select_records,
    value_at,
)
from divulge.protection.changes.decision_log import Change, DecisionLog
from divulge.protection.changes.kernels import HIDDEN
from divulge.protection.directives.settlement import SettledDirectives
from divulge.protection.refill.columns import mix_codes
from divulge.protection.result.protected import Protected
from divulge.work import Problem, checks
from divulge.work.arrays import Bools, Floats, Ints
from divulge.work.secret_key import KEY_BYTES, SecretKey

Codes = npt.NDArray[np.int32]

WORD_BYTES = 8
"""Bytes of a number of 64 bits."""

MOST_DECOYS = 10
"""Decoys for each cell that had to be hidden, at most: of more, little else would be left."""


@dataclass(frozen=True)
class DecoyWish:
    """How many decoys are wanted for each cell that had to be hidden, and what draws them."""

    rate: float = 0.0
    secret: SecretKey | None = None
    """From the data themselves if None: who does not have all of them cannot derive it."""
    most_records: float = np.inf
    """How many records may be changed, those included that had to be."""
    kept: SettledDirectives = field(default_factory=SettledDirectives)
    """Which cells rules keep: none of them becomes a decoy."""


def check_decoys(decoys: float) -> Iterator[Problem]:
    """What is wrong with a rate of decoys."""
    if not checks.is_number(decoys) or not 0 <= decoys <= MOST_DECOYS:
        yield Problem(
            "decoys", f"{checks.describe_value(decoys)} is not a number from 0 to {MOST_DECOYS}."
        )


def add_decoys(
    protected: Protected, wish: DecoyWish, is_held: Callable[[Dataset], bool]
) -> Protected:
    """The protection with decoys, as many as leave every limit as it is.

    `is_held` tells of the records with more cells hidden whether all limits hold.
    """
    if not wish.rate or not protected.suppressed_cells:
        return protected
    drawn = _draw_decoys(protected, wish)
    while drawn and not is_held(_hide_decoys(protected.dataset, drawn)):
        drawn = drawn[: len(drawn) // 2]
    dataset = _hide_decoys(protected.dataset, drawn)
    decoyed = replace(
        protected,
        dataset=dataset,
        decoys=wish.rate,
        needed=protected,
        again=None,
        reseeded=None,
        only_at_risk=False,
    )
    return replace(decoyed, decisions=_log_decoys(decoyed, drawn))


def _hide_decoys(dataset: Dataset, drawn: list[tuple[int, str]]) -> Dataset:
    return hide_cells(dataset, _group_by_attribute(drawn))


def _group_by_attribute(drawn: list[tuple[int, str]]) -> dict[str, Ints]:
    names = dict.fromkeys(name for _, name in drawn)
    return {name: np.array(sorted(r for r, each in drawn if each == name)) for name in names}


def _draw_decoys(protected: Protected, wish: DecoyWish) -> list[tuple[int, str]]:
    """Cells (record of the release, attribute) that become decoys, in the order of the draw."""
    names = list(protected.among)
    rows = build_code_matrix(protected.dataset, names, absence_apart=True)
    is_hidden = _find_fresh_cells(protected, names)
    kept = wish.kept.mark_kept(names, protected.kept)
    wanted = np.floor(wish.rate * np.cumsum(is_hidden.sum(axis=0)) + 0.5)
    priority = _rank_records(protected, wish.secret)
    changed = protected.decisions.suppressed_or_removed.size
    room = wish.most_records - changed
    is_touched: Bools = is_hidden.max(axis=1)
    drawn: list[tuple[int, str]] = []
    # What one attribute lacks, the next ones make up for; then the first ones again.
    for total in (wanted, np.full(len(names), wanted[-1])):
        for a, name in enumerate(names):
            spare = _find_spare_records(
                rows,
                a,
                is_hidden[:, a],
                k=protected.k,
                priority=priority,
                absent=protected.dataset.columns[name].missing_code,
            )
            spare = spare[~np.isin(spare, [record for record, _ in drawn])]
            if kept is not None:
                spare = spare[~kept[spare, a]]
            # A record that was changed already takes no room.
            is_free = is_touched[spare]
            takes = np.cumsum(~is_free)
            spare = spare[is_free | (takes <= room)]
            chosen = spare[: max(0, int(total[a]) - len(drawn))]
            room -= int((~is_touched[chosen]).sum())
            rows[chosen, a] = HIDDEN
            drawn += [(record, name) for record in chosen.tolist()]
    return sorted(drawn, key=lambda cell: int(priority[cell[0]]))


def _find_fresh_cells(protected: Protected, names: list[str]) -> Bools:
    """Which cells this protection has hidden."""
    original = protected.original
    if protected.removed:
        original = select_records(original, protected.kept)
    fresh = []
    for name in names:
        before, after = original.columns[name], protected.dataset.columns[name]
        is_missing = after.codes == after.missing_code
        fresh.append(is_missing & (before.codes != before.missing_code))
    return np.stack(fresh, axis=1)


def _find_spare_records(
    rows: Codes, a: int, is_hidden: Bools, *, k: int, priority: Ints, absent: int
) -> Ints:
    """Records that may hide an attribute too, in the order of the draw.

    They agree in all else with one that hides it, and k of their class stay as they are. Groups
    that agree in all else get decoys by how many of them hide it: else those with many spare
    records would have most decoys, and a reader could tell where.
    """
    others = [rows[:, b] for b in range(rows.shape[1]) if b != a]
    rest = _number_classes(others, len(rows))
    whole = _number_classes([rest, rows[:, a]], len(rows))
    is_company = np.zeros(int(rest.max(initial=-1)) + 1, np.bool_)
    is_company[rest[is_hidden]] = True
    is_candidate = is_company[rest] & (rows[:, a] != HIDDEN) & (rows[:, a] != absent)
    candidates = np.flatnonzero(is_candidate)
    candidates = candidates[np.argsort(priority[candidates], kind="stable")]
    size = np.bincount(whole)
    # The first of each class, as many as it has more than k.
    order = np.argsort(whole[candidates], kind="stable")
    by_class = whole[candidates][order]
    place = np.empty(candidates.size, np.int64)
    place[order] = np.arange(candidates.size) - np.searchsorted(by_class, by_class)
    spare = candidates[place < size[whole[candidates]] - k]
    return spare[np.argsort(_apportion_turns(rest, is_hidden, spare, priority), kind="stable")]


def _apportion_turns(rest: Ints, is_hidden: Bools, spare: Ints, priority: Ints) -> Floats:
    """For each spare record, when it is its turn: evenly by how many of its group hide the cell.

    The n-th record of a group comes at (n - u) / hidden, where u is drawn for the group: at any
    time each group has had its part, rounded up or down at random.
    """
    hidden = np.bincount(rest[is_hidden], minlength=int(rest.max(initial=-1)) + 1)
    drawn = np.zeros(hidden.size, np.int64)
    np.bitwise_xor.at(drawn, rest[is_hidden], priority[is_hidden])
    order = np.argsort(rest[spare], kind="stable")
    groups = rest[spare][order]
    number = np.empty(spare.size, np.int64)
    number[order] = np.arange(spare.size) - np.searchsorted(groups, groups)
    return np.asarray((number + 1 - drawn[rest[spare]] / 2.0**63) / hidden[rest[spare]])


def _number_classes(columns: list[Codes] | list[Ints], rows: int) -> Ints:
    shifted = [column.astype(np.int64) + 1 for column in columns]
    return assign_classes(shifted, [int(c.max(initial=0)) + 1 for c in shifted], rows)


def _rank_records(protected: Protected, secret: SecretKey | None) -> Ints:
    """A secret number for each record, by what it holds: other records do not change it."""
    original = protected.original
    secret = SecretKey.from_text(original.fingerprint) if secret is None else secret
    key = secret.derive_key("decoys")
    naming = [a.name for a in original.dictionary if a.role in ("identifier", "person")]
    words = []
    for name in [*naming, *protected.among] if naming else original.names:
        column = original.columns[name]
        numbers = np.array([*_hash_values(key, name, column.values.to_pylist()), 0], np.uint64)
        words.append(numbers[np.minimum(column.codes.astype(np.int64), numbers.size - 1)])
    mixed = mix_codes(words, original.rows).view(np.uint64)
    # Records that are alike in everything are told apart by their order.
    order = np.argsort(mixed, kind="stable")
    alike = mixed[order]
    again = np.arange(original.rows) - np.searchsorted(alike, alike)
    mixed[order] ^= again.astype(np.uint64) * np.uint64(0xBF58476D1CE4E5B9)
    return (mixed >> np.uint64(1)).astype(np.int64)[protected.kept]


def _hash_values(key: bytes, name: str, values: Sequence[Any]) -> Iterator[int]:
    """Numbers for the values of a column that nobody without the key can tell."""
    of_column = blake2b(name.encode(), key=key, digest_size=KEY_BYTES).digest()
    for value in values:
        digest = blake2b(
            format_value(value).encode(), key=of_column, digest_size=WORD_BYTES
        ).digest()
        yield int.from_bytes(digest, "big")


def _log_decoys(decoyed: Protected, drawn: list[tuple[int, str]]) -> DecisionLog:
    """The decisions, with one for every decoy; only what stays internal says which they are."""
    needed = decoyed.needed
    assert needed is not None  # noqa: S101  # set just before
    log = needed.decisions
    before = needed.frequencies[1].sample
    after = decoyed.frequencies[1].sample
    cells: Mapping[str, Ints] = _group_by_attribute(drawn)
    changes = [
        Change(
            kind="suppressed",
            attribute=name,
            records=decoyed.kept[places],
            was=tuple(value_at(needed.dataset.columns[name], place) for place in places.tolist()),
            became=(None,) * places.size,
            rule=f"decoys = {decoyed.decoys:g}",
            reason=str(Sentence("divulge.protection", "reason.decoy")),
            before=1 / np.maximum(before[places], 1.0),
            after=1 / np.maximum(after[places], 1.0),
            company=np.rint(before[places]).astype(np.int64),
            among=decoyed.among,
        )
        for name, places in cells.items()
    ]
    return replace(log, changes=(*log.changes, *changes))
