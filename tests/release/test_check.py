import json
from dataclasses import replace
from pathlib import Path

import jsonschema
import pytest
from tests.release_files import write_release

from divulge import Release, Verdict, datasets
from divulge.assessment import Most
from divulge.release import result_schema
from divulge.work import InvalidInput


def checked(path: Path) -> Verdict:
    return Release.load(path).check()


def test_a_release_passes_when_every_limit_holds(tmp_path: Path) -> None:
    verdict = checked(write_release(tmp_path))
    assert verdict.passed
    [row] = verdict.table().to_pylist()
    assert row["deterministic.posterior"] == 0.1
    assert row["probabilistic.posterior"] == 0.5
    assert row["knows"] == ["gender", "grade"]
    assert row["passed"]


def test_a_release_fails_when_one_limit_does(tmp_path: Path) -> None:
    verdict = checked(write_release(tmp_path, ("at_least = 1", "at_least = 2")))
    assert not verdict.passed
    assert [outcome.held for outcome in verdict.outcomes] == [True, False]
    assert str(verdict.sentences[0]) == "1 of 2 limits does not hold."
    assert verdict.keeps_limits(verdict.assessments[0]), "the dataset's limit is not theirs"


def test_an_only_limit_that_fails_is_said_to_be_the_only_one(tmp_path: Path) -> None:
    verdict = checked(write_release(tmp_path, ("at_least = 1", "at_least = 2")))
    verdict = replace(verdict, outcomes=verdict.outcomes[1:])
    assert str(verdict.sentences[0]) == "The only limit of the release does not hold."
    assert repr(verdict) == "Verdict(FAIL: 1 of 1 limits does not hold)"


def test_a_limit_that_is_not_shown_to_hold_fails_and_is_told_apart(tmp_path: Path) -> None:
    whole = checked(write_release(tmp_path))
    [exact] = whole.assessments
    least = replace(exact, claim="bound", most=Most(certain=9, right=9))
    judged = [whole.outcomes[0].limit.judge(least), whole.outcomes[1]]
    verdict = replace(whole, assessments=[least], outcomes=judged)
    assert not verdict.passed
    assert [str(said) for said in verdict.sentences[:2]] == [
        "1 of 2 limits does not hold.",
        "1 limit holds for the lower bound of the risk but not for its upper bound, so it is not "
        "shown to hold.",
    ]
    told = verdict.to_dict()
    jsonschema.validate(told, result_schema())
    assert told["limits"][0]["most"] == told["assessments"][0]["deterministic"]["most"] == 0.9
    assert judged[0].found == "10% to 90%"
    marks = {(r["success"], r["kind"]): r["share"] for r in verdict.chart().records}
    assert marks["known for certain", "at most"] == 0.9
    assert marks["known for certain", "after"] == 0.1
    assert not any(mark["kind"] == "at most" for mark in whole.chart().records)


def test_a_limit_that_names_nobody_is_everybodys(tmp_path: Path) -> None:
    more = '\n[[adversary]]\nname = "colleague"\nattack = "records"\nknows = "age"\n'
    path = write_release(tmp_path, ('adversary = "neighbour"\nmeasure', "measure"), extra=more)
    assert [outcome.subject for outcome in checked(path).outcomes] == [
        "neighbour",
        "colleague",
        "pupils",
    ]


@pytest.mark.parametrize(
    ("old", "new", "wanted"),
    [
        (
            'knows = ["gender", "grade"]',
            'knows = ["gender", "gender"]',
            'adversary "neighbour", dataset "pupils", knows: names "gender" more than once.',
        ),
        (
            "at_least = 1",
            'at_least = 1\namong = ["grade", "grade"]',
            'limit 2, dataset "pupils", among: names "grade" more than once.',
        ),
    ],
)
def test_what_only_a_run_shows_is_told_with_its_place_in_the_file(
    tmp_path: Path, old: str, new: str, wanted: str
) -> None:
    path = write_release(tmp_path, (old, new))
    with pytest.raises(InvalidInput) as raised:
        checked(path)
    assert str(raised.value) == f"{path}, {wanted}"


