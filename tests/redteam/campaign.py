"""Many releases, each protected and then attacked: `make redteam SEEDS=1000 FIRST=0`.

Every seed is a release of its own (`made_releases`); what is published is judged by `oracle`. The
first seed that fails is printed, and `FIRST` repeats it. Seeds that only a bold attacker refutes
(`oracle.BOLD`) are listed and counted, and do not end the run: see `known`. With `LOCAL=nested` or
`LOCAL=clusters` all releases are recoded record by record. Beside its usual release every seed has one
of another kind (`KINDS`), in turn; `KIND=sweep` tries those alone, for every seed, and `KIND=usual` none.
"""

from __future__ import annotations

import argparse
import json
import math
import re
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

PROJECT = Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(PROJECT))

from tests.redteam.differencing import list_revision_faults  # noqa: E402
from tests.redteam.file_kinds import attack_formats, attack_table_beside  # noqa: E402
from tests.redteam.finding import Finding  # noqa: E402
from tests.redteam.known import KNOWN  # noqa: E402
from tests.redteam.limit_kinds import attack_limits  # noqa: E402
from tests.redteam.made_releases import WITHHELD, Case, write_case  # noqa: E402
from tests.redteam.oracle import (  # noqa: E402
    HIDDEN,
    ROUNDING,
    Evidence,
    count_excluded,
    find_published,
    list_bold_faults,
    list_broken_limits,
    list_faults,
    read_evidence,
    read_published,
    read_source,
)
from tests.redteam.record_kinds import (  # noqa: E402
    attack_people,
    attack_population,
    attack_rules,
    attack_sweep,
)
from tests.redteam.source_kinds import (  # noqa: E402
    attack_datasets,
    attack_history,
    attack_protected_before,
)

from divulge import Release  # noqa: E402
from divulge.classes.people import UnjudgedPeopleError  # noqa: E402
from divulge.protection import OutOfReachError  # noqa: E402

COMPARED_EVERY = 5
"""Every so many seeds a release is protected five times, and the files are compared."""
PROGRESS_EVERY = 25


KINDS = {
    "sweep": attack_sweep,
    "rules": attack_rules,
    "protected before": attack_protected_before,
    "datasets": attack_datasets,
    "history": attack_history,
    "people": attack_people,
    "population": attack_population,
    "limits": attack_limits,
    "formats": attack_formats,
    "table": attack_table_beside,
}
"""Releases of other kinds than the usual one, each by its seed and a folder."""


def attack_seed(seed: int, folder: Path, local: str | None = None) -> Finding:
    """Make, check, protect and attack a release."""
    case = write_case(folder, seed, local)
    faults = [f"check: {fault}" for fault in _compare_check(case)]
    out = folder / "out"
    try:
        protected = Release.load(case.path).protect(out=out)
    except (OutOfReachError, UnjudgedPeopleError) as error:
        if (out / "release").exists():
            faults.append("out of reach, and yet something was written")
        is_unjudged = isinstance(error, UnjudgedPeopleError)
        return Finding(outcome="not judged" if is_unjudged else "out of reach", faults=faults)
    if protected.status != "pass":
        if (out / "release").exists():
            faults.append(f"{protected.status}, and yet something was written")
        return Finding(outcome=protected.status, faults=faults)
    file = find_published(out)
    evidence = read_evidence(case, file)
    faults += list_faults(evidence)
    faults += _compare_figures(evidence, out)
    faults += _compare_method(evidence, out)
    if seed % COMPARED_EVERY == 0:
        faults += _compare_protections(case, out, folder)
        faults += list_revision_faults(case, out, folder)
    hides = any(HIDDEN in record.values() for record in evidence.records)
    return Finding(
        outcome="hidden" if hides else "shown",
        faults=faults,
        bold=list(list_bold_faults(evidence)) if hides else [],
    )


def _compare_check(case: Case) -> Iterator[str]:
    """Nothing is hidden in a source, so its verdict must be the oracle's, whichever it is."""
    status = Release.load(case.path).check().status
    broken = list(list_broken_limits(read_source(case)))
    # What is not judged does not pass; some measures do not count people with several records.
    if status != "not judged" and (status == "pass") == bool(broken):
        yield f"the verdict is {status}; broken: {broken}"


def _compare_figures(evidence: Evidence, out: Path) -> Iterator[str]:
    """What the product tells of classes must be what plain code counts in the file."""
    told = json.loads((out / "internal" / "result.json").read_text(encoding="utf-8"))
    for limit in told["limits"]:
        if limit["measure"] == "k_anonymity":
            count = min(map(evidence.effective_frequency, evidence.victims), default=math.inf)
        elif limit["measure"] == "distinct_l_diversity":
            count = min((len(evidence.secrets(v)) for v in evidence.victims), default=math.inf)
        else:
            continue
        # k is told in whole records or people; sums of chances may lack the last digit.
        told_count = math.floor(limit["value"] + ROUNDING)
        if evidence.records and math.floor(count + ROUNDING) != told_count:
            yield f"{limit['measure']} is told as {limit['value']}, and is {count:.4f}"


