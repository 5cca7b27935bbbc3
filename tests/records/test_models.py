"""The twelve attack models on the examples of Alvim et al. 2022, by hand-checked figures."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction
from pathlib import Path
from typing import Any

import hypothesis.strategies as st
import numpy as np
import pyarrow as pa
import pytest
from hypothesis import assume, given, settings

import divulge as dv
from divulge import work
from divulge.classes import tuning
from divulge.records.inference.gains import build_gain

from .plain import classes

KNOWS = ["gender", "grade"]
FIRST, SECOND = dv.datasets.school_year_example(1), dv.datasets.school_year_example(2)
YEARS = [FIRST, SECOND]


def town() -> dv.Dataset:
    """Everybody who might be a pupil: the ten of Table 3a, and five more."""
    rows = FIRST.to_arrow().select(["id", "age", *KNOWS]).to_pylist()
    more = [(11, 19, "F", "A"), (12, 30, "F", "E"), (13, 30, "M", "D"), (14, 31, "M", "D"),
            (15, 18, "M", "A")]  # fmt: skip
    rows += [{"id": i, "age": a, "gender": g, "grade": r} for i, a, g, r in more]
    return dv.Dataset.from_arrow(
        pa.Table.from_pylist(rows),
        roles={"identifier": ["id"], "quasi_identifier": ["age", *KNOWS]},
        name="town",
    )


def figures(assessment: dv.Assessment) -> tuple[Any, ...]:
    return (*assessment.deterministic, *assessment.probabilistic)


def test_table_3a_knowing_gender_and_grade_one_pupil_is_singled_out() -> None:
    found = dv.records.attack(FIRST, "CRS", KNOWS)
    assert figures(found) == (0, 0.1, 0.1, 0.5)
    assert found.figures["capacity"] == 5


def test_table_3a_knowing_gender_and_grade_disability_of_six_is_certain() -> None:
    assert figures(dv.records.attack(FIRST, "CAS", KNOWS, "disability")) == (0, 0.6, 0.5, 0.8)


def test_table_4_the_second_year_makes_disability_of_eight_certain() -> None:
    found = dv.records.attack(YEARS, "CAL", KNOWS, "disability", on="id")
    assert figures(found) == (0, 0.8, 0.5, 0.9)
    assert found.multiplicative_leakage == pytest.approx(1.8)


def test_table_10_the_second_year_singles_out_six() -> None:
    found = dv.records.attack(YEARS, "CRL", KNOWS, on="id")
    assert figures(found) == (0, 0.6, 0.1, 0.8)
    assert found.multiplicative_leakage == pytest.approx(8)


def test_table_9_the_native_language_of_somebody_one_meets() -> None:
    people = dv.datasets.language_example()
    found = dv.records.attack(people, "CAS", ["gender", "age"], "language")
    assert figures(found) == (0, 0.5, 0.5, 0.75)


@pytest.mark.skipif(not hasattr(dv.qif, "Hyper"), reason="this build has no gain functions")
def test_table_2_a_right_guess_that_is_worth_four_dollars_is_worth_three_on_average() -> None:
    people = dv.datasets.language_example()
    found = dv.records.attack(people, "CAS", ["gender", "age"], "language", gain=4 * np.eye(3))
    assert tuple(found.probabilistic) == (2, 3)


def test_the_prosecutor_looks_for_one_person() -> None:
    alone = dv.records.attack(FIRST, "prosecutor", KNOWS, target={"gender": "F", "grade": "E"})
    assert (alone.model, figures(alone)) == ("IRS", (0, 1, 0.1, 1))
    among = dv.records.attack(FIRST, "IRS", KNOWS, target={"gender": "F", "grade": "C"})
    assert figures(among) == (0, 0, 0.1, pytest.approx(1 / 3))


def test_the_disability_of_one_person() -> None:
    open_ = dv.records.attack(
        FIRST, "IAS", KNOWS, "disability", target={"gender": "F", "grade": "A"}
    )
    assert figures(open_) == (0, 0, 0.5, 0.5)
    assert open_.figures["posterior of yes"] == 0.5
    known = dv.records.attack(
        FIRST, "IAS", KNOWS, "disability", target={"gender": "F", "grade": "C"}
    )
    assert figures(known) == (0, 1, 0.5, 1)
    assert known.secrets == 1


def test_one_person_over_two_years() -> None:
    target = [{"gender": "F", "grade": "A"}, {"grade": "B"}]
    found = dv.records.attack(YEARS, "IAL", KNOWS, "disability", on="id", target=target)
    assert figures(found) == (0, 1, 0.5, 1)
    gone = [{"gender": "M", "grade": "D"}, None]
    assert figures(dv.records.attack(YEARS, "IRL", KNOWS, on="id", target=gone)) == (0, 1, 0.1, 1)
    both = [{"gender": "M", "grade": "B"}, {"grade": "B"}]
    assert (
        dv.records.attack(YEARS, "IRL", KNOWS, on="id", target=both).probabilistic.posterior == 0.5
    )


def test_who_is_in_the_release() -> None:
    """In town live F A 3 (2 released), F C 3 (3), F E 2 (1), M B 2 (2), M D 4 (2), M A 1 (0)."""
    found = dv.records.attack(FIRST, "CMS", KNOWS, population=town())
    assert found.secrets == 15
    assert (found.certain.posterior, found.right.posterior) == (6, 2 + 3 + 1 + 2 + 2 + 1)
    assert found.right.prior == 10
    average = (2 / 3 + 3 / 3 + 1 / 2 + 2 / 2 + 2 / 4) / 10
    assert found.figures["journalist_risk_average"] == pytest.approx(average)
    assert found.figures["journalist_risk_highest"] == 0.5


def test_who_bears_the_risk_of_being_known_to_be_in_the_release() -> None:
    """Of girls 6 of 8 were released, of boys 4 of 7; what is certain are F C, M B and M A."""
    found = dv.records.attack(FIRST, "CMS", KNOWS, population=town())
    chances = {("F", "A"): 2 / 3, ("F", "C"): 1, ("F", "E"): 1 / 2, ("M", "B"): 1, ("M", "D"): 1 / 2,
               ("M", "A"): 1}  # fmt: skip
    people = town().to_arrow().to_pylist()
    expected = [chances[person["gender"], person["grade"]] for person in people]
    assert found.risk() == pytest.approx(expected)
    by = found.by("gender")
    assert (by["F"].secrets, by["F"].certain.posterior, by["F"].right.posterior) == (8, 3, 6)
    assert (by["M"].secrets, by["M"].certain.posterior, by["M"].right.posterior) == (7, 3, 5)
    assert (by["F"].right.prior, by["M"].right.prior) == (6, 4)
    # Ages are not known to them: of those of 30, nobody was released, and two classes are open.
    assert sum(each.right.posterior for each in found.by("age").values()) == 11
    thirty = found.by("age")[30]
    assert (thirty.secrets, thirty.right.posterior) == (2, 1)


def test_a_group_that_the_release_does_not_tell_is_judged_by_chance() -> None:
    found = dv.records.attack(FIRST.select(["id", *KNOWS]), "CMS", KNOWS, population=town())
    by = found.by("age")
    assert by[31].right.posterior == 0.5
    assert sum(each.right.posterior for each in by.values()) == pytest.approx(11)


def test_a_prior_and_a_gain_on_membership() -> None:
    """They win 3 for naming somebody who is in the release, and lose nothing."""
    gain = np.array([[1.0, 0.0], [0.0, 3.0]])
    found = dv.records.attack(FIRST, "CMS", KNOWS, population=town(), gain=gain)
    # F A: 2 in; F C: 3; F E: 1 in; M B: 2; M D: 2 in; M A: nobody in.
    assert found.probabilistic.posterior == pytest.approx((6 + 9 + 3 + 6 + 6 + 1) / 15)
    assert found.probabilistic.prior == pytest.approx(3 * 10 / 15)
    assert "worth" in str(found)
    assert found.figures["capacity"] == pytest.approx(
        max(2 / 10, 1 / 5) + 3 / 10 + max(1 / 10, 1 / 5) + 2 / 10 + max(2 / 10, 2 / 5) + 1 / 5
    )
    weights = np.array([1] * 14 + [11])
    heavy = dv.records.attack(FIRST, "CMS", KNOWS, population=town(), prior=weights)
    # The last one is the boy with A: certain, and eleven times as likely to be asked about.
    assert heavy.deterministic.posterior == pytest.approx((5 + 11) / 25)
    assert heavy.probabilistic.posterior == pytest.approx((10 + 11) / 25)
    assert "not how many people it stands for" in str(heavy)
    one = dv.records.attack(
        FIRST, "IMS", KNOWS, population=town(), gain=gain, target={"gender": "F", "grade": "A"}
    )
    assert tuple(one.probabilistic) == pytest.approx((2, 2))


def test_the_journalist_asks_of_one_person() -> None:
    def ask(gender: str, grade: str) -> dv.Assessment:
        target = {"gender": gender, "grade": grade}
        return dv.records.attack(FIRST, "journalist", KNOWS, population=town(), target=target)

    assert ask("F", "A").figures["posterior of membership"] == pytest.approx(2 / 3)
    assert figures(ask("M", "A")) == (0, 1, pytest.approx(2 / 3), 1)
    assert ask("M", "A").figures["posterior of membership"] == 0


def test_membership_with_a_second_year() -> None:
    """The second year knows pupil 11 (grade A), who is of the class F A but not in the first."""
    found = dv.records.attack(YEARS, "CML", KNOWS, population=town(), on="id")
    # F A then B: released; F A then A: two people, one released; F E then E and gone; M D then D,
    # and gone: three people, one released.
    assert found.secrets == 15
    assert found.certain.posterior == 1 + 3 + 1 + 1 + 2 + 1 + 1
    assert found.right.posterior == 10 + 1 + 2
    target = [{"gender": "F", "grade": "A"}, {"grade": "A"}]
    one = dv.records.attack(YEARS, "IML", KNOWS, population=town(), on="id", target=target)
    assert one.figures["posterior of membership"] == 0.5


@pytest.mark.parametrize("duplicates", ["first", "random"])
def test_membership_keeps_the_same_record_of_an_id_on_both_sides(duplicates: Any) -> None:
    """Whichever of a pupil's records of the second year is kept, the pupil is found by it."""
    rows = SECOND.to_arrow().to_pylist()
    other = [row | {"grade": f"again {place}"} for place, row in enumerate(rows)]
    second = dv.Dataset.from_arrow(pa.Table.from_pylist(rows + other), name="twice")
    asked: dict[str, Any] = {"population": town(), "on": "id"}
    with pytest.raises(work.InvalidInput, match="have an id that another record has"):
        dv.records.attack([FIRST, second], "CML", KNOWS, **asked)
    for seed in range(5):
        found = dv.records.attack(
            [FIRST, second], "CML", KNOWS, duplicates=duplicates, seed=seed, **asked
        )
        assert found.secrets == 15
        assert found.figures["records_dropped"] == len(rows)
        if duplicates == "first":
            assert figures(found) == figures(dv.records.attack(YEARS, "CML", KNOWS, **asked))


