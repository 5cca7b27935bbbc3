"""Lists all texts that stand in the code for a translator, or checks a translation.

    python tools/messages.py > messages.de.toml        # a skeleton: English on both sides
    python tools/messages.py --check messages.de.toml  # what it lacks, and what is wrong in it

Texts stay where they are made; their English is the key (docs/decisions/017). First come messages
of errors; then, in tables, places of problems, names of steps of the work, and pages of help. The
source is read, not run: a text is followed through the variables, the choices and the functions of
its module that make it. What cannot be seen in the source is a hole: {0}, {1}, ... Only the pages
of help are those of the commands as they are.
"""

from __future__ import annotations

import argparse
import ast
import itertools
import json
import re
import string
import sys
import tomllib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from pathlib import Path
from typing import TypeAlias

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
MOST_VARIANTS = 24
"""A message with more forms than this has a hole where it chooses among them."""
MOST_STEPS = 8
"""So far is a message followed through variables and functions."""
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


@dataclass(frozen=True)
class Hole:
    """What is known only when the message is made."""

    kind: str = ""


Variant: TypeAlias = tuple[str | Hole, ...]
"""One form of a message: texts and holes in turn."""
HOLE: list[Variant] = [(Hole(),)]
TextIterator: TypeAlias = Iterator[ast.expr]


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


def write_template(variant: Variant) -> str | None:
    """The template of a form; None if it has no words. Holes side by side are one."""
    pieces: list[str] = []
    holes = 0
    for is_hole, group in itertools.groupby(variant, key=lambda part: isinstance(part, Hole)):
        parts = list(group)
        if not is_hole:
            text = "".join(part for part in parts if isinstance(part, str))
            pieces.append(text.replace("{", "{{").replace("}", "}}"))
            continue
        is_message = parts == [Hole(NESTED_MESSAGE)]
        pieces.append(f"{{{holes}:{NESTED_MESSAGE}}}" if is_message else f"{{{holes}}}")
        holes += 1
    words = "".join(part for part in variant if isinstance(part, str))
    return "".join(pieces) if re.search("[A-Za-z]{2}", words) else None


class Module:
    """One module of the source, and what its messages are made of."""

    def __init__(self, tree: ast.Module, find_texts: Callable[[ast.AST], TextIterator]) -> None:
        self.tree = tree
        self.find_texts = find_texts
        self.functions: dict[str, list[ast.FunctionDef]] = {}
        for node in ast.walk(tree):
            if isinstance(node, ast.FunctionDef):
                self.functions.setdefault(node.name, []).append(node)
        self.constants = collect_values(tree.body)

    def list_texts(self) -> Iterator[tuple[int, Variant]]:
        """Every form of every text that is looked for, with its line."""
        yield from self._list_texts(self.tree, Scope({}, frozenset()))

    def _list_texts(self, node: ast.AST, scope: Scope) -> Iterator[tuple[int, Variant]]:
        for child in ast.iter_child_nodes(node):
            inner = scope.enter(child) if isinstance(child, ast.FunctionDef) else scope
            for text in self.find_texts(child):
                yield from ((text.lineno, each) for each in self.resolve(text, inner))
            yield from self._list_texts(child, inner)

    def resolve(self, node: ast.expr, scope: Scope, steps: int = 0) -> list[Variant]:
        """The forms of an expression that is text; a hole where it cannot be seen."""
        variants = self._resolve(node, scope, steps) if steps < MOST_STEPS else HOLE
        unique = list(dict.fromkeys(variants))
        return unique if 0 < len(unique) <= MOST_VARIANTS else HOLE

    def _resolve(self, node: ast.expr, scope: Scope, steps: int) -> list[Variant]:
        if isinstance(node, ast.Constant):
            return [(node.value,)] if isinstance(node.value, str) else HOLE
        if isinstance(node, ast.JoinedStr):
            return self._join([self.resolve(part, scope, steps) for part in node.values])
        if isinstance(node, ast.FormattedValue):
            is_plain = node.format_spec is None and node.conversion == -1
            return self.resolve(node.value, scope, steps + 1) if is_plain else HOLE
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
            return self._join(
                [self.resolve(side, scope, steps) for side in (node.left, node.right)]
            )
        if isinstance(node, ast.IfExp | ast.BoolOp):
            choices = [node.body, node.orelse] if isinstance(node, ast.IfExp) else node.values
            return self._unite(choices, scope, steps)
        if isinstance(node, ast.Subscript | ast.Name):
            return self._resolve_variable(node, scope, steps)
        if isinstance(node, ast.Call):
            return self._resolve_call(node, scope, steps)
        return HOLE

    def _resolve_variable(
        self, node: ast.Subscript | ast.Name, scope: Scope, steps: int
    ) -> list[Variant]:
        """What is assigned to a name, or stands in a table that is."""
        if isinstance(node, ast.Subscript):
            table = scope.find_values(node.value, self.constants)
            choices = [
                value for each in table if isinstance(each, ast.Dict) for value in each.values
            ]
            return self._unite(choices, scope, steps) if len(table) == 1 else HOLE
        if node.id in scope.errors:
            return [(Hole(NESTED_MESSAGE),)]
        return self._unite(scope.find_values(node, self.constants), scope, steps)

    def _resolve_call(self, node: ast.Call, scope: Scope, steps: int) -> list[Variant]:
        name = last_name(node.func)
        if name == "str" and len(node.args) == 1:
            return self.resolve(node.args[0], scope, steps + 1)
        if name == "format_quantity" and len(node.args) == 3:
            forms = [self.resolve(word, scope, steps + 1) for word in node.args[1:]]
            return [(Hole(), " ", *variant) for form in forms for variant in form]
        if name == "format" and isinstance(node.func, ast.Attribute):
            return self._resolve_format(node.func.value, scope, steps)
        if name == "join" and isinstance(node.func, ast.Attribute) and len(node.args) == 1:
            return self._resolve_join(node.func.value, node.args[0], scope, steps)
        is_own = isinstance(node.func, ast.Name) or ast.unparse(node.func) == f"self.{name}"
        functions = self.functions.get(name, []) if is_own else []
        if len(functions) != 1:
            return HOLE
        inner = Scope({}, frozenset()).enter(functions[0])
        returns = [n.value for n in walk_function(functions[0]) if isinstance(n, ast.Return)]
        if None in returns:
            return HOLE
        return self._unite([value for value in returns if value is not None], inner, steps)

    def _resolve_format(self, template: ast.expr, scope: Scope, steps: int) -> list[Variant]:
        """A template that is written out, with what it names as holes."""
        forms: list[Variant] = []
        for form in self.resolve(template, scope, steps + 1):
            if not all(isinstance(part, str) for part in form):
                return HOLE
            pieces = list(string.Formatter().parse("".join(map(str, form))))
            holes = [(text, *([] if field is None else [Hole()])) for text, field, _, _ in pieces]
            forms.append(tuple(itertools.chain(*holes)))
        return forms

    def _resolve_join(
        self, separator: ast.expr, parts: ast.expr, scope: Scope, steps: int
    ) -> list[Variant]:
        """Parts of a list that is written out; what is unpacked into it may be empty."""
        if not (isinstance(separator, ast.Constant) and isinstance(parts, ast.List)):
            return HOLE
        between = str(separator.value)
        forms: list[Variant] = [()]
        for part in parts.elts:
            is_unpacked = isinstance(part, ast.Starred)
            further = HOLE if is_unpacked else self.resolve(part, scope, steps + 1)
            longer = [(*f, between, *more) if f else more for f in forms for more in further]
            forms = [*forms, *longer] if is_unpacked else longer
        return forms

    def _unite(self, choices: Sequence[ast.expr], scope: Scope, steps: int) -> list[Variant]:
        return [form for choice in choices for form in self.resolve(choice, scope, steps + 1)]

    def _join(self, parts: Sequence[list[Variant]]) -> list[Variant]:
        """All combinations; if they are too many, the part with most forms becomes a hole."""
        forms = list(parts)
        while count_product(forms) > MOST_VARIANTS:
            longest = max(range(len(forms)), key=lambda i: len(forms[i]))
            forms[longest] = HOLE
        return [tuple(itertools.chain(*chosen)) for chosen in itertools.product(*forms)]


