"""What a server has shown hold'em players of their turns, by which mistakes differ from late acts and wrong views."""

from typing import Final, NamedTuple

from croupier.core.errors import Violation
from croupier.rooms.holdem.engine.legal import Legal
from croupier.rooms.holdem.observed.bet_clauses import invalid_bet_clause
from croupier.rooms.holdem.table.wording import allowed_bets
from croupier.rooms.holdem.wire import Act, Game, Guid

OUT_OF_TURN_STATUSES: Final = frozenset({403, 409})
"""The statuses with which an act out of turn is refused, of all dialects."""


class ShownTurn(NamedTuple):
    """When a turn was shown, the bets that are valid by what was shown, and the chips of the player.

    There are no valid bets if what was shown contradicts itself.
    """

    at: float
    legal: Legal | None
    stack: int


class ShownTurns:
    """The turns that the server has shown to the players of a table, with times in seconds.

    If anybody was shown a player's turn since the player's last act, the next act may be in turn: it may only be late,
    as the turn may have expired. Once it is refused, and the player was shown that it is not its turn, no other may be.
    """

    def __init__(self) -> None:
        self._shown: dict[Guid, ShownTurn] = {}
        self._clauses: dict[Guid, str] = {}  # what a player breaks that acts before its turn is shown
        self._refused: set[Guid] = set()  # players whose last act came too late, or out of turn

    def on_join(self, player: Guid) -> None:
        """Process a join. It is not the player's turn before a game shows it."""
        self._shown.pop(player, None)
        self._refused.discard(player)
        self._clauses[player] = "holdem-4.13"

    def on_view(self, game: Game, viewer: Guid | None, now: float) -> None:
        """Process a game that was shown, and to whom: None or "" if it is unknown."""
        player = game.turn.player_id
        if player:
            stack = next((each.wealth for each in game.table if each.player_id == player), 0)
            legal = None if contradiction(game) else _shown_legal(game, stack)
            self._shown[player] = ShownTurn(now, legal, stack)
            self._refused.discard(player)
        if viewer:
            self._clauses[viewer] = "holdem-4.13"
        if viewer in self._refused:
            del self._shown[viewer]
            self._refused.remove(viewer)

    def on_act(self, player: Guid, asked_at: float) -> None:
        """Process an act that was requested at `asked_at` and has been carried out."""
        shown = self._shown.get(player)
        if shown is None or shown.at <= asked_at:
            self._shown.pop(player, None)
            self._refused.discard(player)
            self._clauses[player] = "holdem-4.14"

    def on_refused_act(self, player: Guid) -> None:
        """Process an act that was refused as out of turn."""
        if player in self._shown:
            self._refused.add(player)

    def on_unread_view(self) -> None:
        """Process what cannot be read: it may have shown any turn to anybody."""
        self._shown.clear()
        self._refused.clear()
        self._clauses.clear()

    def broken_clause(self, player: Guid) -> str | None:
        """Return the clause that an act breaks which is requested now; None if it may be in turn."""
        return None if player in self._shown else self._clauses.get(player)

    def judge_folded_bet(self, act: Act, reason: str) -> Violation | None:
        """Return the violation of a bet that the server has folded; None if it is valid by what was shown."""
        shown = self._shown.get(act.player)
        found = f"a bet of {act.amount} by {act.user}, folded with the reason: {reason}"
        if shown is None:
            return Violation("holdem-4.7", found, "a valid bet", about=act.user)
        if shown.legal is None or (clause := invalid_bet_clause(shown.legal, act.amount, shown.stack)) is None:
            return None
        return Violation(clause, found, allowed_bets(shown.legal), about=act.user)


def contradiction(game: Game) -> Violation | None:
    """Return what contradicts itself in a game that is shown, whatever came before: less to match than a bet."""
    highest = max((player.bet_so_far for player in game.table), default=0)
    if not game.turn.player_id or game.turn.bet_to_player >= highest:
        return None
    key, allowed = "bet_to_player", f"{highest}, the highest bet, or more"
    return Violation("holdem-5.10", f"{key} {game.turn.bet_to_player}", allowed, about=key)


def _shown_legal(game: Game, stack: int) -> Legal:
    """The bets of the player to act that are valid by what a game shows; it does not show who may not raise."""
    turn = game.turn
    to_call = max(0, turn.bet_to_player - turn.bet_so_far)
    raise_range = (min(to_call + max(0, turn.minimum_raise), stack), stack) if stack > to_call else None
    return Legal(to_call, min(to_call, stack), raise_range, pot=0, can_be_answered=True)