def test_the_everyday_names_are_the_same_models() -> None:
    one = {"gender": "F", "grade": "C"}
    for name, model, more in (
        ("marketer", "CRS", {}),
        ("prosecutor", "IRS", {"target": one}),
        ("journalist", "IMS", {"target": one, "population": town()}),
    ):
        told = dv.records.attack(FIRST, name, KNOWS, **more)
        assert told.to_dict() == dv.records.attack(FIRST, model, KNOWS, **more).to_dict()
        assert told.model == model
    assert dv.records.attack(FIRST, "marketer", KNOWS).probabilistic.posterior == 0.5


def test_the_journalist_risk_of_other_tools_has_its_own_name() -> None:
    """One over the people of a record's class, whether or not they are in the release."""
    living = {("F", "A"): 3, ("F", "C"): 3, ("F", "E"): 2, ("M", "B"): 2, ("M", "D"): 4}
    rows = FIRST.to_arrow().to_pylist()
    expected = [1 / living[row["gender"], row["grade"]] for row in rows]
    found = dv.records.journalist_risk(FIRST, town(), KNOWS)
    assert found.values == pytest.approx(expected)
    told = dv.records.attack(FIRST, "CMS", KNOWS, population=town())
    assert told.figures["journalist_risk_average"] == pytest.approx(np.mean(expected))


