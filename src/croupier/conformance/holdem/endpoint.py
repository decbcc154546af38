"""The server under test: its address, what is known about it, and the tester's users on it."""

import asyncio
from collections import Counter, defaultdict
from collections.abc import Coroutine, Mapping, Sequence
from contextlib import AsyncExitStack, suppress
from secrets import randbelow
from typing import Any, Final, cast

from msgspec import Struct

from croupier.conformance.conversation import DialogueLine
from croupier.conformance.holdem.deviations import CaseAborted
from croupier.conformance.holdem.dialects import HttpDialect
from croupier.conformance.holdem.features import ServerFeatures
from croupier.conformance.holdem.http_client import HttpClient
from croupier.conformance.holdem.table_settings import TableSettings
from croupier.conformance.parallel import serves
from croupier.conformance.suite import Config, TargetGone
from croupier.conformance.timeouts import AnswerTimeout
from croupier.core.basic_auth import basic_authorization
from croupier.core.referee import HOUSE
from croupier.core.session import Address
from croupier.http.wire import SentRequest
from croupier.rooms.holdem.wire import ACTION_BET, ACTION_FOLD, Dialect

MAX_EMPTY_GAME_SECONDS: Final = 40.0
"""How long cases of a run wait for a game without players, in all."""

OK: Final = 200

LEAVING_CLAUSE: Final = "holdem-3.10"
"""The clause of players who leave."""

PASSWORD: Final = "secret"  # noqa: S105 -- a password for tests


FOLD: Final[Mapping[str, int]] = {"action": ACTION_FOLD}
"""The body of a fold."""


def bet(chips: int) -> Mapping[str, int]:
    """Return the body of a bet."""
    return {"action": ACTION_BET, "betAmount": chips}


class ServerUser(Struct):
    """A user on the server under test. `guid` is "" until the user is registered."""

    name: str
    password: str = PASSWORD
    guid: str = ""

    @property
    def auth_header(self) -> tuple[str, str]:
        """The Authorization header (RFC 7617)."""
        return basic_auth_header(self.name, self.password)


def basic_auth_header(name: str, password: str) -> tuple[str, str]:
    """Return the Authorization header for a name and a password."""
    return "Authorization", basic_authorization(name, password).decode()


class JoinedSeat(Struct):
    """A seat in a game, or a place in its queue."""

    role: str
    game: str
    player_id: str


class ServerUnderTest:
    """The state of one run: the server's address and properties, and the users and games in use.

    `lines_before_end` is the dialogue up to a DELETE after a case at which the server seems to have ended, empty if it
    has not. If `players_stay`, they are in their games after a case, for the server ends when they leave.
    """

    def __init__(self, address: Address, config: Config) -> None:
        self.address = address
        self._ssl = config.ssl
        self._process = config.server
        self.detected_dialect: HttpDialect | None = config.dialect
        self.dialect = cast(Dialect, config.known_dialect("readme"))
        self.answer_timeout = AnswerTimeout(config.timeout)
        self.timeout = self.answer_timeout.for_try()
        self.idle_users: defaultdict[str, list[ServerUser]] = defaultdict(list)
        self.games_in_use: set[str] = set()
        self._run = f"{randbelow(10**9):09}"  # digits can be combined with letters of every script
        self._name_counts: Counter[str] = Counter()
        self.features = ServerFeatures()
        self.can_open_games = True  # whether POST /games/ opens a game, as far as known
        self.empty_game_seconds_left = MAX_EMPTY_GAME_SECONDS
        self.settings: TableSettings = config.learned or TableSettings()
        self.lines_before_end: Sequence[DialogueLine] = ()
        self.players_stay = False
        self.has_dealt_first_button_first = False  # whether a first button was with the player who sat down first
        self.deals_first_button_elsewhere = False  # whether it never is, as far as known
        self.has_shown_order_of_two = False  # whether two players have acted in order before and after a flop

    def open(self, address: Address) -> None:
        """Go on at the address of the server, which was started and knows no users and games of the tester."""
        self.address = address
        self.idle_users.clear()
        self.games_in_use.clear()

    async def make_room(self) -> None:
        """Start the server again if players stay in the only game that there is."""
        if self.players_stay and not self.can_open_games and self._process is not None:
            await self._process.restart()
            self.open(self._process.address)

    def gone(self, error: ConnectionRefusedError, lines: Sequence[DialogueLine], clause: str = "") -> TargetGone:
        """Return the error for a server that takes no connections.

        It has broken the `clause` in a dialogue with these `lines`, if it has answered in it.
        """
        if any(line.side == HOUSE for line in lines):
            return TargetGone(str(error), lines, clause)
        if self.players_stay or not self.lines_before_end:
            return TargetGone(str(error))
        return TargetGone(str(error), self.lines_before_end, LEAVING_CLAUSE)

    def new_client(self) -> HttpClient:
        """Return a client for a new connection."""
        return HttpClient(*self.address, ssl=self._ssl, timeout=self.timeout)

    @property
    def is_shareable(self) -> bool:
        """Whether several cases may play at the same time, and would save time by it."""
        return self.can_open_games and (self.answer_timeout.is_slow or self.settings.pause_seconds > 0)

    async def serves(self, clients: int) -> bool:
        """Whether the server answers this many clients at the same time."""

        async def ask(connections: AsyncExitStack) -> bool:
            client = self.new_client()
            connections.push_async_callback(client.close)
            return (await client.request(SentRequest("GET", "/games/"))).status == OK

        return await serves(clients, ask, self.answer_timeout)

    def new_name(self, role: str) -> str:
        """Return a user name that is new on this server, also across runs.

        The users of two roles whose names look alike have names that look alike if each role had as many before.
        """
        self._name_counts[role] += 1
        count = self._name_counts[role]
        return f"{role}-{self._run}" if count == 1 else f"{role}-{self._run}-{count}"

    async def within_timeout(self, work: Coroutine[Any, Any, None]) -> None:
        """Do what belongs to no case, for no longer than an answer may take."""
        with suppress(TimeoutError, CaseAborted, OSError):
            async with asyncio.timeout(self.timeout):
                await work
