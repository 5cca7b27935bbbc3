"""The attack on a history: how often knowledge of events leads to the user whose they are."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from divulge.assessment import Most, Sentence
from divulge.assessment.assessment import Claim, Number
from divulge.data import Relation
from divulge.data.relation.relation import build_elsewhere_error
from divulge.events import charts
from divulge.events.assess import (
    EventAssessment,
    build_assessment,
    collect_sentence_values,
    defer_record_risk,
    describe_release_effects,
    problems_with_release,
)
from divulge.events.history.history import History, require_history
from divulge.events.knowledge.attacker import Attacker
from divulge.events.matching.item_subsets import match_item_subsets
from divulge.events.matching.matching import KnowledgeMatching, Tally, weigh_record_by_user
from divulge.events.protected.attack_protected import (
    RecordShares,
    match_one_point,
    may_overcount_users,
)
from divulge.events.relation_matches import MatchCounts, open_matching
from divulge.events.unicity import unicity
from divulge.work import Problems, checks
from divulge.work.arrays import Floats


def attack(
    history: History, attacker: Attacker, release: History | None = None, seed: int = 0
) -> EventAssessment:
    """Attack a history with knowledge of events.

    Args:
        history: who did what when.
        attacker: what they know, how it is drawn, how they guess.
        release: a protected version with the same users: what is known comes from `history`,
            whom it fits from `release`, and a guess is right only if the user is among them.
        seed: of the sample, where several points are known.

    >>> import divulge as dv
    >>> purchases = History(dv.datasets.purchases_example(), "user", "date", "goods")
    >>> found = attack(purchases, Attacker(knows=["day", "item"]))
    >>> print(found)
    An adversary who knows day and item singles out 8 of 10 records (80%).
    Guessing any of the users who fit, the adversary is right in 90% of cases; before the release,
    in 33.3%.
    Figures are per record. A uniform guess is not Bayes vulnerability: guessing the most
    likely user who fits, the adversary is right in 90% of cases; before the release, in 50%.
    1 user has a single record.
    These figures are exact.
    """
    require_history("attack", history)
    problems = Problems("attack")
    if not isinstance(attacker, Attacker):
        kind = type(attacker).__name__
        message = f"takes an attacker, not a {kind}; give Attacker(knows=[...])."
        problems.add("attacker", message)
    problems.extend("", checks.whole_number("seed", seed, least=0))
    problems.raise_any()
    problems.extend("", problems_with_release(history, release, attacker.knows))
    problems.raise_any()
    if history.is_elsewhere:
        return _attack_relation(history, attacker)
    if attacker.points > 1:
        weight = attacker.weight
        return unicity(
            history, attacker.knows, attacker.points, weight=weight, seed=seed, release=release
        )
    facets = attacker.facets(history)
    items_facet = next((facet for facet in facets if facet.kind == "items"), None)
    if release is not None:
        outcome, shares_by_record = match_one_point(history, attacker, release)
        tally = outcome.to_tally(history.users)
        sentences = describe_release_effects(tally, outcome, release)
        claim: Claim = "exact"
        if may_overcount_users(history, release, facets, points=1):
            sentences.append(Sentence("divulge.events", "maybe.twice", {}))
            claim = "estimate"
        elif attacker.guess == "best" and items_facet is not None:
            # Guessed is who has most records that fit; who has most sets of items may be likelier.
            claim = "bound"
        most = Most(tally.certain, float(outcome.draws.weight @ outcome.includes_target))
        return _assess_tally(
            history,
            attacker,
            tally,
            each=lambda: shares_by_record,
            release_sentences=sentences,
            misled=outcome.misled_share,
            claim=claim,
            most=most,
        )
    if items_facet is None:
        matching = KnowledgeMatching.from_attacker(history, attacker)
        return _assess_tally(
            history,
            attacker,
            matching.tally,
            each=lambda: _match_records(history, attacker, matching),
        )
    others = [facet for facet in facets if facet.kind != "items"]
    item_subsets, tally, matches, hits = match_item_subsets(
        history, others, items_facet, attacker.weight
    )
    shares = (1 / matches, hits, matches == 1)
    return _assess_tally(
        history,
        attacker,
        tally,
        each=lambda: RecordShares(
            item_subsets.spread_on_records(1.0),
            *(item_subsets.spread_on_records(share) for share in shares),
        ),
    )


def _attack_relation(history: History, attacker: Attacker) -> EventAssessment:
    """The figures of records that stay where they are; none of single records or users."""
    if attacker.points > 1:
        dataset = history.dataset
        engine = dataset.engine if isinstance(dataset, Relation) else "memory"
        raise build_elsewhere_error(dataset.name, engine, "knowledge of several points")
    with open_matching(history, [attacker]) as matching:
        return _assess_tally(history, attacker, matching.match(attacker), each=None)


def _match_records(
    history: History, attacker: Attacker, matching: KnowledgeMatching
) -> RecordShares:
    """What each record bears: its weight, and what of it is found."""
    weights = _weigh_records(history, attacker, matching)
    matches, hits = matching.match_each_record()
    return RecordShares(weights, weights / matches, weights * hits, weights * (matches == 1))


def _assess_tally(
    history: History,
    attacker: Attacker,
    tally: Tally | MatchCounts,
    *,
    each: Callable[[], RecordShares] | None,
    release_sentences: Sequence[Sentence] = (),
    misled: float | None = None,
    claim: Claim = "exact",
    most: Most | None = None,
) -> EventAssessment:
    best = attacker.guess == "best"
    right = tally.right_best if best else tally.right_uniform
    prior = tally.largest_user if best else 1 / history.users
    figures: dict[str, Number] = {
        "users": history.users,
        "events": history.events,
        "cells": tally.cells,
        "best_guess": tally.right_best / tally.weight,
        "best_guess_before": tally.largest_user,
        "users_singled_out_at_worst": tally.users_singled_out,
    }
    values = collect_sentence_values(attacker, tally.weight, tally.certain, right, prior)
    sentences = [Sentence("divulge.events", "singled_out", values)]
    sentences.append(Sentence("divulge.events", f"guessed.{attacker.guess}", values))
    more = {
        **values,
        "best_share": figures["best_guess"],
        "best_prior": figures["best_guess_before"],
    }
    sentences.append(Sentence("divulge.events", f"weight.{attacker.guess}", more))
    sentences += release_sentences
    if misled is not None:
        figures["misled"] = misled
    return build_assessment(
        history,
        attacker,
        weight=tally.weight,
        certain=tally.certain,
        right=right,
        prior=prior,
        claim=claim,
        most=most if claim == "bound" else None,
        sentences=(*sentences, *history.remarks()),
        figures=figures,
        tally=tally,
        _users=history.user_values,
        _chart=lambda: charts.draw_matches_chart(tally.by_matches / tally.weight, attacker),
        **({} if each is None else defer_record_risk(history, attacker, prior, each, claim)),
    )


def _weigh_records(history: History, attacker: Attacker, matching: KnowledgeMatching) -> Floats:
    """What each record weighs; records that are one event (or pair) share its weight."""
    weight = attacker.weight
    if weight == "event":
        keys = matching.list_record_keys()
        _, which, count = np.unique(keys, return_inverse=True, return_counts=True)
        return np.asarray(1 / count[which], dtype=np.float64)
    return weigh_record_by_user(history, weight)[history.user_of_record]
