"""The attacks `records`, `longitudinal`, `linkage` and `risk` of a release."""

from divulge.records.plugin.linkage_attack import LinkageAttack
from divulge.records.plugin.longitudinal_attack import LongitudinalAttack
from divulge.records.plugin.records_attack import RecordsAttack
from divulge.records.plugin.risk_attack import RecordRiskAttack

__all__ = ["LinkageAttack", "LongitudinalAttack", "RecordRiskAttack", "RecordsAttack"]
