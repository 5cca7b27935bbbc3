"""Tables of totals: what suppressed cells still disclose, and which cells to suppress."""

from divulge.tables.assessing import assess
from divulge.tables.audit import Intervals, intervals
from divulge.tables.axis import Axis
from divulge.tables.candidates import Candidates, candidates
from divulge.tables.cells import read_cells
from divulge.tables.disclosure import Disclosure
from divulge.tables.files import (
    JJ,
    read_complete_crosstab,
    read_crosstab,
    read_jj,
    write_crosstab,
    write_jj,
)
from divulge.tables.insiders import Exposure, exposed_contributors, exposed_to_insiders
from divulge.tables.linking import link, link_published
from divulge.tables.matched import Matching
from divulge.tables.matching import matching_attack
from divulge.tables.optimal import optimal_pattern
from divulge.tables.problem import SuppressionProblem
from divulge.tables.published import Published
from divulge.tables.resistance import FreshDraws, Resistance, fresh_draws
from divulge.tables.sensitivity import sensitive_cells
from divulge.tables.suppress import Suppression, suppress
from divulge.tables.table import Table

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
    "SuppressionProblem",
    "Table",
    "assess",
    "candidates",
    "exposed_contributors",
    "exposed_to_insiders",
    "fresh_draws",
    "intervals",
    "link",
    "link_published",
    "matching_attack",
    "optimal_pattern",
    "read_cells",
    "read_complete_crosstab",
    "read_crosstab",
    "read_jj",
    "sensitive_cells",
    "suppress",
    "write_crosstab",
    "write_jj",
]
