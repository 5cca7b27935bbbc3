import errno
import json
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from divulge.work import (
    AtomicFiles,
    Checkpoints,
    InvalidInput,
    OutputFolder,
    filesystem,
    require_whole,
    whole_file,
)
from divulge.work.storage.staging import MARK_FILE

WRITER = """
import sys, time
from divulge.work import whole_file
with whole_file(sys.argv[1], overwrite=True) as part:
    with part.open("w") as file:
        file.write("half of it")
        file.flush()
        print("writing", flush=True)
        time.sleep(60)
"""

COUNTER = """
import sys, time, numpy as np
from divulge.work import Checkpoints
kept = Checkpoints(sys.argv[1])
def count(n):
    print("counting", n, flush=True)
    return {"n": np.array([n])}
for n in range(3):
    kept.remember("count", {"n": n}, lambda: count(n))
    if len(sys.argv) > 2 and n == 1:
        print("here", flush=True)
        time.sleep(60)
"""


def test_a_writer_that_is_killed_leaves_no_half_file(tmp_path: Path) -> None:
    final = tmp_path / "result.json"
    final.write_text("what was there before")
    with subprocess.Popen(
        [sys.executable, "-c", WRITER, str(final)], stdout=subprocess.PIPE, text=True
    ) as writer:
        assert writer.stdout is not None
        assert writer.stdout.readline() == "writing\n"
        writer.send_signal(signal.SIGKILL)
    assert final.read_text() == "what was there before"
    with whole_file(final, overwrite=True) as part:
        part.write_text("whole")
    assert final.read_text() == "whole"
    assert list(tmp_path.iterdir()) == [final], "what the killed writer left is cleared away"


def test_a_file_that_another_process_is_writing_is_left_alone(tmp_path: Path) -> None:
    final = tmp_path / "result.json"
    with whole_file(final, overwrite=True) as first, whole_file(final) as second:
        first.write_text("first")
        second.write_text("second")
        assert first.exists()
    assert final.read_text() == "first"


def test_files_appear_together_or_not_at_all(tmp_path: Path) -> None:
    folder = tmp_path / "new" / "out"

    def fail_half_way() -> None:
        with AtomicFiles(folder) as files:
            files.path("a").write_text("a")
            raise KeyError("b")

    with pytest.raises(KeyError):
        fail_half_way()
    assert list(tmp_path.iterdir()) == [], "folders that were made for nothing are gone"
    with AtomicFiles(folder) as files:
        files.path("a").write_text("a")
        files.path("b").write_text("b")
        assert not (folder / "a").exists()
    assert sorted(path.name for path in folder.iterdir()) == ["a", "b"]


def test_a_folder_in_the_place_of_one_file_keeps_back_the_others(tmp_path: Path) -> None:
    (tmp_path / "report.html").mkdir()

    def write_both() -> None:
        with AtomicFiles(tmp_path) as files:
            files.path("result.json").write_text("{}")
            files.path("report.html").write_text("<p>")

    with pytest.raises(InvalidInput, match="report.html: is a folder"):
        write_both()
    assert [path.name for path in tmp_path.iterdir()] == ["report.html"]


