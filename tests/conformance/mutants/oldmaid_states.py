"""The states of Old Maid: of a table's client, and of a player that is about to send."""

from typing import Any

from croupier.rooms.oldmaid.cards import CARD_COUNT

STRANGER, WAITING = "before joining", "waiting for the game"
DRAWER, DRAWING, PLAYING = "as the drawer", "while others draw", "when all cards are drawn"
OUT, OVER = "out of cards", "when the game is over"

IN_GAME = (DRAWER, DRAWING, PLAYING)
AFTERWARDS = (OUT, OVER)


def state_of(client: Any) -> str:
    """The state of a client of a table."""
    if client is None or (client.game is None and client.queued is None):
        return STRANGER
    if client.queued is not None:
        return WAITING
    game = client.game
    if game.is_over:
        return OVER
    if not game.is_inside[client.seat]:
        return OUT
    if game.drawn_count == CARD_COUNT:
        return PLAYING
    return DRAWER if game.drawer == client.seat else DRAWING


BEFORE, DRAWING_CARDS, RING, DONE = "before the game", "while cards are drawn", "in the ring", "without cards"


def player_state(player: Any) -> str:
    """The state of a player that is about to send."""
    table = player._table
    if table.seat is None:
        return BEFORE
    if table.has_reported_out:
        return DONE
    return RING if table.is_deck_empty else DRAWING_CARDS
