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

ARRIVALS_PER_SECOND: Final = 500
"""How many players arrive in a second by default."""

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
class Load:
    """How many players play, how often they act, and for how long."""

    players: int = 10
    """Number of players, each with a connection of its own."""

    seconds: float = 10.0
    """Seconds to measure."""

    rate: float | None = None
    """Open loop: acts per second of each player, due at random times that do not wait for the server. Without it the
    loop is closed: a player acts when the last act is answered."""

    games: int = 100
    """Games after which a player leaves and comes again. Old Maid: always 1."""

    answer_seconds: float = 10.0
    """Seconds to wait for an answer, and for a connection."""

    ramp_seconds: float | None = None
    """Seconds in which the players arrive one after another. [default: 500 players a second]"""

    warmup_seconds: float = 0.0
    """Seconds to play before the measurement begins."""

    processes: int = 1
    """Number of processes of the generator."""

    seed: int = 1
    """Seed of the bots and of the times at which acts are due."""

    strict: bool = False
    """Count as errors what the protocol only tolerates."""


@dataclass(frozen=True, kw_only=True)
class Plan(Load):
    """The load on one server. It can be pickled: every process of the generator gets it.

    `server` is HOST:PORT, or the URL of a hold'em server. `options` are those of the room's clients. `table_players`
    players share a table, in rooms with tables for several players.
    """

    room_name: str
    server: str
    bot: Contestant
    options: Any
    tls: TlsOptions
    table_players: int = 1

    @property
    def room(self) -> Room:
        """The room."""
        return ROOMS[self.room_name]

    def share(self, process: int) -> range:
        """The numbers of the players of a process. The players of a table are in one process.

        >>> from croupier.clients.contestants import Contestant
        >>> bot = Contestant("oldmaid", "first", "built-in", "first")
        >>> plan = Plan(room_name="oldmaid", server=":1", bot=bot, options=None, tls=TlsOptions(),
        ...     players=10, table_players=4, processes=2)
        >>> plan.share(0), plan.share(1)
        (range(0, 4), range(4, 10))
        """
        crews = -(-self.players // self.table_players)
        first, end = (crews * number // self.processes for number in (process, process + 1))
        return range(first * self.table_players, min(self.players, end * self.table_players))

    def arrival(self, player: int) -> float:
        """The time after the start at which a player arrives, in seconds; those of a table arrive together."""
        ramp_seconds = self.players / ARRIVALS_PER_SECOND if self.ramp_seconds is None else self.ramp_seconds
        return ramp_seconds * (player - player % self.table_players) / self.players

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
