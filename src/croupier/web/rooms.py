"""The rooms of a server as the web app opens seats in them."""

from collections.abc import Sequence
from dataclasses import fields
from typing import TYPE_CHECKING, Any, Final, Protocol, runtime_checkable

from msgspec import Struct

from croupier.core.presentation import Text, text, verbatim
from croupier.core.room import HouseRoom, Room
from croupier.core.session import Address
from croupier.http.auth import Authenticator
from croupier.http.holdem_app import TablesApp
from croupier.http.house_group import HouseGroup
from croupier.net.endpoint import Endpoint
from croupier.observers.counters import RoomFigures
from croupier.rooms.oldmaid.settings import Settings as RingSettings
from croupier.rooms.oldmaid.table.game import TableGame

if TYPE_CHECKING:  # imported at run time only by nodes
    from croupier.cluster.table_views import RoomElsewhere

ROOM_UNAVAILABLE: Final = text("Nobody can play in this room now. Try again later.")
"""What the lobby says of a room that is not ready; `/readyz` gives the reason."""

BOTS_AFTER_SECONDS: Final = 3.0
"""Other people have this long to join people at a table; then bots take places that are left."""

MAX_NAMES: Final = 12
"""The number of players whom the lobby names in a room."""


@runtime_checkable
class OldMaidGames(Protocol):
    """The session of the table of Old Maid, as far as the lobby and watchers need it."""

    @property
    def games(self) -> Sequence[TableGame]:
        """The running games, the oldest first."""
        ...

    @property
    def nicks(self) -> Sequence[str]:
        """The players in running games, and those who wait for one."""
        ...


class RoomEntry(Struct, frozen=True):
    """A room of the server: `open_room` is what serves it, with these settings.

    With `has_accounts` the coins of a client are known to the room alone. `address` is that of the room for programs on
    this machine, None if it is not known or needs TLS. `bots` join people who are alone at a table; if it is empty, the
    usual ones do. `elsewhere` is the room at the other nodes of a cluster, None if this server is not a node.
    """

    room: Room
    settings: Any
    open_room: RoomFigures
    has_accounts: bool = False
    address: Address | None = None
    bots: tuple[str, ...] = ()
    elsewhere: "RoomElsewhere | None" = None

    @property
    def is_playable(self) -> bool:
        """Whether people can play in a browser."""
        if isinstance(self.settings, RingSettings):
            return self.address is not None
        return "presenter" in self.room.extras and (
            isinstance(self.room, HouseRoom) or isinstance(self.open_room, TablesApp)
        )

    @property
    def player_count(self) -> int:
        """The number of players: connections to all nodes or processes of the server, users in games of hold'em."""
        if isinstance(self.open_room, TablesApp):
            return len(self.open_room.service.views.games.users)
        if self.elsewhere is not None:
            return self.open_room.connection_count + self.elsewhere.connection_count
        if isinstance(self.open_room, Endpoint):
            return self.open_room.server_connection_count
        return self.open_room.connection_count

    @property
    def players(self) -> Sequence[str]:
        """The names of the players, none in games against the house: its clients have no names."""
        if isinstance(self.open_room, TablesApp):
            games = self.open_room.service.views.games_for(None)
            return [*dict.fromkeys(user for game in games for user in game.shown.guids)]
        if isinstance(self.open_room, Endpoint) and isinstance(self.open_room.session, OldMaidGames):
            return self.open_room.session.nicks
        return []

    @property
    def house(self) -> "HouseEntry":
        """What a seat needs of a playable room."""
        assert isinstance(self.room, HouseRoom), "other rooms have no private tables"
        assert isinstance(self.open_room, Endpoint), "a house is an endpoint"
        return HouseEntry(self.room, self.settings, self.open_room, self.has_accounts)


class HouseEntry(Struct, frozen=True):
    """A house game of the server."""

    room: HouseRoom
    settings: Any
    endpoint: Endpoint
    has_accounts: bool = False

    @property
    def purse(self) -> int | None:
        """The coins that the house gives to a new connection, None if there are none or only the house knows them."""
        return self.room.initial_purse(self.settings) if self.room.has_purse and not self.has_accounts else None

    def client_options(self) -> Any:
        """Return the options of a client for the settings of the house, such as its dialect."""
        shared = {each.name for each in fields(self.room.options)} & {each.name for each in fields(self.settings)}
        return self.room.options(**{name: getattr(self.settings, name) for name in shared})


class RoomView(Struct, frozen=True):
    """A room as the lobby shows it: `connected` players, at most MAX_NAMES of whom have a name in `players`."""

    name: str
    title: Text
    rules: Text | None
    connected: int
    players: Sequence[str]
    is_playable: bool
    unavailable: Text | None


class RoomName(Struct, frozen=True):
    """A room as parts of pages need it: it need not be open on this server."""

    name: str
    title: Text


def room_title(room: Room) -> Text:
    """Return the name of a room's game."""
    if "presenter" not in room.extras:
        return verbatim(room.title)
    title: Text = room.load_extra("presenter").title
    return title


def room_view(entry: RoomEntry) -> RoomView:
    """Describe a room."""
    presenter = entry.room.load_extra("presenter") if entry.is_playable else None
    return RoomView(
        name=entry.room.name,
        title=room_title(entry.room),
        rules=None if presenter is None else presenter.rules,
        connected=entry.player_count,
        players=entry.players[:MAX_NAMES],
        is_playable=entry.is_playable,
        unavailable=None if entry.open_room.unavailable_reason is None else ROOM_UNAVAILABLE,
    )


def holdem_service(entry: RoomEntry) -> HouseGroup | None:
    """Return the service of the hold'em room, None for other rooms."""
    return entry.open_room.service if isinstance(entry.open_room, TablesApp) else None


def authenticator(entry: RoomEntry) -> Authenticator | None:
    """Return what checks the passwords of the users of hold'em, None for other rooms."""
    return entry.open_room.authenticator if isinstance(entry.open_room, TablesApp) else None
