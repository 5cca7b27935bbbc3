"""Every program of the page "Rules by example", with the output that the page shows."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest
from typer.testing import CliRunner

from divulge.cli.main import app

PAGE = Path(__file__).parents[2] / "docs" / "rules.md"
SECTIONS = re.split(r"(?m)^## ", PAGE.read_text(encoding="utf-8"))[1:]


def list_blocks(section: str, kind: str) -> list[str]:
    blocks = re.findall(r"(?ms)^```(\w*)\n(.*?)^```$", section)
    return [content for written, content in blocks if written == kind]


def test_the_page_has_ten_programs_and_one_that_is_wrong() -> None:
    assert len(SECTIONS) == 11
    assert all(len(list_blocks(section, "rules")) == 1 for section in SECTIONS)


@pytest.mark.parametrize("section", SECTIONS, ids=lambda section: section.split("\n")[0])
def test_a_program_of_the_page_gives_what_the_page_shows(
    section: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("program.rules").write_text(list_blocks(section, "rules")[0], encoding="utf-8")
    for content in list_blocks(section, "csv"):
        Path("ownership.csv").write_text(content, encoding="utf-8")
    [session] = [block for block in list_blocks(section, "") if block.startswith("$ ")]
    line, _, output = session.partition("\n")
    told = CliRunner().invoke(app, shlex.split(line.removeprefix("$ divulge ")))
    shown = told.stdout if told.exit_code == 0 else f"{told.exception}\n"
    assert shown == output
