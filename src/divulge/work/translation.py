"""Texts of the code in another language: the English text is the key, as with gettext.

An error is written in English where it is raised, and translated where it is shown. A package
brings `messages.<language>.toml`, whose entries go from an English template to one in the language:

    'dataset "{0}" has no attribute "{1}".' = '"{1}" ist kein Merkmal von "{0}".'

    [place]
    'row {0}' = 'Zeile {0}'

A hole stands for whatever the message holds there; `{1:message}` is a hole with a message of its
own in it, which is translated too. What no template matches stays English. Tables hold what is not
a message, so that a short text is never taken for part of one: places of problems, names of steps
of the work, and the pages of help.
"""

from __future__ import annotations

import re
import string
import sys
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from importlib import metadata, resources
from importlib.resources.abc import Traversable
from typing import Any

from divulge.work.context import current_language
from divulge.work.problems import HAS_PROBLEMS, InvalidInput, Problem

OWN_PACKAGE = __package__.partition(".")[0]
ENTRY_POINT_GROUPS = ("divulge.attacks", "divulge.measures")
NESTED_MESSAGE = "message"

PLACE, STEP, HELP = "place", "step", "help"
SECTIONS = (PLACE, STEP, HELP)
"""The tables of a catalogue, for texts that are not messages."""
PART_OF_PLACE = re.compile(r'(?:"[^"]*"|[^",]|,(?! ))+')
_PLAIN_CONTENT = re.compile(r"[\d,]+|[A-Za-z_]\w*")


@dataclass(frozen=True)
class Template:
    """An English message with holes, and how texts that it makes are recognised.

    >>> Template('"{0}" is not {1}.').match_text('"CRX" is not an attack model.')
    ('CRX', 'an attack model')
    """

    english: str

    @cached_property
    def parts(self) -> tuple[tuple[str, str | None, str], ...]:
        """Literal texts, each with the hole behind it (None at the end) and what that holds."""
        return tuple(_split_template(self.english))

    @property
    def holes(self) -> tuple[str, ...]:
        """The names of the holes, in their order."""
        return tuple(hole for _, hole, _ in self.parts if hole is not None)

    @property
    def literal_length(self) -> int:
        """How many characters are not in holes: the more, the surer a match."""
        return sum(len(literal) for literal, _, _ in self.parts)

    def match_text(self, text: str) -> tuple[str, ...] | None:
        """What a text has in the holes; None if the template does not make it."""
        match = self._pattern.fullmatch(text)
        return None if match is None else match.groups()

    @cached_property
    def _pattern(self) -> re.Pattern[str]:
        """Each literal is taken where it first occurs, the last one at the end.

        Where holes hold anything that is all there is to try, so the groups are atomic, and no
        message takes longer than its length to be refused.
        """
        *inner, last = [re.escape(literal) for literal, _, _ in self.parts]
        if not inner:
            return re.compile(last)
        first, *middle = inner
        groups = "".join(f"(?>(.*?){literal})" for literal in middle)
        return re.compile(f"{first}{groups}(.*){last}", re.DOTALL)


def _split_template(template: str) -> Iterator[tuple[str, str | None, str]]:
    """Literals and holes in turn; the last literal, maybe empty, has no hole behind it."""
    literal, hole = "", None
    for text, field, spec, _ in string.Formatter().parse(template):
        literal, hole = literal + text, field
        if field is not None:
            yield literal, field, spec or ""
            literal = ""
    if literal or hole is not None or not template:
        yield literal, None, ""


class MessageCatalogue:
    """The texts of one language, by their English templates; those in tables apart.

    >>> messages = MessageCatalogue({'"{0}" is not {1}.': '{1}: nicht "{0}".'})
    >>> messages.translate_text('"CRX" is not an attack model.')
    'an attack model: nicht "CRX".'
    >>> messages.translate_text("Something else.")
    'Something else.'
    """

    def __init__(self, entries: Mapping[str, Any]) -> None:
        sound = [english for english in entries if not find_faults(english, entries[english])]
        self._translations: dict[str, str] = {english: entries[english] for english in sound}
        self._tables = {name: table for name, table in entries.items() if isinstance(table, dict)}
        self._sections: dict[str, MessageCatalogue] = {}
        # The surest template first; of two alike, the one that looks into its holes.
        self._templates = sorted(
            map(Template, sound),
            key=lambda t: (-t.literal_length, -t.english.count(f":{NESTED_MESSAGE}}}"), t.english),
        )

    def select_section(self, name: str) -> MessageCatalogue:
        """The texts in one of the tables, without any others."""
        if name not in self._sections:
            self._sections[name] = MessageCatalogue(self._tables.get(name, {}))
        return self._sections[name]

    def find_template(self, text: str) -> Template | None:
        """The template with most literal characters that makes this text."""
        return next((t for t in self._templates if t.match_text(text) is not None), None)

    def translate_text(self, text: str) -> str:
        """The message in the language; as it is if no template makes it."""
        template = self.find_template(text)
        if template is None:
            # A caller ends the message of another error with a full stop.
            is_sentence = text.endswith(".") and self.find_template(text[:-1]) is not None
            return f"{self.translate_text(text[:-1])}." if is_sentence else text
        contents = dict(zip(template.holes, template.match_text(text) or (), strict=True))
        for _, hole, kind in template.parts:
            if hole is not None and kind == NESTED_MESSAGE:
                contents[hole] = self.translate_text(contents[hole])
        return _fill_holes(self._translations[template.english], contents)

    def translate_problem(self, problem: Problem) -> str:
        """A problem in the language, without its place."""
        texts = filter(None, [problem.message, problem.hint])
        return " ".join(map(self.translate_text, texts))

    def translate_place(self, place: str) -> str:
        """The place of a problem or the subject of an error, part by part; names stay.

        >>> words = MessageCatalogue({"place": {'column "{0}"': 'Spalte "{0}"'}})
        >>> words.translate_place('dataset "a, b", column "age"')
        'dataset "a, b", Spalte "age"'
        """
        return PART_OF_PLACE.sub(lambda part: self._translate_part(part[0]), place)

    def _translate_part(self, text: str) -> str:
        """One part of a place, or as it is: names of files never change.

        A hole between words holds a number or one word; at the start or in quotes, any name.
        """
        section = self.select_section(PLACE)
        part = text.strip()
        template = section.find_template(part)
        if template is None:
            return text
        contents = template.match_text(part) or ()
        for (before, _, _), content in zip(template.parts, contents, strict=False):
            if before and not before.endswith('"') and not _PLAIN_CONTENT.fullmatch(content):
                return text
        return text.replace(part, section.translate_text(part))

    def translate_error(self, error: BaseException) -> str:
        """An error in the language; one with several problems, problem by problem."""
        if not isinstance(error, InvalidInput):
            return self.translate_text(str(error))
        subject = self.translate_place(error.subject)
        count = len(error.problems)
        heading = self._translations.get(HAS_PROBLEMS, HAS_PROBLEMS)
        return error.format_message(
            subject,
            [self.translate_problem(problem) for problem in error.problems],
            _fill_holes(heading, {"0": subject, "1": str(count)}),
            [self.translate_place(problem.place) for problem in error.problems],
        )


