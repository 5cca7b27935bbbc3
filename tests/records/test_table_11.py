"""Alvim et al. 2022, Table 11, on the synthetic census: the page's own code, and its figures."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

PAGE = Path(__file__).parents[2] / "docs" / "before-and-after.md"


@pytest.fixture(scope="module")
def page() -> dict[str, Any]:
    names: dict[str, Any] = {}
    for block in re.findall(r"```python\n(.*?)```", PAGE.read_text(), re.DOTALL):
        exec(compile(block, PAGE.name, "exec"), names)  # noqa: S102  # our own page
    return names


def test_the_page_shows_the_figures_that_its_code_finds(page: dict[str, Any]) -> None:
    text = PAGE.read_text().partition("98.7470%")[0]  # before the table of a million pupils
    shown = re.findall(r"^\| ((?:original|[kt] = ).*?) \|$", text, re.MULTILINE)
    assert [row.split(" | ") for row in shown if row != "original"] == page["rows"]


def test_protection_takes_away_what_the_paper_says_it_takes_away(page: dict[str, Any]) -> None:
    found = {row[0]: [float(share.rstrip("%")) for share in row[1:]] for row in page["rows"]}
    before = found.pop("original")
    assert before[0] > 98
    assert before[1] > 99
    for name, (singled_out, certain, record, secret) in found.items():
        assert singled_out <= (0 if name.startswith("k") else 1)
        assert certain < before[1] / 2
        assert record < 5
        # The best guess at a rare disability is no better than it was before the release.
        assert secret == 97.655
    assert found["k = 4"][2] > found["k = 12"][2] > found["k = 20"][2]
    assert found["t = 0.1"][2] < found["t = 0.3"][2] < found["t = 0.5"][2]
