"""Who asks whether something can be done does not take an interruption for a no."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from tests.release_files import write_release

from divulge import Dataset, InvalidInput, Limit, Release, datasets, events, protection, work
from divulge.data import files
from divulge.protection import map_methods
from divulge.protection.history import attacks
from divulge.protection.history.attacks import HistoryAttacks
from divulge.release import dataset_protection

INTERRUPTIONS = [
    pytest.param(work.Cancelled, id="cancelled"),
    pytest.param(work.BudgetSpent, id="clock"),
    pytest.param(work.NotEnoughMemory, id="memory"),
]
each_interruption = pytest.mark.parametrize("interruption", INTERRUPTIONS)
Interruption = type[work.Interruption]


def interrupt(interruption: Interruption, on_call: int = 1) -> Callable[[Callable[..., Any]], Any]:
    """A function that is interrupted at one of its calls, and else does as it did."""

    def wrap(function: Callable[..., Any]) -> Any:
        calls = 0

        def call(*arguments: Any, **keywords: Any) -> Any:
            nonlocal calls
            calls += 1
            if calls == on_call:
                raise interruption("stopped")
            return function(*arguments, **keywords)

        return call

    return wrap


@each_interruption
def test_a_candidate_whose_replay_was_interrupted_is_not_impossible(
    interruption: Interruption,
) -> None:
    p = protection.suppress(
        datasets.local_suppression_example(), k=2, nulls="maybe", search="cycle"
    )
    assert p.again is not None
    interrupted = replace(p, again=interrupt(interruption, on_call=3)(p.again))
    with pytest.raises(interruption):
        protection.audit(interrupted, knows_algorithm=True)


def protect_purchases() -> protection.ProtectedHistory:
    return protection.protect_history(
        datasets.purchases_example(),
        {"neighbour": events.Attacker(knows=["day", "item"])},
        [Limit("probabilistic.posterior", at_most=0.7)],
        user="user", time="date", item="goods",
    )  # fmt: skip


@each_interruption
@pytest.mark.parametrize("on_call", range(2, 7))
def test_a_history_is_not_protected_otherwise_because_an_attack_was_interrupted(
    interruption: Interruption, on_call: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    wrap = interrupt(interruption, on_call)
    monkeypatch.setattr(HistoryAttacks, "judge_limits", wrap(HistoryAttacks.judge_limits))
    with pytest.raises(interruption):
        protect_purchases()


@each_interruption
@pytest.mark.parametrize("on_call", range(2, 7))
def test_an_interrupted_attack_is_not_one_that_cannot_be_asked(
    interruption: Interruption, on_call: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(attacks, "attack", interrupt(interruption, on_call)(events.attack))
    with pytest.raises(interruption):
        protect_purchases()


@each_interruption
def test_the_map_lacks_no_point_because_a_run_was_interrupted(
    interruption: Interruption, monkeypatch: pytest.MonkeyPatch
) -> None:
    wrap = interrupt(interruption, on_call=2)
    monkeypatch.setattr(map_methods, "suppress", wrap(protection.suppress))
    with pytest.raises(interruption):
        protection.risk_utility_map(datasets.local_suppression_example(), ks=(2,))


def test_the_map_says_what_is_no_k() -> None:
    with pytest.raises(InvalidInput):
        protection.risk_utility_map(datasets.local_suppression_example(), ks=(2, 0))


@each_interruption
def test_an_interruption_does_not_say_that_an_attack_knows_no_risk_of_records(
    interruption: Interruption, tmp_path: Path
) -> None:
    release = Release.load(write_release(tmp_path))
    verdict = release.check()
    [adversary, *_] = release.adversaries
    [plan, *_] = release.datasets.values()

    def stop() -> Any:
        raise interruption("stopped")

    assessments = tuple(replace(each, _risk=stop) for each in verdict.assessments)
    with pytest.raises(interruption):
        dataset_protection._has_risk_per_record(
            replace(verdict, assessments=assessments), adversary, plan.read()
        )


@each_interruption
def test_an_interruption_is_no_fault_of_a_column(
    interruption: Interruption, monkeypatch: pytest.MonkeyPatch
) -> None:
    from divulge.data import dataset, encoding

    def stop(*_: Any) -> Any:
        raise interruption("stopped")

    monkeypatch.setattr(dataset, "encode_array", stop)
    with pytest.raises(interruption):
        Dataset.from_arrow(pa.table({"age": [1, 2]}))
    monkeypatch.setattr(encoding.ColumnEncoder, "add_piece", stop)
    with pytest.raises(interruption, match="^stopped$"):
        encoding.TableEncoder(["age"]).add_batch(encoding.Batch({"age": pa.array([1])}))
    monkeypatch.setattr(encoding.ColumnEncoder, "build_column", stop)
    with pytest.raises(interruption):
        files._build_columns([Path("people.csv")], encoding.TableEncoder(["age"]))
