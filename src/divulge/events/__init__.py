"""Attacks on event histories: who is found by somebody who knows a little of what they did."""

from divulge.events.assess import EventAssessment
from divulge.events.attack import attack
from divulge.events.estimates import Estimate, Marginals, estimate
from divulge.events.history.history import History
from divulge.events.history.presets import PRESETS
from divulge.events.knowledge.attacker import Attacker
from divulge.events.knowledge_risk import KnowledgeRisk, KnowledgeRisks, list_knowledge_risks
from divulge.events.ten_attackers import TEN, TenAttackers, ten_attackers
from divulge.events.unicity import UnicityCurve, unicity, unicity_curve

__all__ = [
    "PRESETS",
    "TEN",
    "Attacker",
    "Estimate",
    "EventAssessment",
    "History",
    "KnowledgeRisk",
    "KnowledgeRisks",
    "Marginals",
    "TenAttackers",
    "UnicityCurve",
    "attack",
    "estimate",
    "list_knowledge_risks",
    "ten_attackers",
    "unicity",
    "unicity_curve",
]
