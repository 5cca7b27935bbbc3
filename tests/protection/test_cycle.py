"""The cycle: whatever the limits, an independent measurement finds them kept, or it is said why not."""

from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from divulge import Dataset, Hierarchy, InvalidInput, Limit, datasets, protection, read, records
from divulge.assessment import measures
from divulge.protection import OutOfReachError, tuning
from divulge.protection.changes.changes import select_records
from divulge.protection.limits.goal_list import build_goals
from divulge.protection.result.utility import _measure_shift
from divulge.records.risk.registry import MEASURES

AREAS = [
    ("Roma", "Center"),
    ("Milano", "North"),
    ("Torino", "North"),
    ("Center", "Italy"),
    ("North", "Italy"),
]
LIMITS = [
    Limit("k_anonymity", at_least=2, nulls="maybe"),
    Limit("k_anonymity", at_least=3, nulls="known"),
    Limit("k_anonymity", at_least=2, nulls="bayes"),
    Limit("smallest_frequency", at_least=3, nulls="maybe"),
    Limit("individual_risk", at_most=0.4, nulls="maybe"),
    Limit("reidentification_risk", at_most=0.2, nulls="maybe"),
    Limit("household_risk", at_most=0.8, nulls="maybe"),
    Limit("prosecutor_risk", at_most=0.5, nulls="maybe"),
    Limit("global_risk", at_most=0.3, nulls="maybe"),
    Limit("dis_suda", at_most=0.2, nulls="maybe"),
    Limit("distinct_l_diversity", at_least=2, attribute="income", nulls="maybe"),
    Limit("t_closeness", at_most=0.4, attribute="income", nulls="maybe"),
    Limit("deterministic.posterior", at_most=0.2),
    Limit("probabilistic.posterior", at_most=0.5),
]


@st.composite
def surveys(draw: st.DrawFn) -> Dataset:
    """Small surveys with towns that have a hierarchy, missing values, weights and households."""
    rows = draw(st.integers(4, 12))

    def column(values: st.SearchStrategy[Any]) -> list[Any]:
        return draw(st.lists(values, min_size=rows, max_size=rows))

    homes = column(st.integers(1, 4))
    weights = draw(st.lists(st.integers(1, 9), min_size=5, max_size=5))
    table = pa.table(
        {
            "town": column(st.none() | st.sampled_from(["Roma", "Milano", "Torino"])),
            "sex": column(st.sampled_from(["f", "m"])),
            "age": column(st.none() | st.integers(1, 3)),
            "income": column(st.integers(1, 3)),
            "home": homes,
            "weight": [weights[home] for home in homes],  # a household is sampled as a whole
        }
    )
    return Dataset.from_arrow(
        table,
        roles={
            "quasi_identifier": ["town", "sex", "age"],
            "sensitive": ["income"],
            "household": "home",
            "weight": "weight",
        },
        hierarchies={"town": Hierarchy.from_pairs(AREAS)},
    )


def measured(limit: Limit, p: protection.Protected) -> bool:
    """Whether a limit holds, by the parts that know nothing of protection."""
    if limit.of_assessment:
        return limit.judge(records.attack(p.dataset, "CRS")).held
    before = select_records(p.original, p.kept)
    if "nulls" not in limit.options and "original" in MEASURES[limit.measure].options:
        limit = limit.with_options(original=before)
    if limit.options.get("nulls") in ("known", "bayes"):
        counted = records.frequencies(p.dataset, limit.options["nulls"], original=before)
        return bool(counted.smallest >= limit.bound - 1e-9)
    found = measures()[limit.measure].of(p.dataset, limit)
    return limit.judge_measurement(found, "survey").held