def _compare_method(evidence: Evidence, out: Path) -> Iterator[str]:
    """What the product tells of who knows the method must be what plain code counts in the file."""
    told = json.loads((out / "internal" / "result.json").read_text(encoding="utf-8"))
    part = told["protection"]["datasets"].get("people")
    method = None if part is None else part.get("method")
    if method is None or method["claim"] != "bound":
        return
    counts = count_excluded(evidence, method["keys"], method["k"])
    for name, count in counts.items():
        if method[name] != count:
            yield f"method: {name} is told as {method[name]}, and is {count}"
    if not method["base"] <= method["right"] <= method["hidden"]:
        yield f"method: {method['right']} right of {method['hidden']}, before {method['base']}"
    if part["decoy_cells"] > counts["hidden"]:
        yield "method: more decoys than suppressed cells"


def _compare_protections(case: Case, out: Path, folder: Path) -> Iterator[str]:
    """The same source once more: with revises the same bytes, without it the same records."""
    Release.load(case.path).protect(out=folder / "revised", revises=out)
    for file in sorted((out / "release").iterdir()):
        revised = folder / "revised" / "release" / file.name
        if _read_bytes(file) != _read_bytes(revised):
            yield f"{file.suffix} differs though it revises"
    if case.decoys or case.local:  # another secret draws others, as docs/protection.md says
        return
    Release.load(case.path).protect(out=folder / "again")
    first, again = (
        Counter(
            # Pseudonyms are those of their secret.
            tuple((name, text) for name, text in record.items() if name not in WITHHELD)
            for record in read_published(find_published(place))
        )
        for place in (out, folder / "again")
    )
    if first != again:
        yield "two protections hide different cells"


def _read_bytes(path: Path) -> bytes:
    """What a file holds, but for the minute in which a Stata file was written."""
    return re.sub(rb"<timestamp>.{18}</timestamp>", b"", path.read_bytes(), flags=re.DOTALL)


def main() -> int:
    """Run seeds one after another; ends with 1 at the first that fails."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--seeds", type=int, default=1000)
    parser.add_argument("--keep-going", action="store_true", help="list all seeds that fail")
    parser.add_argument("--local", choices=["nested", "clusters"], help="recode record by record")
    kinds = {kind.replace(" ", "-"): kind for kind in ("usual", *KINDS)}
    parser.add_argument("--kind", choices=kinds, help="only releases of this kind")
    options = parser.parse_args()
    options.kind = kinds.get(options.kind)
    outcomes: Counter[str] = Counter()
    begin = time.monotonic()
    for seed in range(options.first, options.first + options.seeds):
        for kind, finding in _attack_kinds(seed, options.kind, options.local):
            is_usual = kind == "usual"
            outcomes[finding.outcome if is_usual else f"{kind}: {finding.outcome}"] += 1
            outcomes["refuted boldly"] += bool(finding.bold)
            is_known = is_usual and options.local is None and seed in KNOWN
            outcomes["known"] += is_known
            outcomes["failed"] += bool(finding.faults) and not is_known
            for fault in (*finding.faults, *finding.bold):
                print(f"seed {seed} ({kind}, {finding.outcome}): {fault}", flush=True)
            if finding.faults and not is_known:
                local = "" if options.local is None else f" LOCAL={options.local}"
                again = f"FIRST={seed} SEEDS=1{local} KIND={kind.replace(' ', '-')}"
                print(f"  again: make redteam {again}", flush=True)
                if not options.keep_going:
                    return 1
        if (seed + 1) % PROGRESS_EVERY == 0:
            print(f"seed {seed}, {time.monotonic() - begin:.0f} s: {dict(outcomes)}", flush=True)
    print(f"{options.seeds} seeds: {dict(outcomes)}")
    return 1 if outcomes["failed"] else 0


def _attack_kinds(seed: int, only: str | None, local: str | None) -> Iterator[tuple[str, Finding]]:
    """What becomes of the releases of a seed: the usual one, and one of another kind."""
    other = list(KINDS)[seed % len(KINDS)]
    if local is not None:
        only = "usual"
    for kind in ["usual", other] if only is None else [only]:
        with tempfile.TemporaryDirectory() as folder:
            place = Path(folder)
            yield (
                kind,
                attack_seed(seed, place, local) if kind == "usual" else KINDS[kind](seed, place),
            )


if __name__ == "__main__":
    sys.exit(main())
