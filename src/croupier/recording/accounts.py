"""Accounts of a house's clients: a client's coins persist between connections and are shared by its connections."""

import asyncio
from asyncio import Future
from collections import Counter
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from hashlib import sha256
from typing import Any, Final, Literal

from croupier.core.logger import Logger
from croupier.core.private_table import Purse
from croupier.core.room import HouseRoom
from croupier.core.session import Address, Peer, Settle
from croupier.core.stored import Stored
from croupier.net.event_loop import start_task
from croupier.store.records import (
    ACCOUNT_HOLDERS,
    Account,
    Holding,
    Posting,
    StoreUnavailable,
    Transfer,
    WriteRefused,
)
from croupier.store.store import Store

type ClientIdentity = Literal["address", "certificate"]
"""How clients are identified."""

IPV4_MAPPED_PREFIX: Final = "::ffff:"
"""Prefix of an IPv4 address that is written as an IPv6 address (RFC 4291, 2.5.5.2)."""

SHORT_ATTRIBUTE_NAMES: Final = {
    "commonName": "CN",
    "countryName": "C",
    "domainComponent": "DC",
    "localityName": "L",
    "organizationName": "O",
    "organizationalUnitName": "OU",
    "stateOrProvinceName": "ST",
    "userId": "UID",
}
"""Attribute types of a certificate's subject that have short names (RFC 4514, 3)."""

MAX_SUBJECT_CHARS: Final = 200
"""Certificates with a longer subject are named by a hash."""


class AccountHolder(Stored, frozen=True):
    """A node that has taken an account, as the journal of the account names it. `process` is that of `Node`."""

    MALFORMED = "an invalid entry of an account's journal"

    node: str
    process: str


class AccountSession:
    """The time during which a client has at least one connection; all its connections share one purse.

    In a cluster, `holding` is the entry with which this node has taken the account. `reserved_games` counts the games
    that are over and not settled yet. `is_void` is set when the account no longer covers what is at stake, or another
    node has taken it; no further game of the session is settled then.
    """

    __slots__ = ("account", "holding", "is_void", "name", "peers", "purse", "reserved_games")

    def __init__(self, name: str) -> None:
        self.name = name
        self.account = 0
        self.holding: Holding | None = None
        self.purse = Purse(0)
        self.peers: set[Peer] = set()
        self.reserved_games = 0
        self.is_void = False


