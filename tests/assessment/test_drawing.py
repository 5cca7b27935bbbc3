"""Charts are drawn by a child process, and nothing that becomes of it becomes of us."""

import os
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
import vl_convert
from tests.release_files import write_release

import divulge as dv
from divulge.assessment import Chart, drawing, tuning
from divulge.assessment.drawing import ChartNotDrawn, Drawer, DrawingLimits

MARK = "zweiundvierzig"
"""A value of a record that no message may hold."""

BARS: dict[str, Any] = {
    "data": {"name": "records"},
    "mark": "bar",
    "encoding": {
        "x": {"field": "share", "type": "quantitative"},
        "y": {"field": "who", "type": "nominal"},
    },
}

# Minutes of computing in little memory.
SLOW = {
    "data": {"sequence": {"start": 0, "stop": 20_000, "as": "n"}},
    "transform": [{"calculate": "length(join(sequence(0, 200000), 'a')) + datum.n", "as": "m"}],
    "mark": "bar",
    "encoding": {"x": {"aggregate": "max", "field": "m", "type": "quantitative"}},
}

# What a program run in a test has at hand.
PREAMBLE = f"""
import os, sys
from divulge.assessment import Chart, drawing
chart = Chart({BARS!r}, [{{"who": "a", "share": 0.5}}], "Shares: a: 50%")
def child():
    return drawing._drawer._child._process.pid
"""


def chart_of(*shares: float, who: str = "group") -> Chart:
    records = [{"who": f"{who} {n}", "share": share} for n, share in enumerate(shares)]
    return Chart(BARS, records, "Shares by group")


def child_of(drawer: Drawer) -> int:
    assert drawer._child is not None
    return drawer._child._process.pid


