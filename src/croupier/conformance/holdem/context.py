"""The context of one case: the games and seats of its users, and the steps that nearly all cases share."""

import asyncio
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Any, Final

from msgspec.json import encode

from croupier.conformance.channel.delivery import WHOLE, Delivery
from croupier.conformance.deviations import NotReached
from croupier.conformance.holdem.deviations import CaseAborted, HttpDeviation, OtherSettings
from croupier.conformance.holdem.endpoint import JoinedSeat, ServerUnderTest, bet
from croupier.conformance.holdem.exchange import Exchange
from croupier.conformance.holdem.operations import match_target
from croupier.conformance.holdem.refereed_games import MIN_PLAYERS, RefereedGames
from croupier.conformance.holdem.schema import ParsedGames, guid_errors, parse_game, parse_games
from croupier.conformance.results import Outcome
from croupier.core.errors import Violation
from croupier.core.http_transcript import NOBODY
from croupier.core.referee import HOUSE
from croupier.http.wire import ReceivedResponse, SentRequest
from croupier.rooms.holdem.observed.state_reader import read_guid
from croupier.rooms.holdem.wire import Game

PLAYER_OPERATIONS: Final = frozenset({"post_acts", "delete_player"})
CHANGING_OPERATIONS: Final = PLAYER_OPERATIONS | {"post_players"}
"""What players of a game do, and what changes who plays in it; the game is the first parameter of the path."""

TURN_CLAUSES: Final = frozenset({"holdem-6.4", "holdem-6.6", "holdem-6.7"})
MAX_CALLS_PLAYED_ON: Final = 8
"""The clauses of whose turn it is, and how many calls may show that they are the reason of a wrong state."""

QUEUED: Final = 202
"""The status of a player who waits for a seat (3.6)."""

NOT_FOUND: Final = 404
"""The status of a DELETE for a player who is out of the game already, as a player without chips is (3.13)."""

NO_FREE_GAME: Final = "there is no game without players, and POST /games/ creates none"
"""Why a case that needs a game of its own cannot be played."""

EMPTY_GAME_POLL_SECONDS: Final = 0.2
"""How often a case looks whether there is a game without players."""

PAUSE_POLL_SECONDS: Final = 0.05
MAX_PAUSE_POLLS: Final = 40
"""After its usual pause a server that pauses between hands is polled this often until it has dealt the next one."""


