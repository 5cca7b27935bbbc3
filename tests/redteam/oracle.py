"""What a published file tells somebody who knows their victim: plain code, and slow.

A published record fits a victim if every quasi-identifier that it shows is the victim's, as it is
or made coarser by the hierarchy. Absent is a value; hidden is not. What fits is weighed as
docs/risk.md says under `bayes`. The file is read by other libraries than the product's.
"""

from __future__ import annotations

import datetime as dt
import math
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from pathlib import Path
from typing import Any, Final

from tests.redteam.made_releases import WITHHELD, Case, Row, list_coarser
from tests.redteam.planted import list_readers

HIDDEN: Final = "(hidden)"
ROUNDING = 1e-6


@dataclass(frozen=True)
class Standard:
    """From how many cells on a relation without exceptions is believed.

    `rare` are those that differ from the most frequent value.
    """

    cells: int
    rare: int


DOCUMENTED = Standard(73, 35)
"""From 73 and 35 cells without a failure, Wilson's lower ends reach 95% and 90%: docs/refill.md."""
BOLD = Standard(30, 15)
"""Somebody who believes what the product would not, and is right."""

Shown = dict[str, str | None]


def read_published(path: Path) -> list[Shown]:
    """The records of a published file: texts, None for absent, HIDDEN for hidden."""
    import pandas as pd
    import polars as pl

    if path.suffix == ".csv":
        frame = pd.read_csv(path, dtype=str, keep_default_na=False, na_values=[""])
        records: Any = frame.to_dict("records")
    elif path.suffix == ".parquet":
        records = pl.read_parquet(path).to_dicts()
    else:
        # By pandas: pyreadstat 1.3 gives numbers from anywhere for missing whole numbers here.
        # Its dates cannot be missing, so days are counted by hand.
        stata = pd.read_stata(path, convert_missing=True, convert_dates=False).astype(object)
        if "born" in stata and not any(isinstance(value, str) for value in stata["born"]):
            stata["born"] = stata["born"].map(_count_days)
        records = stata.to_dict("records")
    return [mark_hidden(record, is_tagged=path.suffix == ".dta") for record in records]


def _count_days(value: Any) -> Any:
    """A day of Stata, which counts from 1960; missing values as they are."""
    return dt.date(1960, 1, 1) + dt.timedelta(int(value)) if str(value)[0] != "." else value


def mark_hidden(record: Mapping[str, Any], *, is_tagged: bool) -> Shown:
    """A record as texts, with what a file says was hidden marked so."""
    shown = {str(name): write_text(value) for name, value in record.items()}
    for name, text in shown.items():
        status = shown.get(f"{name}_status")
        if "suppressed" in (text, status) and not name.endswith("_status"):
            shown[name] = HIDDEN
        if is_tagged and text == ".s":
            shown[name] = HIDDEN
    return {name: text for name, text in shown.items() if not name.endswith("_status")}


def write_text(value: Any) -> str | None:
    """A value as a text that is the same in every format."""
    if value is None or str(value) in ("", ".") or (isinstance(value, float) and math.isnan(value)):
        return None
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    if isinstance(value, dt.datetime):
        return value.date().isoformat()
    if isinstance(value, dt.date):
        return value.isoformat()
    text = str(value)
    if text in ("nan", "NaT", "<NA>"):
        return None
    return text[:-2] if text.endswith(".0") and text[:-2].isdigit() else text