def is_running(pid: int) -> bool:
    """Whether a process is there that has not ended; nobody may be left to take note of its end."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def wait_until(condition: Callable[[], bool]) -> bool:
    """Whether it comes about; the limit is only for what would never come."""
    end = time.monotonic() + 600
    while not condition() and time.monotonic() < end:
        time.sleep(0.01)
    return condition()


@pytest.fixture
def drawer() -> Iterator[Drawer]:
    drawer = Drawer()
    yield drawer
    drawer.close()


def drawing_by(program: str, **limits: Any) -> ChartNotDrawn:
    """What is raised if that program is the child."""
    drawer = Drawer([sys.executable, "-c", program], DrawingLimits(**limits))
    with pytest.raises(ChartNotDrawn) as raised:
        drawer.draw("svg", chart_of(0.5, who=MARK).to_dict())
    assert drawer._child is None
    assert MARK not in str(raised.value)
    return raised.value


# --- the pictures


@pytest.mark.parametrize(
    "chart",
    [
        chart_of(0.25, 0.5),
        chart_of(0.1, 1 / 3, who='Ä <i>&amp; "'),
        chart_of(float("nan"), 0.5),
        chart_of(),
    ],
)
def test_a_chart_is_the_same_as_if_it_were_drawn_here(chart: Chart) -> None:
    plain = chart.to_dict()
    assert chart.svg() == vl_convert.vegalite_to_svg(plain, allowed_base_urls=[])
    plain["config"] = {**plain["config"], "background": "white"}
    for scale in (1, 2.5):
        drawn = vl_convert.vegalite_to_png(plain, scale=scale, allowed_base_urls=[])
        assert chart.png(scale) == drawn


def test_a_chart_larger_than_a_pipe_comes_whole() -> None:
    chart = chart_of(*[0.5] * 200, who="a long name of a group of people " * 5)
    drawn = vl_convert.vegalite_to_svg(chart.to_dict(), allowed_base_urls=[])
    assert len(drawn) > 1 << 16
    assert chart.svg() == drawn


def test_one_child_draws_all_charts(drawer: Drawer) -> None:
    children = set()
    for n in range(5):
        drawer.draw("svg", chart_of(n / 5).to_dict())
        children.add(child_of(drawer))
    assert len(children) == 1


def test_threads_each_get_their_own_chart(drawer: Drawer) -> None:
    charts = [chart_of(n / 20).to_dict() for n in range(20)]
    drawn: dict[int, bytes] = {}

    def draw(part: range) -> None:
        for n in part:
            drawn[n] = drawer.draw("svg", charts[n])

    threads = [threading.Thread(target=draw, args=(range(k, 20, 4),)) for k in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for n, chart in enumerate(charts):
        assert drawn[n].decode() == vl_convert.vegalite_to_svg(chart, allowed_base_urls=[])


# --- a child that fails


def test_a_child_that_was_killed_is_replaced_by_the_next_chart(drawer: Drawer) -> None:
    chart = chart_of(0.5).to_dict()
    before = drawer.draw("svg", chart)
    killed = child_of(drawer)
    os.kill(killed, signal.SIGKILL)
    assert drawer.draw("svg", chart) == before
    assert child_of(drawer) != killed


def test_a_child_that_dies_of_a_chart_is_given_up() -> None:
    program = "import os; os.read(0, 9); os.kill(os.getpid(), 9)"
    assert drawing_by(program).reason == "the process that draws died (SIGKILL)"
    assert "exit code 3" in drawing_by("import sys; sys.exit(3)").reason


def test_a_child_that_computes_without_end_is_stopped() -> None:
    error = drawing_by("while True: pass", cpu_seconds=0.05)
    assert str(error) == (
        "the chart could not be drawn: it was not finished after 0.05 seconds of computing"
    )


def test_computing_for_earlier_charts_does_not_count() -> None:
    drawer = Drawer(limits=DrawingLimits(cpu_seconds=300))
    drawer.draw("svg", chart_of(0.5).to_dict())
    before = drawing._cpu_seconds(child_of(drawer))
    assert before
    watch = drawing._Watch(child_of(drawer), DrawingLimits(cpu_seconds=before / 2))
    watch.check()
    drawer.close()


def test_a_child_that_waits_for_ever_is_stopped_even_if_it_does_not_listen() -> None:
    drawer = Drawer(
        [sys.executable, "-c", "import time; time.sleep(9999)"], DrawingLimits(wall_seconds=0.1)
    )
    with pytest.raises(ChartNotDrawn, match="0.1 seconds of waiting"):
        drawer.draw("svg", chart_of(*[0.5] * 50_000).to_dict())


def test_a_child_whose_memory_grows_is_stopped() -> None:
    program = "import time; held = b'x' * (256 << 20); time.sleep(9999)"
    assert drawing_by(program, memory=64 << 20).reason == "it needs more than 64 MiB of memory"


def test_the_memory_of_the_child_goes_by_what_is_free(monkeypatch: pytest.MonkeyPatch) -> None:
    for free, granted in ((64 << 30, 2 << 30), (3 << 30, 3 << 29), (0, 512 << 20)):
        monkeypatch.setattr(drawing, "available_memory", lambda free=free: free)
        assert DrawingLimits().compute_memory_limit() == granted


def test_a_child_that_has_grown_does_not_wait_for_the_next_chart(
    drawer: Drawer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tuning, "LEAST_MEMORY", 1 << 20)
    assert drawer.draw("svg", chart_of(0.5).to_dict()).startswith(b"<svg")
    assert drawer._child is None


def test_where_nothing_is_told_of_the_child_time_alone_is_limited(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(drawing, "_cpu_seconds", lambda pid: None)
    monkeypatch.setattr(drawing, "_resident_memory", lambda pid: None)
    error = drawing_by("while True: pass", cpu_seconds=0.01, wall_seconds=0.1, memory=1)
    assert "0.1 seconds of waiting" in error.reason


def test_an_interruption_leaves_no_half_answer_behind(
    drawer: Drawer, monkeypatch: pytest.MonkeyPatch
) -> None:
    first, second = chart_of(0.25).to_dict(), chart_of(0.75).to_dict()
    wanted = drawer.draw("svg", second)

    def interrupt(_: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch, pytest.raises(KeyboardInterrupt):
        patch.setattr(drawing._Watch, "check", interrupt)
        drawer.draw("svg", first)
    assert drawer.draw("svg", second) == wanted


def test_a_program_that_is_not_there_is_said_plainly() -> None:
    with pytest.raises(ChartNotDrawn, match="could not be started"):
        Drawer(["/no/such/program"]).draw("svg", chart_of(0.5).to_dict())


# --- what the child may do and say


@pytest.mark.parametrize("kind", ["svg", "png"])
def test_what_is_wrong_with_a_chart_is_said_without_a_value(drawer: Drawer, kind: str) -> None:
    wrong = {**chart_of(0.5, who=MARK).to_dict(), "data": {"url": f"https://{MARK}.example/"}}
    with pytest.raises(ValueError, match=MARK):  # vl-convert does quote it
        vl_convert.vegalite_to_svg(wrong, allowed_base_urls=[])
    with pytest.raises(ChartNotDrawn) as raised:
        drawer.draw(kind, wrong)
    assert raised.value.reason == "the drawing library does not accept it"
    assert drawer._child is not None, "it lives on"


def test_records_that_are_no_plain_values_are_not_quoted() -> None:
    with pytest.raises(ChartNotDrawn) as raised:
        Chart(BARS, [{"who": MARK.encode(), "share": 1}], "Shares").svg()
    assert MARK not in str(raised.value)


@pytest.mark.parametrize("kind", ["svg", "png"])
@pytest.mark.parametrize("what", ["data", "image"])
def test_a_chart_cannot_make_the_child_fetch_anything(kind: str, what: str) -> None:
    drawer = Drawer(limits=DrawingLimits(wall_seconds=300))  # one that fetches gets no answer
    with socket.create_server(("127.0.0.1", 0)) as server:
        server.setblocking(False)
        address = f"http://127.0.0.1:{server.getsockname()[1]}/picture.png"
        chart: dict[str, Any] = {"data": {"url": address}, "mark": "bar"}
        if what == "image":
            chart = {
                "data": {"values": [{"from": address}]},
                "mark": {"type": "image", "width": 9, "description": '" href="data:'},
                "encoding": {"url": {"field": "from", "type": "nominal"}},
            }
        with suppress(ChartNotDrawn):  # an image in an SVG is left to who opens it
            drawer.draw(kind, chart)
            assert (kind, what) == ("svg", "image")
        drawer.close()
        with pytest.raises(BlockingIOError):
            server.accept()


def test_an_image_that_the_chart_carries_itself_is_drawn(drawer: Drawer) -> None:
    chart: dict[str, Any] = {
        "data": {"values": [{"from": "data:image/gif;base64,R0lGODlhAQABAAAAACwAAAAAAQABAAA="}]},
        "mark": {"type": "image", "width": 9, "height": 9},
        "encoding": {"url": {"field": "from", "type": "nominal"}},
    }
    assert drawer.draw("png", chart).startswith(b"\x89PNG")


def test_the_child_leaves_no_core_and_is_not_interrupted_from_the_terminal(
    drawer: Drawer,
) -> None:
    drawer.draw("svg", chart_of(0.5).to_dict())
    limits = Path(f"/proc/{child_of(drawer)}/limits").read_text().splitlines()
    (core,) = [line.split() for line in limits if line.startswith("Max core file size")]
    assert int(core[4]) <= 1
    assert int(core[5]) <= 1
    assert os.getsid(child_of(drawer)) == child_of(drawer)


def test_what_lies_in_the_working_directory_is_not_imported(tmp_path: Path) -> None:
    (tmp_path / "vl_convert.py").write_text("raise SystemExit('taken from the directory')")
    done = subprocess.run(
        # With -c the working directory is the first place where Python looks.
        [sys.executable, "-c", PREAMBLE + "print(chart.svg()[:4])"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.stdout, done.stderr) == ("<svg\n", "")


# --- the end of the parent


def test_a_forked_process_draws_with_a_child_of_its_own() -> None:
    program = """
