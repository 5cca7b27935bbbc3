"""Links of a release, judged from the files that it writes by plain code of its own."""

from __future__ import annotations

import csv
import shutil
from itertools import pairwise
from math import prod
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pyarrow.csv
import pytest

from divulge import Release, datasets
from divulge.protection import OutOfReachError, Protected
from divulge.work import InvalidInput

EXAMPLE = Path(__file__).parents[2] / "examples" / "links"
HIDDEN = "suppressed"

Record = dict[str, str]


def read_records(path: Path) -> list[Record]:
    with path.open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def write_records(path: Path, names: list[str], rows: list[list[Any]]) -> None:
    with path.open("w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows([names, *rows])


def find_chances(published: list[Record], victim: Record, keys: list[str]) -> list[float]:
    """How likely each published record is the victim's: what it hides is weighed as docs/risk.md
    says, by complete records that agree on the rest and twenty of independent attributes."""

    def shows(record: Record, names: list[str]) -> bool:
        return all(record[name] == victim[name] for name in names)

    complete = [each for each in published if all(each[name] != HIDDEN for name in keys)]
    weights = []
    for record in published:
        hidden = [name for name in keys if record[name] == HIDDEN]
        visible = [name for name in keys if name not in hidden]
        if not shows(record, visible):
            weights.append(0.0)
            continue
        independent = 1.0
        for name in hidden:
            showing = [each[name] for each in published if each[name] != HIDDEN]
            fitting = showing.count(victim[name])
            independent *= fitting / len(showing) if fitting else 1 / (len(showing) + 1)
        alike = sum(shows(each, keys) for each in complete)
        comparable = sum(shows(each, visible) for each in complete)
        chance = (alike + 20 * independent) / (comparable + 20)
        weights.append(chance if hidden else 1.0)
    return [weight / sum(weights) for weight in weights] if any(weights) else [0.0]


def find_highest_cluster_risk(
    published: list[Record], victims: list[Record], keys: list[str], links: list[tuple[str, str]]
) -> float:
    """The chance that somebody of the most exposed cluster is found."""
    cluster = {victim["Id"]: victim["Id"] for victim in victims}
    cluster |= {end: end for pair in links for end in pair}
    for _ in cluster:
        for one, other in links:
            cluster[one] = cluster[other] = min(cluster[one], cluster[other])
    known: dict[tuple[str, ...], float] = {}
    missed: dict[str, list[float]] = {}
    for victim in victims:
        key = tuple(victim[name] for name in keys)
        if key not in known:
            known[key] = max(find_chances(published, victim, keys))
        missed.setdefault(cluster[victim["Id"]], []).append(1 - known[key])
    return max(1 - prod(each) for each in missed.values())


def list_pairs(path: Path) -> list[tuple[str, str]]:
    return [(one, other) for one, other in (row.values() for row in read_records(path))]


def test_the_example_withstands_a_plain_recount_of_its_files(tmp_path: Path) -> None:
    release = Release.load(EXAMPLE / "release.toml")
    keys = ["Area", "Sector", "Employees", "Residential Rev."]
    victims = read_records(EXAMPLE / "companies.csv")
    links = list_pairs(EXAMPLE / "owners.csv")
    assert find_highest_cluster_risk(victims, victims, keys, links) > 0.5
    assert not release.check().passed
    protected = release.protect(out=tmp_path / "out")
    assert protected.passed
    out = tmp_path / "out" / "release"
    assert sorted(path.name for path in out.iterdir()) == ["companies.csv", "methods-note.txt"]
    published = read_records(out / "companies.csv")
    assert len(published) == len(victims)
    assert "Id" not in published[0]
    assert find_highest_cluster_risk(published, victims, keys, links) <= 0.5 + 1e-6


def make_release(folder: Path, seed: int) -> None:
    """Few companies with random values, and links that chain by way of some outsiders."""
    random = Random(seed)  # noqa: S311  # made-up data
    size = random.choice([10, 40, 80])
    keys = ["a", "b", "c"][: random.choice([2, 3])]
    rows = [
        [f"n{i}", *(f"v{min(random.randrange(4), random.randrange(4))}" for _ in keys)]
        for i in range(size)
    ]
    write_records(folder / "firms.csv", ["Id", *keys], rows)
    ends = [f"n{i}" for i in range(size)] + ["holding 1", "holding 2"]
    pairs = [random.sample(ends, 2) for _ in range(random.randrange(1, 12))] + [["n0", "n1"]]
    write_records(folder / "owners.csv", ["owner", "owned"], pairs)
    limit = 'dataset = "firms"\nmeasure = "k_anonymity"\nat_least = 2\n'
    common = ""
    if seed % 3 == 0:
        limit += 'links = "owners"\n'
    elif seed % 3 == 1:
        common = 'links = { dataset = "owners", on = "Id" }\n'
    else:
        limit = 'adversary = "rival"\nmeasure = "risk.highest"\nat_most = 0.5\n'
        limit += '[[adversary]]\nname = "rival"\nattack = "risk"\nmeasure = "prosecutor"\n'
        limit += 'dataset = "firms"\nlinks = "owners"\n'
    (folder / "release.toml").write_text(
        'format = 1\n[[dataset]]\nname = "firms"\nsource = "firms.csv"\n'
        f'roles = {{ identifier = ["Id"], quasi_identifier = {keys} }}\n'
        '[[dataset]]\nname = "owners"\nsource = "owners.csv"\n'
        f"[[limit]]\n{limit}"
        f'[protection]\nmethods = ["suppress"]\nsuppression_limit = 1.0\n{common}'
    )


def recount_protected(folder: Path) -> float | None:
    """The highest risk of a cluster in the files of a release that passed; None if none did."""
    try:
        protected = Release.load(folder / "release.toml").protect(out=folder / "out")
    except OutOfReachError:
        return None
    if not protected.passed:
        return None
    part = protected.parts["firms"]
    assert isinstance(part, Protected)
    source = read_records(folder / "firms.csv")
    victims = [source[number] for number in part.kept.tolist()]
    keys = [name for name in source[0] if name != "Id"]
    published = read_records(folder / "out" / "release" / "firms.csv")
    assert len(published) == len(victims)
    links = list_pairs(folder / "owners.csv")
    return find_highest_cluster_risk(published, victims, keys, links)


@pytest.mark.parametrize("seed", [0, 1, 5, 6, 8, 9, 10, 11])
def test_random_releases_with_links_withstand_a_plain_recount(tmp_path: Path, seed: int) -> None:
    make_release(tmp_path, seed)
    risk = recount_protected(tmp_path)
    assert risk is not None, "these can be protected"
    assert risk <= 0.5 + 1e-6


COMPANIES = """
format = 1
accept_count_only = true
[[dataset]]
name = "companies"
source = "companies.csv"
roles = { identifier = ["Id"], quasi_identifier = ["Area", "Sector", "Employees", "Residential Rev."], weight = "Weight", non_identifying = ["Exp. to DE", "Growth"] }
[[dataset]]
name = "owners"
source = "owners.csv"
"""


COUNTED = '[[limit]]\ndataset = "companies"\nmeasure = "k_anonymity"\nat_least = 2\n'


def write_release(folder: Path, text: str) -> Path:
    for name in ("companies.csv", "owners.csv"):
        shutil.copy(EXAMPLE / name, folder / name)
    path = folder / "release.toml"
    path.write_text(COMPANIES + text)
    return path


def test_suppressed_cells_grow_with_the_number_of_links(tmp_path: Path) -> None:
    """The setting of Bellomarini et al., Fig. 7d: k = 2, T = 0.5, a null may be anything."""
    path = write_release(
        tmp_path,
        '[[limit]]\ndataset = "companies"\nmeasure = "k_anonymity"\nat_least = 2\n'
        'nulls = "maybe"\nlinks = "owners"\n[protection]\nmethods = ["suppress"]\n',
    )
    pairs = list_pairs(EXAMPLE / "owners.csv")
    cells = []
    for count in (3, 15, 30):
        write_records(tmp_path / "owners.csv", ["owner", "owned"], [list(p) for p in pairs[:count]])
        protected = Release.load(path).protect()
        part = protected.parts["companies"]
        assert isinstance(part, Protected)
        cells.append(part.suppressed_cells)
    assert 0 < cells[0] < cells[1] < cells[2]


def test_cells_grow_from_no_link_to_400_where_many_companies_stand_alone(tmp_path: Path) -> None:
    """Fig. 7d with its numbers of links, on companies with heavy tails."""
    companies = datasets.inflation_and_growth(2_000, "U", heavy_tails=True)
    table = companies.to_arrow()
    rare = 1 / np.array(table["Weight"].to_pylist(), float)
    random = np.random.default_rng(7)
    ids = random.choice(table["Id"].to_pylist(), 440, replace=False, p=rare / rare.sum())
    pairs = [pair for group in ids.reshape(40, 11).tolist() for pair in pairwise(group)]
    path = write_release(
        tmp_path,
        f'{COUNTED}nulls = "maybe"\nlinks = "owners"\n[protection]\nmethods = ["suppress"]\n',
    )
    pyarrow.csv.write_csv(table, tmp_path / "companies.csv")
    cells = []
    for count in (0, 100, 200, 300, 400):
        # A pair of somebody with themselves links nobody.
        chosen = pairs[:count] or [(pairs[0][0], pairs[0][0])]
        write_records(tmp_path / "owners.csv", ["owner", "owned"], [list(p) for p in chosen])
        part = Release.load(path).protect().parts["companies"]
        assert isinstance(part, Protected)
        cells.append(part.suppressed_cells)
    assert cells == sorted(cells)
    assert cells[-1] >= 2 * cells[0] > 0


@pytest.mark.parametrize(
    ("tables", "wanted"),
    [
        ('[[limit]]\nmeasure = "k_anonymity"\nat_least = 2\nlinks = "ownerz"', "owners"),
        ('[[limit]]\nmeasure = "k_anonymity"\nat_least = 2\nlinks = { dataset = "x" }', '"x"'),
        (
            '[[limit]]\nmeasure = "t_closeness"\nattribute = "Growth"\nat_most = 0.2\n'
            'links = "owners"',
            "do not go with measure",
        ),
        (f'{COUNTED}[protection]\nmethods = ["suppress"]\nlinks = "Areaa"', 'Did you mean "Area"?'),
        ('[protection]\nmethods = ["suppress"]\nlinks = "Area"', "no limit and no adversary"),
        (
            f'{COUNTED}[protection]\nmethods = ["suppress"]\nlinks = {{ attribute = "Area", on = "Id" }}',
            "of pairs",
        ),
        (
            '[[adversary]]\nname = "a"\nattack = "risk"\ndataset = "companies"\nlinks = "Sectr"',
            'Did you mean "Sector"?',
        ),
        (
            '[[adversary]]\nname = "a"\nattack = "records"\nmodel = "CRS"\ndataset = "companies"\n'
            'links = "owners"',
            "links",
        ),
        (
            '[[adversary]]\nname = "a"\nattack = "risk"\ndataset = ["companies", "owners"]\n'
            'links = { dataset = "owners" }',
            "contains the links; leave it out here",
        ),
    ],
)
def test_links_that_cannot_be_are_refused_where_they_stand(
    tmp_path: Path, tables: str, wanted: str
) -> None:
    path = write_release(tmp_path, tables)
    with pytest.raises(InvalidInput) as refused:
        Release.load(path)
    assert wanted in str(refused.value)


def test_an_end_without_a_record_is_an_error_by_choice(tmp_path: Path) -> None:
    links = '{ dataset = "owners", unknown = "error" }'
    limit = f'[[limit]]\nmeasure = "k_anonymity"\nat_least = 2\nlinks = {links}\n'
    release = Release.load(write_release(tmp_path, limit))
    with pytest.raises(InvalidInput, match="24 of 60 ends name no record"):
        release.check()
    with pytest.raises(InvalidInput, match="ends name no record"):
        release.protect(out=tmp_path / "out")
    assert not (tmp_path / "out").exists()
