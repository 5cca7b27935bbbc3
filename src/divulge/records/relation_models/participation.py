"""Participation in a sample, for records that stay where they are."""

from __future__ import annotations

from math import fsum
from typing import TYPE_CHECKING, Any

import numpy as np

from divulge.classes.relation.record_view import join_names
from divulge.classes.relation.weights import WEIGHT, require_relation_weights, weigh_by_attribute
from divulge.records.relation_models.target import TARGET, read_target
from divulge.records.risk.population.individual import approximate_risk

if TYPE_CHECKING:
    from divulge.records.relation_models.request import RelationRequest


def count_found_in_relation(request: RelationRequest, target: Any) -> float:
    """How many records are expected to be found by somebody who does not know who took part.

    Classes with as many records and the same weight come home together.
    """
    focal = request.focal
    [name] = focal.dictionary.having("weight")
    require_relation_weights(focal, name)
    weighed = weigh_by_attribute(focal, request.linked.view, name, focal.find_column(name))
    sums = f"count(*) AS size, sum({WEIGHT}) AS weight"
    with weighed.view.open() as session:
        if target is None:
            classes = f"SELECT {sums} FROM records GROUP BY {join_names(request.columns)}"
        else:
            matching = read_target(request.linked, request.known, target)
            matching.register(session)
            classes = f"SELECT {sums} FROM records AS r JOIN {TARGET} AS t ON {matching.condition}"
        found = session.table(
            f"SELECT size, weight, count(*) AS n FROM ({classes}) AS c GROUP BY size, weight"
        )
    size = found.column("size").to_numpy().astype(np.float64)
    weight = np.array([float(each) for each in found.column("weight").to_pylist()])
    weight /= float(weighed.unit)
    expected = fsum(
        size * found.column("n").to_numpy() * approximate_risk(size, np.maximum(weight, size))
    )
    return expected if target is None else expected / float(size[0])
