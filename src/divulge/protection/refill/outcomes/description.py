"""A refill attack in sentences: figures, the most telling relations, and what was not looked at."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from divulge.assessment import Sentence
from divulge.protection.refill.outcomes.figures import RefillFigures
from divulge.protection.refill.search.discovery import Completion
from divulge.protection.refill.search.relations import CATALOGUE, ColumnRelation

if TYPE_CHECKING:
    from divulge.protection.refill.result import Refill


def describe_figures(figures: RefillFigures, coarse: RefillFigures) -> tuple[Sentence, ...]:
    """How many hidden and how many coarser cells are told, and how many are guessed."""
    sentences: list[Sentence] = []
    if figures.hidden:
        values: Mapping[str, Any] = figures.to_dict()
        kind = "claimed" if figures.right is None else "right"
        guess = "expected" if figures.right is None else "guessed"
        sentences.append(Sentence(CATALOGUE, f"refill.{kind}", values))
        sentences.append(Sentence(CATALOGUE, f"refill.{guess}", values))
    if coarse.hidden:
        kind = "coarse_claimed" if coarse.right is None else "coarse_right"
        sentences.append(Sentence(CATALOGUE, f"refill.{kind}", coarse.to_dict()))
    return tuple(sentences)


def describe_relations(refill: Refill) -> tuple[Sentence, ...]:
    """The most telling relation of each attribute, bounds, and what was left out."""
    sentences: list[Sentence] = []
    for name in refill.cells.targets:
        hidden = int(refill.cells.list_hidden(name).size)
        telling = [relation for relation in refill.relations if relation.key == name]
        if telling:
            sentences += _describe_telling(telling, hidden, "told")
        else:  # what the release does not show is told to who knows it from elsewhere
            sentences += _describe_telling(_list_restoring(refill, name), hidden, "known")
    for finer in refill.cells.finer.values():
        telling = _list_restoring(refill, finer.column.key)
        sentences += _describe_telling(telling, finer.rows.size, "told_finer")
    sentences += [narrowing.sentence() for narrowing in refill.narrowings]
    sentences += refill.list_limitations()
    if refill.hidden_cells == "all":
        sentences.append(Sentence(CATALOGUE, "refill.all_nulls", {}))
    return tuple(sentences)


def describe_limitations(completion: Completion, rows: int) -> list[Sentence]:
    """What the attack did not look at."""
    sentences = []
    if completion.pair_columns < completion.all_columns:
        values = {"pairs": completion.pair_columns, "total": completion.all_columns}
        sentences.append(Sentence(CATALOGUE, "refill.sampled", values))
    if completion.modulus > 1:
        values = {"rows": rows, "modulus": completion.modulus}
        sentences.append(Sentence(CATALOGUE, "refill.drawn", values))
    return sentences


def _list_restoring(refill: Refill, key: str) -> list[ColumnRelation]:
    """The relations that tell secret values; verified ones may know what values mean."""
    verified = refill.verified_completion
    told = [relation for relation in refill.relations if relation.key == key]
    if verified is not None:
        seen = {(relation.form, relation.columns) for relation in told}
        more = [relation for relation in verified.relations if relation.key == key]
        told += [relation for relation in more if (relation.form, relation.columns) not in seen]
    return told


def _describe_telling(
    telling: Sequence[ColumnRelation], total: int, section: str
) -> Iterator[Sentence]:
    """The most telling relation of an attribute, and how many more there are."""
    for relation in telling[:1]:
        values = {
            "columns": relation.columns,
            "target": relation.target,
            "cells": min(relation.cells, total),
            "total": total,
            "more": len(telling) - 1,
        }
        kind = {"determines": "group", "dictionary": "dictionary"}.get(relation.form, "other")
        key = "told.known" if section == "known" else f"{section}.{kind}"
        yield Sentence(CATALOGUE, f"refill.{key}", values)
