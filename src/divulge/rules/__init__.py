"""Rules: what people who know the business say follows from the data, and why."""

from divulge.rules.language.program import Program

__all__ = ["Program"]