@settings(max_examples=120, deadline=None)
@given(
    surveys(),
    st.lists(st.sampled_from(LIMITS), min_size=1, max_size=2, unique_by=id),
    st.sampled_from([["recode", "suppress"], ["suppress", "recode"], ["suppress"], ["recode"]]),
    st.booleans(),
    st.sampled_from(["raise", "remove"]),
    st.sampled_from(["weight", "risk", "random"]),
)
def test_after_any_cycle_an_independent_measurement_finds_every_limit_kept(
    survey: Dataset, limits: list[Limit], methods: Any, local: bool, out_of_reach: Any, order: Any
) -> None:
    try:
        p = protection.protect(
            survey, limits, methods, local=local, out_of_reach=out_of_reach, order=order, seed=1
        )
    except OutOfReachError as error:
        assert "out of reach for" in str(error)  # noqa: PT017
        assert "out of reach for 0 " not in str(error)  # noqa: PT017
        return
    except InvalidInput as error:  # more diversity than there are values
        assert "cannot be" in str(error)  # noqa: PT017
        return
    for limit in limits:
        assert measured(limit, p), limit
    assert all(outcome.held for outcome in p.outcomes)
    assert p.decisions.replayed(survey).equals(p.dataset)
    assert p.undo(len(p.decisions)).dataset.equals(survey)


def test_figure_5_sector_of_tuple_1_is_suppressed_and_cities_become_regions() -> None:
    companies = datasets.local_suppression_example()
    p = protection.protect(
        companies, [Limit("k_anonymity", at_least=2, nulls="maybe")], is_a={"Area": AREAS[:3]}
    )
    figure_5b = datasets.local_suppression_example(protected=True)
    assert p.dataset.to_arrow().to_pylist() == figure_5b.to_arrow().to_pylist()
    recoding, null = p.decisions
    assert recoding.binding["mapping"] == {"Milano": "North", "Roma": "Center", "Torino": "North"}
    assert (null.record, null.attribute, null.binding["from"]) == (0, "Sector", "Textiles")


def test_local_recoding_touches_only_who_is_at_risk() -> None:
    companies = datasets.local_suppression_example()
    p = protection.protect(
        companies, [Limit("k_anonymity", at_least=2, nulls="maybe")], is_a={"Area": AREAS[:3]}, local=True,
        methods=["recode", "suppress"], out_of_reach="remove",
    )  # fmt: skip
    towns = p.dataset.to_arrow()["Area"].to_pylist()
    assert towns[5:] == ["North", "North"]
    assert records.k_anonymity(p.dataset, nulls="maybe") >= 2


def test_a_risk_of_one_in_five_keeps_a_limit_of_a_fifth() -> None:
    table = pa.table({"sex": ["f"] * 5 + ["m"] * 5})
    people = Dataset.from_arrow(table, roles={"quasi_identifier": ["sex"]})
    p = protection.protect(people, [Limit("prosecutor_risk", at_most=0.2, nulls="maybe")])
    assert len(p.decisions) == 0


def test_the_marketers_risk_is_protected_by_the_figure_that_it_is_judged_by() -> None:
    pupils = datasets.school_year_example().describe(roles={"quasi_identifier": ["gender"]})
    everybody = Dataset.from_arrow(pa.concat_tables([pupils.to_arrow()] * 2))
    limit = Limit("marketer_risk", at_most=0.1, population=everybody, nulls="maybe")
    [goal] = build_goals(pupils, [limit])
    judged = measures()["marketer_risk"].of(pupils, limit).value
    assert goal.measure_standing(pupils, pupils).outcome.value == judged
    assert judged == records.marketer_risk(pupils, nulls="maybe").average / 2


def test_linked_companies_share_their_risk_and_more_links_need_more_nulls() -> None:
    companies = datasets.inflation_and_growth(400, balance="U")
    limit = [Limit("reidentification_risk", at_most=0.008, nulls="maybe")]
    nulls = []
    for links in (0, 40, 120):
        pairs = [(i, i + 1) for i in range(0, 2 * links, 2)]
        p = protection.protect(companies, limit, ["suppress"], links=pairs)
        risk = records.reidentification_risk(p.dataset, nulls="maybe")
        assert records.cluster_risk(risk, pairs).highest <= 0.008
        nulls.append(p.suppressed_cells)
    assert nulls[0] <= nulls[1] <= nulls[2]
    assert nulls[0] < nulls[2]


