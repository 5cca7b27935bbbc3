"""Reconstruction: which published totals give the records behind them away."""

from divulge.reconstruction.agreement import agreement
from divulge.reconstruction.allocation import allocate
from divulge.reconstruction.audit import reconstruct
from divulge.reconstruction.auditing.prior import Prior
from divulge.reconstruction.auditing.totals import Totals
from divulge.reconstruction.auditing.truth import true_places
from divulge.reconstruction.problem.generalisation import Generalised
from divulge.reconstruction.problem.rounding import RULES, clt_threshold
from divulge.reconstruction.remedies.remedies import REMEDIES, Remedies, Remedy, what_would_help
from divulge.reconstruction.reporting.allocation_result import Allocation
from divulge.reconstruction.reporting.result import Reconstruction

__all__ = [
    "REMEDIES",
    "RULES",
    "Allocation",
    "Generalised",
    "Prior",
    "Reconstruction",
    "Remedies",
    "Remedy",
    "Totals",
    "agreement",
    "allocate",
    "clt_threshold",
    "reconstruct",
    "true_places",
    "what_would_help",
]
