"""Columns that were made coarser for all records: their finer values, read from other columns.

Nobody shows a finer value, so relations are judged by what is published instead: what they predict
must lie within the coarser value of every record. A year of birth tells an age in years though
only bands are shown, and the constant between the two is what keeps all of them within their bands.
Who knows what the values of a column mean has a dictionary; that is taken for granted of whoever
is judged with the truth at hand, unless a column has so many values that none says much.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from math import ceil, floor

import numpy as np

from divulge.protection import tuning
from divulge.protection.refill.columns import SINGLE_ORIGINS, AllowedValues, CodedColumn
from divulge.protection.refill.kernels import ABSENT, HIDDEN
from divulge.protection.refill.search.arithmetic import CONSTANT_FORMS, PAIR_FORMS
from divulge.protection.refill.search.dictionaries import find_dictionaries
from divulge.protection.refill.search.numbers import are_close, count_decimals, find_nearest
from divulge.protection.refill.search.ranges import (
    is_step,
    measure_ranges,
    predict_by_ranges,
    rank_numbers,
)
from divulge.protection.refill.search.relations import ColumnRelation, Form
from divulge.protection.refill.search.support import (
    Boldness,
    Support,
    find_mode,
    measure_predictions,
)
from divulge.work.arrays import Floats, Ints

NO_PREDICTION = -1
IMPOSSIBLE = -3
"""A prediction that is no value of the column."""


@dataclass(frozen=True, eq=False, kw_only=True)
class Prediction:
    """What a relation says of every row: a finer code, NO_PREDICTION or IMPOSSIBLE."""

    form: Form
    columns: tuple[str, ...]
    codes: Ints
    support: Support
    constant: float | None = None


def restore_columns(
    columns: Sequence[CodedColumn],
    truth: Mapping[str, Ints] | None,
    read_from: Sequence[str] | None,
    boldness: Boldness | None = None,
) -> tuple[list[CodedColumn], list[ColumnRelation]]:
    """The columns, those of finer values with what others tell; and the relations that do.

    With the truth at hand, a relation that is too often wrong is left out.
    """
    restored: list[CodedColumn] = []
    relations: list[ColumnRelation] = []
    for column in columns:
        if column.origin != "finer" or (column.codes >= 0).any():
            restored.append(column)
            continue
        own_truth = None if truth is None else truth.get(column.key)
        others = [
            other
            for other in columns
            if other.name != column.name
            and other.origin in ("published", "group", *SINGLE_ORIGINS)
            and (read_from is None or other.origin == "group" or other.name in read_from)
        ]
        codes, told = _fill_cells(
            column, _list_predictions(column, others, own_truth, boldness), own_truth
        )
        restored.append(replace(column, codes=codes))
        relations += told
    return restored, relations


def _fill_cells(
    column: CodedColumn, predictions: Iterator[Prediction], truth: Ints | None
) -> tuple[Ints, list[ColumnRelation]]:
    """Fill by the strongest relation first."""
    codes = column.codes.copy()
    allowed = _require_allowed(column)
    relations = []
    for prediction in sorted(predictions, key=lambda p: -p.support.strength):
        rows = np.flatnonzero((column.codes == HIDDEN) & (prediction.codes >= 0))
        rows = rows[allowed.may_be(rows, prediction.codes[rows])]
        if truth is not None:
            right = np.count_nonzero(prediction.codes[rows] == truth[rows])
            if right < tuning.REFILL_VERIFIED_SHARE * np.count_nonzero(truth[rows] != ABSENT):
                continue
        fresh = rows[codes[rows] == HIDDEN]
        codes[fresh] = prediction.codes[fresh]
        if rows.size:
            relations.append(
                ColumnRelation(
                    form=prediction.form,
                    columns=prediction.columns,
                    target=column.name,
                    support=prediction.support,
                    cells=int(rows.size),
                    used=int(fresh.size),
                    constant=prediction.constant,
                    is_finer=True,
                )
            )
    return codes, sorted(relations, key=lambda r: (-r.cells, -r.support.strength, r.columns))


def _list_predictions(
    column: CodedColumn,
    others: Sequence[CodedColumn],
    truth: Ints | None,
    boldness: Boldness | None,
) -> Iterator[Prediction]:
    """Every relation whose predictions keep within what is published."""
    allowed = _require_allowed(column)
    for other in others:
        if other.name in column.copies and other.origin == "published":
            codes = np.append(column.copies[other.name], NO_PREDICTION)
            predicted = np.where(codes >= 0, codes, IMPOSSIBLE)[other.codes]
            predicted = np.where(other.codes >= 0, predicted, NO_PREDICTION)
            support = _measure_within(column, predicted, boldness)
            if support is not None:
                yield Prediction(
                    form="copy", columns=(other.name,), codes=predicted, support=support
                )
    if truth is not None:
        yield from _list_dictionaries(column, others, truth, boldness)
    if column.numbers is None or not column.numbers.size:
        return
    numeric = [other for other in others if other.numbers is not None]
    numbers = [other.list_numbers(other.codes) for other in numeric]
    rows = np.flatnonzero((column.codes == HIDDEN) & (allowed.published >= 0))
    with np.errstate(all="ignore"):
        for form, places, constant in _screen_forms(column, rows, numbers, truth):
            predict = CONSTANT_FORMS[form][0] if constant is not None else PAIR_FORMS[form][0]
            values = [numbers[place] for place in places]
            calculated = predict(*values, *([] if constant is None else [constant]))
            codes = encode_predictions(column, calculated)
            support = _measure_within(column, codes, boldness)
            if support is not None:
                names = tuple(numeric[place].name for place in places)
                yield Prediction(
                    form=form, columns=names, codes=codes, support=support, constant=constant
                )
    for other in others:
        codes = encode_predictions(column, _count_members(other))
        support = _measure_within(column, codes, boldness)
        if support is not None:
            yield Prediction(form="count", columns=(other.name,), codes=codes, support=support)


def _list_dictionaries(
    column: CodedColumn,
    others: Sequence[CodedColumn],
    truth: Ints,
    boldness: Boldness | None,
) -> Iterator[Prediction]:
    """Columns whose values, or ranges of them, mean one finer value to who knows what they mean."""
    target = np.where(column.codes == HIDDEN, truth, -1).astype(np.int32)
    mode = find_mode(target, column.cardinality)
    for other in others:
        if other.numbers is not None and not other.is_id:
            ranking = rank_numbers(other.list_numbers(other.codes))
            support = measure_ranges(ranking, target, mode)
            if is_step(support) or support.is_plausible(boldness):
                codes = predict_by_ranges(ranking, target, own=False)
                yield Prediction(form="range", columns=(other.name,), codes=codes, support=support)
    for found in find_dictionaries(
        others, target, column.cardinality, boldness=boldness, allowed=column.allowed
    ):
        yield Prediction(
            form="dictionary",
            columns=(others[found.place].name,),
            codes=found.codes,
            support=found.support,
        )


def _screen_forms(
    column: CodedColumn, rows: Ints, numbers: Sequence[Floats], truth: Ints | None
) -> Iterator[tuple[Form, tuple[int, ...], float | None]]:
    """The calculations that keep most of a few rows within what is published."""
    allowed = _require_allowed(column)
    published = allowed.published[rows]
    mode = find_mode(published, int(published.max(initial=0)) + 1)
    others = rows[published != mode]
    sample = others[:: max(1, others.size // tuning.REFILL_SAMPLE)]
    low, high = _list_edges(column)
    for place, values in enumerate(numbers):
        edges = (low[published], high[published])
        for form in CONSTANT_FORMS:
            constant = _find_constant(column, form, values[rows], edges, (rows, truth))
            if constant is None:
                continue
            if _fits_sample(column, sample, CONSTANT_FORMS[form][0](values[sample], constant)):
                yield form, (place,), constant
    for first, values in enumerate(numbers):
        for form, (predict, is_symmetric) in PAIR_FORMS.items():
            for second in range(first + 1 if is_symmetric else 0, len(numbers)):
                if second == first:
                    continue
                calculated = predict(values[sample], numbers[second][sample])
                if _fits_sample(column, sample, calculated):
                    yield form, (first, second), None


def _find_constant(
    column: CodedColumn,
    form: Form,
    values: Floats,
    edges: tuple[Floats, Floats],
    hidden: tuple[Ints, Ints | None],
) -> float | None:
    """The constant of a form: what the truth says, or the only whole number that bands leave."""
    assert column.numbers is not None  # noqa: S101  # asked before
    rows, truth = hidden
    solve = CONSTANT_FORMS[form][1]
    if truth is not None:
        constants = solve(np.append(column.numbers, np.nan)[truth[rows]], values)
        constants = np.sort(constants[np.isfinite(constants)])
        return float(constants[constants.size // 2]) if constants.size else None
    known = np.isfinite(values)
    is_whole = np.all(values[known] == np.round(values[known])) and np.all(
        column.numbers == np.round(column.numbers)
    )
    if form == "times" or not known.any() or not is_whole:
        return None
    least = float(np.max(solve(edges[0][known], values[known])))
    most = float(np.min(solve(edges[1][known], values[known])))
    return float(ceil(least)) if ceil(least) == floor(most) else None


def _list_edges(column: CodedColumn) -> tuple[Floats, Floats]:
    """By published code, the least and the greatest finer value that it may stand for."""
    allowed, numbers = _require_allowed(column), column.numbers
    assert numbers is not None  # noqa: S101  # asked before
    size = int(max(allowed.ancestors.max(initial=0), allowed.published.max(initial=0))) + 1
    low, high = np.full(size, np.inf), np.full(size, -np.inf)
    for nodes in allowed.ancestors:
        known = nodes >= 0
        np.minimum.at(low, nodes[known], numbers[known])
        np.maximum.at(high, nodes[known], numbers[known])
    return low, high


def encode_predictions(column: CodedColumn, numbers: Floats) -> Ints:
    """Calculated numbers as finer codes: only values that the column has are possible."""
    assert column.numbers is not None  # noqa: S101  # asked before
    order = np.argsort(column.numbers, kind="stable")
    finite = np.isfinite(numbers)
    wanted = np.where(finite, numbers, 0.0)
    decimals = count_decimals(column.numbers)
    if decimals is not None:  # what a number comes from may be rounded
        wanted = np.round(wanted, decimals)
    nearest = find_nearest(column.numbers[order], wanted)
    codes = np.where(are_close(column.numbers[order][nearest], wanted), order[nearest], IMPOSSIBLE)
    return np.where(finite, codes, NO_PREDICTION)


def _fits_sample(column: CodedColumn, sample: Ints, calculated: Floats) -> bool:
    codes = encode_predictions(column, calculated)
    known = codes != NO_PREDICTION
    if np.count_nonzero(known) < tuning.REFILL_LEAST_SAMPLE:
        return False
    fits = _require_allowed(column).may_be(sample[known], codes[known])
    return bool(np.mean(fits) > tuning.REFILL_SAMPLE_SHARE)


def _measure_within(column: CodedColumn, codes: Ints, boldness: Boldness | None) -> Support | None:
    """How often predictions lie within what is published, if that says anything."""
    allowed = _require_allowed(column)
    rows = np.flatnonzero(
        (column.codes == HIDDEN) & (allowed.published >= 0) & (codes != NO_PREDICTION)
    )
    if not rows.size:
        return None
    published = allowed.published[rows]
    mode = find_mode(published, int(published.max()) + 1)
    is_within = allowed.may_be(rows, codes[rows])
    support = measure_predictions(is_within, published != mode, int(rows.size))
    if not (support.suffices or support.is_plausible(boldness)):
        return None
    # Predictions of other rows that are within it as well show that anything would be.
    moved = allowed.may_be(rows, np.roll(codes[rows], rows.size // 2))
    is_telling = np.mean(~moved) >= tuning.REFILL_ORDER_SHARE
    return support if is_telling else None


def _count_members(column: CodedColumn) -> Floats:
    """For each row, how many rows have its value; not-a-number where that is not known."""
    shown = column.codes >= 0
    counts = np.bincount(column.codes[shown], minlength=column.cardinality + 1)
    return np.where(shown, counts[np.maximum(column.codes, 0)], np.nan)


def _require_allowed(column: CodedColumn) -> AllowedValues:
    assert column.allowed is not None  # noqa: S101  # a column of finer values has it
    return column.allowed
