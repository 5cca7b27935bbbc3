"""Attacks on records: who is singled out, and what is inferred, by what an adversary knows."""

from divulge.records.anonymity import k_anonymity
from divulge.records.linkage import link
from divulge.records.longitudinal import Growth, longitudinal, longitudinal_of_each
from divulge.records.models import EVERYDAY_NAMES, MODELS, attack
from divulge.records.sweep import sweep
from divulge.records.sweep_result import Sweep

__all__ = [
    "EVERYDAY_NAMES",
    "MODELS",
    "Growth",
    "Sweep",
    "attack",
    "k_anonymity",
    "link",
    "longitudinal",
    "longitudinal_of_each",
    "sweep",
]
