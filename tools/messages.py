"""Lists all texts that stand in the code for a translator, or checks a translation.

    python tools/messages.py > messages.de.toml        # a skeleton: English on both sides
    python tools/messages.py --check messages.de.toml  # what it lacks, and what is wrong in it

Texts stay where they are made; their English is the key (docs/decisions/017). First come messages
of errors; then, in tables, places of problems, names of steps of the work, and pages of help. The
source is read, not run: a text is followed through the variables, the choices and the functions of
its module that make it (`text_forms.py`). What cannot be seen in the source is a hole: {0}, {1}.
Only the pages of help are those of the commands as they are.
"""

from __future__ import annotations

import argparse
import ast
import itertools
import json
import re
import sys
import tomllib
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import lru_cache
from pathlib import Path

from text_forms import Module, TextIterator, last_name, walk_function, write_template

from divulge.work import problems, reporters
from divulge.work.translation import (
    HELP,
    NESTED_MESSAGE,
    PART_OF_PLACE,
    PLACE,
    SECTIONS,
    STEP,
    find_faults,
)
from divulge.work.value_problems import list_value_templates

SOURCE = Path(__file__).parent.parent / "src" / "divulge"
FIXED_TEMPLATES = (
    problems.HAS_PROBLEMS,
    problems.NEAREST_WORD,
    problems.ALLOWED_WORDS,
    problems.SOME_ALLOWED_WORDS,
    *list_value_templates(),
)
FIXED_STEPS = (reporters.FINISHED, reporters.SECONDS_LEFT, reporters.MINUTES_LEFT)
FIXED_PLACES = {
    "divulge/release/release_file/parse.py": (
        *('dataset "{0}"', "dataset {0}", 'adversary "{0}"', "adversary {0}", "limit {0}"),
    ),
    "divulge/tables/table/structure.py": ("table {0}", "{0} total"),
}
"""Places that are put together of parts of which each is a hole."""
PLACE_NAMES = {"place", "mine", "its"}
"""What the places of problems are called where they are handed on."""
PLACE_FUNCTION = re.compile(r"_?(?:locate_\w+|describe_place|describe_column)")
"""Functions that name places."""
CHECK_FUNCTION = re.compile(r"checks\.\w+|\w*problems\w*")
"""Functions that are told first of which place they speak."""
FIRST_EXCEPTIONS = {"DivulgeError", "Interruption", "ValueError"}
"""Classes whose texts users read; those derived from them are found in the source."""

Places = dict[str, str]
"""Templates, each with the first place (file and line, or command) that makes it."""


def list_sections() -> dict[str, Places]:
    """All texts of a catalogue: the messages under an empty name, and those of the tables."""
    lists = {PLACE: list_places(), STEP: list_steps(), HELP: list_help()}
    return {"": list_templates(), **{section: lists[section] for section in SECTIONS}}


def list_templates(source: Path = SOURCE) -> Places:
    """The templates of all messages."""
    trees = parse_source(source)
    exceptions = find_exceptions(trees.values())

    def find_texts(node: ast.AST) -> Iterator[ast.expr]:
        return find_messages(node, exceptions)

    found = collect_templates(source, trees, find_texts)
    return {**found, **dict.fromkeys(FIXED_TEMPLATES, "divulge/work")}


def list_steps(source: Path = SOURCE) -> Places:
    """The templates of the names of steps, and of what else is said of progress."""
    found = collect_templates(source, parse_source(source), find_steps)
    return {**found, **dict.fromkeys(FIXED_STEPS, "divulge/work/reporters.py")}


def list_places(source: Path = SOURCE) -> Places:
    """The templates of the parts of places and subjects; names of settings alone are none."""
    found: Places = {}
    for template, file in collect_templates(source, parse_source(source), find_places).items():
        for part in split_place(template):
            found.setdefault(part, file)
    for file, parts in FIXED_PLACES.items():
        for part in parts:
            found.setdefault(part, file)
    return found


def list_help() -> Places:
    """The texts of the pages of help, each with the first command that has it."""
    from typer.main import get_command

    from divulge.cli.help_pages import OWN_TEXTS, list_help_texts
    from divulge.cli.main import app

    found: Places = dict.fromkeys(OWN_TEXTS, "every page")
    for name, text in list_help_texts(get_command(app)):
        found.setdefault(text, f"{name} --help")
    return found


def split_place(template: str) -> Iterator[str]:
    """The parts of a place that have words in them besides the names of settings.

    >>> list(split_place('knows, record 3, column "{0}"'))
    ['record {0}', 'column "{0}"']
    """
    for part in PART_OF_PLACE.findall(re.sub(r"(?<= )\d+(?=,|$)", "{0}", template)):
        plain = number_holes(part.strip())
        words = re.sub(r"\{\d+\}", "", plain)
        if re.search("[A-Za-z]{2}", words) and re.search(r"[ {]", plain) and "://" not in plain:
            yield plain


def number_holes(template: str) -> str:
    """The template with its holes numbered from 0."""
    numbers = itertools.count()
    return re.sub(r"\{\d+(?::\w+)?\}", lambda _: f"{{{next(numbers)}}}", template)


@lru_cache
def parse_source(source: Path) -> dict[Path, ast.Module]:
    """All modules below a folder."""
    paths = sorted(source.rglob("*.py"))
    return {path: ast.parse(path.read_text(encoding="utf-8")) for path in paths}


