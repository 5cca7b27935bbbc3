"""Attack models by name, and the one call that runs any of them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

from divulge.assessment import Assessment
from divulge.data import Dataset
from divulge.records.identification import collective_reidentification
from divulge.work import InvalidInput, Problem

MODELS: Mapping[str, Callable[[Dataset, list[str]], Assessment]] = {
    "CRS": collective_reidentification,
}
"""The attack models of Alvim et al. 2022, Table 1, that can be run, by acronym."""

EVERYDAY_NAMES: Mapping[str, str] = {"marketer": "CRS"}
"""What others call the same models."""


def attack(
    dataset: Dataset, model: str = "CRS", knows: str | Iterable[str] | None = None
) -> Assessment:
    """Attack records with knowledge of some attributes.

    Args:
        dataset: the records.
        model: the attack model, by acronym (`CRS`) or everyday name (`marketer`).
        knows: what the adversary knows of everybody; all quasi-identifiers if not given.

    Raises:
        InvalidInput: if the model or an attribute does not exist.

    >>> import divulge as dv
    >>> pupils = dv.datasets.school_year_example()
    >>> found = attack(pupils, knows=["gender", "grade"])
    >>> found.deterministic.posterior, found.probabilistic.posterior
    (0.1, 0.5)
    >>> print(found)
    An adversary who knows gender and grade singles out 1 of 10 pupils (10%).
    Guessing as well as possible, she is right about 5 (50%); before the release, about 1.
    These figures are exact.
    """
    for problem in problems_with_model(model):
        raise InvalidInput("attack", [problem])
    run = MODELS[EVERYDAY_NAMES.get(model, model)]
    return run(dataset, dataset.attributes(knows, "knows"))


def problems_with_model(model: str) -> Iterable[Problem]:
    """Whether a model can be run."""
    known = [*MODELS, *EVERYDAY_NAMES]
    if model not in known:
        yield Problem("model", f'"{model}" is not an attack model.', value=model, allowed=known)
