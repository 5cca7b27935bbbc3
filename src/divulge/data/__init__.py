"""Data as Divulge holds them: columns of small codes, the dictionary of attributes, hierarchies."""

from divulge.data.categorisation import Categorisation, Proposal, categorise
from divulge.data.column import Column
from divulge.data.dataset import Dataset
from divulge.data.dictionary import ROLES, Attribute, Dictionary, MissingCode, Role
from divulge.data.dictionary_check import Remark, compare
from divulge.data.hierarchy import Hierarchy
from divulge.data.hierarchy_proposals import HierarchyProposal, propose_hierarchy
from divulge.data.hierarchy_tree import HierarchyTree, build_hierarchy_tree
from divulge.data.known_attributes import Experience
from divulge.data.source import Source, read
from divulge.data.weight_estimation import EstimatedWeights, estimate_weights

__all__ = [
    "ROLES",
    "Attribute",
    "Categorisation",
    "Column",
    "Dataset",
    "Dictionary",
    "EstimatedWeights",
    "Experience",
    "Hierarchy",
    "HierarchyProposal",
    "HierarchyTree",
    "MissingCode",
    "Proposal",
    "Remark",
    "Role",
    "Source",
    "build_hierarchy_tree",
    "categorise",
    "compare",
    "estimate_weights",
    "propose_hierarchy",
    "read",
]
