"""The kernels against plain twins, compiled and as they stand."""

import ast
import inspect
import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from divulge.qif import Hyper, bayes_vulnerability, g_vulnerability, guessing_entropy, kernels
from divulge.qif import shannon_entropy as shannon

COLUMNS = st.lists(
    st.dictionaries(st.integers(0, 59), st.integers(1, 9), max_size=60), min_size=1, max_size=6
)


def arrays(columns: list[dict[int, int]]) -> tuple[Any, Any, Any]:
    starts = np.concatenate([[0], np.cumsum([len(column) for column in columns])]).astype(np.int64)
    rows = np.array([row for column in columns for row in column], dtype=np.int32)
    values = np.array([value for column in columns for value in column.values()], dtype=float)
    return starts, rows, values


def both(kernel: Any, *arguments: Any) -> Any:
    """Run a kernel as it stands and compiled, and see that nothing changes."""
    plain, fast = kernel(*arguments), kernels.compiled(kernel)(*arguments)
    np.testing.assert_allclose(fast, plain, rtol=1e-12)
    return plain


@given(COLUMNS)
@settings(deadline=None)  # the first example compiles
def test_row_sums_are_the_plain_sums(columns: list[dict[int, int]]) -> None:
    _, rows, values = arrays(columns)
    twin = [float(sum(column.get(row, 0) for column in columns)) for row in range(60)]
    assert both(kernels.row_sums, rows, values, 60).tolist() == twin


@given(COLUMNS, st.integers(1, 60))
@settings(deadline=None)
def test_rank_weighted_sums_are_those_of_the_sorted_columns(
    columns: list[dict[int, int]], ranks: int
) -> None:
    starts, _, values = arrays(columns)
    weights = np.arange(1.0, ranks + 1)
    twin = [
        sum(weight * value for weight, value in zip(weights, ordered, strict=False))
        for ordered in (sorted(column.values(), reverse=True) for column in columns)
    ]
    assert both(kernels.rank_weighted_sums, starts, values, weights).tolist() == twin


@pytest.mark.parametrize("ranks", [1, 100, 128, 129, 400])
def test_rank_weighted_sums_of_long_columns_are_those_of_the_sorted_columns(ranks: int) -> None:
    random = np.random.default_rng(ranks)
    columns = [random.permutation(300)[:size] + 1.0 for size in (128, 129, 300, 1)]
    starts = np.concatenate([[0], np.cumsum([column.size for column in columns])])
    weights = random.integers(1, 9, ranks).astype(float)
    twin = [
        float(sum(w * v for w, v in zip(weights, sorted(column)[::-1], strict=False)))
        for column in columns
    ]
    found = both(kernels.rank_weighted_sums, starts, np.concatenate(columns), weights)
    assert found.tolist() == twin


@given(COLUMNS, st.integers(1, 4), st.randoms(use_true_random=False))
@settings(deadline=None)
def test_best_gains_are_the_best_of_all_guesses(
    columns: list[dict[int, int]], guesses: int, random: Any
) -> None:
    starts, rows, values = arrays(columns)
    gain = np.array([[random.randint(-5, 5) for _ in range(guesses)] for _ in range(60)], float)
    twin = [
        max(
            sum(gain[row, guess] * value for row, value in column.items())
            for guess in range(guesses)
        )
        for column in columns
    ]
    assert both(kernels.best_gains, starts, rows, values, gain).tolist() == twin


@given(COLUMNS)
@settings(deadline=None)
def test_entropies_are_those_of_the_shares(columns: list[dict[int, int]]) -> None:
    starts, _, values = arrays(columns)
    twin = [
        -sum(value * math.log2(value / sum(column.values())) for value in column.values())
        for column in columns
    ]
    assert both(kernels.column_entropies, starts, values) == pytest.approx(twin, abs=1e-12)


def test_kernels_keep_fractions_exact() -> None:
    starts, values = np.array([0, 2]), np.array([Fraction(1, 3), Fraction(2, 3)], dtype=object)
    weights = np.array([1, 2], dtype=object)
    assert kernels.rank_weighted_sums(starts, values, weights).tolist() == [Fraction(4, 3)]


def test_a_hyper_large_enough_to_be_compiled_gives_the_figures_of_plain_numpy() -> None:
    random = np.random.default_rng(7)
    counts = random.integers(0, 4, (40, 3_000)).astype(float)
    gain = random.random((5, 40))
    h = Hyper.from_counts(counts)
    assert h.weights.work > kernels.WORTH_COMPILING
    joint = counts / counts.sum()
    outer = joint.sum(axis=0)
    ordered = -np.sort(-joint, axis=0)
    with np.errstate(divide="ignore", invalid="ignore"):
        bits = -np.nansum(joint * np.log2(joint / outer))
    assert bayes_vulnerability(h).posterior == pytest.approx(joint.max(axis=0).sum())
    assert g_vulnerability(h, gain).posterior == pytest.approx((gain @ joint).max(axis=0).sum())
    assert guessing_entropy(h).posterior == pytest.approx((ordered.T @ np.arange(1, 41)).sum())
    assert shannon(h).posterior == pytest.approx(bits)


def test_kernels_call_no_function_of_ours_that_the_cache_would_not_see() -> None:
    tree = ast.parse(inspect.getsource(kernels))
    ours = {node.name for node in tree.body if isinstance(node, ast.FunctionDef)}
    for node in tree.body:
        if isinstance(node, ast.FunctionDef) and node.name not in ("run", "compiled"):
            called = {each.id for each in ast.walk(node) if isinstance(each, ast.Name)}
            assert not called & ours, node.name


def test_kernels_are_compiled_also_where_no_cache_can_be_written(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    import numba

    original = numba.njit

    def refusing(*arguments: Any, **options: Any) -> Any:
        if options.get("cache"):
            raise RuntimeError("cannot cache function: no locator available")
        return original(*arguments, **options)

    monkeypatch.setattr(numba, "njit", refusing)
    compiled = kernels.compiled.__wrapped__(kernels.row_sums)
    assert compiled(np.array([0, 0]), np.array([1.0, 2.0]), 1).tolist() == [3.0]
