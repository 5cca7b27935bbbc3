"""What each kind of work costs, in nominal seconds: a call, and each of its steps.

Measured by `benchmarks/effort.py --tables`, which attributes the processor's time to what was
charged in it: cheapest patterns and matching attacks of random tables, on one quiet core. Another
processor has other prices; they are not changed for it, because results depend on them.
"""

from __future__ import annotations

from divulge.work import Cost

MAXIMUM_FLOWS = Cost("maximum flows", per_call=3.5e-4, per_step=1.1e-8)
"""A step is an arc, for each cell that is asked for."""

CHEAP_CYCLES = Cost("cheap cycles", per_call=5e-5, per_step=5e-8)
"""A step is an arc."""

CANDIDATES = Cost("candidate tables", per_call=1e-3, per_step=4.3e-6)
"""A step is a candidate, a pattern that is checked, or a node of the search for a better one."""

OTHER_SUPPRESSOR = Cost("suppressor of others", per_call=1e-2, per_step=0.0)
"""A candidate for which a function of the user's is called: what it does cannot be counted."""
