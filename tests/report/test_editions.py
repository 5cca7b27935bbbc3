"""Editions for people outside tell nothing that the released files do not; certificates hold."""

import hashlib
import hmac
import html
import json
import random
import re
import secrets
import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from tests.release_files import write_release

import divulge as dv
from divulge.cli.commands.protection import _write_report
from divulge.release import ProtectedRelease
from divulge.report import check_into, verify_certificate
from divulge.report.editions.public_facts import round_records
from divulge.work import InvalidInput

PEOPLE = """
title = "people of three towns"
publisher = "an office"

[[dataset]]
name = "people"
source = "people.csv"
roles = { identifier = "name", quasi_identifier = ["town", "age"], sensitive = ["job"] }

[[adversary]]
name = "the ex of Zq7Maria"
attack = "records"
model = "CRS"
knows = ["town", "age"]

[[limit]]
adversary = "the ex of Zq7Maria"
measure = "deterministic.posterior"
at_most = 0.0625

[[limit]]
dataset = "people"
measure = "k_anonymity"
at_least = 2

[protection]
methods = ["suppress"]
"""
CELLS = """
[[dataset]]
name = "people"
source = "people.csv"
roles = { quasi_identifier = ["town", "age"] }
unlisted = "drop"

[[adversary]]
name = "reader of Zq7Maria"
attack = "tables"
by = ["town", "age"]
min_frequency = 4
width = 3
method = "secret"

[[limit]]
adversary = "reader of Zq7Maria"
measure = "deterministic.posterior"
at_most = 0
"""
OUTSIDE = ("external.html", "certificate.html", "certificate.json")


def write_people(folder: Path, rows: Sequence[tuple[object, ...]], text: str = PEOPLE) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    lines = [",".join(map(str, row)) for row in rows]
    (folder / "people.csv").write_text("\n".join(["name,town,age,job", *lines]) + "\n")
    (folder / "release.toml").write_text(text)
    return folder / "release.toml"


def protect(path: Path, *, tell_parameters: bool = False) -> Path:
    def write(result: ProtectedRelease, folder: Path) -> None:
        _write_report(result, folder, has_frontier=False, tell_parameters=tell_parameters)

    out = path.parent / "out"
    dv.Release.load(path).protect(out=out, also=write)
    return out


def read_all(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in sorted(folder.iterdir())}


def read_outside(out: Path) -> dict[str, str]:
    """What people outside have of an edition, without what only the key gives a meaning."""
    texts = {name: (out / "editions" / name).read_text() for name in OUTSIDE}
    certificate: Any = json.loads(texts["certificate.json"])
    keyed = {each["hmac"] for each in certificate["read"]} | {certificate["seal"]}
    keyed.add(hashlib.sha256(texts["certificate.json"].encode()).hexdigest())
    for name in texts:
        for digest in keyed:
            texts[name] = texts[name].replace(digest, "?")
    return texts


def list_twins() -> dict[str, tuple[str, Sequence[Sequence[tuple[object, ...]]]]]:
    """Originals that differ only in what protection hides."""
    common = [("n", "Roma", 20, "cook")] * 4 + [("n", "Bari", 30, "cook")] * 4
    records = [[*common, ("n", "Bari", age, "cook")] for age in range(40, 47)]
    table = []
    for one in range(1, 4):
        cells = [[one, 14 - one, 15], [14 - one, one, 16], [15, 16, 20]]
        sizes = {(f"t{i}", 20 + j): n for i, row in enumerate(cells) for j, n in enumerate(row)}
        table.append([("n", *cell, "cook") for cell, count in sizes.items() for _ in range(count)])
    return {"records": (PEOPLE, records), "table": (CELLS, table)}


@pytest.mark.parametrize("kind", ["records", "table"])
@pytest.mark.parametrize("tell_parameters", [False, True])
def test_originals_that_are_protected_into_the_same_files_have_the_same_editions(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: str, tell_parameters: bool
) -> None:
    """So that nobody can compute a hidden cell from them who could not from the release alone."""
    monkeypatch.setattr(secrets, "token_bytes", lambda size: b"k" * size)
    text, originals = list_twins()[kind]
    outs = [
        protect(write_people(tmp_path / str(n), rows, text), tell_parameters=tell_parameters)
        for n, rows in enumerate(originals)
    ]
    first = read_all(outs[0] / "release")
    alike = [out for out in outs if read_all(out / "release") == first]
    assert len(alike) >= 3, "there would be nothing to tell apart"
    assert len({json.dumps(read_outside(out)) for out in alike}) == 1
    inside = {(out / "internal" / "published.json").read_text() for out in alike}
    inside |= {(out.parent / "people.csv").read_text() for out in alike}
    assert len(inside) > 1


