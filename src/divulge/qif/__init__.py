"""Quantitative information flow: what an adversary can know before and after. Imports no other part."""

from divulge.qif.prior_posterior import PriorPosterior

__all__ = ["PriorPosterior"]
