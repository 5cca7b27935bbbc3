"""The small tables of the five papers, as datasets: what examples and tests are checked against."""

from __future__ import annotations

from importlib import resources

from divulge.data import Dataset, read
from divulge.data.dictionary import RoleAssignment
from divulge.data.missing_kinds import mark_hidden
from divulge.work import DivulgeError


def language_example() -> Dataset:
    """Four people, their native language, gender and age (Alvim et al. 2022, Table 2a)."""
    roles = {
        "identifier": ["id"],
        "quasi_identifier": ["gender", "age"],
        "sensitive": ["language"],
    }
    return _read_example("language", "people", roles)


def school_year_example(year: int = 1) -> Dataset:
    """Ten pupils in the first or second year (Alvim et al. 2022, Tables 3a and 3b).

    >>> school_year_example(2).names
    ['id', 'age', 'grade']
    """
    if year not in (1, 2):
        raise DivulgeError(f"year {year}: the example has the years 1 and 2")
    roles: dict[str, list[str]] = {
        "identifier": ["id"],
        "quasi_identifier": ["age", "gender", "grade"] if year == 1 else ["age", "grade"],
    }
    if year == 1:
        roles["sensitive"] = ["disability"]
    return _read_example(f"school_year_{year}", "pupils", roles)


def inflation_and_growth_example() -> Dataset:
    """Twenty companies (Bellomarini et al., Fig. 1)."""
    roles = {
        "identifier": ["Id"],
        "quasi_identifier": ["Area", "Sector", "Employees", "Residential Rev.", "Export Rev."],
        "non_identifying": ["Exp. to DE", "Growth"],
        "weight": "Weight",
    }
    return _read_example("inflation_and_growth", "companies", roles)


def local_suppression_example(protected: bool = False) -> Dataset:
    """Seven companies before and after suppression and recoding (Bellomarini et al., Fig. 5)."""
    roles = {
        "identifier": ["Id"],
        "quasi_identifier": ["Area", "Sector", "Employees", "Residential Rev."],
    }
    if protected:
        return mark_hidden(_read_example("local_suppression_after", "companies", roles))
    return _read_example("local_suppression", "companies", roles)


def purchases_example() -> Dataset:
    """Ten purchases by three customers (Ito et al. 2018, Table 5)."""
    roles = {"identifier": ["user"], "time": "date"}
    return _read_example("purchases", "purchases", roles)


def trade_transactions_example() -> Dataset:
    """Fourteen imports without importers (Favato et al. 2022, Table 3a)."""
    return _read_example("trade_transactions", "transactions", {"identifier": ["order"]})


def trade_totals_example() -> Dataset:
    """The published totals of the same imports by state (Favato et al. 2022, Table 3b)."""
    return _read_example("trade_totals", "states", {})


def occupations_example() -> Dataset:
    """Respondents and their incomes by region and occupation (Minami and Abe 2019, Fig. 1)."""
    return _read_example("occupations", "cells", {})


def frequency_table_example() -> Dataset:
    """A table of counts with one cell below ten (Minami and Abe 2019, Fig. 2 and Example 1)."""
    return _read_example("frequency_table", "cells", {})


def _read_example(file: str, subjects: str, roles: RoleAssignment) -> Dataset:
    with resources.as_file(resources.files("divulge.datasets") / f"{file}.csv") as path:
        return read(path, roles=roles, name=file.replace("_", " "), subjects=subjects)
