"""What the solvers cost, in nominal seconds: a call, and each of its steps.

Measured by `benchmarks/effort.py`, and what tables need of them by its `--tables`, on one quiet
core. Another processor has other prices; they are not changed for it, because results depend on
them.
"""

from __future__ import annotations

from divulge.work import Cost

CP_SAT_SEARCH = Cost("CP-SAT", per_call=6e-3, per_step=1.4)
"""A step is a second of its deterministic time; a call is presolve of a small model."""

CP_SAT_MODEL = Cost("model for CP-SAT", per_call=5e-3, per_step=4e-6)
"""A step is a coefficient."""

MIN_CP_SAT_TIME = 0.01
"""Seconds of deterministic time that CP-SAT has at the least: with less, nothing is ever found.
Chosen by hand; no benchmark isolates it."""

SIMPLEX = Cost("linear program", per_call=3.5e-4, per_step=1.8e-8)
"""A step is a row or column of the program, at each iteration of the simplex method."""