@dataclass(frozen=True)
class Scope:
    """What is known inside a function: values of its variables, and the errors it has caught."""

    values: Mapping[str, list[ast.expr]]
    errors: frozenset[str]

    def enter(self, function: ast.FunctionDef) -> Scope:
        """The scope of a function inside this one; its arguments are not known."""
        names, caught, own_values = describe_function(function)
        values = {**self.values, **own_values}
        for name in names:
            values[name] = []
        return Scope(values, self.errors | caught)

    def find_values(
        self, node: ast.expr, constants: Mapping[str, list[ast.expr]]
    ) -> list[ast.expr]:
        """What a variable may hold; nothing if that is not known."""
        if not isinstance(node, ast.Name):
            return []
        return list(self.values.get(node.id, constants.get(node.id, [])))


@cache
def describe_function(
    function: ast.FunctionDef,
) -> tuple[list[str], set[str], dict[str, list[ast.expr]]]:
    """The arguments of a function, the errors that it catches, and what its variables hold."""
    arguments = function.args
    names = [a.arg for a in (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs)]
    nodes = list(walk_function(function))
    caught = {node.name for node in nodes if isinstance(node, ast.ExceptHandler) and node.name}
    return names, caught, collect_values(nodes)


def walk_function(function: ast.FunctionDef) -> Iterator[ast.AST]:
    """The nodes of a function but those of functions inside it."""
    waiting: list[ast.AST] = list(function.body)
    while waiting:
        node = waiting.pop(0)
        yield node
        if not isinstance(node, ast.FunctionDef | ast.Lambda | ast.ClassDef):
            waiting.extend(ast.iter_child_nodes(node))


def collect_values(nodes: Iterable[ast.AST]) -> dict[str, list[ast.expr]]:
    """What is assigned to each name; nothing for one that also gets its value in another way."""
    values: dict[str, list[ast.expr]] = {}
    unclear: set[str] = set()
    for node in nodes:
        if isinstance(node, ast.Assign) and all(isinstance(t, ast.Name) for t in node.targets):
            for target in node.targets:
                values.setdefault(ast.unparse(target), []).append(node.value)
        elif isinstance(node, ast.AnnAssign) and node.value and isinstance(node.target, ast.Name):
            values.setdefault(node.target.id, []).append(node.value)
        elif isinstance(node, ast.Assign | ast.AugAssign | ast.For | ast.NamedExpr):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            for target in targets:
                unclear |= {n.id for n in ast.walk(target) if isinstance(n, ast.Name)}
    return {name: [] if name in unclear else value for name, value in values.items()}


def last_name(node: ast.expr) -> str:
    """The name of a function or class, without where it comes from."""
    if isinstance(node, ast.Attribute):
        return node.attr
    return node.id if isinstance(node, ast.Name) else ""


def count_product(forms: Sequence[Sequence[Variant]]) -> int:
    """How many combinations there are."""
    count = 1
    for each in forms:
        count *= len(each)
    return count


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
