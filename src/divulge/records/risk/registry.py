"""The one list of the measures of risk: limits, `attack = "risk"` and `divulge risk` read it.

Whoever adds a measure writes its function and a row here. Names, further names, options with
their words and defaults, directions of limits and the datasets that it compares with are read
from the row by the entry point `divulge.measures`, the settings of adversaries, the command line
and its help, the published schemas, and by protection.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any

import numpy as np

from divulge.classes.class_sizes import count_dataset_classes
from divulge.classes.people import find_people
from divulge.data import Dataset, Relation
from divulge.records.risk.class_measures.disclosure import AGGREGATES, disclosure_risk
from divulge.records.risk.class_measures.k_anonymity import anonymity_of_each
from divulge.records.risk.class_measures.l_diversity import (
    RECURSIVE_C,
    SharesFigure,
    beta_likeness,
    compute_entropy_diversity,
    compute_log_ratio,
    compute_recursive_diversity,
    compute_relative_gain,
    count_distinct_values,
    delta_disclosure,
    distinct_l_diversity,
    entropy_l_diversity,
    recursive_l_diversity,
)
from divulge.records.risk.class_measures.sensitive_classes import (
    SensitiveClasses,
    build_counting,
    has_overlap,
)
from divulge.records.risk.class_measures.t_closeness import (
    DISTANCES,
    build_distance_figure,
    t_closeness,
)
from divulge.records.risk.custom_risk import custom_risk
from divulge.records.risk.frequencies.frequencies import frequencies
from divulge.records.risk.links.group_risk import household_risk
from divulge.records.risk.masked_numbers import INTERVALS, distance_linkage, interval_disclosure
from divulge.records.risk.measure_spec import (
    ClassFigure,
    JudgedFigure,
    MeasureSpec,
    judge_average_risk,
    judge_highest_risk,
    judge_smallest_count,
    judge_smallest_crowd,
    judge_unique_share,
    judge_worst_class,
)
from divulge.records.risk.null_readings import DEFAULT_NULLS
from divulge.records.risk.options import (
    Number,
    OneOf,
    OtherDataset,
    RiskFunction,
    Setting,
    ValueList,
    WholeNumber,
)
from divulge.records.risk.population.individual import individual_risk, reidentification_risk
from divulge.records.risk.population.population_list import LIST_SEMANTICS
from divulge.records.risk.population.population_risk import (
    delta_presence,
    journalist_risk,
    k_map,
    marketer_risk,
    prosecutor_risk,
)
from divulge.records.risk.population.population_uniques import population_uniques
from divulge.records.risk.record_risk import RecordRisk
from divulge.records.risk.shared_options import (
    CLASS_OPTIONS,
    LIST_OPTIONS,
    METHOD_OPTIONS,
    MODEL_OPTIONS,
    NULL_OPTIONS,
    PEOPLE_OPTIONS,
    SAMPLING_FRACTION,
    build_null_option,
)
from divulge.records.risk.uniques.suda import suda
from divulge.records.risk.uniques.unique_sizes import minimal_unique_size
from divulge.work.arrays import Floats


def _take_correct_matches(dataset: Dataset, **options: Any) -> RecordRisk:
    return population_uniques(dataset, **options).risk()


def _compare_intervals(dataset: Dataset, original: Dataset, **options: Any) -> RecordRisk:
    return interval_disclosure(original, dataset, **options)


def _compare_distances(dataset: Dataset, original: Dataset, **options: Any) -> RecordRisk:
    return distance_linkage(original, dataset, **options)


def _count_by_engine(dataset: Dataset, bound: float, **options: Any) -> JudgedFigure | None:
    """k-anonymity, counted by the engine and remembered, where no cell is missing."""
    counting = build_counting(dataset, **options)
    if find_people(dataset) is not None:
        return None
    if has_overlap(counting) or counting.nulls == "standard" or counting.count == "population":
        return None
    if isinstance(dataset, Relation):
        return None
    sizes = count_dataset_classes(dataset, counting.attributes)
    return JudgedFigure(sizes.smallest, sizes.records_below(int(bound)), dataset.rows)


def _take_always(figure: SharesFigure) -> ClassFigure:
    """A figure that depends on nothing but the classes."""
    return lambda *_: figure


def _build_recursive_figure(
    _dataset: Dataset, _attribute: str, _among: Sequence[str], options: Mapping[str, Any]
) -> SharesFigure:
    c = float(options.get("c", RECURSIVE_C))

    def compute_figure(classes: SensitiveClasses) -> Floats:
        return compute_recursive_diversity(classes, c)

    return compute_figure


_SPECS = (
    MeasureSpec(
        name="individual_risk",
        aliases=("individual",),
        function=individual_risk,
        figure=judge_highest_risk,
        options=METHOD_OPTIONS,
        per_record="risk",
        linked="risk",
    ),
    MeasureSpec(
        name="global_risk",
        function=individual_risk,
        figure=judge_average_risk,
        sentence="limit.average",
        options=METHOD_OPTIONS,
        per_record="risk",
        linked="risk",
    ),
    MeasureSpec(
        name="reidentification_risk",
        aliases=("reidentification",),
        function=reidentification_risk,
        figure=judge_highest_risk,
        options=NULL_OPTIONS,
        per_record="risk",
        linked="risk",
    ),
    MeasureSpec(
        name="disclosure_risk",
        aliases=("disclosure",),
        function=disclosure_risk,
        figure=judge_highest_risk,
        options={
            "aggregate": OneOf(AGGREGATES, "Of the weights of those alike: disclosure."),
            **NULL_OPTIONS,
        },
        per_record="risk",
        linked="risk",
    ),
    MeasureSpec(
        name="custom_risk",
        function=custom_risk,
        figure=judge_highest_risk,
        options={"risk": RiskFunction()},
        needs=("risk",),
        per_record="risk",
        linked="risk",
    ),
    MeasureSpec(
        name="household_risk",
        aliases=("household",),
        function=household_risk,
        figure=judge_highest_risk,
        options=METHOD_OPTIONS,
        per_record="risk",
    ),
    MeasureSpec(
        name="prosecutor_risk",
        aliases=("prosecutor",),
        function=prosecutor_risk,
        figure=judge_highest_risk,
        options={**NULL_OPTIONS, **PEOPLE_OPTIONS},
        per_record="risk",
        linked="risk",
        is_one_over_size=True,
    ),
    MeasureSpec(
        name="journalist_risk",
        aliases=("journalist",),
        function=journalist_risk,
        figure=judge_highest_risk,
        options=LIST_OPTIONS,
        per_record="risk",
        linked="risk",
    ),
    MeasureSpec(
        name="marketer_risk",
        aliases=("marketer",),
        function=marketer_risk,
        figure=judge_average_risk,
        sentence="limit.average",
        options=LIST_OPTIONS,
        per_record="risk",
        linked="risk",
    ),
    MeasureSpec(
        name="dis_suda",
        aliases=("suda",),
        function=suda,
        figure=judge_highest_risk,
        options={
            "sampling_fraction": SAMPLING_FRACTION,
            "max_size": WholeNumber("Most attributes of a minimal unique."),
            "nulls": build_null_option(("maybe", "value", DEFAULT_NULLS)),
        },
        per_record="risk",
    ),
    MeasureSpec(
        name="minimal_unique_size",
        function=minimal_unique_size,
        figure=judge_worst_class,
        direction="at_least",
        scale="count",
        whole=True,
        options={"max_size": WholeNumber("Most attributes of a minimal unique."), **NULL_OPTIONS},
        per_record="class",
        linked="lowest",
        size_option="max_size",
    ),
    MeasureSpec(
        name="population_uniques",
        function=population_uniques,
        figure=judge_unique_share,
        sentence="limit.average",
        options=MODEL_OPTIONS,
        of_population=True,
    ),
    MeasureSpec(
        name="correct_matches",
        function=_take_correct_matches,
        figure=judge_average_risk,
        sentence="limit.average",
        options=MODEL_OPTIONS,
        of_population=True,
    ),
    MeasureSpec(
        name="k_anonymity",
        function=anonymity_of_each,
        figure=judge_smallest_crowd,
        direction="at_least",
        scale="count",
        whole=True,
        options={**CLASS_OPTIONS, **PEOPLE_OPTIONS},
        per_record="count",
        shortcut=_count_by_engine,
        sentence="k_anonymity",
        linked="crowd",
    ),
    MeasureSpec(
        name="smallest_frequency",
        function=frequencies,
        figure=judge_smallest_count,
        direction="at_least",
        scale="count",
        options={**NULL_OPTIONS, **PEOPLE_OPTIONS},
        per_record="count",
        linked="crowd",
    ),
    MeasureSpec(
        name="k_map",
        function=k_map,
        figure=judge_worst_class,
        direction="at_least",
        scale="count",
        options=LIST_OPTIONS,
        per_record="class",
        linked="crowd",
    ),
    MeasureSpec(
        name="delta_presence",
        function=delta_presence,
        figure=judge_worst_class,
        options={
            "nulls": build_null_option(LIST_SEMANTICS),
            "population": OtherDataset(),
        },
        needs=("population",),
        linked="risk",
        people_option="population",
        of_population=True,
    ),
    MeasureSpec(
        name="distinct_l_diversity",
        function=distinct_l_diversity,
        figure=judge_worst_class,
        direction="at_least",
        scale="count",
        of_attribute=True,
        options=CLASS_OPTIONS,
        per_record="class",
        class_figure=_take_always(count_distinct_values),
        distinct_values="counted",
    ),
    MeasureSpec(
        name="entropy_l_diversity",
        function=entropy_l_diversity,
        figure=judge_worst_class,
        direction="at_least",
        scale="count",
        of_attribute=True,
        options=CLASS_OPTIONS,
        per_record="class",
        class_figure=_take_always(compute_entropy_diversity),
        distinct_values="implied",
    ),
    MeasureSpec(
        name="recursive_l_diversity",
        function=recursive_l_diversity,
        figure=judge_worst_class,
        direction="at_least",
        scale="count",
        of_attribute=True,
        options={"c": Number("Of recursive_l_diversity.", default=3), **CLASS_OPTIONS},
        per_record="class",
        class_figure=_build_recursive_figure,
        distinct_values="implied",
    ),
    MeasureSpec(
        name="t_closeness",
        function=t_closeness,
        figure=judge_worst_class,
        of_attribute=True,
        options={
            "distance": OneOf(DISTANCES, "Of t_closeness."),
            "order": ValueList(
                "Of t_closeness with an ordered distance: the values in their order."
            ),
            **CLASS_OPTIONS,
        },
        per_record="class",
        class_figure=build_distance_figure,
    ),
    MeasureSpec(
        name="beta_likeness",
        function=beta_likeness,
        figure=judge_worst_class,
        scale="count",
        of_attribute=True,
        options=CLASS_OPTIONS,
        per_record="class",
        probability=lambda values: values / (1 + values),
        class_figure=_take_always(compute_relative_gain),
    ),
    MeasureSpec(
        name="delta_disclosure",
        function=delta_disclosure,
        figure=judge_worst_class,
        scale="count",
        of_attribute=True,
        options=CLASS_OPTIONS,
        per_record="class",
        probability=lambda values: -np.expm1(-values),
        class_figure=_take_always(compute_log_ratio),
    ),
    MeasureSpec(
        name="interval_disclosure",
        function=_compare_intervals,
        figure=judge_average_risk,
        sentence="limit.average",
        options={
            "original": OtherDataset(),
            "width": Number("Of interval_disclosure.", default=0.05, zero=True),
            "by": OneOf(INTERVALS, "Of interval_disclosure: how its width is measured."),
        },
        needs=("original", "among"),
        linked="risk",
    ),
    MeasureSpec(
        name="distance_linkage",
        function=_compare_distances,
        figure=judge_average_risk,
        sentence="limit.average",
        options={"original": OtherDataset()},
        needs=("original", "among"),
        linked="risk",
    ),
)

MEASURES: Mapping[str, MeasureSpec] = MappingProxyType({spec.name: spec for spec in _SPECS})
"""The measures by name: what the entry point of `divulge.measures` names."""

_BY_ANY_NAME = {name: spec for spec in _SPECS for name in (spec.name, *spec.aliases)}

EVERY_NAME: tuple[str, ...] = tuple(
    name for name, spec in _BY_ANY_NAME.items() if not spec.needs_function
)
"""All names of all measures that a text may ask for, further names included."""


def find_measure(name: str) -> MeasureSpec:
    """The measure of a name, or of a further name.

    >>> find_measure("suda").name
    'dis_suda'
    """
    return _BY_ANY_NAME[name]


def gather_settings() -> dict[str, Setting]:
    """The options of all measures that adversaries may be told, by name.

    Where measures take different words for an option, it has the words of all of them; which
    go with which measure is asked when the measure is known.

    >>> gather_settings()["nulls"].default
    'bayes'
    """
    settings: dict[str, Setting] = {}
    for spec in _SPECS:
        for name, option in spec.options.items():
            if isinstance(option, OtherDataset | RiskFunction):
                continue
            setting = settings.setdefault(name, option)
            if isinstance(setting, OneOf) and isinstance(option, OneOf):
                words = dict.fromkeys((*setting.words, *option.words))
                settings[name] = OneOf(tuple(words), setting.description)
    return settings
