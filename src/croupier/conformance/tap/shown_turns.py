"""What hold'em players were shown of their turns, by which acts out of turn are told from late ones."""

from typing import Final

from croupier.rooms.holdem.wire import Guid

OUT_OF_TURN_STATUSES: Final = frozenset({403, 409})
"""The statuses with which an act out of turn is refused, of all dialects."""


class ShownTurns:
    """The turns that the server has shown to the players of a table, with times in seconds.

    If anybody was shown a player's turn since the player's last act, the next act may be in turn: it may only be late,
    as the turn may have expired. Once it is refused, and the player was shown that it is not its turn, no other may be.
    """

    def __init__(self) -> None:
        self._shown_at: dict[Guid, float] = {}
        self._clauses: dict[Guid, str] = {}  # what a player breaks that acts before its turn is shown
        self._refused: set[Guid] = set()  # players whose last act came too late, or out of turn

    def on_join(self, player: Guid) -> None:
        """Process a join. It is not the player's turn before a game shows it."""
        self._shown_at.pop(player, None)
        self._refused.discard(player)
        self._clauses[player] = "holdem-4.13"

    def on_view(self, turn: Guid, viewer: Guid | None, now: float) -> None:
        """Process a game that was shown: whose turn it is, "" for nobody's; and to whom, None or "" if unknown."""
        if turn:
            self._shown_at[turn] = now
            self._refused.discard(turn)
        if viewer:
            self._clauses[viewer] = "holdem-4.13"
        if viewer in self._refused:
            del self._shown_at[viewer]
            self._refused.remove(viewer)

    def on_act(self, player: Guid, asked_at: float) -> None:
        """Process an act that was requested at `asked_at` and has been carried out."""
        if self._shown_at.get(player, asked_at) <= asked_at:
            self._shown_at.pop(player, None)
            self._refused.discard(player)
            self._clauses[player] = "holdem-4.14"

    def on_refused_act(self, player: Guid) -> None:
        """Process an act that was refused as out of turn."""
        if player in self._shown_at:
            self._refused.add(player)

    def on_unread_view(self) -> None:
        """Process what cannot be read: it may have shown any turn to anybody."""
        self._shown_at.clear()
        self._refused.clear()
        self._clauses.clear()

    def broken_clause(self, player: Guid) -> str | None:
        """Return the clause that an act breaks which is requested now; None if it may be in turn."""
        return None if player in self._shown_at else self._clauses.get(player)
