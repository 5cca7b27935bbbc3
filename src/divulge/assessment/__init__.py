"""What an attack finds, in one currency: assessments, limits, decisions, sentences, charts."""

from divulge.assessment.assessment import Assessment, Claim, Finding, Most, Number
from divulge.assessment.attack import (
    Adversary,
    Attack,
    AttackDefaults,
    LimitedAdversary,
    Measure,
    Measurement,
    ProtectedPart,
    ProtectionPlan,
    PublicRule,
    PublishedTable,
)
from divulge.assessment.breakdown import Breakdown
from divulge.assessment.chart import Chart
from divulge.assessment.decision import Decision
from divulge.assessment.details import Details
from divulge.assessment.drawing import ChartNotDrawn
from divulge.assessment.information import in_words
from divulge.assessment.limit import Limit
from divulge.assessment.outcome import Outcome
from divulge.assessment.registry import PluginError, attacks, find_attack, measures
from divulge.assessment.sentence import Sentence

__all__ = [
    "Adversary",
    "Assessment",
    "Attack",
    "AttackDefaults",
    "Breakdown",
    "Chart",
    "ChartNotDrawn",
    "Claim",
    "Decision",
    "Details",
    "Finding",
    "Limit",
    "LimitedAdversary",
    "Measure",
    "Measurement",
    "Most",
    "Number",
    "Outcome",
    "PluginError",
    "ProtectedPart",
    "ProtectionPlan",
    "PublicRule",
    "PublishedTable",
    "Sentence",
    "attacks",
    "find_attack",
    "in_words",
    "measures",
]
