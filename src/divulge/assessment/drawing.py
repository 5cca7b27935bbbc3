"""Charts are drawn in a process of their own: whatever becomes of it, ours goes on.

vl-convert carries a JavaScript engine that ends the whole process where it does not get what it
wants, be it memory for a large chart or the 69 GB of address space that it sets aside (of which
it uses little). So one child process draws all charts of this process. It is started with the
first, watched while it draws, stopped if it takes too long or grows too large, and replaced by
the next chart if it is gone.
"""

from __future__ import annotations

import atexit
import json
import os
import resource
import select
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Mapping, Sequence, Set
from contextlib import suppress
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path
from typing import Any, Literal

from divulge.assessment import drawing_child, tuning
from divulge.assessment.drawing_child import ANSWER, REQUEST
from divulge.work import DivulgeError, available_memory

ADDRESS_SPACE_GB = 69


class ChartNotDrawn(DivulgeError):
    """A chart that could not be drawn; its records are still there.

    >>> ChartNotDrawn("it took too long")
    ChartNotDrawn('the chart could not be drawn: it took too long')
    """

    def __init__(self, reason: str) -> None:
        self.reason = reason
        super().__init__(f"the chart could not be drawn: {reason}")


@dataclass(frozen=True)
class DrawingLimits:
    """What the drawing of one chart may take; memory, if not given, goes by what is free."""

    cpu_seconds: float = tuning.CPU_SECONDS
    wall_seconds: float = tuning.WALL_SECONDS
    memory: int | None = None

    def compute_memory_limit(self) -> int:
        """Resident bytes that the child may have."""
        if self.memory is not None:
            return self.memory
        return max(tuning.LEAST_MEMORY, min(tuning.MOST_MEMORY, available_memory() // 2))


def draw(kind: Literal["svg", "png"], chart: Mapping[str, Any], scale: float = 1) -> bytes:
    """Draw a Vega-Lite chart; raises `ChartNotDrawn`.

    >>> draw("svg", {"data": {"values": []}, "mark": "bar"})[:4]
    b'<svg'
    """
    return _drawer.draw(kind, chart, scale)


class Drawer:
    """Draws charts in one child process, one after the other; threads may share it."""

    def __init__(
        self, command: Sequence[str] | None = None, limits: DrawingLimits | None = None
    ) -> None:
        self._command = command
        self._limits = limits or DrawingLimits()
        self._lock = threading.Lock()
        self._child: _Child | None = None

    def draw(self, kind: str, chart: Mapping[str, Any], scale: float = 1) -> bytes:
        """The picture's bytes; raises `ChartNotDrawn`."""
        message = _encode_request({"kind": kind, "chart": chart, "scale": scale})
        with self._lock:
            if self._child is not None:
                # It may have been killed since, or be large from earlier charts: a chart is given
                # up only if a new child does not draw it.
                with suppress(_ChildLost):
                    return self._draw_in_child(message)
            try:
                return self._draw_in_child(message)
            except _ChildLost as lost:
                raise ChartNotDrawn(lost.reason) from None

    def close(self) -> None:
        """End the child."""
        child, self._child = self._child, None
        if child is not None:
            child.kill_process()

    def after_fork(self) -> None:
        """In a process that was forked off: the child, and the lock, are the other process's."""
        child, self._child = self._child, None
        self._lock = threading.Lock()
        if child is not None:
            child.abandon_process()

    def _draw_in_child(self, message: bytes) -> bytes:
        if self._child is None:
            self._child = _Child(self._command or _build_command())
        is_reusable = False
        try:
            is_drawn, picture = self._child.send_request(message, self._limits)
            is_reusable = self._child.measure_memory() <= tuning.LEAST_MEMORY
        finally:
            # Also on Control-C: the rest of an answer would be taken for the next one.
            if not is_reusable:
                self.close()
        if not is_drawn:
            raise ChartNotDrawn("the drawing library does not accept it")
        return picture


class _ChildLost(Exception):
    """The child is gone, maybe not because of this chart."""

    def __init__(self, reason: str) -> None:
        self.reason = reason
        super().__init__(reason)


class _Child:
    """A process that draws, and the pipes to it."""

    def __init__(self, command: Sequence[str]) -> None:
        try:
            # A session of its own: Control-C in the terminal is for us. Its working directory is
            # none of the user's, and what it prints may hold values of records.
            self._process = subprocess.Popen(  # noqa: S603  # our own program
                command,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                bufsize=0,
                cwd="/",
                start_new_session=True,
            )
        except OSError as error:
            reason = f"the process that draws could not be started ({error.strerror})"
            raise ChartNotDrawn(reason) from None
        assert self._process.stdin is not None  # noqa: S101  # they are pipes
        assert self._process.stdout is not None  # noqa: S101
        self._pipes = self._process.stdin, self._process.stdout
        for pipe in self._pipes:
            os.set_blocking(pipe.fileno(), False)

    def send_request(self, message: bytes, limits: DrawingLimits) -> tuple[bool, bytes]:
        """Send a request and take the answer, with an eye on the child."""
        requests, answers = (pipe.fileno() for pipe in self._pipes)
        watch = _Watch(self._process.pid, limits)
        unsent = memoryview(message)
        answer = bytearray()
        ready = select.poll()
        ready.register(requests, select.POLLOUT)
        ready.register(answers, select.POLLIN)
        while True:
            for descriptor, _ in ready.poll(tuning.POLL_MILLISECONDS):
                if descriptor == answers:
                    part = os.read(answers, tuning.ANSWER_CHUNK_BYTES)
                    if not part:
                        raise _ChildLost(self._describe_death())
                    answer += part
                    continue
                try:
                    unsent = unsent[os.write(requests, unsent) :]
                except BrokenPipeError:  # it died: the end of its answers is the next we read
                    unsent = unsent[:0]
                if not unsent:
                    ready.unregister(requests)
            if len(answer) >= ANSWER.size:
                is_drawn, size = ANSWER.unpack_from(answer)
                if len(answer) >= ANSWER.size + size:
                    return is_drawn, bytes(answer[ANSWER.size :])
            watch.check()

    def measure_memory(self) -> int:
        """Resident bytes, if that can be known."""
        return _resident_memory(self._process.pid) or 0

    def kill_process(self) -> None:
        """It has nothing to lose: no file is open in it."""
        self._process.kill()
        self._process.wait()
        for pipe in self._pipes:
            pipe.close()

    def abandon_process(self) -> None:
        """Let go of another process's child, which must see that process end, not this one."""
        for pipe in self._pipes:
            pipe.close()
        self._process.returncode = 0  # ours to forget, not to wait for

    def _describe_death(self) -> str:
        try:
            code = self._process.wait(timeout=5)
        except subprocess.TimeoutExpired:
            return "the process that draws does not answer"
        names = {-number: number.name for number in signal.Signals}
        ending = names.get(code, f"exit code {code}")
        limit, _ = resource.getrlimit(resource.RLIMIT_AS)
        if limit >= ADDRESS_SPACE_GB * 10**9 or limit == resource.RLIM_INFINITY:
            return f"the process that draws died ({ending})"
        return (
            f"the process that draws died ({ending}); address space is limited here (ulimit -v), "
            f"and drawing sets aside {ADDRESS_SPACE_GB} GB of it, though it uses little memory"
        )


class _Watch:
    """What a child may still take for one chart, by what Linux tells of it."""

    def __init__(self, pid: int, limits: DrawingLimits) -> None:
        self._pid = pid
        self._limits = limits
        self._memory_limit = limits.compute_memory_limit()
        self._started_at = time.monotonic()
        self._cpu_before = _cpu_seconds(pid) or 0.0

    def check(self) -> None:
        """Raise if a limit is exceeded; where there is no /proc, time passed is all we know."""
        cpu_seconds = (_cpu_seconds(self._pid) or 0.0) - self._cpu_before
        if cpu_seconds > self._limits.cpu_seconds:
            seconds = f"{self._limits.cpu_seconds:g}"
            raise ChartNotDrawn(f"it was not finished after {seconds} seconds of computing")
        if time.monotonic() - self._started_at > self._limits.wall_seconds:
            seconds = f"{self._limits.wall_seconds:g}"
            raise ChartNotDrawn(f"it was not finished after {seconds} seconds of waiting")
        if (_resident_memory(self._pid) or 0) > self._memory_limit:
            raise _ChildLost(f"it needs more than {self._memory_limit / 2**20:,.0f} MiB of memory")


def _cpu_seconds(pid: int) -> float | None:
    try:
        text = Path(f"/proc/{pid}/stat").read_text()
    except OSError:
        return None
    # After the program's name, which may hold anything: fields 14 and 15 of proc(5).
    fields = text.rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def _resident_memory(pid: int) -> int | None:
    try:
        lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    except OSError:
        return None
    sizes = [line.split()[1] for line in lines if line.startswith("VmRSS:")]
    return int(sizes[0]) * 1024 if sizes else None  # a process that has just ended has none


def _build_command() -> list[str]:
    """Our interpreter on the child's file: no path, no setting and no folder of the user's."""
    try:
        library = metadata.distribution("vl-convert-python").locate_file("")
    except metadata.PackageNotFoundError:
        raise ChartNotDrawn("vl-convert-python is not installed") from None
    program = Path(drawing_child.__file__).resolve()
    return [sys.executable, "-I", "-S", str(program), str(Path(str(library)).resolve())]


def _encode_request(request: Mapping[str, Any]) -> bytes:
    try:
        text = json.dumps(request, default=_to_json_value).encode()
    except (TypeError, ValueError):
        raise ChartNotDrawn("its records are not plain numbers and texts") from None
    return REQUEST.pack(len(text)) + text


def _to_json_value(value: object) -> object:
    """What else vl-convert takes, as JSON has it."""
    if isinstance(value, Mapping):
        return dict(value)
    if isinstance(value, Set):
        return list(value)
    raise TypeError(type(value).__name__)


_drawer = Drawer()
atexit.register(_drawer.close)
os.register_at_fork(after_in_child=_drawer.after_fork)
