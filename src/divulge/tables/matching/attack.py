"""The matching attack: who knows the suppressor rules out the tables that it would show otherwise.

Every candidate table is suppressed again; one that gives another pattern cannot be the true one.
What is left to a cell is its effective feasibility interval (Minami and Abe 2019, Sec. 3), and
with every candidate tried, a posterior. A candidate inside the box of those already found
possible cannot widen an interval, so interval mode skips it.
"""

from __future__ import annotations

from typing import Any, Literal

import numpy as np

from divulge import work
from divulge.tables import tuning
from divulge.tables.candidate_tables.enumeration import MOST_CANDIDATES, Candidates, candidates
from divulge.tables.candidate_tables.suppressor_knowledge import (
    EXCLUDED,
    POSSIBLE,
    SKIPPED,
    UNDECIDED,
    RerunKnowledge,
    Suppressor,
    SuppressorKnowledge,
    choose_knowledge,
)
from divulge.tables.candidate_tables.suppressor_parameters import SuppressorParameters
from divulge.tables.feasibility.cell_intervals import refuse_unpublished
from divulge.tables.matching.impossible_release import (
    refuse_impossible,
    refuse_published_primary,
    refuse_unknown_suppressor,
)
from divulge.tables.matching.request import MatchingRequest, Prior, check_request
from divulge.tables.matching.result import Matching
from divulge.tables.randomised.draw_likelihood import weigh_candidates
from divulge.tables.suppression.result import Suppression
from divulge.tables.table.published import Published, Zeros
from divulge.work import Effort
from divulge.work.arrays import Bools, Ints

Mode = Literal["interval", "full"]
SAMPLE_SIZE = 20_000


