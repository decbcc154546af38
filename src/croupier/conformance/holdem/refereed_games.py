"""Follows the games of a case with referees, so that a Game that breaks the rules is judged where it is first shown."""

from collections.abc import Sequence
from typing import Final

from croupier.conformance.holdem.endpoint import JoinedSeat, ServerUnderTest
from croupier.core.errors import Violation
from croupier.http.wire import ReceivedResponse, SentRequest, path_segments
from croupier.rooms.holdem.observed.unseen_acts import NEWCOMERS_CLAUSE
from croupier.rooms.holdem.referee import Referee
from croupier.rooms.holdem.wire import Act, Game, Guid, Join, Leave, RequestRefused, parse_act

MIN_PLAYERS: Final = 2

OUT_OF_TURN: Final = 403
"""The status of an act out of turn (4.13)."""

STATE_CLAUSE: Final = "holdem-5.9"
"""The clause of the states of players, which a server may compute from whose turn it believes to be next."""


class RefereedGames:
    """The games of a case, each with a referee.

    A game is followed from the moment at which its first player joins, as long as every change of it is known: no
    longer after a request that should have been refused, or may have been carried out unanswered, and not if users wait
    in its queue. Without `is_enabled` no game is followed.
    """

    def __init__(self, server: ServerUnderTest, *, is_enabled: bool) -> None:
        self._server = server
        self._is_enabled = is_enabled
        self._referees: dict[Guid, Referee] = {}
        self._known: set[Guid] = set()
        self.doubtful: Guid = ""  # a game with a player in a wrong state, which may be a sign of wrong turns
        self._refused: set[Guid] = set()  # games with a refused request since they were last shown

    def needs_look(self, game: Guid) -> bool:
        """Whether the next act or departure can only be followed if the game is read before.

        Before the option of the big blind the game shows whether there is one.
        """
        referee = self._referees.get(game)
        if referee is None or len(referee.seated_players) < MIN_PLAYERS:
            return False
        is_option = referee.game is not None and not referee.game.board and referee.legal and not referee.legal.to_call
        return referee.player_to_act() is None or bool(is_option)

    def follows(self, game: Guid) -> bool:
        """Whether a game is followed."""
        return game in self._referees

    def forget(self, game: Guid) -> None:
        """Follow a game no longer."""
        self._referees.pop(game, None)

    def join(self, seat: JoinedSeat) -> None:
        """Note a player who has got a seat, also in a game that was not known before."""
        if self._is_enabled and seat.game not in self._known:
            self._known.add(seat.game)
            self._referees[seat.game] = Referee(self._server.settings.stakes, self._server.settings.stack)
        self._report(seat.game, seat.player_id, Join(seat.role, seat.game))

    def on_response(self, request: SentRequest, response: ReceivedResponse) -> None:
        """Note what a request has changed, and whether it was refused."""
        match request.method, path_segments(request.path):
            case "POST", ["games", game, "players", player, "acts"] if response.status >= 300:
                if not self._is_refused_turn(game, player, response.status):
                    self._refused.add(game)
                self._note_refused_act(game, player, request.body, response.status)
            case _, ["games", game, *_] if request.method != "GET" and response.status >= 300:
                self._refused.add(game)
            case "POST", ["games", game, "players", player, "acts"]:
                self._report(game, player, parse_act("", game, player, request.body))
            case "DELETE", ["games", game, "players", player]:
                self._report(game, player, Leave("", game, player))
            case _:
                pass

    def on_game(self, viewer: Guid, game: Game, *, is_readable: bool) -> Sequence[Violation]:
        """Return what a Game shown to a player or to the public violates; nothing if it is not `is_readable`.

        After a refused request nothing is returned: only the case knows what the refusal should not have changed.
        """
        referee = self._referees.get(game.game_id)
        if referee is None:
            return ()
        hand_count = referee.hand_count
        found = referee.on_shown(viewer, game)
        is_certain = is_readable and game.game_id not in self._refused
        self._refused.discard(game.game_id)
        if self.doubtful and hand_count == referee.hand_count:
            found = [violation for violation in found if violation.clause != STATE_CLAUSE]
        elif is_certain and found and {violation.clause for violation in found} == {STATE_CLAUSE}:
            self.doubtful = game.game_id
            return found
        else:
            self.doubtful = ""
        is_right = all(violation.clause == NEWCOMERS_CLAUSE for violation in found)
        if not is_right or not is_readable or referee.is_lost:
            self.forget(game.game_id)
        return found if is_certain else ()

    def _is_refused_turn(self, game: Guid, player: Guid, status: int) -> bool:
        """Whether an act was refused as out of turn, although it is the turn of this player: it has changed nothing."""
        referee = self._referees.get(game)
        return status == OUT_OF_TURN and referee is not None and referee.player_to_act() == player

    def _note_refused_act(self, game: Guid, player: Guid, body: bytes, status: int) -> None:
        """Report an act out of turn to the referee, which may see later that it has folded the hand after all."""
        referee, act = self._referees.get(game), parse_act("", game, player, body)
        if referee is not None and isinstance(act, Act) and referee.player_to_act() != player:
            referee.on_exchange(player, act, status)

    def _report(self, game: Guid, player: Guid, request: Act | Join | Leave | RequestRefused) -> None:
        """Report an accepted request to the referee; a game with one that should have been refused is forgotten."""
        referee = self._referees.get(game)
        if referee is None:
            return
        if isinstance(request, RequestRefused) or referee.on_exchange(player, request, 201):
            self.forget(game)
