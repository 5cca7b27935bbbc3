"""The demonstration: made-up data, a release that describes them, and what Divulge says of it."""

from __future__ import annotations

from importlib import resources
from pathlib import Path

from divulge import datasets, protection, records
from divulge.assessment import Limit
from divulge.assessment.sentence import format_percent
from divulge.cli.output import print_text
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


def run_demonstration(folder: Path, pupils: int, overwrite: bool = False) -> None:
    """Make the data and the release, check it, and say where everything is."""
    with OutputFolder(folder, "a demonstration", overwrite).held() as place:
        place.write(lambda new: _fill_folder(new, folder, pupils))
    print_text(f"The report is in {folder / RESULTS / REPORT}")
    print_text(f"Change {folder / RELEASE} and run: divulge check {folder / RELEASE} --out results")


def _fill_folder(new: Path, folder: Path, pupils: int) -> None:
    """Write everything to a new folder, and say where it will be."""
    text = (resources.files("divulge.cli") / "demo_release.toml").read_text(encoding="utf-8")
    filesystem.write_text(new / RELEASE, text)
    datasets.school_census(pupils).write(new / "pupils.parquet")
    datasets.inflation_and_growth(5_000, balance="U").write(new / "companies.csv")
    make_payments(new)
    make_trade(new)
    print_text(f"A release of made-up datasets is described in {folder / RELEASE}:\n")
    verdict = check_into(Release.load(new / RELEASE), new / RESULTS)
    print_text(verdict)
    if not verdict.passed:
        print_text("\nThis release is meant to fail: that is what the report is for.")
    _show_sweep(datasets.school_census(min(pupils, SWEPT_PUPILS)), new, folder)
    _show_before_and_after(datasets.school_census(min(pupils, SWEPT_PUPILS)))
    _show_special_companies()
    _show_matching_attack()
    _show_reconstruction(new, folder)
    _show_protection(new, folder)


def _show_sweep(pupils: Dataset, new: Path, folder: Path) -> None:
    """Nobody knows what an adversary knows: every set of attributes at once."""
    sweep = records.sweep(pupils)
    sweep.chart().save(new / SWEEP)
    [worst] = sweep.most_dangerous(size=3, count=1).to_pylist()
    print_text(
        f"\nOf all {len(sweep):,} sets of attributes that an adversary might know of "
        f"{pupils.rows:,} pupils, the most identifying three are {', '.join(worst['knows'])}: "
        f"they single out {format_percent(worst['success'])}. "
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
    print_text(
        f"An adversary who knows birthdays and schools singles out "
        f"{format_percent(before.deterministic.posterior)} of them; if the day of birth is hidden, "
        f"{format_percent(after.deterministic.posterior)} (divulge attack --release).\n"
    )


def _show_special_companies() -> None:
    """What makes companies special, and what a missing cell hides from whom."""
    companies = datasets.inflation_and_growth(5_000, balance="U")
    print_text("What makes the companies special (divulge suda):")
    print_text(records.suda(companies, max_size=3).explain()[2])
    print_text(f"{records.individual_risk(companies, 'exact').explain()[0]} (divulge risk)")
    before = datasets.local_suppression_example()
    after = datasets.local_suppression_example(protected=True)
    print_text("Seven companies of a paper, one cell suppressed:")
    print_text(str(records.frequencies(after, original=before)))
    print_text("The companies as a prosecutor, a journalist and a marketer find them:")
    print_text(f"{records.three_attackers(companies)}\n{records.population_uniques(companies)}\n")


def _show_matching_attack() -> None:
    """A table of a paper whose cheapest pattern tells more than the sums; and one that does not."""
    from divulge import tables

    cells = [[15, 15, 12, 10], [19, 20, 13, 3], [8, 8, 11, 14], [9, 3, 26, 6]]
    table = tables.Table.from_cells(cells)
    cheapest = tables.suppress(table, min_frequency=5, width=8)
    print_text("A table of a paper, suppressed at the least cost (divulge tables attack):")
    for sentence in tables.matching_attack(cheapest, 5, 8).assessment.explain()[:2]:
        print_text(sentence)
    randomised = tables.suppress(table, 5, 8, resist_matching=True, seed=1)
    print_text("The same table with a drawn pattern (divulge tables suppress --resist-matching):")
    print_text(f"{randomised.resistance}\n")


def _show_protection(new: Path, folder: Path) -> None:
    """The least change that protects, why counts understate the risk, and what the method tells."""
    companies = datasets.inflation_and_growth(5_000, balance="U")
    print_text("Protecting the companies (divulge protect, divulge suppress):")
    ways: tuple[Nulls, ...] = ("maybe", "bayes")
    for nulls in ways:
        protected = protection.suppress(companies, 3, nulls)
        cells = protected.suppressed_cells
        print_text(f"- {cells} cells, if a null is taken as {nulls}: {protected.explain()[-1]}")
    report(protected, new / PROTECTED)
    print_text(f"What was changed, and why, is in {folder / PROTECTED}")
    towns = [("Roma", "Center"), ("Milano", "North"), ("Torino", "North")]
    limit = Limit("k_anonymity", at_least=2, nulls="maybe")
    paper = datasets.local_suppression_example()
    protected_paper = protection.protect(paper, [limit], is_a={"Area": towns})
    print_text("The seven companies again, protected by the cycle:")
    for sentence in protected_paper.decisions.explain():
        print_text(f"- {sentence}")
    audit = protection.audit(protected_paper)
    out = ", ".join(sorted(audit.excluded[0, "Sector"]))
    print_text(
        f"- An adversary who knows the algorithm rules out {out} for the suppressed sector.\n"
    )


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
    sources = [release.datasets[name].read() for name in reader.datasets]
    reconstruction = plugin.reconstruction(reader.settings, sources, workers=1)
    reconstruction.chart().save(new / PHASES)
    print_text("What totals of imports disclose of single imports (divulge reconstruct):")
    for row in reconstruction.table_6b:
        print_text(
            f"  phase {row.phase}: {format_percent(row.probability)}, "
            f"{row.identified:,} re-identified"
        )
    print_text(f"The picture of the phases is in {folder / PHASES}\n")
