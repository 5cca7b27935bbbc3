"""A protected dataset as it goes out where no release file says how: by the same rules."""

from __future__ import annotations

from collections.abc import Collection

from divulge.data import Dataset
from divulge.data.column_fate import UNLISTED, Unlisted, find_column_fate
from divulge.data.dictionary import find_name_problems
from divulge.protection.changes.changes import select_records
from divulge.protection.changes.recodings import pseudonyms
from divulge.work import Problems
from divulge.work.secret_key import SecretKey


def list_unlisted_columns(dataset: Dataset) -> list[str]:
    """The attributes that nobody has given a role."""
    return [name for name in dataset.names if dataset.dictionary[name].role is None]


def refuse_unpublished(
    names: Collection[str],
    dataset: Dataset,
    *,
    publish: Collection[str] = (),
    unlisted: Unlisted | None = None,
) -> None:
    """Refuse to keep as they are attributes that do not go out.

    Raises:
        InvalidInput: if one of them is an id that is not published, or dropped.
    """
    problems = Problems(f'dataset "{dataset.name}"')
    for name in names:
        role = dataset.dictionary[name].role if name in dataset.columns else None
        fate = find_column_fate(name, role, publish, unlisted)
        if name in dataset.columns and fate in ("withheld", "dropped", "pseudonyms"):
            message = f'"{name}" is not published as it is, so it cannot be kept so: leave it out.'
            problems.add("never", message)
    problems.raise_any()


def publish_dataset(
    dataset: Dataset,
    secret: SecretKey,
    *,
    publish: Collection[str] = (),
    unlisted: Unlisted | None = None,
    keep_order: bool = False,
) -> Dataset:
    """The columns that go out, ids under pseudonyms, records in a secret order.

    Raises:
        InvalidInput: if an attribute has no role and nothing was decided of such, if a direct
            identifier would go out, or if nothing would.
    """
    problems = Problems(f'dataset "{dataset.name}"')
    problems.extend("", find_name_problems("publish", publish, dataset.names))
    if unlisted not in (None, *UNLISTED):
        problems.add("unlisted", "is neither.", str(unlisted), UNLISTED)
    problems.raise_any()
    fates = {
        name: find_column_fate(name, dataset.dictionary[name].role, publish, unlisted)
        for name in dataset.names
    }
    for name, fate in fates.items():
        if fate == "unlisted":
            message = f'"{name}" has no role, so what it gives away was not judged: give it one, '
            problems.add("roles", message + 'or say unlisted="drop" or "non_identifying".')
        elif fate == "exposed":
            problems.add("publish", f'"{name}" is a direct identifier; it cannot be published.')
    names = [name for name, fate in fates.items() if fate not in ("withheld", "dropped")]
    if not names:
        problems.add("", "publishes nothing: every attribute is an id or has no role.")
    problems.raise_any()
    published = dataset.select(names)
    replaced = [name for name, fate in fates.items() if fate == "pseudonyms"]
    if replaced:
        published = pseudonyms(published, secret.derive_key("pseudonyms"), replaced)
    if keep_order:
        return published
    return select_records(published, secret.permute("order", published.rows))
