"""The names that each format takes for attributes, and the nearest one that it does take.

Programs reserve words, cut names that are too long, take no signs but their own, or do not tell
upper from lower case. Their writers then refuse in words of their own, give a column another name,
or write a file that the program itself cannot open. So a name is either kept as it is, or refused
here with a name that would be kept.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from divulge.work import Problem, Problems, UnconfirmedName

UNLIMITED = 2**31 - 1
FALLBACK_STEM = "v"
"""What a name begins with, or consists of, where nothing of it can be kept."""
MAX_SHOWN_CHARACTERS = 80


@dataclass(frozen=True, kw_only=True)
class NameRules:
    """The names that one program's files hold, and how many columns."""

    program: str
    rule: str
    """The rule in words, after "names"."""
    may_begin: Callable[[str], bool]
    may_follow: Callable[[str], bool]
    characters: int = UNLIMITED
    size: int = UNLIMITED
    """At most so many bytes of UTF-8."""
    reserved: re.Pattern[str] | None = None
    last_refused: str = ""
    """Signs that no name may end with."""
    last_avoided: str = ""
    """Signs that a name may end with and had better not."""
    key: Callable[[str], str] = str
    """What two names share that the program takes for one."""
    columns: int = UNLIMITED

    def is_allowed(self, name: str) -> bool:
        """Whether the program takes a name as it is, if no other is like it.

        >>> [STATA_NAMES.is_allowed(name) for name in ("income", "in", "2019")]
        [True, False, False]
        """
        return self.find_objection(name) is None

    def find_objection(self, name: str) -> str | None:
        """What the program has against a name, or None."""
        if not name.strip():
            return "has no name."
        if not _is_unicode(name):
            return "is not Unicode text (half a pair of surrogates)."
        if not (_is_plain_name(name) or self._may_hold(name)):
            return f"names for {self.program} {self.rule}."
        if len(name) > self.characters:
            return f"is too long: {self.program} takes at most {self.characters} characters."
        if len(name.encode()) > self.size:
            return f"is too long: {self.program} takes at most {self.size} bytes of UTF-8."
        if name.endswith(tuple(self.last_refused)):
            return f'{self.program} takes no name that ends with "{name[-1]}".'
        if self.reserved and self.reserved.fullmatch(name):
            return f"{self.program} reserves this word."
        return None

    def _may_hold(self, name: str) -> bool:
        return self.may_begin(name[:1]) and all(map(self.may_follow, name[1:]))


_HALF_LETTER = re.compile("[\ud800-\udfff]")


def _is_unicode(name: str) -> bool:
    return _HALF_LETTER.search(name) is None


def _is_plain_name(name: str) -> bool:
    """Whether a name is of the kind that all take: a file of 100,000 columns is looked through."""
    return name.isascii() and name.isidentifier() and name[0] != "_"


def _is_any_but_nul(letter: str) -> bool:
    # Everywhere a NUL ends a name for some of those who read it.
    return letter != "\0" and _is_unicode(letter)


def _is_letter(letter: str) -> bool:
    return letter.isalpha()


def _is_letter_or_line(letter: str) -> bool:
    return letter == "_" or letter.isalpha()


def _is_letter_line_or_digit(letter: str) -> bool:
    return letter == "_" or letter.isalpha() or letter.isdecimal()


def _is_in_spss_word(letter: str) -> bool:
    # Many scripts write vowels as marks on the letter before.
    is_mark = unicodedata.category(letter).startswith("M")
    return letter in ".$#@" or _is_letter_line_or_digit(letter) or is_mark


def _is_ascii_letter_or_line(letter: str) -> bool:
    return letter.isascii() and _is_letter_or_line(letter)


def _is_ascii_word(letter: str) -> bool:
    return letter.isascii() and _is_letter_line_or_digit(letter)


def _to_lower_ascii(name: str) -> str:
    return name.encode("utf-8", "surrogatepass").lower().decode("utf-8", "surrogatepass")