def test_who_bears_the_risk_of_membership_over_two_years() -> None:
    found = dv.records.attack(YEARS, "CML", KNOWS, population=town(), on="id")
    by = found.by("gender")
    assert sum(each.certain.posterior for each in by.values()) == found.certain.posterior == 10
    assert sum(each.right.posterior for each in by.values()) == found.right.posterior == 13
    assert found.risk().sum() == pytest.approx(13)


def test_a_population_that_lacks_the_released_is_refused() -> None:
    small = dv.Dataset.from_arrow(town().to_arrow().slice(3))
    with pytest.raises(dv.InvalidInput, match="2 classes of what is known have more records in"):
        dv.records.attack(FIRST, "CMS", KNOWS, population=small)


def test_who_bears_the_risk() -> None:
    by = dv.records.attack(FIRST, "CAS", KNOWS, "disability").by("gender")
    assert (by["F"].secrets, by["F"].certain.posterior, by["F"].right.posterior) == (6, 4, 5)
    assert (by["M"].secrets, by["M"].certain.posterior, by["M"].right.posterior) == (4, 2, 3)


def test_a_prior_on_records_weighs_them() -> None:
    weights = np.array([4, 1, 1, 1, 1, 1, 1, 1, 1, 1])
    found = dv.records.attack(FIRST, "CAS", KNOWS, "disability", prior=weights)
    # F A: no 4, yes 1; F C: yes 3; M B: 1 and 1; F E and M D: no 1 and 2; of 13.
    assert found.probabilistic.posterior == pytest.approx((4 + 3 + 1 + 1 + 2) / 13)
    assert found.deterministic.posterior == pytest.approx(6 / 13)
    assert found.probabilistic.prior == pytest.approx(8 / 13)
    assert found.risk()[0] == pytest.approx(4 / 5)


