"""Pages as PDF: whole, unfolded, one page for a certificate; without a browser it is said."""

from __future__ import annotations

import json
import os
import re
import shutil
from pathlib import Path

import pytest
from tests.release_files import write_release
from typer.testing import CliRunner

import divulge as dv
from divulge.cli.main import app
from divulge.report import check_into, pdf_pages
from divulge.report.editions.certificate import certificate_page

runner = CliRunner()


def count_pages(pdf: Path) -> int:
    content = pdf.read_bytes()
    assert content.startswith(b"%PDF-")
    return len(re.findall(rb"/Type\s*/Page\b(?!s)", content))


@pytest.mark.browser
def test_a_certificate_of_many_limits_and_files_is_one_page_too(tmp_path: Path) -> None:
    program = pdf_pages.find_chromium()
    assert program is not None
    check_into(dv.Release.load(write_release(tmp_path)), tmp_path / "out")
    certificate = json.loads((tmp_path / "out" / "editions" / "certificate.json").read_text())
    [limit, *_], [read, *_] = certificate["limits"], certificate["read"]
    certificate["limits"] = [{**limit, "measure": f"measure {n} of many"} for n in range(40)]
    certificate["release"] = [{"file": f"part{n}.csv", "sha256": "f" * 64} for n in range(40)]
    certificate["read"] = [{**read, "name": f"a dataset, number {n}"} for n in range(40)]
    (tmp_path / "c.pdf").write_bytes(pdf_pages.print_page(certificate_page(certificate), program))
    assert count_pages(tmp_path / "c.pdf") == 1


@pytest.mark.browser
def test_every_page_is_a_pdf_beside_it_and_a_certificate_is_one_page(tmp_path: Path) -> None:
    path = write_release(tmp_path)
    result = runner.invoke(app, ["check", str(path), "--out", str(tmp_path / "out"), "--pdf"])
    assert result.exit_code == 0, result.output
    pages = {path.relative_to(tmp_path / "out") for path in (tmp_path / "out").rglob("*.pdf")}
    assert pages == {
        Path("report.pdf"), Path("editions/external.pdf"), Path("editions/certificate.pdf"),
    }  # fmt: skip
    assert count_pages(tmp_path / "out" / "editions" / "certificate.pdf") == 1
    assert count_pages(tmp_path / "out" / "report.pdf") > 1
    for page in pages:
        assert str(tmp_path).encode() not in (tmp_path / "out" / page).read_bytes()


def test_without_a_browser_the_pages_are_there_and_it_is_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pdf_pages, "find_chromium", lambda: None)
    path = write_release(tmp_path)
    result = runner.invoke(app, ["check", str(path), "--out", str(tmp_path / "out"), "--pdf"])
    assert result.exit_code == 0
    assert "no Chromium was found" in result.stderr
    assert not list((tmp_path / "out").rglob("*.pdf"))
    assert (tmp_path / "out" / "report.html").is_file()


@pytest.mark.parametrize("script", ["exit 1", "exit 0"])
def test_a_browser_that_prints_nothing_leaves_the_pages_and_says_which(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, script: str
) -> None:
    program = tmp_path / "browser"
    program.write_text(f"#!/bin/sh\n{script}\n")
    program.chmod(0o700)
    monkeypatch.setenv("CHROMIUM", str(program))
    path = write_release(tmp_path)
    result = runner.invoke(app, ["check", str(path), "--out", str(tmp_path / "out"), "--pdf"])
    assert result.exit_code == 0
    for page in ("report.html", "external.html", "certificate.html"):
        assert f"{page} was not written as PDF: the browser could not print it." in result.stderr
    assert not list((tmp_path / "out").rglob("*.pdf"))


def test_a_browser_is_the_one_that_is_named_or_one_that_is_installed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CHROMIUM", str(tmp_path / "none"))
    assert pdf_pages.find_chromium() is None
    program = tmp_path / "google-chrome"
    program.write_text("#!/bin/sh\n")
    program.chmod(0o700)
    monkeypatch.delenv("CHROMIUM")
    monkeypatch.setenv("PATH", str(tmp_path))
    assert pdf_pages.find_chromium() == shutil.which("google-chrome", path=os.fspath(tmp_path))
