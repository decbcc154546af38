"""What every bus has to do; `connect` opens another connection to the same bus."""

import asyncio
from collections.abc import Awaitable, Callable

import pytest

from croupier.cluster.bus import Bus, BusUnavailable, KeyChange, NotDelivered, WrongRevision

type Connect = Callable[[], Awaitable[Bus]]

SECONDS = 60.0


async def check_requests(connect: Connect) -> None:
    """A request is answered by the one who serves its subject, and requests run concurrently."""
    first, second = await connect(), await connect()
    waiting, continued = asyncio.Event(), asyncio.Event()

    async def handler(body: bytes) -> bytes:
        if body == b"wait":
            waiting.set()
            await continued.wait()
        elif body == b"fail":
            raise ValueError("a handler that raises gives no answer")
        return b"re: " + body

    await first.serve("tests.echo", handler)
    assert await second.request("tests.echo", b"hello", SECONDS) == b"re: hello"
    assert await first.request("tests.echo", b"own", SECONDS) == b"re: own"
    slow = asyncio.ensure_future(second.request("tests.echo", b"wait", SECONDS))
    await asyncio.wait_for(waiting.wait(), SECONDS)
    assert await second.request("tests.echo", b"quick", SECONDS) == b"re: quick"
    continued.set()
    assert await slow == b"re: wait"
    with pytest.raises(NotDelivered):
        await second.request("tests.nobody", b"", SECONDS)
    continued.clear()
    with pytest.raises(BusUnavailable):
        await second.request("tests.echo", b"wait", 0.05)
    continued.set()
    big = bytes(900_000)
    assert await second.request("tests.echo", big, SECONDS) == b"re: " + big


async def check_messages(connect: Connect) -> None:
    """A message reaches all subscribers of matching patterns, in order."""
    first, second = await connect(), await connect()
    found: list[tuple[str, str, bytes]] = []
    end = asyncio.Event()

    def note(name: str) -> Callable[[str, bytes], None]:
        def handler(subject: str, body: bytes) -> None:
            found.append((name, subject, body))
            if body == b"end":
                end.set()

        return handler

    await first.subscribe("tests.views.*", note("one"))
    await second.subscribe("tests.>", note("rest"))
    for number in range(20):
        await first.publish("tests.views.7", b"%d" % number)
    await first.publish("tests.other.deep.one", b"other")
    await first.publish("tests.views.7", b"end")
    await asyncio.wait_for(end.wait(), SECONDS)
    while len(found) < 43:
        await asyncio.sleep(0.001)
    numbers = [("tests.views.7", b"%d" % number) for number in range(20)]
    assert [each[1:] for each in found if each[0] == "one"] == [*numbers, ("tests.views.7", b"end")]
    assert [each[1:] for each in found if each[0] == "rest"] == [
        *numbers,
        ("tests.other.deep.one", b"other"),
        ("tests.views.7", b"end"),
    ]


async def check_keys(connect: Connect) -> None:
    """A key is written by one of several writers; revisions grow; a watch yields what is, then what changes."""
    first, second = await connect(), await connect()
    one = await first.compare_and_set("node.ada", b"1", 0)
    two = await second.compare_and_set("node.bea", b"2", 0)
    assert 0 < one < two
    with pytest.raises(WrongRevision):
        await second.compare_and_set("node.ada", b"x", 0)
    with pytest.raises(WrongRevision):
        await second.compare_and_set("node.ada", b"x", two)
    with pytest.raises(WrongRevision):
        await second.compare_and_set("node.new", b"x", two)
    three = await second.compare_and_set("node.ada", b"3", one)
    assert three > two
    claims = [bus.compare_and_set("holdem.1", name, 0) for bus, name in ((first, b"ada"), (second, b"bea"))]
    won = await asyncio.gather(*claims, return_exceptions=True)
    assert sorted(type(each) is int for each in won) == [False, True]

    watch = first.watch("node.*")
    assert {await anext(watch), await anext(watch)} == {
        KeyChange("node.bea", b"2", two),
        KeyChange("node.ada", b"3", three),
    }
    four = await second.compare_and_set("node.bea", b"4", two)
    assert await asyncio.wait_for(anext(watch), SECONDS) == KeyChange("node.bea", b"4", four)
    five = await first.compare_and_set("node.ada", b"5", three)
    assert await asyncio.wait_for(anext(watch), SECONDS) == KeyChange("node.ada", b"5", five)
    await watch.aclose()  # type: ignore[attr-defined]  # an asynchronous generator


CHECKS = [check_requests, check_messages, check_keys]