def matching_attack(
    published: Published | Suppression,
    min_frequency: int | None = None,
    width: float | None = None,
    zeros_primary: bool = False,
    labelled: bool = False,
    *,
    suppressor: Suppressor | str | None = None,
    mode: Mode = "interval",
    primary: Any = None,
    parameters: Literal["known", "unknown"] = "known",
    cost: Any = "number",
    margins: Literal["published", "suppressible"] = "published",
    zeros: Zeros | None = None,
    prior: Prior | None = None,
    most_candidates: int = MOST_CANDIDATES,
    sample: int = SAMPLE_SIZE,
    seconds: float = 60.0,
    seed: int = 0,
    name: str = "table",
) -> Matching:
    """What an adversary learns of suppressed cells if they know how these were chosen.

    Args:
        published: the published table; or a `Suppression`, which also says the primary cells, and
            how they were chosen.
        min_frequency: cells with fewer were primary.
        width: the width that primary cells were given, and below which they are unsafe.
        zeros_primary: whether empty cells were primary.
        labelled: whether the release tells primary from secondary cells.
        suppressor: nothing for the first of the cheapest patterns (`suppress`); "any optimum"
            for one of the cheapest at random; "minimal" for the cheapest under random costs;
            "resisting" for what `resist_matching` draws; or any deterministic function from a
            `Table` to a pattern.
        mode: "interval" for intervals, "full" for the posterior too.
        primary: the cells that were primary; they are seen only if `labelled`. Without them,
            every cell that may have been primary is judged.
        parameters: "unknown" if they do not know `min_frequency` and `width`: every pair that
            agrees with the release is possible to them (Sec. 2.5).
        cost: what a suppressed cell costs, as in `suppress`.
        margins: whether totals may be suppressed for the sake of others, as in `suppress`.
        zeros: "known" if readers know which cells are empty, so that no suppressed cell is 0 and no
            empty cell was suppressed for the sake of others (as `suppress` takes it unless
            `zeros_primary`); "secret" if a suppressed cell may be 0, as in the paper.
        prior: weights of candidate tables (full mode); all are equally likely without.
        most_candidates: list so many candidates at the most.
        sample: where there are more, try so many at random: an estimate. 0: try those listed, and
            give a bound.
        seconds: the effort, in nominal seconds (counted steps, so that results do not depend on the
            machine); where it is spent before all candidates are tried, a bound is given.
        seed: of the order in which candidates are tried, and of the sample.
        name: what the table is called.

    Raises:
        InvalidInput: if no table gives this release, with the nearest rule by which one does; if
            the suppressor gives two patterns for one table; for tables of magnitudes, whose
            protection depends on values, unless `suppressor` is a function.

    >>> from divulge.tables import Table
    >>> table = Table.from_cells([[15, 15, 12, 10], [19, 20, 13, 3], [8, 8, 11, 14], [9, 3, 26, 6]])
    >>> published = table.publish({(1, 1), (1, 3), (3, 1), (3, 3)})
    >>> found = matching_attack(published, 5, 8, zeros="secret")
    >>> found.candidates, found.null_space_dimension
    (10, 1)
    >>> found.feasible[(1, 3)], found.intervals[(1, 3)], found.unsafe
    ((0, 9), (1, 4), [(1, 3), (3, 1)])
    """
    if isinstance(published, Suppression):
        if not callable(suppressor):
            refuse_unknown_suppressor(published)
            suppressor = suppressor or published.rule
        cost = published.priced_by if _is_default(cost) else cost
        margins = published.margins if margins == "published" else margins
        primary = published.primary if primary is None else primary
        zeros = zeros or published.zeros
        published = published.published
    refuse_unpublished(published, "matching attack")
    zeros = zeros or ("secret" if zeros_primary else "known")
    published = published.read_with(zeros)
    request = MatchingRequest(
        published=published,
        min_frequency=min_frequency,
        width=width,
        zeros_primary=zeros_primary,
        labelled=labelled,
        suppressor=suppressor,
        mode=mode,
        parameters=parameters,
        cost=cost,
        margins=margins,
        prior=prior,
        seconds=seconds,
        zeros=zeros,
    )
    check_request(request, primary)
    rules = request.find_known_parameters()
    if rules is not None and not callable(suppressor):
        refuse_published_primary(published, rules)
    candidate_set = candidates(published, most_candidates, sample, seed)
    primary_mask = None if primary is None else published.structure.to_mask(primary)
    labels = primary_mask if labelled else None
    attack = _MatchingSearch(candidate_set, seed, mode == "interval", Effort(seconds))
    with work.partial_results():
        if parameters == "unknown":
            pairs = attack.try_all_pairs(request, labels)
        else:
            attack.try_all(request.build_knowledge(candidate_set, labels))
            pairs = [] if rules is None else [rules]
        is_cut = work.is_stopped()
    if not attack.has_possible and attack.complete:
        refuse_impossible(candidate_set, rules, labels, callable(suppressor))
    weights = None if prior is None else request.compute_prior_weights(candidate_set, attack.status)
    weighed = False
    if mode == "full" and rules is not None and not callable(suppressor):
        weights, weighed = weigh_candidates(candidate_set, attack.status, rules, weights, seed)
    return Matching(
        published=published,
        found=candidate_set,
        status=attack.status,
        lower=attack.box[0],
        upper=attack.box[1],
        mode=mode,
        complete=attack.complete,
        width=None if width is None else int(np.ceil(width * 10**published.decimals - 1e-9)),
        parameters=tuple(pairs),
        judged=primary_mask,
        weights=weights,
        weighed=weighed,
        name=name,
        is_cut=is_cut,
    )


def _is_default(cost: Any) -> bool:
    return isinstance(cost, str) and cost == "number"


