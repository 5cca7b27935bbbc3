"""Reconstruction: which published totals give the records behind them away."""

from divulge.reconstruction.agreement import agreement
from divulge.reconstruction.allocated import Allocation
from divulge.reconstruction.allocation import allocate
from divulge.reconstruction.audit import reconstruct
from divulge.reconstruction.findings import Reconstruction
from divulge.reconstruction.generalised import Generalised
from divulge.reconstruction.prior import Prior
from divulge.reconstruction.remedies import REMEDIES, Remedies, Remedy, what_would_help
from divulge.reconstruction.rounding import RULES, clt_threshold
from divulge.reconstruction.totals import Totals
from divulge.reconstruction.truth import true_places

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
