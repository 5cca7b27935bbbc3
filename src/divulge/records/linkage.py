"""Linkage to a register: whose record is it, among the people whom a register names?

Records and people are compared where they agree on the blocking attributes. Each comparison is a
piece of evidence: agreement speaks for a pair by how much rarer it is among all pairs than among
true ones (Fellegi and Sunter), so the score is the logarithm of how much more likely the pair is
than chance, and the posterior over a record's candidates follows from the scores.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from divulge import work
from divulge.assessment import Assessment, Chart, Sentence
from divulge.data import Dataset
from divulge.data.dictionary import as_names
from divulge.engines import DuckSession
from divulge.qif import PriorPosterior
from divulge.records import charts
from divulge.work import Problem, Problems

AGREEMENT = 0.95
"""How often a true pair agrees on a comparison, if nothing else is said."""
KINDS = ("equal", "near", "likeness")


def link(
    release: Dataset,
    register: Dataset,
    block: str | Iterable[str],
    compare: Mapping[str, Any] | None = None,
    truth: str | None = None,
    agreement: float = AGREEMENT,
) -> Assessment:
    """Link a release to a register that names people, and say how often that is right.

    Args:
        release: the records.
        register: the people; it has the attributes by which records are compared.
        block: only who agrees on these is compared.
        compare: by attribute, how it is compared: `"equal"`; `("near", 2)`, at most so far
            apart; `("likeness", 0.9)`, text that is alike (Jaro-Winkler).
        truth: an id that both have, by which the links are judged.
        agreement: how often the two values of one person agree on a comparison.

    Returns:
        With a truth, how many records are linked rightly; else the chance that the best
        candidate is right. Both are estimates: scores rest on `agreement`.

    >>> import divulge as dv
    >>> pupils = dv.datasets.school_year_example()
    >>> found = link(pupils, pupils, block="gender", compare={"grade": "equal", "age": ("near", 1)},
    ...              truth="id")
    >>> found.probabilistic.posterior
    0.7
    """
    blocks = as_names(block)
    compare = dict(compare or {})
    problems = Problems("link")
    problems.extend("", _problems(release, register, blocks, compare, truth, agreement))
    problems.raise_any()
    names = list(dict.fromkeys([*blocks, *compare, *([truth] if truth else [])]))
    with (
        work.step("Linking to the register"),
        DuckSession(release=_numbered(release, names), register=_numbered(register, names)) as duck,
    ):
        # A user's names never reach SQL: DuckDB takes "Age" and "age" for one.
        told = {name: f"value{number}" for number, name in enumerate(names)}
        block_as, compare_as = [told[n] for n in blocks], {told[n]: k for n, k in compare.items()}
        odds = _odds(duck, block_as, compare_as, agreement)
        best = _best(block_as, compare_as, odds, told[truth] if truth else None)
        figures = {k: v[0] for k, v in duck.arrays(best).items()}
    return _assessment(release, register, [*blocks, *compare], truth, figures)


def _numbered(dataset: Dataset, names: list[str]) -> Any:
    import pyarrow as pa

    values = dataset.select(names).to_arrow()
    values = values.rename_columns([f"value{number}" for number in range(len(names))])
    return values.append_column("record number", pa.array(range(dataset.rows), pa.int64()))


def _pairs(blocks: list[str]) -> str:
    agree = " AND ".join(f"a.{name} IS NOT DISTINCT FROM b.{name}" for name in blocks)
    return f"release a JOIN register b ON {agree}"


def _agrees(name: str, kind: Any) -> str:
    """The condition under which two values agree; a missing one agrees with nothing."""
    one, other = f"a.{name}", f"b.{name}"
    if kind == "equal":
        return f"coalesce({one} = {other}, false)"
    what, bound = kind
    if what == "near":
        return f"coalesce(abs({one} - {other}) <= {float(bound)!r}, false)"
    text = f"jaro_winkler_similarity({one}::VARCHAR, {other}::VARCHAR)"
    return f"coalesce({text} >= {float(bound)!r}, false)"


def _odds(
    duck: DuckSession, blocks: list[str], compare: Mapping[str, Any], agreement: float
) -> dict[str, tuple[float, float]]:
    """The weight of agreement and of disagreement: by chance, pairs agree as all pairs do."""
    if not compare:
        return {}
    chances = ", ".join(f"avg({_agrees(n, k)}::INT) AS {n}" for n, k in compare.items())
    found = duck.arrays(f"SELECT {chances} FROM {_pairs(blocks)}")
    odds = {}
    for name in compare:
        chance = min(max(float(found[name][0] or 0.0), 1e-9), 1 - 1e-9)
        odds[name] = (agreement / chance, (1 - agreement) / (1 - chance))
    return odds


def _best(
    blocks: list[str],
    compare: Mapping[str, Any],
    odds: Mapping[str, tuple[float, float]],
    truth: str | None,
) -> str:
    score = " * ".join(
        f"CASE WHEN {_agrees(n, kind)} THEN {odds[n][0]!r} ELSE {odds[n][1]!r} END"
        for n, kind in compare.items()
    )
    right = f"a.{truth} = b.{truth}" if truth else "false"
    return f"""
        WITH pairs AS (
            SELECT a."record number" AS record, {score or "1.0"} AS odds,
                   coalesce({right}, false) AS is_right
            FROM {_pairs(blocks)}
        ),
        ranked AS (
            SELECT *, max(odds) OVER w AS best, sum(odds) OVER w AS total, count(*) OVER w AS number
            FROM pairs WINDOW w AS (PARTITION BY record)
        ),
        guesses AS (
            SELECT record, any_value(number) AS candidates,
                   any_value(best) / any_value(total) AS chance,
                   avg(is_right::INT) AS right_guess
            FROM ranked WHERE odds >= best * (1 - 1e-12) GROUP BY record
        )
        SELECT count(*) AS matched, coalesce(sum(candidates), 0)::BIGINT AS pairs,
               coalesce(avg(chance), 0) AS chance, coalesce(sum(right_guess), 0) AS right_guesses,
               count(*) FILTER (candidates = 1 AND right_guess = 1) AS certain_right,
               count(*) FILTER (candidates = 1) AS alone
        FROM guesses
        """


def _assessment(
    release: Dataset,
    register: Dataset,
    knows: list[str],
    truth: str | None,
    found: Mapping[str, Any],
) -> Assessment:
    rows = release.rows
    if truth:
        right = round(float(found["right_guesses"]), 9)
        certain = int(found["certain_right"])
    else:
        right = float(found["chance"]) * int(found["matched"])
        certain = int(found["alone"])
    sure = PriorPosterior(0, certain)
    guessed = PriorPosterior(rows / max(1, register.rows), right)
    values = {
        "subjects": release.subjects,
        "total": rows,
        "matched": int(found["matched"]),
        "chance": float(found["chance"]),
        "certain": certain,
        "right": right,
        "right_share": right / rows,
    }

    def chart() -> Chart:
        shares = [PriorPosterior(p.prior / rows, p.posterior / rows) for p in (sure, guessed)]
        return charts.before_and_after("Records linked to people", *shares)

    return Assessment.from_counts(
        attack="linkage",
        model="link",
        dataset=release.name,
        knows=tuple(knows),
        seeks=(),
        secrets=rows,
        subjects=release.subjects,
        claim="estimate",
        certain=sure,
        right=guessed,
        sentences=(Sentence("divulge.records", "linked" if truth else "linked_unknown", values),),
        figures={
            "candidate_pairs": int(found["pairs"]),
            "with_candidates": int(found["matched"]),
            "chance_of_the_best": float(found["chance"]),
        },
        _chart=chart,
    )


def _problems(
    release: Dataset,
    register: Dataset,
    blocks: list[str],
    compare: Mapping[str, Any],
    truth: str | None,
    agreement: float,
) -> Iterator[Problem]:
    yield from problems_with_comparisons(compare)
    if not blocks:
        yield Problem("block", "names no attribute; all records would be compared with everybody.")
    if not 0 < agreement < 1:
        yield Problem("agreement", f"{agreement:g} is not between 0 and 1.")
    if release.rows == 0:
        yield Problem("release", "has no records.")
    for place, names in (
        ("block", blocks),
        ("compare", compare),
        ("truth", [truth] if truth else []),
    ):
        for name in names:
            for dataset in (release, register):
                if name not in dataset.names:
                    message = f'dataset "{dataset.name}" has no attribute "{name}".'
                    yield Problem(place, message, value=name, allowed=dataset.names)
            if all(name in d.names for d in (release, register)):
                types = {d.columns[name].values.type for d in (release, register)}
                if len(types) > 1:
                    yield Problem(place, f'"{name}" has another type of value in the register.')


def problems_with_comparisons(compare: Mapping[str, Any]) -> Iterator[Problem]:
    """Whether each comparison is one that exists."""
    for name, kind in compare.items():
        if kind == "equal":
            continue
        what = kind[0] if isinstance(kind, (tuple, list)) and len(kind) == 2 else kind
        if what not in KINDS[1:] or not isinstance(kind, (tuple, list)):
            message = f'{kind!r} is not a comparison: "equal", ["near", 2] or ["likeness", 0.9].'
            yield Problem(f'compare, "{name}"', message)
        elif not isinstance(kind[1], (int, float)):
            yield Problem(f'compare, "{name}"', "needs a number after its kind.")
