"""Knowledge from the original, matches in the protected release."""

from __future__ import annotations

from collections import Counter, defaultdict
from typing import Any

import hypothesis.strategies as st
import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings

import divulge as dv
from divulge.data import Hierarchy

KNOWS = ["gender", "grade"]
FIRST, SECOND = dv.datasets.school_year_example(1), dv.datasets.school_year_example(2)
LADDER = {str(age): [f"{age // 3 * 3}+", "*"] for age in range(20, 26)}
Row = dict[str, Any]


def people(rows: list[Row], name: str, ages: Any = None) -> dv.Dataset:
    fields = [("id", pa.int64()), ("age", ages or pa.string()), ("sex", pa.string()),
              ("s", pa.string())]  # fmt: skip
    return dv.Dataset.from_arrow(
        pa.Table.from_pylist(rows, pa.schema(fields)),
        roles={"quasi_identifier": ["age", "sex"], "sensitive": ["s"]},
        hierarchies={"age": Hierarchy.from_levels([k, *v] for k, v in LADDER.items())},
        name=name,
    )


class Plain:
    """The same attack by loops over people and records, straight from the words of the page."""

    def __init__(self, before: list[Row], after: list[Row], weights: list[float]) -> None:
        self.before, self.after = before, after
        self.weights = dict(zip((row["id"] for row in before), weights, strict=True))
        self.own = {row["id"]: row for row in before}
        self.counts = {n: Counter(row[n] for row in before) for n in ("age", "sex")}

    def ways(self, name: str, value: Any) -> set[Any]:
        shown = {row[name] for row in self.after} - {None}
        above = {str(value), *(LADDER[str(value)] if name == "age" else ())}
        return shown & above

    def part(self, name: str, value: Any, shown: Any) -> float:
        """What a value weighs where this is shown; 0 if it cannot be theirs."""
        if value is None:
            return float(shown is None)
        if shown not in self.ways(name, value):
            return 0.0
        shares = {}
        for way in self.ways(name, value):
            covered = [v for v in self.counts[name] if v is not None and way in self.ways(name, v)]
            total = sum(self.counts[name][v] for v in covered)
            shares[way] = self.counts[name][value] / total
        return shares[shown] / max(shares.values())

    def hidden(self, row: Row) -> list[str]:
        """What is missing and was there before: what never was is shown to be missing."""
        own = self.own[row["id"]]
        return [n for n in ("age", "sex") if row[n] is None and own[n] is not None]

    def fits(self, person: Row, row: Row, names: list[str]) -> float:
        weight = 1.0
        for name in names:
            weight *= self.part(name, person[name], row[name])
        return weight

    def weight(self, person: Row, row: Row) -> float:
        hidden = self.hidden(row)
        visible = [n for n in ("age", "sex") if n not in hidden]
        shown = self.fits(person, row, visible)
        if not hidden or not shown:
            return shown
        complete = [r for r in self.after if not self.hidden(r)]
        whole = sum(self.fits(person, r, ["age", "sex"]) for r in complete)
        near = sum(self.fits(person, r, visible) for r in complete)
        independent = 1.0
        for name in hidden:
            showing = [r for r in self.after if name not in self.hidden(r)]
            alike = sum(self.part(name, person[name], r[name]) for r in showing)
            independent *= alike / len(showing) if alike else 1 / (len(showing) + 1)
        return shown * (whole + 20 * independent) / (near + 20)

    def records(self, person: Row) -> tuple[bool, float, float]:
        """Singled out, the chance that the best guess is right, belief in the truth."""
        odds = {r["id"]: self.weight(person, r) * self.weights[r["id"]] for r in self.after}
        odds = {i: o for i, o in odds.items() if o > 0}
        mine = odds.get(person["id"], 0.0)
        best = [i for i, o in odds.items() if o >= max(odds.values()) * (1 - 1e-9)]
        right = (person["id"] in best) / len(best) if best else 0.0
        return len(odds) == 1 and mine > 0, right, mine / sum(odds.values()) if odds else 0.0

    def secrets(self, person: Row) -> tuple[bool, float, float]:
        shares: dict[str, float] = defaultdict(float)
        for row in self.before:
            shares[row["s"]] += self.weights[row["id"]] / sum(self.weights.values())
        odds: dict[str, float] = defaultdict(float)
        for row in self.after:
            weight = self.weight(person, row) * self.weights[row["id"]]
            for value, share in shares.items() if row["s"] is None else [(row["s"], 1.0)]:
                if weight > 0:
                    odds[value] += weight * share
        odds = odds or shares  # nobody fits: they believe what they believed before
        mine = odds.get(person["s"], 0.0)
        best = [s for s, o in odds.items() if o >= max(odds.values()) * (1 - 1e-9)]
        right = (person["s"] in best) / len(best) if best else 0.0
        return len(odds) == 1 and mine > 0, right, mine / sum(odds.values()) if odds else 0.0


