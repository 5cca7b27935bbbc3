"""The forms of texts that stand in Python source, followed to where they are made.

The source is read, not run: a text is followed through the variables, the choices and the functions
of its module. What cannot be seen is a hole.
"""

from __future__ import annotations

import ast
import itertools
import re
import string
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import TypeAlias

from divulge.work.translation import NESTED_MESSAGE

MOST_VARIANTS = 24
"""A message with more forms than this has a hole where it chooses among them."""

MOST_STEPS = 8
"""So far is a message followed through variables and functions."""


@dataclass(frozen=True)
class Hole:
    """What is known only when the message is made."""

    kind: str = ""


Variant: TypeAlias = tuple[str | Hole, ...]
"""One form of a message: texts and holes in turn."""

HOLE: list[Variant] = [(Hole(),)]

TextIterator: TypeAlias = Iterator[ast.expr]


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
