"""Errors in another language: the template that makes a message is found, and words are put in."""

from __future__ import annotations

import importlib
import re
import sys
import tomllib
from pathlib import Path
from types import ModuleType

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from divulge import work
from divulge.work import DivulgeError, InvalidInput, Problem
from divulge.work.context import LANGUAGE_VARIABLE, current_language
from divulge.work.translation import PLACE, MessageCatalogue, Template, find_faults

PROJECT = Path(__file__).parents[2]


def load_tool() -> ModuleType:
    """The tool that lists the templates, as a module; it imports what lies beside it."""
    sys.path.insert(0, str(PROJECT / "tools"))
    try:
        return importlib.import_module("messages")
    finally:
        sys.path.remove(str(PROJECT / "tools"))


TOOL = load_tool()
SECTIONS: dict[str, dict[str, str]] = TOOL.list_sections()
TEMPLATES = SECTIONS[""]
CATALOGUE = MessageCatalogue({english: english.replace(":message}", "}") for english in TEMPLATES})


def fill(template: str, contents: list[str]) -> str:
    """The message that a template makes."""
    return template.replace(":message}", "}").format(*contents)


def literals(template: str) -> str:
    """A template without what its holes are called."""
    return re.sub(r"\{\d+(:message)?\}", "{}", template)


def test_the_source_has_hundreds_of_messages() -> None:
    assert len(TEMPLATES) > 300
    files = {place.split("/")[1] for place in TEMPLATES.values()}
    assert {"work", "data", "assessment", "records", "tables", "release", "cli"} <= files


# No template has a run of digits this long, so a hole filled with one makes no other template.
NUMBERS = st.integers(10**11, 10**12).map(str)
MOST_HOLES = max(len(Template(template).holes) for template in TEMPLATES)


@settings(max_examples=4)  # each example is all templates
@given(st.lists(NUMBERS, min_size=MOST_HOLES, max_size=MOST_HOLES))
def test_every_message_finds_the_template_that_made_it(numbers: list[str]) -> None:
    for template in TEMPLATES:
        contents = numbers[: len(Template(template).holes)]
        found = CATALOGUE.find_template(fill(template, contents))
        assert found is not None, template
        assert literals(found.english) == literals(template)
        assert found.match_text(fill(template, contents)) == tuple(contents)


@given(st.sampled_from(sorted(TEMPLATES)), st.data())
def test_whatever_stands_in_the_holes_a_template_is_found(
    template: str, data: st.DataObject
) -> None:
    count = len(Template(template).holes)
    message = fill(template, data.draw(st.lists(st.text(), min_size=count, max_size=count)))
    found = CATALOGUE.find_template(message)
    assert found is not None
    assert found.literal_length >= Template(template).literal_length
    assert CATALOGUE.translate_text(message) == message  # the translation is the English here


@given(st.lists(st.sampled_from(["a", "b", "ab", " is ", "."]), max_size=8), st.text("ab. is"))
def test_a_template_matches_what_a_plain_regular_expression_does(
    texts: list[str], message: str
) -> None:
    template = "".join(f"{text}{{{i}}}" for i, text in enumerate(texts)) + "."
    plain = "".join(f"{re.escape(text)}(.*?)" for text in texts) + re.escape(".")
    match = re.fullmatch(plain, message, re.DOTALL)
    matched = Template(template).match_text(message)
    assert (matched is None) == (match is None)
    if match is not None and matched is not None:
        assert fill(template, list(matched)) == message


def test_a_long_message_that_almost_fits_is_refused_at_once() -> None:
    template = Template(", ".join(f"{{{i}}}" for i in range(30)) + " end.")
    assert template.match_text(", ".join(["x"] * 3000)) is None


def test_the_template_with_most_literal_characters_wins() -> None:
    catalogue = MessageCatalogue({"{0} is {1}.": "general", "{0} is not {1}.": "special"})
    assert catalogue.translate_text("5 is not a share.") == "special"
    assert catalogue.translate_text("5 is a count.") == "general"