@dataclass(frozen=True, kw_only=True)
class Evidence:
    """A published file beside its source: records, and whose each of them is."""

    case: Case
    records: Sequence[Shown]
    victims: Sequence[Row]
    """The source's records that were published, in the order of `records`."""
    candidates: dict[tuple[Any, ...], list[Shown]] = field(default_factory=dict, compare=False)
    """What was found before, by what is known of a victim."""
    shown_ways: dict[tuple[str, Any], set[str | None]] = field(default_factory=dict, compare=False)
    parts: dict[tuple[str, Any], dict[str | None, float]] = field(
        default_factory=dict, compare=False
    )
    counts: dict[str, Counter[Any]] = field(default_factory=dict, compare=False)

    def fits(self, record: Shown, victim: Row, names: Sequence[str]) -> bool:
        """Whether all that a record shows of these attributes is the victim's."""
        return all(
            record[name] == HIDDEN or record[name] in self.possible_texts(victim, name)
            for name in names
        )

    def possible_texts(self, victim: Row, name: str) -> list[str | None]:
        """What a record of the victim may show."""
        return [write_text(victim[name]), *list_coarser(name, victim[name])]

    def find_candidates(self, victim: Row) -> list[Shown]:
        """The published records that may be the victim's."""
        key = tuple(victim[name] for name in self.case.keys)
        if key not in self.candidates:
            self.candidates[key] = [
                record for record in self.records if self.fits(record, victim, self.case.keys)
            ]
        return self.candidates[key]

    def ways(self, name: str, value: Any) -> set[str | None]:
        """How the records of those with a value show it; by the hierarchy if all hide it."""
        if (name, value) not in self.shown_ways:
            own = [
                record[name]
                for record, victim in zip(self.records, self.victims, strict=True)
                if victim[name] == value and record[name] != HIDDEN
            ]
            above = {write_text(value), *list_coarser(name, value)}
            shown = {record[name] for record in self.records}
            self.shown_ways[name, value] = set(own) or (above & shown)
        return self.shown_ways[name, value]

    def part(self, name: str, value: Any, text: str | None) -> float:
        """What a text weighs for a value: its part in all that may be shown so, at best 1."""
        if (name, value) not in self.parts:
            self.parts[name, value] = self._weigh_ways(name, value)
        return self.parts[name, value].get(text, 0.0)

    def _weigh_ways(self, name: str, value: Any) -> dict[str | None, float]:
        counts = self.counts.setdefault(name, Counter(victim[name] for victim in self.victims))
        parts = {
            way: counts[value]
            / sum(n for other, n in counts.items() if way in self.ways(name, other))
            for way in self.ways(name, value)
        }
        return {way: part / max(parts.values()) for way, part in parts.items()}

    def weigh(self, record: Shown, victim: Row, names: Sequence[str]) -> float:
        """How much a record shows of the victim; 0 if it shows something else."""
        return math.prod(
            1.0 if record[name] == HIDDEN else self.part(name, victim[name], record[name])
            for name in names
        )

    def chance_of_hidden(self, hidden: Sequence[str], victim: Row) -> float:
        """How likely hidden cells hold the victim's values.

        By the complete records that agree on the rest, and twenty whose attributes are independent.
        """
        keys = self.case.keys
        visible = [name for name in keys if name not in hidden]
        complete = [each for each in self.records if all(each[name] != HIDDEN for name in keys)]
        alike = sum(self.weigh(each, victim, keys) for each in complete)
        comparable = sum(self.weigh(each, victim, visible) for each in complete)
        independent = 1.0
        for name in hidden:
            showing = [each for each in self.records if each[name] != HIDDEN]
            fitting = sum(self.weigh(each, victim, [name]) for each in showing)
            independent *= fitting / len(showing) if fitting else 1 / (len(showing) + 1)
        return (alike + 20 * independent) / (comparable + 20)

    @cached_property
    def person_of(self) -> dict[int, Any]:
        """Whose each record is, by where it stands in memory; its own if it does not say."""
        pairs = zip(self.records, self.victims, strict=True)
        return {id(record): victim.get("person", id(record)) for record, victim in pairs}

    def find_people(self, victim: Row) -> set[Any]:
        """The people of whom a record may be the victim's."""
        return {self.person_of[id(record)] for record in self.find_candidates(victim)}

    def effective_frequency(self, victim: Row) -> float:
        """One over the posterior of the likeliest person who has such a record.

        Others count by their surest record, since records of one person may repeat each other.
        """
        keys = self.case.keys
        chances: dict[tuple[str, ...], float] = {(): 1.0}
        weights: dict[Any, list[float]] = defaultdict(list)
        for record in self.records:
            hidden = tuple(name for name in keys if record[name] == HIDDEN)
            if hidden not in chances:
                chances[hidden] = self.chance_of_hidden(hidden, victim)
            weight = self.weigh(record, victim, keys) * chances[hidden]
            if weight:
                weights[self.person_of[id(record)]].append(weight)
        surest = sum(map(max, weights.values()))
        return min(
            (1 + (surest - max(w)) / (1 - math.prod(1 - x for x in w)) for w in weights.values()),
            default=math.inf,
        )

    def secrets(self, victim: Row) -> set[str | None]:
        """The secrets of the records that may be the victim's."""
        return {record["job"] for record in self.find_candidates(victim)}


