"""Channels put together, and what they give away about something else.

A channel is a matrix: one row per secret, one column per observation, rows that sum to one.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from divulge.qif.columns import Columns, Matrix, alike
from divulge.qif.hyper import Hyper
from divulge.qif.reading import ROUNDING, MatrixLike, columns_of, require_rows_sum_to_one


def channel_of(channel: MatrixLike, name: str) -> Columns:
    """Read a channel that users gave, or say which row is no distribution."""
    columns = columns_of(channel, name)
    require_rows_sum_to_one(columns, name)
    return columns


def cascade(first: MatrixLike, second: MatrixLike) -> Matrix:
    """Let a second channel work on what the first shows: post-processing.

    Only the result of the second is seen. It never leaks more than the first alone.

    >>> cascade([[1, 0], [0, 1]], [[0.5, 0.5], [0, 1]]).tolist()
    [[0.5, 0.5], [0.0, 1.0]]
    """
    before, after = channel_of(first, "first channel"), channel_of(second, "second channel")
    if before.shape[1] != after.shape[0]:
        raise ValueError(
            f"the first channel shows {before.shape[1]} observations, "
            f"the second takes {after.shape[0]}: they do not fit."
        )
    return _product(before, after)


def parallel(first: MatrixLike, second: MatrixLike) -> Matrix:
    """Let both channels be seen, each with its own chance for the same secret.

    The pair of observations (y, z) stands in column y * (observations of the second) + z.

    >>> parallel([[1, 0], [0, 1]], [[0.5, 0.5], [0.5, 0.5]]).tolist()
    [[0.5, 0.5, 0.0, 0.0], [0.0, 0.0, 0.5, 0.5]]
    """
    one, other = channel_of(first, "first channel"), channel_of(second, "second channel")
    if one.shape[0] != other.shape[0]:
        raise ValueError(
            f"the channels have {one.shape[0]} and {other.shape[0]} rows: "
            "there has to be one row per secret in both."
        )
    one, other = _of_one_kind(one, other)
    if "sparse" in (one.layout, other.layout):
        return _parallel_sparse(one, other)
    pairs = one.to_matrix()[:, :, None] * other.to_matrix()[:, None, :]
    return pairs.reshape(one.shape[0], -1)


def dalenius(
    h: Hyper, *, correlation: MatrixLike | None = None, joint: MatrixLike | None = None
) -> Hyper:
    """See what a release about one secret tells about another that goes with it.

    The other secret is taken to influence the release through the first alone. All measures apply
    to the result: `bayes_vulnerability(dalenius(h, ...))` is the Dalenius leakage.

    Args:
        h: what the release tells about its own secret.
        correlation: secrets x correlated: how probable each correlated value is for each secret.
        joint: instead, how probable both are together (or how often they occur together). Its
            share of each secret has to be the prior of h.

    Raises:
        ValueError: both or neither are given, the shapes do not fit, or the priors differ.

    >>> smoker = Hyper.from_counts([[8, 2], [0, 10]])
    >>> cancer = dalenius(smoker, correlation=[[0.75, 0.25], [1, 0]])
    >>> cancer.posteriors.round(3).tolist()
    [[0.75, 0.958], [0.25, 0.042]]
    """
    if (correlation is None) == (joint is None):
        raise ValueError("give either correlation or joint, and not both.")
    if joint is not None:
        together = Hyper.from_counts(joint)
        if together.shape[0] != h.shape[0]:
            raise ValueError(f"joint has {together.shape[0]} rows for {h.shape[0]} secrets.")
        off = np.flatnonzero(np.abs(together.prior - h.prior) > ROUNDING)
        if off.size:
            raise ValueError(f"joint gives secret {off[0]} another probability than h does.")
        # A secret that never occurs has no row of its own; any row weighs nothing.
        correlated = together.weights.with_values(
            together.weights.values / together.weights.row_sums()[together.weights.rows]
        )
    else:
        correlated = channel_of(correlation, "correlation")  # type: ignore[arg-type]
        if correlated.shape[0] != h.shape[0]:
            raise ValueError(f"correlation has {correlated.shape[0]} rows, not {h.shape[0]}.")
    return Hyper.from_counts(_product(_transposed(correlated), h.weights))


def _product(left: Columns, right: Columns) -> Any:
    left, right = _of_one_kind(left, right)
    return left.to_matrix() @ right.to_matrix()


def _of_one_kind(one: Columns, other: Columns) -> tuple[Columns, Columns]:
    if "sparse" in (one.layout, other.layout):  # scipy's matrices hold no Fractions
        return one.floating(), other.floating()
    one_values, other_values = alike(one.values, other.values)
    return one.with_values(one_values), other.with_values(other_values)


def _transposed(columns: Columns) -> Columns:
    order = np.argsort(columns.rows, kind="stable")
    sizes = np.bincount(columns.rows, minlength=columns.shape[0])
    starts = np.concatenate([[0], np.cumsum(sizes)])
    shape = (columns.shape[1], columns.shape[0])
    return Columns(shape, starts, columns.owners()[order], columns.values[order], columns.layout)


def _parallel_sparse(one: Columns, other: Columns) -> Any:
    """Pair every stored value of a row with every stored value of the other channel's row."""
    from scipy.sparse import csc_array

    width = other.shape[1]
    left, right = _transposed(one), _transposed(other)  # by secret
    pairs_of_value = np.repeat(right.sizes, left.sizes)  # how many partners each left value has
    first = np.repeat(np.arange(left.values.size), pairs_of_value)
    begin = np.repeat(np.concatenate([[0], np.cumsum(pairs_of_value)[:-1]]), pairs_of_value)
    secret = np.repeat(left.owners(), pairs_of_value)
    second = right.starts[secret] + np.arange(first.size) - begin
    column = left.rows[first].astype(np.int64) * width + right.rows[second]
    values = left.values[first] * right.values[second]
    shape = (one.shape[0], one.shape[1] * width)
    return csc_array((values, (secret, column)), shape=shape)