def test_recoding_tries_every_combination_of_levels_while_they_are_few() -> None:
    companies = datasets.local_suppression_example()
    given: dict[str, Any] = {"is_a": {"Area": AREAS}}
    best = protection.recode(
        companies, [Limit("k_anonymity", at_least=2, nulls="maybe")], 0.2, **given
    )
    assert best.proved
    assert best.levels == {"Area": 1}
    climbed = protection.recode(
        companies, [Limit("k_anonymity", at_least=2, nulls="maybe")], 0.2, search="climb", **given
    )
    # Climbing hides cells of whom recoding leaves over, and proves nothing.
    assert not climbed.proved
    assert (best.suppressed_records, climbed.suppressed_cells) == (1, 1)
    assert records.k_anonymity(best.dataset, nulls="maybe") >= 2


def test_loss_counts_the_values_that_a_coarser_one_stands_for() -> None:
    companies = datasets.local_suppression_example().describe(
        {"quasi_identifier": ["Area"]}, {"Area": Hierarchy.from_pairs(AREAS)}
    )
    p = protection.recode(
        companies, [Limit("k_anonymity", at_least=2, nulls="maybe")], 0.0, suppress=False
    )
    # Roma stands for one town of three in five records, North for two of three in two.
    assert p.loss == pytest.approx(((5 * 1 / 3 + 2 * 2 / 3) / 7 - 1 / 3) / (1 - 1 / 3))


@pytest.mark.parametrize(
    ("limits", "said"),
    [
        (
            [Limit("k_anonymity", at_least=9, nulls="maybe")],
            "9 records cannot form a class: there are 7",
        ),
        ([Limit("deterministic.prior", at_most=0.1)], "nothing can change it"),
        (
            [
                Limit("smallest_frequency", at_least=3, nulls="maybe"),
                Limit("distinct_l_diversity", at_least=9, attribute="Sector", nulls="maybe"),
            ],
            '"Sector" has 4 values; 9 cannot be',
        ),
        ([], "contains none; say what must hold"),
    ],
)
def test_limits_that_cannot_be_kept_are_refused_before_anything_is_done(
    limits: list[Limit], said: str
) -> None:
    with pytest.raises(InvalidInput, match=said):
        protection.protect(datasets.local_suppression_example(), limits)


def test_a_limit_out_of_reach_says_for_how_many_and_what_would_help() -> None:
    with pytest.raises(OutOfReachError) as caught:
        protection.protect(
            datasets.local_suppression_example(),
            [Limit("k_anonymity", at_least=2, nulls="maybe")],
            ["recode"],
        )
    assert "out of reach for 3 of 7 companies" in str(caught.value)
    assert 'add "suppress" to the methods' in str(caught.value)
    assert 'give hierarchies for "Area"' in str(caught.value)


def test_a_hierarchy_that_is_no_tree_is_refused() -> None:
    companies = datasets.local_suppression_example()
    limits = [Limit("k_anonymity", at_least=2, nulls="maybe")]
    with pytest.raises(InvalidInput, match="one value has two parents"):
        protection.protect(
            companies, limits, is_a={"Area": [("Roma", "Center"), ("Roma", "South")]}
        )
    with pytest.raises(InvalidInput, match="go round in a circle"):
        protection.protect(
            companies, limits, is_a={"Area": [("Roma", "Center"), ("Center", "Roma")]}
        )


def test_pairs_may_come_as_a_table() -> None:
    pairs = pa.table({"value": ["Roma", "Milano", "Torino"], "is": ["Center", "North", "North"]})
    p = protection.protect(
        datasets.local_suppression_example(),
        [Limit("smallest_frequency", at_least=2, nulls="maybe")],
        is_a={"Area": pairs},
    )
    assert p.levels == {"Area": 1}


