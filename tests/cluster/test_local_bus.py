"""The bus between the processes of one machine: requests, messages, keys, and what a lost connection means."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import aclosing, asynccontextmanager

import pytest

from croupier.cluster import local_hub
from croupier.cluster.bus import Bus, BusUnavailable, KeyChange, NotDelivered, WrongRevision
from croupier.cluster.local_bus import LocalBus
from croupier.cluster.local_hub import LocalHub
from tests.cluster.bus_contract import CHECKS
from tests.net.raw_client import Run

TIMEOUT_SECONDS = 60.0


@asynccontextmanager
async def connected(count: int) -> AsyncIterator[tuple[LocalHub, list[LocalBus]]]:
    """A hub, and the connections of some processes."""
    hub = LocalHub()
    buses = [await LocalBus.open(await hub.attach()) for _ in range(count)]
    try:
        yield hub, buses
    finally:
        hub.close()
        async with asyncio.timeout(TIMEOUT_SECONDS):
            await asyncio.wait([bus.lost for bus in buses])


def test_local_bus_keeps_the_contract(run: Run) -> None:
    async def main() -> None:
        for check in CHECKS:
            async with connected(2) as (_, buses):
                unused: list[Bus] = [*buses]

                async def connect(unused: list[Bus] = unused) -> Bus:
                    return unused.pop()

                await check(connect)

    run(main())


async def echo(body: bytes) -> bytes:
    return b"echo " + body


async def changes(bus: Bus, pattern: str, count: int) -> list[KeyChange]:
    """The first changes of a watch."""
    async with asyncio.timeout(TIMEOUT_SECONDS), aclosing(bus.watch(pattern)) as watch:
        return [await anext(watch) for _ in range(count)]


def test_request_is_answered_by_the_process_that_serves_its_subject(run: Run) -> None:
    async def main() -> None:
        async with connected(3) as (_, (one, two, three)):
            await two.serve("act.two", echo)
            await three.serve("act.three", echo)
            await two.serve("act.big", echo)
            assert await one.request("act.two", b"a", TIMEOUT_SECONDS) == b"echo a"
            assert await two.request("act.three", b"", TIMEOUT_SECONDS) == b"echo "
            assert await two.request("act.two", b"own", TIMEOUT_SECONDS) == b"echo own"
            big = bytes(3 << 20)
            assert await one.request("act.big", big, TIMEOUT_SECONDS) == b"echo " + big

    run(main())


def test_requests_are_answered_concurrently(run: Run) -> None:
    async def main() -> None:
        async with connected(2) as (_, (one, two)):
            both_asked = asyncio.Barrier(2)

            async def wait(body: bytes) -> bytes:
                await both_asked.wait()
                return body

            await two.serve("wait", wait)
            asked = [one.request("wait", body, TIMEOUT_SECONDS) for body in (b"1", b"2")]
            assert await asyncio.gather(*asked) == [b"1", b"2"]

    run(main())


def test_request_that_nobody_answers_is_unavailable(run: Run) -> None:
    async def main() -> None:
        async with connected(2) as (_, (one, two)):
            with pytest.raises(NotDelivered, match="nobody serves it"):
                await one.request("nobody", b"", TIMEOUT_SECONDS)

            async def fail(body: bytes) -> bytes:
                raise ValueError(body)

            await two.serve("fails", fail)
            with pytest.raises(BusUnavailable, match="nobody answers"):
                await one.request("fails", b"", TIMEOUT_SECONDS)
            release = asyncio.Event()

            async def late(body: bytes) -> bytes:
                await release.wait()
                return body

            await two.serve("late", late)
            with pytest.raises(BusUnavailable, match=r"no answer within 0\.01 seconds"):
                await one.request("late", b"1", 0.01)
            asked = asyncio.ensure_future(one.request("late", b"2", TIMEOUT_SECONDS))
            await asyncio.sleep(0)
            release.set()
            assert await asked == b"2"  # the late answer to the first request is dropped

    run(main())
    assert [str(fault) for fault in run.faults] == ["b''"]
    run.faults.clear()


def test_requests_of_a_process_that_ends_have_no_answer(run: Run) -> None:
    async def main() -> None:
        async with connected(2) as (_, (one, two)):
            asked = asyncio.Event()

            async def end(body: bytes) -> bytes:
                asked.set()
                await asyncio.Event().wait()
                return body

            await two.serve("ends", end)
            request = asyncio.ensure_future(one.request("ends", b"", TIMEOUT_SECONDS))
            await asked.wait()
            await two.close()
            with pytest.raises(BusUnavailable):
                await request
            with pytest.raises(BusUnavailable):
                await two.publish("any", b"")
            with pytest.raises(BusUnavailable):
                await one.request("ends", b"", TIMEOUT_SECONDS)

    run(main())


def test_messages_reach_all_subscribers_of_their_subject_in_order(run: Run) -> None:
    async def main() -> None:
        async with connected(3) as (_, (one, two, three)):
            heard: list[tuple[str, str, bytes]] = []
            for name, bus, pattern in (
                ("one", one, "view.*.1"),
                ("two", two, "view.>"),
                ("two again", two, "view.kuhn.*"),
                ("three", three, "lobby"),
            ):
                await bus.subscribe(pattern, lambda subject, body, name=name: heard.append((name, subject, body)))
                await bus.serve(f"{name.split()[0]}.flush", echo)
            for bus in (one, two, three):  # their subscriptions have reached the hub
                await bus.request("one.flush", b"", TIMEOUT_SECONDS)
            for body in (b"1", b"2"):
                await one.publish("view.kuhn.1", body)
            await one.publish("view.kuhn", b"3")
            await one.publish("view.kuhn.1.2", b"4")
            for name in ("one", "two", "three"):
                await one.request(f"{name}.flush", b"", TIMEOUT_SECONDS)
            first, second = [[("one", "view.kuhn.1", body), *_two(body)] for body in (b"1", b"2")]
            expected = [*first, *second, ("two", "view.kuhn", b"3"), ("two", "view.kuhn.1.2", b"4")]
            assert sorted(heard) == sorted(expected)
            assert [body for name, _, body in heard if name == "two"] == [b"1", b"2", b"3", b"4"]

    def _two(body: bytes) -> list[tuple[str, str, bytes]]:
        return [("two", "view.kuhn.1", body), ("two again", "view.kuhn.1", body)]

    run(main())


def test_key_is_written_by_the_one_who_knows_its_revision(run: Run) -> None:
    async def main() -> None:
        async with connected(2) as (_, (one, two)):
            first = await one.compare_and_set("table.1", b"one", 0)
            with pytest.raises(WrongRevision):
                await two.compare_and_set("table.1", b"two", 0)
            second = await two.compare_and_set("table.1", b"two", first)
            assert second > first
            assert await one.compare_and_set("table.2", b"", 0) > second
            with pytest.raises(WrongRevision):
                await one.compare_and_set("table.1", b"one again", first)
            assert await changes(one, "table.1", 1) == [KeyChange("table.1", b"two", second)]

    run(main())


def test_one_of_many_writers_wins(run: Run) -> None:
    async def main() -> None:
        async with connected(3) as (_, buses):

            async def count_up(bus: Bus) -> None:
                revision, value = 0, 0
                done = 0
                async with aclosing(bus.watch("count")) as watch:
                    while done < 20:
                        try:
                            revision = await bus.compare_and_set("count", b"%d" % (value + 1), revision)
                            value, done = value + 1, done + 1
                        except WrongRevision:
                            while True:
                                change = await anext(watch)
                                if change.revision > revision:
                                    revision, value = change.revision, int(change.value)
                                    break

            async with asyncio.timeout(TIMEOUT_SECONDS):
                await asyncio.gather(*map(count_up, buses))
            ((_, value, _),) = await changes(buses[0], "count", 1)
            assert value == b"60"

    run(main())


def test_watch_yields_the_present_keys_and_then_their_changes(run: Run) -> None:
    async def main() -> None:
        async with connected(2) as (_, (one, two)):
            revision = await one.compare_and_set("node.a", b"1", 0)
            await one.compare_and_set("table.a", b"", 0)
            async with asyncio.timeout(TIMEOUT_SECONDS), aclosing(two.watch("node.*")) as watch:
                assert await anext(watch) == KeyChange("node.a", b"1", revision)
                own = await two.compare_and_set("node.b", b"2", 0)
                assert await anext(watch) == KeyChange("node.b", b"2", own)
                for value in (b"3", b"4"):  # of quick changes the last one counts
                    revision = await one.compare_and_set("node.a", value, revision)
                last = await anext(watch)
                while last.value != b"4":
                    last = await anext(watch)
                assert last == KeyChange("node.a", b"4", revision)

    run(main())


def test_watches_end_when_the_hub_ends(run: Run) -> None:
    async def main() -> None:
        async with connected(1) as (hub, (one,)):
            seen: list[KeyChange] = []

            async def watch() -> None:
                async for change in one.watch(">"):
                    seen.append(change)
                    hub.close()

            await one.compare_and_set("node.a", b"1", 0)
            async with asyncio.timeout(TIMEOUT_SECONDS):
                await watch()
            assert len(seen) == 1
            with pytest.raises(BusUnavailable):
                await one.request("any", b"", TIMEOUT_SECONDS)

    run(main())


def test_process_that_reads_nothing_is_disconnected(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(local_hub, "MAX_UNREAD_BYTES", 1 << 20)

    async def main() -> None:
        hub = LocalHub()
        one = await LocalBus.open(await hub.attach())
        two = await LocalBus.open(await hub.attach())
        await two.subscribe("news", lambda subject, body: None)
        await two.compare_and_set("flushed", b"", 0)
        two._link._transport.pause_reading()
        for _ in range(64):
            await one.publish("news", bytes(1 << 16))
        await one.compare_and_set("still", b"here", 0)
        two._link._transport.resume_reading()
        async with asyncio.timeout(TIMEOUT_SECONDS):
            await two.lost
        hub.close()
        await one.lost

    run(main())
