"""The same input gives the same result: with any number of processes, and whatever else runs."""

from __future__ import annotations

import json
import multiprocessing
import os
import pickle
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from divulge import datasets, work
from divulge.reconstruction import (
    Generalised,
    Reconstruction,
    Totals,
    allocate,
    reconstruct,
    tuning,
)
from divulge.reconstruction.problem.result import pack_results

UNITS: Any = {"value": "0.01", "weight": "0.00001"}
EXAMPLE = Path(__file__).parents[2] / "examples" / "reconstruction" / "release.toml"


@pytest.fixture(scope="module")
def month() -> datasets.TradeMonth:
    """A month of which little effort closes some instances, and not others."""
    return datasets.trade_month(transactions=500, importers=80, products=5, countries=2)


def audited(month: datasets.TradeMonth, **asked: Any) -> Reconstruction:
    key: Any = {"heading": Generalised("product", prefix=4), "country": "country"}
    fine = Totals(month.by_city, key, ["city", "state"], ["value", "weight"])
    unit: Any = {"product": "product", "country": "country", "customs_unit": "customs_unit"}
    by_state = Totals(month.by_state, unit, "state", ["value", "weight"])
    given: dict[str, Any] = {"units": UNITS, "seconds": 0.05, "in_all": 1.0, **asked}
    return reconstruct(month.transactions, [fine, by_state], month.importers, **given)


def bytes_of(found: Reconstruction) -> bytes:
    """All that was found: what is possible and proved, certificates, effort, and the sentences."""
    arrays = [
        pack_results([result for result in level.results if result is not None])
        for level in found.levels
    ]
    phases = [[phase.certain, phase.identified, phase.chance] for phase in found.phases]
    return pickle.dumps((arrays, phases, json.dumps(found.to_dict(), sort_keys=True)))


def _count_for_ever() -> None:
    number = 0
    while True:
        number += 1


@pytest.fixture
def busy() -> Iterator[None]:
    """Two other processes that take all they can get."""
    context = multiprocessing.get_context("spawn")
    others = [context.Process(target=_count_for_ever, daemon=True) for _ in range(2)]
    for other in others:
        other.start()
    yield
    for other in others:
        other.kill()
        other.join()


@pytest.fixture(scope="module")
def alone(month: datasets.TradeMonth) -> bytes:
    """What one process finds on its own."""
    found = audited(month, workers=1)
    closed = [one.status == "closed" for one in found.solved]
    assert 0 < sum(closed) < len(closed)  # else there would be nothing to differ
    return bytes_of(found)


@pytest.mark.usefixtures("busy")
def test_two_processes_on_a_busy_machine_find_the_same_as_one(
    month: datasets.TradeMonth, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tuning, "PROCESSES_LEAST_COMPLEXITY", 0.0)
    asked: Any = {"fixpoint": False, "in_all": None}
    one = bytes_of(audited(month, workers=1, **asked))
    assert bytes_of(audited(month, workers=2, **asked)) == one


def test_a_run_that_was_interrupted_finds_the_same(
    month: datasets.TradeMonth, alone: bytes, tmp_path: Path
) -> None:
    checkpoints = work.Checkpoints(tmp_path / "kept")
    cancellation = work.Cancellation()

    def stop(progress: work.Progress) -> None:
        if progress.finished:  # after the first table
            cancellation.cancel()

    with (
        work.run_with(checkpoints=checkpoints, cancellation=cancellation, reporter=stop),
        pytest.raises(work.Cancelled),
    ):
        audited(month, workers=1)
    with work.run_with(checkpoints=checkpoints):
        assert bytes_of(audited(month, workers=1)) == alone


def test_another_process_with_another_hash_seed_prints_the_same() -> None:
    asked = ["reconstruct", str(EXAMPLE), "--json", "--seconds", "0.05"]
    printed = [
        subprocess.run(
            [sys.executable, "-m", "divulge.cli", *asked, "--workers", str(workers)],
            env={**os.environ, "PYTHONHASHSEED": str(workers)},
            capture_output=True,
            check=True,
        ).stdout
        for workers in (1, 2)
    ]
    assert printed[0] == printed[1]


def test_what_the_clock_has_cut_says_so_and_claims_no_more() -> None:
    random = np.random.default_rng(3)
    amounts = random.integers(1, 2000, (60, 2))
    truth = random.integers(0, 4, 60)
    packages = {f"p{n}": tuple(map(int, row)) for n, row in enumerate(amounts)}
    bins = {f"b{b}": tuple(map(int, amounts[truth == b].sum(axis=0))) for b in range(4)}
    budget = work.Budget(stop_after=0.001)
    time.sleep(0.002)
    with work.run_with(budget=budget):
        cut = allocate(packages, bins, (1, 1), seconds=2.0, rule_is_known=True)
    whole = allocate(packages, bins, (1, 1), seconds=2.0, rule_is_known=True)
    assert cut.is_cut
    assert not whole.is_cut
    assert any("clock" in sentence for sentence in cut.explain())
    assert all(cut.possible[name] >= whole.possible[name] for name in packages)
    assert all(cut.proved[name] <= cut.possible[name] for name in packages)


def test_an_audit_that_the_clock_has_cut_says_so(month: datasets.TradeMonth) -> None:
    with work.run_with(budget=work.Budget(stop_after=0.01)):
        found = audited(month, workers=1)
    assert found.is_cut
    assert "clock" in str(found)