def find_published(out: Path) -> Path:
    """The one file of data that may go out."""
    [file] = [f for f in (out / "release").iterdir() if f.name != "methods-note.txt"]
    return file


def read_evidence(case: Case, path: Path) -> Evidence:
    """Read a published file, and find by the receipts whose records it holds."""
    records = read_published(path)
    by_receipt = {write_text(row["receipt"]): row for row in case.rows}
    return Evidence(
        case=case, records=records, victims=[by_receipt[record["receipt"]] for record in records]
    )


def read_source(case: Case) -> Evidence:
    """The source as if it were published as it is."""
    records = [
        {n: t for n, t in record.items() if n not in WITHHELD}
        for record in read_published(case.source)
    ]
    return Evidence(case=case, records=records, victims=case.rows)


def list_faults(evidence: Evidence) -> Iterator[str]:
    """All that speaks against a published file."""
    yield from list_wrong_columns(evidence)
    yield from list_wrong_values(evidence)
    yield from list_broken_limits(evidence)
    for fault in list_broken_limits(refill(evidence, DOCUMENTED)):
        yield f"after refilling: {fault}"
    for fault in list_broken_limits(downcode(evidence, DOCUMENTED)):
        yield f"after downcoding: {fault}"


def list_bold_faults(evidence: Evidence) -> Iterator[str]:
    """Limits that relations with little evidence break."""
    for fault in list_broken_limits(refill(evidence, BOLD)):
        yield f"after bold refilling: {fault}"
    for fault in list_broken_limits(downcode(evidence, BOLD)):
        yield f"after bold downcoding: {fault}"


def list_wrong_columns(evidence: Evidence) -> Iterator[str]:
    """Columns that must not be published, and columns that are missing."""
    expected = {name for name in evidence.case.rows[0] if name not in WITHHELD}
    expected |= {"household"} if "total" in evidence.case.planted else set()
    for record in evidence.records[:1]:
        if set(record) != expected:
            yield f"columns: {sorted(set(record) ^ expected)}"


def list_wrong_values(evidence: Evidence) -> Iterator[str]:
    """Values that are neither the victim's, nor coarser, nor hidden; or hidden for no reason."""
    receipts = Counter(record["receipt"] for record in evidence.records)
    if any(count > 1 for count in receipts.values()):
        yield "a record is published twice"
    for record, victim in zip(evidence.records, evidence.victims, strict=True):
        for name, text in record.items():
            if name in evidence.case.keys:
                if not evidence.fits(record, victim, [name]):
                    yield f"{name} shows {text!r} for {victim[name]!r}"
            elif name in WITHHELD:
                if text in (write_text(victim[name]), write_text(victim["person"])):
                    yield f"{name} is no pseudonym"
            elif text != write_text(victim[name]):
                yield f"{name} shows {text!r} for {victim[name]!r}, and is no quasi-identifier"


