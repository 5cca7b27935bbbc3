"""The report: one file, nothing from outside, no record in it, and a person can read it."""

import csv
import html
import io
import json
import re
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path
from typing import TYPE_CHECKING, Literal
from urllib.parse import unquote

import jsonschema
import numpy as np
import pandas as pd
import pytest
from tests.release_files import write_release

import divulge as dv
from divulge.assessment.assessment import Most
from divulge.data.column import find_hidden_cells
from divulge.protection.result.change_summary import (
    list_changes_by_attribute,
    list_changes_of_moments,
)
from divulge.qif import PriorPosterior
from divulge.release import result_schema, tuning
from divulge.release.overview.next_step import find_next_steps
from divulge.report import check_into
from divulge.report.chart_downloads import build_downloads, compact_svg
from divulge.report.page import page as render
from divulge.report.page import protection_page
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
    inner = ("#", "data:image/svg+xml;charset=utf-8,", "data:text/csv;charset=utf-8,")
    assert [each for each in links.found if not each.startswith(inner)] == []
    addresses = set(re.findall(r"https?://[^\s\"'<>%]+", text))
    assert addresses <= {"http://www.w3.org/2000/svg", "http://www.w3.org/1999/xlink"}
    assert "default-src 'none'" in text


def list_downloads(text: str) -> dict[str, str]:
    """The files that a page carries, by name."""
    links = re.findall(r'<a download="([^"]*)" href="data:[^,"]*,([^"]*)">', text)
    return {html.unescape(name): unquote(address) for name, address in links}


def test_a_page_carries_each_picture_and_its_numbers_as_files(report: Path) -> None:
    text = report.read_text()
    files = list_downloads(text)
    pictures = re.findall(r"<svg.*?</svg>", text.split("<figure>", 1)[1], re.S)
    assert sum(name.endswith(".svg") for name in files) == text.count("<figure>") == 2
    for name, content in files.items():
        if name.endswith(".svg"):
            assert content in pictures
            assert content.startswith('<svg xmlns="http://www.w3.org/2000/svg"')
    [sizes] = [content for content in files.values() if content.startswith("alike")]
    rows = list(csv.DictReader(io.StringIO(sizes)))
    assert sum(int(row["count"]) for row in rows) == 10


def test_a_name_in_the_numbers_of_a_chart_is_no_formula_and_no_markup() -> None:
    records = [{"adversary": '=1+1"><script>', "share": 0.5}, {"adversary": "محمد", "share": -1.0}]
    [link] = build_downloads('../"x" <b>', None, records)
    assert not set(link["address"]) & set('"&#')
    assert link["name"] == "x-b.csv"
    read = pd.read_csv(io.StringIO(unquote(link["address"].partition(",")[2])))
    assert read.to_dict("records") == [
        {"adversary": "'=1+1\"><script>", "share": 0.5},
        {"adversary": "محمد", "share": -1.0},
    ]


def test_a_compacted_picture_keeps_its_words_and_its_shapes() -> None:
    svg = (
        '<svg width="10.12345" class="marks"><g role="x" aria-label="3.14159 &lt; 4">'
        '<path d="M1.23456,-7.5L2e3,4" fill="#123456"/><text>3.14159 class="a"</text></g></svg>'
    )
    assert compact_svg(svg) == (
        '<svg width="10.12"><g><path d="M1.23,-7.5L2e3,4" fill="#123456"/>'
        '<text>3.14159 class="a"</text></g></svg>'
    )


@pytest.mark.browser
def test_a_browser_saves_a_picture_from_the_page_alone(report: Path, page: "Page") -> None:
    complaints: list[str] = []
    page.on("console", lambda message: complaints.append(message.text))
    page.goto(report.as_uri())
    for kind, beginning in (("SVG", "<svg "), ("CSV", "adversary,")):
        with page.expect_download() as saved:
            page.locator(".downloads a", has_text=kind).first.click()
        assert saved.value.path().read_text().startswith(beginning)
    assert page.url == report.as_uri()
    assert complaints == []


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
    for path in (path for path in (tmp_path / "out").rglob("*") if path.is_file()):
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
        "editions",
        "internal",
        "manifest.json",
        "report.html",
        "result.json",
    ]


