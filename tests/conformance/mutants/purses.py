"""Changes of a client's purse behind the back of the house."""

from collections.abc import Callable
from typing import Any

from tests.conformance.mutants.mutation import Mutation, Situation, Tamper, text_of
from tests.conformance.mutants.operators import only_in


def add_coins(coins: int) -> Tamper:
    """Add coins to the purse, or take them; it never holds less than 0."""

    def tamper(table: Any, situation: Situation) -> None:
        table._purse.coins = max(0, table._purse.coins + coins)

    return tamper


def moving(room: str, sent: str, state: str, coins: int, clause: str) -> Mutation:
    """A house that moves coins when a message that begins with `sent` arrives in a state, which violates a clause."""
    return Mutation(
        room=room,
        role="server",
        operator="moved",
        state=state,
        what=sent,
        clauses=frozenset({clause}),
        after=only_in(lambda each: text_of(each.message).startswith(sent) and each.state == state, add_coins(coins)),
    )


def paying(is_paid: Callable[[Situation, int], bool], factor: float) -> tuple[Tamper, Tamper]:
    """Pay the net of some games several times, or with the wrong sign: what to do before and after each message.

    `is_paid` decides by the situation and the net.
    """

    def note(table: Any, situation: Situation) -> None:
        situation.memory["coins"] = table._purse.coins + table._purse.staked

    def pay(table: Any, situation: Situation) -> None:
        net = table._purse.coins + table._purse.staked - situation.memory["coins"]
        if net and table._state is None and is_paid(situation, net):
            table._purse.coins = max(0, table._purse.coins + int((factor - 1) * net))

    return note, pay