TEXT_NAMES = NameRules(
    program="text files",
    rule="contain no NUL character",
    may_begin=_is_any_but_nul,
    may_follow=_is_any_but_nul,
)
ARROW_NAMES = replace(TEXT_NAMES, program="Arrow")
PARQUET_NAMES = replace(TEXT_NAMES, program="Parquet")
# DuckDB's own comparison leaves all letters but the English ones as they are.
DUCKDB_NAMES = replace(TEXT_NAMES, program="DuckDB", key=_to_lower_ascii)
SPSS_NAMES = NameRules(
    program="SPSS",
    rule="begin with a letter and contain letters, digits, and . _ $ # @",
    may_begin=_is_letter,
    may_follow=_is_in_spss_word,
    size=64,
    reserved=re.compile(r"ALL|AND|BY|EQ|GE|GT|LE|LT|NE|NOT|OR|TO|WITH", re.IGNORECASE | re.ASCII),
    # A command ends with a period; procedures give names that end with a line to what they add.
    last_refused=".",
    last_avoided="_",
    key=str.casefold,
)
STATA_NAMES = NameRules(
    program="Stata",
    rule="begin with a letter or _ and contain letters, digits and _",
    may_begin=_is_letter_or_line,
    may_follow=_is_letter_line_or_digit,
    characters=32,
    size=128,
    reserved=re.compile(
        r"_all|_b|byte|_coef|_cons|double|float|if|in|int|long|_n|_N|_pi|_pred|_rc|_skip|strL|"
        r"str[0-9]+|using|with"
    ),
    columns=32_767,
)
SAS_NAMES = NameRules(
    program="SAS",
    rule="begin with an English letter or _ and contain English letters, digits and _",
    may_begin=_is_ascii_letter_or_line,
    may_follow=_is_ascii_word,
    characters=32,
    size=32,
    reserved=re.compile(
        r"_N_|_ERROR_|_FILE_|_INFILE_|_IORC_|_MSG_|_CMD_|_ALL_|_NUMERIC_|_CHARACTER_|_CHAR_",
        re.IGNORECASE,
    ),
    key=str.lower,
    columns=32_767,
)


def find_name_rule_problems(names: Sequence[str], rules: NameRules) -> Iterator[Problem]:
    """Names that a program does not take, each with one that it takes, and too many of them.

    >>> print(*find_name_rule_problems(["in", "Age", "age"], STATA_NAMES))
    column "in": Stata reserves this word. Rename it, for example to "in_".
    >>> print(*find_name_rule_problems(["in", "Age", "age"], SPSS_NAMES))
    column "age": differs from "Age" only by case, which SPSS ignores. Rename it, for example to
    "age_1".
    """
    free_names = _FreeNames(names, rules)
    first: dict[str, int] = {}
    for number, name in enumerate(names, start=1):
        first_number = first.setdefault(rules.key(name), number)
        message = rules.find_objection(name)
        if message is None and first_number != number:
            message = _describe_clash(name, names[first_number - 1], first_number, rules)
        if message is not None:
            allowed_name = free_names.take_nearest(
                f"{FALLBACK_STEM}{number}" if isinstance(name, UnconfirmedName) else name
            )
            hint = f'Rename it, for example to "{format_name(allowed_name)}".'
            yield Problem(describe_column(name, number), f"{message} {hint}")
    if len(names) > rules.columns:
        yield Problem("", f"{rules.program} takes at most {rules.columns:,} columns.")


def refuse_names(names: Iterable[str], rules: NameRules) -> None:
    """Raise all that is wrong with names, for a program to which nothing else can be wrong.

    >>> refuse_names(["age", "sex"], PARQUET_NAMES)
    """
    problems = Problems(f"writing for {rules.program}")
    problems.extend("", find_name_rule_problems(list(names), rules))
    problems.raise_any()


def describe_column(name: str, number: int) -> str:
    """The place of a problem with a column: its name, where that can be seen and may be shown.

    >>> describe_column("age", 2), describe_column(" ", 2), describe_column(UnconfirmedName("J"), 2)
    ('column "age"', 'column 2', 'column 2')
    """
    is_hidden = isinstance(name, UnconfirmedName) or not name.strip()
    return f"column {number}" if is_hidden else f'column "{format_name(name)}"'


def _describe_clash(name: str, before: str, number: int, rules: NameRules) -> str:
    if name == before:
        return "is the name of two columns."
    other = describe_column(before, number).removeprefix('column "')
    shown_place = f'"{other}' if other.endswith('"') else other
    return f"differs from {shown_place} only by case, which {rules.program} ignores."