def test_a_pseudonym_needs_its_key_and_top_coding_its_numbers() -> None:
    companies = datasets.inflation_and_growth_example()
    one = protection.pseudonyms(companies, b"a secret of sixteen+")
    two = protection.pseudonyms(companies, b"another secret of 16")
    assert one.to_arrow()["Id"].to_pylist() != two.to_arrow()["Id"].to_pylist()
    assert protection.pseudonyms(companies, b"a secret of sixteen+").equals(one)
    with pytest.raises(InvalidInput, match="must be 16 bytes or more"):
        protection.pseudonyms(companies, b"short")
    coded = protection.capped(companies, "Growth", top=100)
    assert ">= 100" in coded.to_arrow()["Growth"].to_pylist()
    with pytest.raises(InvalidInput, match="values that are not numbers"):
        protection.capped(companies, "Area", top=1)


def test_labels_survive_suppression_and_go_where_values_became_text(tmp_path: Any) -> None:
    table = pa.table({"age": [1, 1, 2, 3, 3], "sex": [1, 2, 1, 2, 2]})
    people = Dataset.from_arrow(table, roles={"quasi_identifier": ["age", "sex"]}).describe(
        {"quasi_identifier": ["age", "sex"]},
        {"age": Hierarchy.from_pairs([("1", "young"), ("2", "young"), ("3", "old")])},
        labels={"age": {1: "child", 2: "youth", 3: "adult"}, "sex": {1: "m", 2: "f"}},
    )
    p = protection.protect(people, [Limit("k_anonymity", at_least=2, nulls="maybe")])
    assert p.levels == {"age": 1}
    assert p.dataset.dictionary["age"].labels == {}
    assert p.dataset.dictionary["sex"].labels == {1: "m", 2: "f"}
    for ending in ("sav", "dta", "xpt", "csv", "parquet"):
        p.write(f"{tmp_path}/people.{ending}")
        assert read(f"{tmp_path}/people.{ending}").rows == 5


def test_the_mapping_of_values_can_be_exported() -> None:
    p = protection.protect(
        datasets.local_suppression_example(),
        [Limit("smallest_frequency", at_least=2, nulls="maybe")],
        is_a={"Area": AREAS[:3]},
    )
    assert p.decisions.mapping().to_pylist()[0] == {
        "attribute": "Area", "from": "Milano", "to": "North", "records": 1
    }  # fmt: skip


def test_utility_is_untouched_where_nothing_was_changed() -> None:
    companies = datasets.inflation_and_growth(300, quasi_identifiers=4)
    p = protection.suppress(companies, k=1, nulls="maybe")
    assert p.utility.nulls == 0
    assert p.utility.loss == 0
    assert max(p.utility.distribution_shift.values()) == 0
    assert p.utility.contingency == 0
    assert p.utility.discernibility == p.utility.discernibility_before
    assert p.utility.model is not None
    assert p.utility.model[0] == p.utility.model[1]


def test_information_loss_is_nulls_over_the_cells_of_records_at_risk() -> None:
    p = protection.suppress(datasets.local_suppression_example(), k=2, nulls="maybe")
    assert p.utility.information_loss == pytest.approx(2 / (3 * 4))
    assert np.isclose(p.utility.distribution_shift["Sector"], 1 / 7)


def test_limits_that_contradict_each_other_or_the_data_are_refused_together() -> None:
    companies = datasets.local_suppression_example()
    limits = [
        Limit("deterministic.posterior", at_most=0.1),
        Limit("k_anonymity", at_least=8, nulls="maybe"),
        Limit("distinct_l_diversity", at_least=5, attribute="Sector", nulls="maybe"),
    ]
    with pytest.raises(InvalidInput) as refused:
        protection.protect(companies, limits)
    said = str(refused.value)
    assert "8 records cannot form a class: there are 7" in said
    assert '"Sector" has 4 values; 5 cannot be' in said
    with pytest.raises(InvalidInput, match="k_anonymity protects from below"):
        Limit("k_anonymity", at_most=3, nulls="maybe")


