"""The expiries of turns that a server has shown (docs/protocols/holdem.md, 5.11)."""

from typing import Final, NamedTuple

from croupier.core.errors import Violation
from croupier.rooms.holdem.referee import Referee
from croupier.rooms.holdem.wire import Game, Guid

MAX_TURNS: Final = 10_000
"""After this many turns all are forgotten."""


class Turn(NamedTuple):
    """A turn by the number of the hand, the player, and the number of the player's acts before it."""

    hand: int
    player: Guid
    acts: int


class ShownExpiries:
    """The expiries of the turns of a game: each turn has one of its own, which does not change."""

    def __init__(self) -> None:
        self._expiry_by_turn: dict[Turn, str] = {}
        self._turn_by_expiry: dict[str, Turn] = {}

    def check(self, referee: Referee, game: Game) -> Violation | None:
        """Return the violation in a game that the referee has followed, None if there is none."""
        observed, player, expiry = referee.game, game.turn.player_id, game.turn.expiry
        if observed is None or referee.is_lost or player != referee.player_to_act():
            return None
        if len(self._turn_by_expiry) >= MAX_TURNS:
            self._expiry_by_turn.clear()
            self._turn_by_expiry.clear()
        acts = sum(observed.players[seat] == player for _, seat, _ in observed.actions)
        turn = Turn(referee.hand_count, player, acts)
        before = self._expiry_by_turn.setdefault(turn, expiry)
        if before != expiry:
            return Violation("holdem-5.11", expiry, f"the same expiry as before, {before}")
        if self._turn_by_expiry.setdefault(expiry, turn) != turn:
            return Violation("holdem-5.11", f"{expiry} once more", "an expiry that no other turn has")
        return None
