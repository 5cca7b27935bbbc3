"""What goes out of a protected release: what was judged, and nothing beside it."""

from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from typer.testing import CliRunner

import divulge as dv
from divulge import InvalidInput, tables
from divulge.cli.main import app
from divulge.protection import OutOfReachError
from divulge.release import Release

EXAMPLES = Path(__file__).parents[2] / "examples"

FIRMS = """firm,region,sector,turnover
a,N,x,1000
b,N,x,20
c,N,y,150
d,S,x,300
e,S,x,280
f,S,y,400
g,S,y,390
h,E,x,150
i,E,y,220
j,E,y,210
"""

TABLE = """
[[dataset]]
name = "firms"
source = "firms.csv"
roles = { identifier = ["firm"] }
unlisted = "non_identifying"

[[adversary]]
name = "rival"
attack = "tables"
by = ["region", "sector"]
value = "turnover"
contributor = "firm"
suppress = "none"
method = "secret"
rule

[[limit]]
adversary = "rival"
measure = "deterministic.posterior"
at_most = 0.0
"""


def firms(folder: Path, rule: str, more: str = "") -> Release:
    (folder / "firms.csv").write_text(FIRMS)
    (folder / "release.toml").write_text(TABLE.replace("rule\n", f"{rule}\n") + more)
    return Release.load(folder / "release.toml")


@pytest.mark.parametrize(
    "rule", ["pq = [10.0, 80.0]", "request = 70.0", "p_percent = 10.0", "dominance = [1, 70]"]
)
def test_the_table_that_was_judged_is_written(tmp_path: Path, rule: str) -> None:
    release = firms(tmp_path, rule)
    assert not release.check().passed
    p = release.protect(out=tmp_path / "out")
    assert p.passed
    written = tables.read_crosstab(tmp_path / "out" / "release" / "table_rival.csv")
    assert written.suppressed.any()
    found = tables.intervals(written.read_with("known"))
    assert not found.disclosed
    [assessed] = p.after.assessments
    assert assessed.figures["suppressed_cells"] == int(written.suppressed.sum())
    told: Any = release.adversaries[0].settings
    rules: Any = {name: getattr(told, name) for name in ("pq", "request", "p_percent", "dominance")}
    whole = tables.Table.from_records(
        dv.read(tmp_path / "firms.csv"), ["region", "sector"], "turnover", "firm"
    )
    sensitive = np.flatnonzero(whole.structure.to_mask(tables.sensitive_cells(whole, **rules)))
    places = np.searchsorted(found.cells, sensitive)
    assert assessed.figures["narrowest_width"] == found.widths[places].min()


def test_the_records_behind_a_table_stay_at_home(tmp_path: Path) -> None:
    p = firms(tmp_path, "p_percent = 10.0").protect(out=tmp_path / "out")
    assert p.published == []
    assert not list((tmp_path / "out").rglob("firms.csv"))
    limited = '\n[[limit]]\ndataset = "firms"\nmeasure = "k_anonymity"\n'
    limited += 'at_least = 1\namong = ["region"]\n'
    (tmp_path / "also").mkdir()
    both = firms(tmp_path / "also", "p_percent = 10.0", limited)
    assert both.check().status == "fail"
    with pytest.raises(OutOfReachError, match="suppressing cells in it protects nothing"):
        both.protect()


def test_nothing_is_left_of_an_earlier_run(tmp_path: Path) -> None:
    out = tmp_path / "out"
    firms(tmp_path, "p_percent = 10.0").protect(out=out)
    text = (tmp_path / "release.toml").read_text().replace('name = "rival"', 'name = "reader"')
    (tmp_path / "release.toml").write_text(text.replace('"rival"', '"reader"'))
    Release.load(tmp_path / "release.toml").protect(out=out, overwrite=True)
    assert [path.name for path in out.rglob("table_*")] == ["table_reader.csv"]


def test_a_file_of_the_user_beside_an_earlier_run_keeps_it_from_being_replaced(
    tmp_path: Path,
) -> None:
    out = tmp_path / "out"
    release = firms(tmp_path, "p_percent = 10.0")
    release.protect(out=out)
    (out / "release" / "table_of_mine.csv").write_text("not of an earlier run")
    before = {path: path.read_bytes() for path in out.rglob("*") if path.is_file()}
    with pytest.raises(InvalidInput, match="did not write .*table_of_mine.csv"):
        release.protect(out=out, overwrite=True)
    assert {path: path.read_bytes() for path in out.rglob("*") if path.is_file()} == before