def test_a_limit_on_attributes_that_must_not_be_touched_is_out_of_reach_and_said() -> None:
    towns = Dataset.from_arrow(
        pa.table({"town": ["a", "a", "b"], "sex": ["f", "f", "m"]}),
        roles={"quasi_identifier": ["town", "sex"]},
    )
    limit = Limit("k_anonymity", at_least=2, among=["town"], nulls="maybe")
    for nulls in ("maybe", "known", "value", "bayes"):
        strict = Limit("k_anonymity", at_least=2, among=["town"], nulls=nulls)
        with pytest.raises(OutOfReachError, match="town"):
            protection.protect(towns, [limit, strict], never=["town"])


def test_the_marketer_is_limited_in_what_they_find_in_the_population() -> None:
    table = pa.table({"town": ["a", "a", "b"], "sex": ["f", "m", "m"], "w": [10.0, 20.0, 30.0]})
    roles = {"quasi_identifier": ["town", "sex"], "weight": "w"}
    p = protection.protect(
        Dataset.from_arrow(table, roles), [Limit("marketer_risk", at_most=0.05, nulls="maybe")]
    )
    # Before, (1/10 + 1/20 + 1/30) / 3 is above the limit; one who hides a cell stands for more.
    assert records.marketer_risk(p.dataset, nulls="maybe").average <= 0.05
    assert p.suppressed_cells == 1
    everybody = Dataset.from_arrow(
        pa.table({"town": ["a", "a", "a", "b", "b"], "sex": ["f", "f", "m", "m", "m"]})
    )
    survey = Dataset.from_arrow(table.drop(["w"]), {"quasi_identifier": ["town", "sex"]})
    limit = Limit("marketer_risk", at_most=0.5, population=everybody, nulls="maybe")
    p = protection.protect(survey, [limit])
    assert records.marketer_risk(p.dataset, everybody, nulls="maybe").average <= 0.5
    assert p.outcomes_before[0].value == pytest.approx((1 / 2 + 1 + 1 / 2) / 3)


def test_a_limit_on_an_attribute_that_is_not_there_is_refused_by_its_name() -> None:
    towns = Dataset.from_arrow(pa.table({"town": ["a", "b"]}), {"quasi_identifier": ["town"]})
    limit = Limit("distinct_l_diversity", at_least=2, attribute="incme", nulls="maybe")
    with pytest.raises(InvalidInput, match='no attribute "incme"'):
        protection.protect(towns, [limit])


# Who counts what fits finds company in a null of somebody else; where it is a value, both hide.
@pytest.mark.parametrize(("nulls", "cells"), [("value", 2), ("known", 1)])
@pytest.mark.parametrize("measure", ["prosecutor_risk", "reidentification_risk"])
def test_others_join_whom_nothing_else_helps(nulls: str, cells: int, measure: str) -> None:
    letters = pa.table({"q": ["a", "a", "a", "a", "b"]})
    dataset = Dataset.from_arrow(letters, roles={"quasi_identifier": ["q"]})
    p = protection.protect(
        dataset, [Limit(measure, at_most=0.5, nulls=nulls)], methods=["suppress"]
    )
    assert p.dataset.rows == 5
    assert p.suppressed_cells == cells
    assert all(outcome.held for outcome in p.outcomes)


def test_what_was_taken_back_is_claimed_no_more() -> None:
    companies = datasets.local_suppression_example()
    area = [("Roma", "Center"), ("Milano", "North"), ("Torino", "North")]
    limit = [Limit("k_anonymity", at_least=2, nulls="maybe")]
    p = protection.protect(companies, limit, is_a={"Area": area})
    one, both = p.undo(), p.undo(len(p.decisions))
    assert (one.levels, one.cost, one.undone) == ({"Area": 1}, 0.0, 1)
    assert (both.levels, both.cost, both.proved) == ({}, 0.0, False)
    assert both.dataset.equals(p.original)
    assert "was not checked again" in str(both)
    assert "keep" not in str(both)
    assert both.to_dict()["undone"] == 2
    assert p.undo(0) is p


