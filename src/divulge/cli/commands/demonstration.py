"""The demonstration: made-up data, a release that describes them, and what Divulge says of it."""

from __future__ import annotations

from decimal import Decimal
from importlib import resources
from pathlib import Path

from divulge import datasets, protection, records
from divulge.assessment import Limit
from divulge.cli.output import build_sentence, print_sentence, print_text
from divulge.data import Dataset, Hierarchy
from divulge.records.risk.null_readings import Nulls
from divulge.release import Release
from divulge.release.output.output_files import INTERNAL
from divulge.report import check_into, report
from divulge.report.results import REPORT
from divulge.work import OutputFolder, filesystem

RELEASE = "release.toml"
RESULTS = "results"
SWEEP = "sweep.svg"
PHASES = "phases.svg"
PROTECTED = "protected.html"
SWEPT_PUPILS = 50_000
OWNED_FIRMS = 2_000


def run_demonstration(folder: Path, pupils: int, overwrite: bool = False) -> None:
    """Make the data and the release, check it, and say where everything is."""
    private = (f"{RESULTS}/{INTERNAL}",)
    with OutputFolder(folder, "a demonstration", overwrite, private=private).held() as place:
        place.write(lambda new: _fill_folder(new, folder, pupils))
    print_sentence("demo.report", path=folder / RESULTS / REPORT)
    print_sentence("demo.next", path=folder / RELEASE)


def _fill_folder(new: Path, folder: Path, pupils: int) -> None:
    """Write everything to a new folder, and say where it will be."""
    text = (resources.files("divulge.cli") / "demo_release.toml").read_text(encoding="utf-8")
    filesystem.write_text(new / RELEASE, text)
    datasets.school_census(pupils).write(new / "pupils.parquet")
    datasets.inflation_and_growth(5_000, balance="U").write(new / "companies.csv")
    make_payments(new)
    make_trade(new)
    print_sentence("demo.release", path=folder / RELEASE)
    print_text("")
    verdict = check_into(Release.load(new / RELEASE), new / RESULTS)
    print_text(verdict)
    if not verdict.passed:
        print_text("")
        print_sentence("demo.meant_to_fail")
    _show_sweep(datasets.school_census(min(pupils, SWEPT_PUPILS)), new, folder)
    _show_before_and_after(datasets.school_census(min(pupils, SWEPT_PUPILS)))
    _show_special_companies()
    _show_matching_attack()
    _show_reconstruction(new, folder)
    _show_protection(new, folder)
    _show_recoding(datasets.school_census(min(pupils, SWEPT_PUPILS)))
    _show_rules()


def _show_sweep(pupils: Dataset, new: Path, folder: Path) -> None:
    """Nobody knows what an adversary knows: every set of attributes at once."""
    sweep = records.sweep(pupils)
    sweep.chart().save(new / SWEEP)
    [worst] = sweep.most_dangerous(size=3, count=1).to_pylist()
    print_text("")
    print_sentence(
        "demo.sweep",
        sets=len(sweep),
        pupils=pupils.rows,
        knows=worst["knows"],
        share=worst["success"],
        path=folder / SWEEP,
    )
    print_text("")


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
    print_sentence(
        "demo.hidden_attribute",
        before=before.deterministic.posterior,
        after=after.deterministic.posterior,
    )
    print_text("")


def _show_special_companies() -> None:
    """What makes companies special, and what a missing cell hides from whom."""
    companies = datasets.inflation_and_growth(5_000, balance="U")
    print_sentence("demo.suda")
    print_text(records.suda(companies, max_size=3).explain()[2])
    print_sentence("demo.risk")
    print_text(records.individual_risk(companies, "exact").explain()[0])
    before = datasets.local_suppression_example()
    after = datasets.local_suppression_example(protected=True)
    print_sentence("demo.frequencies")
    print_text(str(records.frequencies(after, "maybe", original=before)))
    print_sentence("demo.attackers")
    print_text(str(records.three_attackers(companies)))
    print_text(str(records.population_uniques(companies)))
    print_text("")


