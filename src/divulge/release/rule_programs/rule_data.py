"""What the rules of a release look at: its datasets, before protection and as they are now."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from divulge.data import Dataset
from divulge.work import InvalidInput, Problem


@dataclass(frozen=True, kw_only=True)
class RuleData:
    """What the rules of a release look at: its datasets, and which of them go out as records."""

    datasets: Mapping[str, Dataset]
    originals: Mapping[str, Dataset]
    """The same before protection, for who knows what was hidden of their victim."""
    published: Sequence[str]

    def find_subject(self, name: str | None = None) -> Dataset:
        """The dataset that rules speak of: the one that they name, or the only one.

        Raises:
            InvalidInput: if there is no such dataset, or it is not clear which is meant.
        """
        if name is None and len(self.published) == 1:
            return self.datasets[self.published[0]]
        if name is None:
            message = (
                "the release publishes several datasets of records; say which is meant by a first "
                "argument: keep(M, I, A)."
                if self.published
                else "the release publishes no dataset of records that rules could speak of."
            )
            raise InvalidInput("rules", [Problem("", message)])
        if name not in self.published:
            message = f'"{name}" is no dataset of records that the release publishes.'
            raise InvalidInput("rules", [Problem("", message, name, self.published)])
        return self.datasets[name]
