"""Tables of totals: what suppressed cells still disclose, and which cells to suppress."""

from divulge.tables.audit import Intervals, intervals
from divulge.tables.axis import Axis
from divulge.tables.disclosure import Disclosure
from divulge.tables.sensitivity import sensitive_cells
from divulge.tables.suppress import Suppression, suppress
from divulge.tables.table import Published, Table, link, link_published

__all__ = [
    "Axis",
    "Disclosure",
    "Intervals",
    "Published",
    "Suppression",
    "Table",
    "intervals",
    "link",
    "link_published",
    "sensitive_cells",
    "suppress",
]