class Purses:
    """Opens, shares and settles the accounts of a house's clients.

    An account is named ROOM:CLIENT, where CLIENT is the address or the certificate's subject. It is created with
    `opening_coins` from the cashier at the client's first connection. The balance is read when a client connects that
    has no other connection. `holder` is this server as a node of a cluster, where each account is held by one node:
    the one that has taken it last. See `docs/architecture.md`.
    """

    def __init__(
        self,
        store: Store,
        room: HouseRoom,
        log: Logger,
        *,
        identify_by: ClientIdentity,
        opening_coins: int,
        house_account: Account,
        holder: AccountHolder | None = None,
    ) -> None:
        self._store = store
        self._room = room
        self._identify_by = identify_by
        self._opening_coins = opening_coins
        self._house_account_id = house_account.id
        self._holder = holder
        self._log = log
        self._loop = asyncio.get_running_loop()
        self._sessions: dict[str, AccountSession] = {}
        self._claimed: Counter[str] = Counter()
        self._lookups: dict[str, Future[str | None]] = {}
        self._session_by_peer: dict[Peer, AccountSession] = {}
        self._tasks: set[asyncio.Task[None]] = set()

    def purse_of(self, peer: Peer) -> Purse:
        """Return the purse of a peer that was admitted."""
        return self._session_by_peer[peer].purse

    def admit(self, peer: Peer, address: Address | None, certificate: dict[str, Any]) -> Future[str | None] | None:
        """Look up or open the account of a peer, see `Recorder.admit`.

        The future's result is None, or the reason of a refusal: `store` if the store is unavailable, `account` if the
        account is closed, `cluster` if another node holds it. Returns None if the account is known already.
        """
        name = self._account_name(address, certificate)
        session = self._sessions.get(name)
        if session is None:
            session = self._sessions[name] = AccountSession(name)
            self._lookups[name] = self._loop.create_future()
            start_task(self._tasks, self._open_account(session))
        session.peers.add(peer)
        self._session_by_peer[peer] = session
        return self._lookups.get(name)

    def is_held(self, address: Address | None, certificate: dict[str, Any]) -> bool:
        """Return whether a client with this address or certificate has a session here, or is about to have one."""
        name = self._account_name(address, certificate)
        return name in self._sessions or name in self._claimed

    async def claim(
        self,
        address: Address | None,
        certificate: dict[str, Any],
        *,
        elsewhere: Callable[[AccountHolder], Awaitable[bool]],
        here: Callable[[], None],
    ) -> None:
        """Connect a client where the session of its account is; without one, take the account and connect it here.

        `here` connects it. `elsewhere` connects it to a node, and returns whether that has the session.
        """
        name = self._account_name(address, certificate)
        self._claimed[name] += 1
        try:
            if await self._take_account(name, elsewhere):
                here()
        except StoreUnavailable:
            here()  # `admit` refuses it
        finally:
            self._claimed[name] -= 1
            if not self._claimed[name]:
                del self._claimed[name]

    async def _take_account(self, name: str, elsewhere: Callable[[AccountHolder], Awaitable[bool]]) -> bool:
        """Take an account, unless a client was connected elsewhere; whether this node holds it."""
        assert self._holder is not None, "only nodes take accounts"
        if name not in self._sessions:
            await self._find_or_add_account(name)
        while name not in self._sessions:
            holder, holding = await self._last_holder(name)
            if holder == self._holder:
                return True
            if holder is not None and holder.node != self._holder.node and await elsewhere(holder):
                return False
            with suppress(WriteRefused):  # another node was faster, and is asked next
                await self._store.take_account(Holding(name, holding.seq + 1), self._holder.to_json())
        return True

    async def _last_holder(self, name: str) -> tuple[AccountHolder | None, Holding]:
        """Return the node that has taken an account last, and its entry; None and number 0 if no node has."""
        entry = await self._store.last_entry(ACCOUNT_HOLDERS, name)
        if entry is None:
            return None, Holding(name, 0)
        return AccountHolder.from_json(entry.fact), Holding(name, entry.seq)

    def _account_name(self, address: Address | None, certificate: dict[str, Any]) -> str:
        client = subject_name(certificate) if self._identify_by == "certificate" else client_host(address)
        return f"{self._room.name}:{client}"

    def leave(self, peer: Peer) -> None:
        """Remove a peer from its session. The session ends with its last peer, once all games are settled."""
        session = self._session_by_peer.pop(peer)
        session.peers.discard(peer)
        self._forget_if_idle(session)

    def reserve(self, peer: Peer) -> AccountSession:
        """Count a finished game that is to be settled; return its session. Call `release` when it is settled."""
        session = self._session_by_peer[peer]
        session.reserved_games += 1
        return session

    def transfer(self, session: AccountSession, games: Sequence[Settle], run: str) -> Future[None]:
        """Settle games in one transaction: transfer winnings from the house's account, and losses to it.

        `run` makes the names of the transfers unique, so a repeated transfer moves no coins. The future fails with
        WriteRefused, for all the games, if the account is closed or does not cover the stakes.
        """
        return self._store.transfer_all([self._build_transfer(session, settle, run) for settle in games])

    def _build_transfer(self, session: AccountSession, settle: Settle, run: str) -> Transfer:
        reference = f"{self._room.name}/{run}-{settle.peer}/{settle.hand_number}"
        own = Posting(session.account, settle.net, settle.risk, session.holding)
        return Transfer(reference, (own, Posting(self._house_account_id, -settle.net)), reference)

    def void_session(self, session: AccountSession) -> Sequence[Peer]:
        """Void a session and all its running games; return its peers, which are to be disconnected."""
        session.is_void = True
        session.purse.coins = 0
        if self._sessions.get(session.name) is session:
            del self._sessions[session.name]
        return [*session.peers]

    def release(self, session: AccountSession) -> None:
        """Count a game as settled."""
        session.reserved_games -= 1
        self._forget_if_idle(session)

    def _forget_if_idle(self, session: AccountSession) -> None:
        is_current = self._sessions.get(session.name) is session and session.name not in self._lookups
        if is_current and not session.peers and not session.reserved_games:
            del self._sessions[session.name]

    async def _open_account(self, session: AccountSession) -> None:
        """Read the account's balance, or open the account; then resolve the lookup."""
        try:
            holder = None
            if self._holder is not None:
                holder, session.holding = await self._last_holder(session.name)
            account = await self._find_or_add_account(session.name)
        except StoreUnavailable as error:
            self._log.error("account lookup failed", client=session.name, reason=str(error))
            reason: str | None = "store"
        else:
            reason = None if account.closed is None else "account"
            if holder != self._holder:
                reason = "cluster"  # another node has just taken it
            session.account = account.id
            session.purse.coins = min(account.balance, self._room.max_purse)
        lookup = self._lookups.pop(session.name)
        if reason is not None:
            del self._sessions[session.name]
        else:
            self._forget_if_idle(session)
        lookup.set_result(reason)

    async def _find_or_add_account(self, name: str) -> Account:
        if (account := await self._store.account(name)) is not None:
            return account
        try:
            return await self._store.add_account(name, coins=self._opening_coins, reason="first visit")
        except WriteRefused:  # another server has just added it
            account = await self._store.account(name)
            assert account is not None, "accounts are never removed"
            return account


def client_host(address: Address | None) -> str:
    """Return the client's address as it is used in account names: IPv4 addresses in their short form.

    >>> client_host(("::ffff:192.0.2.7", 5000))
    '192.0.2.7'
    """
    return address[0].removeprefix(IPV4_MAPPED_PREFIX) if address else "unknown"


def subject_name(certificate: dict[str, Any]) -> str:
    """Return a unique name for a certificate, given as `ssl.SSLSocket.getpeercert` returns it.

    The name is the subject in the style of RFC 4514, or a SHA-256 hash of the certificate if the subject is missing or
    longer than MAX_SUBJECT_CHARS. Different subjects have different names.

    >>> subject_name({"subject": ((("commonName", "ann"),), (("organizationName", "The Club"),))})
    'CN=ann,O=The Club'
    """
    attributes = [attribute for relative_name in certificate.get("subject", ()) for attribute in relative_name]
    name = ",".join(f"{SHORT_ATTRIBUTE_NAMES.get(kind, kind)}={_escape(value)}" for kind, value in attributes)
    if attributes and len(name) <= MAX_SUBJECT_CHARS:
        return name
    return f"sha256:{sha256(repr(sorted(certificate.items())).encode()).hexdigest()}"


def _escape(value: str) -> str:
    r"""Escape separators and unprintable characters as \xx, one for each byte in UTF-8."""
    return "".join(char if char.isprintable() and char not in ",=\\" else _hex_escape(char) for char in value)


def _hex_escape(char: str) -> str:
    return "".join(f"\\{byte:02x}" for byte in char.encode())