picture, first = chart.svg(), child()
forked = os.fork()
if forked == 0:
    assert drawing._drawer._child is None
    assert chart.svg() == picture
    assert child() != first
    sys.exit()
assert os.waitpid(forked, 0)[1] == 0
assert chart.svg() == picture
assert child() == first
"""
    subprocess.run([sys.executable, "-W", "error", "-c", PREAMBLE + program], check=True)


def test_the_child_ends_with_its_parent_even_if_a_fork_lives_on() -> None:
    program = """
chart.svg()
print(child(), flush=True)
if os.fork() == 0:
    sys.stdin.read()
os._exit(0)
"""
    with subprocess.Popen(
        [sys.executable, "-c", PREAMBLE + program],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as parent:
        assert parent.stdout is not None
        child = int(parent.stdout.readline())
        assert wait_until(lambda: not is_running(child))


@pytest.mark.parametrize("end", ["sys.exit(0)", "raise ValueError", "os._exit(0)", "os.abort()"])
def test_no_child_remains_when_the_parent_has_ended(end: str) -> None:
    program = f"""
import resource
resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
chart.svg()
print(child(), flush=True)
{end}
"""
    done = subprocess.run(
        [sys.executable, "-c", PREAMBLE + program], capture_output=True, text=True, check=False
    )
    assert wait_until(lambda: not is_running(int(done.stdout)))


def test_a_child_in_the_midst_of_a_drawing_ends_when_its_parent_is_killed() -> None:
    program = f"""
