"""The way of the button round the table from one observed hold'em hand to the next."""

from collections import Counter
from collections.abc import Iterator

from croupier.core.errors import Violation
from croupier.rooms.holdem.observed.hand import ObservedHand


def check_button(last: ObservedHand | None, observed: ObservedHand, clause_counts: Counter[str]) -> Iterator[Violation]:
    """Check that the button has moved on from the last hand to the next player, if all its players are still there.

    It may move on by one more if otherwise the last big blind would post it again (holdem-6.2). Where players have
    left, the seat that it moves to may be empty, but a player of more than two does not post the small blind twice.
    If it has moved on from the big blind of a hand of two without a flop, it was there before (holdem-6.4).
    """
    if last is None:
        return
    players, seats = observed.players, len(observed.players)
    if {*last.players} <= {*players} and not last.left_players:
        clause_counts["holdem-6.2"] += 1
        due = (players.index(last.players[last.button]) + 1) % seats
        big_blind = players[(due + (2 if seats > 2 else 1)) % seats]
        last_big_blind = last.players[last.hand.blinds[1][0]]
        may_move_on = big_blind == last_big_blind
        if observed.button not in {due, (due + may_move_on) % seats}:
            is_after_big_blind = observed.button == (players.index(last_big_blind) + 1) % seats
            is_wrong_before = len(last.players) == 2 < seats and not last.board and is_after_big_blind
            clause = "holdem-6.4" if is_wrong_before else "holdem-6.2"
            what = "the button" if seats > 2 else "the button and the small blind"
            found = f"{what} of {players[observed.button]}"
            yield Violation(clause, found, f"{what} of {players[due]}, the next player")
    elif {*players} <= {*last.players} - last.left_players and seats > 2:
        clause_counts["holdem-6.2"] += 1
        small_blind = players[observed.hand.small_blind]
        if small_blind == last.players[last.hand.small_blind]:
            yield Violation("holdem-6.2", f"the small blind of {small_blind} again", "that of another player")
