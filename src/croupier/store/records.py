"""The records of a store (facts, snapshots, accounts, transfers, hands) and its exceptions.

Times are seconds since 1970 (UTC); coins are 64-bit integers.
"""

from typing import Final, NamedTuple

from msgspec import Struct

MAX_COINS = 2**63 - 1
"""The maximum balance of an account."""

SUPERSEDED_MESSAGE = "another server has taken over the rooms of this store; this one can only be stopped"
"""The last server that opened a room owns it. Nothing is lost: replies are sent only after their facts are durable."""


class StoreError(Exception):
    """The store cannot be opened, or an operation is impossible. The text is for people."""


class NameTaken(StoreError):
    """Another server has claimed the name."""


class WriteRefused(StoreError):
    """A write is not allowed, such as a fact whose number exists already. Nothing of it was written."""


class StoreUnavailable(StoreError):
    """The store cannot be read or written now, because of a full disk or a lost connection, for example.

    A failed write was written completely or not at all. After an error of the engine it was not written. If the
    connection was lost during the commit, the outcome is unknown until the store is available again
    (`Store.last_seq`).
    """


class JournalEntry(NamedTuple):
    """A fact of a table's journal: JSON, with sequence numbers from 1 without gaps. It is a row of the schema."""

    room: str
    table: str
    seq: int
    fact: bytes
    time: float


class JournalHead(Struct, frozen=True, gc=False):
    """The last sequence number of a table's journal."""

    table: str
    seq: int


class Snapshot(Struct, frozen=True, gc=False):
    """The state of a table after the first `seq` facts of its journal, as JSON; later facts are applied to it."""

    room: str
    table: str
    seq: int
    state: bytes
    time: float


SIGNING_KEYS: Final = ("web", "signing-keys")
"""The room and the table of the snapshot with the keys of the web app, which belong to no journal. It is a secret."""


class Account(Struct, frozen=True):
    """An account. `password` is an argon2 hash, None for an account without login; `closed` is the closing time.

    Accounts with `house` are the counterparties of the players' wins and losses; each has the name of its room.
    """

    id: int
    name: str
    house: bool
    password: str | None
    created: float
    closed: float | None
    balance: int


ACCOUNT_HOLDERS: Final = "accounts"
"""The room of the journals of accounts, which have their names. Each entry is a server that has taken the account."""


class Holding(Struct, frozen=True, gc=False):
    """An account that a server has taken with entry `seq` of its journal, and holds until another server takes it."""

    name: str
    seq: int


class Posting(Struct, frozen=True, gc=False):
    """One side of a transfer: coins that an account gains, or loses if negative.

    The balance of a player's account must be at least `held` coins before the transfer. With `holding`, the transfer is
    refused if another server has taken the account since.
    """

    account: int
    coins: int
    held: int = 0
    holding: Holding | None = None


class Transfer(Struct, frozen=True, gc=False):
    """A movement of coins between accounts; a transfer with a `key` is executed at most once."""

    reason: str
    postings: tuple[Posting, ...]
    key: str | None = None


class LedgerEntry(Struct, frozen=True):
    """One side of a transfer as it is listed: the coins that an account has gained, or lost if negative."""

    time: float
    account: str
    coins: int
    reason: str


class StoredHand(Struct, frozen=True):
    """A finished hand, numbered at its table. `record` has the data of its history; `summary` is one line."""

    room: str
    table: str
    number: int
    time: float
    players: tuple[str, ...]
    record: str
    summary: str = ""


PRUNED_FACT: Final = b'{"games":[]}'
"""What replaces a fact of finished games when it is pruned: a fact without games."""


class PruneCounts(Struct, frozen=True):
    """Numbers of old records: facts of journals, hands, transfers of the ledger."""

    facts: int = 0
    hands: int = 0
    transfers: int = 0


class StoreFinding(Struct, frozen=True):
    """A problem found in a store. `where` names the table of the schema and the row."""

    where: str
    message: str
