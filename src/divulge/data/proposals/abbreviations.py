"""Names cut short or run together, read in full: `marstat` is `marital status`, `exper` experience.

Three readings, from the surest to the boldest, and only for names that nothing else is known of: a
word that is wholly made of known ones; the beginning of a known word; a known word and one letter
(`agew`, the age of the wife).
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence

from divulge.data import tuning
from divulge.data.proposals.name_similarity import Words, drop_numbers, expand_word, split_words


class Abbreviations:
    """The words of known names, by which shortened ones are read.

    >>> abbreviations = Abbreviations(["marital status", "experience", "age", "occupation"])
    >>> [abbreviations.expand((word,)) for word in ("marstat", "exper", "agew", "zzz")]
    [('marital', 'status'), ('experience',), ('age',), ()]
    """

    def __init__(self, names: Sequence[str]) -> None:
        known = [split_words(name) for name in names]
        # Short words within longer names are short forms of who knows what.
        whole_names = {words[0] for words in known if len(words) == 1}
        self._words = sorted(
            word
            for word in {word for words in known for word in words if word.isascii()}
            if len(word) > tuning.MIN_STEM_LETTERS
            or (len(word) == tuning.MIN_STEM_LETTERS and word in whole_names)
        )
        self._known = frozenset(self._words)

    def expand(self, words: Words) -> Words:
        """The words in full; empty if none of them can be read so."""
        full_words: list[str] = []
        is_changed = False
        for word in drop_numbers(words):
            reading = () if word in self._known else self._read_word(word)
            full_words += reading or (word,)
            is_changed = is_changed or bool(reading)
        return tuple(full_words) if is_changed else ()

    def _read_word(self, word: str) -> Words:
        parts = self._split(word)
        if parts:
            return parts
        if len(word) >= tuning.MIN_PREFIX_LETTERS:
            place = bisect_left(self._words, word)
            longer = self._words[place] if place < len(self._words) else ""
            if longer.startswith(word):
                return (longer,)
        return self._read_part(word[:-1]) if len(word) > tuning.MIN_STEM_LETTERS else ()

    def _split(self, word: str) -> Words:
        """The word as two or three known ones run together, the longest first; else nothing."""
        if len(word) < 2 + tuning.MIN_STEM_LETTERS or len(word) > tuning.MAX_JOINED_LETTERS:
            return ()
        shortest = 2 if word.startswith("hh") else tuning.MIN_STEM_LETTERS  # as in `hhsize`
        for end in range(len(word) - tuning.MIN_STEM_LETTERS, shortest - 1, -1):
            first, rest = word[:end], word[end:]
            first_words = self._read_part(first)
            if not first_words:
                continue
            rest_words = self._read_part(rest) or self._split(rest)
            if rest_words:
                return (*first_words, *rest_words)
        return ()

    def _read_part(self, part: str) -> Words:
        if part in self._known:
            return (part,)
        full = expand_word(part)
        return full if full != (part,) else ()
