"""Limits are judged after refilling: what other columns tell was never hidden."""

from collections import Counter
from pathlib import Path
from random import Random

import polars as pl
import pytest

import divulge as dv
from divulge.protection import OutOfReachError
from divulge.protection.refill.result import Refill
from divulge.protection.resistance.published_view import refill_released
from divulge.release import Release, attack_again
from divulge.report import report

ROLES = Path(__file__).with_name("eusilc.toml")

RELEASE = """
[[dataset]]
name = "people"
source = "people.csv"
subjects = "people"
[dataset.roles]
household = "home"
quasi_identifier = ["region", "age", "sex"]
weight = "weight"
{more}
[[limit]]
dataset = "people"
measure = "k_anonymity"
at_least = 3

[protection]
methods = ["suppress"]
{protection}
"""


def write(folder: Path, more: str = "", protection: str = "", columns: int = 1) -> Path:
    """People of whom the weight tells the region; with more columns, age and sex too."""
    random = Random(5)  # noqa: S311  # made-up data
    lines = ["home,region,age,sex,weight" + (",code" if columns > 1 else "")]
    for number in range(900):
        region = random.choices("abcdefgh", [30, 20, 15, 10, 8, 5, 3, 1])[0]
        age, sex = random.choices(range(9), [9, 8, 7, 6, 5, 4, 3, 2, 1])[0], random.choice("FM")
        row = f"{number // 2},{region},{age},{sex},{10 + ord(region)}"
        lines.append(row + (f",{age}{sex}" if columns > 1 else ""))
    (folder / "people.csv").write_text("\n".join(lines) + "\n")
    path = folder / "release.toml"
    path.write_text(RELEASE.format(more=more, protection=protection))
    return path


def test_what_a_weight_tells_is_not_hidden_cell_by_cell(tmp_path: Path) -> None:
    p = Release.load(write(tmp_path)).protect(out=tmp_path / "out")
    assert p.passed
    [part] = p.records.values()
    assert part.determined == {"region": ("weight",)}
    assert part.naive_cells is not None
    assert part.suppressed_cells >= part.naive_cells > 0
    assert any("weight would reveal the suppressed values" in line for line in p.explain())
    released = pl.read_csv(tmp_path / "out" / "release" / "people.csv")
    assert released["region"].null_count() == 0
    assert "suppressed" not in released["region"].to_list()
    assert "home" not in released.columns
    shown = released.with_columns(pl.all().cast(pl.String).fill_null("-"))
    rows = Counter(zip(*(shown[name] for name in ("region", "age", "sex")), strict=True))
    assert min(rows.values()) >= 3


def test_the_same_protection_without_a_thought_of_refilling_is_refuted(tmp_path: Path) -> None:
    write(tmp_path)
    roles = {"quasi_identifier": ["region", "age", "sex"], "weight": "weight"}
    people = dv.read(tmp_path / "people.csv", roles=roles)
    naive = dv.protection.protect(people, [dv.Limit("k_anonymity", at_least=3)], ["suppress"])
    regions = dv.protection.refill(naive).by_attribute()["region"]
    assert regions.hidden > 0
    assert regions.right == regions.hidden


def test_limits_that_cannot_be_reached_after_refilling_say_what_would_help(tmp_path: Path) -> None:
    path = write(tmp_path, 'non_identifying = ["code"]', columns=2)
    with pytest.raises(OutOfReachError) as refused:
        Release.load(path).protect(out=tmp_path / "out")
    assert "other columns tell what would be hidden" in str(refused.value)
    assert "do not publish what tells them" in str(refused.value)
    assert not (tmp_path / "out").exists()
    other = tmp_path / "other"
    other.mkdir()
    allowed = write(other, 'non_identifying = ["code"]', 'out_of_reach = "remove"', columns=2)
    p = Release.load(allowed).protect()
    [part] = p.records.values()
    assert p.passed
    assert part.removed > 0.05 * 900
    said = [line for line in part.explain() if "removed" in line]
    reason = "to suppress what other columns do not reveal cannot protect them."
    assert said == [f"{part.removed} records were removed: {reason}"]


