"""A synthetic survey of businesses: turnover by activity, region and size, with holdings.

Activities have four levels as NACE has them (all, sections, divisions, groups), regions three, size
classes two. A few activities and regions have most of the firms, so that a table of all three has
thousands of empty cells and thousands with one or two firms. Turnover is heavy-tailed and grows
with size; some firms belong to a holding that has others, often of the same division. Nobody in it
exists.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from divulge import work
from divulge.data import Dataset, Hierarchy
from divulge.data.column import column_from_codes
from divulge.work.arrays import Ints

Random = np.random.Generator

FIRST_ID = 1
SIZE_CLASSES = ("1-9", "10-19", "20-49", "50-249", "250+")
SIZE_SHARES = (0.55, 0.19, 0.14, 0.09, 0.03)
EMPLOYEE_LIMITS = (1, 10, 20, 50, 250, 5_000)
"""Where each class begins, and the last one ends."""
HOLDING_SHARE = 0.25
"""How many firms belong to a holding of several."""
FIRMS_PER_HOLDING = 4
FIRMS_PER_CELL = 4
"""Firms for each combination of group, region and size class where their number is not given."""


@dataclass(frozen=True, kw_only=True)
class _Detail:
    """How fine the classifications are."""

    sections: int
    divisions: int
    groups: int
    states: int
    regions: int

    @property
    def activities(self) -> int:
        return self.sections * self.divisions * self.groups

    @property
    def places(self) -> int:
        return self.states * self.regions


DETAILS = {
    "small": _Detail(sections=9, divisions=2, groups=3, states=3, regions=3),
    "medium": _Detail(sections=12, divisions=3, groups=5, states=4, regions=4),
    "large": _Detail(sections=15, divisions=4, groups=6, states=5, regions=6),
}


def business_survey(
    firms: int | None = None, seed: int = 2026, *, detail: str = "small"
) -> Dataset:
    """A synthetic survey of businesses, with hierarchies of activities and regions.

    Its table of turnover by activity, region and size class has 6,396 cells (`detail="small"`),
    28,854 ("medium") or 94,176 ("large"), subtotals included.

    Args:
        firms: how many firms; 4 for each combination of classes if not given.
        seed: the same seed gives the same firms.
        detail: how fine activities and regions are: "small", "medium" or "large".

    >>> survey = business_survey()
    >>> survey.rows, survey.quasi_identifiers
    (9720, ['activity', 'region', 'size'])
    >>> from divulge.tables import Table
    >>> table = Table.from_records(
    ...     survey, by=["activity", "region", "size"], value="turnover", contributor="holding"
    ... )
    >>> table.shape, table.structure.size
    ((82, 13, 6), 6396)
    """
    _check_arguments(firms, detail)
    classes = DETAILS[detail]
    if firms is None:
        cells = classes.activities * classes.places * len(SIZE_CLASSES)
        firms = int(FIRMS_PER_CELL * cells)
    random = np.random.default_rng(seed)
    activity = _draw_by_zipf(firms, classes.activities, 0.9, random)
    region = _draw_by_zipf(firms, classes.places, 0.7, random)
    size = random.choice(len(SIZE_CLASSES), firms, p=SIZE_SHARES)
    holding = _draw_holdings(activity // classes.groups, random)
    limits = np.array(EMPLOYEE_LIMITS)
    ratio = (limits[1:] / limits[:-1])[size]
    employees = np.floor(limits[size] * ratio ** random.random(firms)).astype(np.int64)
    # In thousands; of an activity all per head have a level of their own.
    level = np.exp(random.normal(4.5, 0.6, classes.activities))[activity]
    turnover = np.ceil(employees * level * np.exp(random.normal(0, 0.8, firms))).astype(np.int64)
    columns = {
        "firm": _build_number_column(np.arange(FIRST_ID, FIRST_ID + firms)),
        "holding": _build_number_column(holding),
        "activity": _build_column(activity, _name_activities(classes)),
        "region": _build_column(region, _name_regions(classes)),
        "size": _build_column(size, SIZE_CLASSES),
        "employees": _build_number_column(employees),
        "turnover": _build_number_column(turnover),
    }
    return Dataset(columns, name="business_survey", subjects="firms").describe(
        {
            "identifier": ["firm", "holding"],
            "quasi_identifier": ["activity", "region", "size"],
            "non_identifying": ["employees", "turnover"],
        },
        {
            "activity": Hierarchy.from_levels(
                [[code, code[:3], code[:1]] for code in _name_activities(classes)]
            ),
            "region": Hierarchy.from_levels(
                [[code, code.rpartition("-")[0]] for code in _name_regions(classes)]
            ),
        },
        units={"turnover": "thousand"},
    )


def _check_arguments(firms: int | None, detail: str) -> None:
    problems = work.Problems("business_survey")
    if firms is not None and firms < 1:
        problems.add("firms", f"{firms} is no number from 1.")
    if detail not in DETAILS:
        problems.add("detail", f'"{detail}" is none.', detail, list(DETAILS))
    problems.raise_any()


def _draw_by_zipf(count: int, classes: int, exponent: float, random: Random) -> Ints:
    """Classes of which a few, anywhere in the list, are frequent."""
    weights: npt.NDArray[np.float64] = random.permutation((np.arange(classes) + 2.0) ** -exponent)
    return random.choice(classes, count, p=weights / weights.sum())


def _draw_holdings(division: Ints, random: Random) -> Ints:
    """A number for each firm; those of one holding share it, and lie mostly in one division."""
    firms = len(division)
    holding: Ints = np.arange(firms)
    members = np.flatnonzero(random.random(firms) < HOLDING_SHARE)
    near = members[np.argsort(division[members] + random.normal(0, 0.3, len(members)))]
    groups = np.arange(len(near)) // FIRMS_PER_HOLDING
    holding[near] = near[groups * FIRMS_PER_HOLDING]
    return holding + FIRST_ID


def _name_activities(classes: _Detail) -> list[str]:
    """Codes of groups, such as B12.3: section, division, group."""
    return [
        f"{chr(ord('A') + section)}{section * classes.divisions + division + 1:02}.{group + 1}"
        for section in range(classes.sections)
        for division in range(classes.divisions)
        for group in range(classes.groups)
    ]


def _name_regions(classes: _Detail) -> list[str]:
    return [
        f"R{state + 1}-{region + 1}"
        for state in range(classes.states)
        for region in range(classes.regions)
    ]


def _build_column(codes: Ints, values: Any) -> Any:
    import pyarrow as pa

    return column_from_codes(codes, pa.array(values))


def _build_number_column(numbers: Ints) -> Any:
    distinct, codes = np.unique(numbers, return_inverse=True)
    return _build_column(codes, distinct)
