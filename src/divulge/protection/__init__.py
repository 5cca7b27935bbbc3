"""Protection: change the least, explain every change, prove it by attacking again."""

from divulge.protection.changes.decision_log import DecisionLog
from divulge.protection.changes.recodings import capped, pseudonyms, without_identifiers
from divulge.protection.cycle.cycle import protect
from divulge.protection.directives.directives import Directives
from divulge.protection.history.protect import ProtectedHistory, protect_history
from divulge.protection.method.result import MethodKnowledge
from divulge.protection.published_judgement import PublishedJudgement, judge_published
from divulge.protection.recode import recode
from divulge.protection.refill.attack import refill
from divulge.protection.refill.determinants import find_determined_attributes
from divulge.protection.refill.result import Refill
from divulge.protection.refill.search.relations import ColumnRelation
from divulge.protection.result.audit.method_audit import Audit, audit
from divulge.protection.result.audit.sharper_values import Sharpening, SharperValues
from divulge.protection.result.protected import Protected
from divulge.protection.result.recipe import Recipe
from divulge.protection.result.utility import Utility
from divulge.protection.result.utility_map import MapPoint, RiskUtilityMap
from divulge.protection.risk_utility import risk_utility_map
from divulge.protection.suppression.request import OutOfReachError
from divulge.protection.suppression.suppress import suppress

__all__ = [
    "Audit",
    "ColumnRelation",
    "DecisionLog",
    "Directives",
    "MapPoint",
    "MethodKnowledge",
    "OutOfReachError",
    "Protected",
    "ProtectedHistory",
    "PublishedJudgement",
    "Recipe",
    "Refill",
    "RiskUtilityMap",
    "Sharpening",
    "SharperValues",
    "Utility",
    "audit",
    "capped",
    "find_determined_attributes",
    "judge_published",
    "protect",
    "protect_history",
    "pseudonyms",
    "recode",
    "refill",
    "risk_utility_map",
    "suppress",
    "without_identifiers",
]
