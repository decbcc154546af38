"""Child processes that write into a store until they are killed or fail."""

import asyncio
import multiprocessing
import resource
from collections.abc import Callable
from multiprocessing.connection import Connection
from typing import Any

from croupier.net.event_loop import run
from croupier.store.records import Posting, StoredHand, StoreUnavailable
from croupier.store.store import Store, open_store
from tests.store.store_fixture import NOON, fact, transfer

TABLES = "abcdef"
TIMEOUT_SECONDS = 60.0


class Child:
    """A process that runs `work(pipe, *arguments)`, forked from a server that has imported everything."""

    def __init__(self, work: Callable[..., None], *arguments: object) -> None:
        context = multiprocessing.get_context("forkserver")
        context.set_forkserver_preload(
            ["tests.store.writer_processes", "croupier.store.sqlite", "croupier.store.postgres"]
        )
        self._receiver, sender = context.Pipe(duplex=False)
        self._process = context.Process(target=work, args=(sender, *arguments), daemon=True)
        self._process.start()
        sender.close()

    def receive(self) -> Any:
        """The next object that the process sends. Raises EOFError after the last one."""
        assert self._receiver.poll(TIMEOUT_SECONDS), "the child process sends nothing"
        return self._receiver.recv()

    def kill(self) -> list[Any]:
        """Kill the process with SIGKILL, and return what it had sent by then."""
        self._process.kill()
        self._process.join(TIMEOUT_SECONDS)
        received = []
        try:
            while True:
                received.append(self._receiver.recv())
        except EOFError:
            return received

    def end(self) -> None:
        """Wait for the end of the process."""
        self._process.join(TIMEOUT_SECONDS)
        assert self._process.exitcode == 0


def play_and_pay(pipe: Connection, url: str) -> None:
    """Write at every table, over and over: a fact with a hand, then a transfer of a coin to the house.

    Sends (table, "fact" or "coin", number) after each durable write. It starts at the end of the journal, with the
    transfer of the last fact, which may be missing.
    """

    async def table(store: Store, name: str, alice: int, house: int) -> None:
        seq = await store.last_seq("holdem", name)
        while True:
            if seq:
                lost = [Posting(alice, -1), Posting(house, 1)]
                await transfer(store, "lost", lost, key=f"{name}/{seq}")
                pipe.send((name, "coin", seq))
            seq += 1
            await store.append([fact(name, seq)], [StoredHand("holdem", name, seq, NOON, ("alice",), "{}")])
            pipe.send((name, "fact", seq))

    async def main() -> None:
        async with await open_store(url) as store:
            alice, house = await store.account("alice"), await store.house_account("holdem")
            assert alice is not None
            await asyncio.gather(*(table(store, name, alice.id, house.id) for name in TABLES))

    run(main())


def fill_the_disk(pipe: Connection, path: str, allowed: int) -> None:
    """Write until a file reaches its size limit, then raise the limit and continue.

    Sends the errors, whether further writes were refused, the durable and the stored sequence number before and after
    the recovery, and the result of `find_problems`.
    """
    hard = resource.getrlimit(resource.RLIMIT_FSIZE)[1]

    async def main() -> None:
        async with await open_store(path, retry_delays=(0.01, 0.05)) as store:
            resource.setrlimit(resource.RLIMIT_FSIZE, (allowed, hard))
            durable = 0
            try:
                while True:
                    batch = [fact("a", durable + n, f'"{"x" * 500}"') for n in range(1, 11)]
                    await store.append(batch)
                    durable += 10
            except StoreUnavailable as down:
                pipe.send((str(down), store.outage))
            refused = store.append([fact("a", durable + 1)])
            pipe.send(isinstance(refused.exception() if refused.done() else None, StoreUnavailable))
            pipe.send((durable, await store.last_seq("holdem", "a")))
            resource.setrlimit(resource.RLIMIT_FSIZE, (hard, hard))
            await store.wait_until_up()
            await store.append([fact("a", durable + 1)])
            pipe.send((durable + 1, await store.last_seq("holdem", "a")))
            pipe.send(await store.find_problems())

    run(main())