def test_who_is_ruled_out_before_stands_in_nobodys_way() -> None:
    weights = np.array([1, 0, 2, 0, 1, 3, 0, 1, 1, 0], float)
    rows = [
        row | {"place": place, "w": weight}
        for place, (row, weight) in enumerate(
            zip(FIRST.to_arrow().to_pylist(), weights, strict=True)
        )
    ]
    met = [row for row in rows if row["w"]]
    for seeks, model in ((None, "CR"), ("disability", "CA")):
        truth = seeks or "place"
        alone = {
            group[0]["place"]: group
            for group in classes(met, KNOWS)
            if len({row[truth] for row in group}) == 1
        }
        certain = sum(row["w"] for group in alone.values() for row in group) / weights.sum()
        for release in (None, FIRST):
            found = dv.records.attack(
                FIRST, f"{model}S", KNOWS, seeks, prior=weights, release=release
            )
            assert found.deterministic.posterior == pytest.approx(certain)
            assert found.deterministic.posterior > dv.records.attack(
                FIRST, f"{model}S", KNOWS, seeks
            ).deterministic.posterior  # fmt: skip
    only = np.eye(10)[3]
    for release in (None, FIRST):
        found = dv.records.attack(FIRST, "CRS", KNOWS, prior=only, release=release)
        assert figures(found) == (1, 1, 1, 1)
    for seeks, model in ((None, "IRS"), ("disability", "IAS")):
        target = {name: rows[3][name] for name in KNOWS}
        for release in (None, FIRST):
            found = dv.records.attack(
                FIRST, model, KNOWS, seeks, target=target, prior=only, release=release
            )
            assert figures(found) == (1, 1, 1, 1)


@pytest.mark.parametrize("scale", [1e-14, 1e-9, 1e9])
@pytest.mark.parametrize("release", [None, FIRST])
def test_a_prior_may_be_chances_or_any_multiple_of_them(
    scale: float, release: dv.Dataset | None
) -> None:
    weights = np.arange(1.0, 11.0)
    for gain in (None, {"guesses": 2}):
        one, other = (
            dv.records.attack(FIRST, "CRS", KNOWS, prior=prior, gain=gain, release=release)
            for prior in (weights, weights * scale)
        )
        assert figures(other) == pytest.approx(figures(one))
        for gender, found in other.by("gender").items():
            assert figures(found) == pytest.approx(figures(one.by("gender")[gender]))


def test_a_prior_weighs_the_groups_as_it_weighs_all() -> None:
    weights = np.array([4, 1, 1, 1, 1, 1, 1, 1, 1, 1])
    found = dv.records.attack(FIRST, "CAS", KNOWS, "disability", prior=weights)
    by = found.by("gender")
    girls = sum(w for w, g in zip(weights, FIRST.to_arrow()["gender"].to_pylist(), strict=True)
                if g == "F")  # fmt: skip
    assert by["F"].probabilistic.posterior * girls + by["M"].probabilistic.posterior * (
        13 - girls
    ) == pytest.approx(found.probabilistic.posterior * 13)
    assert by["F"].deterministic.posterior == pytest.approx(4 / girls)
    assert "not how many people it stands for" in str(found)


