"""The context of one case: the games and seats of its users, and the steps that nearly all cases share."""

import asyncio
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Any, Final

from msgspec.json import encode

from croupier.conformance.channel.delivery import WHOLE, Delivery
from croupier.conformance.channel.http import ReceivedResponse, SentRequest
from croupier.conformance.holdem.deviations import CaseAborted, NotReached
from croupier.conformance.holdem.endpoint import JoinedSeat, ServerUnderTest
from croupier.conformance.holdem.exchange import NOBODY, Exchange
from croupier.conformance.holdem.schema import guid_errors, parse_game, parse_games
from croupier.conformance.results import Outcome
from croupier.core.errors import Violation
from croupier.rooms.holdem.observed.state_reader import read_guid
from croupier.rooms.holdem.wire import Game

NO_FREE_GAME: Final = "there is no game without players, and POST /games/ creates none"
"""Why a case that needs a game of its own cannot be played."""

PAUSE_POLL_SECONDS: Final = 0.05
MAX_PAUSE_POLLS: Final = 40
"""After its usual pause a server that pauses between hands is polled this often until it has dealt the next one."""


class HoldemContext(Exchange):
    """The context of one case: the exchange with the server, and where the roles sit."""

    def __init__(self, server: ServerUnderTest, timeout: float | None = None) -> None:
        super().__init__(server)
        self.timeout = timeout  # time limit in seconds, None without a limit
        self._games: set[str] = set()
        self._unnamed_openers: list[str] = []  # roles with a seat in a game that POST /games/ did not name
        self._is_closing = False

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
        answered = await self.send(role, sent, delivery=delivery, timeout=timeout)
        request, response = answered.request, answered.response
        authorization = dict(request.headers).get("Authorization")
        role = next((name for name, user in self.users.items() if user.auth_header[1] == authorization), role)
        self._track_seats(role, request, response)
        if method != "GET" and self.server.pause_seconds and not self._is_closing and 200 <= response.status < 300:
            await self._await_next_hand(request.path)
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
            self.add_status_deviation(clause, status, response)
        if not 200 <= response.status < 300:
            raise CaseAborted

    def require_refusal(self, response: ReceivedResponse, clause: str, status: int) -> None:
        """Require that a request was refused; another status of refusal is a choice."""
        if response.status != status:
            outcome = Outcome.CHOICE if response.status >= 400 else None
            self.add_status_deviation(clause, status, response, outcome)

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