def test_a_full_disk_is_told_with_the_folder_that_was_written_to(tmp_path: Path) -> None:
    def write() -> None:
        with AtomicFiles(tmp_path / "out") as files:
            files.path("result.json").write_text("half of it")
            raise OSError(errno.ENOSPC, "No space left on device")

    with pytest.raises(OSError, match="No space left") as raised:
        write()
    assert raised.value.filename == str(tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_a_run_goes_on_when_another_one_clears_their_checkpoints(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    kept = Checkpoints(tmp_path / "kept")
    save, ends = np.savez, [True]

    def after_the_other_has_ended(*given: object, **arrays: object) -> None:
        save(*given, **arrays)  # type: ignore[arg-type]
        if ends.pop() if ends else False:
            Checkpoints(tmp_path / "kept").clear()

    monkeypatch.setattr(np, "savez", after_the_other_has_ended)
    kept.remember("n", {}, lambda: {"n": np.array([1])})
    assert kept.remember("n", {}, lambda: {"n": np.array([2])})["n"].tolist() == [1]


def test_a_killed_run_is_resumed_where_it_stopped(tmp_path: Path) -> None:
    folder = tmp_path / "checkpoints"
    with subprocess.Popen(
        [sys.executable, "-c", COUNTER, str(folder), "wait"], stdout=subprocess.PIPE, text=True
    ) as first:
        assert first.stdout is not None
        assert [first.stdout.readline() for _ in range(3)] == [
            "counting 0\n",
            "counting 1\n",
            "here\n",
        ]
        first.kill()
    again = subprocess.run(
        [sys.executable, "-c", COUNTER, str(folder)], capture_output=True, text=True, check=True
    )
    assert again.stdout == "counting 2\n"


def test_a_checkpoint_of_other_settings_is_not_taken(tmp_path: Path) -> None:
    kept = Checkpoints(tmp_path)
    kept.remember("n", {"k": 5}, lambda: {"n": np.array([5])})
    other = kept.remember("n", {"k": 6}, lambda: {"n": np.array([6])})
    assert other["n"].tolist() == [6]


def test_a_damaged_checkpoint_is_counted_again(tmp_path: Path) -> None:
    kept = Checkpoints(tmp_path)
    kept.remember("n", {}, lambda: {"n": np.array([1])})
    for path in tmp_path.glob("*.npz"):
        path.write_bytes(path.read_bytes()[:20])
    assert kept.remember("n", {}, lambda: {"n": np.array([2])})["n"].tolist() == [2]
    kept.clear()
    assert list(tmp_path.iterdir()) == [], "the user made the folder, so it stays"


def test_checkpoints_are_quick_to_look_up(tmp_path: Path) -> None:
    """The key is only made where there are checkpoints: a fingerprint of large data takes long."""
    from divulge import work

    def expensive() -> dict[str, object]:
        raise AssertionError("asked for a key without checkpoints")

    found = work.memoise("n", expensive, lambda: {"n": np.array([1])})
    assert found["n"].tolist() == [1]


def test_where_the_file_system_has_no_locks_files_are_written_all_the_same(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def no_locks(*_: object) -> None:
        raise OSError(errno.ENOLCK, "No locks available")

    monkeypatch.setattr("fcntl.flock", no_locks)
    with whole_file(tmp_path / "a.txt") as part:
        part.write_text("whole")
    place = OutputFolder(tmp_path / "out", "results")
    with place.held():
        place.write(lambda new: filesystem.write_text(new / "b.txt", "whole"))
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a.txt", "out"]
    left = tmp_path / ".divulge-0123456789ab.part"
    left.mkdir()
    (left / MARK_FILE).write_text("")
    with whole_file(tmp_path / "c.txt") as part:
        part.write_text("whole")
    assert left.exists(), "nobody can tell whether its run has ended"


def test_a_manifest_that_lists_a_file_outside_of_its_folder_is_none_of_ours(tmp_path: Path) -> None:
    beside = tmp_path / "beside.txt"
    beside.write_text("not yours")
    place = OutputFolder(tmp_path / "out", "results", overwrite=True)
    with place.held():
        place.write(lambda new: filesystem.write_text(new / "b.txt", "whole"))
    manifest = tmp_path / "out" / "manifest.json"
    for name in ("../beside.txt", "/etc/hostname", "..", "a/../../beside.txt", "", "x" * 5_000):
        told = json.loads(manifest.read_text())
        manifest.write_text(json.dumps({**told, "files": {**told["files"], name: "0"}}))
        with pytest.raises(InvalidInput):
            require_whole(tmp_path / "out")
        with pytest.raises(InvalidInput, match="did not write"):
            place.check()
        manifest.write_text(json.dumps(told))
    assert beside.read_text() == "not yours"