@pytest.mark.parametrize(
    "gain", [{"guesses": 2}, {"worth": {"yes": 5}, "wrong": 1}, np.array([[1, 0.25], [0, 3]])]
)
def test_what_a_gain_wins_from_groups_adds_up_to_what_it_wins_from_all(gain: Any) -> None:
    for prior in (None, np.arange(1, 11)):
        found = dv.records.attack(FIRST, "CAS", KNOWS, "disability", gain=gain, prior=prior)
        weights = np.ones(10) if prior is None else prior
        won = 0.0
        for value, group in found.by("gender").items():
            members = np.array(FIRST.to_arrow()["gender"].to_pylist()) == value
            won += group.probabilistic.posterior * weights[members].sum()
        assert won / weights.sum() == pytest.approx(found.probabilistic.posterior)


def test_gains_by_name_on_everybody_and_on_one() -> None:
    """Two guesses at a record: classes of 2, 3, 1, 2 and 2 pupils give 2 + 2 + 1 + 2 + 2."""
    two = dv.records.attack(FIRST, "CRS", KNOWS, gain={"guesses": 2})
    assert tuple(two.probabilistic) == pytest.approx((0.2, 0.9))
    assert two.right.posterior == 5
    near = dv.records.attack(FIRST, "CAS", ["gender"], "age", gain={"within": 100})
    assert tuple(near.probabilistic) == (1, 1)
    linked = dv.records.attack(YEARS, "CRL", KNOWS, on="id", gain={"guesses": 2})
    assert linked.probabilistic.posterior == pytest.approx(1.0)
    one = dv.records.attack(
        FIRST, "IRS", KNOWS, target={"gender": "F", "grade": "C"}, gain={"guesses": 2}
    )
    assert tuple(one.probabilistic) == pytest.approx((0.2, 2 / 3))
    paid = dv.records.attack(
        FIRST, "IAS", KNOWS, "disability", target={"gender": "F", "grade": "C"},
        gain={"worth": {"yes": 10}},
    )  # fmt: skip
    assert tuple(paid.probabilistic) == (5, 10)
    growth = dv.records.longitudinal(
        YEARS, "id", KNOWS, gain={"guesses": 2}, prior=np.arange(1, 11)
    )
    again = dv.records.attack(
        YEARS, "CRL", KNOWS, on="id", gain={"guesses": 2}, prior=np.arange(1, 11)
    )
    assert growth[1].probabilistic == again.probabilistic


@pytest.mark.parametrize("values", [["None", "yes", None], [None, "yes", "None"]])
def test_a_value_that_reads_none_is_not_the_missing_value(values: list[str | None]) -> None:
    def find_worth(worth: dict[str | None, float]) -> list[float]:
        gain = build_gain({"worth": worth}, values)
        assert gain is not None
        return [float(each) for each in np.diag(gain.matrix(3))]

    assert find_worth({"None": 5}) == [5.0 if value == "None" else 0.0 for value in values]
    assert find_worth({None: 7}) == [7.0 if value is None else 0.0 for value in values]


def test_where_no_value_reads_none_the_missing_value_goes_by_that_name() -> None:
    gain = build_gain({"worth": {"None": 5}}, ["no", "yes", None])
    assert gain is not None
    assert np.diag(gain.matrix(3)).tolist() == [0, 0, 5]


@pytest.mark.parametrize(
    ("gain", "said"),
    [
        ({"gueses": 2}, 'Did you mean "guesses"'),
        ({"guesses": 0}, "a whole number from 1 on"),
        ({"guesses": 2, "within": 1}, "give one of guesses, within, worth"),
        ({"within": 1}, "within is about numbers"),
        ({"worth": {"yes": -1}}, "what naming each value rightly brings, 0 or more"),
        ({"worth": {"yes": 1}, "wrong": float("inf")}, "wrong is a number, 0 or more"),
        ({"worth": {"perhaps": 1}}, "worth names 1 value that the secret does not have"),
        (np.eye(3), "it needs one for each of the 2 secrets"),
    ],
)
def test_a_gain_that_does_not_fit_is_said(gain: Any, said: str) -> None:
    with pytest.raises(dv.InvalidInput) as error:
        dv.records.attack(FIRST, "CAS", KNOWS, "disability", gain=gain)
    assert said in str(error.value)