def test_a_report_that_fails_half_way_leaves_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object) -> str:
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


FIRST_PAGE = """
title = "pupils and their marks"
publisher = "an office"
description = "Two years of a school."

[[dataset]]
name = "pupils"
subjects = "pupils"
source = "pupils.csv"
roles = { quasi_identifier = ["town", "year", "sex"], sensitive = "mark" }
hierarchies = { year = { intervals = [[2000, 2002, 2004], [2000]] } }
descriptions = { town = "where they live" }

[[adversary]]
name = "classmate"
attack = "records"
knows = ["town", "year"]

[[adversary]]
name = "parent"
attack = "records"
knows = ["sex"]

[[limit]]
adversary = "classmate"
measure = "deterministic.posterior"
at_most = 0.1

[[limit]]
adversary = "parent"
measure = "deterministic.posterior"
at_most = 0.1
"""


def write_pupils(folder: Path, text: str = FIRST_PAGE) -> Path:
    rows = [f"{'abcd'[n % 4]},{2000 + n // 4},{'mf'[n % 2]},{n % 3}\n" for n in range(16)]
    (folder / "pupils.csv").write_text("town,year,sex,mark\n" + "".join(rows))
    path = folder / "release.toml"
    path.write_text(text)
    return path


def test_the_first_page_says_what_fails_for_whom_and_what_would_help(tmp_path: Path) -> None:
    verdict = check_into(dv.Release.load(write_pupils(tmp_path)), tmp_path / "out")
    text = (tmp_path / "out" / "report.html").read_text()
    first = re.sub(r"<[^>]+>", "", text[text.index("<main>") : text.index("<h2>Adversaries")])
    first = " ".join(html.unescape(first).split())
    for wanted in (
        "What pupils and their marks divulges", "Published by an office.", "Two years of a school.",
        "pupils: 16 pupils", "Do not publish this as it is: 1 of 2 limits does not hold.",
        "classmate. An adversary who knows town and year singles out all 16 pupils.",
        "town: where they live",
        "make year of dataset \"pupils\" coarser, to level 1 of 2",
        "classmate: known for certain after the release goes from 100% to 0% (allowed: at most 10%)",
        "After it every limit that can be judged would hold.",
        "Whether other columns still reveal year was not tried here",
        "Who else might attack, and with what other knowledge, was not asked.",
    ):  # fmt: skip
        assert wanted in first, wanted
    assert first.index("classmate.") < first.index("parent.")
    result = json.loads((tmp_path / "out" / "result.json").read_text())
    jsonschema.validate(result, result_schema())
    [step] = result["next_steps"]
    assert (step["attribute"], step["level"], step["limits_failing_after"]) == ("year", 1, 0)
    # As said, so it is: the same change, made by hand.
    [plan] = verdict.datasets.values()
    year = plan.dictionary["year"].hierarchy
    assert year is not None
    changed = replace(plan, columns={**plan.columns, "year": year.coarsen(plan.columns["year"], 1)})
    assert dv.records.attack(changed, "CRS", ["town", "year"]).certain.posterior == 0


