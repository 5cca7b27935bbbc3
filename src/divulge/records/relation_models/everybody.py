"""Attacks on everybody where an engine counts: the figures that follow from its small tables."""

from __future__ import annotations

from fractions import Fraction
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from divulge.assessment import Assessment, Breakdown
from divulge.assessment.assessment import as_count_share
from divulge.classes.people import People
from divulge.classes.relation.classes import SecretCounts, count_view_classes, count_view_secrets
from divulge.classes.relation.record_figures import (
    build_risk_query,
    require_place_of_figures,
    write_figures,
)
from divulge.classes.relation.record_view import EVERYBODY
from divulge.classes.relation.weights import (
    WeighedCounts,
    WeighedView,
    count_people_sizes,
    count_weighed,
)
from divulge.engines import ClassSizes
from divulge.qif import PriorPosterior
from divulge.records.inference import charts
from divulge.records.inference.people_secrets import plain_number
from divulge.records.models.everybody import assess_counts, describe_attack
from divulge.records.models.people import SUBJECTS, describe_people
from divulge.records.relation_models.breakdown import break_down
from divulge.records.relation_models.request import RelationRequest
from divulge.records.relation_models.worth import compute_worth


def assess_relation(request: RelationRequest) -> Assessment:
    """What is inferred of all records, or of all people, of a relation."""
    if request.person is not None:
        return _assess_people(request)
    rows = request.focal.rows
    sizes: ClassSizes
    if request.weighed is not None:
        after = count_weighed(request.weighed, request.columns, request.secret)
        before = count_weighed(request.weighed, [EVERYBODY], request.secret)
        sizes, highest = after.sizes, as_count_share(after.highest, rows)
        counts = _gather_weighed(before, after, rows)
    elif request.sought:
        secrets = count_view_secrets(request.linked.view, request.columns, request.secret)
        sizes, highest = secrets.sizes, as_count_share(secrets.highest, rows)
        counts = _gather_secrets(secrets, rows)
    else:
        sizes = count_view_classes(request.linked.view, request.columns)
        highest, counts = Fraction(1, sizes.smallest), _gather_classes(sizes, rows)
    worth = compute_worth(request, sizes)
    if worth is not None:
        counts["probabilistic"] = np.array(worth)
    figures: dict[str, float] = {}
    if request.model.endswith("L") or request.is_prefix:
        figures = {"datasets": len(request.linked.relations), "records_dropped": 0}

    def break_down_by(group: str) -> Breakdown:
        return break_down(request, group, _describe(request))

    return assess_counts(
        request.focal,
        counts,
        request.known,
        seeks=request.sought,
        model=request.model,
        gain=request.gain,
        figures=figures,
        weighed=request.prior is not None,
        _breakdown=break_down_by,
        _highest=lambda: highest,
        _write_risk=partial(_write_risk, request),
    )


def _write_risk(request: RelationRequest, path: Path, id_: str | None, overwrite: bool) -> None:
    """The probability that the adversary gives to the truth about each record."""
    name = require_place_of_figures(request.focal, path, id_)
    weighed = request.weighed
    sql = build_risk_query(
        request.focal.find_column(name),
        request.columns,
        request.secret,
        is_weighed=weighed is not None,
    )
    view = request.linked.view if weighed is None else weighed.view
    write_figures(view, sql, path, [name, "risk"], overwrite=overwrite)


def _describe(request: RelationRequest) -> Any:
    return describe_attack(
        request.focal, request.known, request.sought, request.model, request.prior is not None
    )


def _gather_classes(sizes: ClassSizes, rows: int) -> dict[str, npt.NDArray[Any]]:
    certain, right = (int(rows == 1), sizes.singletons), (1.0, float(sizes.count))
    return _gather(sizes, certain, right, float(sizes.count), rows)


def _gather_secrets(secrets: SecretCounts, rows: int) -> dict[str, npt.NDArray[Any]]:
    certain = (rows if secrets.kinds == 1 else 0, secrets.pure)
    right = (float(secrets.commonest), float(secrets.best))
    return _gather(secrets.sizes, certain, right, secrets.capacity, rows)


def _gather_weighed(
    before: WeighedCounts, after: WeighedCounts, rows: int
) -> dict[str, npt.NDArray[Any]]:
    certain = before.certain, after.certain
    right = tuple(each.best / each.total * rows for each in (before, after))
    counts = _gather(after.sizes, certain, (right[0], right[1]), after.capacity, rows)
    counts["deterministic"] = np.array(
        [each.certain_weight / each.total for each in (before, after)]
    )
    return counts


def _gather(
    sizes: ClassSizes,
    certain: tuple[int, int],
    right: tuple[float, float],
    capacity: float,
    rows: int,
) -> dict[str, npt.NDArray[Any]]:
    """What `assess_counts` takes."""
    return {
        "size": sizes.size,
        "classes": sizes.classes,
        "certain": np.array(certain),
        "right": np.array(right),
        "deterministic": np.array(certain) / rows,
        "probabilistic": np.array(right) / rows,
        "capacity": np.array([capacity]),
    }


def _assess_people(request: RelationRequest) -> Assessment:
    """People of whom one record is known, drawn at random among theirs: they are counted."""
    weighed = request.weighed
    assert weighed is not None and request.person is not None  # noqa: S101, PT018  # people weigh
    after = count_weighed(weighed, request.columns, request.secret)
    before = count_weighed(weighed, [EVERYBODY], request.secret)
    number = request.people
    person = request.focal.find_column(request.person)
    sizes = count_people_sizes(request.linked.view, request.columns, person)
    certain = _pair(weighed, before.certain_weight, after.certain_weight)
    right = _pair(weighed, before.best, after.best)
    worth = compute_worth(request, sizes)
    probabilistic = PriorPosterior(*(float(each / number) for each in right))
    people = People(np.empty(0, np.int64), np.empty(number, np.int8))
    description = describe_people(request.focal, people, "one", _describe(request))
    return Assessment(
        **description.to_assessment_fields(number, certain, right, worth),
        deterministic=PriorPosterior(*(float(each / number) for each in certain)),
        probabilistic=probabilistic if worth is None else worth,
        figures={
            "classes": sizes.count,
            "singletons": sizes.singletons,
            "smallest_class": sizes.smallest,
            "records": request.focal.rows,
            "capacity": after.capacity,
        },
        _chart=lambda: charts.draw_class_sizes(sizes, SUBJECTS),
        _breakdown=lambda group: break_down(request, group, description),
        _highest=lambda: as_count_share(after.highest, request.focal.rows),
        _write_risk=partial(_write_risk, request),
    )


def _pair(weighed: WeighedView, before: int, after: int) -> PriorPosterior:
    counts: Any = [plain_number(each / weighed.unit) for each in (before, after)]
    return PriorPosterior(*counts)
