"""A synthetic school census with the attributes and the skews of Brazil's.

The thirteen attributes are those that Alvim et al. 2022 (Table 6) took from the School Census of
2018: eleven quasi-identifiers and two sensitive ones. Nobody in it exists. Towns and schools
follow Zipf's law, a few schools have hardly a pupil, three in four pupils were born where they
live, one in forty has a disability, and who rides the public school bus depends on the school.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from divulge import work
from divulge.data import Column, Dataset
from divulge.data.column import column_from_codes
from divulge.work.arrays import Ints

if TYPE_CHECKING:
    import pyarrow as pa

QUASI_IDENTIFIERS = (
    "day_of_birth",
    "month_of_birth",
    "year_of_birth",
    "gender",
    "ethnicity",
    "nationality",
    "country_of_birth",
    "city_of_birth",
    "city_of_residency",
    "school_code",
    "school_type",
)
SENSITIVE = ("disability", "transport")

YEAR = 2018
CITIES = 5570
COUNTRIES = 150
PUPILS_PER_SCHOOL = 270
TINY_SCHOOL_SHARE = 0.005
PUPILS_OF_A_TINY_SCHOOL = 1.5
BORN_AT_HOME_SHARE = 0.75
SCHOOL_AT_HOME_SHARE = 0.97
DISABILITY_SHARE = 0.024
FOREIGNER_SHARE = 0.003

GENDERS = ("female", "male")
ETHNICITIES = ("not declared", "white", "brown", "black", "yellow", "indigenous")
ETHNICITY_SHARES = (0.28, 0.33, 0.345, 0.033, 0.005, 0.007)
NATIONALITIES = ("Brazilian", "born abroad or naturalised", "foreign")
SCHOOL_TYPES = ("municipal", "state", "private", "federal")
SCHOOL_TYPE_SHARES = (0.475, 0.325, 0.191, 0.009)
TRANSPORT = ("yes", "no", "n/a")

_DAYS_IN_MONTH = np.array([31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31])
_ROWS_AT_A_TIME = 1 << 20

Random = np.random.Generator


def school_census(rows: int = 100_000, seed: int = 2018) -> Dataset:
    """A synthetic school census: 13 attributes of pupils who do not exist.

    The same rows and seed give the same census. 48 million pupils take about a minute and 1 GB.

    >>> census = school_census(rows=1000)
    >>> census
    Dataset "school census": 1,000 pupils, 13 attributes (11 quasi_identifier, 2 sensitive)
    """
    if rows < 1:
        raise work.DivulgeError(f"a census of {rows} pupils: give a number from 1")
    schools = _Schools(max(1, rows // PUPILS_PER_SCHOOL), np.random.default_rng([seed, 0]))
    codes = {name: np.empty(rows, dtype) for name, dtype in _choose_dtypes(schools).items()}
    with work.step("Making a school census", rows) as step:
        for start in range(0, rows, _ROWS_AT_A_TIME):
            stop = min(rows, start + _ROWS_AT_A_TIME)
            random = np.random.default_rng([seed, 1, start])
            for name, values in _draw_pupils(stop - start, schools, random):
                codes[name][start:stop] = values
            step.advance(stop - start)
    columns = {
        name: _build_column(codes.pop(name), values)
        for name, values in _list_values(schools).items()
    }
    roles = {"quasi_identifier": QUASI_IDENTIFIERS, "sensitive": SENSITIVE}
    return Dataset(columns, name="school census", subjects="pupils").describe(roles)


class _Schools:
    """The schools: where they stand, of what type, how large, how old their pupils are."""

    def __init__(self, count: int, random: Random) -> None:
        self.count = count
        self.city_cumulative = np.cumsum(_compute_zipf_shares(CITIES, shift=8))
        self.city = _draw_from_shares(self.city_cumulative, count, random)
        self.type = random.choice(len(SCHOOL_TYPES), count, p=SCHOOL_TYPE_SHARES)
        size = _compute_zipf_shares(count, exponent=0.6, shift=count / 50)
        size = random.permutation(size)
        self.usual_age = random.choice([4, 8, 12, 16, 30], count, p=[0.2, 0.34, 0.25, 0.19, 0.02])
        rural = random.beta(0.5, 1.6, count)
        # A few schools have hardly a pupil: their code alone tells who it is.
        tiny = random.random(count) < TINY_SCHOOL_SHARE
        size[tiny] = PUPILS_OF_A_TINY_SCHOOL / PUPILS_PER_SCHOOL / count
        self.size_cumulative = np.cumsum(size / size.sum())
        self.bus = np.where(self.type == SCHOOL_TYPES.index("private"), rural / 20, rural)


def _draw_pupils(rows: int, schools: _Schools, random: Random) -> Iterator[tuple[str, Ints]]:
    """The codes of one batch of pupils, attribute by attribute."""
    school = _draw_from_shares(schools.size_cumulative, rows, random)
    spread = np.where(schools.usual_age[school] == 30, 9.0, 1.9)
    age = np.rint(random.normal(schools.usual_age[school], spread)).astype(int).clip(0, 68)
    month = random.integers(0, 12, rows)
    yield "month_of_birth", month
    yield "day_of_birth", (random.random(rows) * _DAYS_IN_MONTH[month]).astype(int)
    yield "year_of_birth", 68 - age
    yield "gender", random.integers(0, 2, rows)
    yield "ethnicity", random.choice(len(ETHNICITIES), rows, p=ETHNICITY_SHARES)

    abroad = random.random(rows) < FOREIGNER_SHARE
    yield "nationality", np.where(abroad, random.integers(1, 3, rows), 0)
    countries = _draw_from_shares(np.cumsum(_compute_zipf_shares(COUNTRIES - 1)), rows, random)
    yield "country_of_birth", np.where(abroad, 1 + countries, 0)

    elsewhere = _draw_from_shares(schools.city_cumulative, rows, random)
    home = np.where(random.random(rows) < SCHOOL_AT_HOME_SHARE, schools.city[school], elsewhere)
    birthplace = _draw_from_shares(schools.city_cumulative, rows, random)
    birthplace = np.where(random.random(rows) < BORN_AT_HOME_SHARE, home, birthplace)
    yield "city_of_birth", np.where(abroad, CITIES, birthplace)  # born abroad: no city, missing
    yield "city_of_residency", home
    yield "school_code", school
    yield "school_type", schools.type[school]
    yield "disability", (random.random(rows) >= DISABILITY_SHARE).astype(int)
    rides = random.random(rows) < schools.bus[school]
    not_asked = random.random(rows) < 0.012
    yield "transport", np.where(not_asked, 2, np.where(rides, 0, 1))


def _list_values(schools: _Schools) -> dict[str, list[Any]]:
    """What the codes of every attribute stand for."""
    return {
        "day_of_birth": list(range(1, 32)),
        "month_of_birth": list(range(1, 13)),
        "year_of_birth": list(range(YEAR - 68, YEAR + 1)),
        "gender": list(GENDERS),
        "ethnicity": list(ETHNICITIES),
        "nationality": list(NATIONALITIES),
        "country_of_birth": list(range(COUNTRIES)),
        "city_of_birth": list(range(1, CITIES + 1)),
        "city_of_residency": list(range(1, CITIES + 1)),
        "school_code": list(range(1, schools.count + 1)),
        "school_type": list(SCHOOL_TYPES),
        "disability": ["yes", "no"],
        "transport": list(TRANSPORT),
    }


def _choose_dtypes(schools: _Schools) -> dict[str, np.dtype[Any]]:
    # One code more than there are values: the missing one.
    return {name: np.min_scalar_type(len(values)) for name, values in _list_values(schools).items()}


def _build_column(codes: Ints, values: list[Any]) -> Column:
    return column_from_codes(codes, _build_array(values))


def _build_array(values: list[Any]) -> pa.Array:
    import pyarrow as pa

    return pa.array(values)


def _compute_zipf_shares(
    count: int, exponent: float = 1.0, shift: float = 0.0
) -> npt.NDArray[np.float64]:
    """Shares that fall with the rank (Zipf; Mandelbrot's shift flattens the top)."""
    weights = (np.arange(1, count + 1) + shift) ** -exponent
    shares: npt.NDArray[np.float64] = weights / weights.sum()
    return shares


def _draw_from_shares(cumulative: npt.NDArray[np.float64], count: int, random: Random) -> Ints:
    """Draws from shares given by their running sum."""
    places = np.searchsorted(cumulative, random.random(count), side="right")
    return places.clip(max=len(cumulative) - 1)
