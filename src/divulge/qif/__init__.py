"""Quantitative information flow: what an adversary can know before and after."""

from divulge.qif.prior_posterior import PriorPosterior

__all__ = ["PriorPosterior"]
