"""What a server may have made of the acts that no right game has shown yet."""

from collections import Counter
from collections.abc import Sequence
from typing import Final

from croupier.core.errors import Violation
from croupier.core.rules import Seat
from croupier.rooms.holdem.cards import card_numbers
from croupier.rooms.holdem.engine.stakes import Stakes
from croupier.rooms.holdem.observed.bet_clauses import INVALID_BET_CLAUSES
from croupier.rooms.holdem.observed.differences import compare
from croupier.rooms.holdem.observed.final_stacks import FinalStacks
from croupier.rooms.holdem.observed.hand import ObservedHand
from croupier.rooms.holdem.observed.shown_chips import shown_chips
from croupier.rooms.holdem.wire import Game

NEWCOMERS_CLAUSE: Final = "holdem-5.20"
"""The clause that a table with players who wait for the next hand breaks; it shows in every game until then."""


class UnseenActs:
    """The valid bets of a hand since the last right game, and its refused acts out of turn.

    A displayed game that is wrong may be right after a hand in which some of them have been taken for something else.
    """

    def __init__(self, stakes: Stakes) -> None:
        self._stakes = stakes
        self._bets: list[tuple[int, str]] = []  # their places among the actions of the hand, with their clauses
        self._refused_seats: set[Seat] = set()

    def begin_hand(self) -> None:
        """Forget the acts of the last hand."""
        self.on_right_game()
        self._refused_seats.clear()

    def on_right_game(self) -> None:
        """Note that a right game has been displayed."""
        self._bets.clear()

    def on_bet(self, observed: ObservedHand, clause: str) -> None:
        """Note that the next action of a hand is a bet, which is valid by this clause."""
        self._bets.append((len(observed.actions), clause))

    def on_refused(self, seat: Seat) -> None:
        """Note that an act out of turn has been refused."""
        self._refused_seats.add(seat)

    def chips(self, observed: ObservedHand) -> Sequence[int]:
        """Return the chips of each bet."""
        return [observed.actions[place][2] for place, _ in self._bets]

    def find_wrong_folds(self, observed: ObservedHand, game: Game, found: Violation) -> Violation | None:
        """Return what was `found` as a violation of the clause whose valid bets the server has taken for folds.

        These bets are known by the displayed game, which is right if all of them are folds. Acts out of turn, which the
        server has refused, are known in the same way. None if there are none.
        """
        for clause in dict.fromkeys(clause for _, clause in self._bets):
            folded = observed.with_folds([place for place, own in self._bets if own == clause])
            if folded is not None and self._is_right(folded, game):
                return found.replace(clause=clause)
        is_turn = observed.is_over() or isinstance(observed.hand.turn, int)
        for seat in self._refused_seats if is_turn else ():
            folded = observed.with_fold_of(seat)
            if folded is not None and self._is_right(folded, game):
                return Violation("holdem-4.13", "a fold by an act out of turn that was refused", "no change by it")
        return None

    def has_ignored_fold(self, observed: ObservedHand, game: Game, cause_clause: str) -> bool:
        """Whether the hand goes on as if its last action, a fold by this clause, were a check."""
        if not observed.actions or observed.actions[-1][0] != "fold" or cause_clause in INVALID_BET_CLAUSES:
            return False
        checked = observed.with_check(len(observed.actions) - 1, card_numbers(game.cards.board))
        return checked is not None and not checked.is_over() and self._is_right(checked, game)

    def _is_right(self, observed: ObservedHand, game: Game) -> bool:
        """Whether a displayed game is right, but for newcomers, after an observed hand, or while it runs."""
        if not observed.is_over():
            return all(one.clause == NEWCOMERS_CLAUSE for one in compare(observed, game, "", Counter()))
        if any(player.bet_so_far > self._stakes.most_forced for player in game.table):  # no hand that has just begun
            return False
        final_stacks, shown = FinalStacks(observed), shown_chips(game, self._stakes)
        return final_stacks.allow({player: shown.get(player, 0) for player in final_stacks.players})
