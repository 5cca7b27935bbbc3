"""The demonstration: made-up data, a release that describes them, and what Divulge says of it."""

from __future__ import annotations

from importlib import resources
from pathlib import Path

from divulge import datasets, protection, records
from divulge.assessment import Limit
from divulge.assessment.sentence import percent
from divulge.cli.showing import say
from divulge.data import Dataset
from divulge.records.frequencies import Nulls
from divulge.release import Release
from divulge.report import check_into, report
from divulge.report.results import REPORT
from divulge.work import WholeFiles

RELEASE = "release.toml"
SWEEP = "sweep.svg"
PROTECTED = "protected.html"
SWEPT_PUPILS = 50_000


def demonstrate(folder: Path, pupils: int) -> None:
    """Make the data and the release, check it, and say where everything is."""
    text = (resources.files("divulge.cli") / "demo_release.toml").read_text(encoding="utf-8")
    with WholeFiles(folder) as files:
        files.path(RELEASE).write_text(text, encoding="utf-8")
    datasets.school_census(pupils).write(folder / "pupils.parquet")
    datasets.inflation_and_growth(5_000, balance="U").write(folder / "companies.csv")
    make_payments(folder)
    say(f"A release of made-up datasets is described in {folder / RELEASE}:\n")
    verdict = check_into(Release.load(folder / RELEASE), folder)
    say(verdict)
    if not verdict.passed:
        say("\nThis release is meant to fail: that is what the report is for.")
    _show_sweep(datasets.school_census(min(pupils, SWEPT_PUPILS)), folder)
    _show_special_companies()
    _show_protection(folder)
    say(f"The report is in {folder / REPORT}")
    say(f"Change {folder / RELEASE} and run: divulge check {folder / RELEASE} --out {folder}")


def _show_sweep(pupils: Dataset, folder: Path) -> None:
    """Nobody knows what an adversary knows: every set of attributes at once."""
    swept = records.sweep(pupils)
    swept.chart().save(folder / SWEEP)
    [worst] = swept.most_dangerous(size=3, count=1).to_pylist()
    say(
        f"\nOf all {len(swept):,} sets of attributes that somebody might know of {pupils.rows:,} "
        f"pupils, the most telling three are {', '.join(worst['knows'])}: they single out "
        f"{percent(worst['success'])}. The picture of all sets is in {folder / SWEEP}\n"
    )


def _show_special_companies() -> None:
    """What makes companies special, and what a missing cell hides from whom."""
    companies = datasets.inflation_and_growth(5_000, balance="U")
    say("What makes the companies special (divulge suda):")
    say(records.suda(companies, max_size=3).explain()[2])
    say(f"{records.individual_risk(companies, 'exact').explain()[0]} (divulge risk)")
    before = datasets.local_suppression_example()
    after = datasets.local_suppression_example(protected=True)
    say("Seven companies of a paper, one cell suppressed:")
    say(f"{records.frequencies(after, original=before)}\n")


def _show_protection(folder: Path) -> None:
    """The least change that protects, why counting flatters, and what knowing the method tells."""
    companies = datasets.inflation_and_growth(5_000, balance="U")
    say("Protecting the companies (divulge protect, divulge suppress):")
    ways: tuple[Nulls, ...] = ("maybe", "bayes")
    for nulls in ways:
        found = protection.suppress(companies, 3, nulls)
        cells = found.suppressed_cells
        say(f"- {cells} cells, if a null is taken for {nulls}: {found.explain()[-1]}")
    report(found, folder / PROTECTED)
    say(f"What was changed, and why, is in {folder / PROTECTED}")
    towns = [("Roma", "Center"), ("Milano", "North"), ("Torino", "North")]
    limit = Limit("k_anonymity", at_least=2, nulls="maybe")
    paper = datasets.local_suppression_example()
    small = protection.protect(paper, [limit], is_a={"Area": towns})
    say("The seven companies again, protected by the cycle:")
    for sentence in small.decisions.explain():
        say(f"- {sentence}")
    audited = protection.audit(small)
    out = ", ".join(sorted(audited.excluded[0, "Sector"]))
    say(f"- Who knows the algorithm rules out {out} for the suppressed sector.\n")


def make_payments(folder: Path) -> None:
    """A year of purchases by customers who do not exist, for attacks on histories."""
    datasets.payment_histories(20_000).write(folder / "payments.parquet")