def test_problems_are_translated_one_by_one() -> None:
    catalogue = MessageCatalogue(
        {
            '"{0}" is not an attack model.': 'kein Angriffsmodell: "{0}".',
            "needs at_most or at_least.": "braucht at_most oder at_least.",
            "Did you mean {0}?": "Meinten Sie {0}?",
            "{0} has {1} problems:": "{0} hat {1} Fehler:",
        }
    )
    model = Problem("model", '"CRX" is not an attack model.', value="CRX", allowed=["CRS"])
    other = Problem("limit 1", "needs at_most or at_least.")
    unknown = Problem("", "something that nobody translated.")
    error = InvalidInput("release.toml", [model, other, unknown])
    assert catalogue.translate_error(error).splitlines() == [
        "release.toml hat 3 Fehler:",
        '  model: kein Angriffsmodell: "CRX". Meinten Sie "CRS"?',
        "  limit 1: braucht at_most oder at_least.",
        "  something that nobody translated.",
    ]
    alone = catalogue.translate_error(InvalidInput("release.toml", [model]))
    assert alone == 'release.toml, model: kein Angriffsmodell: "CRX". Meinten Sie "CRS"?'
    assert str(error).startswith("release.toml has 3 problems:")


PLACES = MessageCatalogue(
    {
        "is late.": "kommt spät.",
        "place": {
            'column "{0}"': 'Spalte "{0}"',
            "row {0}": "Zeile {0}",
            "limit on {0}": "Grenze für {0}",
            "{0} total": "{0} insgesamt",
            "published table": "veröffentlichte Tabelle",
        },
    }
)


@pytest.mark.parametrize(
    ("place", "translated"),
    [
        ('column "age"', 'Spalte "age"'),
        ('knows, column "a, row 5", row 1,200', 'knows, Spalte "a, row 5", Zeile 1,200'),
        ("limit on k_anonymity", "Grenze für k_anonymity"),
        ("sex 1, age total", "sex 1, age insgesamt"),
        ("published table, row 3", "veröffentlichte Tabelle, Zeile 3"),
        # What a file is called is not put into other words, and what is said is no place.
        ("row 5.csv", "row 5.csv"),
        ("data/row 5, column 3.csv", "data/row 5, column 3.csv"),
        ("row of houses", "row of houses"),
        ("is late.", "is late."),
        ('an "odd name', 'an "odd name'),
        ("", ""),
    ],
)
def test_places_are_translated_part_by_part(place: str, translated: str) -> None:
    assert PLACES.translate_place(place) == translated
    error = InvalidInput(place, [Problem(place, "is late."), Problem("", "is late.")])
    assert f"  {translated}: kommt spät." in PLACES.translate_error(error) or not place
    assert PLACES.translate_error(error).startswith(f"{translated} has 2 problems:")


@given(st.text('ab", 1row'))
def test_a_place_without_a_translation_stays_as_it_is(place: str) -> None:
    assert MessageCatalogue({}).translate_place(place) == place


def test_a_text_of_a_table_is_never_taken_for_part_of_a_message() -> None:
    assert PLACES.translate_text("row 5 is empty") == "row 5 is empty"
    assert PLACES.select_section(PLACE).translate_text("row 5") == "Zeile 5"
    assert PLACES.select_section("help").translate_text("row 5") == "row 5"


def test_a_message_inside_a_message_is_translated_too() -> None:
    catalogue = MessageCatalogue(
        {'column "{0}": {1:message}': 'Spalte "{0}": {1}', "is negative": "ist negativ"}
    )
    assert catalogue.translate_text('column "age": is negative.') == 'Spalte "age": ist negativ.'
    assert catalogue.translate_text('column "is negative": x') == 'Spalte "is negative": x'


def test_a_file_that_is_called_like_a_message_keeps_its_name() -> None:
    catalogue = MessageCatalogue({"{0} is late.": "{0} kommt.", "needs it.": "braucht es."})
    error = InvalidInput("pupils is late.", [Problem("", "needs it.")])
    assert catalogue.translate_error(error) == "pupils is late.: braucht es."


@pytest.mark.parametrize(
    ("english", "translation"),
    [
        ("{0} is late.", "{1} kommt."),
        ("{0} is late.", "{0.__class__} kommt."),
        ("{0} is late.", "{0 kommt."),
        ("{0} is {0}.", "{0}"),
        ("{0} is late.", 5),
    ],
)
def test_an_entry_with_a_fault_is_named_and_not_used(english: str, translation: str) -> None:
    assert find_faults(english, translation)
    assert MessageCatalogue({english: translation}).translate_text("x is late.") == "x is late."


def test_braces_in_a_message_are_no_holes() -> None:
    assert Template("write {{0}} for {0}.").match_text("write {0} for x.") == ("x",)
    assert Template("ends in {{}}").match_text("ends in {}") == ()


