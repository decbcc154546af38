"""Who has come to the table of Old Maid, and who of them waits for the next game (docs/protocols/oldmaid.md, 3)."""

import re
from collections.abc import Sequence
from typing import Final

from croupier.core.errors import Violation
from croupier.core.rules import Seat
from croupier.core.session import Address, Peer
from croupier.rooms.oldmaid.rules import MIN_PLAYERS
from croupier.rooms.oldmaid.table.game import TableGame
from croupier.rooms.oldmaid.wire import Join, ListedPlayer, Message, Reply

NICK_PATTERN: Final = re.compile(r"[^\x00-\x1f\x7f-\x9f]{1,64}")
"""What may be a nick (oldmaid-3.7)."""

MAX_QUEUED_REQUESTS: Final = 16
"""So many requests wait behind a join that waits (oldmaid-3.15)."""

MAPPED_IPV4_PATTERN: Final = re.compile(r"::ffff:(\d+\.\d+\.\d+\.\d+)")
"""An IPv4 address as a socket for IPv6 has it (oldmaid-3.6)."""

UNKNOWN_ADDRESS: Final[Address] = ("", 0)
"""Where a guest is whose connection was gone before anybody could ask where it comes from."""


class LobbyClient:
    """Somebody at the table: he has not joined yet, waits for a game, plays in one, or is out of it.

    `source` is where he comes from, and `address` where he is reached, from his join until nobody has to reach him any
    more. `game` is the last that he was in, and `seat` his place there. `kept` is what he has said behind a join that
    waits, None while he does not wait. `heard` is since when he is idle, in seconds, if he is; `watched` tells that the
    house will look.
    """

    __slots__ = ("address", "game", "has_idle_check", "idle_since", "nick", "peer", "queued", "seat", "source")

    def __init__(self, peer: Peer, source: Address | None, now: float) -> None:
        host, port = source or UNKNOWN_ADDRESS
        mapped = MAPPED_IPV4_PATTERN.fullmatch(host)
        self.peer = peer
        self.source: Address = (mapped[1] if mapped else host), port
        self.address: Address | None = None
        self.nick = ""
        self.game: TableGame | None = None
        self.seat: Seat = 0
        self.queued: list[Message | Violation] | None = None
        self.idle_since = now
        self.has_idle_check = False

    @property
    def is_playing(self) -> bool:
        """Whether he is in a game."""
        game = self.game
        return game is not None and not game.is_over and game.is_inside[self.seat]

    def enqueue(self, message: Message | Violation) -> None:
        """Put aside what he has said behind his join. Raises Violation when it is too much."""
        assert self.queued is not None, "only who waits keeps anything"
        if type(message) is Reply:
            return  # nobody has asked (oldmaid-2.11)
        if len(self.queued) == MAX_QUEUED_REQUESTS:
            raise Violation(
                "oldmaid-3.15", f"request {MAX_QUEUED_REQUESTS + 1} behind a join that waits", f"{MAX_QUEUED_REQUESTS}"
            )
        self.queued.append(message)


class TableLobby:
    """Those who wait for a game of so many, in the order in which they have joined; and where everybody is reached.

    `due` is when they have waited long enough, `window` seconds after the second one has joined; None while there are
    fewer (oldmaid-3.11).
    """

    __slots__ = ("_addresses", "_players", "_queue", "_window", "starts_at")

    def __init__(self, players: int, window: float) -> None:
        self.starts_at: float | None = None
        self._players = players
        self._window = window
        self._queue: dict[str, LobbyClient] = {}
        self._addresses: dict[Address, LobbyClient] = {}

    @property
    def is_full(self) -> bool:
        """Whether as many wait as a game is for."""
        return len(self._queue) == self._players

    @property
    def waiting_clients(self) -> Sequence[LobbyClient]:
        """Who waits."""
        return tuple(self._queue.values())

    def join(self, client: LobbyClient, join: Join, now: float) -> None:
        """Let a guest wait. Raises Violation, and then nothing has changed."""
        host, port = client.source
        if join.port is not None:
            port = join.port
        if join.nick in self._queue:
            raise Violation("oldmaid-3.8", f"the nick {join.nick!r}, which is taken", "another one")
        if self._addresses.get((host, port), client) is not client:
            raise Violation("oldmaid-3.9", f"the address {host} {port}, which is taken", "another one")
        self.release_address(client)
        client.address = host, port
        client.nick = join.nick
        client.queued = []
        self._addresses[client.address] = client
        self._queue[client.nick] = client
        if len(self._queue) == MIN_PLAYERS:
            self.starts_at = now + self._window

    def leave(self, client: LobbyClient) -> None:
        """A guest does not wait any more; those behind him move up (oldmaid-3.12)."""
        del self._queue[client.nick]
        if len(self._queue) < MIN_PLAYERS:
            self.starts_at = None

    def seat_waiting(self, game: TableGame) -> tuple[ListedPlayer, ...]:
        """All who wait sit down to a game: the list of its players (oldmaid-3.3)."""
        seated = []
        for seat, guest in enumerate(self.waiting_clients):
            assert guest.address is not None, "who waits can be reached"
            seated.append((guest.address, guest.nick))
            guest.game, guest.seat, guest.queued = game, seat, None
        self._queue.clear()
        self.starts_at = None
        return tuple(seated)

    def release_address(self, client: LobbyClient) -> None:
        """Nobody has to reach this guest any more: others may be reached at his address (oldmaid-3.9)."""
        if client.address is not None:
            del self._addresses[client.address]
            client.address = None


def check_nick(nick: str) -> None:
    """Raise Violation on what is no nick."""
    if not NICK_PATTERN.fullmatch(nick):
        found = f"a nick of {len(nick)} characters: {nick[:64]!r}"
        raise Violation("oldmaid-3.7", found, "1 to 64, and no control characters among them")
