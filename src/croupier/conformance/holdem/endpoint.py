"""The server under test: how it is reached, and who of ours is known there."""

from base64 import b64encode
from collections import Counter, defaultdict
from secrets import randbelow
from typing import Final

from msgspec import Struct

from croupier.conformance.holdem.dialects import Habit
from croupier.conformance.holdem.features import Having
from croupier.conformance.holdem.requests import Caller
from croupier.rooms.holdem.engine.blinds import BLINDS
from croupier.rooms.holdem.referee import STACK
from croupier.rooms.holdem.wire import Dialect

WINDOW: Final = 15.0
"""How many seconds a player has for an act (holdem-4.15)."""

PASSWORD: Final = "secret"  # noqa: S105 -- it keeps nothing secret


class User(Struct):
    """A user of the server under test. `guid` is what it was told when it was made, "" before."""

    name: str
    password: str = PASSWORD
    guid: str = ""

    @property
    def header(self) -> tuple[str, str]:
        """The Authorization header (RFC 7617)."""
        return basic(self.name, self.password)


def basic(name: str, password: str) -> tuple[str, str]:
    """The Authorization header of a name and a password."""
    return "Authorization", f"Basic {b64encode(f'{name}:{password}'.encode()).decode()}"


class Place(Struct):
    """A seat at a game, or a place in its queue: whose it is, and the playerID."""

    role: str
    game: str
    player: str


class Server:
    """The server under test, for one run: how to reach it, and the users and games that are in use."""

    def __init__(self, host: str, port: int, dialect: Dialect, patience: float, habit: Habit | None = None) -> None:
        self.address = (host, port)
        self.habit = habit
        self.dialect: Dialect = dialect
        self.patience = patience
        self.idle: defaultdict[str, list[User]] = defaultdict(list)
        self.taken: set[str] = set()
        self._run = f"{randbelow(10**9):09}"  # digits go with letters of every script
        self._named: Counter[str] = Counter()
        self.heard = False  # whether it has ever said a word
        self.having = Having()
        self.opens = True  # whether POST /games/ makes a game, as far as is known
        self.blinds = BLINDS
        self.stack = STACK
        self.window = WINDOW  # how many seconds a turn takes, as far as is known

    @property
    def usual(self) -> bool:
        """Whether it plays for what the document has."""
        return (self.blinds, self.stack) == (BLINDS, STACK)

    def caller(self) -> Caller:
        """A new connection."""
        return Caller(*self.address, patience=self.patience)

    def name(self, role: str) -> str:
        """A name that nobody has on this server, also not from a run before this one.

        The first users of two roles whose names look alike have names that look alike.
        """
        self._named[role] += 1
        count = self._named[role]
        return f"{role}-{self._run}" if count == 1 else f"{role}-{self._run}-{count}"
