"""Risk that spreads: whoever finds one member of a household or group has found them all.

The risk of a cluster is the chance that at least one member is found, 1 - product(1 - r)
(Bellomarini et al., Sec. 4.4; Hundepool et al. 2012 for households).
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import numpy as np

from divulge.classes.keys import densify_keys
from divulge.classes.people import require_one_record_each
from divulge.classes.survey_design import number_households
from divulge.data import Dataset
from divulge.records.risk.individual import Method, individual_risk
from divulge.records.risk.record_risk import RecordRisk
from divulge.work import InvalidInput, Problem, Problems
from divulge.work.arrays import Floats, Ints

if TYPE_CHECKING:
    import pyarrow as pa

    from divulge.records.risk.frequencies import Nulls


def household_risk(
    dataset: Dataset,
    method: Method = "approximate",
    among: str | Iterable[str] | None = None,
    nulls: Nulls = "bayes",
    original: Dataset | None = None,
) -> RecordRisk:
    """The chance, for each record, that somebody of its household is found.

    The household is the attribute with the role household; whoever has none is one alone.

    >>> import pyarrow as pa
    >>> people = Dataset.from_arrow(
    ...     pa.table({"age": [30, 31, 30, 31], "home": [1, 1, 2, 3]}),
    ...     roles={"quasi_identifier": ["age"], "household": "home"},
    ... )
    >>> household_risk(people).values.tolist()
    [0.75, 0.75, 0.5, 0.5]
    """
    household = number_households(dataset)
    single = individual_risk(dataset, method, among, nulls, original)
    return _spread_over_clusters(single, household, "household_risk")


def cluster_risk(
    risk: RecordRisk, links: str | pa.Table | Iterable[tuple[Any, Any]], on: str | None = None
) -> RecordRisk:
    """The chance, for each record, that somebody it is linked to is found.

    Args:
        risk: the risk of each record, of any measure.
        links: an attribute whose equal values link records, or pairs of linked records (an Arrow
            table of two columns, or tuples). Chains of links make one cluster.
        on: the attribute whose values the pairs name; the number of the record (from 0) if None.

    >>> import divulge as dv
    >>> companies = dv.datasets.inflation_and_growth_example()
    >>> risk = dv.records.reidentification_risk(companies)
    >>> linked = cluster_risk(risk, [(612276, 737536), (737536, 971906)], on="Id")
    >>> linked.values[:4].round(4).tolist()
    [0.0237, 0.0237, 0.0237, 0.0167]
    """
    dataset = risk.dataset
    require_one_record_each(dataset, "clusters are of records")
    if isinstance(links, str):
        [name] = dataset.attributes(links, "links")
        column = dataset.columns[name]
        cluster = column.codes.astype(np.int64)
        alone = cluster == column.missing_code
        cluster[alone] = column.missing_code + np.arange(int(alone.sum()))
        return _spread_over_clusters(risk, cluster, "cluster_risk")
    return _spread_over_clusters(
        risk, _find_components(dataset, _read_pairs(links), on), "cluster_risk"
    )


def _spread_over_clusters(risk: RecordRisk, cluster: Ints, measure: str) -> RecordRisk:
    members, size = densify_keys(cluster, int(cluster.max(initial=-1)) + 1)
    # In logarithms, so that a thousand small risks do not round to none; log(0) is a certain find.
    with np.errstate(divide="ignore"):
        nobody = np.bincount(members, np.log1p(-risk.values), minlength=size)
    values: Floats = -np.expm1(nobody)[members]
    largest = int(np.bincount(members).max())
    figures = {**risk.figures, "clusters": size, "largest_cluster": largest}
    return RecordRisk(
        values=values,
        measure=measure,
        dataset=risk.dataset,
        attributes=risk.attributes,
        claim=risk.claim,
        notes=risk.notes,
        figures=figures,
        detail=risk.detail,
    )


def _read_pairs(links: pa.Table | Iterable[tuple[Any, Any]]) -> list[tuple[Any, Any]]:
    import pyarrow as pa

    if isinstance(links, pa.Table):
        if links.num_columns != 2:
            message = f"has {links.num_columns} columns; a table of pairs has two."
            raise InvalidInput("links", [Problem("", message)])
        first, second = (column.to_pylist() for column in links.columns)
        return list(zip(first, second, strict=True))
    return [(first, second) for first, second in links]


def _find_components(dataset: Dataset, pairs: list[tuple[Any, Any]], on: str | None) -> Ints:
    """The connected component of each record."""
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    first, second = _locate_ends(dataset, pairs, on)
    graph = coo_array((np.ones(first.size), (first, second)), shape=(dataset.rows, dataset.rows))
    _, component = connected_components(graph, directed=False)
    cluster_of_record: Ints = component.astype(np.int64)
    return cluster_of_record


def _locate_ends(
    dataset: Dataset, pairs: list[tuple[Any, Any]], on: str | None
) -> tuple[Ints, Ints]:
    """Both ends of the links as record numbers; what names no record is gathered and said."""
    problems = Problems("links")
    if on is None:
        records_by_name = {number: [number] for number in range(dataset.rows)}
    else:
        [on] = dataset.attributes(on, "on")
        column = dataset.columns[on]
        records_by_name = {}
        for number, code in enumerate(column.codes.tolist()):
            if code != column.missing_code:
                records_by_name.setdefault(column.value(code), []).append(number)
    unknown = sum(end not in records_by_name for pair in pairs for end in pair)
    if unknown:
        message = f"{unknown:,} of {2 * len(pairs):,} ends name no record of the dataset."
        problems.add("", message)
    problems.raise_any()
    first, second = [], []
    for one, other in pairs:
        # Several records with one name are one thing: they are linked among themselves too.
        linked_records = [*records_by_name[one], *records_by_name[other]]
        first.extend([linked_records[0]] * (len(linked_records) - 1))
        second.extend(linked_records[1:])
    return np.array(first, np.int64), np.array(second, np.int64)
