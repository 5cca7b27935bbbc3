"""Tables of totals: what suppressed cells still disclose, and which cells to suppress."""

from divulge.tables.assessing import assess
from divulge.tables.audit import Intervals, intervals
from divulge.tables.axis import Axis
from divulge.tables.candidates import Candidates, candidates
from divulge.tables.disclosure import Disclosure
from divulge.tables.files import (
    JJ,
    read_complete_crosstab,
    read_crosstab,
    read_jj,
    write_crosstab,
    write_jj,
)
from divulge.tables.insiders import Exposure, exposed_contributors
from divulge.tables.matched import Matching
from divulge.tables.matching import matching_attack
from divulge.tables.resistance import FreshDraws, Resistance, fresh_draws
from divulge.tables.sensitivity import sensitive_cells
from divulge.tables.suppress import Suppression, suppress
from divulge.tables.table import Published, Table, link, link_published

__all__ = [
    "JJ",
    "Axis",
    "Candidates",
    "Disclosure",
    "Exposure",
    "FreshDraws",
    "Intervals",
    "Matching",
    "Published",
    "Resistance",
    "Suppression",
    "Table",
    "assess",
    "candidates",
    "exposed_contributors",
    "fresh_draws",
    "intervals",
    "link",
    "link_published",
    "matching_attack",
    "read_complete_crosstab",
    "read_crosstab",
    "read_jj",
    "sensitive_cells",
    "suppress",
    "write_crosstab",
    "write_jj",
]