def test_without_limits_or_adversaries_the_verdict_says_what_it_is_worth(tmp_path: Path) -> None:
    datasets.school_year_example().write(tmp_path / "pupils.csv")
    path = tmp_path / "release.toml"
    dataset = '[[dataset]]\nname = "p"\nsource = "pupils.csv"\n'
    path.write_text(dataset + 'roles = { non_identifying = ["age", "gender", "grade"] }\n')
    verdict = checked(path)
    assert verdict.status == "not judged"
    assert not verdict.passed
    assert [str(sentence) for sentence in verdict.sentences] == [
        'Not judged: of dataset "p", 2 attributes have no role (id and disability). Give each one, '
        "or say what becomes of attributes without a role "
        '(unlisted = "drop" or "non_identifying").',
        "Not judged: the release sets no limit, so nothing could fail. Add one: a table "
        "[[limit]] says what an adversary may learn at most.",
        "The release names no adversary, so no attack was run.",
    ]


def test_a_table_without_sensitive_cells_keeps_every_limit(tmp_path: Path) -> None:
    path = write_release(
        tmp_path,
        ('attack = "records"', 'attack = "tables"'),
        ('model = "CRS"', "min_frequency = 1"),
        ('knows = ["gender", "grade"]', 'by = ["gender"]'),
        ("at_most = 0.10", "at_most = 0"),
    )
    told = checked(path).to_dict()
    assert (told["assessments"][0]["secrets"], told["limits"][0]["passed"]) == (0, True)
    jsonschema.validate(told, result_schema())


def test_ids_that_are_not_published_are_pointed_out(tmp_path: Path) -> None:
    said = " ".join(str(sentence) for sentence in checked(write_release(tmp_path)).sentences)
    assert 'Of dataset "pupils", ids of people and groups are not published (id)' in said


def test_the_result_keeps_to_its_published_schema(tmp_path: Path) -> None:
    schema = result_schema()
    jsonschema.Draft202012Validator.check_schema(schema)
    told = json.loads(json.dumps(checked(write_release(tmp_path)).to_dict(), allow_nan=False))
    jsonschema.validate(told, schema)
    assert told["passed"] is True
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate({**told, "passed": "yes"}, schema)


def test_the_picture_shows_every_adversary_before_after_and_their_limit(tmp_path: Path) -> None:
    marks = checked(write_release(tmp_path)).chart().records
    shown = {(m["success"], m["kind"]): m["share"] for m in marks}
    assert shown == {
        ("known for certain", "before"): 0.0,
        ("known for certain", "after"): 0.1,
        ("known for certain", "limit"): 0.1,
        ("guessed right", "before"): 0.1,
        ("guessed right", "after"): 0.5,
    }


def test_a_resumed_check_does_not_count_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from divulge import engines, work

    release = Release.load(write_release(tmp_path))
    with work.run_with(checkpoints=work.Checkpoints(tmp_path / "kept")):
        first = release.check()

        def refuse(*_: object, **__: object) -> None:
            raise AssertionError("counted again")

        monkeypatch.setattr(engines, "class_sizes", refuse)
        second = release.check()
    assert first.to_dict() == second.to_dict()


def test_a_notebook_and_a_terminal_show_the_verdict(tmp_path: Path) -> None:
    from rich.console import Console

    verdict = checked(write_release(tmp_path, ("at_most = 0.10", "at_most = 0.05")))
    html = verdict._repr_html_()
    with Path("/dev/null").open("w") as nowhere:
        console = Console(width=160, record=True, file=nowhere)
        console.print(verdict)
    shown = console.export_text()
    for wanted in ("FAIL", "neighbour", "1 (10%)", "5 (50%)", "outside", "k-anonymity of pupils"):
        assert wanted in html
        assert wanted in shown
    assert repr(verdict) == "Verdict(FAIL: 1 of 2 limits does not hold)"
