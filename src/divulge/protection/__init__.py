"""Protection: change the least, explain every change, prove it by attacking again."""

from divulge.protection.log import DecisionLog
from divulge.protection.protected import Protected
from divulge.protection.suppress import suppress
from divulge.protection.utility import Utility
from divulge.protection.wish import OutOfReachError

__all__ = ["DecisionLog", "OutOfReachError", "Protected", "Utility", "suppress"]
