"""Risk that spreads: whoever finds one member of a household or group has found them all.

The risk of a cluster is the chance that at least one member is found, 1 - product(1 - r)
(Bellomarini et al., Sec. 4.4; Hundepool et al. 2012 for households).
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from divulge.assessment import Sentence
from divulge.classes.keys import densify_keys
from divulge.classes.survey_design import number_households
from divulge.data import Dataset
from divulge.records.risk.links.clusters import Clusters
from divulge.records.risk.links.links import read_links
from divulge.records.risk.population.individual import Method, individual_risk
from divulge.records.risk.record_risk import RecordRisk

if TYPE_CHECKING:
    from divulge.records.risk.null_readings import Nulls


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
    members, _ = densify_keys(household, int(household.max(initial=-1)) + 1)
    single = individual_risk(dataset, method, among, nulls, original)
    return spread_risk(single, Clusters(members), "household_risk")


def cluster_risk(
    risk: RecordRisk, links: Any, on: str | None = None, *, original: Dataset | None = None
) -> RecordRisk:
    """The chance, for each record, that somebody it is linked to is found.

    Args:
        risk: the risk of each record, of any measure.
        links: an attribute whose equal values link records; pairs of linked records (an Arrow
            table or a dataset of two columns, or tuples); a table of settings (`dataset`,
            `columns`, `on`, `unknown`); or `Links`. Chains of links make one cluster, also by way
            of ids that no record has.
        on: the attribute whose values the pairs name; the number of the record (from 0) if None.
        original: the same records before protection, where that has hidden what links them.

    >>> import divulge as dv
    >>> companies = dv.datasets.inflation_and_growth_example()
    >>> risk = dv.records.reidentification_risk(companies)
    >>> linked = cluster_risk(risk, [(612276, 737536), (737536, 971906)], on="Id")
    >>> linked.values[:4].round(4).tolist()
    [0.0237, 0.0237, 0.0237, 0.0167]
    """
    found = read_links(links, on).find_clusters(risk.dataset if original is None else original)
    return spread_risk(risk, found, "cluster_risk")


def spread_risk(risk: RecordRisk, clusters: Clusters, measure: str) -> RecordRisk:
    """The risk of each record as that of its cluster."""
    figures = {
        **risk.figures,
        "clusters": clusters.count,
        "largest_cluster": int(clusters.sizes.max()),
    }
    return RecordRisk(
        values=clusters.combine_risks(risk.values),
        measure=measure,
        dataset=risk.dataset,
        attributes=risk.attributes,
        claim=risk.claim,
        notes=risk.notes,
        figures=figures,
        detail=risk.detail,
    )


def describe_links(clusters: Clusters, dataset: Dataset) -> tuple[Sentence, ...]:
    """How many records are linked, and by how many that are no record."""
    values = {
        "linked": clusters.linked,
        "clusters": int((clusters.sizes > 1).sum()),
        "largest": int(clusters.sizes.max(initial=0)),
        "total": int(clusters.of_record.size),
        "subjects": dataset.subjects,
        "outsiders": clusters.outsiders,
    }
    sentences = [Sentence("divulge.records", "links.clusters", values)]
    if clusters.outsiders:
        sentences.append(Sentence("divulge.records", "links.outsiders", values))
    return tuple(sentences)
