"""Data as Divulge holds them: columns of small codes, the dictionary of attributes, hierarchies."""

from divulge.data.column import Column
from divulge.data.data_summary import AttributeSummary, DataSummary, summarise, summarise_attribute
from divulge.data.dataset import Dataset
from divulge.data.dictionary import ROLES, Attribute, Dictionary, MissingCode, Role
from divulge.data.dictionary_check import Remark, compare
from divulge.data.hierarchies.hierarchy import Hierarchy
from divulge.data.hierarchy_tree import HierarchyTree, build_hierarchy_tree
from divulge.data.proposals.categorisation import Categorisation, categorise
from divulge.data.proposals.dataset_kind import KindProposal, propose_kind
from divulge.data.proposals.hierarchy_proposals import HierarchyProposal, propose_hierarchy
from divulge.data.proposals.known_attributes import Experience
from divulge.data.proposals.proposal import Proposal
from divulge.data.proposals.weight_estimation import EstimatedWeights, estimate_weights
from divulge.data.relation.lake_scan import scan
from divulge.data.relation.relation import Relation
from divulge.data.source import Source, read

__all__ = [
    "ROLES",
    "Attribute",
    "AttributeSummary",
    "Categorisation",
    "Column",
    "DataSummary",
    "Dataset",
    "Dictionary",
    "EstimatedWeights",
    "Experience",
    "Hierarchy",
    "HierarchyProposal",
    "HierarchyTree",
    "KindProposal",
    "MissingCode",
    "Proposal",
    "Relation",
    "Remark",
    "Role",
    "Source",
    "build_hierarchy_tree",
    "categorise",
    "compare",
    "estimate_weights",
    "propose_hierarchy",
    "propose_kind",
    "read",
    "scan",
    "summarise",
    "summarise_attribute",
]
