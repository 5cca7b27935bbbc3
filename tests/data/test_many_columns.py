"""A dataset of many columns is read and categorised as a small one is, column by column."""

from __future__ import annotations

import datetime as dt
from collections.abc import Mapping
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import divulge as dv
from divulge.data import Column, Dataset, Experience, categorise, tuning
from divulge.data.column import encode_array
from divulge.data.encoding import ColumnEncoder
from divulge.data.proposals import name_similarity, value_patterns
from divulge.data.proposals.known_attributes import KnownAttribute
from divulge.data.proposals.name_similarity import NameIndex, split_words

BASE = Experience.shipped()
KINDS: tuple[tuple[st.SearchStrategy[Any], pa.DataType], ...] = (
    (st.text(max_size=2), pa.string()),
    (st.text(max_size=2), pa.large_string()),
    (st.integers(-9, 9), pa.int8()),
    (st.integers(-(2**63), 2**63 - 1), pa.int64()),
    (st.integers(0, 2**64 - 1), pa.uint64()),
    (st.floats(width=32), pa.float32()),
    (st.floats() | st.integers(-3, 3).map(float) | st.just(-0.0), pa.float64()),
    (st.integers(-(2**54), 2**54).map(float), pa.float64()),
    (st.booleans(), pa.bool_()),
    (st.dates(), pa.date32()),
    (st.datetimes(), pa.timestamp("us")),
    (st.times(), pa.time64("us")),
    (st.none(), pa.null()),
)


@st.composite
def arrays(draw: st.DrawFn) -> pa.Array:
    """A few values of any kind, some missing; or codes of them, and of values that are not there."""
    values, kind = draw(st.sampled_from(KINDS))
    array = pa.array(draw(st.lists(st.none() | values, max_size=9)), kind)
    if pa.types.is_null(kind) or not draw(st.booleans()):
        return array
    places = st.none() | st.integers(0, len(array) - 1) if len(array) else st.none()
    indices = pa.array(draw(st.lists(places, max_size=9)), pa.int32())
    return pa.DictionaryArray.from_arrays(indices, array)


def encoded_at_large(array: pa.Array, monkeypatch: pytest.MonkeyPatch) -> Column:
    """The plain twin: as columns of many records are encoded."""
    with monkeypatch.context() as patch:
        patch.setattr(tuning, "MAX_RECORDS_ENCODED_SINGLY", -1)
        return encode_array(array)


def assert_same(one: Column, other: Column) -> None:
    assert one.equals(other)
    assert one.codes.dtype == other.codes.dtype
    assert one.values.type == other.values.type
    assert one.has_missing == other.has_missing


@given(array=arrays())
@settings(max_examples=300)
def test_few_records_are_encoded_as_many_are(
    monkeypatch: pytest.MonkeyPatch, array: pa.Array
) -> None:
    assert_same(encode_array(array), encoded_at_large(array, monkeypatch))


@given(st.lists(st.lists(st.none() | st.floats(-3, 3), max_size=4), min_size=1, max_size=4))
def test_pieces_of_few_records_are_one_column(parts: list[list[float | None]]) -> None:
    encoder = ColumnEncoder()
    for part in parts:
        encoder.add_piece(pa.array(part, pa.float64()))
    whole = encode_array(pa.array([cell for part in parts for cell in part], pa.float64()))
    assert encoder.build_column().equals(whole)


