"""The actions of a hand in the notation of the PHH format.

A hand is written twice: as it was played, and as the equivalent that PokerKit can replay (`pokerkit_hand`).
"""

from collections.abc import Collection, Sequence
from typing import Final

from croupier.core.rules import Seat
from croupier.rooms.holdem.engine.hand import Hand
from croupier.rooms.holdem.engine.streets import BOARD_CARDS
from croupier.rooms.holdem.histories.notation import CARD_TEXTS, HIDDEN_HOLE, UNKNOWN_CARD, format_cards, seat_order
from croupier.rooms.holdem.histories.pokerkit_hand import PokerKitHand

LEAVES_COMMENT: Final = " # leaves"
"""The comment that distinguishes leaving from folding."""


class PhhActionFormat:
    """Formats the actions of a hand, with the hole cards of the seats in `known_seats` (None: of all seats)."""

    def __init__(self, hand: Hand, known_seats: Collection[Seat] | None = None) -> None:
        self._hand = hand
        self._seats = seat_order(len(hand.stacks), hand.button)
        self._names = {seat: f"p{player}" for player, seat in enumerate(self._seats, start=1)}
        self._holes = [
            format_cards(hole) if known_seats is None or seat in known_seats else UNKNOWN_CARD * len(hole)
            for seat, hole in enumerate(hand.holes)
        ]
        self._board = [CARD_TEXTS[card] for card in hand.board]
        self._left = {entry[1] for entry in hand.log if entry[0] == "leave"}

    def format_played(self) -> list[str]:
        """Return the actions that were played; the comment `# leaves` marks the fold of a player who left."""
        fresh = self._hand.replay(())
        return self._format(self._hand, fresh.bets, fresh.to_match, self._holes, self._board)

    def format_equivalent(self, equivalent: PokerKitHand) -> list[str]:
        """Return the actions of the equivalent hand.

        Cards that were not dealt are unknown in it, or unused ones where the reader needs a complete board.
        """
        holes, board, mucked = self._holes, self._board, equivalent.mucked_seats
        if self._hand.over:
            holes = [hole.ljust(len(HIDDEN_HOLE), UNKNOWN_CARD[0]) for hole in holes]
        known = {*board, *(hole[at : at + 2] for hole in holes for at in (0, 2))}
        unused = [UNKNOWN_CARD] * BOARD_CARDS if mucked is None else [card for card in CARD_TEXTS if card not in known]
        bets = equivalent.posted_bets
        actions = self._format(equivalent, bets, max(bets), holes, [*board, *unused])
        return actions if mucked is None else self._add_showdown(actions, mucked, equivalent.live_seats)

    def _add_showdown(self, actions: list[str], mucked: Collection[Seat], live: Collection[Seat]) -> list[str]:
        """Add that cards are mucked or shown when no more betting is possible: before the rest of the board."""
        names, hand = self._names, self._hand
        shown = {seat: format_cards(hand.holes[seat]) for seat in hand.showdown_order}
        showdown = [f"{names[seat]} sm" for seat in self._seats if seat in mucked]
        showdown += [f"{names[seat]} sm {shown.get(seat, HIDDEN_HOLE)}" for seat in shown or live]
        rest: list[str] = []
        while actions[-1].startswith("d db"):
            rest.insert(0, actions.pop())
        if shown:
            return [*actions, *showdown, *rest]
        hidden = [f"{names[seat]} sm {HIDDEN_HOLE}" for seat in self._seats if seat in mucked or seat in live]
        for street in rest:  # PokerKit asks before each street
            actions += [*hidden, street]
        return [*actions, *showdown]

    def _format(
        self, hand: Hand, posted: Sequence[int], to_match: int, holes: Sequence[str], board: Sequence[str]
    ) -> list[str]:
        """Return the actions of a hand, given the bets posted and the bet to match before the first action."""
        names, bets = self._names, [*posted]
        deal = [f"d dh {names[seat]} {holes[seat]}" for seat in self._seats if holes[seat]]
        actions: list[str] = []
        hole_cards, board_cards = 0, 0
        for entry in hand.log:
            match entry:
                case ("deal", seat, cards) if seat is None:
                    actions.append(f"d db {''.join(board[board_cards : board_cards + len(cards)])}")
                    board_cards += len(cards)
                    bets, to_match = [0 for _ in bets], 0
                case ("deal", _, _):
                    hole_cards += 1
                    if hole_cards == 2 * len(holes):
                        actions += deal
                case ("bet", seat, chips):
                    bets[seat] += chips
                    actions.append(f"{names[seat]} {f'cbr {bets[seat]}' if bets[seat] > to_match else 'cc'}")
                    to_match = max(to_match, bets[seat])
                case (_, seat):
                    actions.append(f"{names[seat]} f{LEAVES_COMMENT if seat in self._left else ''}")
        return actions if hole_cards == 2 * len(holes) else [*actions, *deal]


def action_words(action: str) -> list[str]:
    """Return the words of an action, without its comment."""
    return action.partition("#")[0].split()
