"""The report: one file, nothing from outside, no record in it, and a person can read it."""

import re
from html.parser import HTMLParser
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from tests.release_files import write_release

import divulge as dv
from divulge.report import check_into
from divulge.work import InvalidInput

if TYPE_CHECKING:
    from playwright.sync_api import Page, Request


@pytest.fixture
def report(tmp_path: Path) -> Path:
    verdict = dv.Release.load(write_release(tmp_path)).check()
    dv.report(verdict, tmp_path / "report.html")
    return tmp_path / "report.html"


class Links(HTMLParser):
    """Collects whatever a page could ask for."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag in ("script", "link", "img", "iframe", "object", "embed"):
            self.found.append(tag)
        self.found += [str(value) for name, value in attrs if name in ("src", "href", "xlink:href")]


def test_the_report_refers_to_nothing_outside_itself(report: Path) -> None:
    text = report.read_text()
    links = Links()
    links.feed(text)
    assert links.found == []
    addresses = set(re.findall(r"https?://[^\s\"'<>]+", text))
    assert addresses <= {"http://www.w3.org/2000/svg", "http://www.w3.org/1999/xlink"}
    assert "default-src 'none'" in text


def test_the_report_says_the_verdict_the_figures_and_how_to_read_them(report: Path) -> None:
    text = report.read_text()
    for wanted in (
        "Pass",
        "Every limit of the release holds",
        "singles out 1 of 10 pupils (10%)",
        "at most 10%",
        "How to read this",
        "Class sizes of pupils",
        "quasi-identifier: gender, grade",
    ):
        assert wanted in text


def test_names_in_a_release_cannot_become_markup(tmp_path: Path) -> None:
    path = write_release(tmp_path, ('"neighbour"', '"<b onload=x>neighbour"'))
    dv.report(dv.Release.load(path).check(), tmp_path / "r.html")
    text = (tmp_path / "r.html").read_text()
    assert "<b onload" not in text
    assert "&lt;b onload=x&gt;neighbour" in text


def test_no_value_of_a_record_is_in_the_results(tmp_path: Path) -> None:
    value = "zweiundvierzig"
    rows = "".join(f"{value}{n},{n % 3}\n" for n in range(9))
    (tmp_path / "people.csv").write_text(f"name,age\n{rows}")
    (tmp_path / "release.toml").write_text(
        '[[dataset]]\nname = "people"\nsource = "people.csv"\n'
        '[[adversary]]\nname = "a"\nattack = "records"\nknows = ["name", "age"]\n'
    )
    check_into(dv.Release.load(tmp_path / "release.toml"), tmp_path / "out")
    for path in (tmp_path / "out").iterdir():
        assert value not in path.read_text()


def test_a_folder_that_the_user_made_is_never_removed(tmp_path: Path) -> None:
    path = write_release(
        tmp_path,
        ('quasi_identifier = ["gender", "grade"], ', ""),
        ('knows = ["gender", "grade"]', 'knows = ["gender"]'),
    )
    (tmp_path / "mine").mkdir()
    for folder, stays in (("mine", True), ("new", False)):
        with pytest.raises(InvalidInput, match="no quasi-identifier"):
            check_into(dv.Release.load(path), tmp_path / folder)
        assert (tmp_path / folder).exists() == stays


def test_an_attack_without_a_chart_is_reported_too(tmp_path: Path) -> None:
    from dataclasses import replace

    verdict = dv.Release.load(write_release(tmp_path)).check()
    plain = replace(verdict.assessments[0], _chart=None)
    dv.report(replace(verdict, assessments=(plain,)), tmp_path / "r.html")
    assert "singles out 1 of 10" in (tmp_path / "r.html").read_text()


def test_results_are_written_together_and_checkpoints_cleared(tmp_path: Path) -> None:
    release = dv.Release.load(write_release(tmp_path))
    check_into(release, tmp_path / "out")
    assert sorted(path.name for path in (tmp_path / "out").iterdir()) == [
        "manifest.json",
        "report.html",
        "result.json",
    ]


def test_a_report_that_fails_half_way_leaves_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(_: object) -> str:
        raise RuntimeError("no page")

    monkeypatch.setattr("divulge.report.results.page", fail)
    release = dv.Release.load(write_release(tmp_path))
    with pytest.raises(RuntimeError, match="no page"):
        check_into(release, tmp_path / "out")
    left = [path for path in (tmp_path / "out").rglob("*") if path.is_file()]
    assert all(".divulge-checkpoints" in path.parts for path in left)


@pytest.mark.browser
def test_a_browser_shows_the_report_and_no_request_leaves_the_page(
    report: Path, page: "Page"
) -> None:
    asked: list[str] = []
    complaints: list[str] = []

    def note(request: "Request") -> None:
        asked.append(request.url)

    page.on("request", note)
    page.on("console", lambda message: complaints.append(message.text))
    page.goto(report.as_uri())
    page.wait_for_load_state("networkidle")
    assert asked == [report.as_uri()]
    assert complaints == []
    assert page.locator("h1").inner_text() == "What release.toml divulges"
    assert page.locator(".verdict").is_visible()
    charts = page.locator("figure svg")
    assert charts.count() == 2
    for number in range(charts.count()):
        box = charts.nth(number).bounding_box()
        assert box is not None
        assert box["width"] > 300
        assert box["height"] > 100
    too_wide = page.evaluate("document.documentElement.scrollWidth > window.innerWidth")
    assert not too_wide


@pytest.mark.browser
def test_a_narrow_screen_shows_the_report_without_scrolling_sideways(
    report: Path, page: "Page"
) -> None:
    page.set_viewport_size({"width": 380, "height": 800})
    page.goto(report.as_uri())
    assert not page.evaluate("document.documentElement.scrollWidth > window.innerWidth")