def list_broken_limits(evidence: Evidence) -> Iterator[str]:
    """The limits of the release that do not hold for who is published."""
    case = evidence.case
    if case.k is not None:
        different = {tuple(row[name] for name in case.keys): row for row in evidence.victims}
        least = min(map(evidence.effective_frequency, different.values()), default=math.inf)
        if least < case.k - ROUNDING:
            yield f"k is {least:.4f}, and should be {case.k}"
    if case.l_diversity:
        fewest = min((len(evidence.secrets(victim)) for victim in evidence.victims), default=2)
        if fewest < 2:
            yield f"l is {fewest}, and should be 2"
    if case.model is not None:
        share = share_of_certain(evidence)
        # The limit as it is written: one in 55 is more than 0.0181818.
        if share > Fraction(str(case.at_most)):
            yield f"{float(share):.4f} are certain by {case.model}, at most {case.at_most} may be"


def share_of_certain(evidence: Evidence) -> Fraction:
    """The share of people of whom a record, drawn at random, or its secret (CAS) is certain."""
    persons = [evidence.person_of[id(record)] for record in evidence.records]
    records = Counter(persons)
    pairs = zip(persons, evidence.victims, strict=True)
    parts = [Fraction(is_certain(evidence, victim), records[person]) for person, victim in pairs]
    return sum(parts, Fraction(0)) / max(1, len(records))


def is_certain(evidence: Evidence, victim: Row) -> bool:
    """Whether a victim's person, or their secret (CAS), is the only one that fits."""
    if evidence.case.model == "CRS":
        return len(evidence.find_people(victim)) == 1
    return len(evidence.secrets(victim)) == 1


def refill(evidence: Evidence, standard: Standard) -> Evidence:
    """Fill hidden cells from single columns that determine them, as far as that is right."""
    records = [dict(record) for record in evidence.records]
    changed = True
    while changed:
        changed = False
        for target in evidence.case.keys:
            for column in records[0] if records else ():
                if column != target:
                    changed |= _fill_from(evidence, records, (column, target), standard)
        for target, read in list_readers(evidence.case.planted):
            if target in evidence.case.keys:
                changed |= _fill_read(evidence, records, target, read(records), standard)
    return Evidence(case=evidence.case, records=records, victims=evidence.victims)


def _fill_from(
    evidence: Evidence, records: list[Shown], columns: tuple[str, str], standard: Standard
) -> bool:
    """Fill what one column tells of another; says whether it told anything."""
    column, target = columns
    groups: dict[str, list[int]] = defaultdict(list)
    for place, record in enumerate(records):
        value = record[column]
        if value not in (None, HIDDEN):
            groups[str(value)].append(place)
    told: dict[int, str | None] = {}
    predicted: list[str | None] = []
    for places in groups.values():
        shown = [records[p][target] for p in places if records[p][target] != HIDDEN]
        if len(set(shown)) > 1:
            return False
        if len(shown) >= 2 and 2 * len(shown) >= len(places):
            predicted += shown
        if shown:
            told |= {p: shown[0] for p in places if records[p][target] == HIDDEN}
    frequent = max(Counter(predicted).values(), default=0)
    rare = len(predicted) - frequent
    if not told or len(predicted) < standard.cells or rare < standard.rare:
        return False
    if any(t not in evidence.possible_texts(evidence.victims[p], target) for p, t in told.items()):
        return False
    for place, text in told.items():
        records[place][target] = text
    return True


def _fill_read(
    evidence: Evidence,
    records: list[Shown],
    target: str,
    told: Sequence[str | None],
    standard: Standard,
) -> bool:
    """Fill what a planted relation tells, if shown cells bear it out and hidden ones do not fail."""
    predicted = []
    fresh = {}
    for place, (record, text) in enumerate(zip(records, told, strict=True)):
        if text is None:
            continue
        victim = evidence.victims[place]
        if record[target] == HIDDEN:
            fresh[place] = text
        elif evidence.records[place][target] == write_text(victim[target]):
            predicted.append((text, record[target]))
    frequent = max(Counter(shown for _, shown in predicted).values(), default=0)
    if len(predicted) < standard.cells or len(predicted) - frequent < standard.rare:
        return False
    if any(text != shown for text, shown in predicted):
        return False
    if any(text != write_text(evidence.victims[place][target]) for place, text in fresh.items()):
        return False
    for place, text in fresh.items():
        records[place][target] = text
    return bool(fresh)


