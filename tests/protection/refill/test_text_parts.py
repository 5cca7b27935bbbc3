"""The beginnings and ends of codes: what nearly unique texts tell all the same."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

import divulge as dv
from divulge.protection.changes.changes import hide_cells
from divulge.protection.refill.text_parts import build_text_parts

ROWS = 900


def make_firms(pattern: str) -> dv.Dataset:
    random = np.random.default_rng(2)
    region = random.choice(["N", "E", "S", "W"], ROWS, p=[0.4, 0.3, 0.2, 0.1])
    numbers = random.permutation(np.arange(10_000, 10_000 + ROWS))
    forms = [pattern.format(region=r, number=str(n)) for r, n in zip(region, numbers, strict=True)]
    table = pa.table({"form": forms, "region": region, "size": random.integers(0, 6, ROWS)})
    return dv.Dataset.from_arrow(table, roles={"quasi_identifier": ["region", "size"]})


@pytest.mark.parametrize(
    ("pattern", "part"),
    [
        ("{region}-{number}", "beginning"),
        ("2024{region}{number}", "beginning"),
        ("{number}{region}", "end"),
        ("{number}/{region}1", "end"),
        ("{number:.3}{region}{number}", "a character"),
    ],
)
def test_a_part_of_a_form_number_tells_the_region(pattern: str, part: str) -> None:
    firms = make_firms(pattern)
    protected = hide_cells(firms, {"region": np.arange(0, ROWS, 9)})
    r = dv.protection.refill(protected, firms)
    assert (r.hidden, r.claimed, r.right, r.verified) == (100, 100, 100, 100)
    assert f"{part} of form determines region: 100 cells" in [str(each) for each in r.relations]
    told = dv.protection.find_determined_attributes(firms)["region"]
    assert (f"{part} of form",) in [relation.columns for relation in told]


def test_a_digit_of_a_number_tells_the_region() -> None:
    firms = make_firms("{number}")
    region = firms.to_arrow()["region"].to_pylist()
    numbers = np.random.default_rng(6).permutation(10_000)[:ROWS]
    codes = [
        int(f"7{number // 10:03}{'NESW'.index(r)}{number % 10}{number % 7}")
        for number, r in zip(numbers, region, strict=True)
    ]
    table = firms.to_arrow().set_column(0, "form", pa.array(codes))
    coded = dv.Dataset.from_arrow(table, roles={"quasi_identifier": ["region", "size"]})
    protected = hide_cells(coded, {"region": np.arange(0, ROWS, 9)})
    r = dv.protection.refill(protected, coded)
    assert r.right == 100
    assert "a character of form determines region: 100 cells" in [str(e) for e in r.relations]


def test_two_letters_within_a_code_and_one_far_inside_tell_the_region() -> None:
    firms = make_firms("{number}")
    region = firms.to_arrow()["region"].to_pylist()
    words = {"N": "AB", "E": "AC", "S": "BC", "W": "BA"}  # neither letter alone says which
    numbers = np.random.default_rng(8).permutation(10_000)[:ROWS]
    codes = [f"55{words[r]}{n:04}" for n, r in zip(numbers, region, strict=True)]
    far = [f"2015-{n:06}-{r}-{n % 89}" for n, r in zip(numbers, region, strict=True)]
    for forms in (codes, far):
        table = firms.to_arrow().set_column(0, "form", pa.array(forms))
        coded = dv.Dataset.from_arrow(table, roles={"quasi_identifier": ["region", "size"]})
        protected = hide_cells(coded, {"region": np.arange(0, ROWS, 9)})
        assert dv.protection.refill(protected, coded).verified == 100


def test_numbers_without_a_meaning_tell_nothing() -> None:
    firms = make_firms("{number}")
    protected = hide_cells(firms, {"region": np.arange(0, ROWS, 9)})
    assert dv.protection.refill(protected, firms).claimed == 0


def test_a_hidden_code_has_no_parts_to_be_read() -> None:
    firms = make_firms("{region}-{number}")
    rows = np.arange(0, ROWS, 9)
    protected = hide_cells(firms, {"region": rows, "form": rows})
    r = dv.protection.refill(protected, firms)
    assert r.by_attribute()["region"].claimed == 0


def test_a_column_of_which_all_but_little_is_hidden_has_the_parts_of_what_is_shown() -> None:
    codes = np.full(40, -2, np.int32)
    values = pa.array(["a1"])
    assert not build_text_parts("code", codes, values)
    codes[:20] = np.arange(20)
    parts = build_text_parts("code", codes, pa.array([f"{'ab'[n % 2]}{n}" for n in range(20)]))
    assert [part.codes[19:].tolist() for part in parts] == [[1, *[-2] * 20]]


def test_few_values_need_no_parts() -> None:
    codes = np.arange(200, dtype=np.int32) % 8
    values = pa.array([f"district {n}" for n in range(8)])
    assert not build_text_parts("district", codes, values)
    many = pa.array([f"{'ab'[n % 2]}{n:04}" for n in range(200)])
    lengths = [
        (part.origin, part.cardinality)
        for part in build_text_parts("number", np.arange(200, dtype=np.int32), many)
    ]
    # The first letter, with the first digits as far as they differ and are few; the last digit; and
    # the digits between of which there are several, one by one and together.
    assert lengths == [
        *[("beginning", 2), ("beginning", 4), ("end", 10)],
        *[("character", 2), ("character", 10), ("character", 20)],
    ]
