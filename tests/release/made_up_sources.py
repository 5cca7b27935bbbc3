"""Files of five kinds as strangers bring them: made up, without a word of what their columns are."""

from __future__ import annotations

import csv
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np


def write_rows(path: Path, head: Sequence[str], rows: Sequence[Sequence[Any]]) -> Path:
    with path.open("w", newline="", encoding="utf-8") as stream:
        writer = csv.writer(stream)
        writer.writerow(head)
        writer.writerows(rows)
    return path


def write_households(folder: Path, homes: int = 320) -> Path:
    """Members of households, household by household, with an amount and a weight."""
    random = np.random.default_rng(1)
    rows: list[list[Any]] = []
    for home in range(homes):
        region = f"R{home * 6 // homes + 1}"
        size = int(random.choice([1, 2, 3, 4], p=[0.35, 0.35, 0.15, 0.15]))
        weight = round(80.5 + 10 * (home * 6 // homes), 2)
        for _ in range(size):
            rows.append(
                [home + 1, len(rows) + 1, size, region, int(random.integers(0, 90)),
                 random.choice(["female", "male"]),
                 random.choice(["married", "single", "widowed"], p=[0.5, 0.4, 0.1]),
                 int(random.lognormal(10, 0.6)), weight]
            )  # fmt: skip
    head = ["household id", "person id", "household size", "region", "age", "sex",
            "marital status", "income", "weight"]  # fmt: skip
    return write_rows(folder / "survey.csv", head, rows)


def write_companies(folder: Path, companies: int = 900) -> Path:
    """Enterprises with a registered number, their trade, size and turnover."""
    random = np.random.default_rng(2)
    sectors = ["C10", "C25", "F41", "G47", "H49", "I56"]
    rows = [
        [f"E{n:05d}", random.choice(["North", "South", "West"]),
         random.choice(sectors, p=[0.1, 0.15, 0.2, 0.3, 0.1, 0.15]),
         random.choice(["1-9", "10-49", "50-249", "250+"], p=[0.6, 0.28, 0.1, 0.02]),
         int(random.lognormal(12, 1.5))]
        for n in range(companies)
    ]  # fmt: skip
    return write_rows(
        folder / "firms.csv", ["company id", "region", "sector", "size class", "turnover"], rows
    )


def write_panel(folder: Path, people: int = 300) -> Path:
    """The same people in three years, one record a year."""
    random = np.random.default_rng(3)
    rows: list[list[Any]] = []
    for person in range(people):
        born, sex, region = random.integers(20, 70), random.integers(1, 3), random.integers(1, 5)
        rows += [
            [1000 + person, 2020 + wave, sex, born + wave, region, int(random.lognormal(7, 1))]
            for wave in range(3)
        ]
    return write_rows(
        folder / "waves.csv", ["person id", "year", "sex", "age", "region", "wage"], rows
    )


def write_purchases(folder: Path, users: int = 60, days: int = 120) -> Path:
    """What customers bought, line by line, with receipts, moments and amounts."""
    random = np.random.default_rng(4)
    rows: list[list[Any]] = []
    receipt = 0
    goods = [f"G{n:02d}" for n in range(24)]
    popularity = 1 / np.arange(1, len(goods) + 1)
    for user in range(users):
        for day in sorted(random.choice(days, 12, replace=False)):
            receipt += 1
            moment = np.datetime64("2024-01-01 09:00") + int(day) * 1440 + user
            chosen = random.choice(
                goods, int(random.integers(1, 4)), replace=False, p=popularity / popularity.sum()
            )
            rows += [
                [f"r{receipt:05d}", str(moment).replace("T", " "), f"c{user:03d}", good,
                 int(random.integers(1, 5)), round(float(random.uniform(1, 20)), 2)]
                for good in chosen
            ]  # fmt: skip
    head = ["receipt", "purchase time", "customer id", "product", "quantity", "unit price"]
    return write_rows(folder / "till.csv", head, rows)


def write_table(folder: Path) -> Path:
    """People by region and size of their town: a row for each cell, totals among them."""
    cells = np.random.default_rng(5).integers(1, 40, (5, 4))
    full = np.vstack([np.hstack([cells, cells.sum(1, keepdims=True)]), [0] * 5])
    full[-1] = full[:-1].sum(0)
    regions = [*(f"R{n}" for n in range(1, 6)), "Total"]
    sizes = ["hamlet", "village", "town", "city", "Total"]
    rows = [
        [region, size, int(full[a, b])]
        for a, region in enumerate(regions)
        for b, size in enumerate(sizes)
    ]
    return write_rows(folder / "census.csv", ["region", "settlement", "people"], rows)