def _fill_holes(template: str, contents: Mapping[str, str]) -> str:
    """The template with its holes filled; a hole is only ever a name, never an expression."""
    parts = _split_template(template)
    return "".join(literal + ("" if hole is None else contents[hole]) for literal, hole, _ in parts)


def find_faults(english: str, translation: object) -> list[str]:
    """What is wrong with an entry of a catalogue, in words; an entry with faults is not used.

    >>> find_faults("{0} is late.", "{1} kommt.")
    ['has a hole {1} that the English has not']
    """
    if not isinstance(translation, str):
        return ["is not text"]
    try:
        holes = Template(english).holes
        used = Template(translation).holes
    except ValueError:
        return ["has a brace without its other half"]
    repeated = len(set(holes)) < len(holes)
    unknown = [
        f"has a hole {{{hole}}} that the English has not" for hole in used if hole not in holes
    ]
    return ["has a hole twice in its English"] * repeated + unknown


def translate_error(error: BaseException, language: str | None = None) -> str:
    """What an error says to the user, in a language or in that of the run.

    >>> translate_error(InvalidInput("release.toml", [Problem("limit 1", "needs at_most.")]))
    'release.toml, limit 1: needs at_most.'
    """
    return load_messages(language or current_language()).translate_error(error)


def translate_message(text: str, language: str | None = None) -> str:
    """A message in a language or in that of the run; as it is if the language has no words for it.

    >>> translate_message("stopped; nothing was written")
    'stopped; nothing was written'
    """
    return load_messages(language or current_language()).translate_text(text)


def translate_step(name: str) -> str:
    """The name of a step of the work, or what else is said of progress, in the language of the run.

    >>> translate_step("Writing the report")
    'Writing the report'
    """
    return load_messages(current_language()).select_section(STEP).translate_text(name)


def translate_help(text: str) -> str:
    """A text of the pages of help, in the language of the run.

    >>> translate_help("Print the version.")
    'Print the version.'
    """
    return load_messages(current_language()).select_section(HELP).translate_text(text)


def load_messages(language: str) -> MessageCatalogue:
    """The messages of a language: Divulge's, and those of packages that bring attacks."""
    return _load_messages(language, tuple(_list_packages()))


@lru_cache
def _load_messages(language: str, packages: Sequence[str]) -> MessageCatalogue:
    entries: dict[str, Any] = {}
    for package in packages:
        for english, translation in _read_messages(package, language).items():
            if isinstance(translation, dict) and isinstance(entries.get(english), dict):
                entries[english] = {**translation, **entries[english]}
            else:
                entries.setdefault(english, translation)
    return MessageCatalogue(entries)


def _read_messages(package: str, language: str) -> dict[str, Any]:
    """The entries of one package; none if they cannot be read, since an error is being shown."""
    try:
        return read_catalogue(package, f"messages.{language}.toml")
    except (OSError, ValueError):
        return {}


def _list_packages() -> Iterator[str]:
    """Divulge, then packages of entry points that are loaded: to show an error loads no code."""
    yield OWN_PACKAGE
    points = [point for group in ENTRY_POINT_GROUPS for point in metadata.entry_points(group=group)]
    names = {point.module.partition(".")[0] for point in points}
    yield from sorted(name for name in names - {OWN_PACKAGE} if name in sys.modules)


def read_catalogue(package: str, file_name: str) -> dict[str, Any]:
    """What a file of words in a package holds; nothing if the package has no such file."""
    file = find_catalogue(package, file_name)
    return tomllib.loads(file.read_text(encoding="utf-8")) if file.is_file() else {}


def find_catalogue(package: str, file_name: str) -> Traversable:
    """Where a file of words of a package is, or would be: the one door to all catalogues."""
    return resources.files(package) / file_name
