"""The product's local recodings as schemes of plain records, to be held against plain ones."""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise
from string import ascii_lowercase
from typing import Literal

import pyarrow as pa
from tests.protection.recoding.plain_schemes import LADDERS, LEAST, Draws, Ladders, Node, Records

from divulge import Dataset
from divulge.protection.changes.recodings import add_hierarchies
from divulge.protection.recoding.class_tests import SizeTest
from divulge.protection.recoding.lattice import build_lattice
from divulge.protection.recoding.local.clusters import find_clusters
from divulge.protection.recoding.local.nested import find_nested_levels

LocalSearch = Literal["nested", "clusters"]
SEARCHES = {"nested": find_nested_levels, "clusters": find_clusters}


def write_node(node: Node) -> str:
    """A node as a text that no other has."""
    return "-".join(map(str, sorted(node)))


def make_dataset(records: Records, ladders: Ladders = LADDERS) -> Dataset:
    """Records as texts, with hierarchies."""
    names = list(ascii_lowercase[: len(ladders)])
    columns = {name: [str(record[a]) for record in records] for a, name in enumerate(names)}
    dataset = Dataset.from_arrow(pa.table(columns), roles={"quasi_identifier": names})
    pairs = {
        name: list(
            dict.fromkeys(
                pair for ladder in ladders[a] for pair in pairwise(map(write_node, ladder))
            )
        )
        for a, name in enumerate(names)
    }
    return add_hierarchies(dataset, pairs)


def recode_by_product(
    records: Records,
    search: LocalSearch,
    *,
    ladders: Ladders = LADDERS,
    least: int = LEAST,
    seed: int = 0,
) -> Draws:
    """What the product shows of each record."""
    dataset = make_dataset(records, ladders)
    names = tuple(dataset.names)
    lattice = build_lattice(dataset, names)
    outcome = SEARCHES[search](lattice, [SizeTest(names, least)], seed=seed)
    levels = outcome.levels[:, lattice.unit_of_record].T.tolist()
    shown = tuple(
        tuple(
            ladders[a][value][level]
            for a, (value, level) in enumerate(zip(record, at, strict=True))
        )
        for record, at in zip(records, levels, strict=True)
    )
    return [(Fraction(1), shown)]
