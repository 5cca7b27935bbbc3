"""Another language is a file: with its catalogues, a whole run is shown in it."""

from __future__ import annotations

import json
import os
import re
import string
import subprocess
import sys
import tomllib
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from tests.release_files import write_release
from tests.work.test_translation import SECTIONS, TOOL
from typer.main import get_command
from typer.testing import CliRunner

from divulge.assessment.sentence import load_catalogue
from divulge.cli.main import app
from divulge.work import translation

SOURCE = Path(__file__).parents[2] / "src" / "divulge"
EXAMPLES = SOURCE.parents[1] / "examples"
PACKAGES = sorted(f"divulge.{path.parent.name}" for path in SOURCE.rglob("sentences.en.toml"))

# The command, with catalogues looked for in a folder first: as if they stood beside the code.
SCRIPT = """
import sys
from pathlib import Path
from divulge.work import translation

folder = Path(sys.argv.pop(1))
installed = translation.find_catalogue

def find_catalogue(package, name):
    file = folder / package / name
    return file if file.is_file() else installed(package, name)

translation.find_catalogue = find_catalogue
from divulge.cli import main
main()
"""

Run = Callable[..., "subprocess.CompletedProcess[str]"]


def mark(text: Any) -> Any:
    """Words of the pseudo-language: the English between marks, so that no word can hide."""
    if isinstance(text, dict):
        return {key: each if key == "by" else mark(each) for key, each in text.items()}
    if isinstance(text, list):
        return [mark(each) for each in text]
    return f"«{text}»" if text else text


def quote(value: Any) -> str:
    """A value in TOML."""
    if isinstance(value, dict):
        return "{ " + ", ".join(f"{key} = {quote(each)}" for key, each in value.items()) + " }"
    if isinstance(value, list):
        return "[" + ", ".join(map(quote, value)) + "]"
    return json.dumps(value, ensure_ascii=False)


WIDE_LETTERS = {ord(letter): ord(letter) + 0xFEE0 for letter in string.ascii_letters}


def widen(text: Any) -> Any:
    """Words of a stricter pseudo-language: wide letters, but for what is put into the holes."""
    if isinstance(text, dict):
        return {key: each if key == "by" else widen(each) for key, each in text.items()}
    if isinstance(text, list):
        return [widen(each) for each in text]
    parts = []
    for literal, hole, spec, _ in string.Formatter().parse(text):
        parts.append(literal.translate(WIDE_LETTERS).replace("{", "{{").replace("}", "}}"))
        parts.append("" if hole is None else f"{{{hole}:{spec}}}" if spec else f"{{{hole}}}")
    return "".join(parts)


def write_catalogues(catalogues: Path, translate: Callable[[Any], Any]) -> Path:
    """A folder with the catalogues of a pseudo-language."""
    for package in PACKAGES:
        file = catalogues / package / "sentences.xx.toml"
        file.parent.mkdir(parents=True)
        source = SOURCE.parent.joinpath(*package.split("."), "sentences.en.toml")
        words = tomllib.loads(source.read_text(encoding="utf-8")).get("words", {})
        lines = [f"words.{quote(key)} = {quote(translate(value))}" for key, value in words.items()]
        entries = load_catalogue(package, "en").items()
        lines += [f"{quote_key(key)} = {quote(translate(value))}" for key, value in entries]
        file.write_text("\n".join(lines), encoding="utf-8")
    (catalogues / "divulge").mkdir()
    lines = []
    for section, templates in SECTIONS.items():
        lines += [f"[{section}]"] if section else []
        lines += [
            f"{TOOL.quote_text(key)} = {quote(translate(key.replace(':message}', '}')))}"
            for key in templates
        ]
    file = catalogues / "divulge" / "messages.xx.toml"
    file.write_text("\n".join(lines), encoding="utf-8")
    return catalogues


@pytest.fixture
def catalogues(tmp_path: Path) -> Path:
    """Catalogues in which every text stands between marks."""
    return write_catalogues(tmp_path / "catalogues", mark)


@pytest.fixture
def run_in_pseudo_language(catalogues: Path) -> Run:
    """The command in a language that exists only in a folder of catalogues."""
    return make_run(catalogues)


@pytest.fixture
def run_in_wide_letters(tmp_path: Path) -> Run:
    """The command in wide letters: what is left in others was not taken from a catalogue."""
    return make_run(write_catalogues(tmp_path / "wide", widen))


