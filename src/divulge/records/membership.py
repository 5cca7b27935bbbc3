"""Who is in the release: membership, inferred from how many live and how many were released.

In a class of N people of whom n are in the release, somebody is in it with probability n / N. The
tool-makers' journalist risk, 1 / N for a released record, stands beside it under its own name.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from divulge.assessment import Assessment, Chart, Sentence
from divulge.data import Dataset
from divulge.engines import IntArray
from divulge.qif import PriorPosterior
from divulge.records import charts
from divulge.records.individual import told_of_one
from divulge.work import Problems


def membership(
    dataset: Dataset,
    released: IntArray,
    living: IntArray,
    knows: list[str],
    model: str,
    class_of_target: int | None = None,
) -> Assessment:
    """Assess who is known to be in the release, or not to be.

    Args:
        dataset: the release.
        released: by class, how many are in the release.
        living: by class, how many are in the population.
        knows: what is known of everybody.
        model: CMS, CML, IMS or IML.
        class_of_target: the class of the one person who is sought, if it is one.
    """
    wrong = int(np.count_nonzero(released > living))
    if wrong:
        problems = Problems("attack")
        noun = "class" if wrong == 1 else "classes"
        problems.add(
            "population",
            f"{wrong:,} {noun} of what is known have more records in the release than people in "
            "the population; the population must hold everybody who might be in the release.",
        )
        problems.raise_any()
    everybody, inside = int(living.sum()), int(released.sum())
    known = (released == 0) | (released == living)
    journalist = _journalist(released, living)
    if class_of_target is not None:
        n, size = int(released[class_of_target]), int(living[class_of_target])
        share = n / size
        return told_of_one(
            dataset, knows, ["membership"], model,
            certain=PriorPosterior(int(inside in (0, everybody)), int(known[class_of_target])),
            right=PriorPosterior(
                max(inside, everybody - inside) / everybody, max(share, 1 - share)
            ),
            figures={"matching": size, "posterior of membership": share, **journalist},
        )  # fmt: skip
    certain = PriorPosterior(everybody if inside in (0, everybody) else 0, int(living[known].sum()))
    right = PriorPosterior(
        max(inside, everybody - inside), int(np.maximum(released, living - released).sum())
    )
    return _collective(dataset, knows, model, everybody, inside, certain, right, journalist)


def _journalist(released: IntArray, living: IntArray) -> dict[str, float]:
    """The chance of the right person for a released record, if all of its class are alike."""
    met = released > 0
    if not met.any():
        return {}
    return {
        "journalist_risk_average": float((released[met] / living[met]).sum() / released.sum()),
        "journalist_risk_highest": float((1 / living[met]).max()),
    }


def _collective(
    dataset: Dataset,
    knows: list[str],
    model: str,
    everybody: int,
    inside: int,
    certain: PriorPosterior,
    right: PriorPosterior,
    journalist: Mapping[str, float],
) -> Assessment:
    values: dict[str, Any] = {
        "knows": knows,
        "subjects": dataset.subjects,
        "total": everybody,
        "certain": certain.posterior,
        "certain_share": certain.posterior / everybody,
        "right": right.posterior,
        "right_share": right.posterior / everybody,
        "right_before": right.prior,
    }

    def chart() -> Chart:
        shares = [PriorPosterior(p.prior / everybody, p.posterior / everybody)
                  for p in (certain, right)]  # fmt: skip
        return charts.before_and_after("Who is in the release", *shares)

    return Assessment.from_counts(
        attack="longitudinal" if model.endswith("L") else "records",
        model=model,
        dataset=dataset.name,
        knows=tuple(knows),
        seeks=("membership",),
        secrets=everybody,
        subjects=dataset.subjects,
        claim="exact",
        certain=certain,
        right=right,
        sentences=(
            Sentence("divulge.records", "membership", values),
            Sentence("divulge.records", "guessed", values),
        ),
        figures={"released": inside, **journalist},
        _chart=chart,
    )