def collect_templates(
    source: Path, trees: Mapping[Path, ast.Module], find_texts: Callable[[ast.AST], TextIterator]
) -> Places:
    """The templates of the texts that are found in modules."""
    found: Places = {}
    for path, tree in trees.items():
        for line, variant in Module(tree, find_texts).list_texts():
            template = write_template(variant)
            if template is not None:
                found.setdefault(template, f"{path.relative_to(source.parent)}:{line}")
    return found


def find_messages(node: ast.AST, exceptions: set[str]) -> TextIterator:
    """What is a message in a call that makes an error or a problem."""
    if not isinstance(node, ast.Call):
        return
    name = last_name(node.func)
    keywords = {keyword.arg: keyword.value for keyword in node.keywords}
    is_raised_again = isinstance(node.func, ast.Call) and last_name(node.func.func) == "type"
    if (name in exceptions or is_raised_again) and node.args:
        yield node.args[0]
    elif name == "Problem" or (name == "add" and "problems" in ast.unparse(node.func)):
        message = node.args[1] if len(node.args) > 1 else keywords.get("message")
        if message is not None:
            yield message


def find_steps(node: ast.AST) -> TextIterator:
    """The names of steps, also where they are handed on, and notes about them."""
    if isinstance(node, ast.Call):
        if last_name(node.func) == "step" and node.args:
            yield node.args[0]
        yield from (keyword.value for keyword in node.keywords if keyword.arg == "step_name")
    elif isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "step.note":
        yield node.value
    elif isinstance(node, ast.FunctionDef):
        defaults = zip(node.args.kwonlyargs, node.args.kw_defaults, strict=True)
        yield from (default for each, default in defaults if each.arg == "step_name" and default)


def find_places(node: ast.AST) -> TextIterator:
    """Where problems are said to be, and what errors say they are about."""
    if isinstance(node, ast.Call):
        name = last_name(node.func)
        is_list = name in ("add", "extend") and "problems" in ast.unparse(node.func)
        is_told = CHECK_FUNCTION.fullmatch(ast.unparse(node.func)) or name == "check_places"
        if node.args and (is_list or is_told or name in ("Problem", "Problems", "InvalidInput")):
            yield node.args[0]
        names = {*PLACE_NAMES, "subject"}
        yield from (keyword.value for keyword in node.keywords if keyword.arg in names)
    elif isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) in PLACE_NAMES:
        yield node.value
    elif isinstance(node, ast.FunctionDef) and PLACE_FUNCTION.fullmatch(node.name):
        returns = [inner for inner in walk_function(node) if isinstance(inner, ast.Return)]
        yield from (each.value for each in returns if each.value is not None)


def find_exceptions(trees: Iterable[ast.Module]) -> set[str]:
    """The names of classes whose texts users read."""
    classes = [n for tree in trees for n in ast.walk(tree) if isinstance(n, ast.ClassDef)]
    found = set(FIRST_EXCEPTIONS)
    for _ in classes:  # a class may be derived from one that comes later
        more = {c.name for c in classes if any(last_name(base) in found for base in c.bases)}
        if more <= found:
            break
        found |= more
    return found - {"InvalidInput"}  # its first argument is a subject, its texts are its problems'


def write_skeleton(sections: Mapping[str, Places]) -> str:
    """A catalogue with the English on both sides, by what makes the texts."""
    lines = ["# English template = translation. A hole may be moved; {0:message} is written {0}."]
    for section, places in sections.items():
        lines += ["", f"[{section}]"] if section else []
        files = {template: place.rpartition(":")[0] or place for template, place in places.items()}
        ordered = sorted(places, key=lambda template: (files[template], template))
        for file, group in itertools.groupby(ordered, key=lambda template: files[template]):
            lines += ["", f"# {file}"]
            for template in group:
                plain = template.replace(f":{NESTED_MESSAGE}}}", "}")
                lines.append(f"{quote_text(template)} = {quote_text(plain)}")
    return "\n".join(lines) + "\n"


def quote_text(text: str) -> str:
    """A text in TOML: as it is between apostrophes if it has none, else with escapes."""
    is_plain = "'" not in text and text.isprintable()
    return f"'{text}'" if is_plain else json.dumps(text, ensure_ascii=False)


def check_translation(
    entries: Mapping[str, object], sections: Mapping[str, Places]
) -> Iterator[str]:
    """What is wrong in a translation, what is in it for no text, and what it lacks."""
    tables = {name: table for name, table in entries.items() if isinstance(table, dict)}
    messages = {key: text for key, text in entries.items() if key not in tables}
    for name in [*sections, *(name for name in tables if name not in sections)]:
        texts, templates = messages if not name else tables.get(name, {}), sections.get(name, {})
        start = f"[{name}] " if name else ""
        for key, text in texts.items():
            yield from (f"{start}{key}: {fault}" for fault in find_faults(key, text))
        yield from (
            f"{start}{key}: no text is made like this" for key in texts if key not in templates
        )
        yield from (f"{start}{key}: is not translated" for key in templates if key not in texts)


def main() -> int:
    """Print the skeleton, or what is to be said of a translation (then the exit code is 1)."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--check", type=Path, metavar="FILE", help="a messages.<language>.toml")
    options = parser.parse_args()
    sections = list_sections()
    if options.check is None:
        sys.stdout.write(write_skeleton(sections))
        return 0
    entries = tomllib.loads(options.check.read_text(encoding="utf-8"))
    remarks = list(check_translation(entries, sections))
    sys.stdout.writelines(f"{remark}\n" for remark in remarks)
    return 1 if remarks else 0


if __name__ == "__main__":
    sys.exit(main())