def make_run(catalogues: Path) -> Run:
    """The command with catalogues out of a folder."""

    def run(
        *arguments: object, language: str = "xx", stderr: int = subprocess.PIPE
    ) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, "-c", SCRIPT, catalogues, *map(str, arguments)],
            stdout=subprocess.PIPE,
            stderr=stderr,
            encoding="utf-8",
            env={
                **os.environ,
                "DIVULGE_LANGUAGE": language,
                "COLUMNS": "400",
                "PYTHONIOENCODING": "utf-8",
            },
            check=False,
        )

    return run


def quote_key(key: str) -> str:
    """A dotted key: tables and a last part that may have dots itself."""
    return ".".join(json.dumps(part) for part in key.split("."))


def words_outside_marks(text: str) -> set[str]:
    """Words that no catalogue has given."""
    before = None
    while before != text:
        before, text = text, re.sub("«[^«»]*»", " ", text)
    return set(re.findall("[A-Za-z]{2,}", text))


def test_a_verdict_is_shown_in_the_language(run_in_pseudo_language: Run, tmp_path: Path) -> None:
    path = write_release(tmp_path, ("at_least = 1", "at_least = 3"))
    done = run_in_pseudo_language("check", path, "--out", tmp_path / "out")
    assert done.returncode == 1, done.stderr
    assert done.stdout.startswith("«FAIL»")
    assert "«k-anonymity»" in done.stdout
    # What is left are the names in the release file.
    assert words_outside_marks(done.stdout) == {"neighbour", "gender", "grade"}

    result = json.loads((tmp_path / "out" / "result.json").read_text(encoding="utf-8"))
    assert result["status"] == "fail"
    assert [limit["measure"] for limit in result["limits"]] == [
        "deterministic.posterior",
        "k_anonymity",
    ]
    page = (tmp_path / "out" / "report.html").read_text(encoding="utf-8")
    assert '<p class="verdict">«Fail»</p>' in page
    assert "<td>«k-anonymity» <code>k_anonymity</code></td>" in page
    assert "«at least 3»" in page


def collect_words(value: Any) -> set[str]:
    """All words in the names and texts of a release file."""
    if isinstance(value, dict):
        return set().union(*map(collect_words, value), *map(collect_words, value.values()))
    if isinstance(value, list):
        return set().union(*map(collect_words, value))
    return set(re.findall("[A-Za-z]{2,}", value)) if isinstance(value, str) else set()


@pytest.mark.parametrize(
    ("verb", "example"),
    [("check", "events"), ("check", "matching"), ("check", "risk"), ("protect", "protection")],
)
def test_what_is_put_into_sentences_is_in_the_language_too(
    run_in_wide_letters: Run, tmp_path: Path, verb: str, example: str
) -> None:
    path = EXAMPLES / example / "release.toml"
    done = run_in_wide_letters(verb, path, "--out", tmp_path / "out")
    assert done.stdout, done.stderr
    shown = done.stdout.replace(str(tmp_path), "")
    # What is left are words of the release file, ways to read nulls, and names of our own files.
    own = {"bayes", "known", "nulls", "approximate", "exact", "individual", "out", "report"}
    own |= {
        "html",
        "release",
        "internal",
        "editions",
        "all",
        "items",
    }  # all items: a facet of events
    release = tomllib.loads(path.read_text(encoding="utf-8"))
    assert set(re.findall("[A-Za-z]{2,}", shown)) - own - collect_words(release) == set()


def test_errors_are_shown_in_the_language(run_in_pseudo_language: Run, tmp_path: Path) -> None:
    path = write_release(
        tmp_path, ('model = "CRS"', 'model = "CRX"'), ("at_least = 1", "at_least = 1.5")
    )
    done = run_in_pseudo_language("check", path)
    assert (done.returncode, done.stdout) == (2, "")
    heading, *lines = done.stderr.splitlines()
    assert re.fullmatch(r"divulge: «.*release\.toml has 2 problems:»", heading)
    assert any('«"CRX" is not an attack model.» «Did you mean "CRS"?»' in line for line in lines)
    assert any("«1.5 is not a whole number from 1.»" in line for line in lines)


def test_an_error_of_one_problem_is_shown_in_the_language(
    run_in_pseudo_language: Run, tmp_path: Path
) -> None:
    path = write_release(tmp_path, ('model = "CRS"', 'model = "CRX"'))
    done = run_in_pseudo_language("check", path)
    assert done.returncode == 2
    assert done.stderr.endswith(': «"CRX" is not an attack model.» «Did you mean "CRS"?»\n')


def test_the_places_of_problems_are_shown_in_the_language(
    run_in_pseudo_language: Run, tmp_path: Path
) -> None:
    path = write_release(
        tmp_path, ('source = "pupils.csv"', "source = 5"), ("at_least = 1", 'at_least = "1"')
    )
    done = run_in_pseudo_language("check", path)
    assert done.stderr.splitlines()[1:] == [
        '  «dataset "pupils"», source: «must be text.»',
        "  «limit 2», at_least: «must be a number.»",
    ]


