"""Data as Divulge holds them: columns of small codes, the dictionary of attributes, hierarchies."""

from divulge.data.column import Column
from divulge.data.dataset import Dataset
from divulge.data.dictionary import ROLES, Attribute, Dictionary, Role
from divulge.data.hierarchy import Hierarchy
from divulge.data.reading import Source, read

__all__ = [
    "ROLES",
    "Attribute",
    "Column",
    "Dataset",
    "Dictionary",
    "Hierarchy",
    "Role",
    "Source",
    "read",
]
