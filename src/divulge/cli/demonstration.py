"""The demonstration: made-up data, a release that describes them, and what Divulge says of it."""

from __future__ import annotations

from importlib import resources
from pathlib import Path

from rich.console import Console

from divulge import datasets, records
from divulge.release import Release
from divulge.report import check_into
from divulge.report.results import REPORT
from divulge.work import WholeFiles

RELEASE = "release.toml"


def demonstrate(folder: Path, pupils: int) -> None:
    """Make the data and the release, check it, and say where everything is."""
    console = Console()
    text = (resources.files("divulge.cli") / "demo_release.toml").read_text(encoding="utf-8")
    with WholeFiles(folder) as files:
        files.path(RELEASE).write_text(text, encoding="utf-8")
    datasets.school_census(pupils).write(folder / "pupils.parquet")
    datasets.inflation_and_growth(5_000, balance="U").write(folder / "companies.csv")
    console.print(f"A release of two made-up datasets is described in {folder / RELEASE}:\n")
    verdict = check_into(Release.load(folder / RELEASE), folder)
    console.print(verdict)
    console.print(
        "\n[dim]This release is meant to fail: that is what the report is for.[/dim]"
        if not verdict.passed
        else ""
    )
    _special_companies(console)
    console.print(f"The report is in {folder / REPORT}", soft_wrap=True, highlight=False)
    console.print(
        f"Change {folder / RELEASE} and run: divulge check {folder / RELEASE} --out {folder}",
        soft_wrap=True,
        highlight=False,
    )


def _special_companies(console: Console) -> None:
    """What makes companies special, and what a missing cell hides from whom."""
    companies = datasets.inflation_and_growth(5_000, balance="U")
    found = records.suda(companies, max_size=3)
    console.print("\nWhat makes the companies special (divulge suda):", highlight=False)
    console.print(found.explain()[2], highlight=False)
    risk = records.individual_risk(companies, "exact")
    console.print(f"{risk.explain()[0]} (divulge risk)", highlight=False)
    before = datasets.local_suppression_example()
    after = datasets.local_suppression_example(protected=True)
    counted = records.frequencies(after, original=before)
    console.print("Seven companies of a paper, one cell suppressed:", highlight=False)
    console.print(str(counted) + "\n", highlight=False)
