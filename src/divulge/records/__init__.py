"""Attacks on records: who is singled out by what an adversary knows of them."""

from divulge.records.anonymity import k_anonymity
from divulge.records.clusters import cluster_risk, household_risk
from divulge.records.frequencies import Frequencies, frequencies
from divulge.records.individual_risk import individual_risk, reidentification_risk
from divulge.records.models import MODELS, attack
from divulge.records.record_risk import RecordRisk
from divulge.records.suda import MinimalUniques, Suda, suda

__all__ = [
    "MODELS",
    "Frequencies",
    "MinimalUniques",
    "RecordRisk",
    "Suda",
    "attack",
    "cluster_risk",
    "frequencies",
    "household_risk",
    "individual_risk",
    "k_anonymity",
    "reidentification_risk",
    "suda",
]