def test_the_least_loss_counts_what_is_suppressed_too() -> None:
    rows = [("d", "b"), ("d", "d"), ("b", "b"), ("d", "b"), ("b", "d"), ("d", "d")]
    pairs = [("a", "ab"), ("b", "ab"), ("c", "cd"), ("d", "cd"), ("ab", "*"), ("cd", "*")]
    first, second = (list(column) for column in zip(*rows, strict=True))
    dataset = Dataset.from_arrow(
        pa.table({"q0": first, "q1": second}), roles={"quasi_identifier": ["q0", "q1"]}
    )
    limit = [Limit("k_anonymity", at_least=3, nulls="maybe")]
    p = protection.recode(dataset, limit, 0.5, is_a={"q0": pairs, "q1": pairs})
    assert p.proved
    assert (p.levels["q0"], p.suppressed_cells, p.loss) == (2, 0, 0.5)


TOWNS = [("Roma", "Center"), ("Milano", "North"), ("Torino", "North"), ("Como", "North")]


def six_companies(areas: list[str | None]) -> Dataset:
    table = pa.table({"Area": areas, "Sector": ["a", "b", "a", "b", "a", "b"]})
    return Dataset.from_arrow(table, roles={"quasi_identifier": ["Area", "Sector"]})


def test_what_an_earlier_protection_hid_does_not_come_back_coarser() -> None:
    original = six_companies(["Roma", "Roma", "Roma", "Milano", "Torino", "Como"])
    given = six_companies([None, "Roma", "Roma", "Milano", "Torino", "Como"])
    p = protection.protect(
        given,
        [Limit("k_anonymity", at_least=3, among=["Area"], nulls="maybe")],
        ["recode"],
        is_a={"Area": TOWNS},
        suppression_limit=0.0,
        original=original,
    )
    assert p.levels == {"Area": 1}
    assert p.dataset.to_arrow()["Area"].to_pylist() == [
        None, "Center", "Center", "North", "North", "North",
    ]  # fmt: skip


def test_what_the_same_cycle_hid_does_not_come_back_coarser(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(tuning, "MOST_ROUNDS", 1)  # suppression gives up, and recoding goes on
    p = protection.protect(
        six_companies(["Roma"] * 6),
        [Limit("individual", at_most=0.2, nulls="maybe")],
        ["suppress", "recode"],
        is_a={"Area": TOWNS, "Sector": [("a", "any"), ("b", "any")]},
        suppression_limit=0.0,
        search="cycle",
    )
    hidden = [
        (record, change.attribute)
        for change in p.decisions.changes
        if change.kind == "suppressed"
        for record in change.records.tolist()
    ]
    assert hidden
    assert p.levels
    for record, name in hidden:
        assert p.dataset.to_arrow()[name][record].as_py() is None


def test_an_attribute_that_is_hidden_altogether_may_be_anything() -> None:
    def find_shift(values: list[str]) -> float:
        original = Dataset.from_arrow(pa.table({"a": values, "b": list(values)}))
        nothing = {"a": pa.array([None] * len(values), pa.string()), "b": list(values)}
        return _measure_shift(original, Dataset.from_arrow(pa.table(nothing)), ["a"])

    assert find_shift(["x", "y", "x", "y"]) == 0  # an even spread was there before
    assert find_shift(["x", "x", "x", "y"]) == pytest.approx(0.25)
    assert find_shift(["x", "x"]) == 0


@pytest.mark.parametrize(("share", "is_said"), [(0.0, True), (0.2, True), (0.5, False)])
def test_suppression_beyond_its_limit_is_told(share: float, is_said: bool) -> None:
    """No level of the towns leaves fewer: two of six companies have a size of their own."""
    companies = six_companies(["Roma"] * 6)
    sizes = pa.array(["small", "small", "small", "small", "large", "huge"])
    table = companies.to_arrow().append_column("Size", sizes)
    dataset = Dataset.from_arrow(table, roles={"quasi_identifier": ["Area", "Size"]})
    p = protection.protect(
        dataset,
        [Limit("k_anonymity", at_least=2)],
        is_a={"Area": TOWNS},
        suppression_limit=share,
    )
    assert p.changed_records == 2
    said = [line for line in p.explain() if "more than suppression_limit" in line]
    assert bool(said) is is_said
    assert all("2 of 6 records were suppressed in part or removed (33.3%)" in line for line in said)
