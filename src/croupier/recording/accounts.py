"""Purses that are accounts: a client who comes again, or a second time, has the coins that it has."""

import asyncio
from asyncio import Future
from collections.abc import Sequence
from hashlib import sha256
from typing import Any, Final, Literal

from croupier.core.private_table import Purse
from croupier.core.room import HouseRoom
from croupier.core.session import Address, Peer, Settle
from croupier.logs import Logger
from croupier.store.records import Account, Posting, StoreUnavailable, Transfer, WriteRefused
from croupier.store.store import Store

type ClientIdentity = Literal["address", "certificate"]
"""What tells clients apart."""

IPV4_MAPPED_PREFIX: Final = "::ffff:"
"""An IPv4 address, where the house listens on IPv6."""

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
"""The parts of a subject that have short names (RFC 4514, 3)."""

MAX_SUBJECT_CHARS: Final = 200
"""A subject with more characters than that is told by a hash of it."""


class AccountSession:
    """A client's account during a visit: its `peers` share one purse. `owed` counts games that are to be settled.

    A visit is `void` when its account no longer covers what is at stake: none of its games is settled any more.
    """

    __slots__ = ("account", "is_void", "name", "peers", "purse", "reserved_games")

    def __init__(self, name: str) -> None:
        self.name = name
        self.account = 0
        self.purse = Purse(0)
        self.peers: set[Peer] = set()
        self.reserved_games = 0
        self.is_void = False


class Purses:
    """The accounts of a house's clients, told apart `by` their address or their certificate.

    An account is named ROOM:CLIENT; the first visit opens it with `usual` coins from the cashier. What is in it is read
    when a client comes and nobody else is here who is told by the same name.
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
    ) -> None:
        self._store = store
        self._room = room
        self._identify_by = identify_by
        self._opening_coins = opening_coins
        self._house_account_id = house_account.id
        self._log = log
        self._loop = asyncio.get_running_loop()
        self._sessions: dict[str, AccountSession] = {}
        self._lookups: dict[str, Future[str]] = {}
        self._session_by_peer: dict[Peer, AccountSession] = {}
        self._tasks: set[asyncio.Task[None]] = set()

    def purse_of(self, peer: Peer) -> Purse:
        """The purse of a peer that was admitted."""
        return self._session_by_peer[peer].purse

    def admit(self, peer: Peer, address: Address | None, certificate: dict[str, Any]) -> Future[str] | None:
        """Look up whose account it is: see `Books.admit`. A reason not to be admitted is `store` or `account`."""
        client = subject_name(certificate) if self._identify_by == "certificate" else client_host(address)
        name = f"{self._room.name}:{client}"
        visit = self._sessions.get(name)
        if visit is None:
            visit = self._sessions[name] = AccountSession(name)
            self._lookups[name] = self._loop.create_future()
            task = self._loop.create_task(self._open_account(visit))
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)
        visit.peers.add(peer)
        self._session_by_peer[peer] = visit
        return self._lookups.get(name)

    def leave(self, peer: Peer) -> None:
        """A peer has left; with the last one goes the purse, when nothing is owed any more."""
        visit = self._session_by_peer.pop(peer)
        visit.peers.discard(peer)
        self._forget_if_idle(visit)

    def reserve(self, peer: Peer) -> AccountSession:
        """A game of this peer's is over, and is to be settled."""
        visit = self._session_by_peer[peer]
        visit.reserved_games += 1
        return visit

    def transfer(self, session: AccountSession, games: Sequence[Settle], run: str) -> Future[None]:
        """Move what was won from the house to the client's account, or what was lost to the house: once, see `run`.

        It fails with Refused, for all the games, where the account does not cover what was at stake, or is closed.
        """
        return self._store.transfer_all([self._build_transfer(session.account, settled, run) for settled in games])

    def _build_transfer(self, account: int, settled: Settle, run: str) -> Transfer:
        game = f"{self._room.name}/{run}-{settled.peer}/{settled.hand_number}"
        postings = Posting(account, settled.net, settled.risk), Posting(self._house_account_id, -settled.net)
        return Transfer(game, postings, game)

    def void_session(self, session: AccountSession) -> Sequence[Peer]:
        """Whoever shares this purse has to come again; their games are void, whatever comes of them."""
        session.is_void = True
        session.purse.coins = 0
        if self._sessions.get(session.name) is session:
            del self._sessions[session.name]
        return [*session.peers]

    def release(self, session: AccountSession) -> None:
        """What was owed is settled."""
        session.reserved_games -= 1
        self._forget_if_idle(session)

    def _forget_if_idle(self, visit: AccountSession) -> None:
        here = self._sessions.get(visit.name) is visit and visit.name not in self._lookups
        if here and not visit.peers and not visit.reserved_games:
            del self._sessions[visit.name]

    async def _open_account(self, visit: AccountSession) -> None:
        """Read what is in an account, or open it."""
        try:
            account = await self._find_or_add_account(visit.name)
        except StoreUnavailable as error:
            self._log.error("an account cannot be looked up", client=visit.name, reason=str(error))
            reason = "store"
        else:
            reason = "" if account.closed is None else "account"
            visit.account = account.id
            visit.purse.coins = min(account.balance, self._room.max_purse)
        opened = self._lookups.pop(visit.name)
        if reason:
            del self._sessions[visit.name]
        else:
            self._forget_if_idle(visit)
        opened.set_result(reason)

    async def _find_or_add_account(self, name: str) -> Account:
        if (account := await self._store.account(name)) is not None:
            return account
        try:
            return await self._store.add_account(name, coins=self._opening_coins, reason="first visit")
        except WriteRefused:  # somebody has just added it
            account = await self._store.account(name)
            assert account is not None, "accounts are never removed"
            return account


def client_host(address: Address | None) -> str:
    """The address of a client as accounts are named after it."""
    return address[0].removeprefix(IPV4_MAPPED_PREFIX) if address else "unknown"


def subject_name(certificate: dict[str, Any]) -> str:
    """The subject of a certificate, as `ssl` tells it, as one name: `CN=ann,O=The Club`.

    A certificate without one, or with a long one, is told by a hash. No two subjects have the same name.
    """
    parts = [part for parts in certificate.get("subject", ()) for part in parts]
    name = ",".join(f"{SHORT_ATTRIBUTE_NAMES.get(kind, kind)}={_escape(value)}" for kind, value in parts)
    if parts and len(name) <= MAX_SUBJECT_CHARS:
        return name
    return f"sha256:{sha256(repr(sorted(certificate.items())).encode()).hexdigest()}"


def _escape(value: str) -> str:
    r"""A value in which nothing can be taken for what stands between values: \xx for what is no plain character."""
    return "".join(letter if letter.isprintable() and letter not in ",=\\" else _hex_escape(letter) for letter in value)


def _hex_escape(letter: str) -> str:
    return "".join(f"\\{byte:02x}" for byte in letter.encode())