def names_on_page(command: Any) -> set[str]:
    """What stands on a page of help in every language: names of commands, options and choices."""
    names = [*getattr(command, "commands", {}), "--[no-]help"]
    for parameter in command.params:
        names += [*parameter.opts, *parameter.secondary_opts, parameter.name.upper()]
        names += map(str, parameter.type_descriptor.choices or ())
    return set(re.findall("[A-Za-z]{2,}", " ".join(names)))


def list_commands(command: Any, *path: str) -> Iterator[tuple[tuple[str, ...], Any]]:
    """A command and those below it, each with what is typed after `divulge`."""
    yield path, command
    for name, child in getattr(command, "commands", {}).items():
        yield from list_commands(child, *path, name)


def test_every_page_of_help_is_shown_in_the_language(
    catalogues: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(translation, "find_catalogue", lambda *name: catalogues.joinpath(*name))
    translation._load_messages.cache_clear()
    runner = CliRunner(env={"COLUMNS": "4000", "DIVULGE_LANGUAGE": "xx"})
    pages = {
        path: (runner.invoke(app, [*path, "--help"]).stdout, command)
        for path, command in list_commands(get_command(app))
    }
    translation._load_messages.cache_clear()
    assert {(), ("check",), ("tables", "attack"), ("events", "ten")} <= set(pages)
    for path, (page, command) in pages.items():
        assert page.startswith("«Usage: "), path
        assert words_outside_marks(page) <= names_on_page(command), path


def test_help_is_shown_in_the_language_of_the_environment(run_in_pseudo_language: Run) -> None:
    done = run_in_pseudo_language("check", "--help")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("«Usage: divulge check «[OPTIONS]» RELEASE»\n\n«Run every attack")
    assert "«The release file (TOML).» «[required]»" in done.stdout
    assert "«number» from 0.001»" in done.stdout


def test_a_default_of_zero_is_shown_and_a_switch_that_is_off_has_none() -> None:
    page = CliRunner(env={"COLUMNS": "400"}).invoke(app, ["attack", "--help"]).stdout
    [seed] = [line for line in page.splitlines() if "--seed" in line]
    [switch] = [line for line in page.splitlines() if "--overwrite" in line]
    assert seed.rstrip().endswith("[default: 0]")
    assert "[default" not in switch


def test_a_command_that_is_called_wrongly_says_so_in_the_language(
    run_in_pseudo_language: Run,
) -> None:
    for arguments, message in {
        ("chek",): 'divulge: «"chek" is not a command.» «Did you mean "check"?»\n',
        ("check",): "divulge check, RELEASE: «is missing.»\n",
        ("demo", "--pupils", "3"): "divulge demo, --pupils: «must be at least 100.»\n",
    }.items():
        done = run_in_pseudo_language(*arguments)
        assert (done.returncode, done.stdout, done.stderr) == (2, "", message)


def read_terminal(terminal: int) -> str:
    """All that is written to a terminal until everybody has closed it."""
    parts = []
    try:
        while part := os.read(terminal, 1 << 16):
            parts.append(part)
    except OSError:  # how Linux says that nobody writes any more
        pass
    return b"".join(parts).decode()


@pytest.mark.skipif(sys.platform == "win32", reason="there are no pseudo-terminals")
def test_progress_is_shown_in_the_language(run_in_pseudo_language: Run, tmp_path: Path) -> None:
    import pty

    ours, theirs = pty.openpty()
    # A terminal that nobody reads fills up, and the command would wait for it.
    with ThreadPoolExecutor(1) as pool:
        shown = pool.submit(read_terminal, ours)
        done = run_in_pseudo_language("check", write_release(tmp_path), stderr=theirs)
        os.close(theirs)
    os.close(ours)
    assert done.returncode == 0
    text = re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", " ", shown.result())
    assert "«Attacking»" in text
    assert words_outside_marks(text) == set()


def test_a_language_that_nobody_translated_is_english(
    run_in_pseudo_language: Run, tmp_path: Path
) -> None:
    done = run_in_pseudo_language("check", write_release(tmp_path), language="tlh")
    assert done.returncode == 0
    assert done.stdout.startswith("PASS\n")
    assert "«" not in done.stdout


def test_what_is_no_language_is_refused(run_in_pseudo_language: Run, tmp_path: Path) -> None:
    done = run_in_pseudo_language("check", write_release(tmp_path), language="../xx")
    assert (done.returncode, done.stdout) == (2, "")
    assert "DIVULGE_LANGUAGE: is not the code of a language" in done.stderr
