"""Runs a command beside an Apache Spark of its own, which ends with it, whatever happens.

    python tools/spark_server.py --home .venv-spark --java /usr/bin/java -- pytest -m spark

The server listens on loopback, on a port that was free, and keeps within 2 GB: one session, two
partitions of a shuffle, no page of its own. The command finds its address in DIVULGE_SPARK.
"""

from __future__ import annotations

import argparse
import ctypes
import os
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

SECONDS_TO_START = 180
SECONDS_TO_STOP = 20
MAIN_CLASS = "org.apache.spark.sql.connect.service.SparkConnectServer"
HEAP = "1g"
"""Of 2 GB at most: what Java takes beside its heap is about half of that again."""
JAVA_OPTIONS = (
    "-XX:+UseSerialGC -XX:TieredStopAtLevel=1 -XX:MaxMetaspaceSize=400m "
    "-XX:ReservedCodeCacheSize=96m -XX:MaxDirectMemorySize=256m"
)
"""For a server of many small queries: little is compiled, and no memory is kept for later."""
SET_PARENT_DEATH_SIGNAL = 1  # of prctl(2)


def find_home(venv: Path) -> Path:
    """Where pyspark keeps the jars, in an environment."""
    homes = sorted(venv.glob("lib/python3*/site-packages/pyspark"))
    if not homes:
        raise SystemExit(f"{venv} has no pyspark: make test-spark sets it up")
    return homes[0].absolute()


def list_settings(port: int, folder: Path) -> dict[str, str]:
    """What the server is told; nothing of it is seen outside this machine."""
    return {
        "spark.connect.grpc.binding.address": "127.0.0.1",
        "spark.connect.grpc.binding.port": str(port),
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.driver.host": "127.0.0.1",
        "spark.driver.extraJavaOptions": f"{JAVA_OPTIONS} -Djava.io.tmpdir={folder}",
        "spark.ui.enabled": "false",
        "spark.local.dir": str(folder),
        "spark.sql.warehouse.dir": str(folder / "warehouse"),
        "spark.sql.shuffle.partitions": "2",
        "spark.default.parallelism": "2",
    }


@contextmanager
def run_server(home: Path, java: Path) -> Iterator[str]:
    """A server for the time of a `with` block; its address."""
    with tempfile.TemporaryDirectory(prefix="divulge-spark-") as name:
        folder = Path(name).resolve()
        port = _find_free_port()
        settings = list_settings(port, folder)
        command = [str(home / "bin" / "spark-submit"), "--class", MAIN_CLASS]
        command += ["--master", "local[2]", "--driver-memory", HEAP]
        for key, value in settings.items():
            command += ["--conf", f"{key}={value}"]
        command.append("spark-internal")
        log = folder / "server.log"
        with log.open("wb") as file:
            server = subprocess.Popen(
                command,
                stdin=subprocess.DEVNULL,
                stdout=file,
                stderr=subprocess.STDOUT,
                cwd=folder,
                env={
                    **os.environ,
                    "SPARK_HOME": str(home),
                    "JAVA_HOME": str(java.resolve().parent.parent),
                    "SPARK_LOCAL_IP": "127.0.0.1",
                    # Workers that walk rows need the package, which stands where the tests run.
                    "PYSPARK_PYTHON": sys.executable,
                },
                start_new_session=True,
                preexec_fn=_die_with_parent,
            )
        try:
            _wait_until_it_listens(server, port, log)
            yield f"sc://127.0.0.1:{port}"
        finally:
            _stop(server)


def run_beside(address: str, command: Sequence[str], seconds: float) -> int:
    """Run the command with the server's address; it ends after so many seconds at the latest."""
    process = subprocess.Popen(command, env={**os.environ, "DIVULGE_SPARK": address})
    try:
        return process.wait(timeout=seconds)
    except subprocess.TimeoutExpired:
        print(f"{command[0]} took more than {seconds:g} seconds", file=sys.stderr)
        return 1
    finally:
        if process.poll() is None:
            process.terminate()
            process.wait()


def _die_with_parent() -> None:
    """Nobody else would stop the server if this program were killed."""
    with suppress(OSError, AttributeError):  # Linux alone has it
        ctypes.CDLL(None).prctl(SET_PARENT_DEATH_SIGNAL, signal.SIGKILL)


def _find_free_port() -> int:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return int(free.getsockname()[1])


def _wait_until_it_listens(server: subprocess.Popen[bytes], port: int, log: Path) -> None:
    last = time.monotonic() + SECONDS_TO_START
    while time.monotonic() < last and server.poll() is None:
        with suppress(OSError), socket.create_connection(("127.0.0.1", port), timeout=1):
            return
        time.sleep(0.2)
    end = "\n".join(log.read_text(errors="replace").splitlines()[-30:])
    raise SystemExit(f"the Spark server did not start:\n{end}")


def _stop(server: subprocess.Popen[bytes]) -> None:
    for sign in (signal.SIGTERM, signal.SIGKILL):
        with suppress(ProcessLookupError):
            os.killpg(server.pid, sign)
        with suppress(subprocess.TimeoutExpired):
            server.wait(timeout=SECONDS_TO_STOP)
            return


def main() -> int:
    """Read the command line, and return how the command ended."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--home", type=Path, required=True, help="an environment with pyspark")
    parser.add_argument("--java", type=Path, required=True)
    parser.add_argument("--seconds", type=float, default=1200)
    parser.add_argument("command", nargs="+")
    options = parser.parse_args()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    with run_server(find_home(options.home), options.java) as address:
        return run_beside(address, options.command, options.seconds)


if __name__ == "__main__":
    sys.exit(main())