class HoldemContext(Exchange):
    """The context of one case: the exchange with the server, and where the roles sit."""

    def __init__(self, server: ServerUnderTest, timeout: float | None = None, *, is_refereed: bool = False) -> None:
        super().__init__(server)
        self.refereed_games = RefereedGames(server, is_enabled=is_refereed and server.dialect == "readme")
        self.timeout = timeout  # time limit in seconds, None without a limit
        self.shown_handles: dict[str, Sequence[str]] = {}  # the names at each table, when it was last so full
        self._names: dict[str, str] = {}  # playerID -> name, also of players who have left
        self._games: set[str] = set()
        self._unnamed_openers: list[str] = []  # roles with a seat in a game, one of which POST /games/ did not name
        self._is_closing = False
        self.has_seen_idle_table = False  # nobody had the turn, although enough players were shown
        self.has_awaited_hand = False  # a hand began after a time in which nobody had the turn
        self.has_missed_hand = False  # none began, although it was waited for
        self._viewer: str | None = NOBODY  # the role of the last request, None for credentials of no role

    async def close(self) -> None:
        """Leave all games, unless the players stay; close the connections, and return the users to the pool.

        A case that is cancelled, since the server has ended in another one, does not know what has ended it.
        """
        self._is_closing = True
        task = asyncio.current_task()
        is_cancelled = task is not None and task.cancelling() > 0
        try:
            for role in [*self._unnamed_openers]:
                with suppress(CaseAborted, OSError):
                    await self._find_opened_seat(role)
            was_running = bool(self.lines) and self.lines[-1].side == HOUSE
            for seat in () if self.server.players_stay else [*self.joined_seats]:
                try:
                    await self.leave(seat.role, seat.game)
                except (CaseAborted, OSError):
                    if was_running and not is_cancelled and not self.server.lines_before_end:
                        self.server.lines_before_end = self.lines
                    break
            roles_seated = {seat.role for seat in self.joined_seats}
            for role, user in self.users.items():
                if user.guid and role not in roles_seated:
                    self.server.idle_users[role].append(user)
            self.server.games_in_use -= self._games
            for client in self._clients.values():
                await client.close()
        finally:
            for client in self._clients.values():
                client.abort()

    async def request(
        self,
        role: str,
        method: str,
        path: str,
        body: bytes = b"",
        headers: Mapping[str, str] | None = None,
        *,
        delivery: Delivery = WHOLE,
        timeout: float | None = None,
    ) -> ReceivedResponse:
        """Send a request as a role and return the response; keep track of the seats that it changes.

        At a server that pauses between hands, wait for the next hand. Raises CaseAborted, after recording a deviation,
        if no valid response arrives.
        """
        sent = SentRequest(method, path, self.with_credentials(role, headers or {}), body)
        found = None if self._is_closing else match_target(sent.target)
        if found is not None and found.operation.id in PLAYER_OPERATIONS:
            game = found.parameters[0]
            if self.refereed_games.needs_look(game):
                await self.get_game(NOBODY, game)
        request, response = await self.send(role, sent, delivery=delivery, timeout=timeout)
        authorization = dict(request.headers).get("Authorization")
        owner = next((name for name, user in self.users.items() if user.auth_header[1] == authorization), None)
        self._viewer = NOBODY if authorization is None else owner
        self._track_seats(owner or role, request, response)
        self.refereed_games.on_response(request, response)
        self._look_for_idle_table(request, response)
        if self.server.settings.pause_seconds and not self._is_closing and 200 <= response.status < 300:
            found = match_target(request.target)
            if found is not None and found.operation.id in CHANGING_OPERATIONS:
                await self._await_next_hand(found.parameters[0])
        return response

    def _look_for_idle_table(self, request: SentRequest, response: ReceivedResponse) -> None:
        """Record that a game is shown in which no player has the turn although enough sit at its table."""
        found = match_target(request.target)
        if found is not None and found.operation.id == "get_game" and response.status == 200:
            shown = self._shown_idle(response)
            self.has_seen_idle_table |= shown is not None and len(shown.table) >= MIN_PLAYERS

    async def _await_next_hand(self, game: str) -> None:
        """Wait until the next hand is dealt after a request that may have ended one, at a server that pauses then."""
        if await self._idle_game(game) is None:
            return
        await asyncio.sleep(self.server.settings.pause_seconds)
        for _ in range(MAX_PAUSE_POLLS):
            shown = await self._idle_game(game)
            self.has_awaited_hand |= shown is None
            if shown is None or self._seated_count(shown) < MIN_PLAYERS:
                break
            await asyncio.sleep(PAUSE_POLL_SECONDS)
        else:
            self.has_missed_hand = True
        self._last_change_at = self._last_request_at

    async def _idle_game(self, game: str) -> Game | None:
        """Return a game as it is shown if it is no player's turn; None if it is, or there is no such game any more."""
        response = await self.request(NOBODY, "GET", f"/games/{game}")
        return self._shown_idle(response)

    def _shown_idle(self, response: ReceivedResponse) -> Game | None:
        """Return the game of a response if it is no player's turn, None if it is or there is no game."""
        shown = parse_game(response.body, self.dialect).games
        return shown[0] if shown and not shown[0].turn.player_id else None

    def _seated_count(self, shown: Game) -> int:
        """Return how many sit at a table that is shown, with those who have joined and were never shown there.

        Nobody knows who these are if the players are shown without their names.
        """
        if not all(player.handle for player in shown.table):
            return len(shown.table)
        joined = {self.user(seat.role).name for seat in self.joined_seats if seat.game == shown.game_id}
        handles = {player.handle for player in shown.table}
        return len(handles | joined.difference(self.shown_handles.get(shown.game_id, ())))

    def _track_seats(self, role: str, request: SentRequest, response: ReceivedResponse) -> None:
        """Track users, games and seats from a successful request, or from a DELETE for a player without chips."""
        found = match_target(request.target)
        is_gone = response.status == NOT_FOUND and request.method == "DELETE"
        if found is None or not (is_gone or 200 <= response.status < 300):
            return
        if request.method != "GET":
            self._last_change_at = self._last_request_at
        match found.operation.id, found.parameters:
            case "post_users", _ if role in self.users:
                with suppress(Violation):
                    self.users[role].guid = read_guid(response.body)
            case "post_games", _:
                game = self._named_game(response)
                if game and (self.dialect == "hspe-go" or self._joined_player(role, response) not in {"", game}):
                    self._games.add(game)
                    self.server.games_in_use.add(game)
                    self._record_seat(role, game, response)
                elif role in self.users:
                    self._unnamed_openers.append(role)
            case "post_players", (game,):
                self._record_seat(role, game, response)
            case "delete_player", (game, player):
                self.joined_seats = [
                    seat for seat in self.joined_seats if (seat.game, seat.player_id) != (game, player)
                ]
            case _:
                pass

    def _record_seat(self, role: str, game: str, response: ReceivedResponse) -> None:
        user = self.users.get(role)
        if user is None:
            return
        player = self._joined_player(role, response) if self.dialect == "readme" else ""
        self._add_seat(JoinedSeat(role, game, player or user.guid))
        if response.status == QUEUED:
            self.refereed_games.forget(game)

    def _add_seat(self, seat: JoinedSeat) -> None:
        """Add a seat; it replaces one that its player has lost in the same game."""
        self.joined_seats = [one for one in self.joined_seats if (one.role, one.game) != (seat.role, seat.game)]
        self.joined_seats.append(seat)
        self._names[seat.player_id] = self.user(seat.role).name
        self.refereed_games.join(seat)

    def _named_game(self, response: ReceivedResponse) -> str:
        """Return the GUID of the game that a response to POST /games/ names in Location or in its Game, or else ""."""
        where = response.headers.get("location", "").rstrip("/").rpartition("/")[2]
        shown = parse_game(response.body, self.dialect).games
        return where or (shown[0].game_id if shown else "")

    # Steps shared by nearly all cases. What is wrong with them is judged by other cases.

    async def register(self, *roles: str) -> None:
        """Register users for these roles. Raises CaseAborted if the server refuses."""
        for role in roles:
            if role in self.users:
                continue
            if self.server.idle_users[role]:
                self.users[role] = self.server.idle_users[role].pop()
                continue
            user = self.user(role)
            response = await self.request(role, "POST", "/users/")
            self.require_success(response, "holdem-2.2", 201)
            user.guid = self.require_guid(role, response, "holdem-2.2")

    async def claim_empty_game(self) -> str:
        """Claim a game without players for this context; return its GUID, "" if there is none.

        If other cases play, wait for one: a server may keep no empty game while another one has a free seat.
        """
        while not (game := await self._find_empty_game()):
            if self.server.games_in_use <= self._games or self.server.empty_game_seconds_left <= 0:
                return ""
            self.server.empty_game_seconds_left -= EMPTY_GAME_POLL_SECONDS
            await asyncio.sleep(EMPTY_GAME_POLL_SECONDS)
        self.server.games_in_use.add(game)
        self._games.add(game)
        return game

    async def _find_empty_game(self) -> str:
        """Return the GUID of a game without players that no other case uses, "" if there is none."""
        games = [game.game_id for game in await self.list_games() if not game.table]
        used_by_others = self.server.games_in_use - self._games
        return next((game for game in games if game not in used_by_others), "")

    async def seat(self, *roles: str, game: str = "") -> str:
        """Seat roles in a game of their own, in this order; return its GUID. Raises CaseAborted or NotReached."""
        self.require_table(len(roles))
        await self.register(*roles)
        game = game or await self.open_game(roles[0]) or await self.claim_empty_game()
        if not game:
            raise NotReached(NO_FREE_GAME)
        for role in roles:
            if not self.has_seat(role, game):
                await self.join(role, game)
        return game

    def require_table(self, players: int) -> None:
        """Raise OtherSettings if a table has fewer seats, and NotReached if its stacks are too small for a hand."""
        settings = self.server.settings
        if players > settings.seats:
            raise OtherSettings(f"it needs {players} players at a table; here are {settings.seats} seats")
        if players >= MIN_PLAYERS and settings.is_shallow:
            raise NotReached(f"hands of {settings.stack} chips may end without an act")

    async def join(self, role: str, game: str) -> ReceivedResponse:
        """Take a free seat of a game. Raises CaseAborted, and OtherSettings if no seat can be free."""
        self.require_table(len({seat.role for seat in self.joined_seats if seat.game == game} | {role}))
        response = await self.request(role, "POST", f"/games/{game}/players/")
        self.require_seat(response)
        return response

    async def seat_and_find_turn(self, *roles: str) -> tuple[str, str]:
        """Seat roles in a game; return its GUID and the role to act. Raises as `seat`."""
        game = await self.seat(*roles)
        role = self.role_to_act(await self.get_game(NOBODY, game))
        if not role:
            raise NotReached("no player has the turn, although two sit at the table")
        return game, role

    async def open_game(self, role: str) -> str:
        """Open a game as a role, which takes a seat; return its GUID, "" if the server opens none."""
        if not self.server.can_open_games:
            return ""
        response = await self.request(role, "POST", "/games/")
        seat = await self.opened_seat(role, response) if response.status < 300 else None
        self.server.can_open_games = seat is not None
        return seat.game if seat is not None else ""

    async def opened_seat(self, role: str, response: ReceivedResponse) -> JoinedSeat | None:
        """Return the seat that a role has since the response to its POST /games/; None if no game shows it."""
        if role in self._unnamed_openers:
            return await self._find_opened_seat(role)
        game = self._named_game(response)
        return next((seat for seat in self.joined_seats if (seat.role, seat.game) == (role, game)), None)

    async def _find_opened_seat(self, role: str) -> JoinedSeat | None:
        """Find in the list the game in which a role sits, as POST /games/ did not name it, or not the player."""
        self._unnamed_openers.remove(role)
        known = {seat.game for seat in self.joined_seats if seat.role == role}
        for game in await self.list_games():
            for player in game.table:
                if player.handle == self.user(role).name and game.game_id not in known:
                    self._games.add(game.game_id)
                    self.server.games_in_use.add(game.game_id)
                    seat = JoinedSeat(role, game.game_id, player.player_id)
                    self._add_seat(seat)
                    return seat
        return None

    async def leave(self, role: str, game: str) -> ReceivedResponse:
        """Leave a game."""
        return await self.request(role, "DELETE", f"/games/{game}/players/{self.player_id(role, game)}")

    @property
    def first_call(self) -> int:
        """The amount with which the first player to act calls in a hand of two."""
        return self.server.settings.stakes.big_blind - self.server.settings.stakes.small_blind

    def has_seat(self, role: str, game: str) -> bool:
        """Whether a role has a seat in a game, or a place in its queue."""
        return any((seat.role, seat.game) == (role, game) for seat in self.joined_seats)

    def role_to_act(self, shown: Game) -> str:
        """Return the role to act, "" if it is none of ours."""
        player_in_game = (shown.game_id, shown.turn.player_id)
        return next((seat.role for seat in self.joined_seats if (seat.game, seat.player_id) == player_in_game), "")

    def player_id(self, role: str, game: str) -> str:
        """Return the playerID of a role in a game, or its user GUID if it has none."""
        found = [seat.player_id for seat in self.joined_seats if (seat.role, seat.game) == (role, game)]
        return found[0] if found else self.user(role).guid

    async def list_games(self) -> Sequence[Game]:
        """Return all games as clients without credentials see them. Raises CaseAborted if they cannot be read."""
        response = await self.request(NOBODY, "GET", "/games/")
        self.require_success(response, "holdem-5.1", 200)
        shown = parse_games(response.body, self.dialect)
        self.judge_games(shown)
        if not shown.games and shown.errors:
            raise CaseAborted
        return shown.games

    async def get_game(self, role: str, game: str) -> Game:
        """Return a game as a role sees it. Raises CaseAborted if it cannot be read."""
        return self.require_game(await self.read_game(role, game))

    async def read_game(self, role: str, game: str) -> ReceivedResponse:
        """Return the response that shows a game to a role. Raises CaseAborted if there is none."""
        response = await self.request(role, "GET", f"/games/{game}")
        self.require_success(response, "holdem-5.2", 200)
        return response

    def require_game(self, response: ReceivedResponse) -> Game:
        """Parse the Game of a response and record deviations in form. Raises CaseAborted if there is none."""
        shown = parse_game(response.body, self.dialect)
        self.judge_games(shown)
        if not shown.games:
            raise CaseAborted
        return shown.games[0]

    def judge_games(self, shown: ParsedGames) -> None:
        """Record deviations in form of the last response, and the rules that its games break.

        Raises CaseAborted if rules are broken: more differences would only be consequences.
        """
        is_readable = not any(error.outcome is Outcome.FAIL for error in self.add_deviations(shown.errors))
        for game in shown.games:
            handles = [player.handle for player in game.table]
            self.shown_handles[game.game_id] = max(handles, self.shown_handles.get(game.game_id, ()), key=len)
        role = self._viewer
        if role is None:
            return
        for game in shown.games:
            viewer = "" if role == NOBODY else self.player_id(role, game.game_id)
            violations = self.refereed_games.on_game(viewer, game, is_readable=is_readable)
            found = [self.add_violation(violation, game) for violation in violations]
            if any(deviation.outcome is Outcome.FAIL for deviation in found):
                raise CaseAborted

    async def play_on(self) -> None:
        """Find out whether a wrong state of a player is a sign of wrong turns: the players call until the hand ends.

        If it is, the deviation of the state is withdrawn, and that of the turns is the last one.
        """
        game = self.refereed_games.doubtful
        if not game:
            return
        seen = self.deviations[-1]
        try:
            for _ in range(MAX_CALLS_PLAYED_ON):
                shown = await self.get_game(NOBODY, game)
                if not (role := self.role_to_act(shown)) or not self.refereed_games.doubtful:
                    return
                chips = shown.turn.bet_to_player - shown.turn.bet_so_far
                await self.act(role, game, bet(chips))
        except CaseAborted:
            if self.deviations[-1].clause in TURN_CLAUSES:
                self.deviations.remove(seen)

    def add_violation(self, violation: Violation, game: Game | None = None) -> HttpDeviation:
        """Record what a referee has found, with the names of the players in place of their GUIDs.

        A player who is missing in the `game`, and has joined another one, has lost the seat by that (3.8).
        """
        expected, actual = violation.allowed, violation.found
        is_lost_seat = game is not None and violation.clause == "holdem-5.8" and self._plays_elsewhere(game)
        for player, name in self._names.items():
            expected, actual = expected.replace(player, name), actual.replace(player, name)
        return self.add_deviation("holdem-3.8" if is_lost_seat else violation.clause, expected, actual)

    def _plays_elsewhere(self, game: Game) -> bool:
        """Whether a player who is missing in a game has a seat in another one."""
        shown = {player.player_id for player in game.table}
        missing = {seat.role for seat in self.joined_seats if seat.game == game.game_id and seat.player_id not in shown}
        return any(seat.role in missing and seat.game != game.game_id for seat in self.joined_seats)

    async def act(self, role: str, game: str, act: Mapping[str, Any] | bytes) -> ReceivedResponse:
        """Send an act: an object, or raw bytes."""
        body = act if isinstance(act, bytes) else encode(act)
        return await self.request(role, "POST", f"/games/{game}/players/{self.player_id(role, game)}/acts/", body)

    def require_success(self, response: ReceivedResponse, clause: str, status: int) -> None:
        """Require success. Another status of success is recorded as a deviation, a refusal raises CaseAborted."""
        if response.status != status:
            self.add_status_deviation(clause, status, response)
        if not 200 <= response.status < 300:
            raise CaseAborted

    def require_seat(self, response: ReceivedResponse) -> None:
        """Require that a join got a seat. Raises CaseAborted."""
        if self.dialect == "hspe-go":
            self.require_success(response, "holdem-7.2", 202)
        else:
            self.require_success(response, "holdem-3.5", 201)

    def require_guid(self, role: str, response: ReceivedResponse, clause: str, opened: JoinedSeat | None = None) -> str:
        """Return the GUID of a response to a role, however it is written. Raises CaseAborted if there is none.

        The document does not define the body of POST /games/ (3.3), which has `opened` a game with a seat for the role:
        another body than the GUID of the player is a choice.
        """
        found = self._joined_player(role, response) if opened is None else opened.player_id
        if self.dialect == "readme" and response.body.strip() != f'"{found}"'.encode():
            expected = "a GUID as a JSON string" if opened is None else "the GUID of the player as a JSON string"
            wanted = f'"{found}"'.encode() if found else None
            outcome = None if opened is None else Outcome.CHOICE
            self.add_deviation(clause, expected, response.summary, outcome, wanted=wanted, got=response.body)
        if not found:
            raise CaseAborted
        self.add_deviations(guid_errors(found, "playerID"))
        return found

    def _joined_player(self, role: str, response: ReceivedResponse) -> str:
        """Return the GUID in a response to a role, also that of its player in a Game; "" if there is none."""
        with suppress(Violation):
            return read_guid(response.body)
        players = [player for game in parse_game(response.body, self.dialect).games for player in game.table]
        return next((player.player_id for player in players if player.handle == self.user(role).name), "")
