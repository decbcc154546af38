"""The MCP server: tools that list the rooms, sit down, observe, act and leave."""

from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from typing import Annotated, Any, Final

from mcp.server.mcpserver import Context, MCPServer
from mcp.server.mcpserver.exceptions import ToolError
from mcp.types import ToolAnnotations
from pydantic import Field

from croupier.clients.holdem_api import Refusal
from croupier.clients.luck import Login, new_login
from croupier.core.errors import Violation
from croupier.core.presentation import UnknownAction
from croupier.core.room import Room
from croupier.core.usernames import skeleton
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

RoomName = Annotated[str, Field(description="The room.", json_schema_extra={"enum": [*ROOMS]})]
PlayerName = Annotated[str | None, Field(description="Your name in holdem and oldmaid; without it you get one.")]
TableName = Annotated[str, Field(description="The table, as `sit` has named it, such as kuhn-1.")]
WaitSeconds = Annotated[float, Field(description="How long to wait for your turn, in seconds: 0 to 50.")]
ActionName = Annotated[str, Field(description="The `action` of one of the table's actions.")]
ActionAmount = Annotated[
    int | None, Field(description="For an action that has an `amount`: a whole number from its `low` to its `high`.")
]

READ_ONLY: Final = ToolAnnotations(read_only_hint=True)

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
        self._users: dict[str, str] = {}
        self._passwords: dict[str, str] = {}  # of the names that the client has chosen
        self._count = 0

    async def sit(self, room_name: str, player: str | None) -> dict[str, object]:
        """Sit down in a room, wait for the turn, and describe the table. Raises ToolError."""
        if len(self._tables) >= MAX_TABLES:
            raise ToolError(f"found {MAX_TABLES} tables; leave one of them first: {', '.join(self._tables)}")
        stack = AsyncExitStack()
        try:
            room = find_room(room_name)
            login = self._login(room, player)
            address = await self._places.address(room)
            open_seat = await stack.enter_async_context(seat_opener(room, address, login))
        except (ValueError, OSError, Refusal, Violation) as error:
            raise ToolError(str(error)) from error
        self._count += 1
        name = f"{room.name}-{self._count}"
        table = CallTable(room.load_extra("presenter")(), open_seat, format_address(address))
        stack.push_async_callback(table.close)
        self._tables[name], self._stacks[name], self._users[name] = table, stack, login.user
        seen = await self.observe(name, WAIT_SECONDS)
        if table.end_reason is not None:
            await self.leave(name)
            raise ToolError(str(table.end_reason))
        return seen

    def _login(self, room: Room, player: str | None) -> Login:
        """The login of a player: the same for the same name. Raises ValueError if the name sits in the room."""
        login = new_login()
        if not player:
            return login
        if skeleton(player) in map(skeleton, self._places.bot_names(room)):
            raise ValueError(f"found the name {player!r}, that of a bot; allowed: another name")
        for name, user in self._users.items():
            if user == player and name.startswith(f"{room.name}-"):
                raise ValueError(f"found the name {player!r}, which you use at the table {name}; allowed: another name")
        return Login(player, self._passwords.setdefault(player, login.password))

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
        del self._tables[name], self._users[name]
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

    @server.tool(annotations=READ_ONLY)
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
    async def sit(context: Context[Any], room: RoomName, player: PlayerName = None) -> dict[str, object]:
        """Sit down at a new table of a room, and wait for your turn, up to 20 seconds. Returns the table as `observe`
        does.
        """
        return await tables_of(context).sit(room, player)

    @server.tool(annotations=READ_ONLY)
    async def observe(
        context: Context[Any], table: TableName, wait_seconds: WaitSeconds = WAIT_SECONDS
    ) -> dict[str, object]:
        """Describe a table as your seat sees it. If it is not your turn, wait for it.

        `text` is what has happened since your last action, and the table. `your_turn` is true when you can act;
        `seconds_left` is your time for that, null if it is unknown. `actions` are the legal ones. `results` are the
        last finished games, and `is_over` is true when you have left or the server is gone.
        """
        return await tables_of(context).observe(table, min(max(wait_seconds, 0.0), MAX_WAIT_SECONDS))

    @server.tool(annotations=READ_ONLY)
    async def legal_actions(context: Context[Any], table: TableName) -> dict[str, object]:
        """List what you can do now: the id of each action and, if it takes a whole number, the range of `amount`."""
        return {"table": table, "actions": tables_of(context).find(table).legal_actions()}

    @server.tool()
    async def act(
        context: Context[Any], table: TableName, action: ActionName, amount: ActionAmount = None
    ) -> dict[str, object]:
        """Do one of the legal actions, and wait until it is your turn again, up to 20 seconds. Returns the table as
        `observe` does.
        """
        return await tables_of(context).act(table, action, amount)

    @server.tool()
    async def leave(context: Context[Any], table: TableName) -> dict[str, object]:
        """Leave a table. What you have bet in an unfinished game may be lost: see the warning of the action `leave`."""
        return await tables_of(context).leave(table)

    return server


def tables_of(context: Context[Any]) -> Tables:
    """The tables of the client that calls a tool."""
    tables: Tables = context.request_context.lifespan_context
    return tables
