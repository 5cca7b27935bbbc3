"""The parser against damaged programs, and against the grammar that its page publishes."""

from __future__ import annotations

import random
import re
from collections import Counter
from functools import cache
from pathlib import Path
from typing import TypeAlias

import pytest
from hypothesis import given
from tests.robustness.fuzz_targets import GROUPS_RULES, RISK_RULES
from tests.robustness.mutations import mutate
from tests.rules.made_up_programs import programs

import divulge as dv
from divulge.rules import Program
from divulge.rules.language.formatter import format_program
from divulge.rules.language.tokens import FUNCTION_ARITIES, KEYWORDS, SYMBOLS, read_tokens

PAGE = Path(__file__).parents[2] / "docs" / "rules-language.md"
CASES = 1_000


def test_a_damaged_program_is_read_or_refused_with_the_place_of_each_mistake() -> None:
    texts = [GROUPS_RULES.encode(), RISK_RULES.encode()]
    outcomes: Counter[str] = Counter()
    for seed in range(CASES):
        source = random.Random(seed)  # noqa: S311  # no secret
        damaged = mutate(source.choice(texts), texts, source, text=True).decode("utf-8", "replace")
        try:
            Program.parse(damaged)
        except dv.InvalidInput as error:
            lines = damaged.split("\n")
            for problem in error.problems:
                place = re.match(r"line (\d+), column (\d+)", problem.place)
                assert place is not None
                assert int(place[2]) <= len(lines[int(place[1]) - 1]) + 1
            outcomes["refused"] += 1
        else:
            outcomes["read"] += 1
    assert min(outcomes.values()) > CASES / 20
    assert outcomes.total() == CASES


# The published grammar. An expression of EBNF is a tuple: its kind, then its parts.

Expression: TypeAlias = tuple[str, ...] | tuple[str, tuple["Expression", ...]]
TOKEN_OF_GRAMMAR = re.compile(r'"[^"]+"|[A-Za-z]+|[=;|{}()\[\]]')
KINDS = {"VARIABLE": "variable", "NUMBER": "number", "TEXT": "text"}


class GrammarReader:
    """Reads the rules of the grammar that derive programs; words and values are tokens."""

    def __init__(self, text: str) -> None:
        self.words = TOKEN_OF_GRAMMAR.findall(text)
        self.position = 0

    def read_rules(self) -> dict[str, tuple]:  # type: ignore[type-arg]
        rules = {}
        while self.position < len(self.words):
            name = self.words[self.position]
            self.position += 2
            rules[name] = self.read_choice()
            self.position += 1
        return rules

    def read_choice(self) -> tuple:  # type: ignore[type-arg]
        choices = [self.read_sequence()]
        while self.words[self.position] == "|":
            self.position += 1
            choices.append(self.read_sequence())
        return ("choice", tuple(choices))

    def read_sequence(self) -> tuple:  # type: ignore[type-arg]
        parts = []
        while (word := self.words[self.position]) not in ("|", ";", ")", "]", "}"):
            self.position += 1
            if word in "([{":
                kind = {"(": "choice", "[": "option", "{": "repetition"}[word]
                parts.append((kind, (self.read_choice(),)))
                self.position += 1
            elif word.startswith('"'):
                parts.append(("word", word[1:-1]))
            else:
                parts.append(("rule", word))
        return ("sequence", tuple(parts))


@cache
def load_grammar() -> dict[str, tuple]:  # type: ignore[type-arg]
    block = PAGE.read_text(encoding="utf-8").split("```")[3]
    syntax, words = block.split("\n\n")
    vocabulary = re.split(r"\n(?=\S)", words.strip())
    chosen = [
        line for line in vocabulary if line.split()[0] in ("PREDICATE", "FUNCTION", "AGGREGATE")
    ]
    return GrammarReader("\n".join([syntax, *chosen])).read_rules()


def list_choices(rule: str) -> list[str]:
    return [part[1][0][1] for part in load_grammar()[rule][1]]


def test_the_page_has_the_words_that_the_parser_knows() -> None:
    assert list_choices("FUNCTION") == list(FUNCTION_ARITIES)
    [line] = re.findall(r"(?m)^keywords +=(.*);$", PAGE.read_text(encoding="utf-8"))
    assert re.findall(r'"(\w+)"', line) == list(KEYWORDS)
    written = set(re.findall(r'"([^"\w]+)"', PAGE.read_text(encoding="utf-8").split("```")[3]))
    assert set(SYMBOLS) - written == set()