def test_several_attributes_are_one_joint_secret() -> None:
    found = dv.records.attack(FIRST, "CAS", ["gender"], ["grade", "disability"])
    joint = [Counter((r["grade"], r["disability"]) for r in group)
             for group in classes(FIRST.to_arrow().to_pylist(), ["gender"])]  # fmt: skip
    assert found.right.posterior == sum(max(each.values()) for each in joint)


ROWS = st.lists(
    st.fixed_dictionaries(
        {
            "a": st.sampled_from([None, 1, 2]),
            "b": st.sampled_from(["x", "y"]),
            "s": st.sampled_from([None, "u", "v", "w"]),
        }
    ),
    min_size=1,
    max_size=25,
)


@settings(deadline=None)
@given(ROWS, st.sampled_from([0, 200_000]))
def test_an_inference_is_a_plain_count_of_classes(
    rows: list[dict[str, Any]], compiled_from: int
) -> None:
    dataset = dv.Dataset.from_arrow(
        pa.Table.from_pylist(
            rows, pa.schema([("a", pa.int64()), ("b", pa.string()), ("s", pa.string())])
        )
    )
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(tuning, "COMPILED_SORT_ROWS", compiled_from)
        found = dv.records.attack(dataset, "CAS", ["a", "b"], "s")
    totals = Counter(r["s"] for r in rows)
    groups = [Counter(r["s"] for r in g) for g in classes(rows, ["a", "b"])]
    assert found.certain.posterior == sum(sum(g.values()) for g in groups if len(g) == 1)
    assert found.right.posterior == sum(max(g.values()) for g in groups)
    capacity = sum(max(n / totals[s] for s, n in g.items()) for g in groups)
    assert found.figures["capacity"] == pytest.approx(capacity)
    expected = []
    for row in rows:
        alike = [r for r in rows if (r["a"], r["b"]) == (row["a"], row["b"])]
        expected.append(sum(r["s"] == row["s"] for r in alike) / len(alike))
    assert found.risk() == pytest.approx(expected)
    assert sum(a.right.posterior for a in found.by("s").values()) == pytest.approx(
        found.right.posterior
    )


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ({"model": "CRX"}, '"CRX" is not an attack model. Did you mean "CRS"?'),
        ({"model": "CAS"}, "seeks: is missing"),
        ({"model": "CRS", "seeks": "disability"}, "for that use CAS"),
        ({"model": "CAS", "seeks": "gender"}, '"gender" is known already'),
        ({"model": "IRS"}, "target: is missing"),
        ({"model": "IRS", "target": {"gender": "F"}}, 'says nothing of "grade"'),
        ({"model": "IRS", "target": {"gender": "F", "grade": "Z"}}, 'value given for "grade"'),
        ({"model": "CRL", "on": "id"}, "for one use CRS"),
        ({"model": "CMS"}, "population: is missing"),
        ({"model": "CRS", "knows": []}, "names no attribute, and no quasi-identifier is declared"),
        ({"model": "CRS", "knows": ["gendre"]}, 'Did you mean "gender"?'),
        ({"model": "CAS", "seeks": "disabilty"}, 'Did you mean "disability"?'),
        ({"model": "CRS", "target": {"gender": "F"}}, "for one use IRS"),
        ({"model": "CRS", "population": FIRST}, "asks CMS"),
        ({"model": "CRS", "prior": "weigth"}, 'there is no weight "weigth"'),
        ({"model": "CRS", "prior": [1, 2]}, "has 2 numbers for 10 records"),
        ({"model": "CRS", "prior": ["a"] * 10}, "prior: contains something that is not a number"),
        ({"model": "IRS", "target": 3}, "target: give a value for each attribute"),
        ({"model": "IRS", "target": "A"}, "target: give a value for each attribute"),
        ({"model": "CRS", "release": "protected.csv"}, "release: give a dataset"),
        ({"model": "CMS", "population": "town.csv"}, "population: give a dataset"),
        ({"model": "CMS", "population": [FIRST, SECOND]}, "2 are given for 1 datasets"),
    ],
)
def test_what_cannot_be_attacked_is_said(arguments: dict[str, Any], said: str) -> None:
    with pytest.raises(dv.InvalidInput) as error:
        dv.records.attack(FIRST, **{"knows": KNOWS, **arguments})
    assert said in str(error.value)


