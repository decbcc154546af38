"""What stands in the books: facts, states, accounts, transfers, hands, matches; and what can be wrong with them.

Times are seconds since 1970 (UTC), coins are integers of 64 bits.
"""

from msgspec import Struct

MAX_COINS = 2**63 - 1
"""The most coins that one account can have."""

SUPERSEDED_MESSAGE = "another server goes on with what is kept in this store; this one can only be stopped"
"""Whoever opened a room last has it: nobody was told anything that the other one does not know."""


class StoreError(Exception):
    """The books cannot be opened, or this cannot be done with them. The text is for people."""


class WriteRefused(StoreError):
    """What was to be written is not allowed, as a fact that is there already. Nothing of it was written."""


class StoreUnavailable(StoreError):
    """The books cannot be read or written now: a full disk, a lost connection.

    What was to be written is in them as a whole or not at all. It is not in them when the engine said no; when a
    connection was lost during a commit nobody knows, until the store is up again and is asked (`Store.last`).
    """


class JournalEntry(Struct, frozen=True, gc=False):
    """A fact of a table's journal: JSON, numbered from 1 without gaps."""

    room: str
    table: str
    seq: int
    fact: bytes
    time: float


class JournalHead(Struct, frozen=True, gc=False):
    """How far the journal of a table goes."""

    table: str
    seq: int


class Snapshot(Struct, frozen=True, gc=False):
    """The state of a table after the first `seq` facts of its journal, as JSON: the later ones are told to it."""

    room: str
    table: str
    seq: int
    state: bytes
    time: float


class Account(Struct, frozen=True):
    """Somebody's coins. `password` is an argon2 hash, None for who cannot log in; `closed` is when it was.

    The other side of what players win and lose is an account with `house`, which is named as its room is.
    """

    id: int
    name: str
    house: bool
    password: str | None
    created: float
    closed: float | None
    balance: int


class Posting(Struct, frozen=True, gc=False):
    """One side of a transfer: coins that come into an account, or go out of it if negative.

    A player's account must have at least `held` coins before.
    """

    account: int
    coins: int
    held: int = 0


class Transfer(Struct, frozen=True, gc=False):
    """Coins that move between accounts; the same key moves them only once."""

    reason: str
    postings: tuple[Posting, ...]
    key: str | None = None


class StatementEntry(Struct, frozen=True, gc=False):
    """A line of an account's statement: what a transfer brought, and the balance after it."""

    transfer: int
    time: float
    reason: str
    coins: int
    balance: int


class StoredHand(Struct, frozen=True):
    """A hand that was played: numbered at its table, with all that a history needs to tell it, in one line or many."""

    room: str
    table: str
    number: int
    time: float
    players: tuple[str, ...]
    record: str
    summary: str = ""


class Match(Struct, frozen=True):
    """A match between players: `result` is JSON. Its id is given by the store."""

    room: str
    time: float
    players: tuple[str, ...]
    result: bytes
    id: int = 0


class StoreFinding(Struct, frozen=True):
    """Something in the books that is not as it must be. `where` names the table of the schema and its row."""

    where: str
    message: str
