"""Purses that are accounts: a client who comes again, or a second time, has the coins that it has."""

import asyncio
from asyncio import Future
from collections.abc import Sequence
from hashlib import sha256
from typing import Any, Final, Literal

from croupier.core.private_table import Purse
from croupier.core.room import HouseRoom
from croupier.core.session import Address, Peer, Settle
from croupier.logs import Log
from croupier.store.records import Account, Posting, Refused, StoreDown, Transfer
from croupier.store.store import Store

type By = Literal["address", "certificate"]
"""What tells clients apart."""

MAPPED: Final = "::ffff:"
"""An IPv4 address, where the house listens on IPv6."""

SHORT: Final = {
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

LONGEST: Final = 200
"""A subject with more characters than that is told by a hash of it."""


class Visit:
    """A client's account during a visit: its `peers` share one purse. `owed` counts games that are to be settled.

    A visit is `void` when its account no longer covers what is at stake: none of its games is settled any more.
    """

    __slots__ = ("account", "name", "owed", "peers", "purse", "void")

    def __init__(self, name: str) -> None:
        self.name = name
        self.account = 0
        self.purse = Purse(0)
        self.peers: set[Peer] = set()
        self.owed = 0
        self.void = False


class Purses:
    """The accounts of a house's clients, told apart `by` their address or their certificate.

    An account is named ROOM:CLIENT; the first visit opens it with `usual` coins from the cashier. What is in it is read
    when a client comes and nobody else is here who is told by the same name.
    """

    def __init__(self, store: Store, room: HouseRoom, log: Log, *, by: By, usual: int, house: Account) -> None:
        self._store = store
        self._room = room
        self._by = by
        self._usual = usual
        self._house = house.id
        self._log = log
        self._loop = asyncio.get_running_loop()
        self._visits: dict[str, Visit] = {}
        self._opening: dict[str, Future[str]] = {}
        self._here: dict[Peer, Visit] = {}
        self._tasks: set[asyncio.Task[None]] = set()

    def of(self, peer: Peer) -> Purse:
        """The purse of a peer that was admitted."""
        return self._here[peer].purse

    def admit(self, peer: Peer, address: Address | None, certificate: dict[str, Any]) -> Future[str] | None:
        """Look up whose account it is: see `Books.admit`. A reason not to be admitted is `store` or `account`."""
        client = subject(certificate) if self._by == "certificate" else host(address)
        name = f"{self._room.name}:{client}"
        visit = self._visits.get(name)
        if visit is None:
            visit = self._visits[name] = Visit(name)
            self._opening[name] = self._loop.create_future()
            task = self._loop.create_task(self._open(visit))
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)
        visit.peers.add(peer)
        self._here[peer] = visit
        return self._opening.get(name)

    def leave(self, peer: Peer) -> None:
        """A peer has left; with the last one goes the purse, when nothing is owed any more."""
        visit = self._here.pop(peer)
        visit.peers.discard(peer)
        self._part(visit)

    def owe(self, peer: Peer) -> Visit:
        """A game of this peer's is over, and is to be settled."""
        visit = self._here[peer]
        visit.owed += 1
        return visit

    def pay(self, visit: Visit, games: Sequence[Settle], run: str) -> Future[None]:
        """Move what was won from the house to the client's account, or what was lost to the house: once, see `run`.

        It fails with Refused, for all the games, where the account does not cover what was at stake, or is closed.
        """
        return self._store.transfer_all([self._transfer(visit.account, settled, run) for settled in games])

    def _transfer(self, account: int, settled: Settle, run: str) -> Transfer:
        game = f"{self._room.name}/{run}-{settled.peer}/{settled.hand}"
        postings = Posting(account, settled.net, settled.risk), Posting(self._house, -settled.net)
        return Transfer(game, postings, game)

    def void(self, visit: Visit) -> Sequence[Peer]:
        """Whoever shares this purse has to come again; their games are void, whatever comes of them."""
        visit.void = True
        visit.purse.coins = 0
        if self._visits.get(visit.name) is visit:
            del self._visits[visit.name]
        return [*visit.peers]

    def paid(self, visit: Visit) -> None:
        """What was owed is settled."""
        visit.owed -= 1
        self._part(visit)

    def _part(self, visit: Visit) -> None:
        here = self._visits.get(visit.name) is visit and visit.name not in self._opening
        if here and not visit.peers and not visit.owed:
            del self._visits[visit.name]

    async def _open(self, visit: Visit) -> None:
        """Read what is in an account, or open it."""
        try:
            account = await self._account(visit.name)
        except StoreDown as error:
            self._log.error("an account cannot be looked up", client=visit.name, reason=str(error))
            reason = "store"
        else:
            reason = "" if account.closed is None else "account"
            visit.account = account.id
            visit.purse.coins = min(account.balance, self._room.largest_purse)
        opened = self._opening.pop(visit.name)
        if reason:
            del self._visits[visit.name]
        else:
            self._part(visit)
        opened.set_result(reason)

    async def _account(self, name: str) -> Account:
        if (account := await self._store.account(name)) is not None:
            return account
        try:
            return await self._store.add_account(name, coins=self._usual, reason="first visit")
        except Refused:  # somebody has just added it
            account = await self._store.account(name)
            assert account is not None, "accounts are never removed"
            return account


def host(address: Address | None) -> str:
    """The address of a client as accounts are named after it."""
    return address[0].removeprefix(MAPPED) if address else "unknown"


def subject(certificate: dict[str, Any]) -> str:
    """The subject of a certificate, as `ssl` tells it, as one name: `CN=ann,O=The Club`.

    A certificate without one, or with a long one, is told by a hash. No two subjects have the same name.
    """
    parts = [part for parts in certificate.get("subject", ()) for part in parts]
    name = ",".join(f"{SHORT.get(kind, kind)}={_escaped(value)}" for kind, value in parts)
    if parts and len(name) <= LONGEST:
        return name
    return f"sha256:{sha256(repr(sorted(certificate.items())).encode()).hexdigest()}"


def _escaped(value: str) -> str:
    r"""A value in which nothing can be taken for what stands between values: \xx for what is no plain character."""
    return "".join(letter if letter.isprintable() and letter not in ",=\\" else _code(letter) for letter in value)


def _code(letter: str) -> str:
    return "".join(f"\\{byte:02x}" for byte in letter.encode())
