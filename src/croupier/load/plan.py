"""What a load generator does: which players play where, how often they act, and for how long."""

from collections.abc import Iterator
from dataclasses import dataclass
from random import Random
from typing import Any, Final

from croupier.clients.contestants import Contestant
from croupier.clients.tls import TlsOptions
from croupier.core.room import Room
from croupier.load.pace import Pace, make_pace
from croupier.rooms import ROOMS
from croupier.rooms.holdem.wire import Dialect as HoldemDialect
from croupier.rooms.oldmaid.wire import Dialect as OldMaidDialect

FIRST_DELAY_SECONDS: Final = 0.1
MAX_DELAY_SECONDS: Final = 2.0
"""A player that was interrupted waits before it comes again; the delay doubles with each failure, up to the maximum."""


@dataclass(frozen=True)
class HoldemOptions:
    """The options of hold'em players."""

    dialect: HoldemDialect | None = None
    """Protocol dialect of the server. [default: detected]"""


@dataclass(frozen=True)
class OldMaidOptions:
    """The options of Old Maid players."""

    dialect: OldMaidDialect = "document"
    """Format in which the table lists the players."""


@dataclass(frozen=True)
class Plan:
    """The load on one server. It can be pickled: every process of the generator gets it.

    `server` is HOST:PORT, or the URL of a hold'em server. `rate` is the number of acts per second of each player in the
    open loop; None is the closed loop, in which a player acts when the last act is answered. Players leave after
    `games` games, and come again. `table_players` players share a table, in rooms with tables for several players.
    `answer_seconds` is the time that the server has for an answer. The players arrive one after another during the
    first `ramp_seconds`. What happens in the first `warmup_seconds` is not measured; `seconds` begin after them.
    `options` are those of the room's clients.
    """

    room_name: str
    server: str
    bot: Contestant
    options: Any
    tls: TlsOptions
    players: int = 10
    seconds: float = 10.0
    rate: float | None = None
    games: int = 100
    table_players: int = 1
    answer_seconds: float = 10.0
    ramp_seconds: float = 0.0
    warmup_seconds: float = 0.0
    seed: int = 1
    strict: bool = False
    processes: int = 1

    @property
    def room(self) -> Room:
        """The room."""
        return ROOMS[self.room_name]

    def share(self, process: int) -> range:
        """The numbers of the players of a process. The players of a table are in one process.

        >>> from croupier.clients.contestants import Contestant
        >>> plan = Plan("oldmaid", ":1", Contestant("oldmaid", "first", "built-in", "first"), None, TlsOptions(),
        ...     players=10, table_players=4, processes=2)
        >>> plan.share(0), plan.share(1)
        (range(0, 4), range(4, 10))
        """
        crews = -(-self.players // self.table_players)
        first, end = (crews * number // self.processes for number in (process, process + 1))
        return range(first * self.table_players, min(self.players, end * self.table_players))

    def arrival(self, player: int) -> float:
        """The time after the start at which a player arrives, in seconds; those of a table arrive together."""
        return self.ramp_seconds * (player - player % self.table_players) / self.players

    def tables(self, numbers: range) -> Iterator[range]:
        """Yield the numbers of the players of each table, of those of a process."""
        for first in numbers[:: self.table_players]:
            yield range(first, min(first + self.table_players, numbers.stop))

    def pace(self, players: range, start: float) -> Pace:
        """Return the pace of the players of a table, or of a single player, from `start` on."""
        rate = None if self.rate is None else self.rate * len(players)
        return make_pace(rate, start, Random(f"{self.seed} {players.start}"))  # noqa: S311 -- no secret


def retry_delay(failures: int) -> float:
    """The seconds before a player comes again, after this number of failures in a row.

    >>> [retry_delay(failures) for failures in (0, 1, 2, 10)]
    [0.0, 0.1, 0.2, 2.0]
    """
    return min(FIRST_DELAY_SECONDS * 2 ** (min(failures, 10) - 1), MAX_DELAY_SECONDS) if failures else 0.0