PERSON = st.tuples(
    st.sampled_from([None, *range(20, 26)]), st.sampled_from("FM"), st.sampled_from("uv"),
    st.sampled_from([0, 0, 1, 2, None]), st.sampled_from([False, False, True]),
    st.sampled_from([False, False, False, True]), st.sampled_from([False, False, False, True]),
)  # fmt: skip


@settings(deadline=None, max_examples=120)
@given(st.lists(PERSON, min_size=1, max_size=14), st.randoms(use_true_random=False), st.booleans())
def test_a_protected_release_is_weighed_as_a_plain_loop_over_people_and_records_does(
    drawn: list[Any], random: Any, weighed: bool
) -> None:
    """Local recoding, hidden cells and secrets, removed records, another order, a prior."""
    before, after = [], []
    for number, (age, sex, s, level, no_sex, no_s, gone) in enumerate(drawn):
        before.append({"id": number, "age": age, "sex": sex, "s": s})
        shown = None if level is None or age is None else [str(age), *LADDER[str(age)]][level]
        if not gone or number == 0:
            after.append({"id": number, "age": shown, "sex": None if no_sex else sex,
                          "s": None if no_s else s})  # fmt: skip
    if all(row["age"] is None and row["sex"] is None and row["s"] is None for row in after):
        return
    visible = [r for r in after if (r["age"], r["sex"], r["s"]) != (None, None, None)]
    weights = [random.choice([1.0, 2.0, 5.0]) if weighed else 1.0 for _ in before]
    plain = Plain(before, visible, weights)
    random.shuffle(after)
    original = people(before, "original", pa.int64())
    release = people(after, "release")
    prior = np.array(weights) if weighed else None
    for model, seeks, told in (("CRS", None, plain.records), ("CAS", "s", plain.secrets)):
        found = dv.records.attack(
            original, model, ["age", "sex"], seeks, release=release, on="id", prior=prior
        )
        expected = [told(person) for person in before]
        assert found.risk() == pytest.approx([each[2] for each in expected], abs=1e-9)
        assert found.certain.posterior == sum(each[0] for each in expected)
        share = sum(w * each[1] for w, each in zip(weights, expected, strict=True)) / sum(weights)
        assert found.probabilistic.posterior == pytest.approx(share, abs=1e-9)
        by = found.by("sex")
        assert sum(each.certain.posterior for each in by.values()) == found.certain.posterior
        assert found.figures["removed"] == len(before) - len(visible)


def test_counting_flatters_where_one_visible_record_stands_among_wildcards() -> None:
    """One record that shows its town among five that hide theirs: 6 fit, and it is 8 in 9."""
    towns = [*range(40), 0, 1, 2, 3, 4]
    original = dv.Dataset.from_arrow(pa.table({"town": towns, "sex": ["F"] * 45}))
    shown = [*range(40), None, None, None, None, None]
    release = dv.Dataset.from_arrow(pa.table({"town": shown, "sex": ["F"] * 45}))
    found = dv.records.attack(original, "CRS", ["town", "sex"], release=release)
    assert found.risk()[39] == pytest.approx(1 / (1 + 5 / 40))
    assert found.certain.posterior == 0
    assert found.claim == "estimate"
    assert "weighted by the probability" in str(found)


def test_an_unprotected_release_is_attacked_like_the_original() -> None:
    for model, seeks in (("CRS", None), ("CAS", "disability"), ("CAS", ["disability", "age"])):
        plain = dv.records.attack(FIRST, model, KNOWS, seeks)
        paired = dv.records.attack(FIRST, model, KNOWS, seeks, release=FIRST)
        assert paired.deterministic == plain.deterministic
        assert paired.probabilistic == pytest.approx(plain.probabilistic)
        assert paired.risk() == pytest.approx(plain.risk())
        assert paired.claim == "exact"
        assert paired.by("gender").to_arrow().equals(plain.by("gender").to_arrow())
    years = [FIRST, SECOND]
    for model, seeks in (("CRL", None), ("CAL", "disability")):
        plain = dv.records.attack(years, model, KNOWS, seeks, on="id")
        paired = dv.records.attack(years, model, KNOWS, seeks, on="id", release=years)
        assert paired.deterministic == plain.deterministic
        assert paired.probabilistic == pytest.approx(plain.probabilistic)
        assert paired.figures["datasets"] == 2


