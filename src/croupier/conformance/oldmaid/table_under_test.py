"""The table under test: how it is reached and read, and what the cases of a run have learned about it."""

import asyncio
from contextlib import AsyncExitStack, suppress
from typing import Final, cast

from croupier.conformance.channel.delivery import close_connection
from croupier.conformance.fair_deal import DealCounter
from croupier.conformance.oldmaid.dialect import JsonDialect
from croupier.conformance.parallel import serves
from croupier.conformance.suite import Config
from croupier.conformance.timeouts import AnswerTimeout, StallTolerantTimeout
from croupier.core.session import Address
from croupier.net.streams import Streams, open_streams, random_loopback_host
from croupier.rooms.oldmaid.cards import CARD_NAMES
from croupier.rooms.oldmaid.wire import Dialect, Status

MEASURED_ANSWERS: Final = 3

NOTICE_SECONDS: Final = 5.0
"""The wait for a table to notice that a player has left: it may look only now and then."""

MIN_NOTICE_SECONDS: Final = 0.25
"""The same wait once the table has not noticed one in the whole time."""


class TableUnderTest:
    """What is known of the table under test. `table_size` is None until a game has started.

    `largest_group` is the largest number of players that have joined as fast as possible: a smaller game may have begun
    early, since a table need not wait for more than two players (oldmaid-3.11).

    `no_game_reason` says why no game can begin, "" if one can. A case holds `lobby` to be the only one with waiting
    players; `lobby_queue_length` is the number of cases that wait for it. `notice_seconds` is how long the table has
    taken to notice that a waiting player had left, 0 if it does so at once, `left_at` when those have left, by their
    nicks, and `never_notices` whether one was not noticed in time. `nicks_in_games` have not joined since the start of
    their last game. The table's messages are read by `detected_dialect`
    if there is one. `deals` counts the cards of all games. If it `knows_players_by_host`, each connection comes from
    another loopback address. `open_games` is the number of games with connected players; a table that `plays_one_game`
    lets nobody join as long as there is one.
    """

    def __init__(self, address: Address, config: Config) -> None:
        self.address = address
        self.dialect = cast(Dialect, config.known_dialect())
        self.detected_dialect: JsonDialect | None = config.dialect
        self.strict = config.strict
        self.timeout = AnswerTimeout(config.timeout)
        self.table_size: int | None = None
        self.largest_group = 0
        self.no_game_reason = ""
        self.lobby = asyncio.Lock()
        self.lobby_queue_length = 0
        self.notice_seconds = 0.0
        self.left_at: dict[str, float] = {}
        self.never_notices = False
        self.nicks_in_games: set[str] = set()
        self.deals = DealCounter(CARD_NAMES)
        self.knows_players_by_host = False
        self.open_games = 0
        self.plays_one_game = False

    @property
    def notice_timeout(self) -> float:
        """How long to wait until the table has noticed that a player has left."""
        return MIN_NOTICE_SECONDS if self.never_notices else max(NOTICE_SECONDS, self.timeout.max_seconds)

    @property
    def is_local(self) -> bool:
        """Whether it can be reached from other loopback addresses."""
        return self.address[0].startswith("127.")

    async def connect(self) -> Streams:
        """Connect to the table. Raises ConnectionError."""
        local_host = random_loopback_host() if self.knows_players_by_host else ""
        try:
            async with StallTolerantTimeout(self.timeout.max_seconds):
                return await open_streams(*self.address, local_host=local_host)
        except (OSError, TimeoutError) as error:
            raise ConnectionError(f"no table answers at {self.address[0]}:{self.address[1]}: {error}") from error

    async def measure(self) -> float:
        """Return how long the table takes for an answer: the shortest of a few times; 0 if it answers nothing."""
        clock = asyncio.get_running_loop().time
        seconds: list[float] = []
        for _ in range(MEASURED_ANSWERS):
            with suppress(ConnectionError, TimeoutError):
                async with AsyncExitStack() as connections, asyncio.timeout(self.timeout.max_seconds):
                    asked_at = clock()
                    if await self._ask(connections):
                        seconds.append(clock() - asked_at)
                        self.timeout.record_answer(seconds[-1])
                        continue
            return 0.0
        return min(seconds)

    async def serves(self, clients: int) -> bool:
        """Whether the table answers this many clients at the same time."""
        return await serves(clients, self._ask, self.timeout)

    async def _ask(self, connections: AsyncExitStack) -> bool:
        """Ask for the status on a new connection, which stays open; return whether there is an answer."""
        reader, writer = await self.connect()
        connections.push_async_callback(close_connection, writer)
        writer.write(str(Status()).encode())
        return bool(await reader.read(1 << 16))