def test_who_has_a_rare_value_is_told_to_bear_the_risk_and_no_value_is_named(
    tmp_path: Path,
) -> None:
    towns = ["large"] * 180 + [f"hamlet{n}" for n in range(20)]
    rows = "".join(f"{town},{'mf'[n % 2]},{n % 3}\n" for n, town in enumerate(towns))
    path = write_pupils(tmp_path, FIRST_PAGE.replace('"year", "sex"', '"sex"').replace(
        'hierarchies = { year = { intervals = [[2000, 2002, 2004], [2000]] } }\n', ""
    ).replace('knows = ["town", "year"]', 'knows = ["town"]'))  # fmt: skip
    (tmp_path / "pupils.csv").write_text("town,sex,mark\n" + rows)
    check_into(dv.Release.load(path), tmp_path / "out")
    result = json.loads((tmp_path / "out" / "result.json").read_text())
    jsonschema.validate(result, result_schema())
    assert list(result["exposure"]) == ["classmate"]
    found = result["exposure"]["classmate"]
    assert found["groups"] == [{"rare_value_of": "town", "count": 20, "mean_risk": 1.0}]
    assert found["mean_risk"] == pytest.approx((180 / 180 + 20) / 200)
    page = (tmp_path / "out" / "report.html").read_text()
    assert "20 pupils have a value of town that fewer than 5% have" in page
    assert "hamlet" not in page + json.dumps(result)


def test_a_protection_is_told_by_attribute_and_by_reason_before_any_record(tmp_path: Path) -> None:
    text = FIRST_PAGE + '\n[protection]\nmethods = ["recode", "suppress"]\n'
    text = text.replace(', sensitive = "mark"', "") + "suppression_limit = 0.6\n"
    path = write_pupils(tmp_path, text.replace('"sex"] }', '"sex"], sensitive = "mark" }'))
    result = dv.Release.load(path).protect()
    page = protection_page(result)
    [part] = result.records.values()
    changed = {row[0]: row for row in list_changes_by_attribute(part)}
    for name in part.among:
        before, after = part.original.columns[name], part.dataset.columns[name]
        hidden = int(np.count_nonzero(find_hidden_cells(after, before)))
        assert changed[name][2].split()[0] == str(hidden)
        is_same = list(map(before.value, before.codes)) == list(map(after.value, after.codes))
        assert not is_same or changed[name][-1] == "0%"
    assert sum(int(row[3].split()[0]) for row in changed.values()) > 0 or part.suppressed_cells > 0
    moments = {row[0]: row[1:] for row in list_changes_of_moments(part)}
    # Six times 0, five times 1 and 2: 15 / 16, and 25 less 16 times its square, over 15.
    assert moments["mark"][2:4] == ("0.9375", "0.9375")
    assert moments["mark"][4:] == ("0.729167", "0.729167")
    assert "How values are distributed, before and after" in page
    assert "A regression, before and after" not in page  # sixteen pupils are too few
    assert page.index("What was changed") < page.index("Decisions, record by record")
    assert page.index("<details><summary>Decisions") > 0


def test_a_release_that_passes_says_so_and_what_nobody_asked(tmp_path: Path) -> None:
    text = FIRST_PAGE.replace("at_most = 0.1\n\n[[limit]]", "at_most = 1\n\n[[limit]]")
    verdict = dv.Release.load(write_pupils(tmp_path, text)).check()
    page = html.unescape(render(verdict))
    assert verdict.passed
    assert "By its limits this can be published: every one of them holds" in page
    assert "Nothing has to be changed." in page
    assert find_next_steps(verdict) == []


def test_names_in_any_script_and_many_adversaries_still_make_a_page(tmp_path: Path) -> None:
    names = ["جار", "邻居", "<script>x</script>", *(f"person {n}" for n in range(200))]
    more = "".join(
        f'\n[[adversary]]\nname = \'{name}\'\nattack = "records"\nknows = ["sex"]\n'
        for name in names
    )
    verdict = dv.Release.load(write_pupils(tmp_path, FIRST_PAGE + more)).check()
    page = render(verdict)
    assert "No limit is set on" in page
    assert "<script>" not in page
    for name in names:
        assert html.escape(name) in page
    assert len(page) / len(names) < 2_000_000 / 50
    ids = re.findall(r' id="([^"]+)"', page)
    anchors = set(re.findall(r'href="#([^"]+)"', page))
    assert anchors <= set(ids)


