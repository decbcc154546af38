"""Houses with accounts in a cluster: every node serves every client, and an account has one purse.

Three servers as processes, a real NATS and a real PostgreSQL.
"""

import asyncio
import re
import signal
import socket
import time
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest
from bench.cluster import Cluster
from bench.nats_server import NatsServer

from croupier.store.store import open_store, upgrade_store
from tests.processes import PATIENCE, Serving, hear, rest

NODES = ("ada", "bea", "cia")
ACCOUNT = "kuhn:127.0.0.1"
COINS = 10
CARD = re.compile(rb"CARD [CHSD]_[JQK]")
TAKEOVER_SECONDS = 5.0
PAUSE_SECONDS = 6.0
"""Twice the lease of a node."""


class Houses:
    """The nodes of a house of Kuhn poker, whose bot always calls with a queen, and the store that they share."""

    def __init__(self, stack: ExitStack, folder: Path) -> None:
        self._stack = stack
        self._decks = folder / "decks.txt"
        self._decks.write_text("K\nQ\n")
        self.postgres = stack.enter_context(Cluster())
        self._nats = stack.enter_context(NatsServer(folder))
        asyncio.run(upgrade_store(self.postgres.url()))
        self.nodes: dict[str, Serving] = {}
        for name in NODES:
            self.start(name)

    def start(self, name: str) -> None:
        """Start a node, or start it again."""
        flags = ("--accounts", "address", "--bot", "script:CAL", "--deck", self._decks, "--drain-seconds", 1)
        where = ("--port", 0, "--store", self.postgres.url(), "--bus", self._nats.url, "--node", name)
        self.nodes[name] = self._stack.enter_context(Serving("kuhn", *flags, *where))

    def check_coins(self) -> int:
        """Check that no coin was lost or doubled, and return those of the account."""

        async def read() -> dict[str, int]:
            async with await open_store(self.postgres.url()) as store:
                assert await store.find_problems() == []
                return {account.name: account.balance for account in await store.accounts()}

        balances = asyncio.run(read())
        assert balances["cashier"] == -COINS
        assert balances["kuhn"] + balances[ACCOUNT] == COINS
        return balances[ACCOUNT]

    def entries(self, name: str, event: str) -> int:
        """How often a node has logged an event."""
        return sum(entry["event"] == event for entry in self.nodes[name].entries)


@pytest.fixture
def houses(tmp_path: Path) -> Iterator[Houses]:
    with ExitStack() as stack:
        yield Houses(stack, tmp_path)


def start(caller: socket.socket) -> None:
    """Start a game, in which the house lets the client act."""
    caller.sendall(b"STRT P_1")
    assert CARD.fullmatch(hear(caller, 8))


def finish(caller: socket.socket) -> None:
    """Bet, and win two coins."""
    caller.sendall(b"ACTN BET")
    assert CARD.fullmatch(hear(caller, 8))


@pytest.mark.extended
def test_coins_follow_the_client_from_node_to_node(houses: Houses) -> None:
    """kuhn-7.1"""
    for name in (*NODES, *NODES):
        with houses.nodes[name].call() as caller:
            start(caller)
            finish(caller)
    assert houses.nodes["cia"].stop() == 0
    houses.start("cia")
    for name in ("cia", "ada"):
        with houses.nodes[name].call() as caller:
            start(caller)
            finish(caller)
    assert houses.check_coins() == COINS + 8 * 2


@pytest.mark.extended
def test_connections_to_different_nodes_share_one_purse(houses: Houses) -> None:
    """kuhn-7.3"""
    callers = [houses.nodes[NODES[number % 3]].call() for number in range(COINS + 1)]
    for caller in callers[:COINS]:
        start(caller)
    callers[COINS].sendall(b"STRT P_1")
    assert hear(callers[COINS], 8) == b"FAIL N_C"
    for caller in callers:
        caller.close()
    end = time.monotonic() + PATIENCE
    while houses.check_coins() != 0:  # who hangs up loses the stake
        assert time.monotonic() < end
        time.sleep(0.05)


@pytest.mark.parametrize("fault", [signal.SIGKILL, pytest.param(signal.SIGSTOP, marks=pytest.mark.extended)])
def test_an_account_is_taken_from_a_node_that_fails(houses: Houses, fault: signal.Signals) -> None:
    ada, bea = houses.nodes["ada"], houses.nodes["bea"]
    lost = ada.call()
    start(lost)
    ada.signal(fault)
    failed = time.monotonic()
    with bea.call() as caller:
        start(caller)
        finish(caller)
    assert time.monotonic() - failed < TAKEOVER_SECONDS + 1.0  # a busy machine is slow
    if fault == signal.SIGSTOP:
        while time.monotonic() < failed + PAUSE_SECONDS:
            time.sleep(0.1)
        ada.signal(signal.SIGCONT)
        lost.sendall(b"ACTN BET")
        assert rest(lost) == b"", "its game is void, and no result is sent"
        assert houses.entries("ada", "game voided") == 1
        while houses.entries("ada", "joined the cluster") < 2:  # it was fenced, and refused clients meanwhile
            assert time.monotonic() < failed + PATIENCE
            time.sleep(0.1)
        with ada.call() as caller:
            start(caller)
            finish(caller)
    assert houses.check_coins() == COINS + (4 if fault == signal.SIGSTOP else 2), "its first game is void"