def coarse(dataset: dv.Dataset, name: str = "coarse") -> dv.Dataset:
    """Grades A and B are one, and the others are one."""
    table = dataset.to_arrow()
    place = table.column_names.index("grade")
    grades = ["AB" if grade in "AB" else "CE" for grade in table["grade"].to_pylist()]
    return dv.Dataset.from_arrow(table.set_column(place, "grade", pa.array(grades)), name=name)


def test_one_person_in_a_protected_release() -> None:
    """F with A or B: two records, one with a disability; F with C, D or E: four, three with."""
    release = coarse(FIRST)

    def ask(model: str, grade: str, seeks: str | None = None, **more: Any) -> dv.Assessment:
        target = {"gender": "F", "grade": grade}
        return dv.records.attack(FIRST, model, KNOWS, seeks, target=target, release=release, **more)

    assert tuple(ask("IRS", "E").probabilistic) == (0.1, 0.25)
    assert ask("IRS", "E").figures["matching"] == 4
    inferred = ask("IAS", "C", "disability")
    assert tuple(inferred.probabilistic) == (0.5, 0.75)
    assert inferred.figures["posterior of yes"] == 0.75
    assert ask("IAS", "A", "disability").probabilistic.posterior == 0.5
    assert tuple(ask("IRS", "E", gain={"guesses": 2}).probabilistic) == (0.2, 0.5)


def test_who_is_in_a_protected_release() -> None:
    """Of 3 living girls with A or B 2 were released, of 5 others 4; of boys 2 of 3 and 2 of 4."""
    from .test_models import town

    found = dv.records.attack(FIRST, "CMS", KNOWS, population=town(), release=coarse(FIRST))
    assert (found.secrets, found.certain.posterior, found.right.posterior) == (15, 0, 10)
    assert found.claim == "exact"
    assert sorted(set(np.round(found.risk(), 9))) == pytest.approx([0.5, 2 / 3, 0.8])
    assert found.figures["journalist_risk_highest"] == pytest.approx(1 / 3)
    one = dv.records.attack(
        FIRST, "IMS", KNOWS, population=town(), release=coarse(FIRST),
        target={"gender": "F", "grade": "E"},
    )  # fmt: skip
    assert one.figures["posterior of membership"] == pytest.approx(0.8)
    years: dict[str, Any] = {"population": town(), "on": "id"}
    plain = dv.records.attack([FIRST, SECOND], "CML", KNOWS, **years)
    paired = dv.records.attack(
        [FIRST, SECOND], "CML", KNOWS, **years, release=[coarse(FIRST), SECOND]
    )
    # The second year still shows the grades, so the coarse first one hides nobody.
    assert (paired.certain, paired.right) == (plain.certain, plain.right)
    both = [coarse(FIRST), coarse(SECOND)]
    paired = dv.records.attack([FIRST, SECOND], "CML", KNOWS, **years, release=both)
    assert paired.certain.posterior < plain.certain.posterior


def test_a_year_that_hides_everything_tells_only_who_is_in_it() -> None:
    table = SECOND.to_arrow()
    place = table.column_names.index("grade")
    hidden = dv.Dataset.from_arrow(
        table.set_column(place, "grade", pa.nulls(len(table), pa.string()))
    )
    constant = dv.Dataset.from_arrow(table.set_column(place, "grade", pa.array(["x"] * len(table))))
    knows = KNOWS
    for model, seeks in (("CRL", None), ("CAL", "disability")):
        paired = dv.records.attack(
            [FIRST, SECOND], model, knows, seeks, on="id", release=[None, hidden]
        )
        plain = dv.records.attack([FIRST, constant], model, knows, seeks, on="id")
        assert paired.deterministic == plain.deterministic
        assert paired.probabilistic == pytest.approx(plain.probabilistic)


