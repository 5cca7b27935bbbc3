"""Tables of totals: what suppressed cells still disclose, and which cells to suppress."""

from divulge.tables.candidate_tables.enumeration import Candidates, candidates
from divulge.tables.feasibility.assess import assess
from divulge.tables.feasibility.cell_intervals import Intervals, intervals
from divulge.tables.feasibility.disclosure_proof import Disclosure
from divulge.tables.feasibility.insiders import Exposure, exposed_contributors, exposed_to_insiders
from divulge.tables.feasibility.sensitivity import SensitivityRules, sensitive_cells
from divulge.tables.feasibility.table_audit import TableAudit, audit
from divulge.tables.matching.attack import matching_attack
from divulge.tables.matching.result import Matching
from divulge.tables.resistance import FreshDraws, Resistance, fresh_draws
from divulge.tables.suppress import suppress
from divulge.tables.suppression.jj_files import JJ, read_jj, write_jj
from divulge.tables.suppression.optimal import optimal_pattern
from divulge.tables.suppression.problem import SuppressionProblem
from divulge.tables.suppression.result import Suppression
from divulge.tables.table.axis import Axis
from divulge.tables.table.cell_rows import read_cells
from divulge.tables.table.crosstab_files import (
    read_complete_crosstab,
    read_crosstab,
    write_crosstab,
)
from divulge.tables.table.linked_tables import link, link_published
from divulge.tables.table.published import Published
from divulge.tables.table.table import Table

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
    "SensitivityRules",
    "Suppression",
    "SuppressionProblem",
    "Table",
    "TableAudit",
    "assess",
    "audit",
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