@pytest.mark.parametrize("kept", [False, True])
def test_neighbours_tell_where_the_order_is_kept(tmp_path: Path, kept: bool) -> None:
    # Sorted by region in long runs: between two equal neighbours there is no other.
    random = Random(8)  # noqa: S311  # made-up data
    lines = ["region,age,sex"]
    for number in range(600):
        region = "abcdefghij"[number // 60]
        lines.append(
            f"{region},{random.choices(range(12), range(12, 0, -1))[0]},{random.choice('FM')}"
        )
    (tmp_path / "people.csv").write_text("\n".join(lines) + "\n")
    text = """
[[dataset]]
name = "people"
source = "people.csv"
keep_order = {kept}
roles = {{ quasi_identifier = ["region", "age", "sex"] }}
[[limit]]
dataset = "people"
measure = "k_anonymity"
at_least = 3
[protection]
methods = ["suppress"]
out_of_reach = "remove"
importance = {{ age = 9, sex = 9 }}
"""
    (tmp_path / "release.toml").write_text(text.format(kept=str(kept).lower()))
    p = Release.load(tmp_path / "release.toml").protect()
    assert p.passed
    assert all(found.ordered is kept for found in p.after.refills.values())
    [part] = p.records.values()
    assert part.suppressed_cells > 0
    assert ("region" in part.determined) is kept


@pytest.mark.parametrize("kept", [False, True])
def test_a_named_reader_uses_neighbours_too_where_the_order_is_kept(
    tmp_path: Path, kept: bool
) -> None:
    regions = ["abcdefghij"[n // 60] if n % 17 else "suppressed" for n in range(600)]
    lines = ["region,sex", *(f"{region},{'FM'[n % 2]}" for n, region in enumerate(regions))]
    (tmp_path / "people.csv").write_text("\n".join(lines) + "\n")
    text = f"""
[[dataset]]
name = "people"
source = "people.csv"
hidden = "suppressed"
keep_order = {str(kept).lower()}
roles = {{ quasi_identifier = ["region", "sex"] }}
[[adversary]]
name = "reader"
attack = "refill"
"""
    (tmp_path / "release.toml").write_text(text)
    [reader] = Release.load(tmp_path / "release.toml").check().assessments
    assert (reader.deterministic.posterior > 0.8) is kept


@pytest.mark.data
@pytest.mark.parametrize(("band", "price"), [(1, 1.05), (10, 1.25)])
def test_eusilc_withstands_refilling_at_a_small_price(
    public_data: Path, tmp_path: Path, band: int, price: float
) -> None:
    source = public_data / "eusilc" / "eusilc.csv.gz"
    if not source.is_file():
        pytest.skip("the EU-SILC data are kept outside the project")
    frame = pl.read_csv(source, infer_schema_length=None)
    if band > 1:
        frame = frame.with_columns((pl.col("age") // band * band).alias("age"))
    frame.write_csv(tmp_path / "eusilc.csv")
    text = ROLES.read_text().replace("eusilc.csv.gz", "eusilc.csv")
    (tmp_path / "release.toml").write_text(text)
    p = Release.load(tmp_path / "release.toml").protect(out=tmp_path / "out")
    assert p.passed
    [part] = p.records.values()
    assert part.naive_cells is not None
    assert part.suppressed_cells <= price * part.naive_cells
    assert part.removed <= 0.01 * frame.height
    removals = [line for line in part.explain() if "removed" in line]
    assert all("inferred from other columns" in line for line in removals)
    [found] = p.after.refills.values()
    verified = found.refilled_verified
    assert verified is not None
    assert dv.records.frequencies(verified, "value", among=part.among).smallest >= 3
    unlisted = text.replace('household = "db030"\n', "")
    (tmp_path / "release.toml").write_text(unlisted)
    assert Release.load(tmp_path / "release.toml").check().status != "pass"
    assert "db030" in str(Release.load(tmp_path / "release.toml").check().reservations)


def test_what_holds_by_count_only_comes_first(tmp_path: Path) -> None:
    random = Random(3)  # noqa: S311  # made-up data
    rows = [f"{random.choice('abc')},{random.randrange(20)}" for _ in range(90)]
    (tmp_path / "people.csv").write_text("\n".join(["town,age", *rows]) + "\n")
    text = """
accept_count_only = true
[[dataset]]
name = "people"
source = "people.csv"
roles = { quasi_identifier = ["town", "age"] }
[[limit]]
dataset = "people"
measure = "distinct_l_diversity"
attribute = "age"
among = ["town"]
at_least = 2
[[limit]]
dataset = "people"
measure = "k_anonymity"
at_least = 2
nulls = "maybe"
[protection]
methods = ["suppress"]
"""
    (tmp_path / "release.toml").write_text(text)
    p = Release.load(tmp_path / "release.toml").protect()
    result = p.after.to_dict()
    assert p.passed
    assert [limit["by_count_only"] for limit in result["limits"]] == [True, False]
    assert "by count only" in result["sentences"][0]
    shown = p.after._repr_html_()
    assert shown.index("k-anonymity of people") < shown.index("l-diversity (")
    for subject in (p, p.after):
        report(subject, tmp_path / "report.html", overwrite=True)
        _, page = (tmp_path / "report.html").read_text(encoding="utf-8").split("<tbody>", 1)
        red, green = (page.index(f'<tr class="{kind}">') for kind in ("fail", "pass"))
        assert red < page.index("holds by count only") < green


@pytest.mark.parametrize("told", [False, True])
def test_limits_on_adversaries_hold_for_who_knows_fewer_relations_too(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, told: bool
) -> None:
    # Reading everything tells nothing here, and believing less is made to tell all of the original.
    def refill_and_read_more(
        dataset: dv.Dataset, original: dv.Dataset, *arguments: object
    ) -> Refill | None:
        found = refill_released(dataset, original, *arguments)  # type: ignore[arg-type]
        assert found is not None
        vars(found)["refilled_partly"] = (original,) if told else ()
        return found

    path = write(tmp_path)
    reader = '[[adversary]]\nname = "colleague"\nattack = "records"\ndataset = "people"\n'
    reader += 'model = "CRS"\nknows = ["region", "age", "sex"]\n'
    limit = '[[limit]]\nadversary = "colleague"\nmeasure = "deterministic.posterior"\nat_most = 0\n'
    path.write_text(path.read_text() + reader + limit)
    monkeypatch.setattr(attack_again, "refill_released", refill_and_read_more)
    if not told:
        assert Release.load(path).protect().passed
        return
    with pytest.raises(OutOfReachError) as refused:
        Release.load(path).protect()
    assert "colleague knows" in str(refused.value)
    assert "k-anonymity of people" in str(refused.value)


@pytest.mark.parametrize("is_code", [False, True])
def test_what_another_column_tells_of_a_history_was_not_made_coarser(
    tmp_path: Path, is_code: bool
) -> None:
    example = Path(__file__).parent.parent.parent / "examples" / "events"
    rows = pl.read_csv(example / "purchases.csv")
    goods = sorted(rows["goods"].unique())
    product = pl.col("goods").alias("product")
    if is_code:  # eight numbers in 74 records
        product = product.replace_strict(goods, [7, 3, 1, 6, 5, 2, 4, 8])
    rows.with_columns(product).write_csv(tmp_path / "purchases.csv")
    (tmp_path / "goods.csv").write_bytes((example / "goods.csv").read_bytes())
    text = (example / "release.toml").read_text().replace('"pieces"]', '"pieces", "product"]', 1)
    (tmp_path / "release.toml").write_text(text)
    assert '"product"' in text
    with pytest.raises(OutOfReachError, match="inferred from other columns") as refused:
        Release.load(tmp_path / "release.toml").protect()
    assert "product has one meaning in goods: the finer values of 7" in str(refused.value)


def test_a_reader_of_a_recoded_file_is_told_to_have_sought_its_coarser_values(
    tmp_path: Path,
) -> None:
    """A file whose columns were recoded does not look like one: the original tells it."""
    rows = [f"{20 + n % 40},{'mf'[n % 2]}" for n in range(400)]
    (tmp_path / "people.csv").write_text("\n".join(["age,sex", *rows]))
    (tmp_path / "release.toml").write_text(
        """
[[dataset]]
name = "people"
source = "people.csv"
roles = { quasi_identifier = ["age", "sex"] }
hierarchies = { age = { intervals = [[20, 30, 40, 50]] } }

[[adversary]]
name = "reader"
attack = "refill"

[[limit]]
dataset = "people"
measure = "k_anonymity"
at_least = 30

[[limit]]
adversary = "reader"
measure = "deterministic.posterior"
at_most = 0.01

[protection]
methods = ["recode"]
"""
    )
    p = dv.Release.load(tmp_path / "release.toml").protect()
    [reader] = p.after.assessments
    assert p.status == "pass"
    assert (reader.secrets, reader.figures["coarse_hidden"]) == (400, 400)
    assert "nothing to refill" not in str(reader)