def find_allowed_name(name: str, taken: Collection[str], rules: NameRules) -> str:
    """The name nearest to this one that a program takes beside the names that are taken.

    It depends on nothing else, so the same names always lead to the same advice.

    >>> find_allowed_name("in", ["age"], STATA_NAMES)
    'in_'
    >>> find_allowed_name("income (€)", ["INCOME"], SPSS_NAMES)
    'income_1'
    >>> find_allowed_name("2019", [], SAS_NAMES), find_allowed_name("Größe", [], SAS_NAMES)
    ('v2019', 'Grosse')
    """
    return _FreeNames(taken, rules).take_nearest(name)


def format_name(name: str) -> str:
    r"""A name as messages show it: in one line, not too long, and text on every terminal.

    >>> format_name("age"), format_name("a\nb\0"), format_name("x" * 100) == "x" * 79 + "…"
    ('age', 'a\\nb\\x00', True)
    """
    cut = name if len(name) <= MAX_SHOWN_CHARACTERS else f"{name[: MAX_SHOWN_CHARACTERS - 1]}…"
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in cut)


class _FreeNames:
    """Names that are still free, given out one by one."""

    def __init__(self, taken: Collection[str], rules: NameRules) -> None:
        self.rules = rules
        self._taken = set(map(rules.key, taken))
        self._numbers: dict[str, int] = {}

    def take_nearest(self, name: str) -> str:
        """The nearest name that is free; from now on it is taken."""
        stem = _clean_name(name, self.rules)
        free_name = next(filter(self._is_free, self._generate_candidates(stem)))
        self._taken.add(self.rules.key(free_name))
        return free_name

    def _generate_candidates(self, stem: str) -> Iterator[str]:
        yield stem
        if "_" not in self.rules.last_avoided + self.rules.last_refused:
            yield _join_within_limits(stem, "_", self.rules)
        while True:
            # A number that was tried for the same stem is never free again.
            number = self._numbers[stem] = self._numbers.get(stem, 0) + 1
            yield _join_within_limits(stem, f"_{number}", self.rules)

    def _is_free(self, name: str) -> bool:
        return self.rules.is_allowed(name) and self.rules.key(name) not in self._taken


def _clean_name(name: str, rules: NameRules) -> str:
    """What can be kept of a name: each run of signs that it may not hold becomes one line."""
    letters: list[str] = []
    for letter in unicodedata.normalize("NFC", name):
        if rules.may_follow(letter) and (letter == " " or not letter.isspace()):
            letters.append(letter)
            continue
        # The nearest letters that a program takes: an accent goes before its letter does.
        plain = "".join(
            filter(rules.may_follow, _PLAIN_LETTERS.get(letter) or _strip_accents(letter))
        )
        letters.append(plain.strip() or "\0")
    stem = re.sub("\0+", "_", "".join(letters).strip("\0 "))
    stem = re.sub("__+", "_", stem) if "__" not in name else stem
    if stem and not rules.may_begin(stem[0]):
        stem = FALLBACK_STEM + stem
    return _join_within_limits(stem or FALLBACK_STEM, "", rules)


_PLAIN_LETTERS = {
    "ß": "ss", "æ": "ae", "Æ": "AE", "ø": "o", "Ø": "O", "œ": "oe", "Œ": "OE", "ł": "l",
    "Ł": "L", "đ": "d", "Đ": "D", "\u0131": "i", "þ": "th", "Þ": "Th",
}  # fmt: skip
"""Letters that no decomposition makes plain."""


def _strip_accents(letter: str) -> str:
    parts = unicodedata.normalize("NFKD", letter)
    return "".join(part for part in parts if not unicodedata.combining(part))


def _join_within_limits(stem: str, end: str, rules: NameRules) -> str:
    """A stem, cut so that it and its end are no longer than a name may be."""
    stem = stem[: rules.characters - len(end)]
    room = rules.size - len(end.encode())
    if len(stem.encode()) > room:
        stem = stem.encode()[:room].decode("utf-8", "ignore")
    refused = rules.last_refused + rules.last_avoided
    return (stem if end else stem.rstrip(refused) or FALLBACK_STEM) + end
