"""The context of one case: its users on the server, the dialogue, seats, and recorded deviations."""

import asyncio
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Any, Final

from msgspec.json import encode

from croupier.conformance.channel.delivery import WHOLE, Delivery
from croupier.conformance.channel.http import HttpMessage, ReceivedResponse, SentRequest
from croupier.conformance.conversation import DialogueLine
from croupier.conformance.holdem.deviations import CaseAborted, Deviation, NotReached, default_outcome
from croupier.conformance.holdem.endpoint import JoinedSeat, ServerUnderTest, ServerUser
from croupier.conformance.holdem.hidden_cards import leaked_hand
from croupier.conformance.holdem.http_client import HttpClient, ResponseError, ResponseTimeout
from croupier.conformance.holdem.schema import SchemaError, guid_errors, parse_game, parse_games
from croupier.conformance.results import Outcome
from croupier.core.errors import FoundKind, Violation
from croupier.core.referee import CLIENT, HOUSE
from croupier.rooms.holdem.observed.state_reader import read_guid
from croupier.rooms.holdem.wire import Game

NOBODY: Final = "nobody"
"""The role without credentials."""

NO_FREE_GAME: Final = "there is no game without players, and POST /games/ creates none"
"""Why a case that needs a game of its own cannot be played."""

PAUSE_POLL_SECONDS: Final = 0.05
MAX_PAUSE_POLLS: Final = 40
"""After its usual pause a server that pauses between hands is polled this often until it has dealt the next one."""

REDIRECT_STATUSES: Final = frozenset({301, 302, 307, 308})

MAX_TURN_FRACTION: Final = 0.8
"""After this part of a turn without a request the turn may have expired."""