@pytest.mark.parametrize("seed", range(4))
def test_no_value_of_a_record_and_no_name_is_in_any_edition(tmp_path: Path, seed: int) -> None:
    draw = random.Random(seed)  # noqa: S311  # made-up data
    towns = [f"Zq7town{n}" for n in range(3)]
    rows = [
        (f"Zq7name{n}", draw.choice(towns), 7_711 + 100 * draw.randrange(4), f"Zq7job{n % 5}")
        for n in range(40 + seed)
    ]
    path = write_people(tmp_path, [tuple(row) for row in rows])
    check_into(dv.Release.load(path), tmp_path / "results")
    pages = [*(tmp_path / "results").rglob("*.html"), *(tmp_path / "results").rglob("*.json")]
    out = protect(path)
    pages += [*out.rglob("*.html"), *(out / "editions").iterdir(), out / "internal" / "result.json"]
    assert len(pages) >= 11
    for page in pages:
        text = page.read_text()
        # Who named an adversary after somebody finds that name inside, and only there.
        text = text if "editions" in page.parts else text.replace("Zq7Maria", "")
        assert "Zq7" not in text, page
        # A mean may stand inside, and is none of these.
        assert not re.search(r"\b(7[,.]?[789]|8[,.]?0)11\b(?!\.)", text), page


def test_limits_are_named_and_what_they_allow_is_told_by_choice(tmp_path: Path) -> None:
    rows = list_twins()["records"][1][0]
    for tell_parameters in (False, True):
        folder = tmp_path / str(tell_parameters)
        out = protect(write_people(folder, rows), tell_parameters=tell_parameters)
        for name, text in read_outside(out).items():
            text = html.unescape(text)
            assert "k-anonymity" in text, name
            assert ("6.25%" in text) == tell_parameters
            assert ("at least 2" in text) == tell_parameters
    page = (tmp_path / "False" / "out" / "editions" / "external.html").read_text()
    assert "people: fewer than 100 records" in page
    assert "adversary 1" in page
    assert "to find people" in page
    assert "Single values withheld" in page


def test_rules_of_tables_are_named_unless_they_are_a_secret(tmp_path: Path) -> None:
    rows = list_twins()["table"][1][0]
    told = {}
    for name, extra, tell in (("known", "", False), ("told", "", True), ("secret", "secret", True)):
        text = CELLS if extra else CELLS.replace('method = "secret"', "resist_matching = true")
        out = protect(write_people(tmp_path / name, rows, text), tell_parameters=tell)
        told[name] = html.unescape((out / "editions" / "external.html").read_text())
    assert "threshold rule (minimum frequency); protection levels" in told["known"]
    assert "fewer than 4 contributors" not in told["known"]
    assert "threshold rule (fewer than 4 contributors)" in told["told"]
    assert "intervals at least 3 wide" in told["told"]
    assert "threshold rule" not in told["secret"]


def test_numbers_of_records_are_rounded() -> None:
    assert round_records(99) == round_records(0) == "fewer than 100"
    assert round_records(100) == "about 100"
    assert round_records(1_049) == round_records(951).replace("950", "1,000") == "about 1,000"
    assert round_records(234_567) == "about 230,000"


