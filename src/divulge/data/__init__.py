"""Data as Divulge holds them: columns of small codes, the dictionary of attributes, hierarchies."""

from divulge.data.categorisation import Categorisation, Proposal, categorise
from divulge.data.column import Column
from divulge.data.dataset import Dataset
from divulge.data.dictionary import ROLES, Attribute, Dictionary, MissingCode, Role
from divulge.data.experience import Experience
from divulge.data.hierarchy import Hierarchy
from divulge.data.reading import Source, read

__all__ = [
    "ROLES",
    "Attribute",
    "Categorisation",
    "Column",
    "Dataset",
    "Dictionary",
    "Experience",
    "Hierarchy",
    "MissingCode",
    "Proposal",
    "Role",
    "Source",
    "categorise",
    "read",
]
