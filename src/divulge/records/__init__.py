"""Attacks on records: who is singled out by what an adversary knows of them."""

from divulge.records.anonymity import k_anonymity
from divulge.records.class_measure import ClassMeasure
from divulge.records.closeness import t_closeness
from divulge.records.clusters import cluster_risk, household_risk
from divulge.records.continuous import distance_linkage, interval_disclosure
from divulge.records.disclosure_risk import disclosure_risk
from divulge.records.diversity import (
    beta_likeness,
    distinct_l_diversity,
    entropy_l_diversity,
    recursive_l_diversity,
)
from divulge.records.frequencies import Frequencies, frequencies
from divulge.records.individual_risk import individual_risk, reidentification_risk
from divulge.records.models import MODELS, attack
from divulge.records.population_models import PopulationUniques, population_uniques
from divulge.records.presence import (
    delta_presence,
    journalist_risk,
    k_map,
    prosecutor_risk,
    three_attackers,
)
from divulge.records.record_risk import RecordRisk
from divulge.records.special_sets import MinimalUniques
from divulge.records.suda import Suda, suda

__all__ = [
    "MODELS",
    "ClassMeasure",
    "Frequencies",
    "MinimalUniques",
    "PopulationUniques",
    "RecordRisk",
    "Suda",
    "attack",
    "beta_likeness",
    "cluster_risk",
    "delta_presence",
    "disclosure_risk",
    "distance_linkage",
    "distinct_l_diversity",
    "entropy_l_diversity",
    "frequencies",
    "household_risk",
    "individual_risk",
    "interval_disclosure",
    "journalist_risk",
    "k_anonymity",
    "k_map",
    "population_uniques",
    "prosecutor_risk",
    "recursive_l_diversity",
    "reidentification_risk",
    "suda",
    "t_closeness",
    "three_attackers",
]