@pytest.mark.browser
@pytest.mark.parametrize("width", [400, 500, 800, 1280])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_text_is_read_at_any_width_and_in_the_dark(
    tmp_path: Path, page: "Page", width: int, scheme: Literal["light", "dark"]
) -> None:
    dv.report(dv.Release.load(write_pupils(tmp_path)).check(), tmp_path / "report.html")
    page.emulate_media(color_scheme=scheme)
    page.set_viewport_size({"width": width, "height": 900})
    page.goto((tmp_path / "report.html").as_uri())
    page.evaluate("document.querySelectorAll('details').forEach(each => each.open = true)")
    assert not page.evaluate("document.documentElement.scrollWidth > window.innerWidth")
    # Nothing lies beyond the window but within what scrolls sideways.
    clipped = page.evaluate("""() => [...document.querySelectorAll('p, li, h1, h2, h3, dd, dt')]
        .filter(each => !each.closest('.wide, .picture'))
        .filter(each => each.getBoundingClientRect().right > window.innerWidth).length""")
    assert clipped == 0
    contrasts = page.evaluate(CONTRAST)
    assert min(contrasts) >= 4.5


CONTRAST = """() => {
    const light = text => {
        const part = text.match(/[\\d.]+/g).slice(0, 3).map(Number).map(each => each / 255)
            .map(c => c <= 0.03928 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4);
        return 0.2126 * part[0] + 0.7152 * part[1] + 0.0722 * part[2];
    };
    const behind = each => {
        for (let at = each; at; at = at.parentElement) {
            const colour = getComputedStyle(at).backgroundColor;
            if (!/, 0\\)$/.test(colour)) return colour;
        }
        return 'rgb(255, 255, 255)';
    };
    return [...document.querySelectorAll('p, li, td, th, code, a, summary, .of, .labels')]
        .filter(each => !each.closest('svg'))
        .map(each => [light(getComputedStyle(each).color), light(behind(each))])
        .map(([a, b]) => (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05));
}"""


def test_what_is_too_dear_to_try_again_is_left_out_and_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of large data the adversaries that cost least are tried; the others count as they stand."""
    text = FIRST_PAGE.replace('knows = ["sex"]', 'knows = ["town", "year", "sex"]')
    verdict = dv.Release.load(write_pupils(tmp_path, text)).check()
    [step] = find_next_steps(verdict)
    assert step.untried == ()
    assert {before.subject for before, _ in step.outcomes} == {"classmate", "parent"}
    # The classmate knows town and year: five changes of sixteen records, the parent seven.
    monkeypatch.setattr(tuning, "MOST_TRIED_RECORDS", 16 * 6)
    [step] = find_next_steps(verdict)
    assert {before.subject for before, _ in step.outcomes} == {"classmate"}
    assert (step.attribute, step.untried, step.failing) == ("year", ("parent",), 1)
    page = " ".join(html.unescape(re.sub(r"<[^>]+>", "", render(verdict))).split())
    assert "The limits of parent are counted as they stand" in page
    assert "For parent: single changes were not tried, since the data are too large" in page
    assert "For classmate: single changes were not tried" not in page
    monkeypatch.setattr(tuning, "MOST_TRIED_RECORDS", 15)
    assert find_next_steps(verdict) == []


def test_a_chart_says_that_nobody_knows_anything_only_if_that_is_proved(tmp_path: Path) -> None:
    verdict = dv.Release.load(write_release(tmp_path)).check()
    [found] = verdict.assessments
    assert verdict.chart().title.startswith("Gravest is neighbour: 10% known for certain")
    nothing = PriorPosterior(0.0, 0.0)
    unproved = replace(found, deterministic=nothing, claim="bound", most=Most(4, 5.0))
    chart = replace(verdict, assessments=(unproved,)).chart()
    assert chart.title == "Nobody is shown to know anything for certain; up to 40% is not excluded"
    proved = replace(found, deterministic=nothing)
    chart = replace(verdict, assessments=(proved,)).chart()
    assert chart.title == "Nobody knows anything for certain after the release"
