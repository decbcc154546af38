"""Who has come to the table of Old Maid, and who of them waits for the next game (docs/protocols/oldmaid.md, 3)."""

import re
from collections.abc import Sequence
from typing import Final

from croupier.core.errors import Violation
from croupier.core.rules import Seat
from croupier.core.session import Address, Peer
from croupier.rooms.oldmaid.rules import FEWEST
from croupier.rooms.oldmaid.table.game import Game
from croupier.rooms.oldmaid.wire import Join, Message, Reply, Seated

NICK: Final = re.compile(r"[^\x00-\x1f\x7f-\x9f]{1,64}")
"""What may be a nick (oldmaid-3.7)."""

MOST_KEPT: Final = 16
"""So many requests wait behind a join that waits (oldmaid-3.15)."""

MAPPED: Final = re.compile(r"::ffff:(\d+\.\d+\.\d+\.\d+)")
"""An IPv4 address as a socket for IPv6 has it (oldmaid-3.6)."""

NOWHERE: Final[Address] = ("", 0)
"""Where a guest is whose connection was gone before anybody could ask where it comes from."""


class Guest:
    """Somebody at the table: he has not joined yet, waits for a game, plays in one, or is out of it.

    `source` is where he comes from, and `address` where he is reached, from his join until nobody has to reach him any
    more. `game` is the last that he was in, and `seat` his place there. `kept` is what he has said behind a join that
    waits, None while he does not wait. `heard` is since when he is idle, in seconds, if he is; `watched` tells that the
    house will look.
    """

    __slots__ = ("address", "game", "heard", "kept", "nick", "peer", "seat", "source", "watched")

    def __init__(self, peer: Peer, source: Address | None, now: float) -> None:
        host, port = source or NOWHERE
        mapped = MAPPED.fullmatch(host)
        self.peer = peer
        self.source: Address = (mapped[1] if mapped else host), port
        self.address: Address | None = None
        self.nick = ""
        self.game: Game | None = None
        self.seat: Seat = 0
        self.kept: list[Message | Violation] | None = None
        self.heard = now
        self.watched = False

    @property
    def plays(self) -> bool:
        """Whether he is in a game."""
        game = self.game
        return game is not None and not game.over and game.inside[self.seat]

    def keep(self, said: Message | Violation) -> None:
        """Put aside what he has said behind his join. Raises Violation when it is too much."""
        assert self.kept is not None, "only who waits keeps anything"
        if type(said) is Reply:
            return  # nobody has asked (oldmaid-2.11)
        if len(self.kept) == MOST_KEPT:
            raise Violation("oldmaid-3.15", f"request {MOST_KEPT + 1} behind a join that waits", f"{MOST_KEPT}")
        self.kept.append(said)


class Lobby:
    """Those who wait for a game of so many, in the order in which they have joined; and where everybody is reached.

    `due` is when they have waited long enough, `window` seconds after the second one has joined; None while there are
    fewer (oldmaid-3.11).
    """

    __slots__ = ("_addresses", "_players", "_queue", "_window", "due")

    def __init__(self, players: int, window: float) -> None:
        self.due: float | None = None
        self._players = players
        self._window = window
        self._queue: dict[str, Guest] = {}
        self._addresses: dict[Address, Guest] = {}

    @property
    def full(self) -> bool:
        """Whether as many wait as a game is for."""
        return len(self._queue) == self._players

    @property
    def waiting(self) -> Sequence[Guest]:
        """Who waits."""
        return tuple(self._queue.values())

    def join(self, guest: Guest, join: Join, now: float) -> None:
        """Let a guest wait. Raises Violation, and then nothing has changed."""
        host, port = guest.source
        if join.port is not None:
            port = join.port
        if join.nick in self._queue:
            raise Violation("oldmaid-3.8", f"the nick {join.nick!r}, which is taken", "another one")
        if self._addresses.get((host, port), guest) is not guest:
            raise Violation("oldmaid-3.9", f"the address {host} {port}, which is taken", "another one")
        self.release(guest)
        guest.address = host, port
        guest.nick = join.nick
        guest.kept = []
        self._addresses[guest.address] = guest
        self._queue[guest.nick] = guest
        if len(self._queue) == FEWEST:
            self.due = now + self._window

    def leave(self, guest: Guest) -> None:
        """A guest does not wait any more; those behind him move up (oldmaid-3.12)."""
        del self._queue[guest.nick]
        if len(self._queue) < FEWEST:
            self.due = None

    def seat(self, game: Game) -> tuple[Seated, ...]:
        """All who wait sit down to a game: the list of its players (oldmaid-3.3)."""
        seated = []
        for seat, guest in enumerate(self.waiting):
            assert guest.address is not None, "who waits can be reached"
            seated.append((guest.address, guest.nick))
            guest.game, guest.seat, guest.kept = game, seat, None
        self._queue.clear()
        self.due = None
        return tuple(seated)

    def release(self, guest: Guest) -> None:
        """Nobody has to reach this guest any more: others may be reached at his address (oldmaid-3.9)."""
        if guest.address is not None:
            del self._addresses[guest.address]
            guest.address = None


def check_nick(nick: str) -> None:
    """Raise Violation on what is no nick."""
    if not NICK.fullmatch(nick):
        found = f"a nick of {len(nick)} characters: {nick[:64]!r}"
        raise Violation("oldmaid-3.7", found, "1 to 64, and no control characters among them")
