"""Re-identification of anyone at all, in one dataset (CRS, the marketer of older literature).

The adversary knows some attributes of everybody and looks for each person's record. Records that
agree on these attributes form a class, within which she cannot tell them apart: a class of one is
a certain hit, and in a class of size f a guess is right with probability 1/f, so on average one
guess a class is right (Alvim et al. 2022, Sec. 4).
"""

from __future__ import annotations

from math import fsum
from typing import TYPE_CHECKING

import numpy as np

from divulge import engines
from divulge.assessment import Assessment, Breakdown, Chart, Sentence
from divulge.data import Dataset
from divulge.qif import PriorPosterior
from divulge.records import charts
from divulge.records.classes import class_sizes

if TYPE_CHECKING:
    import numpy.typing as npt

MODEL = "CRS"


def collective_reidentification(dataset: Dataset, knows: list[str]) -> Assessment:
    """Attack everybody with knowledge of some attributes, exactly."""
    sizes = class_sizes(dataset, knows)
    total = sizes.records

    def chart() -> Chart:
        return charts.class_sizes(sizes, dataset.subjects)

    def risk() -> npt.NDArray[np.float64]:
        return 1 / engines.class_size_of_each(dataset.codes(knows), by=knows)

    def breakdown(group: str) -> Breakdown:
        return _by_group(dataset, knows, group)

    return _assessment(
        dataset,
        knows,
        secrets=total,
        everybody=total,
        certain=sizes.singletons,
        right=sizes.count,
        figures={
            "classes": sizes.count,
            "singletons": sizes.singletons,
            "smallest_class": sizes.smallest,
        },
        _chart=chart,
        _breakdown=breakdown,
        _risk=risk,
    )


def _by_group(dataset: Dataset, knows: list[str], group: str) -> Breakdown:
    """The same adversary, seen from each group: how many of its members she finds."""
    [group] = dataset.attributes(group, "by")
    codes = dataset.codes(dict.fromkeys([*knows, group]))
    found = engines.class_sizes_by_group(codes, by=knows, group=group)
    column = dataset.columns[group]
    assessments = {}
    for code in np.unique(found.group):
        of_group = found.group == code
        size, records = found.size[of_group], found.records[of_group]
        assessments[column.value(int(code))] = _assessment(
            dataset,
            knows,
            secrets=int(records.sum()),
            everybody=dataset.rows,
            certain=int(records[size == 1].sum()),
            right=fsum(records / size),
        )
    return Breakdown(group, assessments)


def _assessment(
    dataset: Dataset,
    knows: list[str],
    *,
    secrets: int,
    everybody: int,
    certain: int,
    right: float,
    **more: object,
) -> Assessment:
    """The figures of `secrets` records among `everybody`; the prior is a blind guess."""
    values = {
        "knows": knows,
        "subjects": dataset.subjects,
        "total": secrets,
        "certain": certain,
        "certain_share": certain / secrets,
        "right": right,
        "right_share": right / secrets,
        "right_before": secrets / everybody,
    }
    return Assessment.from_counts(
        attack="records",
        model=MODEL,
        dataset=dataset.name,
        knows=tuple(knows),
        seeks=(),
        secrets=secrets,
        subjects=dataset.subjects,
        claim="exact",
        certain=PriorPosterior(secrets if everybody == 1 else 0, certain),
        right=PriorPosterior(secrets / everybody, right),
        sentences=(
            Sentence("divulge.records", "singled_out", values),
            Sentence("divulge.records", "guessed", values),
        ),
        **more,
    )
