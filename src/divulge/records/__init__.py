"""Attacks on records: who is singled out by what an adversary knows of them."""

from divulge.records.anonymity import k_anonymity
from divulge.records.models import MODELS, attack

__all__ = ["MODELS", "attack", "k_anonymity"]
