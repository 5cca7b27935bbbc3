"""Reconstruction: which published totals give the records behind them away."""

from divulge.reconstruction.allocation import Allocation, allocate
from divulge.reconstruction.rounding import RULES, clt_threshold

__all__ = ["RULES", "Allocation", "allocate", "clt_threshold"]