def test_what_cannot_be_reported_is_not_written(tmp_path: Path) -> None:
    def fails(*_: Any) -> None:
        raise OSError("no room")

    with pytest.raises(OSError, match="no room"):
        firms(tmp_path, "p_percent = 10.0").protect(out=tmp_path / "out", also=fails)
    assert not (tmp_path / "out").exists()


def test_originals_beside_their_protected_versions_do_not_go_out(tmp_path: Path) -> None:
    pupils = dv.datasets.school_year_example()
    pupils.write(tmp_path / "original.csv")
    pupils.write(tmp_path / "protected.csv")
    (tmp_path / "release.toml").write_text("""
[[dataset]]
name = "original"
source = "original.csv"
roles = { identifier = ["id"] }
[[dataset]]
name = "protected"
source = "protected.csv"
roles = { identifier = ["id"] }
[[adversary]]
name = "classmate"
attack = "records"
model = "CRS"
dataset = ["original", "protected"]
knows = ["age", "gender"]
protected = true
on = "id"
[[limit]]
adversary = "classmate"
measure = "multiplicative_leakage"
at_most = 1000
""")
    p = Release.load(tmp_path / "release.toml").protect(out=tmp_path / "out")
    assert p.published == ["protected"]
    assert not list((tmp_path / "out").rglob("original.csv"))


def test_parties_and_truth_of_a_reconstruction_do_not_go_out(tmp_path: Path) -> None:
    release = Release.load(EXAMPLES / "reconstruction" / "release.toml")
    from divulge.release.publication import list_undisclosed_datasets

    [adversary] = release.adversaries
    assert "importers" in list_undisclosed_datasets(adversary)
    assert "imports" not in list_undisclosed_datasets(adversary)


def test_files_in_a_folder_of_originals_are_originals(tmp_path: Path) -> None:
    data = tmp_path / "data"
    data.mkdir()
    dv.datasets.school_year_example().write(data / "pupils.parquet")
    (tmp_path / "release.toml").write_text("""
[[dataset]]
name = "pupils"
source = "data"
roles = { identifier = ["id"], quasi_identifier = ["age", "gender"] }
[[limit]]
dataset = "pupils"
measure = "k_anonymity"
at_least = 1
""")
    before = (data / "pupils.parquet").read_bytes()
    for out in (data, data / "new"):
        with pytest.raises(InvalidInput, match="contains an input|folder of inputs"):
            Release.load(tmp_path / "release.toml").protect(out=out, overwrite=True)
    assert (data / "pupils.parquet").read_bytes() == before


def test_whose_history_it_is_becomes_a_pseudonym_whatever_its_role(tmp_path: Path) -> None:
    source = EXAMPLES / "events" / "release.toml"
    text = source.read_text()
    assert '"customer"' in text
    for file in source.parent.glob("*.csv"):
        (tmp_path / file.name).write_bytes(file.read_bytes())
    lines = [
        'roles = { time = "when" }\nunlisted = "non_identifying"'
        if line.startswith("roles")
        else line
        for line in text.splitlines()
    ]
    (tmp_path / "release.toml").write_text("\n".join(lines))
    Release.load(tmp_path / "release.toml").protect(out=tmp_path / "out")
    customers = (
        dv.read(tmp_path / "out" / "release" / "purchases.csv").to_arrow()["customer"].to_pylist()
    )
    assert all(len(str(customer)) == 24 for customer in customers)


def test_explaining_tells_what_was_done_to_all_records(tmp_path: Path) -> None:
    Release.load(EXAMPLES / "events" / "release.toml").protect(out=tmp_path / "out")
    run = CliRunner().invoke
    told = run(app, ["explain", "record", "1", "--log", str(tmp_path / "out")])
    assert "Nothing was changed" not in told.output
    assert "customer" in told.output
    beyond = run(app, ["explain", "record", "999999", "--log", str(tmp_path / "out")])
    assert "the dataset has" in str(beyond.exception)


