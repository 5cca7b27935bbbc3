"""The programs of the library: their names, and how one or several of them are loaded."""

from __future__ import annotations

from importlib import resources

from divulge.rules.language.formatter import format_program, format_statement
from divulge.rules.language.program import Program
from divulge.rules.language.syntax import Statement
from divulge.work import Problems

_FOLDER = resources.files("divulge.rules.library")
_ENDING = ".rules"


def list_library() -> dict[str, str]:
    """The programs of the library by name, each with the sentence that its file begins with.

    >>> print(list_library()["k_anonymity"])
    Who is one of fewer than k that look alike (Algorithm 4).
    """
    names = sorted(
        entry.name.removesuffix(_ENDING)
        for entry in _FOLDER.iterdir()
        if entry.name.endswith(_ENDING)
    )
    return {name: _find_summary(_read_text(name)) for name in names}


def load_library(*names: str) -> Program:
    """Load programs of the library as one program; what two of them say alike is said once.

    Args:
        names: as `list_library` has them. The files that tell `risk(I, R)` are for one another's
            place: take one of them.

    Raises:
        InvalidInput: if there is no such program, with the nearest name.

    >>> program = load_library("company_control")
    >>> [rule.name for rule in program.rules]
    ['{X} belongs to its own group', '{X} controls {Y}']
    >>> cycle = load_library("k_anonymity", "anonymization_cycle")
    >>> [rule.head.predicate for rule in cycle.rules].count("tuple")
    1
    """
    problems = Problems("the library of rules")
    known = list_library()
    for name in names:
        if name not in known:
            problems.add("", f'there is no program "{name}".', name, known)
    if not names:
        problems.add("", f"name a program: {', '.join(known)}.")
    problems.raise_any()
    label = " and ".join(dict.fromkeys(f'"{name}"' for name in names))
    origin = f"library {label}"
    programs = [Program.parse(_read_text(name), origin) for name in dict.fromkeys(names)]
    if len(programs) == 1:
        return programs[0]
    statements: dict[str, Statement] = {}
    for program in programs:
        for statement in program.statements:
            statements.setdefault(format_statement(statement), statement)
    # Read again, so that places in messages are lines of the text that the program holds.
    joined = Program(statements=tuple(statements.values()))
    return Program.parse(format_program(joined), origin)


def _read_text(name: str) -> str:
    return (_FOLDER / f"{name}{_ENDING}").read_text("utf-8")


def _find_summary(text: str) -> str:
    """The comment before the first empty line or line without words, up to its first full stop."""
    lines = []
    for line in text.splitlines():
        words = line.removeprefix("%").strip()
        if not line.startswith("%") or not words:
            break
        lines.append(words)
    sentence, stop, _ = " ".join(lines).partition(". ")
    return sentence + stop.strip()
