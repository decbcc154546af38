"""The official SDK's client plays at our tables, in memory and through a child process."""

import asyncio
import json
import sys
from typing import Any

import pytest

from croupier.mcp.places import OwnPlaces
from croupier.mcp.server import MAX_TABLES, make_server
from croupier.rooms import ROOMS
from croupier.version import __version__
from mcp import Client, StdioServerParameters

pytestmark = pytest.mark.interop

TOOLS = ["rooms", "sit", "observe", "legal_actions", "act", "leave"]


async def call(client: Client, tool: str, **arguments: Any) -> dict[str, Any]:
    """Call a tool that succeeds. Its text is its result as JSON."""
    answer = await client.call_tool(tool, arguments)
    assert not answer.is_error, answer.content
    assert answer.structured_content is not None
    assert json.loads(answer.content[0].text) == answer.structured_content  # type: ignore[union-attr]  # it is a text
    return dict(answer.structured_content)


async def error(client: Client, tool: str, **arguments: Any) -> str:
    """Call a tool that fails, and return its message."""
    answer = await client.call_tool(tool, arguments)
    assert answer.is_error
    return str(answer.content[0].text)  # type: ignore[union-attr]  # it is a text


async def play(client: Client, room: str, moves: int = 8) -> list[str]:
    """Sit down, do the first legal action each time, and leave. Return what was seen."""
    seen = await call(client, "sit", room=room)
    table, texts = seen["table"], [seen["text"]]
    for _ in range(moves):
        while not seen["your_turn"]:
            assert not seen["is_over"]
            seen = await call(client, "observe", table=table)
        offered = (await call(client, "legal_actions", table=table))["actions"]
        assert offered == seen["actions"]
        amount = {"amount": offered[0]["amount"]["low"]} if "amount" in offered[0] else {}
        seen = await call(client, "act", table=table, action=offered[0]["action"], **amount)
        texts.append(seen["text"])
    assert (await call(client, "leave", table=table))["is_over"]
    return texts


def test_a_client_plays_in_every_room() -> None:
    async def main() -> None:
        async with Client(make_server(lambda: OwnPlaces(seed=1))) as client:
            assert client.server_info.version == __version__
            assert [tool.name for tool in (await client.list_tools()).tools] == TOOLS
            listed = await call(client, "rooms")
            assert [room["room"] for room in listed["rooms"]] == [*ROOMS]
            for room in ROOMS:
                assert len(await play(client, room)) == 9

    asyncio.run(main())


def test_mistakes_of_a_client_are_errors_that_name_what_is_allowed() -> None:
    async def main() -> None:
        async with Client(make_server()) as client:
            assert "found the room 'chess'; allowed: " in await error(client, "sit", room="chess")
            assert "found the table 'kuhn-1'; allowed: none; call `sit` first" in await error(
                client, "observe", table="kuhn-1"
            )
            table = (await call(client, "sit", room="sevenhalf"))["table"]
            assert "found draw; allowed: " in await error(client, "act", table=table, action="draw")
            for _ in range(MAX_TABLES - 1):
                await call(client, "sit", room="sevenhalf")
            assert f"found {MAX_TABLES} tables; leave one of them" in await error(client, "sit", room="kuhn")
            await call(client, "act", table=table, action="leave")
            await call(client, "sit", room="kuhn")
            assert "found the table" in await error(client, "leave", table=table)

    asyncio.run(main())


def test_the_command_speaks_mcp_on_its_standard_input_and_output() -> None:
    async def main() -> list[str]:
        command = StdioServerParameters(command=sys.executable, args=["-m", "croupier", "mcp", "--seed", "1"])
        async with Client(command) as client:
            await play(client, "holdem", moves=2)
            return await play(client, "blackjack")

    async def in_memory() -> list[str]:
        async with Client(make_server(lambda: OwnPlaces(seed=1))) as client:
            return await play(client, "blackjack")

    assert asyncio.run(main()) == asyncio.run(in_memory())