@pytest.mark.parametrize(
    "wrong", ["seed = -5", "importance = { turnover = inf }", "importance = { turnover = nan }"]
)
def test_settings_that_protection_would_refuse_are_refused_at_once(
    tmp_path: Path, wrong: str
) -> None:
    more = f'\n[protection]\nmethods = ["suppress"]\n{wrong}\n'
    with pytest.raises(InvalidInput, match="protection"):
        firms(tmp_path, "p_percent = 10.0", more)
    (tmp_path / "none").mkdir()
    with pytest.raises(InvalidInput, match="protection"):
        firms(tmp_path / "none", "p_percent = 10.0", "\n[protection]\nmethods = []\n")


def test_labels_of_values_that_are_hidden_do_not_go_out(tmp_path: Path) -> None:
    rows = {"town": ["a", "a", "b", "b"] * 2, "age": [20, 20, 20, 30, 30, 30, 30, 987654]}
    table = dv.Dataset.from_arrow(pa.table(rows))
    table.describe(labels={"age": {20: "young", 987654: "oldest in town"}}).write(
        tmp_path / "people.sav"
    )
    (tmp_path / "release.toml").write_text("""
[[dataset]]
name = "people"
source = "people.sav"
roles = { quasi_identifier = ["town", "age"] }
[[limit]]
dataset = "people"
measure = "k_anonymity"
at_least = 2
nulls = "bayes"
[protection]
methods = ["suppress"]
""")
    Release.load(tmp_path / "release.toml").protect(out=tmp_path / "out")
    written = dv.read(tmp_path / "out" / "release" / "people.sav")
    assert "oldest in town" not in written.dictionary["age"].labels.values()
    assert b"oldest in town" not in (tmp_path / "out" / "release" / "people.sav").read_bytes()


def test_the_truth_that_records_hold_does_not_go_out(tmp_path: Path) -> None:
    files = {
        "records.csv": "product,value,city\n1,5,a\n1,9,b\n",
        "totals.csv": "product,city,value\n1,a,5\n1,b,9\n",
        "parties.csv": "party,city\nx,a\ny,a\nz,b\nw,b\n",
    }
    for name, text in files.items():
        (tmp_path / name).write_text(text)
    (tmp_path / "release.toml").write_text("""
[[dataset]]
name = "records"
source = "records.csv"
unlisted = "non_identifying"
[[dataset]]
name = "totals"
source = "totals.csv"
unlisted = "non_identifying"
[[dataset]]
name = "parties"
source = "parties.csv"
[[adversary]]
name = "reader"
attack = "reconstruction"
dataset = ["records", "totals", "parties"]
parties = "parties"
truth = { columns = { city = "city" } }
totals.totals = { by = { product = "product" }, place = "city", amounts = ["value"] }
seconds = 0.2
[[limit]]
adversary = "reader"
measure = "multiplicative_leakage"
at_most = 1000
""")
    p = Release.load(tmp_path / "release.toml").protect(out=tmp_path / "out")
    assert p.published == ["records", "totals"]
    assert dv.read(tmp_path / "out" / "release" / "records.csv").names == ["product", "value"]
    assert "city" in dv.read(tmp_path / "out" / "release" / "totals.csv").names


CARELESS = """
[[adversary]]
name = "careless"
attack = "tables"
by = ["region", "sector"]
value = "turnover"
contributor = "firm"
suppress = "primary"
method = "secret"
p_percent = 10.0
"""


def test_a_table_that_no_limit_is_on_does_not_go_out(tmp_path: Path) -> None:
    firms(tmp_path, "p_percent = 10.0", CARELESS).protect(out=tmp_path / "out")
    assert [path.name for path in (tmp_path / "out" / "release").glob("table_*")] == [
        "table_rival.csv"
    ]


def test_one_table_does_not_go_out_with_two_patterns(tmp_path: Path) -> None:
    both = (
        CARELESS
        + """
[[limit]]
adversary = "careless"
measure = "deterministic.posterior"
at_most = 1.0
"""
    )
    with pytest.raises(OutOfReachError, match="the same table with other cells suppressed"):
        other = both.replace("p_percent = 10.0", "p_percent = 30.0")
        firms(tmp_path, "p_percent = 10.0", other).protect(out=tmp_path / "out")
    assert not (tmp_path / "out").exists()
    # By the same rules, what protects the one protects the other.
    p = firms(tmp_path, "p_percent = 10.0", both).protect()
    one, other_one = p.tables.values()
    assert (one.suppressed == other_one.suppressed).all()
