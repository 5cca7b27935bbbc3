"""Totals over the members of a group: the income of a household is the sum of its members' incomes.

Such a total tells a member's value once all others are shown, and the members tell the total. Any
column may be what groups them: a household number, or what all of a household have in common.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np

from divulge.protection import tuning
from divulge.protection.refill.kernels import ABSENT, HIDDEN
from divulge.protection.refill.search.arithmetic import fit_sample, offer_numbers
from divulge.protection.refill.search.numbers import count_decimals
from divulge.protection.refill.search.relations import Form
from divulge.protection.refill.search.state import RefillState, Target
from divulge.work.arrays import Floats, Ints


@dataclass(frozen=True, eq=False, kw_only=True)
class MemberSums:
    """What the groups of some rows add up to, row by row; not-a-number where that is not known."""

    total: Floats
    members: Ints
    hidden: Ints
    """How many members hide their number; `total` leaves them out."""


def offer_member_sums(state: RefillState) -> None:
    """Offer what totals over groups tell of a member, and members of a total."""
    for target in state.targets:
        if target.is_open:
            for form, places, predictions, groups in screen_member_sums(state, target):
                offer_numbers(state, target, (form, places), predictions, groups=groups)


def screen_member_sums(
    state: RefillState, target: Target
) -> Iterator[tuple[Form, tuple[int, ...], Floats, int]]:
    """The totals over groups that fit most of a few rows, with what they predict of every row.

    And how many groups there are.
    """
    if target.numbers is None or target.sample.size < tuning.REFILL_LEAST_SAMPLE:
        return
    numbers = {
        place: state.list_numbers(place)
        for place in state.sources
        if state.columns[place].numbers is not None
        and state.columns[place].origin == "published"
        and target.may_read((place,))
    }
    wanted = target.list_numbers(target.evidence[target.sample])
    for place in state.sources:
        if state.columns[place].origin not in ("published", "group"):
            continue
        if not target.may_read((place,)):
            continue
        groups = state.known[place]
        rows = _select_members(groups, target.sample, state.count_codes(place))
        if not target.sample.size < rows.size <= tuning.REFILL_MEMBER_ROWS:
            continue  # nobody shares a group; or nearly all do: a region's total is no household's
        yield from _screen_rest(state, target, numbers, place, rows)
        yield from _screen_totals(state, target, numbers, place, rows, wanted=wanted)


def _screen_rest(
    state: RefillState, target: Target, numbers: Mapping[int, Floats], place: int, rows: Ints
) -> Iterator[tuple[Form, tuple[int, ...], Floats, int]]:
    """Totals of which the target is a part: what the other members leave of them."""
    groups, known = state.known[place], target.known
    own = target.list_numbers(known)
    few = _add_members(groups[rows], known[rows], own[rows])
    at = np.searchsorted(rows, target.sample)
    totals = np.where(few.hidden[at] == 0, few.total[at], np.nan)
    means = totals / few.members[at]
    others = [other for other in numbers if other != place]
    decimals = [count_decimals(_list_values(state, other)) for other in others]
    for form, sums in (("rest", totals), ("rest_of_mean", means)):
        told = np.array([numbers[other][target.sample] for other in others])
        if not others:
            return
        shown = np.array([sums if d is None else np.round(sums, d) for d in decimals])
        for number in np.flatnonzero(fit_sample(shown, told)).tolist():
            every = _add_members(groups, known, own)
            total = numbers[others[number]]
            if form == "rest_of_mean":
                total = total * every.members
            mine = np.where(known == HIDDEN, np.nan, np.nan_to_num(own))
            # Of a shown member the others are all but itself; of a hidden one, all that are shown.
            rest = np.where(known == HIDDEN, every.total, every.total - mine)
            is_told = every.hidden == (known == HIDDEN)
            predictions = target.round_numbers(np.where(is_told, total - rest, np.nan))
            yield form, (place, others[number]), predictions, _count_groups(groups)  # type: ignore[misc]


def _screen_totals(
    state: RefillState,
    target: Target,
    numbers: Mapping[int, Floats],
    place: int,
    rows: Ints,
    *,
    wanted: Floats,
) -> Iterator[tuple[Form, tuple[int, ...], Floats, int]]:
    """Targets that are a total of others: what all members add up to."""
    groups, at = state.known[place], np.searchsorted(rows, target.sample)
    for part, own in numbers.items():
        if part == place:
            continue
        few = _add_members(groups[rows], state.known[part][rows], own[rows])
        totals = np.where(few.hidden[at] == 0, few.total[at], np.nan)
        for form, sums in (("total", totals), ("mean", totals / few.members[at])):
            if fit_sample(target.round_numbers(sums), wanted):
                every = _add_members(groups, state.known[part], own)
                total = np.where(every.hidden == 0, every.total, np.nan)
                if form == "mean":
                    total = total / every.members
                total = target.round_numbers(total)
                yield form, (place, part), total, _count_groups(groups)  # type: ignore[misc]


def _list_values(state: RefillState, place: int) -> Floats:
    """The numbers that a column has."""
    numbers = state.columns[place].numbers
    assert numbers is not None  # noqa: S101  # only columns of numbers are asked about
    return numbers


def _select_members(groups: Ints, sample: Ints, cardinality: int) -> Ints:
    """The rows of the groups of some rows, and these rows themselves, in order."""
    is_chosen = np.zeros(max(1, cardinality), np.bool_)
    chosen = groups[sample]
    is_chosen[chosen[chosen >= 0]] = True
    is_member = (groups >= 0) & is_chosen[np.maximum(groups, 0)]
    is_member[sample] = True
    return np.flatnonzero(is_member)


def _add_members(groups: Ints, codes: Ints, numbers: Floats) -> MemberSums:
    """Sums by group, of each row's own one; who is absent adds nothing."""
    size = int(groups.max(initial=-1)) + 2
    place = np.where(groups >= 0, groups, size - 1)
    is_value = np.isfinite(numbers)
    total = np.bincount(place, np.where(is_value, numbers, 0.0), size)
    unknown = (codes != ABSENT) & ~is_value
    hidden = np.bincount(place, unknown, size).astype(np.int64)
    members = np.bincount(place, minlength=size)
    totals = np.where(groups >= 0, total[place], np.nan)
    return MemberSums(total=totals, members=members[place], hidden=hidden[place])


def _count_groups(groups: Ints) -> int:
    """How many groups there are."""
    return int(np.unique(groups[groups >= 0]).size)