def test_the_language_is_that_of_the_run_then_of_the_environment(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.delenv(LANGUAGE_VARIABLE, raising=False)
    assert current_language() == "en"
    monkeypatch.setenv(LANGUAGE_VARIABLE, "pt-BR")
    assert current_language() == "pt-BR"
    with work.run_with(language="de"):
        assert current_language() == "de"
    monkeypatch.setenv(LANGUAGE_VARIABLE, "../../secrets")
    assert current_language() == "en"
    with (
        pytest.raises(InvalidInput, match="not the code of a language"),
        work.run_with(language="../x"),
    ):
        pass


def test_a_language_without_a_catalogue_leaves_errors_in_english() -> None:
    assert work.translate_error(DivulgeError("stopped; nothing was written"), "tlh") == (
        "stopped; nothing was written"
    )


def test_the_tool_follows_what_makes_a_message(tmp_path: Path) -> None:
    (tmp_path / "module.py").write_text(
        """
LATE = {"a": "very late", "b": "late"}
class OwnError(DivulgeError): pass
def describe(x):
    return f"is {x:g}" if x else "is nothing"
def check(problems, name, n, kind):
    message = f'"{name}" {describe(n)}.'
    problems.add("place", message)
    hint = " Try again." if n else ""
    problems.add("place", f"has {format_quantity(n, 'row', 'rows')}." + hint)
    Problem("place", message=f"comes {LATE[kind]}")
    try:
        pass
    except ValueError as error:
        raise OwnError(f"{name}: cannot be read: {error}") from None
    raise KeyError("not for users")
""",
        encoding="utf-8",
    )
    assert set(TOOL.list_templates(tmp_path)) - set(TOOL.FIXED_TEMPLATES) == {
        '"{0}" is {1}.',
        '"{0}" is nothing.',
        "has {0} row.",
        "has {0} rows.",
        "has {0} row. Try again.",
        "has {0} rows. Try again.",
        "comes very late",
        "comes late",
        "{0}: cannot be read: {1:message}",
    }


def test_the_tool_finds_places_and_steps(tmp_path: Path) -> None:
    (tmp_path / "module.py").write_text(
        """
def check(problems, name, n, dataset, *, step_name="Looking around"):
    place = f'dataset "{name}", column {n}'
    problems.add(place, "is late.")
    problems.add("knows", "is late.")
    problems.extend(f'knows, weight "{name}"', [])
    Problem("line 1", "is late.")
    checks.share(f"share {n}", 3)
    raise InvalidInput("published table", [Problem(f"roles, {name}", "is late.")])
def locate_row(n):
    return f"row {n}"
def work(n):
    with step(f"Reading {n}") as step:
        step.note = f"{n} read"
    look(step_name="Looking again")
""",
        encoding="utf-8",
    )
    assert set(TOOL.list_places(tmp_path)) - {
        part for parts in TOOL.FIXED_PLACES.values() for part in parts
    } == {
        *("column {0}", 'weight "{0}"', "line {0}", "share {0}", "published table", "row {0}"),
    }
    assert set(TOOL.list_steps(tmp_path)) - set(TOOL.FIXED_STEPS) == {
        *("Reading {0}", "{0} read", "Looking around", "Looking again"),
    }


def test_the_skeleton_is_a_catalogue_that_lacks_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    skeleton = TOOL.write_skeleton(SECTIONS)
    entries = tomllib.loads(skeleton)
    messages = {key: text for key, text in entries.items() if isinstance(text, str)}
    assert list(messages.values()) == [key.replace(":message}", "}") for key in messages]
    assert {name: set(entries[name]) for name in ("place", "step", "help")} == {
        name: set(templates) for name, templates in SECTIONS.items() if name
    }
    assert list(TOOL.check_translation(entries, SECTIONS)) == []
    first, *_ = messages
    file = tmp_path / "messages.de.toml"
    broken = skeleton.replace(TOOL.quote_text(first), "'strange {0'", 1)
    file.write_text(broken.replace("'Options' =", "'Choices' =", 1), encoding="utf-8")
    monkeypatch.setattr(sys, "argv", ["messages.py", "--check", str(file)])
    monkeypatch.setattr(TOOL, "list_sections", lambda: SECTIONS)
    assert TOOL.main() == 1
    assert capsys.readouterr().out.splitlines() == [
        "strange {0: has a brace without its other half",
        "strange {0: no text is made like this",
        f"{first}: is not translated",
        "[help] Choices: no text is made like this",
        "[help] Options: is not translated",
    ]
