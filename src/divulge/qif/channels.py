"""Channels put together, and what they give away about something else.

A channel is a matrix: one row per secret, one column per observation, rows that sum to one.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from divulge.qif.columns import Columns, Matrix, unify_numbers
from divulge.qif.hyper import Hyper
from divulge.qif.matrix_input import ROUNDING, MatrixLike, read_columns, require_rows_sum_to_one


def read_channel(channel: MatrixLike, name: str) -> Columns:
    """Read a channel that users gave, or say which row is no distribution."""
    columns = read_columns(channel, name)
    require_rows_sum_to_one(columns, name)
    return columns


def cascade(first: MatrixLike, second: MatrixLike) -> Matrix:
    """Let a second channel work on what the first shows: post-processing.

    Only the result of the second is seen. It never leaks more than the first alone.

    >>> cascade([[1, 0], [0, 1]], [[0.5, 0.5], [0, 1]]).tolist()
    [[0.5, 0.5], [0.0, 1.0]]
    """
    before, after = read_channel(first, "first channel"), read_channel(second, "second channel")
    if before.shape[1] != after.shape[0]:
        raise ValueError(
            f"the first channel shows {before.shape[1]} observations, "
            f"the second takes {after.shape[0]}: they do not fit."
        )
    return _multiply_channels(before, after)


def parallel(first: MatrixLike, second: MatrixLike) -> Matrix:
    """Let both channels be seen, each with its own chance for the same secret.

    The pair of observations (y, z) stands in column y * (observations of the second) + z.

    >>> parallel([[1, 0], [0, 1]], [[0.5, 0.5], [0.5, 0.5]]).tolist()
    [[0.5, 0.5, 0.0, 0.0], [0.0, 0.0, 0.5, 0.5]]
    """
    one, other = read_channel(first, "first channel"), read_channel(second, "second channel")
    if one.shape[0] != other.shape[0]:
        raise ValueError(
            f"the channels have {one.shape[0]} and {other.shape[0]} rows: "
            "there has to be one row per secret in both."
        )
    one, other = _unify_columns(one, other)
    if "sparse" in (one.layout, other.layout):
        return _pair_sparse_rows(one, other)
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
        joint_hyper = Hyper.from_counts(joint)
        if joint_hyper.shape[0] != h.shape[0]:
            raise ValueError(f"joint has {joint_hyper.shape[0]} rows for {h.shape[0]} secrets.")
        mismatches = np.flatnonzero(np.abs(joint_hyper.prior - h.prior) > ROUNDING)
        if mismatches.size:
            raise ValueError(f"joint gives secret {mismatches[0]} another probability than h does.")
        # A secret that never occurs has no row of its own; any row weighs nothing.
        correlated = joint_hyper.weights.with_values(
            joint_hyper.weights.values / joint_hyper.weights.row_sums()[joint_hyper.weights.rows]
        )
    else:
        correlated = read_channel(correlation, "correlation")  # type: ignore[arg-type]
        if correlated.shape[0] != h.shape[0]:
            raise ValueError(f"correlation has {correlated.shape[0]} rows, not {h.shape[0]}.")
    return Hyper.from_counts(_multiply_channels(_transpose_columns(correlated), h.weights))


def _multiply_channels(left: Columns, right: Columns) -> Any:
    left, right = _unify_columns(left, right)
    return left.to_matrix() @ right.to_matrix()


def _unify_columns(one: Columns, other: Columns) -> tuple[Columns, Columns]:
    if "sparse" in (one.layout, other.layout):  # scipy's matrices hold no Fractions
        return one.to_floating(), other.to_floating()
    one_values, other_values = unify_numbers(one.values, other.values)
    return one.with_values(one_values), other.with_values(other_values)


def _transpose_columns(columns: Columns) -> Columns:
    order = np.argsort(columns.rows, kind="stable")
    sizes = np.bincount(columns.rows, minlength=columns.shape[0])
    starts = np.concatenate([[0], np.cumsum(sizes)])
    shape = (columns.shape[1], columns.shape[0])
    return Columns(
        shape=shape,
        starts=starts,
        rows=columns.column_indices()[order],
        values=columns.values[order],
        layout=columns.layout,
    )


def _pair_sparse_rows(one: Columns, other: Columns) -> Any:
    """Pair every stored value of a row with every stored value of the other channel's row."""
    from scipy.sparse import csc_array

    width = other.shape[1]
    left, right = _transpose_columns(one), _transpose_columns(other)  # by secret
    pairs_of_value = np.repeat(right.sizes, left.sizes)  # how many partners each left value has
    first = np.repeat(np.arange(left.values.size), pairs_of_value)
    begin = np.repeat(np.concatenate([[0], np.cumsum(pairs_of_value)[:-1]]), pairs_of_value)
    secret = np.repeat(left.column_indices(), pairs_of_value)
    second = right.starts[secret] + np.arange(first.size) - begin
    column = left.rows[first].astype(np.int64) * width + right.rows[second]
    values = left.values[first] * right.values[second]
    shape = (one.shape[0], one.shape[1] * width)
    return csc_array((values, (secret, column)), shape=shape)
