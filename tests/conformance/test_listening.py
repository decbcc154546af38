"""Listening for programs under test: nothing listens any more after the block, whenever it is cancelled."""

import asyncio

import pytest

from croupier.conformance.listening import HOST, is_listening, open_port
from croupier.conformance.tap.relay import Relay, relay_endpoint


def no_events(_: object) -> None:
    """Observe nothing."""


def relay() -> Relay:
    return Relay((HOST, 1), pytest.fail, no_events)


def test_an_open_port_listens_until_the_block_is_over() -> None:
    async def main() -> tuple[bool, bool]:
        async with open_port(relay_endpoint(relay())) as port:
            inside = await is_listening(HOST, port)
        return inside, await is_listening(HOST, port)

    assert asyncio.run(main()) == (True, False)


@pytest.mark.parametrize("body_turns", [1, 1000])
@pytest.mark.parametrize("turns", range(12))
def test_a_cancelled_block_leaves_nothing_open(turns: int, body_turns: int) -> None:
    ports: list[int] = []

    async def main() -> list[bool]:
        endpoint = relay_endpoint(relay())
        listen = endpoint.listen

        async def noting_listen(host: str, port: int) -> tuple[str, int]:
            address = await listen(host, port)
            ports.append(address[1])
            return address

        endpoint.listen = noting_listen  # type: ignore[method-assign]

        async def block() -> None:
            async with open_port(endpoint):
                for _ in range(body_turns):
                    await asyncio.sleep(0)

        task = asyncio.create_task(block())
        for _ in range(turns):
            await asyncio.sleep(0)
        task.cancel()
        await asyncio.wait({task})
        assert task.cancelled() or body_turns == 1
        return [await is_listening(HOST, port) for port in ports]

    assert not any(asyncio.run(main()))
    assert ports or turns == 0
