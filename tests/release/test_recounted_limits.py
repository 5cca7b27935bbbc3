"""Limits on single records, recounted by plain pandas from the files that were written.

The victims are the records of the source, whose identifiers say which published row is theirs: rows
are counted in the tests by what they show, and never by what the product says of them.
"""

from __future__ import annotations

from itertools import combinations
from pathlib import Path
from random import Random

import numpy as np
import pandas as pd
import pytest

from divulge.protection import OutOfReachError
from divulge.release import Release

KEYS = ["a", "b", "c", "d"]
HIDDEN = "suppressed"


def write_people(folder: Path, seed: int, size: int) -> pd.DataFrame:
    """Records of few values each, most of them common; `nr` is published, so that rows are found."""
    random = Random(seed)  # noqa: S311  # made-up data
    rows = [
        {
            "nr": f"n{number}",
            **{key: f"{key}{min(random.randrange(3), random.randrange(4))}" for key in KEYS},
            "ill": random.choice(["flu", "cold", "cold", "gout"]),
            "firm": f"f{number // random.choice([1, 2, 3])}",
        }
        for number in range(size)
    ]
    frame = pd.DataFrame(rows)
    frame.to_csv(folder / "people.csv", index=False)
    return frame


def protect(folder: Path, limit: str, more: str = "") -> pd.DataFrame | None:
    """What was written for a limit; None if it cannot be reached."""
    (folder / "release.toml").write_text(
        f"""
[[dataset]]
name = "people"
source = "people.csv"
roles = {{ quasi_identifier = {KEYS}, sensitive = ["ill"], group = "firm", non_identifying = ["nr"] }}
{limit}
[protection]
methods = ["suppress"]
suppression_limit = 1.0
out_of_reach = "remove"
{more}
"""
    )
    try:
        done = Release.load(folder / "release.toml").protect(out=folder / "out")
    except OutOfReachError:
        return None
    assert done.passed
    return pd.read_csv(folder / "out" / "release" / "people.csv", dtype=str).set_index("nr")


def find_fitting(published: pd.DataFrame, victim: pd.Series, names: list[str]) -> pd.DataFrame:
    """The rows that may be a victim's, of whom these attributes are known."""
    fits = np.ones(len(published), bool)
    for name in names:
        fits &= published[name].isin([victim[name], HIDDEN]).to_numpy()
    return published[fits]


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("least", [2, 3])
def test_nobody_is_the_only_one_who_fits_few_attributes(
    tmp_path: Path, seed: int, least: int
) -> None:
    """Algorithm 6: no record is unique on fewer attributes than the limit names."""
    source = write_people(tmp_path, seed, 40).set_index("nr")
    limit = f'[[limit]]\ndataset = "people"\nmeasure = "minimal_unique_size"\nat_least = {least}'

    def count_unique(published: pd.DataFrame) -> int:
        return sum(
            len(find_fitting(published, source.loc[number], list(names))) == 1
            for number in published.index
            for size in range(1, least)
            for names in combinations(KEYS, size)
        )

    published = protect(tmp_path, limit)
    assert published is not None
    assert count_unique(published) == 0
    # Something was there to be protected, in data of which nothing is hidden.
    assert (count_unique(source) > 0) == bool((published[KEYS] == HIDDEN).any(axis=None)) or len(
        published
    ) < len(source)
