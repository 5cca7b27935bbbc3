"""Compile the kernels ahead of time: `python -m divulge.events.warm`, once, at set-up."""

from __future__ import annotations

from divulge import datasets
from divulge.events.attack import attack
from divulge.events.history.history import History
from divulge.events.knowledge.attacker import Attacker
from divulge.events.ten_attackers import ten_attackers
from divulge.events.unicity import unicity
from divulge.qif.kernels import WORTH_COMPILING


def warm() -> None:
    """Run every attack on a history that is just large enough to be worth compiling for."""
    payments = datasets.payment_histories(WORTH_COMPILING + 10_000).select(
        ["user", "date", "goods"]
    )
    history = History(payments, user="user", time="date", item="goods")
    ten_attackers(history)
    attack(history, Attacker(["day", "item"])).risk()
    attack(history, Attacker(["day", "2 items"]))
    attack(history, Attacker(["day", "item"]), release=history)
    for points in (2, 4):
        unicity(history, ["day", "item"], points)
