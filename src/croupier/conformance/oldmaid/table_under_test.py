"""The table under test: how it is reached and read, and what the cases of a run have learned about it."""

import asyncio
from typing import cast

from croupier.conformance.channel.streams import Streams, open_streams
from croupier.conformance.fair_deal import DealCounter
from croupier.conformance.oldmaid.dialect import JsonDialect
from croupier.conformance.suite import Config
from croupier.conformance.timeouts import AnswerTimeout, StallTolerantTimeout
from croupier.core.session import Address
from croupier.rooms.oldmaid.cards import CARD_NAMES
from croupier.rooms.oldmaid.wire import Dialect


class TableUnderTest:
    """What is known of the table under test. `table_size` is None until a game has started.

    `largest_group` is the largest number of players that have joined as fast as possible: a smaller game may have begun
    early, since a table need not wait for more than two players (oldmaid-3.11).

    `no_game_reason` says why no game can begin, "" if one can. A case holds `lobby` to be the only one with waiting
    players; `lobby_queue_length` is the number of cases that wait for it. `notice_seconds` is how long the table has
    taken to notice that a waiting player had left, 0 if it does so at once. The table's messages are read by
    `detected_dialect` if there is one. `deals` counts the cards of all games.
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
        self.deals = DealCounter(CARD_NAMES)

    async def connect(self) -> Streams:
        """Connect to the table. Raises ConnectionError."""
        try:
            async with StallTolerantTimeout(self.timeout.max_seconds):
                return await open_streams(*self.address)
        except (OSError, TimeoutError) as error:
            raise ConnectionError(f"no table answers at {self.address[0]}:{self.address[1]}: {error}") from error
