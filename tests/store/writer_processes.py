"""Processes that write into a store until something happens to them."""

import asyncio
import multiprocessing
import resource
from collections.abc import Callable
from multiprocessing.connection import Connection
from typing import Any

from croupier.net.event_loop import run
from croupier.store.records import Posting, StoredHand, StoreUnavailable
from croupier.store.store import Store, open_store
from tests.store.store_fixture import NOON, fact

TABLES = "abcdef"
PATIENCE = 60.0


class Child:
    """A process that runs `work(pipe, *arguments)`; it has everything imported already."""

    def __init__(self, work: Callable[..., None], *arguments: object) -> None:
        context = multiprocessing.get_context("forkserver")
        context.set_forkserver_preload(
            ["tests.store.writer_processes", "croupier.store.sqlite", "croupier.store.postgres"]
        )
        self._ears, mouth = context.Pipe(duplex=False)
        self._process = context.Process(target=work, args=(mouth, *arguments), daemon=True)
        self._process.start()
        mouth.close()

    def hear(self) -> Any:
        """The next word. Raises EOFError after the last."""
        assert self._ears.poll(PATIENCE), "the child says nothing"
        return self._ears.recv()

    def kill(self) -> list[Any]:
        """Kill it as nobody can prevent: what it had said by then."""
        self._process.kill()
        self._process.join(PATIENCE)
        said = []
        try:
            while True:
                said.append(self._ears.recv())
        except EOFError:
            return said

    def end(self) -> None:
        """Wait until it ends by itself."""
        self._process.join(PATIENCE)
        assert self._process.exitcode == 0


def gamble(pipe: Connection, url: str) -> None:
    """At every table: a fact with a hand, then a coin for the house.

    (table, "fact" or "coin", number) is said of what is durable. It begins where the journal ends, and pays first what
    was not paid.
    """

    async def table(store: Store, name: str, alice: int, house: int) -> None:
        seq = await store.last_seq("holdem", name)
        while True:
            if seq:
                lost = [Posting(alice, -1), Posting(house, 1)]
                await store.transfer("lost", lost, key=f"{name}/{seq}")
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
    """Write until a file has reached its limit, see what the store says, raise the limit, and go on.

    Says the reason, whether more was refused, what was durable then, what is there again, and what `check` finds.
    """
    hard = resource.getrlimit(resource.RLIMIT_FSIZE)[1]

    async def main() -> None:
        async with await open_store(path, retry_delays=(0.01, 0.05)) as store:
            resource.setrlimit(resource.RLIMIT_FSIZE, (allowed, hard))
            durable = 0
            try:
                while True:
                    flight = [fact("a", durable + n, f'"{"x" * 500}"') for n in range(1, 11)]
                    await store.append(flight)
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
