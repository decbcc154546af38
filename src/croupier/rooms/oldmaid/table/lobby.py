"""Lobby of the Old Maid table: its clients and the queue for the next game (docs/protocols/oldmaid.md, section 3)."""

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
"""A valid nick (oldmaid-3.7)."""

MAX_QUEUED_REQUESTS: Final = 16
"""The most requests that a client may queue after its join (oldmaid-3.15)."""

MAPPED_IPV4_PATTERN: Final = re.compile(r"::ffff:(\d+\.\d+\.\d+\.\d+)")
"""An IPv4 address as an IPv6 socket reports it (oldmaid-3.6)."""

UNKNOWN_ADDRESS: Final[Address] = ("", 0)
"""The address of a client whose connection closed before its address could be read."""


class LobbyClient:
    """A client at the table: it has not joined yet, waits for a game, plays in one, or is out of it.

    `source` is the address of its connection, and `address` the one that its right neighbour connects to, from its join
    until the address is released. `game` is its last game and `seat` its seat there. `queued` are the messages received
    while its join waits, None while it does not wait. `idle_since` is when idle time started, in seconds.
    """

    __slots__ = ("address", "game", "idle_since", "nick", "peer", "queued", "seat", "source")

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

    @property
    def is_playing(self) -> bool:
        """Whether the client is in a running game."""
        game = self.game
        return game is not None and not game.is_over and game.is_inside[self.seat]

    def enqueue(self, message: Message | Violation) -> None:
        """Queue a message that was received after the join. Raises Violation if the queue is full."""
        assert self.queued is not None, "the client must be waiting"
        if type(message) is Reply:
            return  # the table asks nothing (oldmaid-2.11)
        if len(self.queued) == MAX_QUEUED_REQUESTS:
            raise Violation(
                "oldmaid-3.15", f"request {MAX_QUEUED_REQUESTS + 1} after a join that waits", f"{MAX_QUEUED_REQUESTS}"
            )
        self.queued.append(message)


class TableLobby:
    """The queue for the next game, in the order of joining, and the addresses in use.

    A game needs `players` clients. `starts_at` is when it starts with fewer, `window` seconds after the second join;
    None while fewer than two wait (oldmaid-3.11).
    """

    def __init__(self, players: int, window: float) -> None:
        self.starts_at: float | None = None
        self._players = players
        self._window = window
        self._queue: dict[str, LobbyClient] = {}
        self._addresses: dict[Address, LobbyClient] = {}

    @property
    def is_full(self) -> bool:
        """Whether enough clients wait for a full game."""
        return len(self._queue) == self._players

    @property
    def waiting_clients(self) -> Sequence[LobbyClient]:
        """The waiting clients, in the order of joining."""
        return tuple(self._queue.values())

    def join(self, client: LobbyClient, join: Join, now: float) -> None:
        """Add a client to the queue. Raises Violation without any change if its nick or address is taken."""
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
        """Remove a client from the queue (oldmaid-3.12)."""
        del self._queue[client.nick]
        if len(self._queue) < MIN_PLAYERS:
            self.starts_at = None

    def seat_waiting(self, game: TableGame) -> tuple[ListedPlayer, ...]:
        """Seat all waiting clients in a game. Returns the list of its players (oldmaid-3.3)."""
        seated = []
        for seat, client in enumerate(self.waiting_clients):
            assert client.address is not None, "a waiting client has an address"
            seated.append((client.address, client.nick))
            client.game, client.seat, client.queued = game, seat, None
        self._queue.clear()
        self.starts_at = None
        return tuple(seated)

    def release_address(self, client: LobbyClient) -> None:
        """Release the address of a client for others (oldmaid-3.9)."""
        if client.address is not None:
            del self._addresses[client.address]
            client.address = None


def check_nick(nick: str) -> None:
    """Raise Violation if a nick is not valid."""
    if not NICK_PATTERN.fullmatch(nick):
        found = f"a nick of {len(nick)} characters: {nick[:64]!r}"
        raise Violation("oldmaid-3.7", found, "1 to 64, and no control characters among them")
