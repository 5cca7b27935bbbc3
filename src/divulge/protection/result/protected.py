"""A protected dataset: what was changed and why, what it cost, and what an attack finds now."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from divulge import records
from divulge.assessment import Assessment, Chart, Limit, Outcome, Sentence, html
from divulge.data import Dataset
from divulge.data.column_fate import Unlisted
from divulge.protection.changes.changes import list_kept_records, select_records
from divulge.protection.changes.decision_log import DecisionLog
from divulge.protection.changes.recodings import find_remaining_levels
from divulge.protection.directives.settlement import DirectiveFailure
from divulge.protection.limits.limit_kinds import is_count_limit
from divulge.protection.result.cell_utility import measure_cells
from divulge.protection.result.charts import draw_unique_counts
from divulge.protection.result.comparison.comparison import VariableComparison, compare_variables
from divulge.protection.result.description import describe_protected
from divulge.protection.result.figures import build_rows, collect_figures, read_head
from divulge.protection.result.published_columns import publish_dataset
from divulge.protection.result.recipe import Recipe, build_recipe
from divulge.protection.result.recoding_summary import RecodingSummary, build_summary
from divulge.protection.result.search_proof import SearchProof
from divulge.protection.result.utility import Utility, measure_utility
from divulge.records.risk.frequencies.result import Frequencies
from divulge.records.risk.null_readings import DEFAULT_NULLS, SEMANTICS, Nulls
from divulge.work.arrays import Ints
from divulge.work.secret_key import SecretKey

if TYPE_CHECKING:
    from rich.console import RenderableType

    from divulge.protection.method.outcomes import MethodFigures
    from divulge.protection.method.result import MethodKnowledge


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class Protected:
    """The result of a protection.

    `dataset` is what may be released, `decisions` the log of every change. `before` and `after`
    assess an adversary who knows their victim's values in the original and weighs which released
    record is likely the victim's (`bayes`), whatever way of counting the limit asked for.

    >>> import divulge as dv
    >>> p = dv.protection.suppress(dv.datasets.local_suppression_example(), k=2, nulls="maybe")
    >>> print(p)
    2 of 28 cells were suppressed in 2 of 7 companies, so that all satisfy 2-anonymity (maybe).
    This count of possible matches understates the risk: ...
    No suppression with fewer cells suffices.
    An adversary who knows the method (as little as possible is suppressed) excludes values ...
    """

    original: Dataset
    dataset: Dataset
    decisions: DecisionLog
    nulls: Nulls
    limits: tuple[Limit, ...]
    among: tuple[str, ...]
    rule: str
    bound: float = 0.0
    cost: float = 0.0
    seed: int | None = None
    target: str | None = None
    """The attribute that models are compared on; one is found if none is chosen."""
    k: int = 1
    outcomes: tuple[Outcome, ...] = ()
    outcomes_before: tuple[Outcome, ...] = ()
    levels: Mapping[str, int] = field(default_factory=dict)
    notes: tuple[Sentence, ...] = ()
    proved: bool = False
    proof: SearchProof | None = None
    """How the levels of a recoding were settled; None of other protections."""
    suppression_limit: float = 0.05
    """The share of records that recoding may leave to suppression or removal."""
    leaves_few: bool = False
    """Whether recoding was to leave no more than that to suppression, as far as it could."""
    only_at_risk: bool = False
    again: Callable[[Dataset], Protected] | None = None
    reseeded: Callable[[int], Protected] | None = None
    known: Dataset | None = None
    """The records as an adversary knows them, if they had been protected before."""
    determined: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """By attribute that was not hidden cell by cell, the columns that would tell it."""
    naive_cells: int | None = None
    """How many cells would have been suppressed by somebody who does not think of refilling."""
    naive_levels: Mapping[str, int] = field(default_factory=dict)
    """How coarse they would have made each attribute."""
    dropped: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """By column that is not published, the attributes that it would tell."""
    attack_method: Callable[[Protected], MethodKnowledge | None] | None = None
    """The attack by somebody who knows the method, where this protection hides cells by one."""
    decoys: float = 0.0
    """How many decoys were asked for, for each cell that had to be suppressed."""
    needed: Protected | None = None
    """The same protection without decoys."""
    unobeyed: tuple[DirectiveFailure, ...] = ()
    """What of the directives was out of reach, and why."""
    undone: int = 0
    """How many decisions were undone: then nothing is claimed of the limits."""

    @property
    def suppressed_cells(self) -> int:
        """How many cells were suppressed (those of removed records included)."""
        return self.decisions.suppressed_cells

    @property
    def removed(self) -> int:
        """How many records were removed."""
        return int(self.decisions.removed_records.size)

    @property
    def changed_records(self) -> int:
        """Records in which cells were suppressed, or that were removed."""
        kinds = ("suppressed", "removed")
        changed = [each.records for each in self.decisions.changes if each.kind in kinds]
        return int(np.unique(np.concatenate([np.empty(0, np.int64), *changed])).size)

    @property
    def suppressed_records(self) -> int:
        """Records that were removed, or that hide every attribute in question."""
        hidden = np.ones(self.dataset.rows, np.bool_)
        for name in self.among:
            column = self.dataset.columns[name]
            hidden &= column.codes == column.missing_code
        return self.removed + int(hidden.sum())

    @cached_property
    def kept(self) -> Ints:
        """The places, in the original, of the records that are released."""
        return list_kept_records(self.original.rows, self.decisions.removed_records)

    @cached_property
    def before(self) -> Assessment:
        """What an adversary who knows their victim could do before protection."""
        return self._frequencies_before.assessment()

    @cached_property
    def after(self) -> Assessment:
        """What they can do now: knowledge from the original, matches weighed in the release."""
        return self._frequencies_after.assessment()

    @cached_property
    def utility(self) -> Utility:
        """What the data lost."""
        return self.utility_for(self.target)

    def utility_for(
        self, target: str | None = None, importance: Mapping[str, float] | None = None
    ) -> Utility:
        """What the data lost to somebody who predicts `target`, and holds some attributes dear.

        Args:
            target: the attribute that models predict, before and after.
            importance: by attribute, how much it weighs in what cells lost (1 if not given).

        >>> import divulge as dv
        >>> companies = dv.datasets.inflation_and_growth(300, quasi_identifiers=4)
        >>> p = dv.protection.suppress(companies, k=2)
        >>> p.utility_for(target="Sector").model_of
        'Sector'
        """
        return measure_utility(
            self.original,
            self.dataset,
            self.kept,
            self.among,
            max(self.k, 2),
            target=target,
            importance=importance,
            levels=self.levels,
        )

    @cached_property
    def comparison(self) -> VariableComparison:
        """What changed, variable by variable: distributions, moments, correlations, a regression.

        >>> import divulge as dv
        >>> p = dv.protection.suppress(dv.datasets.local_suppression_example(), k=2, nulls="maybe")
        >>> [(each.name, each.suppressed) for each in p.comparison.attributes][:2]
        [('Area', 1), ('Sector', 1)]
        """
        changed = [each.attribute for each in self.decisions.changes if each.attribute is not None]
        return compare_variables(
            self.original,
            self.dataset,
            self.kept,
            self.among,
            changed=changed,
            levels=self.levels,
            target=self.target,
        )

    @property
    def loss(self) -> float:
        """The share of all that could be lost (0 to 1): mean over quasi-identifiers."""
        return measure_cells(self.original, self.dataset, self.kept, self.among).loss

    @property
    def decoy_cells(self) -> int:
        """How many of the suppressed cells are decoys, which nothing but doubt requires."""
        return 0 if self.needed is None else self.suppressed_cells - self.needed.suppressed_cells

    @cached_property
    def method(self) -> MethodKnowledge | None:
        """What somebody who knows the method excludes and guesses of what was suppressed.

        None if nothing was, or if decisions were undone.

        >>> import divulge as dv
        >>> p = dv.protection.suppress(dv.datasets.school_year_example(), k=2)
        >>> p.method.figures.hidden == p.suppressed_cells
        True
        """
        if self.attack_method is None or not self.suppressed_cells:
            return None
        return self.attack_method(self)

    @cached_property
    def method_on_needed(self) -> MethodFigures | None:
        """With decoys, the same of the cells alone that had to be suppressed; else None."""
        if self.needed is None or self.method is None:
            return None
        marked = {}
        for name in self.among:
            column = self.needed.dataset.columns[name]
            marked[name] = np.asarray(column.codes == column.missing_code, np.bool_)
        return self.method.count_cells(marked)

    @property
    def recoding(self) -> RecodingSummary | None:
        """How coarse each attribute is now, why it is no finer, and what that loses.

        None if nothing was made coarser.

        >>> import divulge as dv
        >>> companies = dv.datasets.local_suppression_example()
        >>> area = [("Roma", "Center"), ("Milano", "North"), ("Torino", "North")]
        >>> limit = dv.Limit("k_anonymity", at_least=2)
        >>> p = dv.protection.recode(companies, [limit], 0.2, is_a={"Area": area})
        >>> p.recoding.rows()[0][:4]
        ('Area', '1 of 1', '6', '0.2857')
        """
        return build_summary(self)

    @property
    def recipe(self) -> Recipe:
        """Levels, hierarchies and limits, to be kept as a file and applied to other data."""
        return build_recipe(self)

    def alone(self) -> dict[str, int]:
        """How many records are unique under each way of counting, after protection."""
        return {name: self._frequencies_after.others[name] for name in SEMANTICS}

    @property
    def short(self) -> int:
        """How many records have fewer than k for somebody who weighs what fits (`bayes`)."""
        return int((self._frequencies_after.sample < self.k - 1e-9).sum())

    @property
    def flatters(self) -> bool:
        """Whether a limit that counts holds only because nulls are taken for company.

        >>> import divulge as dv
        >>> companies = dv.datasets.local_suppression_example()
        >>> p = dv.protection.suppress(companies, k=2, nulls="maybe")
        >>> p.flatters, p.short
        (True, 3)
        >>> dv.protection.suppress(companies, k=2, nulls="bayes").flatters
        False
        """
        has_count_limit = any(
            is_count_limit(limit) and limit.options.get("nulls", DEFAULT_NULLS) != DEFAULT_NULLS
            for limit in self.limits
        )
        return has_count_limit and not self.undone and len(self.decisions) > 0 and self.short > 0

    def undo(self, decisions: int = 1) -> Protected:
        """The same without the last decisions: the data as they were before these.

        Whether the limits still hold is for a check to say. The cost is counted in cells.

        >>> import divulge as dv
        >>> p = dv.protection.suppress(dv.datasets.local_suppression_example(), k=2, nulls="maybe")
        >>> p.undo().suppressed_cells, p.undo(2).dataset.equals(p.original)
        (1, True)
        >>> print(p.undo())
        1 decision was undone, leaving 1 of 28 cells suppressed; whether ...
        """
        log = self.decisions.first(max(0, len(self.decisions) - decisions))
        undone_count = len(self.decisions) - len(log)
        if not undone_count:
            return self
        dataset = log.replayed(self.original)
        return replace(
            self,
            decisions=log,
            dataset=dataset,
            outcomes=(),
            bound=0.0,
            cost=float(log.suppressed_cells),
            levels=find_remaining_levels(self.original, dataset, self.levels),
            notes=(),
            proved=False,
            proof=None,
            only_at_risk=False,
            again=None,
            reseeded=None,
            attack_method=None,
            decoys=0.0,
            needed=None,
            dropped={
                name: told
                for name, told in self.dropped.items()
                if any(c.kind == "removed" and c.attribute == name for c in log.changes)
            },
            undone=self.undone + undone_count,
        )

    def sentences(self) -> tuple[Sentence, ...]:
        """What was done, and what an attack finds now."""
        return describe_protected(self)

    def explain(self, record: int | None = None, values: bool = False) -> list[str]:
        """What was done in sentences; of one record (from 0), the decisions on it."""
        if record is None:
            return [str(sentence) for sentence in self.sentences()]
        return self.decisions.explain(record, values)

    def chart(self) -> Chart:
        """How many records had how much company, before and after."""
        return draw_unique_counts(self)

    @property
    def frequencies(self) -> tuple[Frequencies, Frequencies]:
        """How many look like each record before and after, weighed (`bayes`)."""
        return self._frequencies_before, self._frequencies_after

    def write(
        self,
        path: Path | str,
        overwrite: bool = False,
        guard_formulas: bool = True,
        *,
        publish: Collection[str] = (),
        unlisted: Unlisted | None = None,
        keep_order: bool = False,
    ) -> None:
        """Write what may go out, and see that the file tells of the records what was judged.

        Ids of people, households and groups stay behind, and the order of the records is a secret
        one that is the same whenever the same data are written.

        Args:
            path: the file.
            overwrite: whether a file that exists may be replaced.
            guard_formulas: whether texts that a spreadsheet would run get an apostrophe before
                them in text files.
            publish: ids of persons, households or groups that go out, under keyed pseudonyms.
            unlisted: what becomes of attributes without a role: `drop`, or `non_identifying`.
            keep_order: whether records keep the order of the source.

        Raises:
            InvalidInput: if an attribute has no role and nothing was decided of such.
        """
        from divulge.data.faithful_writer import write_faithfully

        # Only who has all of the original could derive this key.
        secret = SecretKey.from_text(self.original.fingerprint)
        published = publish_dataset(
            self.dataset, secret, publish=publish, unlisted=unlisted, keep_order=keep_order
        )
        write_faithfully(published, path, overwrite, guard_formulas)

    def to_dict(self) -> dict[str, Any]:
        """All figures and sentences as plain values; no value of a record."""
        return collect_figures(self)

    def rows(self) -> Sequence[tuple[str, str, str]]:
        """The figures for people: what, before, after."""
        return build_rows(self)

    def __str__(self) -> str:
        return "\n".join(self.explain())

    def __rich__(self) -> RenderableType:
        from rich.console import Group
        from rich.table import Table
        from rich.text import Text

        table = Table(*read_head(), box=None, header_style="dim", pad_edge=False)
        for row in self.rows():
            table.add_row(*map(Text, row))
        return Group(Text(str(self)), table)

    def __repr__(self) -> str:
        return (
            f'Protected("{self.original.name}", {self.rule}: {self.suppressed_cells:,} cells '
            f"suppressed, {self.removed:,} records removed)"
        )

    def _repr_html_(self) -> str:
        return html.render_paragraphs(self.explain()) + html.render_table(read_head(), self.rows())

    @cached_property
    def _frequencies_before(self) -> Frequencies:
        known = self.original if self.known is None else self.known
        return records.frequencies(self.original, "bayes", among=self.among, original=known)

    @cached_property
    def _frequencies_after(self) -> Frequencies:
        known = self.original if self.known is None else self.known
        if self.removed:
            known = select_records(known, self.kept)
        return records.frequencies(self.dataset, "bayes", among=self.among, original=known)


# What a recipe gives is one of these; importing it there would go round in a circle.
Recipe.result_type = Protected
