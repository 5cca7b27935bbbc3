"""The demonstration: made-up data, a release that describes them, and what Divulge says of it."""

from __future__ import annotations

from importlib import resources
from pathlib import Path

from divulge import datasets, protection, records
from divulge.assessment import Limit
from divulge.assessment.sentence import percent
from divulge.cli.showing import say
from divulge.data import Dataset
from divulge.records.risk.frequencies import Nulls
from divulge.release import Release
from divulge.report import check_into, report
from divulge.report.results import REPORT
from divulge.work import OutputFolder, filesystem

RELEASE = "release.toml"
RESULTS = "results"
SWEEP = "sweep.svg"
PHASES = "phases.svg"
PROTECTED = "protected.html"
SWEPT_PUPILS = 50_000


def demonstrate(folder: Path, pupils: int, overwrite: bool = False) -> None:
    """Make the data and the release, check it, and say where everything is."""
    with OutputFolder(folder, "a demonstration", overwrite).held() as place:
        place.write(lambda new: _fill(new, folder, pupils))
    say(f"The report is in {folder / RESULTS / REPORT}")
    say(f"Change {folder / RELEASE} and run: divulge check {folder / RELEASE} --out results")


def _fill(new: Path, folder: Path, pupils: int) -> None:
    """Write everything to a new folder, and say where it will be."""
    text = (resources.files("divulge.cli") / "demo_release.toml").read_text(encoding="utf-8")
    filesystem.write_text(new / RELEASE, text)
    datasets.school_census(pupils).write(new / "pupils.parquet")
    datasets.inflation_and_growth(5_000, balance="U").write(new / "companies.csv")
    make_payments(new)
    make_trade(new)
    say(f"A release of made-up datasets is described in {folder / RELEASE}:\n")
    verdict = check_into(Release.load(new / RELEASE), new / RESULTS)
    say(verdict)
    if not verdict.passed:
        say("\nThis release is meant to fail: that is what the report is for.")
    _show_sweep(datasets.school_census(min(pupils, SWEPT_PUPILS)), new, folder)
    _show_before_and_after(datasets.school_census(min(pupils, SWEPT_PUPILS)))
    _show_special_companies()
    _show_matching_attack()
    _show_reconstruction(new, folder)
    _show_protection(new, folder)


def _show_sweep(pupils: Dataset, new: Path, folder: Path) -> None:
    """Nobody knows what an adversary knows: every set of attributes at once."""
    swept = records.sweep(pupils)
    swept.chart().save(new / SWEEP)
    [worst] = swept.most_dangerous(size=3, count=1).to_pylist()
    say(
        f"\nOf all {len(swept):,} sets of attributes that an adversary might know of "
        f"{pupils.rows:,} pupils, the most identifying three are {', '.join(worst['knows'])}: "
        f"they single out {percent(worst['success'])}. "
        f"The picture of all sets is in {folder / SWEEP}\n"
    )


def _show_before_and_after(pupils: Dataset) -> None:
    """What hiding one attribute takes away: knowledge of the original, matches in the release."""
    import pyarrow as pa

    knows = ["day_of_birth", "month_of_birth", "year_of_birth", "gender", "school_code"]
    table = pupils.to_arrow()
    place = table.column_names.index("day_of_birth")
    nothing = pa.nulls(pupils.rows, table.schema.field(place).type)
    hidden = Dataset.from_arrow(table.set_column(place, "day_of_birth", nothing))
    before = records.attack(pupils, "CRS", knows)
    after = records.attack(pupils, "CRS", knows, release=hidden)
    say(
        f"An adversary who knows birthdays and schools singles out "
        f"{percent(before.deterministic.posterior)} of them; if the day of birth is hidden, "
        f"{percent(after.deterministic.posterior)} (divulge attack --release).\n"
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
    say(str(records.frequencies(after, original=before)))
    say("The companies as a prosecutor, a journalist and a marketer find them:")
    say(f"{records.three_attackers(companies)}\n{records.population_uniques(companies)}\n")


def _show_matching_attack() -> None:
    """A table of a paper whose cheapest pattern tells more than the sums; and one that does not."""
    from divulge import tables

    cells = [[15, 15, 12, 10], [19, 20, 13, 3], [8, 8, 11, 14], [9, 3, 26, 6]]
    table = tables.Table.from_cells(cells)
    cheapest = tables.suppress(table, min_frequency=5, width=8)
    say("A table of a paper, suppressed at the least cost (divulge tables attack):")
    for sentence in tables.matching_attack(cheapest, 5, 8).assessment.explain()[:2]:
        say(sentence)
    drawn = tables.suppress(table, 5, 8, resist_matching=True, seed=1)
    say("The same table with a drawn pattern (divulge tables suppress --resist-matching):")
    say(f"{drawn.resistance}\n")


def _show_protection(new: Path, folder: Path) -> None:
    """The least change that protects, why counts understate the risk, and what the method tells."""
    companies = datasets.inflation_and_growth(5_000, balance="U")
    say("Protecting the companies (divulge protect, divulge suppress):")
    ways: tuple[Nulls, ...] = ("maybe", "bayes")
    for nulls in ways:
        found = protection.suppress(companies, 3, nulls)
        cells = found.suppressed_cells
        say(f"- {cells} cells, if a null is taken as {nulls}: {found.explain()[-1]}")
    report(found, new / PROTECTED)
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
    say(f"- An adversary who knows the algorithm rules out {out} for the suppressed sector.\n")


def make_payments(folder: Path) -> None:
    """A year of purchases by customers who do not exist, for attacks on histories."""
    datasets.payment_histories(20_000).write(folder / "payments.parquet")


def make_trade(folder: Path) -> None:
    """A small month of imports without importers, its totals, and the list of importers."""
    month = datasets.trade_month(
        transactions=1_200,
        importers=150,
        products=140,
        countries=12,
        customs_units=0,
        excluded=0.002,
    )
    month.transactions.write(folder / "imports.parquet")
    month.by_city.write(folder / "imports_by_city.parquet")
    month.by_state.write(folder / "imports_by_state.parquet")
    month.importers.write(folder / "importers.parquet")


def _show_reconstruction(new: Path, folder: Path) -> None:
    """Which places the totals of imports give away, phase by phase."""
    from divulge.reconstruction import plugin

    release = Release.load(new / RELEASE)
    [reader] = [a for a in release.adversaries if a.attack == "reconstruction"]
    read = [release.datasets[name].read() for name in reader.datasets]
    found = plugin.reconstruction(reader.settings, read, workers=1)
    found.chart().save(new / PHASES)
    say("What totals of imports disclose of single imports (divulge reconstruct):")
    for row in found.table_6b:
        say(f"  phase {row.phase}: {percent(row.probability)}, {row.identified:,} re-identified")
    say(f"The picture of the phases is in {folder / PHASES}\n")
