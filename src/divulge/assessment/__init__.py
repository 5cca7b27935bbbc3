"""What an attack finds, in one currency: assessments, limits, decisions, sentences, charts."""

from divulge.assessment.assessment import Assessment, Claim, Finding, Most, Number
from divulge.assessment.attack import (
    Adversary,
    Attack,
    Measure,
    Measurement,
    attacks,
    measures,
)
from divulge.assessment.breakdown import Breakdown
from divulge.assessment.chart import Chart
from divulge.assessment.decision import Decision
from divulge.assessment.details import Details
from divulge.assessment.drawing import ChartNotDrawn
from divulge.assessment.information import in_words
from divulge.assessment.limit import Limit, Outcome
from divulge.assessment.sentence import Sentence

__all__ = [
    "Adversary",
    "Assessment",
    "Attack",
    "Breakdown",
    "Chart",
    "ChartNotDrawn",
    "Claim",
    "Decision",
    "Details",
    "Finding",
    "Limit",
    "Measure",
    "Measurement",
    "Most",
    "Number",
    "Outcome",
    "Sentence",
    "attacks",
    "in_words",
    "measures",
]
