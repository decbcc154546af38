"""The official SDK's client plays at our tables, in memory and through a child process."""

import asyncio
import json
import re
import sys
from typing import Any

import pytest

from croupier.mcp.places import OwnPlaces, ServerPlaces
from croupier.mcp.server import MAX_TABLES, make_server
from croupier.rooms import ROOMS, find_room
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


def test_the_arguments_of_the_tools_are_described() -> None:
    async def main() -> None:
        async with Client(make_server()) as client:
            tools = {tool.name: tool for tool in (await client.list_tools()).tools}
            for tool in tools.values():
                assert all(each["description"] for each in tool.input_schema["properties"].values())
            assert tools["sit"].input_schema["properties"]["room"]["enum"] == [*ROOMS]
            read_only = [name for name, tool in tools.items() if tool.annotations and tool.annotations.read_only_hint]
            assert read_only == ["rooms", "observe", "legal_actions"]

    asyncio.run(main())


def test_a_number_for_an_action_that_takes_none_is_an_error() -> None:
    async def main() -> None:
        async with Client(make_server()) as client:
            table = (await call(client, "sit", room="kuhn"))["table"]
            assert "found first 3; allowed: first, without a number" in await error(
                client, "act", table=table, action="first", amount=3
            )

    asyncio.run(main())


def test_a_name_that_cannot_sit_down_is_an_error_and_leaves_no_table() -> None:
    async def main() -> None:
        async with Client(make_server()) as client:
            for room, bot in (("holdem", "Marta"), ("holdem", "marta"), ("oldmaid", "Berit")):
                assert "that of a bot; allowed: another name" in await error(client, "sit", room=room, player=bot)
            table = (await call(client, "sit", room="holdem", player="ann"))["table"]
            assert f"which you use at the table {table}; " in await error(client, "sit", room="holdem", player="ann")
            assert f"allowed: {table}" in await error(client, "observe", table="?")

    asyncio.run(main())


def test_a_player_who_has_left_hold_em_sits_down_again_under_the_same_name() -> None:
    async def main() -> None:
        async with Client(make_server()) as client:
            for number in (1, 2):
                seen = await call(client, "sit", room="holdem", player="ann")
                assert (seen["table"], seen["is_over"]) == (f"holdem-{number}", False)
                await call(client, "leave", table=seen["table"])

    asyncio.run(main())


def test_a_name_that_somebody_has_registered_at_the_server_is_an_error() -> None:
    async def main() -> None:
        places = OwnPlaces()
        host, port = await places.address(find_room("holdem"))
        try:
            server = make_server(lambda: ServerPlaces(host, port))
            async with Client(server) as one, Client(server) as other:
                await call(one, "sit", room="holdem", player="ann")
                assert (
                    "found the name 'ann', which another player has registered; allowed: another name"
                    in await error(other, "sit", room="holdem", player="ann")
                )
        finally:
            await places.close()

    asyncio.run(main())


def test_a_server_that_is_not_there_is_an_error_and_leaves_no_table() -> None:
    async def main() -> None:
        places = OwnPlaces()
        host, port = await places.address(find_room("kuhn"))
        await places.close()
        async with Client(make_server(lambda: ServerPlaces(host, port))) as client:
            assert f"No house answers at {host}:{port}" in await error(client, "sit", room="kuhn")
            assert "allowed: none; call `sit` first" in await error(client, "observe", table="kuhn-1")

    asyncio.run(main())


def test_the_end_of_a_hand_shows_the_board_and_the_winning_hand() -> None:
    """Go all in until somebody who has called wins a showdown. Others may bet beside that."""
    showdown = re.compile(r"Flop: .*\n(?:.*\n)*Turn: .*\n(?:.*\n)*River: .*\n(?:.*\n)*\w+ wins? \d+ with the ")

    async def main() -> None:
        async with Client(make_server(lambda: OwnPlaces(seed=1))) as client:
            seen = await call(client, "sit", room="holdem", player="ann")
            assert 3590 <= (seen["seconds_left"] or 3600) <= 3600
            for _ in range(60):
                while not seen["your_turn"]:
                    seen = await call(client, "observe", table=seen["table"])
                raises = [each for each in seen["actions"] if each["action"] == "raise" and "amount" in each]
                amount = {"amount": raises[0]["amount"]["high"]} if raises else {}
                action = "raise" if raises else seen["actions"][0]["action"]
                seen = await call(client, "act", table=seen["table"], action=action, **amount)
                if showdown.search(seen["text"]):
                    break
            assert showdown.search(seen["text"]), seen["text"]

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
