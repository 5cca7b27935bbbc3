"""Protection: change the least, explain every change, prove it by attacking again."""

from divulge.protection.audit import Audit, audit
from divulge.protection.comparison import RiskUtilityMap, risk_utility_map
from divulge.protection.cycle import protect
from divulge.protection.histories import ProtectedHistory, protect_history
from divulge.protection.log import DecisionLog
from divulge.protection.protected import Protected
from divulge.protection.recode import recode
from divulge.protection.recodings import capped, pseudonyms, without_identifiers
from divulge.protection.suppress import suppress
from divulge.protection.utility import Utility
from divulge.protection.wish import OutOfReachError

__all__ = [
    "Audit",
    "DecisionLog",
    "OutOfReachError",
    "Protected",
    "ProtectedHistory",
    "RiskUtilityMap",
    "Utility",
    "audit",
    "capped",
    "protect",
    "protect_history",
    "pseudonyms",
    "recode",
    "risk_utility_map",
    "suppress",
    "without_identifiers",
]
