"""Many releases, each protected and then attacked: `make redteam SEEDS=1000`.

Every seed is a release of its own (`made_releases`); what is published is judged by `oracle`. The
first seed that fails is printed, with the command that repeats it.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

PROJECT = Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(PROJECT))

from tests.redteam.known import KNOWN  # noqa: E402
from tests.redteam.made_releases import Case, write_case  # noqa: E402
from tests.redteam.oracle import (  # noqa: E402
    list_broken_limits,
    list_faults,
    read_evidence,
    read_published,
    read_source,
)

from divulge import Release  # noqa: E402
from divulge.protection import OutOfReachError  # noqa: E402

COMPARED_EVERY = 5
"""Every so many seeds a release is protected three times, and the files are compared."""


def attack_seed(seed: int, folder: Path) -> tuple[str, list[str]]:
    """Make, check, protect and attack a release; gives what became of it, and all faults."""
    case = write_case(folder, seed)
    faults = [f"check: {fault}" for fault in _compare_check(case)]
    out = folder / "out"
    try:
        protected = Release.load(case.path).protect(out=out)
    except OutOfReachError:
        if (out / "release").exists():
            faults.append("out of reach, and yet something was written")
        return "out of reach", faults
    if protected.status != "pass":
        if (out / "release").exists():
            faults.append(f"{protected.status}, and yet something was written")
        return protected.status, faults
    file = find_published(out)
    evidence = read_evidence(case, file)
    faults += list_faults(evidence)
    if seed % COMPARED_EVERY == 0:
        faults += _compare_protections(case, out, folder)
    hides = any("(hidden)" in record.values() for record in evidence.records)
    return "hidden" if hides else "shown", faults


def find_published(out: Path) -> Path:
    """The one file of data that may go out."""
    [file] = [f for f in (out / "release").iterdir() if f.name != "methods-note.txt"]
    return file


def _compare_check(case: Case) -> Iterator[str]:
    """Nothing is hidden in a source, so its verdict must be the oracle's, whichever it is."""
    status = Release.load(case.path).check().status
    broken = list(list_broken_limits(read_source(case)))
    if (status == "pass") == bool(broken):
        yield f"the verdict is {status}; broken: {broken}"


def _compare_protections(case: Case, out: Path, folder: Path) -> Iterator[str]:
    """The same source once more: with revises the same bytes, without it the same records."""
    Release.load(case.path).protect(out=folder / "revised", revises=out)
    for file in sorted((out / "release").iterdir()):
        if file.read_bytes() != (folder / "revised" / "release" / file.name).read_bytes():
            yield f"{file.suffix} differs though it revises"
    Release.load(case.path).protect(out=folder / "again")
    first, again = (
        Counter(tuple(record.items()) for record in read_published(find_published(place)))
        for place in (out, folder / "again")
    )
    if first != again:
        yield "two protections hide different cells"


def main() -> int:
    """Run seeds one after another; ends with 1 at the first that fails."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--seeds", type=int, default=1000)
    parser.add_argument("--keep-going", action="store_true", help="list all seeds that fail")
    options = parser.parse_args()
    outcomes: Counter[str] = Counter()
    begin, failing = time.monotonic(), 0
    for seed in range(options.first, options.first + options.seeds):
        if seed in KNOWN:
            outcomes["known"] += 1
            continue
        with tempfile.TemporaryDirectory() as folder:
            outcome, faults = attack_seed(seed, Path(folder))
        outcomes[outcome] += 1
        if faults:
            failing += 1
            print(f"seed {seed} fails ({outcome}):", *faults, sep="\n  ", flush=True)
            print(f"  again: {sys.argv[0]} --first {seed} --seeds 1", flush=True)
            if not options.keep_going:
                return 1
        if (seed + 1) % 25 == 0:
            spent = time.monotonic() - begin
            print(f"seed {seed}, {spent:.0f} s: {dict(outcomes)}, {failing} failed", flush=True)
    print(f"{sum(outcomes.values())} seeds: {dict(outcomes)}, {failing} failed")
    return 1 if failing else 0


if __name__ == "__main__":
    sys.exit(main())
