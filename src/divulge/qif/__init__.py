"""Quantitative information flow: what a release tells an adversary, in one currency.

A `Hyper` holds what they know before and after; the measures say how well that serves them; the
capacities bound it for every adversary; channels and mechanisms can be put together and compared.
"""

from divulge.qif import gains
from divulge.qif.capacity import (
    ReleaseCapacity,
    ShannonCapacity,
    additive_capacity,
    multiplicative_capacity,
    release_capacity,
    shannon_capacity,
)
from divulge.qif.channels import cascade, dalenius, parallel
from divulge.qif.entropy import guessing_entropy, shannon_entropy
from divulge.qif.gain import Gain
from divulge.qif.hyper import Hyper
from divulge.qif.mechanisms import (
    epsilon,
    exponential,
    geometric,
    randomised_response,
    randomised_rounding,
)
from divulge.qif.prior_posterior import PriorPosterior
from divulge.qif.refinement import Refinement, refinement
from divulge.qif.shift import Move, Shift, posterior_shift
from divulge.qif.vulnerability import (
    bayes_vulnerability,
    deterministic_success,
    g_vulnerability,
    k_guesses_vulnerability,
    worst_case,
    worst_observation,
)

__all__ = [
    "Gain",
    "Hyper",
    "Move",
    "PriorPosterior",
    "Refinement",
    "ReleaseCapacity",
    "ShannonCapacity",
    "Shift",
    "additive_capacity",
    "bayes_vulnerability",
    "cascade",
    "dalenius",
    "deterministic_success",
    "epsilon",
    "exponential",
    "g_vulnerability",
    "gains",
    "geometric",
    "guessing_entropy",
    "k_guesses_vulnerability",
    "multiplicative_capacity",
    "parallel",
    "posterior_shift",
    "randomised_response",
    "randomised_rounding",
    "refinement",
    "release_capacity",
    "shannon_capacity",
    "shannon_entropy",
    "worst_case",
    "worst_observation",
]
