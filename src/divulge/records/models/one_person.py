"""Attacks on one person whose values are known: the posterior of where and what they are."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from divulge.assessment import Assessment, Chart, Claim, Sentence
from divulge.classes.people import People
from divulge.data import Column, Dataset
from divulge.qif import PriorPosterior
from divulge.records.inference import charts
from divulge.records.inference.secrets import Secrets
from divulge.work import InvalidInput, Problem, Problems

MAX_VALUES_SHOWN = 50


def match_values(
    columns: Sequence[tuple[str, Column]], target: Mapping[str, Any], argument: str = "target"
) -> npt.NDArray[np.bool_]:
    """Which records have the values that are known of the target."""
    problems = Problems("attack")
    matches: npt.NDArray[np.bool_] | None = None
    for name, column in columns:
        if name not in target:
            problems.add(argument, f'says nothing of "{name}", which is known.')
            continue
        code = _find_code(column, target[name])
        if code is None:
            problems.add(argument, f'nobody has the value given for "{name}".')
            continue
        has_value = column.codes == code
        matches = has_value if matches is None else matches & has_value
    for name in target:
        if name not in {known for known, _ in columns}:
            problems.add(argument, f'"{name}" is not among what is known.', name,
                         [known for known, _ in columns])  # fmt: skip
    problems.raise_any()
    if matches is None or not matches.any():
        problems.add(argument, "no record has these values together.")
        problems.raise_any()
    assert matches is not None  # noqa: S101  # else the problem was raised
    return matches


def assess_one_person(
    dataset: Dataset,
    secrets: Secrets,
    matches: npt.NDArray[np.bool_],
    *,
    knows: list[str],
    seeks: list[str],
    model: str,
    labels: Sequence[str] = (),
    gain: Any = None,
    people: People | None = None,
    weighed: bool | None = None,
) -> Assessment:
    """Assess what is inferred of one person among the records that match.

    With `people`, who may have several records, those are counted whose records match. `weighed`
    says whether a prior was given, if not the weights of the secrets.
    """
    of_target = secrets.weight[matches]
    if not of_target.any():
        problem = Problem("target", "the prior excludes every record with these values.")
        raise InvalidInput("attack", [problem])
    figures: dict[str, float] = {"matching": int(np.count_nonzero(matches))}
    if people is not None:
        figures["matching_people"] = int(np.unique(people.of_record[matches]).size)
    if secrets.secret is None:
        shares = of_target / of_target.sum()
    else:
        weights = np.bincount(secrets.secret.codes[matches], of_target, secrets.secret.cardinality)
        shares = weights / weights.sum()
        figures |= list_posterior_figures(shares, labels)
    before = secrets.prior_knowledge
    worth = None
    if gain is not None:
        belief = np.where(matches, secrets.weight, 0.0) if secrets.secret is None else shares
        worth = PriorPosterior(
            before.compute_g_vulnerability(gain).prior, compute_belief_worth(gain, belief)
        )
    return build_person_assessment(
        dataset, knows, seeks, model=model,
        certain=PriorPosterior(int(before.certain_count > 0), int(np.count_nonzero(shares) == 1)),
        right=PriorPosterior(before.expected_correct / before.rows, float(shares.max())),
        figures=figures,
        worth=worth,
        weighed=secrets.prior is not None if weighed is None else weighed,
    )  # fmt: skip


def build_person_assessment(
    dataset: Dataset,
    knows: list[str],
    seeks: list[str],
    *,
    model: str,
    certain: PriorPosterior,
    right: PriorPosterior,
    figures: Mapping[str, float],
    worth: PriorPosterior | None = None,
    claim: Claim = "exact",
    weighed: bool = False,
) -> Assessment:
    """The assessment of one secret; `worth` is what guesses win, if a gain was given."""
    values = {
        "knows": knows,
        "people": figures.get("matching_people", 0),
        "seeks": seeks or ["the record"],
        "subjects": dataset.subjects,
        "certain": certain.posterior,
        "matching": figures["matching"],
        "right": right.posterior,
        "right_before": right.prior,
        "membership": figures.get("posterior of membership", 0.0),
    }
    key = {"M": "target_membership", "R": "target_record", "A": "target_attribute"}[model[1]]
    key = "target_among_people" if "matching_people" in figures and model[1] == "R" else key

    def draw_chart() -> Chart:
        return charts.draw_before_and_after("one_person", certain, right)

    sentences = [Sentence("divulge.records", key, values)]
    if worth is not None:
        worth_values = {"before": float(worth.prior), "after": float(worth.posterior)}
        sentences.append(Sentence("divulge.records", "worth", worth_values))
    if weighed:
        sentences.append(Sentence("divulge.records", "prior.weighed"))
    return Assessment(
        attack="longitudinal" if model.endswith("L") else "records",
        model=model,
        dataset=dataset.name,
        knows=tuple(knows),
        seeks=tuple(seeks),
        secrets=1,
        subjects=dataset.subjects,
        claim=claim,
        certain=certain,
        right=right,
        deterministic=certain,
        probabilistic=right if worth is None else worth,
        sentences=tuple(sentences),
        by_gain=worth is not None,
        figures=dict(figures),
        _chart=draw_chart,
    )


def list_posterior_figures(
    shares: npt.NDArray[np.float64], labels: Sequence[str]
) -> dict[str, float]:
    """The likeliest values of a secret, by name; none where the secret is the record itself."""
    if not labels:
        return {}
    ranked = np.argsort(-shares, kind="stable")[:MAX_VALUES_SHOWN]
    return {f"posterior of {labels[i]}": float(shares[i]) for i in ranked if shares[i] > 0}


def compute_belief_worth(gain: Any, belief: npt.NDArray[np.float64]) -> float:
    """What the best guess wins if secrets are believed in so much."""
    from divulge.qif import Hyper, g_vulnerability

    return float(g_vulnerability(Hyper.from_counts(belief[:, None]), gain).prior)


def _find_code(column: Column, value: Any) -> int | None:
    """The code of a value, None if nobody has it."""
    import pyarrow as pa

    if value is None:
        return column.missing_code if column.has_missing else None
    try:
        scalar = pa.scalar(value, column.values.type)
        if isinstance(value, float) and scalar.as_py() != value:
            return None  # Arrow cuts a fraction off
        place = column.values.index(scalar).as_py()
    except (pa.ArrowInvalid, pa.ArrowTypeError, TypeError, ValueError, OverflowError):
        return None
    return None if place < 0 else int(place)
