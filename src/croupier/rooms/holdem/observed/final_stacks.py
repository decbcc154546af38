"""The stacks that a hand may end with by the rules, and the clause that determines them."""

from collections.abc import Mapping, Sequence
from itertools import permutations

from croupier.core.errors import Violation
from croupier.rooms.holdem.engine.streets import BOARD_CARDS
from croupier.rooms.holdem.observed.bet_clauses import KEPT_SEAT_CLAUSE
from croupier.rooms.holdem.observed.cards import format_cards
from croupier.rooms.holdem.observed.hand import ObservedHand
from croupier.rooms.holdem.wire import Game, Guid


class FinalStacks:
    """What the players who are still in the game may have after an observed hand.

    `clause` determines the result. `has_returned_bet`: an uncalled bet had to be returned before a showdown.
    """

    def __init__(self, observed: ObservedHand) -> None:
        seats = [(seat, player) for seat, player in enumerate(observed.players) if player not in observed.left_players]
        departed = [seat for seat, player in enumerate(observed.players) if player in observed.left_players]
        self.players = [player for _, player in seats]
        self.clause = _result_clause(observed)
        self.has_returned_bet = self.clause != "holdem-6.13" and observed.returned_bet()[1] > 0
        self._total = sum(observed.stacks) - sum(observed.hand.stacks[seat] for seat in departed)
        self._observed = observed
        self._possible = [{player: end[seat] for seat, player in seats} for end in observed.possible_final_stacks()]

    def may_leave_at_most(self, chips: int) -> bool:
        """Whether a player may be left with chips, but no more than these."""
        return any(0 < stack <= chips for end in self._possible for stack in end.values())

    def allow(self, found: Mapping[Guid, int]) -> bool:
        """Whether some cards are known to lead to the displayed stacks."""
        return found in self._possible

    def check_total(self, found: Mapping[Guid, int], starting_stack: int) -> Violation | None:
        """Return the violation if the displayed stacks do not add up, or are those with which players sit down.

        After equal bets the pot may have been shared with players who have folded.
        """
        total, hand = sum(found.values()), self._observed.hand
        is_new = {*found.values()} == {starting_stack} and len(found) > 1 and self._possible
        if is_new and found not in self._possible and not (any(hand.folded) and len({*hand.paid}) == 1):
            found_text = f"{starting_stack} chips for every player, as before the first hand"
            return Violation("holdem-3.1", found_text, f"the stacks after the hand: {self._describe_possible()}")
        if total == self._total:
            return None
        for end in self._possible:
            again = [player for player, chips in end.items() if not chips and found[player] == starting_stack]
            if again and found == end | dict.fromkeys(again, starting_stack):
                return Violation("holdem-3.13", f"{again[0]} with {starting_stack} chips", "a player who has left")
        return Violation("holdem-5.17", f"{total} chips after a hand", f"{self._total}, as before")

    def check(self, found: Mapping[Guid, int]) -> Violation | None:
        """Return the violation if no cards lead to the displayed stacks."""
        if not self._possible or found in self._possible:
            return None
        clause = self.explaining_clause(found) or self.clause
        return Violation(clause, f"{_format_stacks(found)} after a hand", f"{self._describe_possible()}{self._cards}")

    def explaining_clause(self, found: Mapping[Guid, int]) -> str | None:
        """Return the clause by which wrong displayed stacks have come about, None if no known fault explains them."""
        if self._has_kept_bet(found):
            return "holdem-6.11"
        return "holdem-6.15" if self._has_moved_odd_chips(found) else self._winner_clause(found)

    def find_wrong_invalid_bet(self, game: Game) -> Violation | None:
        """Return what is wrong with an invalid bet that has to end the hand as a fold, if the game displays it.

        It is displayed as a bet, or its player, who has not left, is gone.
        """
        chips, bettor = self._observed.actions[-1][2], self._observed.last_to_act
        player = next((one for one in game.table if one.player_id == bettor), None)
        if player is None:
            is_gone = bettor not in self._observed.left_players
            return (
                Violation(KEPT_SEAT_CLAUSE, f"a table without {bettor}", "all players of the hand") if is_gone else None
            )
        if not 0 < chips <= player.bet_so_far or player.state == "folded":
            return None
        found = (
            f"bet_so_far {player.bet_so_far} of {player.handle or player.player_id}: the bet of {chips} was accepted"
        )
        return Violation(self.clause, found, "a fold: this bet is invalid")

    @property
    def _cards(self) -> str:
        """The cards of a showdown, "" if they are not all known."""
        observed = self._observed
        is_showdown = len(observed.board) == BOARD_CARDS and observed.has_all_holes and observed.hand.showdown_order
        if not is_showdown:
            return ""
        live = [player for seat, player in enumerate(observed.players) if not observed.hand.folded[seat]]
        hands = [f"{player} has {format_cards(observed.holes[player])}" for player in live]
        return f"; {', '.join(hands)}, and the board is {format_cards(observed.board)}"

    def _describe_possible(self) -> str:
        return _format_stacks(self._possible[0]) if len(self._possible) == 1 else "a result of the cards"

    def _has_kept_bet(self, found: Mapping[Guid, int]) -> bool:
        """Whether others have got an uncalled bet that had to be returned to its player."""
        seat, chips = self._observed.returned_bet()
        player = self._observed.players[seat]
        return self.has_returned_bet and any(
            found.get(player) == end[player] - chips and all(found[one] >= end[one] for one in end if one != player)
            for end in self._possible
            if player in end
        )

    def _has_moved_odd_chips(self, found: Mapping[Guid, int]) -> bool:
        """Whether a pot is or may be shared, and only as few chips as its odd ones are with other players than due."""
        is_known = self._observed.hand.over and self._observed.has_all_holes
        return (_is_shared(self._observed) or not is_known) and any(
            all(abs(found.get(player, 0) - chips) < len(end) for player, chips in end.items()) for end in self._possible
        )

    def _winner_clause(self, found: Mapping[Guid, int]) -> str | None:
        """Return the clause that names the winners if other winners of the same pots explain the displayed stacks."""
        observed = self._observed
        if len(self._possible) == 1 and observed.hand.over and not observed.hand.showdown_order:
            return None
        orders = [
            order
            for order in observed.all_orders()
            for end in observed.final_stacks(order)
            if all(end[observed.players.index(player)] == chips for player, chips in found.items())
        ]
        if not orders:
            return None
        is_tie = any(_refines(order, due) for order in orders for due in observed.possible_orders())
        return "holdem-6.15" if is_tie else "holdem-6.14"


def _format_stacks(stacks: Mapping[Guid, int]) -> str:
    return ", ".join(f"{player} with {chips}" for player, chips in stacks.items())


def _refines(order: Sequence[int], due: Sequence[int]) -> bool:
    """Whether an order has a winner among equal hands, and is the due one otherwise."""
    return all(order[one] < order[other] for one, other in permutations(range(len(due)), 2) if due[one] < due[other])


def _result_clause(observed: ObservedHand) -> str:
    hand = observed.hand
    is_over = hand.over
    if is_over and not hand.showdown_order:
        return "holdem-6.13"
    if len(observed.showdown_pots()) > 1:
        return "holdem-6.12"
    return "holdem-6.15" if _is_shared(observed) else "holdem-6.14"


def _is_shared(observed: ObservedHand) -> bool:
    """Whether equal hands, which are all known, have shared a pot."""
    pots = [award.pot for award in observed.hand.awards]
    return observed.hand.over and observed.has_all_holes and len({*pots}) < len(pots)
