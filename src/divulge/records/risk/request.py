"""Which risk is asked for, by an adversary of `attack = "risk"` or on the command line.

A question names a measure and tells it its options; the answer is a result of the measure, and an
assessment in the currency of all attacks.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, Any, TypeVar

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, WithJsonSchema, create_model
from pydantic_core import PydanticCustomError

from divulge.assessment import Assessment
from divulge.data import Dataset
from divulge.records.risk.measure_spec import MeasureSpec, RiskResult
from divulge.records.risk.null_readings import DEFAULT_NULLS
from divulge.records.risk.options import OneOf, OtherDataset
from divulge.records.risk.record_risk import DEFAULT_THRESHOLD, RecordRisk
from divulge.records.risk.registry import (
    EVERY_NAME,
    find_measure,
    gather_settings,
)
from divulge.work import Problem, nearest, quoted

Question = TypeVar("Question", bound="RiskRequest")


def _check_name(name: str) -> str:
    if name not in EVERY_NAME:
        match = nearest(name, EVERY_NAME)
        hint = f"the nearest is {quoted([match])}" if match else f"give {quoted(EVERY_NAME)}"
        context = {"name": name, "hint": hint}
        raise PydanticCustomError("unknown_measure", '"{name}" is not a measure; {hint}', context)
    return name


class RiskRequest(BaseModel):
    """Which risk, of which attributes; `add_options` gives it the options of all measures."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    measure: Annotated[
        str,
        AfterValidator(_check_name),
        WithJsonSchema({"enum": list(EVERY_NAME), "type": "string"}),
    ] = Field("individual", description="Which risk of records.")
    knows: str | list[str] | None = Field(
        None, description="The attributes to consider; all quasi-identifiers if not given."
    )
    seeks: str | None = Field(None, description="The sensitive attribute, of classes.")
    threshold: float = Field(DEFAULT_THRESHOLD, ge=0, le=1, description="Records at risk.")

    @property
    def spec(self) -> MeasureSpec:
        """The measure that is asked for."""
        return find_measure(self.measure)


def add_options(model: type[Question]) -> type[Question]:
    """A question with the options of all measures as further fields.

    >>> add_options(RiskRequest)(measure="t_closeness", distance="ordered").model_dump()["c"]
    3
    """
    fields: dict[str, Any] = {}
    for name, option in gather_settings().items():
        kind = option.annotation if option.default is not None else option.annotation | None
        fields[name] = (kind, Field(option.default, description=option.description))
    return create_model(model.__name__, __base__=model, __doc__=model.__doc__, **fields)


FullRiskRequest = add_options(RiskRequest)
"""What `divulge risk` may be told."""


def problems_with_request(request: RiskRequest, datasets: int) -> Iterator[Problem]:
    """What does not go together: the measure, its way of counting, and the number of datasets."""
    spec, measure = request.spec, request.measure
    nulls = getattr(request, "nulls", DEFAULT_NULLS)
    readings = spec.options.get("nulls")
    if isinstance(readings, OneOf) and nulls not in readings.words:
        yield Problem("nulls", f'"{nulls}" does not go with measure {measure}; use maybe or value.')
    most = 2 if spec.names_datasets else 1
    if datasets > most:
        takes = "one" if most == 1 else "one or two"
        yield Problem("dataset", f'names {datasets}; measure "{measure}" takes {takes}.')
    if nulls == "known" and "original" in spec.options and datasets < 2:
        message = f'nulls = "{nulls}" takes two datasets: the release, the original.'
        yield Problem("dataset", message)
    for name, both in (
        ("original", "the masked, the original"),
        ("population", "the release, the population"),
    ):
        if name in spec.needs and datasets < 2:
            yield Problem("dataset", f'measure "{measure}" takes two datasets: {both}.')
    if "among" in spec.needs and request.knows is None:
        yield Problem("knows", f"is missing; {measure} is of numbers that are named.")
    if request.seeks is not None and not spec.of_attribute:
        yield Problem("seeks", f'does not go with measure "{measure}".')


def measure_risk(
    request: RiskRequest, dataset: Dataset, other: Dataset | None = None
) -> RiskResult:
    """The risk that is asked for; `other` is the original or the population.

    >>> import divulge as dv
    >>> question = RiskRequest(measure="prosecutor", knows="Area")
    >>> measure_risk(question, dv.datasets.inflation_and_growth_example()).highest
    0.2
    """
    spec = request.spec
    options = {
        name: other if isinstance(option, OtherDataset) else getattr(request, name, None)
        for name, option in spec.options.items()
    }
    options["among"] = request.knows
    if spec.of_attribute:
        options["attribute"] = request.seeks
    # What is not given, the measure's function knows best.
    return spec.function(dataset, **{k: of for k, of in options.items() if of is not None})


def assess_risk(result: RiskResult, threshold: float) -> Assessment:
    """The assessment of a risk; records at risk are those above a threshold."""
    return result.assessment(threshold) if isinstance(result, RecordRisk) else result.assessment()