class HoldemContext:
    """The context of one case. Roles (`ann`) are played by users with fresh names (`ann-034210988`).

    `lines` is the dialogue. `deviations` has every deviation, whether or not the case is about its clause.
    """

    def __init__(self, server: ServerUnderTest, timeout: float | None = None) -> None:
        self.server = server
        self.timeout = timeout  # time limit in seconds, None without a limit
        self.dialect = server.dialect
        self.lines: list[DialogueLine] = []
        self.deviations: list[Deviation] = []
        self.users: dict[str, ServerUser] = {}
        self.joined_seats: list[JoinedSeat] = []
        self.has_timed_out = False  # whether a response timed out
        self._last_request = SentRequest("", "")
        self._last_request_at = 0.0  # the time of the last request
        self._last_change_at = 0.0  # the time of the last request that may have begun a turn
        self._longest_gap_seconds = 0.0  # the longest time after such a request
        self._clients: dict[str, HttpClient] = {}
        self._busy_roles: set[str] = set()
        self._games: set[str] = set()
        self._unnamed_openers: list[str] = []  # roles with a seat in a game that POST /games/ did not name
        self._is_closing = False
        self.responses: list[tuple[str, ReceivedResponse]] = []  # with the role to which each was sent
        self.redirects: list[str] = []  # redirects that were followed

    async def close(self) -> None:
        """Leave all games, close the connections, and return the users to the pool."""
        self._is_closing = True
        try:
            for role in [*self._unnamed_openers]:
                with suppress(CaseAborted, OSError):
                    await self._find_opened_game(role)
            for seat in [*self.joined_seats]:
                try:
                    await self.leave(seat)
                except (CaseAborted, OSError):
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

    # Deviations.

    def add_deviation(
        self,
        clause: str,
        expected: str,
        actual: str,
        outcome: Outcome | None = None,
        *,
        wanted: bytes | None = None,
        got: bytes = b"",
        kind: FoundKind = FoundKind.MESSAGE,
    ) -> Deviation:
        """Record a deviation from a clause; without an outcome the clause decides it."""
        found = Deviation(
            clause,
            outcome or default_outcome(clause),
            expected,
            actual,
            wanted,
            got,
            len(self.lines),
            kind,
        )
        self.deviations.append(found)
        return found

    def add_schema_errors(self, errors: Sequence[SchemaError]) -> None:
        """Record deviations in form."""
        for error in errors:
            self.add_deviation(error.clause, error.expected, error.actual, error.outcome)

    @property
    def turn_may_have_expired(self) -> bool:
        """Whether so much time passed, on either side, that a turn may have expired."""
        return self._longest_gap_seconds > MAX_TURN_FRACTION * self.server.turn_seconds

    def add_response_error(self, error: ResponseError, expected: str = "an HTTP/1.1 response") -> None:
        """Record that no valid response was received."""
        if isinstance(error, ResponseTimeout):
            self.has_timed_out = True
            self.server.answer_timeout.record_silence()
        kind = FoundKind.SILENCE if isinstance(error, ResponseTimeout) else FoundKind.MESSAGE
        self.add_deviation("holdem-1.8", expected, f"{error}", Outcome.FAIL, kind=kind)

    def check_hidden_cards(
        self, hands: Mapping[str, Sequence[str]], first_response: int = 0, board: Sequence[str] = ()
    ) -> None:
        """Search the responses from number `first_response` on for the hole cards of another role.

        `hands` are the hole cards of the roles in the running hand.
        """
        for role, response in self.responses[first_response:]:
            others = {other: hand for other, hand in hands.items() if other != role}
            player, hand = leaked_hand(response.body, {*hands.get(role, ()), *board}, others)
            if player:
                found = f"{', '.join(hand)} of {player}"
                self.add_deviation("holdem-5.6", f"no hole cards of others for {role}", found)
                return

    # Requests.

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
        """Send a request as a role and return the response.

        Raises CaseAborted, after recording a deviation, if no valid response arrives.
        """
        request = SentRequest(method, path, self.with_credentials(role, headers or {}), body)
        client = self.idle_client(role)
        self.record_request(request, request.encode(client.host))
        self._busy_roles.add(role)
        try:
            response = await client.request(request, delivery=delivery, timeout=timeout)
        except ResponseError as error:
            self.add_response_error(error)
            raise CaseAborted from None
        finally:
            self._busy_roles.discard(role)
        response = self.record_response(response)
        self.responses.append((role, response))
        where = response.headers.get("location", "")
        if response.status in REDIRECT_STATUSES and where.startswith("/") and where != path:
            self.redirects.append(f"{response.status}, and {path} is at {where}")
            return await self.request(role, method, where, body, headers, delivery=delivery, timeout=timeout)
        authorization = dict(request.headers).get("Authorization")
        role = next((name for name, user in self.users.items() if user.auth_header[1] == authorization), role)
        self._track_seats(role, request, response)
        if method != "GET" and self.server.pause_seconds and not self._is_closing and 200 <= response.status < 300:
            await self._await_next_hand(path)
        return response

    async def _await_next_hand(self, path: str) -> None:
        """Wait until the next hand is dealt after a request that may have ended one, at a server that pauses then."""
        match path.strip("/").split("/"):
            case ["games", game, "players", *_]:
                pass
            case _:
                return
        if await self._has_turn_or_is_gone(game):
            return
        await asyncio.sleep(self.server.pause_seconds)
        for _ in range(MAX_PAUSE_POLLS):
            seated = {seat.role for seat in self.joined_seats if seat.game == game}
            if await self._has_turn_or_is_gone(game) or len(seated) < 2:
                break
            await asyncio.sleep(PAUSE_POLL_SECONDS)
        self._last_change_at = self._last_request_at

    async def _has_turn_or_is_gone(self, game: str) -> bool:
        """Whether it is some player's turn in a game, or there is no such game any more."""
        response = await self.request(NOBODY, "GET", f"/games/{game}")
        shown = parse_game(response.body, self.dialect).games
        return not shown or bool(shown[0].turn.player_id)

    def record_request(self, request: SentRequest, data: bytes) -> None:
        """Add a request to the dialogue, with its bytes."""
        self._last_request = request
        self._add_line(CLIENT, data, request)

    def record_response(self, response: ReceivedResponse) -> ReceivedResponse:
        """Add a response to the dialogue as received; return it as the detected dialect reads it."""
        self.server.answer_timeout.record_answer(asyncio.get_running_loop().time() - self._last_request_at)
        request = self._last_request
        self.server.features.record_response(request, response)
        self._add_line(HOUSE, response.data, response)
        dialect = self.server.detected_dialect
        return response if dialect is None else dialect.read(f"{request.method} {request.path}", response)

    def _add_line(self, side: int, data: bytes, message: HttpMessage) -> None:
        now = asyncio.get_running_loop().time()
        if side == CLIENT:
            self._last_request_at = now
        if self.joined_seats:
            self._longest_gap_seconds = max(self._longest_gap_seconds, now - self._last_change_at)
        self.lines.append(DialogueLine(side, data, message, now))

    def idle_client(self, role: str) -> HttpClient:
        """Return a client of a role that is not waiting for a response."""
        name = role if role not in self._busy_roles else f"{role}/{len(self._clients)}"
        if name not in self._clients:
            self._clients[name] = self.server.new_client()
        return self._clients[name]

    def with_credentials(self, role: str, headers: Mapping[str, str]) -> tuple[tuple[str, str], ...]:
        """Return headers with the credentials of the role, unless others are given."""
        if role == NOBODY or "Authorization" in headers:
            return tuple(headers.items())
        return (self.user(role).auth_header, *headers.items())

    def user(self, role: str) -> ServerUser:
        """Return the user who plays a role; a new one has a name, but is not registered."""
        if role not in self.users:
            self.users[role] = ServerUser(self.server.new_name(role))
        return self.users[role]

    def _track_seats(self, role: str, request: SentRequest, response: ReceivedResponse) -> None:
        """Track users, games and seats from a successful request."""
        path = request.path.partition("?")[0].strip("/").split("/")
        if not 200 <= response.status < 300:
            return
        if request.method != "GET":
            self._last_change_at = self._last_request_at
        match request.method, path:
            case "POST", ["users"] if role in self.users:
                with suppress(Violation):
                    self.users[role].guid = read_guid(response.body)
            case "POST", ["games"]:
                game = self.opened_game(response)
                if game:
                    self._games.add(game)
                    self.server.games_in_use.add(game)
                    self._record_seat(role, game, response)
                elif role in self.users:
                    self._unnamed_openers.append(role)
            case "POST", ["games", game, "players"]:
                self._record_seat(role, game, response)
            case "DELETE", ["games", game, "players", player]:
                self.joined_seats = [
                    seat for seat in self.joined_seats if (seat.game, seat.player_id) != (game, player)
                ]
            case _:
                pass

    def _record_seat(self, role: str, game: str, response: ReceivedResponse) -> None:
        user = self.users.get(role)
        if user is None:
            return
        player = user.guid
        if self.dialect == "readme":
            with suppress(Violation):
                player = read_guid(response.body)
        self._add_seat(JoinedSeat(role, game, player))

    def _add_seat(self, seat: JoinedSeat) -> None:
        """Add a seat; it replaces one that its player has lost in the same game."""
        self.joined_seats = [one for one in self.joined_seats if (one.role, one.game) != (seat.role, seat.game)]
        self.joined_seats.append(seat)

    def opened_game(self, response: ReceivedResponse) -> str:
        """Return the GUID of the game that POST /games/ opened, "" if the response does not name it."""
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
            user.guid = self.require_guid(response, "holdem-2.2")

    async def claim_empty_game(self) -> str:
        """Claim a game without players for this context; return its GUID, "" if there is none."""
        for game in await self.list_games():
            if not game.table and game.game_id not in self.server.games_in_use:
                self.server.games_in_use.add(game.game_id)
                self._games.add(game.game_id)
                return game.game_id
        return ""

    async def seat(self, *roles: str, game: str = "") -> str:
        """Seat roles in a game of their own, in this order; return its GUID. Raises CaseAborted or NotReached."""
        await self.register(*roles)
        game = game or await self.open_game(roles[0]) or await self.claim_empty_game()
        if not game:
            raise NotReached(NO_FREE_GAME)
        for role in roles:
            if not any(seat.role == role and seat.game == game for seat in self.joined_seats):
                response = await self.request(role, "POST", f"/games/{game}/players/")
                self.require_seat(response)
        return game

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
        game = ""
        if response.status < 300:
            game = self.opened_game(response) or await self._find_opened_game(role)
        self.server.can_open_games = bool(game)
        return game

    async def _find_opened_game(self, role: str) -> str:
        """Find in the list the game in which a role sits since POST /games/ did not name it; "" if there is none."""
        self._unnamed_openers.remove(role)
        known = {seat.game for seat in self.joined_seats if seat.role == role}
        for game in await self.list_games():
            for player in game.table:
                if player.handle == self.user(role).name and game.game_id not in known:
                    self._games.add(game.game_id)
                    self.server.games_in_use.add(game.game_id)
                    self._add_seat(JoinedSeat(role, game.game_id, player.player_id))
                    return game.game_id
        return ""

    async def leave(self, seat: JoinedSeat) -> ReceivedResponse:
        """Leave a game."""
        return await self.request(seat.role, "DELETE", f"/games/{seat.game}/players/{seat.player_id}")

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
        self.add_schema_errors(shown.errors)
        if not shown.games and shown.errors:
            raise CaseAborted
        return shown.games

    async def get_game(self, role: str, game: str) -> Game:
        """Return a game as a role sees it. Raises CaseAborted if it cannot be read."""
        response = await self.request(role, "GET", f"/games/{game}")
        self.require_success(response, "holdem-5.2", 200)
        return self.require_game(response)

    def require_game(self, response: ReceivedResponse) -> Game:
        """Parse the Game of a response and record deviations in form. Raises CaseAborted if there is none."""
        shown = parse_game(response.body, self.dialect)
        self.add_schema_errors(shown.errors)
        if not shown.games:
            raise CaseAborted
        return shown.games[0]

    async def act(self, role: str, game: str, act: Mapping[str, Any] | bytes) -> ReceivedResponse:
        """Send an act: an object, or raw bytes."""
        body = act if isinstance(act, bytes) else encode(act)
        return await self.request(role, "POST", f"/games/{game}/players/{self.player_id(role, game)}/acts/", body)

    def require_success(self, response: ReceivedResponse, clause: str, status: int) -> None:
        """Require success. Another status of success is recorded as a deviation, a refusal raises CaseAborted."""
        if response.status != status:
            self.add_deviation(clause, f"status {status}", response.summary)
        if not 200 <= response.status < 300:
            raise CaseAborted

    def require_seat(self, response: ReceivedResponse) -> None:
        """Require that a join got a seat. Raises CaseAborted."""
        if self.dialect == "hspe-go":
            self.require_success(response, "holdem-7.2", 202)
        else:
            self.require_success(response, "holdem-3.5", 201)

    def require_guid(self, response: ReceivedResponse, clause: str) -> str:
        """Return the GUID of a response, however it is written. Raises CaseAborted if there is none."""
        try:
            found = read_guid(response.body)
        except Violation as violation:
            self.add_deviation(clause, "a GUID as a JSON string", violation.found)
            raise CaseAborted from None
        if self.dialect == "readme" and response.body.strip() != f'"{found}"'.encode():
            self.add_deviation(
                clause, "a GUID as a JSON string", response.summary, wanted=f'"{found}"'.encode(), got=response.body
            )
        self.add_schema_errors(guid_errors(found, "playerID"))
        return found