def test_growth_over_protected_years_is_the_attack_on_each_prefix() -> None:
    years, release = [FIRST, SECOND], [coarse(FIRST), None]
    growth = dv.records.longitudinal(years, "id", KNOWS, "disability", release=release)
    assert [a.figures["datasets"] for a in growth] == [1, 2]
    one = dv.records.attack(FIRST, "CAS", KNOWS, "disability", release=release[0])
    two = dv.records.attack(years, "CAL", KNOWS, "disability", on="id", release=release)
    assert [tuple(a.probabilistic) for a in growth] == [
        tuple(one.probabilistic), tuple(two.probabilistic)]  # fmt: skip
    assert len(growth.chart().records) == 4


def test_a_number_between_two_that_became_one_is_of_it_too() -> None:
    original = dv.Dataset.from_arrow(pa.table({"age": [20, 21, 22, 23], "sex": list("FFFF")}))
    shown = ["20-22", None, "20-22", "23+"]
    release = dv.Dataset.from_arrow(pa.table({"age": shown, "sex": list("FFFF")}))
    found = dv.records.attack(original, "CRS", ["age", "sex"], release=release)
    assert "unplaced" not in found.figures
    assert found.risk()[1] > 0


def test_a_value_of_which_nothing_is_known_is_said_to_be_so() -> None:
    original = dv.Dataset.from_arrow(pa.table({"town": ["A", "B", "C"], "sex": list("FFM")}))
    release = dv.Dataset.from_arrow(
        pa.table({"town": ["north", "north", None], "sex": list("FFM")})
    )
    found = dv.records.attack(original, "CRS", ["town", "sex"], release=release)
    assert found.figures["unplaced"] == 1
    assert found.claim == "estimate"
    assert "may overstate the risk" in str(found)
    ladder = Hierarchy.from_pairs([("A", "north"), ("B", "north"), ("C", "north")])
    told = original.describe(hierarchies={"town": ladder})
    assert (
        "unplaced" not in dv.records.attack(told, "CRS", ["town", "sex"], release=release).figures
    )


def test_a_gain_on_a_protected_release_is_paid_by_the_truth() -> None:
    """Twice the worth for finding a disability: known of girls with C, D or E, who are four."""
    release = coarse(FIRST)
    gain = np.array([[1.0, 0.0], [0.0, 2.0]])  # no, yes
    found = dv.records.attack(FIRST, "CAS", KNOWS, "disability", release=release, gain=gain)
    # F AB: 1 yes of 2: guess yes, wins 2; F CE: 3 yes of 4: 6; M AB: 1 of 2: 2; M CE: no: 2.
    assert found.probabilistic.posterior == pytest.approx((2 + 6 + 2 + 2) / 10)
    by = found.by("gender")
    assert by["F"].probabilistic.posterior == pytest.approx(8 / 6)
    two = dv.records.attack(FIRST, "CRS", KNOWS, release=release, gain={"guesses": 2})
    assert two.probabilistic.posterior == pytest.approx((2 + 2 + 2 + 2) / 10)


def test_a_release_that_does_not_fit_the_original_is_refused() -> None:
    other = dv.datasets.language_example()
    with pytest.raises(dv.InvalidInput, match="has 4 records and the original 10"):
        dv.records.attack(FIRST, "CRS", ["gender"], release=other)
    table = FIRST.to_arrow()
    strange = dv.Dataset.from_arrow(table.set_column(0, "id", pa.array(range(101, 111))))
    with pytest.raises(dv.InvalidInput, match='10 records have an "id" that the original does not'):
        dv.records.attack(FIRST, "CRS", ["gender"], release=strange, on="id")
    with pytest.raises(dv.InvalidInput, match='has no attribute "id"'):
        dv.records.attack(FIRST, "CRS", KNOWS, release=FIRST.select(KNOWS), on="id")
    with pytest.raises(dv.InvalidInput, match='dataset "school year 1" has no attribute "name"'):
        named = dv.Dataset.from_arrow(table.rename_columns(["name", *table.column_names[1:]]))
        dv.records.attack(FIRST, "CRS", KNOWS, release=named, on="name")
    with pytest.raises(dv.InvalidInput, match='has no attribute "grade"'):
        dv.records.attack(FIRST, "CRS", KNOWS, release=FIRST.select(["id", "gender"]))
    with pytest.raises(dv.InvalidInput, match="3 are given for 2 datasets"):
        dv.records.attack([FIRST, SECOND], "CRL", ["grade"], on="id", release=[None] * 3)
    nothing = dv.Dataset.from_arrow(pa.table({"gender": pa.nulls(10, pa.string())}))
    with pytest.raises(dv.InvalidInput, match="every record is removed"):
        dv.records.attack(FIRST, "CRS", ["gender"], release=nothing)