class Recogniser:
    """Which stretches of a program's tokens the grammar derives, by trying everything."""

    def __init__(self, text: str) -> None:
        stream = read_tokens(text)
        self.kinds, self.words = stream.kinds, stream.words
        self.known: dict[tuple[str, int], frozenset[int]] = {}

    def ends(self, expression: tuple, start: int) -> frozenset[int]:  # type: ignore[type-arg]
        kind, parts = expression
        if kind == "word":
            return frozenset({start + 1} if self.words[start] == parts else ())
        if kind == "rule":
            return self.ends_of_rule(parts, start)
        if kind == "choice":
            return frozenset(end for part in parts for end in self.ends(part, start))
        if kind == "option":
            return self.ends(parts[0], start) | {start}
        reached = {start}
        if kind == "sequence":
            for part in parts:
                reached = {end for place in reached for end in self.ends(part, place)}
            return frozenset(reached)
        waiting = [start]
        while waiting:
            found = self.ends(parts[0], waiting.pop()) - reached
            reached |= found
            waiting += found
        return frozenset(reached)

    def ends_of_rule(self, name: str, start: int) -> frozenset[int]:
        if name in KINDS or name == "NAME":
            is_word = self.words[start] not in list_choices("AGGREGATE")
            fits = self.kinds[start] == KINDS.get(name, "name") and (is_word or name != "NAME")
            return frozenset({start + 1} if fits else ())
        if (name, start) not in self.known:
            self.known[name, start] = self.ends(load_grammar()[name], start)
        return self.known[name, start]


def is_derived(text: str) -> bool:
    recogniser = Recogniser(text)
    return len(recogniser.kinds) - 1 in recogniser.ends_of_rule("program", 0)


@given(programs())
def test_the_published_grammar_derives_what_the_parser_reads(program: Program) -> None:
    assert is_derived(format_program(program))


@pytest.mark.parametrize("text", ["p(X)", "p(X) :- .", "p(*X, Y).", "X = Y.", 'p(a, X) from "f".'])
def test_the_published_grammar_derives_no_more_than_programs(text: str) -> None:
    assert not is_derived(text)


class Writer:
    """Writes statements that the grammar derives, along choices drawn at random."""

    def __init__(self, source: random.Random) -> None:
        self.source = source
        self.left = 120
        """Rules to follow; then the first choice is taken, which is short, and nothing repeated."""

    def write(self, expression: tuple) -> list[str]:  # type: ignore[type-arg]
        kind, parts = expression
        if kind == "word":
            return [parts]
        if kind == "rule":
            return self.write_rule(parts)
        if kind == "sequence":
            return [word for part in parts for word in self.write(part)]
        if kind == "choice":
            return self.write(parts[0] if self.left <= 0 else self.source.choice(parts))
        times = 0 if self.left <= 0 else self.source.choice((0, 0, 1, 1, 2))
        times = min(times, 1) if kind == "option" else times
        return [word for _ in range(times) for word in self.write(parts[0])]

    def write_rule(self, name: str) -> list[str]:
        self.left -= 1
        values = {
            "VARIABLE": ["X", "VSet", "_x"],
            "NAME": ["roma", "größe"],
            "NUMBER": ["3", "0.50"],
            "TEXT": ['"a \\" b"', '""'],
        }
        if name in values:
            return [self.source.choice(values[name])]
        return self.write(load_grammar()[name])


BESIDE_THE_GRAMMAR = re.compile(
    r"takes \d terms?, not|needs what it collects|^More than|has more than"
)
"""What the page says in words: how many terms a function takes, and the bounds."""


def test_the_parser_reads_what_the_published_grammar_derives() -> None:
    accepted = 0
    for seed in range(CASES):
        writer = Writer(random.Random(seed))  # noqa: S311  # no secret
        text = " ".join(writer.write_rule("statement"))
        try:
            Program.parse(text)
        except dv.InvalidInput as error:
            for problem in error.problems:
                assert BESIDE_THE_GRAMMAR.search(problem.message), (text, problem)
        else:
            accepted += 1
    assert accepted > CASES / 4