chart.svg()
print(child(), flush=True)
drawing.draw("svg", {SLOW!r})
"""
    with subprocess.Popen(
        [sys.executable, "-c", PREAMBLE + program], stdout=subprocess.PIPE, text=True
    ) as parent:
        assert parent.stdout is not None
        child = int(parent.stdout.readline())
        begun = drawing._cpu_seconds(child) or 0
        assert wait_until(lambda: (drawing._cpu_seconds(child) or 0) > begun + 0.3)
        parent.kill()
    assert wait_until(lambda: not is_running(child))


# --- what users see


def test_a_report_is_written_where_address_space_is_limited(tmp_path: Path) -> None:
    write_release(tmp_path)
    program = """
import divulge as dv
verdict = dv.Release.load("release.toml").check()
dv.report(verdict, "report.html")
"""
    done = subprocess.run(  # noqa: S602  # a limit is set by the shell
        f"ulimit -v 8000000; exec \"{sys.executable}\" -c '{program}'",
        shell=True,
        cwd=tmp_path,
        env={**os.environ, "OPENBLAS_NUM_THREADS": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    text = (tmp_path / "report.html").read_text()
    assert "<svg" not in text
    assert "<figure" not in text
    assert "This chart could not be drawn: the process that draws died (SIGTRAP)" in text
    assert "(ulimit -v)" in text
    assert "What it would show: Share of pupils by class size: 1: 10%" in text


def fail_to_draw(_: Chart) -> str:
    raise ChartNotDrawn("it took <too> long")


def test_a_report_of_a_protection_does_without_its_chart_too(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Chart, "svg", fail_to_draw)
    protected = dv.protection.suppress(dv.datasets.local_suppression_example(), k=2)
    dv.report(protected, tmp_path / "report.html")
    text = (tmp_path / "report.html").read_text()
    assert "This chart could not be drawn: it took &lt;too&gt; long. What it would show:" in text
    assert "<figure" not in text


def test_a_notebook_shows_the_words_where_there_is_no_picture(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    chart = chart_of(0.5)
    assert chart._repr_mimebundle_()["image/svg+xml"] == chart.svg()
    monkeypatch.setattr(Chart, "svg", fail_to_draw)
    (shown,) = chart._repr_mimebundle_().items()
    assert shown == (
        "text/plain",
        "Shares by group\n(the chart could not be drawn: it took <too> long)",
    )


def test_a_chart_that_is_not_drawn_leaves_no_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Chart, "svg", fail_to_draw)
    with pytest.raises(dv.work.DivulgeError, match="could not be drawn"):
        chart_of(0.5).save(tmp_path / "chart.svg")
    assert list(tmp_path.iterdir()) == []
