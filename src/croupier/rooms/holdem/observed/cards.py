"""The cards of displayed hold'em games: whether they may be there, and what they add to an observed hand."""

from collections import Counter
from collections.abc import Sequence

from croupier.core.errors import Violation
from croupier.core.rules import Turn
from croupier.rooms.holdem.cards import Card, card_names
from croupier.rooms.holdem.engine.hand import Hand
from croupier.rooms.holdem.observed.hand import ObservedHand
from croupier.rooms.holdem.wire import Guid


def check_shown_twice(board: Sequence[Card], hole: Sequence[Card]) -> Violation | None:
    """Return the violation if a card is shown twice in one game."""
    if len({*board}) < len(board):
        return Violation("holdem-6.1", f"the board {format_cards(board)}", "every card once")
    if len({*hole}) < len(hole):
        return Violation("holdem-6.1", f"the hole cards {format_cards(hole)}", "every card once")
    if twice := {*hole} & {*board}:
        found = f"{format_cards(sorted(twice))} in a hand and on the board"
        return Violation("holdem-6.1", found, "every card once")
    return None


def follow_board(observed: ObservedHand, board: Sequence[Card], clause_counts: Counter[str]) -> Violation | None:
    """Add new board cards to an observed hand. Return the violation if the board is not allowed."""
    hand = observed.hand
    over = observed.is_over()
    known = len(observed.board)
    if list(board[:known]) != observed.board:
        found, allowed = f"the board {format_cards(board)}", format_cards(observed.board)
        return None if over else Violation("holdem-6.5", found, allowed)
    new = board[known:]
    if not new or hand.over:
        return None
    if hand.turn is not Turn.CHANCE or (len(new) > hand.cards_due and not over):
        found = f"{format_cards(new)} on the board before the betting round is over"
        return Violation(_missing_act_clause(hand), found, "no new cards: a player has still to act")
    if violation := _check_dealt_twice(observed, new):
        return violation
    clause_counts["holdem-6.5"] += 1
    observed.board += new
    observed.update()
    return None


def _missing_act_clause(hand: Hand) -> str:
    """Return the clause by which a player has still to act, such as the option of the big blind."""
    last_blind, _ = hand.blinds[-1]
    if not hand.street and hand.turn == last_blind:
        return "holdem-6.6"
    if not isinstance(hand.turn, int):
        return "holdem-6.7"
    is_closed = hand.legal.raise_range is None and hand.legal.can_be_answered
    faces_short_all_in = is_closed and hand.stacks[hand.turn] > hand.legal.to_call
    return "holdem-6.9" if faces_short_all_in else "holdem-6.7"


def follow_hole(
    observed: ObservedHand | None, hole: tuple[Card, ...], viewer: Guid, clause_counts: Counter[str]
) -> Violation | None:
    """Add a player's hole cards to an observed hand. Return the violation if this viewer must not see these cards.

    Without a hand only the public must not see any.
    """
    seat = None if observed is None else observed.seat_of(viewer)
    clause_counts["holdem-5.6"] += 1
    shown = f"the hole cards {format_cards(hole)}"
    if observed is None or seat is None or viewer in observed.left_players:
        if hole and not (viewer and observed is None):
            who = (
                "the public" if not viewer else "a player who was not dealt in" if seat is None else "one who has left"
            )
            return Violation("holdem-5.6", f"{shown} for {who}", "no hole cards")
        return None
    if len(hole) != 2:
        found = f"{shown} for a player of the hand" if hole else "no hole cards for a player of the hand"
        return Violation("holdem-5.6", found, "two hole cards")
    before = observed.holes.get(viewer)
    if before is not None:
        return None if before == hole else Violation("holdem-5.6", shown, f"{format_cards(before)}, as before")
    if violation := _check_dealt_twice(observed, hole):
        return violation
    observed.holes[viewer] = hole
    observed.update()
    return None


def _check_dealt_twice(observed: ObservedHand, new: Sequence[Card]) -> Violation | None:
    seen = observed.seen_cards
    twice = {card for at, card in enumerate(new) if card in seen or card in new[:at]}
    if not twice:
        return None
    return Violation("holdem-6.1", f"{format_cards(sorted(twice))} dealt twice", "every card once")


def format_cards(cards: Sequence[Card]) -> str:
    """Return cards for people: `AS TD`."""
    return " ".join(card_names(cards)) or "none"