RECORDS_A_WORD, WORDS_A_VALUE = 10, 3
"""Records a value from which on a column may be a classification that is looked up somewhere; or up
to so many values for each that they tell."""


def downcode(evidence: Evidence, standard: Standard) -> Evidence:
    """Bring coarser values back to what they were, where another column tells them.

    By what the values of a column mean to whoever looks them up (a stratum by its weight), or by a
    calculation that holds for all (an age by a year of birth). Both are known from elsewhere; what
    is published must bear them out on as many coarser cells as a relation needs.
    """
    records = [dict(record) for record in evidence.records]
    for target in evidence.case.keys:
        coarse = [
            place
            for place, (record, victim) in enumerate(zip(records, evidence.victims, strict=True))
            if record[target] not in (HIDDEN, None, write_text(victim[target]))
        ]
        for column in records[0] if records else ():
            if column != target and _tells_finer(evidence, coarse, (column, target), standard):
                for place in coarse:
                    records[place][target] = write_text(evidence.victims[place][target])
    return Evidence(case=evidence.case, records=records, victims=evidence.victims)


def _tells_finer(
    evidence: Evidence, coarse: Sequence[int], columns: tuple[str, str], standard: Standard
) -> bool:
    """Whether one column tells the finer values of all coarser cells of another."""
    column, target = columns
    told = [evidence.records[place][column] for place in coarse]
    published = Counter(evidence.records[place][target] for place in coarse)
    rare = len(coarse) - max(published.values(), default=0)
    if any(value in (None, HIDDEN) for value in told):
        return False
    if len(coarse) < standard.cells or rare < standard.rare:
        return False
    truth = [evidence.victims[place][target] for place in coarse]
    meanings = defaultdict(set)
    for value, true in zip(told, truth, strict=True):
        meanings[value].add(true)
    # What hardly anybody shares is a number of the record: nobody can look up what it means.
    everywhere = [record[column] for record in evidence.records]
    is_shared = len(set(everywhere)) * 2 <= len(everywhere)
    is_word = len(meanings) * RECORDS_A_WORD <= len(evidence.records) or (
        is_shared and len(set(truth)) <= len(meanings) <= WORDS_A_VALUE * len(set(truth))
    )
    if is_word and all(len(values) == 1 for values in meanings.values()):
        return True
    pairs = [
        (int(str(value)), true)
        for value, true in zip(told, truth, strict=True)
        if isinstance(true, int) and str(value).isdigit()
    ]
    if len(pairs) < len(coarse):
        return False
    return len({a + b for a, b in pairs}) == 1 or len({b - a for a, b in pairs}) == 1


def count_excluded(evidence: Evidence, keys: Sequence[str], k: int) -> dict[str, int]:
    """What somebody excludes who knows that as little as possible is hidden, cell by cell.

    A value is excluded if k - 1 others show it who are alike in all else, also in what they hide.
    """
    counts = {"hidden": 0, "narrowed": 0}
    if not evidence.case.local:  # else a value may be shown in several ways
        counts["misled"] = 0
    for record, victim in zip(evidence.records, evidence.victims, strict=True):
        for name in keys:
            if record[name] != HIDDEN:
                continue
            others = [other for other in keys if other != name]
            shown = Counter(
                each[name]
                for each in evidence.records
                if each[name] not in (HIDDEN, None)
                and all(each[other] == record[other] for other in others)
            )
            excluded = {value for value, count in shown.items() if count >= k - 1}
            counts["hidden"] += 1
            counts["narrowed"] += bool(excluded)
            if "misled" in counts:
                texts = evidence.possible_texts(victim, name)
                counts["misled"] += bool(excluded.intersection(texts))
    return counts