class _MatchingSearch:
    """The state of one attack: what is known of each candidate, the box, the effort."""

    def __init__(
        self, candidate_set: Candidates, seed: int, intervals: bool, effort: Effort
    ) -> None:
        self.candidate_set, self.intervals, self.effort = candidate_set, intervals, effort
        self.values, self.row = candidate_set.values, np.arange(len(candidate_set.values))
        if candidate_set.kind == "sample":  # a walk comes by some tables often
            self.values, self.row = np.unique(candidate_set.values, axis=0, return_inverse=True)
        self.order = np.random.default_rng(seed).permutation(len(self.values))
        self.status = np.full(len(candidate_set.values), UNDECIDED, np.int64)
        self.box = self._build_empty_box()
        self.finished = True

    @property
    def complete(self) -> bool:
        """Whether all candidates were listed, and tried or skipped."""
        return self.finished and self.candidate_set.kind == "all"

    @property
    def has_possible(self) -> bool:
        """Whether some candidate gives the release."""
        return bool((self.status == POSSIBLE).any())

    def try_all(self, knowledge: SuppressorKnowledge) -> None:
        """Try all candidates."""
        with work.step("Matching candidates", len(self.order)) as step:
            self._merge_results(*self._try_candidates(knowledge, step))

    def try_all_pairs(
        self, request: MatchingRequest, labels: Bools | None
    ) -> list[SuppressorParameters]:
        """Try all pairs of parameters that the release leaves open; those that are possible.

        That no width was asked for is believed only if nothing else gives the release.
        """
        possible = self._try_pairs(_list_open_pairs(request, self.candidate_set, False), labels)
        if not possible and self.finished:
            possible = self._try_pairs(_list_open_pairs(request, self.candidate_set, True), labels)
        return possible

    def _try_pairs(
        self, pairs: list[SuppressorParameters], labels: Bools | None
    ) -> list[SuppressorParameters]:
        possible = []
        with work.step("Matching candidates", len(self.order) * len(pairs)) as step:
            for number, pair in enumerate(pairs):
                if self.effort.spent and number > 0:
                    self.finished = False
                    break
                knowledge = choose_knowledge(self.candidate_set, pair, labels)
                status, box, finished = self._try_candidates(knowledge, step)
                if (status == POSSIBLE).any():
                    possible.append(pair)
                self._merge_results(status, box, finished)
                if not finished:
                    break
        if not self.finished:  # a pair that was not tried may allow what the others rule out
            self.status[self.status == EXCLUDED] = UNDECIDED
        return possible

    def _try_candidates(self, knowledge: SuppressorKnowledge, step: Any) -> tuple[Ints, Ints, bool]:
        """One kind of knowledge on all candidates, in portions of a fraction of a second."""
        status = np.full(len(self.order), UNDECIDED, np.int64)
        box = self._build_empty_box()
        begin, portion = 0, 1 if isinstance(knowledge, RerunKnowledge) else tuning.FIRST_PORTION
        while begin < len(self.order):
            if self.effort.spent and begin > 0:
                return status[self.row], box, False
            rows = self.order[begin : begin + portion]
            effort_left, before = self.effort.left, box.copy()
            status[rows] = knowledge.judge_candidates(self.values[rows], box, self.intervals)
            if work.is_stopped():
                # A suppressor that the clock has cut may give another pattern than its own.
                status[rows] = UNDECIDED
                return status[self.row], before, False
            begin += portion
            step.advance(len(rows))
            portion = (
                2 * portion
                if effort_left - self.effort.left < tuning.SECONDS_PER_PORTION
                else max(1, portion // 2)
            )
        return status[self.row], box, bool((status != UNDECIDED).all())

    def _merge_results(self, status: Ints, box: Ints, finished: bool) -> None:
        better = (status == POSSIBLE) | ((status == SKIPPED) & (self.status != POSSIBLE))
        self.status = np.where(better | (self.status == UNDECIDED), status, self.status)
        self.box = np.stack([np.minimum(self.box[0], box[0]), np.maximum(self.box[1], box[1])])
        self.finished = self.finished and finished

    def _build_empty_box(self) -> Ints:
        cells = len(self.candidate_set.cells)
        return np.stack([np.full(cells, 2**60), np.full(cells, -1)]).astype(np.int64)


def _list_open_pairs(
    request: MatchingRequest, candidate_set: Candidates, without_width: bool
) -> list[SuppressorParameters]:
    """All pairs (t, delta) that the release leaves open.

    No published cell is below t, and no primary cell is narrower than delta.
    """
    published_units = request.published.units[~request.published.suppressed]
    if not request.zeros_primary:
        published_units = published_units[published_units > 0]
    most = int(published_units.min(initial=2**40))
    if most == 2**40:
        highest = candidate_set.high + request.published.floor[candidate_set.cells]
        most = int(highest.max(initial=0)) + 1
    most //= 10**request.published.decimals
    least = 1 if request.zeros_primary or request.published.decimals else 2
    widest = int((candidate_set.high - candidate_set.low).max(initial=0))
    widths = [0] if without_width else range(1, widest + 1)
    return [request.build_parameters(t, delta) for t in range(least, most + 1) for delta in widths]
