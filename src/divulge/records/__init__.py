"""Attacks on records: who is singled out, and what is inferred, by what an adversary knows."""

from divulge.records.attack_arguments import EVERYDAY_NAMES, MODELS
from divulge.records.attack_models import attack
from divulge.records.linkage.linkage import candidates, link
from divulge.records.longitudinal import Growth, longitudinal, longitudinal_of_each
from divulge.records.risk.class_measures.class_measure import ClassMeasure
from divulge.records.risk.class_measures.disclosure import disclosure_risk
from divulge.records.risk.class_measures.k_anonymity import anonymity_of_each, k_anonymity
from divulge.records.risk.class_measures.l_diversity import (
    beta_likeness,
    delta_disclosure,
    distinct_l_diversity,
    entropy_l_diversity,
    recursive_l_diversity,
)
from divulge.records.risk.class_measures.t_closeness import t_closeness
from divulge.records.risk.custom_risk import custom_risk
from divulge.records.risk.frequencies.frequencies import frequencies
from divulge.records.risk.frequencies.result import Frequencies
from divulge.records.risk.links.group_risk import cluster_risk, household_risk
from divulge.records.risk.links.links import Links
from divulge.records.risk.masked_numbers import distance_linkage, interval_disclosure
from divulge.records.risk.population.individual import individual_risk, reidentification_risk
from divulge.records.risk.population.population_risk import (
    Presence,
    delta_presence,
    journalist_risk,
    k_map,
    marketer_risk,
    prosecutor_risk,
)
from divulge.records.risk.population.population_uniques import PopulationUniques, population_uniques
from divulge.records.risk.population.three_attackers import ThreeAttackers, three_attackers
from divulge.records.risk.record_risk import RecordRisk
from divulge.records.risk.uniques.special_sets import MinimalUniques
from divulge.records.risk.uniques.suda import Suda, suda
from divulge.records.risk.uniques.unique_sizes import minimal_unique_size
from divulge.records.sweep.result import Sweep
from divulge.records.sweep.sweep import sweep
from divulge.records.unlinked.unlinked_years import unlinked_years

__all__ = [
    "EVERYDAY_NAMES",
    "MODELS",
    "ClassMeasure",
    "Frequencies",
    "Growth",
    "Links",
    "MinimalUniques",
    "PopulationUniques",
    "Presence",
    "RecordRisk",
    "Suda",
    "Sweep",
    "ThreeAttackers",
    "anonymity_of_each",
    "attack",
    "beta_likeness",
    "candidates",
    "cluster_risk",
    "custom_risk",
    "delta_disclosure",
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
    "link",
    "longitudinal",
    "longitudinal_of_each",
    "marketer_risk",
    "minimal_unique_size",
    "population_uniques",
    "prosecutor_risk",
    "recursive_l_diversity",
    "reidentification_risk",
    "suda",
    "sweep",
    "t_closeness",
    "three_attackers",
    "unlinked_years",
]
