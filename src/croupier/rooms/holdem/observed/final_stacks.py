"""The stacks that a hand may end with by the rules, and the clause that determines them."""

from collections.abc import Mapping

from croupier.core.errors import Violation
from croupier.core.rules import Turn
from croupier.rooms.holdem.observed.hand import ObservedHand
from croupier.rooms.holdem.wire import Guid


class FinalStacks:
    """What the players who are still in the game may have after an observed hand.

    `clause` determines the result.
    """

    def __init__(self, observed: ObservedHand) -> None:
        seats = [(seat, player) for seat, player in enumerate(observed.players) if player not in observed.left_players]
        departed = [seat for seat, player in enumerate(observed.players) if player in observed.left_players]
        self.players = [player for _, player in seats]
        self.clause = _result_clause(observed)
        self._total = sum(observed.stacks) - sum(observed.hand.stacks[seat] for seat in departed)
        self._possible = [{player: end[seat] for seat, player in seats} for end in observed.possible_final_stacks()]

    def may_leave_at_most(self, chips: int) -> bool:
        """Whether a player may be left with chips, but no more than these."""
        return any(0 < stack <= chips for end in self._possible for stack in end.values())

    def check_total(self, found: Mapping[Guid, int]) -> Violation | None:
        """Return the violation if the displayed stacks do not add up."""
        total = sum(found.values())
        if total == self._total:
            return None
        return Violation("holdem-5.17", f"{total} chips after a hand", f"{self._total}, as before")

    def check(self, found: Mapping[Guid, int]) -> Violation | None:
        """Return the violation if no cards lead to the displayed stacks."""
        if not self._possible or found in self._possible:
            return None
        allowed = f"{self._possible[0]}" if len(self._possible) == 1 else "a result of the cards"
        return Violation(self.clause, f"{found} after a hand", allowed)


def _result_clause(observed: ObservedHand) -> str:
    hand = observed.hand
    is_over = hand.turn is Turn.OVER
    if is_over and not hand.showdown_order:
        return "holdem-6.13"
    if len(observed.showdown_pots()) > 1:
        return "holdem-6.12"
    return "holdem-6.15" if is_over and observed.has_all_holes and len(hand.awards) > 1 else "holdem-6.14"