@pytest.mark.parametrize(
    "records",
    [
        tuning.MAX_RECORDS_ENCODED_SINGLY - 1,
        tuning.MAX_RECORDS_ENCODED_SINGLY,
        tuning.MAX_RECORDS_ENCODED_SINGLY + 1,
    ],
)
def test_a_column_is_the_same_on_both_sides_of_few(
    records: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    day = dt.date(2020, 1, 1)
    for cells in (
        [i % 7 for i in range(records)],
        [f"v{i % 300}" if i % 5 else None for i in range(records)],
        [day + dt.timedelta(i % 40) for i in range(records)],
    ):
        array = pa.array(cells)
        assert_same(encode_array(array), encoded_at_large(array, monkeypatch))


def test_codes_that_point_outside_of_their_list_are_not_looked_up() -> None:
    indices = pa.array([0, -1], pa.int32())
    damaged = pa.DictionaryArray.from_arrays(indices, pa.array(["a"]), safe=False)
    with pytest.raises(pa.ArrowInvalid):
        ColumnEncoder().add_piece(damaged)


# Names as files have them: known ones, run together, misspelt, numbered, and unheard-of ones.
LETTERS = st.text("abcdeosüß_' 1Z", max_size=9)
KNOWN = st.sampled_from([known.name for known in BASE])
NAMES = st.one_of(
    KNOWN,
    KNOWN.map(lambda name: name.title().replace(" ", "")),
    KNOWN.flatmap(lambda name: st.integers(0, len(name)).map(lambda i: name[:i] + name[i + 1 :])),
    st.tuples(KNOWN, st.sampled_from([" 2019", "_b", " of the ", "quxomat"])).map("".join),
    st.tuples(KNOWN, KNOWN).map(" ".join),
    st.tuples(st.just("quxomat"), LETTERS).map("".join),
    LETTERS,
)


@given(st.lists(NAMES, max_size=30), st.lists(NAMES, max_size=6))
@settings(max_examples=150)
def test_names_that_are_looked_up_are_those_found_by_comparing_with_every_one(
    known: list[str], texts: list[str]
) -> None:
    found = NameIndex(known).find_similar(map(split_words, texts))
    for text in texts:
        degrees = [
            (place, name_similarity.measure_similarity(text, name))
            for place, name in enumerate(known)
        ]
        assert found.get(split_words(text), []) == [
            (p, d) for p, d in degrees if d >= tuning.SIMILARITY_THRESHOLD
        ]


def plainly(described: Mapping[str, str], base: Experience) -> dict[str, tuple[Any, ...]]:
    """The plain twin of rules 2 to 4: everything is compared with everything, until it rests."""
    found = {name: borrowed(name, said, list(base)) for name, said in described.items()}
    while True:
        concluded = [
            KnownAttribute(name, role, topic, "the conclusions for these data")
            for name, (role, status, _, topic) in found.items()
            if status == "settled"
        ]
        again = {
            name: borrowed(name, described[name], [*base, *concluded])
            if proposal[1] == "unknown"
            else proposal
            for name, proposal in found.items()
        }
        if again == found:
            return found
        found = again


def borrowed(name: str, description: str, known: list[KnownAttribute]) -> tuple[Any, ...]:
    reasons: dict[Any, str] = {}
    degrees: dict[Any, float] = {}
    topic = ""
    for what, text in (("name", name), ("description", description)):
        alike = [
            (degree + (tuning.OWN_BASE_BONUS if k.is_own else 0), k)
            for k in known
            if (degree := name_similarity.measure_similarity(text, k.name))
            >= tuning.SIMILARITY_THRESHOLD
        ]
        best = max((d for d, _ in alike), default=0.0)
        margin = tuning.TIE_MARGIN if best < 1 else 0.0
        for degree, k in sorted(alike, key=lambda pair: -pair[0]):
            if degree >= best - margin:
                how = "is" if degree >= 0.98 else "is like"
                reasons.setdefault(k.role, f'its {what} {how} "{k.name}" in {k.source}: {k.role}')
                degrees[k.role] = max(degree, degrees.get(k.role, 0.0))
                numbers = {"id", "identifier", "number", "record", "unique", "uid", "code"}
                says_what = degree >= 0.98 or set(name_similarity.split_words(k.name)) - numbers
                topic = topic or (k.topic if says_what else "number")
    if not reasons:
        return None, "unknown", ("not recognised",), ""
    if len(reasons) > 1 and degrees.get("time", 1.0) < 0.95:
        del reasons["time"], degrees["time"]
    first = max(degrees, key=lambda role: degrees[role])
    why = (reasons[first], *(said for role, said in reasons.items() if role != first))
    if len(reasons) == 1:
        return first, "settled", why, topic
    if any(d >= degrees[first] - tuning.CLEAR_LEAD for role, d in degrees.items() if role != first):
        return None, "conflict", tuple(reasons.values()), topic
    return first, "doubt", why, topic


@given(
    st.dictionaries(NAMES, st.just("") | NAMES, max_size=12),
    st.dictionaries(NAMES, st.sampled_from(["identifier", "sensitive"]), max_size=4),
)
@settings(max_examples=40)
def test_roles_and_reasons_are_those_of_comparing_everything_with_everything(
    described: dict[str, str], own: dict[str, Any]
) -> None:
    base = Experience(BASE.known[:150]).accept(own)
    found = categorise(described, base).proposals
    decided = {name.casefold(): role for name, role in own.items()}
    for name, (role, status, reasons, topic) in plainly(described, base).items():
        proposal = found[name]
        if name.casefold() in decided:  # what a person decided of this very name
            assert (proposal.role, proposal.status) == (decided[name.casefold()], "settled")
            continue
        if any("only one attribute" in reason for reason in proposal.reasons):
            continue  # a matter of several, which comes after these rules
        if any("read as" in reason for reason in proposal.reasons):
            continue  # read in full, where these rules know nothing
        assert (proposal.role, proposal.status) == (role, status)
        assert (proposal.reasons, proposal.topic) == (reasons, topic)


def test_work_grows_with_the_columns_and_not_with_their_square(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    measured = 0

    def count(*forms: Any) -> float:
        nonlocal measured
        measured += 1
        return degree(*forms)

    degree = name_similarity._score_similarity
    monkeypatch.setattr(name_similarity, "_score_similarity", count)
    work = {}
    for columns in (300, 1_200):
        measured = 0
        letters = [
            f"{i:04d}".translate(str.maketrans("0123456789", "bcdfghjklm")) for i in range(columns)
        ]
        categorise(
            {f"{word * 2} {'income' if i % 2 else 'zz'}": "" for i, word in enumerate(letters)}
        )
        work[columns] = measured
    assert work[1_200] <= 5 * work[300]
    assert work[1_200] < 20 * 1_200


def test_names_that_differ_by_a_number_are_one_case(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[int] = []
    alike = NameIndex._find_similar_plainly

    def count(index: NameIndex, texts: Any) -> Any:
        found = alike(index, texts)
        asked.append(len(found))
        return found

    monkeypatch.setattr(NameIndex, "_find_similar_plainly", count)
    found = categorise({f"answer_{number}": "" for number in range(500)})
    assert max(asked) == 1
    assert list(found.proposals) == [f"answer_{number}" for number in range(500)]


SHAPES = st.sampled_from(
    ["a@b.org", "a b@c.org", "a\x0bb@c.org", "12345", "12345\n", "01234", "+39 06 1234567", "€ 5",
     "5\tEUR", "1.2.2020", "10.0.0.1", "123.456.789-01", "SW1A 1AA", "1000-123", "", "x"]
)  # fmt: skip


@given(st.lists(SHAPES, min_size=2, max_size=45))
@settings(max_examples=200)
def test_a_shape_is_told_as_by_counting_all_that_match(texts: list[str]) -> None:
    for _, _, pattern in value_patterns._SHAPES:
        matching = pc.sum(pc.match_substring_regex(pa.array(texts), f"^(?:{pattern})$")).as_py()
        told = value_patterns._has_shape(pattern, texts)
        assert told == (matching >= tuning.NEARLY_ALL_SHARE * len(texts))


def test_a_name_that_is_given_twice_is_said_once() -> None:
    people = Dataset.from_arrow(pa.table({"age": [1], "sex": [2]}))
    with pytest.raises(dv.InvalidInput, match='names "age" more than once') as caught:
        people.select(["age", "sex", "age", "age"])
    assert len(caught.value.problems) == 1
