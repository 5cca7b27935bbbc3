"""What measures of risk are called in sentences, tables and pictures, in the user's language.

Release files and results call them by `measure`, which is the same in every language.
"""

from __future__ import annotations

from divulge.assessment import Sentence
from divulge.assessment.sentence import load_catalogue

CATALOGUE = "divulge.records"


def name_measure(measure: str) -> Sentence:
    """The name of a measure.

    >>> str(name_measure("distinct_l_diversity"))
    'distinct l-diversity'
    """
    return _find_name(measure, ["measure_name"])


def name_risk(measure: str, detail: str = "") -> Sentence:
    """The name of a measure as a risk of each record, with how it was taken if that is told.

    >>> str(name_risk("k_map")), str(name_risk("individual_risk", "benedetti_franconi"))
    ('risk of being picked out of the population', 'individual risk (benedetti_franconi)')
    """
    name = _find_name(measure, ["risk_name", "measure_name"])
    if not detail:
        return name
    return Sentence(CATALOGUE, "risk_name.detail", {"risk": name, "detail": detail})


def _find_name(measure: str, tables: list[str]) -> Sentence:
    keys = [f"{table}.{measure}" for table in tables]
    key = next((key for key in keys if key in load_catalogue(CATALOGUE)), None)
    if key is None:  # a measure of somebody else's goes by its words
        return Sentence(CATALOGUE, "measure_name.other", {"measure": measure.replace("_", " ")})
    return Sentence(CATALOGUE, key)
