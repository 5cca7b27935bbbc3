"""Gain functions that have a name: what a guess is worth to the adversary.

A gain says what is won with each guess for each true secret. Any matrix (guesses x secrets) or
function will do; these are the common ones.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from divulge.qif.columns import as_number
from divulge.qif.gain import Gain, KGuesses, MatrixGain, Worth, require_small_matrix
from divulge.qif.matrix_input import read_numbers, read_signed_numbers
from divulge.qif.prior_posterior import PriorPosterior

if TYPE_CHECKING:
    from collections.abc import Sequence
    from fractions import Fraction

    from divulge.qif.columns import Numbers
    from divulge.qif.matrix_input import MatrixLike, VectorLike


def one_of_k_guesses(k: int) -> Gain:
    """The adversary may try k times: a win if one of the k guesses is right.

    >>> from divulge.qif import Hyper, g_vulnerability
    >>> g_vulnerability(Hyper.from_counts([[2, 1], [2, 1], [0, 2]]), one_of_k_guesses(2))
    PriorPosterior(prior=0.75, posterior=0.875)
    """
    return KGuesses(k)


def within_distance(distances: MatrixLike | VectorLike, at_most: float) -> Gain:
    """Nearly right is right: a win if the guess is no further from the secret than allowed.

    Args:
        distances: guesses x secrets; or one number per secret (an income, an age, a kilometre),
            whose differences are the distances.
        at_most: the largest distance that still counts as right.

    >>> within_distance([10, 11, 15], at_most=2).matrix(3).tolist()
    [[1.0, 1.0, 0.0], [1.0, 1.0, 0.0], [0.0, 0.0, 1.0]]
    """
    flat = np.ndim(np.asarray(distances)) == 1
    distance_matrix = read_signed_numbers(distances, "distances", dimensions=1 if flat else 2)
    if distance_matrix.dtype != object and not np.isfinite(distance_matrix).all():
        raise ValueError("distances has a value that is no finite number.")
    if flat:
        require_small_matrix(distance_matrix.size, distance_matrix.size)
        distance_matrix = np.abs(distance_matrix[:, None] - distance_matrix[None, :])
    if not at_most >= 0:
        raise ValueError(f"at_most is {at_most}; a distance is not negative.")
    return MatrixGain((distance_matrix <= at_most).astype(np.float64))


def worth_of_secrets(
    worth: VectorLike,
    cost_of_wrong_guess: float | Fraction | VectorLike = 0,
    *,
    may_abstain: bool = True,
) -> Gain:
    """Each secret has its price: what naming it rightly brings, and what a wrong name costs.

    Args:
        worth: in money, one figure per secret.
        cost_of_wrong_guess: one figure, or one per guess; not negative.
        may_abstain: whether they may keep silent, which wins and costs nothing.

    >>> from divulge.qif import Hyper, g_vulnerability
    >>> h = Hyper.from_counts([[0, 1, 0, 0], [1, 0, 0, 0], [1, 0, 1, 0]])
    >>> g_vulnerability(h, worth_of_secrets([4, 4, 4]))
    PriorPosterior(prior=2.0, posterior=3.0)
    """
    prices = read_numbers(worth, "worth", dimensions=1)
    single = np.ndim(np.asarray(cost_of_wrong_guess)) == 0
    repeated: Any = [cost_of_wrong_guess] * prices.size if single else cost_of_wrong_guess
    costs = read_numbers(repeated, "cost_of_wrong_guess", dimensions=1)
    if costs.size != prices.size:
        raise ValueError(f"worth has {prices.size} secrets, cost_of_wrong_guess {costs.size}.")
    return Worth(prices, costs, may_abstain)


def someone_in_group(members: Sequence[bool] | VectorLike) -> Gain:
    """Only members of one group matter: a win for naming the secret rightly, if it is a member.

    Args:
        members: per secret, whether it belongs to the group.

    >>> from divulge.qif import Hyper, g_vulnerability
    >>> h = Hyper.from_counts([[2, 0], [1, 1], [0, 4]])
    >>> g_vulnerability(h, someone_in_group([True, True, False]))
    PriorPosterior(prior=0.25, posterior=0.375)
    """
    inside = _read_members(members)
    return Worth(inside, np.zeros(inside.size), may_abstain=True)


def membership_of_group(members: Sequence[bool] | VectorLike) -> Gain:
    """Whether the secret is in the group at all: a win for telling "in" from "not in" rightly.

    >>> membership_of_group([True, True, False]).matrix(3).tolist()
    [[1.0, 1.0, 0.0], [0.0, 0.0, 1.0]]
    """
    inside = _read_members(members)
    return MatrixGain(np.stack([inside, 1 - inside]))


def net_of_costs(
    success: PriorPosterior, costs: Mapping[str, Any] | Sequence[Any]
) -> PriorPosterior:
    """What an attack is worth once the observed attributes have been paid for.

    Args:
        success: what the adversary expects to gain, in the same money as the costs.
        costs: what it costs to obtain each observed attribute.

    A negative `additive` says that the attack does not pay.

    >>> net_of_costs(PriorPosterior(2.0, 3.0), {"gender": 0.0, "age": 0.75})
    PriorPosterior(prior=2.0, posterior=2.25)
    """
    cost_by_attribute = costs if isinstance(costs, Mapping) else dict(enumerate(costs))
    for attribute, cost in cost_by_attribute.items():
        if not cost >= 0:
            raise ValueError(f"the cost of obtaining {attribute!r} is {cost}; it is at least 0.")
    return PriorPosterior(
        success.prior, as_number(success.posterior - sum(cost_by_attribute.values()))
    )


def _read_members(members: Any) -> Numbers:
    inside = np.asarray(members)
    if inside.ndim != 1 or inside.size == 0 or not np.isin(inside, [0, 1]).all():
        raise ValueError("members has to be one True or False per secret.")
    return inside.astype(np.float64)