def test_a_certificate_holds_for_its_files_and_for_no_others(tmp_path: Path) -> None:
    rows = list_twins()["records"][1][0]
    path = write_people(tmp_path, rows)
    out = protect(path)
    certificate, key = (
        out / "editions" / "certificate.json",
        out / "internal" / "certificate-key.json",
    )
    assert key.stat().st_mode & 0o777 == 0o600
    assert verify_certificate(certificate).status == "not judged"
    whole = verify_certificate(certificate, out / "release", [tmp_path / "people.csv", path], key)
    assert whole.status == "pass"
    assert len(whole.comparisons) == 1 + 2 + 2
    shutil.copytree(out / "release", tmp_path / "copy")
    data = tmp_path / "copy" / "people.csv"
    data.write_text(data.read_text().replace("Roma", "Pisa"))
    (tmp_path / "copy" / "more.csv").write_text("a\n1\n")
    (tmp_path / "copy" / "methods-note.txt").unlink()
    found = verify_certificate(certificate, tmp_path / "copy")
    assert found.status == "fail"
    assert {each.subject: each.finding for each in found.comparisons} == {
        "people.csv": "differs", "more.csv": "extra", "methods-note.txt": "missing",
    }  # fmt: skip
    assert verify_certificate(certificate, None, [data], key).status == "fail"
    with pytest.raises(InvalidInput, match="need|key"):
        verify_certificate(certificate, None, [path])
    forged = json.loads(certificate.read_text())
    forged["limits"][0]["status"] = "fail"
    (tmp_path / "forged.json").write_text(json.dumps(forged))
    assert verify_certificate(tmp_path / "forged.json", key=key).status == "fail"


def test_originals_are_digested_with_a_key_and_never_without(tmp_path: Path) -> None:
    path = write_people(tmp_path, list_twins()["records"][1][0])
    out = protect(path)
    text = (out / "editions" / "certificate.json").read_text()
    certificate: Any = json.loads(text)
    key = bytes.fromhex(json.loads((out / "internal" / "certificate-key.json").read_text())["key"])
    for file, entry in zip((tmp_path / "people.csv", path), certificate["read"], strict=True):
        content = file.read_bytes()
        assert entry["hmac"] == hmac.new(key, content, "sha256").hexdigest()
        for plain in (hashlib.sha256, hashlib.md5, hashlib.sha1):
            assert plain(content).hexdigest() not in text
    secret = json.loads((out / "internal" / "secret.json").read_text())["key"]
    assert secret != key.hex()
    said = {each["file"]: each["sha256"] for each in certificate["release"]}
    for file in (out / "release").iterdir():
        assert said[file.name] == hashlib.sha256(file.read_bytes()).hexdigest()


def test_a_check_has_editions_too_and_keeps_its_key(tmp_path: Path) -> None:
    path = write_release(tmp_path)
    check_into(dv.Release.load(path), tmp_path / "out")
    first = (tmp_path / "out" / "editions" / "certificate.json").read_text()
    check_into(dv.Release.load(path), tmp_path / "out")
    assert (tmp_path / "out" / "editions" / "certificate.json").read_text() == first
    key = tmp_path / "out" / "internal" / "certificate-key.json"
    assert key.stat().st_mode & 0o777 == 0o600
    found = verify_certificate(
        tmp_path / "out" / "editions" / "certificate.json", None, [tmp_path / "pupils.csv"], key
    )
    assert found.status == "pass"
    assert json.loads(first)["release"] == []
    external = html.unescape((tmp_path / "out" / "editions" / "external.html").read_text())
    assert "1 of 10" not in external
    assert "10%" not in external
    assert "By the limits set for it this can be published" in external


@pytest.mark.parametrize(
    "text", ["", "[]", "{}", "\0", '{"format": "divulge certificate 1"}', "[" * 100_000, "null",
             '{"format": "divulge certificate 1", "title": "a", "made": "b", "seal": "c",'
             ' "status": "pass", "release": [1], "read": []}'],
)  # fmt: skip
def test_what_is_no_certificate_is_refused(tmp_path: Path, text: str) -> None:
    (tmp_path / "c.json").write_text(text)
    with pytest.raises(InvalidInput, match="is not a certificate"):
        verify_certificate(tmp_path / "c.json")


@pytest.mark.parametrize(("example", "read"), [("people", "dataset"), ("rules", "rules")])
def test_examples_with_exact_limits_and_with_rules_have_editions(
    tmp_path: Path, example: str, read: str
) -> None:
    check_into(dv.Release.load(Path("examples") / example / "release.toml"), tmp_path / "results")
    certificate: Any = json.loads(read_outside(tmp_path / "results")["certificate.json"])
    assert certificate["status"] == "fail"
    assert read in {each["what"] for each in certificate["read"]}
