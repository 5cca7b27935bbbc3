import io
import threading
import time

import pytest
from rich.console import Console

from divulge import work
from divulge.work import Budget, BudgetSpent, Cancellation, Cancelled, Progress


def test_time_left_follows_from_the_pace_so_far() -> None:
    assert Progress("x", done=1, total=4, elapsed=10).seconds_left == pytest.approx(30)


@pytest.mark.parametrize(
    "early",
    [
        Progress("x", done=1, total=1000, elapsed=5),
        Progress("x", done=50, total=100, elapsed=0.01),
        Progress("x", done=50, total=None, elapsed=100),
    ],
)
def test_no_time_left_is_told_where_it_would_be_a_guess(early: Progress) -> None:
    assert early.seconds_left is None


def test_a_listener_hears_the_beginning_and_the_end_of_every_step() -> None:
    heard: list[Progress] = []
    with work.run_with(reporter=heard.append):
        with work.step("one", total=3) as step:
            step.advance(3)
        with work.step("two"):
            pass
    assert [(p.step, p.finished) for p in heard if p.finished or p.done == 0] == [
        ("one", False),
        ("one", True),
        ("two", False),
        ("two", True),
    ]


def test_a_step_that_fails_is_ended_too() -> None:
    heard: list[Progress] = []
    with (
        work.run_with(reporter=heard.append),
        pytest.raises(ZeroDivisionError),
        work.step("one"),
    ):
        _ = 1 / 0
    assert heard[-1].finished


def test_the_terminal_shows_the_step_and_how_far_it_is() -> None:
    screen = io.StringIO()
    console = Console(file=screen, force_terminal=True, width=100)
    with work.TerminalReporter(console) as report:
        report(Progress("Reading pupils", done=25, total=100, elapsed=10))
    shown = screen.getvalue()
    assert "Reading pupils" in shown
    assert "25%" in shown
    assert "about 30 s left" in shown


def test_a_notebook_shows_one_line_that_is_rewritten(monkeypatch: pytest.MonkeyPatch) -> None:
    IPython = pytest.importorskip("IPython")  # noqa: N806  # a module's own name
    from IPython.core.displaypub import CapturingDisplayPublisher
    from IPython.core.interactiveshell import InteractiveShell

    shell = InteractiveShell.instance()
    published = CapturingDisplayPublisher()  # type: ignore[no-untyped-call]  # IPython ships none
    monkeypatch.setattr(shell, "display_pub", published)
    report = work.NotebookReporter()
    report(Progress("Reading", done=1, total=2, elapsed=1))
    report(Progress("Reading", done=2, total=2, elapsed=2, finished=True))
    assert [out["data"]["text/plain"] for out in published.outputs] == [
        "Reading 50% about 1 s left",
        "Reading 100% done",
    ]
    assert [out["update"] for out in published.outputs] == [False, True]
    assert IPython.version_info


def test_work_stops_at_its_next_step_when_somebody_asks() -> None:
    cancellation = Cancellation()
    with work.run_with(cancellation=cancellation), work.step("long", 10) as step:
        step.advance()
        threading.Thread(target=cancellation.cancel).start()
        with pytest.raises(Cancelled, match="nothing was written"):
            while True:
                step.advance(0)


def test_cancelling_interrupts_what_runs_inside_an_engine() -> None:
    from divulge.engines import DuckSession

    cancellation = Cancellation()
    endless = "SELECT count(*) AS n FROM range(10000000) a, range(10000000) b"
    threading.Timer(0.3, cancellation.cancel).start()
    # Without the interruption the query would take years.
    with (
        work.run_with(cancellation=cancellation),
        DuckSession() as duck,
        pytest.raises(Cancelled),
    ):
        duck.arrays(endless)


def test_a_spent_budget_is_said_and_never_silent() -> None:
    budget = Budget(stop_after=0.01)
    time.sleep(0.02)
    with (
        work.run_with(budget=budget),
        pytest.raises(BudgetSpent, match=r"by the clock after 0\.01 seconds"),
    ):
        work.check()


@pytest.mark.parametrize("seconds", [0, -1, float("nan")])
def test_a_budget_needs_time(seconds: float) -> None:
    with pytest.raises(ValueError, match="above 0"):
        Budget(seconds)


def test_conditions_of_two_threads_do_not_mix() -> None:
    heard: list[str] = []

    def run() -> None:
        with work.step("other thread"):
            pass

    with work.run_with(reporter=lambda progress: heard.append(progress.step)):
        other = threading.Thread(target=run)
        other.start()
        other.join()
    assert heard == []
