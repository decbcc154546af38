"""A visit to a server under test: users who have come for one case, what they ask and hear, and where they sit."""

import asyncio
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Any, Final

from msgspec.json import encode

from croupier.conformance.conversation import DialogueLine
from croupier.conformance.holdem.deviations import CaseAborted, Deviation, NotReached, default_outcome
from croupier.conformance.holdem.endpoint import JoinedSeat, ServerUnderTest, ServerUser
from croupier.conformance.holdem.http_client import (
    HttpClient,
    ReceivedResponse,
    ResponseError,
    ResponseTimeout,
    SentRequest,
)
from croupier.conformance.holdem.schema import SchemaError, guid_errors, parse_game, parse_games
from croupier.conformance.results import Outcome
from croupier.core.errors import Violation
from croupier.core.referee import CLIENT, HOUSE
from croupier.rooms.holdem.observed.state_reader import read_guid
from croupier.rooms.holdem.wire import Game

NOBODY: Final = "nobody"
"""The role that has no credentials."""

MAX_TURN_FRACTION: Final = 0.8
"""When so much of a turn has passed in which nobody could act, it may be over."""


class HoldemContext:
    """What happens for one case. Roles (`ann`) are played by users with names of their own (`ann-3f9c81d0`).

    What is asked and heard is in `lines`; every departure is in `departures`, whether or not the case is about it.
    """

    def __init__(self, server: ServerUnderTest, timeout: float | None = None) -> None:
        self.server = server
        self.timeout = timeout  # how many seconds all of it may take, None without a limit
        self.dialect = server.dialect
        self.lines: list[DialogueLine] = []
        self.deviations: list[Deviation] = []
        self.users: dict[str, ServerUser] = {}
        self.joined_seats: list[JoinedSeat] = []
        self.has_timed_out = False  # whether something was not answered for as long as there was patience
        self._last_request_at = 0.0  # when something was asked last
        self._last_change_at = 0.0  # when something was asked last by which a turn may have begun
        self._longest_gap_seconds = 0.0  # how many seconds have passed behind such a deed, at most
        self._clients: dict[str, HttpClient] = {}
        self._busy_roles: set[str] = set()
        self._games: set[str] = set()

    async def close(self) -> None:
        """Leave all games, hang up, and let others have the users."""
        try:
            for place in [*self.joined_seats]:
                try:
                    await self.leave(place)
                except (CaseAborted, OSError):
                    break
            stuck = {place.role for place in self.joined_seats}
            for role, user in self.users.items():
                if user.guid and role not in stuck:
                    self.server.idle_users[role].append(user)
            self.server.games_in_use -= self._games
            for caller in self._clients.values():
                await caller.close()
        finally:
            for caller in self._clients.values():
                caller.abort()

    # What is wrong.

    def add_deviation(
        self,
        clause: str,
        expected: str,
        actual: str,
        outcome: Outcome | None = None,
        *,
        wanted: bytes | None = None,
        got: bytes = b"",
    ) -> Deviation:
        """A departure from a clause; what comes of it is what the clause says unless an outcome is given."""
        found = Deviation(
            clause,
            outcome or default_outcome(clause),
            expected,
            actual,
            wanted,
            got or self.last_response,
            len(self.lines),
        )
        self.deviations.append(found)
        return found

    def add_schema_errors(self, errors: Sequence[SchemaError]) -> None:
        """Departures in form."""
        for slip in errors:
            self.add_deviation(slip.clause, slip.expected, slip.actual, slip.outcome)

    @property
    def turn_may_have_expired(self) -> bool:
        """Whether it was so slow, wherever that comes from, that somebody's turn may have ended by itself."""
        return self._longest_gap_seconds > MAX_TURN_FRACTION * self.server.turn_seconds

    def add_response_error(self, error: ResponseError, expected: str = "an answer of HTTP/1.1") -> None:
        """Something was answered by nothing that is an answer."""
        self.has_timed_out = self.has_timed_out or isinstance(error, ResponseTimeout)
        self.add_deviation("holdem-1.8", expected, f"{error}", Outcome.FAIL)

    @property
    def last_response(self) -> bytes:
        """The last thing that was heard, as bytes."""
        return next((line.data for line in reversed(self.lines) if line.side == HOUSE), b"")

    # Asking.

    async def request(
        self,
        role: str,
        method: str,
        path: str,
        body: bytes = b"",
        headers: Mapping[str, str] | None = None,
        *,
        piece_bytes: int = 0,
        timeout: float | None = None,
    ) -> ReceivedResponse:
        """Somebody asks something. Raises Broken, with a departure, where no answer comes that is one."""
        question = SentRequest(method, path, self.with_credentials(role, headers or {}), body)
        caller = self.idle_client(role)
        self.record_request(question)
        self._busy_roles.add(role)
        try:
            answer = await caller.request(question, piece_bytes=piece_bytes, timeout=timeout)
        except ResponseError as error:
            self.add_response_error(error)
            raise CaseAborted from None
        finally:
            self._busy_roles.discard(role)
        answer = self.record_response(answer)
        signed = dict(question.headers).get("Authorization")
        role = next((name for name, user in self.users.items() if user.auth_header[1] == signed), role)
        self._track_seats(role, question, answer)
        return answer

    def record_request(self, request: SentRequest) -> None:
        """A request goes into the dialogue."""
        self._add_line(CLIENT, request.render(), f"{request.method} {request.path}")

    def record_response(self, response: ReceivedResponse) -> ReceivedResponse:
        """An answer goes into the dialogue as it came: what is meant by it."""
        self.server.has_answered = True
        asked = next((line.message for line in reversed(self.lines) if line.side == CLIENT), "")
        self.server.features.record_response(asked, response)
        self._add_line(HOUSE, response.render(), response.summary)
        return response if self.server.detected_dialect is None else self.server.detected_dialect.read(asked, response)

    def _add_line(self, side: int, data: bytes, message: str) -> None:
        now = asyncio.get_running_loop().time()
        if side == CLIENT:
            self._last_request_at = now
        if self.joined_seats:
            self._longest_gap_seconds = max(self._longest_gap_seconds, now - self._last_change_at)
        self.lines.append(DialogueLine(side, data, message, now))

    def idle_client(self, role: str) -> HttpClient:
        """A connection of a role on which nothing is waited for."""
        name = role if role not in self._busy_roles else f"{role}/{len(self._clients)}"
        if name not in self._clients:
            self._clients[name] = self.server.new_client()
        return self._clients[name]

    def with_credentials(self, role: str, headers: Mapping[str, str]) -> tuple[tuple[str, str], ...]:
        """The headers of a request, with the credentials of its role unless others are given."""
        if role == NOBODY or "Authorization" in headers:
            return tuple(headers.items())
        return (self.user(role).auth_header, *headers.items())

    def user(self, role: str) -> ServerUser:
        """The user who plays a role; one who is not known to the server yet, where none was enrolled."""
        if role not in self.users:
            self.users[role] = ServerUser(self.server.new_name(role))
        return self.users[role]

    def _track_seats(self, role: str, request: SentRequest, response: ReceivedResponse) -> None:
        """Keep in mind who sits where."""
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
            case "POST", ["games", game, "players"]:
                self._record_seat(role, game, response)
            case "DELETE", ["games", game, "players", player]:
                self.joined_seats = [
                    place for place in self.joined_seats if (place.game, place.player_id) != (game, player)
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
        self.joined_seats.append(JoinedSeat(role, game, player))

    def opened_game(self, response: ReceivedResponse) -> str:
        """The GUID of the game that POST /games/ has made, "" where it is not told."""
        where = response.headers.get("location", "").rstrip("/").rpartition("/")[2]
        shown = parse_game(response.body, self.dialect).games
        return where or (shown[0].game_id if shown else "")

    # What nearly every case begins with. What is wrong with it is found by cases of its own, and not in the way here.

    async def register(self, *roles: str) -> None:
        """Users for these roles. Raises Broken where the server makes none."""
        for role in roles:
            if role in self.users:
                continue
            if self.server.idle_users[role]:
                self.users[role] = self.server.idle_users[role].pop()
                continue
            user = self.user(role)
            answer = await self.request(role, "POST", "/users/")
            self.require_success(answer, "holdem-2.2", 201)
            user.guid = self.require_guid(answer, "holdem-2.2")

    async def claim_empty_game(self) -> str:
        """A game in which nobody sits, for this visit alone; "" where one has to be made."""
        for game in await self.list_games():
            if not game.table and game.game_id not in self.server.games_in_use:
                self.server.games_in_use.add(game.game_id)
                self._games.add(game.game_id)
                return game.game_id
        return ""

    async def seat(self, *roles: str, game: str = "") -> str:
        """Let users sit down at a game of their own, in this order: its GUID. Raises Broken or Unshown."""
        await self.register(*roles)
        game = game or await self.open_game(roles[0]) or await self.claim_empty_game()
        if not game:
            raise NotReached("no game is to be had in which nobody sits, and POST /games/ makes none")
        for role in roles:
            if not any(place.role == role and place.game == game for place in self.joined_seats):
                answer = await self.request(role, "POST", f"/games/{game}/players/")
                self.require_seat(answer)
        return game

    async def seat_and_find_turn(self, *roles: str) -> tuple[str, str]:
        """Let users sit down at a game of their own: its GUID, and the role whose turn it is. As `seat`."""
        game = await self.seat(*roles)
        role = self.role_to_act(await self.get_game(NOBODY, game))
        if not role:
            raise NotReached("it is nobody's turn, although two sit at the table")
        return game, role

    async def open_game(self, role: str) -> str:
        """A game that this role makes, and sits in; "" where the server makes none."""
        if self.server.can_open_games:
            answer = await self.request(role, "POST", "/games/")
            if answer.status < 300 and (game := self.opened_game(answer)):
                return game
            self.server.can_open_games = False
        return ""

    async def leave(self, seat: JoinedSeat) -> ReceivedResponse:
        """Leave a game."""
        return await self.request(seat.role, "DELETE", f"/games/{seat.game}/players/{seat.player_id}")

    def role_to_act(self, shown: Game) -> str:
        """The role whose turn it is; "" where it is nobody's of ours."""
        whose = (shown.game_id, shown.turn.player_id)
        return next((place.role for place in self.joined_seats if (place.game, place.player_id) == whose), "")

    def player_id(self, role: str, game: str) -> str:
        """The playerID of a role in a game, or its GUID as a user while it has none there."""
        found = [place.player_id for place in self.joined_seats if (place.role, place.game) == (role, game)]
        return found[0] if found else self.user(role).guid

    async def list_games(self) -> Sequence[Game]:
        """All games, as everybody sees them. Raises Broken where they cannot be read."""
        answer = await self.request(NOBODY, "GET", "/games/")
        self.require_success(answer, "holdem-5.1", 200)
        shown = parse_games(answer.body, self.dialect)
        self.add_schema_errors(shown.errors)
        if not shown.games and shown.errors:
            raise CaseAborted
        return shown.games

    async def get_game(self, role: str, game: str) -> Game:
        """A game as a role sees it. Raises Broken where it cannot be read."""
        answer = await self.request(role, "GET", f"/games/{game}")
        self.require_success(answer, "holdem-5.2", 200)
        return self.require_game(answer)

    def require_game(self, response: ReceivedResponse) -> Game:
        """The Game of an answer; departures in its form are noted. Raises Broken where there is none."""
        shown = parse_game(response.body, self.dialect)
        self.add_schema_errors(shown.errors)
        if not shown.games:
            raise CaseAborted
        return shown.games[0]

    async def act(self, role: str, game: str, act: Mapping[str, Any] | bytes) -> ReceivedResponse:
        """Act: an object, or bytes that are none."""
        body = act if isinstance(act, bytes) else encode(act)
        return await self.request(role, "POST", f"/games/{game}/players/{self.player_id(role, game)}/acts/", body)

    def require_success(self, response: ReceivedResponse, clause: str, status: int) -> None:
        """Whether something was done: another success than the page has is a departure, a refusal raises Broken."""
        if response.status != status:
            self.add_deviation(clause, f"status {status}", response.summary, got=response.render())
        if not 200 <= response.status < 300:
            raise CaseAborted

    def require_seat(self, response: ReceivedResponse) -> None:
        """Whether somebody was given a free seat. Raises Broken."""
        if self.dialect == "hspe-go":
            self.require_success(response, "holdem-7.2", 202)
        else:
            self.require_success(response, "holdem-3.5", 201)

    def require_guid(self, response: ReceivedResponse, clause: str) -> str:
        """The GUID of an answer, however it is told. Raises Broken where there is none."""
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