def _show_matching_attack() -> None:
    """A table of a paper whose cheapest pattern tells more than the sums; and one that does not."""
    from divulge import tables

    cells = [[15, 15, 12, 10], [19, 20, 13, 3], [8, 8, 11, 14], [9, 3, 26, 6]]
    table = tables.Table.from_cells(cells)
    cheapest = tables.suppress(table, min_frequency=5, width=8)
    print_sentence("demo.matching")
    for sentence in tables.matching_attack(cheapest, 5, 8).assessment.explain()[:2]:
        print_text(sentence)
    randomised = tables.suppress(table, 5, 8, resist_matching=True, seed=1)
    print_sentence("demo.resisting")
    print_text(str(randomised.resistance))
    print_text("")


def _show_protection(new: Path, folder: Path) -> None:
    """The least change that protects, why counts understate the risk, and what the method tells."""
    companies = datasets.inflation_and_growth(5_000, balance="U")
    print_sentence("demo.protection")
    ways: tuple[Nulls, ...] = ("maybe", "bayes")
    for nulls in ways:
        protected = protection.suppress(companies, 3, nulls)
        cells = protected.suppressed_cells
        consequence = protected.explain()[-1]
        _print_item(build_sentence("demo.cells", cells=cells, nulls=nulls, consequence=consequence))
    report(protected, new / PROTECTED)
    print_sentence("demo.protected", path=folder / PROTECTED)
    towns = [("Roma", "Center"), ("Milano", "North"), ("Torino", "North")]
    limit = Limit("k_anonymity", at_least=2, nulls="maybe")
    paper = datasets.local_suppression_example()
    protected_paper = protection.protect(paper, [limit], is_a={"Area": towns})
    print_sentence("demo.cycle")
    for sentence in protected_paper.decisions.explain():
        _print_item(sentence)
    audit = protection.audit(protected_paper)
    _print_item(build_sentence("demo.excluded", values=sorted(audit.excluded[0, "Sector"])))
    print_text("")


def _show_recoding(pupils: Dataset) -> None:
    """The best of all combinations of levels, and the proof."""
    names = ["day_of_birth", "month_of_birth", "year_of_birth", "gender"]
    described = pupils.describe(
        {"quasi_identifier": names},
        {
            "day_of_birth": Hierarchy.intervals([1, 11, 21], [1]),
            "month_of_birth": Hierarchy.intervals([1, 4, 7, 10], [1, 7], [1]),
            "year_of_birth": Hierarchy.intervals([1900, 1995, 2000, 2005, 2010, 2015], [1900]),
        },
    )
    print_sentence("demo.recoding")
    recoded = protection.recode(described, [Limit("k_anonymity", at_least=10)])
    for sentence in recoded.explain():
        _print_item(sentence)
    print_text("")


def _show_rules() -> None:
    """Who controls whom: rules that ship, and why they say so."""
    from divulge import rules

    program = rules.load_library("company_control")
    holdings = datasets.ownership(OWNED_FIRMS, 3 * OWNED_FIRMS, seed=1)
    with rules.evaluate(program, {"own": holdings}) as facts:
        print_sentence(
            "demo.rules", firms=OWNED_FIRMS, holdings=holdings.rows, pairs=facts.count("rel")
        )
    stakes = [("X", "Y", "0.4"), ("X", "Z", "0.6"), ("Z", "Y", "0.2")]
    stated = [(owner, owned, Decimal(share)) for owner, owned, share in stakes]
    with rules.evaluate(program, {"own": stated}) as facts:
        print_sentence("demo.rules_why")
        for line in str(rules.explain(facts, 'rel("X", "Y")', show_values=True)).splitlines():
            print_text(line)
    print_text("")


def _print_item(sentence: str) -> None:
    print_text(f"- {sentence}")


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
    print_sentence("demo.reconstruction")
    for row in reconstruction.table_6b:
        _print_item(
            build_sentence(
                "demo.phase", phase=row.phase, share=row.probability, identified=row.identified
            )
        )
    print_sentence("demo.phases", path=folder / PHASES)
    print_text("")
