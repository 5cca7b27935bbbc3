"""Relations of numbers: sums, differences, products and ratios; order; the rows around.

A form is tried on a few rows first, those whose value is not the most frequent one, and only if it
fits most of them on all rows. None of these predictions uses the predicted column, so no row needs
to be left out.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

import numpy as np

from divulge.protection import tuning
from divulge.protection.refill.kernels import HIDDEN
from divulge.protection.refill.search.linear_sums import find_linear_sums
from divulge.protection.refill.search.numbers import are_close
from divulge.protection.refill.search.relations import Form, Narrowing
from divulge.protection.refill.search.state import RefillState, Target
from divulge.protection.refill.search.support import Support, bound_share_below, measure_predictions
from divulge.work.arrays import Array, Floats, Ints

CONSTANT_FORMS: Mapping[Form, tuple[Callable[..., Floats], Callable[..., Floats]]] = {
    "plus": (np.add, lambda a, b: a - b),
    "minus": (lambda b, c: c - b, np.add),
    "times": (np.multiply, np.divide),
}
"""By form: the prediction from B and c, and c from the target and B."""

PAIR_FORMS: Mapping[Form, tuple[Callable[..., Floats], bool]] = {
    "sum": (np.add, True),
    "difference": (np.subtract, False),
    "product": (np.multiply, True),
    "ratio": (np.divide, False),
}
"""By form: the prediction from B and C, and whether their order makes no difference."""

SCALED_FORMS = ("product", "ratio")
"""Forms that may miss by a power of ten: amounts in thousands, shares in percent."""
MOST_POWER = 6


def offer_calculations(state: RefillState) -> None:
    """Offer every sum, difference, product and ratio that tells a hidden cell."""
    for target in state.targets:
        if target.is_open:
            for form, places, constant, predictions in screen_calculations(state, target):
                offer_numbers(state, target, (form, places), predictions, constant=constant)


def screen_calculations(
    state: RefillState, target: Target
) -> Iterator[tuple[Form, tuple[int, ...], float | None, Floats]]:
    """The calculations that fit most of a few rows, with what they predict of every row."""
    if target.numbers is None or not target.sample.size:
        return
    others = [
        place
        for place in state.sources
        if state.columns[place].numbers is not None and target.may_read((place,))
    ]
    numbers = {place: state.list_numbers(place) for place in others}
    with np.errstate(all="ignore"):
        for form, places, constant in _screen_forms(target, others, numbers):
            predictions = _calculate(form, [numbers[p] for p in places], constant)
            yield form, places, constant, target.round_numbers(predictions)
        for places, predictions in find_linear_sums(state, target, numbers):
            yield "linear", places, None, predictions


def offer_numbers(
    state: RefillState,
    target: Target,
    relation: tuple[Form, tuple[int, ...]],
    predictions: Floats,
    *,
    groups: int = 0,
    constant: float | None = None,
) -> None:
    """Offer predictions of every row as numbers, if they are right where the value is shown."""
    support = measure_numbers(target, predictions, groups)
    if not (support.suffices or support.is_plausible(target.boldness)):
        return
    hidden = np.flatnonzero(target.known == HIDDEN)
    is_possible, codes = target.encode_numbers(predictions[hidden])
    key = (relation[0], relation[1], target.place)
    state.offer(key, support, (hidden[is_possible], codes), constant)


def measure_numbers(target: Target, predictions: Floats, groups: int) -> Support:
    """How often numbers are right where there is evidence of the target."""
    codes = target.evidence
    rows = np.flatnonzero((codes >= 0) & np.isfinite(predictions))
    is_right = are_close(predictions[rows], target.list_numbers(codes[rows]))
    return measure_predictions(is_right, codes[rows] != target.mode, groups or rows.size)


def may_fit_sample(target: Target, predictions: Floats) -> bool:
    """Whether predictions of the sampled rows fit most of them."""
    return bool(fit_sample(predictions, target.list_numbers(target.evidence[target.sample])))


def fit_sample(predictions: Array, wanted: Array) -> Array:
    """Whether predictions of sampled rows (the last axis) are what is wanted in most of them."""
    is_known = np.isfinite(predictions)
    fits = are_close(predictions, wanted) & is_known
    known = is_known.sum(axis=-1)
    share: Array = (known >= tuning.REFILL_LEAST_SAMPLE) & (
        fits.sum(axis=-1) > tuning.REFILL_SAMPLE_SHARE * known
    )
    return share


def _screen_forms(
    target: Target, others: list[int], numbers: Mapping[int, Floats]
) -> Iterator[tuple[Form, tuple[int, ...], float | None]]:
    """The forms that fit most of the sampled rows."""
    if not others:
        return
    wanted = target.list_numbers(target.evidence[target.sample])
    sample = np.array([numbers[place][target.sample] for place in others])
    yield from _screen_constants(target, others, sample, wanted)
    yield from _screen_pairs(target, others, sample, wanted)


def _screen_constants(
    target: Target, others: list[int], sample: Array, wanted: Floats
) -> Iterator[tuple[Form, tuple[int, ...], float | None]]:
    """A column and a constant: the middle one of those that the sampled rows need."""
    for row, place in zip(sample, others, strict=True):
        for form, (predict, solve) in CONSTANT_FORMS.items():
            constants = solve(wanted, row)
            constants = constants[np.isfinite(constants)]
            if constants.size:
                constant = float(np.sort(constants)[constants.size // 2])
                if fit_sample(target.round_numbers(predict(row, constant)), wanted):
                    yield form, (place,), constant


def _screen_pairs(
    target: Target, others: list[int], sample: Array, wanted: Floats
) -> Iterator[tuple[Form, tuple[int, ...], float | None]]:
    """Two columns; of products and ratios also a power of ten."""
    for first, place in enumerate(others):
        for form, (predict, is_symmetric) in PAIR_FORMS.items():
            start = first + 1 if is_symmetric else 0
            calculated = predict(sample[first], sample[start:])
            factors = np.ones(len(calculated))
            if form in SCALED_FORMS:
                factors = _find_powers(calculated, wanted)
                calculated = calculated * factors[:, None]
            fits = fit_sample(target.round_numbers(calculated), wanted)
            for second in np.flatnonzero(fits).tolist():
                if others[start + second] != place:
                    factor = float(factors[second])
                    yield form, (place, others[start + second]), None if factor == 1 else factor


def _find_powers(calculated: Array, wanted: Floats) -> Floats:
    """The power of ten by which most products or ratios miss what is wanted: a share in percent."""
    ratios = wanted / calculated
    ratios[~(np.isfinite(ratios) & (ratios > 0))] = np.nan
    powers = np.ones(len(ratios))
    some = np.isfinite(ratios).any(axis=1)
    middle = np.nanmedian(ratios[some], axis=1)
    nearest = np.round(np.log10(middle))
    is_power = np.abs(nearest) <= MOST_POWER
    is_power &= np.abs(middle / 10**nearest - 1) < tuning.REFILL_POWER_MARGIN
    powers[some] = np.where(is_power, 10.0**nearest, 1.0)
    return powers


def _calculate(form: Form, columns: list[Floats], constant: float | None) -> Floats:
    if form in CONSTANT_FORMS:
        return CONSTANT_FORMS[form][0](columns[0], constant)
    return PAIR_FORMS[form][0](*columns) * (1.0 if constant is None else constant)


def offer_neighbours(state: RefillState) -> None:
    """Offer the value that the rows before and after have in common (rows in a given order)."""
    for target in state.targets:
        if not target.is_open or state.rows < 3 or target.place not in state.sources:
            continue
        before, after = target.evidence[:-2], target.evidence[2:]
        middle = target.evidence[1:-1]
        rows = (before == after) & (before >= 0) & (middle >= 0)
        right, others = middle[rows] == before[rows], middle[rows] != target.mode
        support = measure_predictions(right, others, int(rows.sum()))
        if not support.suffices:
            continue
        before, after, middle = target.known[:-2], target.known[2:], target.known[1:-1]
        places = np.flatnonzero((before == after) & (before >= 0) & (middle == HIDDEN))
        key = ("neighbours", (target.place,), target.place)
        state.offer(key, support, (places + 1, before[places].astype(np.int64)))  # type: ignore[arg-type]


def offer_bounds(state: RefillState) -> list[Narrowing]:
    """Columns that are never above or below a target; offer cells for which one value is left."""
    narrowings: list[Narrowing] = []
    numeric = [p for p in state.sources if state.columns[p].numbers is not None]
    for target in state.targets:
        if target.numbers is None or not target.sample.size:
            continue
        wanted = target.list_numbers(target.evidence)
        low, high = np.full(state.rows, -np.inf), np.full(state.rows, np.inf)
        values = np.unique(wanted[np.isfinite(wanted)])
        hidden = np.flatnonzero(target.shown == HIDDEN)
        bounding: list[int] = []
        for place in numeric:
            if not target.may_read((place,)) or state.columns[place].origin != "published":
                continue
            bounds = state.list_numbers(place)
            for is_upper in (True, False):
                rows = _count_ordered(target, wanted, bounds, is_upper)
                if not rows:
                    continue
                told = bounds[hidden]
                if is_upper:
                    np.fmin(high, bounds, out=high)
                    cells = int(np.count_nonzero(told < values[-1]))
                else:
                    np.fmax(low, bounds, out=low)
                    cells = int(np.count_nonzero(told > values[0]))
                if cells:
                    bounding.append(place)
                    names = state.columns[place].name, state.columns[target.place].name
                    narrowings.append(
                        Narrowing(
                            column=names[0],
                            target=names[1],
                            is_upper=is_upper,
                            cells=cells,
                            rows=rows,
                        )
                    )
        if bounding and target.is_open:
            first = np.searchsorted(values, low, side="left")
            is_single = np.searchsorted(values, high, side="right") - first == 1
            left = np.full(state.rows, np.nan)
            left[is_single] = values[first[is_single]]
            places = tuple(dict.fromkeys(bounding))
            offer_numbers(state, target, ("order", places), left)
    return narrowings


def _count_ordered(target: Target, wanted: Floats, bounds: Floats, is_upper: bool) -> int:
    """How many rows bear an order out, if none is against it and chance would not do it too."""
    sign = 1.0 if is_upper else -1.0
    sample: Ints = target.sample
    with np.errstate(invalid="ignore"):
        if np.any(sign * wanted[sample] > sign * bounds[sample]):
            return 0
        is_known = np.isfinite(wanted) & np.isfinite(bounds)
        mine, theirs = sign * wanted[is_known], sign * bounds[is_known]
    if not mine.size or np.any(mine > theirs):
        return 0
    # The same columns with the rows of one moved: an order that then still holds says nothing.
    against = np.count_nonzero(mine > np.roll(theirs, mine.size // 2))
    if against < tuning.REFILL_ORDER_SHARE * mine.size:
        return 0
    is_sure = bound_share_below(mine.size, mine.size) >= tuning.REFILL_LOWER_BOUND
    return int(mine.size) if is_sure else 0
