"""The MCP server: tools that list the rooms, sit down, observe, act and leave."""

from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from typing import Any, Final

from mcp.server.mcpserver import Context, MCPServer
from mcp.server.mcpserver.exceptions import ToolError

from croupier.clients.holdem_api import Refusal
from croupier.core.errors import Violation
from croupier.core.presentation import UnknownAction
from croupier.mcp.places import OwnPlaces, Places, seat_opener
from croupier.mcp.table import LEAVE, CallTable
from croupier.net.addresses import format_address
from croupier.rooms import ROOMS, find_room
from croupier.version import __version__

MAX_TABLES: Final = 8
"""The tables at which a client may sit at the same time."""

WAIT_SECONDS: Final = 20.0
MAX_WAIT_SECONDS: Final = 50.0
"""How long a tool waits for the other players before it answers: usually, and at most. Clients wait for a minute."""

INSTRUCTIONS: Final = (
    "Play card games at the tables of croupier. Call `rooms` for the games and their rules, `sit` to sit down, then "
    "`act` with one of the actions that the last answer lists, until the table is over or you call `leave`. Where it "
    "is not your turn, `observe` waits for the others. You see only what your seat may see."
)


class Tables:
    """The tables at which the client sits, by their names: `kuhn-1`, `holdem-2`, …"""

    def __init__(self, places: Places) -> None:
        self._places = places
        self._tables: dict[str, CallTable] = {}
        self._stacks: dict[str, AsyncExitStack] = {}
        self._count = 0

    async def sit(self, room_name: str, player: str | None) -> str:
        """Sit down in a room and return the name of the table. Raises ToolError."""
        try:
            room = find_room(room_name)
            if len(self._tables) >= MAX_TABLES:
                raise ToolError(f"found {MAX_TABLES} tables; leave one of them first: {', '.join(self._tables)}")
            stack = AsyncExitStack()
            address = await self._places.address(room)
            open_seat = await stack.enter_async_context(seat_opener(room, address, player))
        except (ValueError, OSError, Refusal, Violation) as error:
            raise ToolError(str(error)) from error
        self._count += 1
        name = f"{room.name}-{self._count}"
        table = CallTable(room.load_extra("presenter")(), open_seat, format_address(address))
        stack.push_async_callback(table.close)
        self._tables[name], self._stacks[name] = table, stack
        return name

    def find(self, name: str) -> CallTable:
        """The table with a name. Raises ToolError."""
        if name not in self._tables:
            allowed = ", ".join(self._tables) or "none; call `sit` first"
            raise ToolError(f"found the table {name!r}; allowed: {allowed}")
        return self._tables[name]

    async def observe(self, name: str, wait_seconds: float) -> dict[str, object]:
        """Wait for the turn at a table, and describe it. Raises ToolError."""
        table = self.find(name)
        await table.settle(wait_seconds)
        return {"table": name, **table.observe()}

    async def act(self, name: str, action: str, amount: int | None) -> dict[str, object]:
        """Act at a table, and wait for the next turn. Return what it looks like then. Raises ToolError."""
        table = self.find(name)
        if action == LEAVE:
            return await self.leave(name)
        try:
            await table.act(action, amount, WAIT_SECONDS)
        except UnknownAction as error:
            raise ToolError(str(error)) from error
        return {"table": name, **table.observe()}

    async def leave(self, name: str) -> dict[str, object]:
        """Leave a table. Return what it looked like at the end. Raises ToolError."""
        table = self.find(name)
        del self._tables[name]
        async with self._stacks.pop(name):
            await table.leave(WAIT_SECONDS)
        return {"table": name, **table.observe()}

    async def close(self) -> None:
        """Leave all tables at once."""
        for stack in self._stacks.values():
            await stack.aclose()


def make_server(make_places: Callable[[], Places] = OwnPlaces) -> MCPServer[Tables]:
    """An MCP server. The places are made when a client connects, and closed when it is gone."""

    @asynccontextmanager
    async def lifespan(_: MCPServer[Tables]) -> AsyncIterator[Tables]:
        places = make_places()
        tables = Tables(places)
        try:
            yield tables
        finally:
            await tables.close()
            await places.close()

    server: MCPServer[Tables] = MCPServer(
        "croupier", version=__version__, instructions=INSTRUCTIONS, lifespan=lifespan, log_level="ERROR"
    )

    @server.tool()
    async def rooms() -> dict[str, object]:
        """List the rooms: the name, the title and the rules of each game."""
        presenters = {name: room.load_extra("presenter") for name, room in ROOMS.items()}
        return {
            "rooms": [
                {"room": name, "title": str(presenter.title), "rules": str(presenter.rules)}
                for name, presenter in presenters.items()
            ]
        }

    @server.tool()
    async def sit(context: Context[Any], room: str, player: str | None = None) -> dict[str, object]:
        """Sit down at a table of a room, and wait for your turn. `player` is your name in holdem and oldmaid."""
        tables = tables_of(context)
        return await tables.observe(await tables.sit(room, player), WAIT_SECONDS)

    @server.tool()
    async def observe(context: Context[Any], table: str, wait_seconds: float = WAIT_SECONDS) -> dict[str, object]:
        """Describe a table as your seat sees it. If it is not your turn, wait for it, up to 50 seconds."""
        return await tables_of(context).observe(table, min(max(wait_seconds, 0.0), MAX_WAIT_SECONDS))

    @server.tool()
    async def legal_actions(context: Context[Any], table: str) -> dict[str, object]:
        """List what you can do now: the id of each action and, if it takes a whole number, the range of `amount`."""
        return {"table": table, "actions": tables_of(context).find(table).legal_actions()}

    @server.tool()
    async def act(context: Context[Any], table: str, action: str, amount: int | None = None) -> dict[str, object]:
        """Do one of the legal actions, and wait until it is your turn again. Returns the table as `observe` does."""
        return await tables_of(context).act(table, action, amount)

    @server.tool()
    async def leave(context: Context[Any], table: str) -> dict[str, object]:
        """Leave a table. What you have bet in an unfinished game may be lost: see the warning of the action `leave`."""
        return await tables_of(context).leave(table)

    return server


def tables_of(context: Context[Any]) -> Tables:
    """The tables of the client that calls a tool."""
    tables: Tables = context.request_context.lifespan_context
    return tables