def test_a_killed_run_remembers_what_an_attack_has_counted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with work.run_with(checkpoints=work.Checkpoints(tmp_path)):
        first = dv.records.attack(FIRST, "CAS", KNOWS, "disability")
        monkeypatch.setattr("divulge.records.models.everybody._count_figures", None)
        again = dv.records.attack(FIRST, "CAS", KNOWS, "disability")
    assert again.to_dict() == first.to_dict()
    assert again.risk().tolist() == first.risk().tolist()


def test_a_group_that_hardly_weighs_is_broken_down_as_exactly_as_the_others() -> None:
    people = dv.Dataset.from_arrow(
        pa.table({"town": ["a", "a", "b"], "side": ["left", "right", "right"]}),
        roles={"quasi_identifier": ["side"]},
    )
    found = dv.records.attack(people, knows="side", prior=[3e-10, 3e9, 3e9])
    small = found.by("side")["left"]
    assert small.deterministic.posterior == small.probabilistic.posterior == 1
    towns = found.by("town")
    assert towns["a"].deterministic.posterior == pytest.approx(1e-19)
    assert towns["b"].probabilistic.posterior == 0.5


def test_a_year_of_which_nothing_is_known_rules_nobody_out() -> None:
    later = dv.Dataset.from_arrow(SECOND.to_arrow().select(["id"]), name="later")
    target = {"gender": "F", "grade": "A"}
    alone = dv.records.attack(FIRST, "IRS", KNOWS, target=target)
    linked = dv.records.attack([FIRST, later], "IRL", KNOWS, on="id", target=[target, {}])
    assert figures(linked) == figures(alone)


@pytest.mark.parametrize("scale", [1.0, 1e-15])
def test_groups_add_up_where_every_guess_costs_and_the_prior_is_tiny(scale: float) -> None:
    prior = [scale * weight for weight in (1, 2, 3, 1, 2, 3, 1, 2, 3, 1)]
    for gain in ([[-1, -4], [-3, -2]], [[5, 0], [0, 2]]):
        found = dv.records.attack(FIRST, "CAS", KNOWS, "disability", prior=prior, gain=gain)
        groups = found.by("gender")
        share = {
            value: sum(w for w, g in zip(prior, FIRST.to_arrow()["gender"], strict=True)
                       if g.as_py() == value) / sum(prior)
            for value in "FM"
        }  # fmt: skip
        together = sum(share[value] * groups[value].probabilistic.posterior for value in "FM")
        assert together == pytest.approx(found.probabilistic.posterior)


@pytest.mark.parametrize("gain", [None, {"guesses": 1}])
def test_values_that_weigh_the_same_tie_whatever_the_order_of_their_sum(gain: Any) -> None:
    people = dv.Dataset.from_arrow(
        pa.table({"all": ["x"] * 4, "ill": ["u", "v", "w", "w"], "side": ["l", "r", "r", "r"]})
    )
    prior = [0.3, 0.3, 0.1, 0.2]  # 0.1 + 0.2 is a hair above 0.3
    found = dv.records.attack(people, "CAS", "all", "ill", prior=prior, gain=gain).by("side")
    assert found["l"].probabilistic.posterior == pytest.approx(1 / 3)
    assert found["r"].probabilistic.posterior == pytest.approx(1 / 3)


@given(
    st.lists(
        st.tuples(st.sampled_from("ab"), st.sampled_from("xyz"), st.sampled_from([0, 1, 2, 5])),
        min_size=1,
        max_size=9,
    )
)
def test_capacity_honours_the_prior(rows: list[tuple[str, str, int]]) -> None:
    """By the definition: for each class the most that any possible secret makes it likely."""
    assume(any(weight for _, _, weight in rows))
    table = {"a": [r[0] for r in rows], "s": [r[1] for r in rows], "w": [r[2] for r in rows]}
    dataset = dv.Dataset.from_arrow(pa.table(table))
    total = {s: sum(w for _, v, w in rows if v == s) for s in "xyz"}
    plain = sum(
        max(
            Fraction(sum(w for b, v, w in rows if (b, v) == (a, s)), total[s])
            for s in "xyz"
            if total[s]
        )
        for a in "ab"
    )
    found = dv.records.attack(dataset, "CAS", ["a"], "s", prior="w")
    assert found.figures["capacity"] == pytest.approx(float(plain))
    people = dv.records.attack(dataset, "CRS", ["a"], prior="w")
    seen = sum(any(w for b, _, w in rows if b == a) for a in "ab")
    assert people.figures["capacity"] == seen
