"""What hidden cells are said to be worth against what happens: how `ADDED_RECORDS` was chosen.

A made-up survey hides cells in several ways. For each victim the adversary takes the likeliest
record; what `bayes` says that they succeed in (one over the effective frequency) stands beside how
often they are right. A weighing that says less than what happens understates the risk.
"""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from divulge.classes import tuning
from divulge.classes.key_codes import encode_keys
from divulge.classes.null_semantics import (
    enumerate_released_codes,
    estimate_chance_by_mask,
    gather_patterns,
)
from divulge.classes.original_values import gather_victims
from divulge.data import Dataset
from divulge.protection import suppress

RECORDS = 8_000
NAMES = ["postcode", "region", "age", "sex", "status"]


def make_people(seed: int) -> dict[str, np.ndarray]:
    """Attributes that depend on each other: postcodes on regions, marital status on age."""
    rng = np.random.default_rng(seed)
    region = rng.choice(8, RECORDS, p=np.array([8, 7, 6, 5, 4, 3, 2, 1]) / 36)
    age = rng.integers(0, 9, RECORDS)
    return {
        "postcode": region * 12 + rng.integers(0, 12, RECORDS),
        "region": region,
        "age": age,
        "sex": rng.integers(0, 2, RECORDS),
        "status": np.where(age < 2, 0, rng.choice(4, RECORDS, p=[0.3, 0.5, 0.15, 0.05])),
    }


def hide_cells(people: dict[str, np.ndarray], mask: np.ndarray) -> Dataset:
    """The people with the cells of a mask missing."""
    columns = {n: pa.array(people[n], mask=mask[:, a]) for a, n in enumerate(NAMES)}
    return Dataset.from_arrow(pa.table(columns), roles={"quasi_identifier": NAMES})


def score(original: Dataset, released: Dataset) -> tuple[float, float, float]:
    """The share that is said to be found, that which is, and the mean log chance of the truth."""
    keys = encode_keys(released, NAMES, absence_apart=True, original=original)
    patterns = gather_patterns(keys, np.ones(released.rows))
    victims = gather_victims(released, original, NAMES)
    chance = estimate_chance_by_mask(patterns, victims)
    size = victims.columns[0].size
    total, best, alike = np.zeros(size), np.zeros(size), np.zeros(size)
    for mask, rows in patterns.group_by_mask().items():
        visible = patterns.visible_attributes(mask)
        held = [patterns.columns[a][rows] for a in visible]
        cardinalities = [patterns.cardinalities[a] for a in visible]
        whose, columns, _ = enumerate_released_codes(victims, visible, held, cardinalities)
        texts = np.stack([*columns, np.zeros(whose.size, np.int64)], axis=1)
        shown = np.stack([*held, np.zeros(rows.size, np.int64)], axis=1)
        counts = dict(zip(map(tuple, shown.tolist()), patterns.count[rows], strict=True))
        count = np.bincount(whose, [counts.get(tuple(row), 0.0) for row in texts.tolist()], size)
        total += count * chance[mask]
        heavier = (count > 0) & (chance[mask] > best * (1 + 1e-9))
        tied = (count > 0) & ~heavier & (chance[mask] >= best * (1 - 1e-9))
        alike = np.where(heavier, count, alike + np.where(tied, count, 0))
        best = np.where(heavier, chance[mask], best)
    own_mask, victim = patterns.mask[patterns.of_record], victims.of_record
    own = np.array([chance[int(m)][v] for m, v in zip(own_mask, victim, strict=True)])
    right = np.where(own >= best[victim] * (1 - 1e-9), 1 / alike[victim], 0)
    return (
        float((best / total)[victim].mean()),
        float(right.mean()),
        float(np.log(own / total[victim]).mean()),
    )


def main() -> None:
    """Print what is said and what happens for several numbers of added records."""
    people, rng = make_people(1), np.random.default_rng(2)
    original = hide_cells(people, np.zeros((RECORDS, len(NAMES)), bool))
    releases = {
        "protected, k = 3": suppress(original, k=3).dataset,
        **{
            f"{share:.0%} at random": hide_cells(people, rng.random((RECORDS, 5)) < share)
            for share in (0.05, 0.2, 0.5)
        },
    }
    chosen = tuning.ADDED_RECORDS
    for name, released in releases.items():
        print(f"\n{name}")
        for added in (0.1, 1.0, chosen, 100.0, 10_000.0):
            tuning.ADDED_RECORDS = added
            said, happens, truth = score(original, released)
            print(
                f"{added:>8,.6g} added: said {said:.4f}, happens {happens:.4f}, "
                f"ratio {said / happens:.2f}, mean log chance of the truth {truth:.3f}"
            )
    tuning.ADDED_RECORDS = chosen


if __name__ == "__main__":
    main()
