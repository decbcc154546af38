"""Rooms: a `Room` value describes a game to the rest of the package."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pkgutil import resolve_name
from typing import Any, Literal, Protocol

from croupier.core.bots import BotSpec
from croupier.core.cards import Pack
from croupier.core.client_session import ClientReferee, ClientSession
from croupier.core.deal_record import NetCheck
from croupier.core.dealer import Dealer
from croupier.core.frames import FrameCodec
from croupier.core.private_table import Purse
from croupier.core.rules import Rules
from croupier.core.session import Peer, Session, Timeouts


class RefereeFactory(Protocol):
    """Makes the referees of a room."""

    def __call__(self, own: Any, strict: bool, reply_timeout: float = 5.0) -> ClientReferee[Any, Any]:
        """A referee. `own` is the settings of the house or the options of the client, None if neither is known.

        `reply_timeout` is the time in seconds that a reply may take.
        """
        ...


class ClientFactory(Protocol):
    """Makes the client's side of a room."""

    def __call__(self, options: Any, *, strict: bool = False, reply_timeout: float = 30.0) -> ClientSession[Any, Any]:
        """A client with these options; `strict` disables tolerances. `reply_timeout` is in seconds."""
        ...


class TableFactory(Protocol):
    """Opens private tables."""

    def __call__(self, peer: Peer, dealer: Dealer, purse: Purse | None = None) -> Session[Any, Any]:
        """A table for a peer. Without a `purse` of its client, the peer gets a new one with the initial coins."""
        ...


type Extra = Literal["solve", "presenter", "arena", "server_tests", "client_tests"]
"""An exact solver, a presenter of the room's tables, its game in the arena, and the tester's suites for servers and for
clients."""


@dataclass(frozen=True, kw_only=True)
class Room:
    """A game. Its states and messages have types of their own, which appear as `Any` here.

    Example:
        >>> from croupier import ROOMS
        >>> rooms: list[Room] = [*ROOMS.values()]
        >>> [f"{room.title} at {room.port}" for room in rooms][:2]
        ['Kuhn poker at 1212', 'Seven and a half at 1213']
    """

    name: str
    title: str
    port: int
    """The default port of servers and clients."""
    answer_pattern: bytes
    """A regular expression for the start of everything that a server of this room sends; unique among the rooms."""
    probe: bytes
    """The bytes that a client of this room sends on a separate connection to detect the game that a port serves.

    They change nothing in this room, and the server of every room answers them at once.
    """
    pack: Pack
    settings: type[Any]
    """A dataclass of the settings of the house; each field has a docstring below it."""
    options: type[Any]
    """A dataclass of the options of a client, in the form of `settings`."""
    dealt_cards: Callable[[Any], Sequence[str]]
    """The dealt cards of a state of the rules, in dealing order."""
    bots: Mapping[str, BotSpec[Any, Any]]
    """All bots of the room, by name."""
    default_bot: str
    """The name of the bot that plays by default."""
    net_check: NetCheck
    """How the nets in a dealer's record are checked."""
    message_formatter: Callable[[Any], Callable[[Any], str]] = lambda _: str
    """For the settings of a house: a function that formats its messages for people."""
    deck_count: Callable[[Any], int] = lambda _: 1
    """For the settings of a house: the number of packs that it shuffles together."""
    document_port: int | None = None
    """The port in the room's protocol document, if it is the default port of another room.

    A server that runs only this room also listens there, and a client without an address tries it second (G1).
    """
    extras: Mapping[Extra, str] = field(default_factory=dict)
    """What other packages have for this room alone, as `module:attribute`; `load_extra` imports it on first use."""
    is_proper_name: bool = False
    """Whether the title begins with a capital letter inside a sentence, too."""

    @property
    def title_in_sentence(self) -> str:
        """The title as it is written inside a sentence: `no-limit hold'em`, `Old Maid`."""
        return self.title if self.is_proper_name else self.title[0].lower() + self.title[1:]

    def load_extra(self, name: Extra) -> Any:
        """Import and return an extra of the room. Raises LookupError if the room has none of that name."""
        if name not in self.extras:
            raise LookupError(f"found the extra {name!r}; allowed for {self.name}: {', '.join(self.extras) or 'none'}")
        return resolve_name(self.extras[name])


@dataclass(frozen=True, kw_only=True)
class HouseRoom(Room):
    """A game against the house: every client has a private table, and the house answers message by message."""

    rules: Rules[Any, Any]
    sample_messages: Sequence[Any]
    """Sample messages of every kind, for property tests and fuzzing."""
    commands: Callable[[Any], Sequence[str]]
    """The moves of the client, or of both sides, in a state of the rules.

    Together with `dealt_cards` and the seat they determine the whole game.
    """
    initial_purse: Callable[[Any], int]
    """For the settings of a house: the coins that it gives to a new client."""
    has_purse: bool = True
    """Whether a house without accounts limits what a client can bet to the coins that it has given."""
    max_purse: int = 2**63 - 1
    """The maximum number of coins moved from an account to a purse; the rest stays in the account."""
    patterns: Mapping[str, bytes]
    """Regular expressions for the random parts of transcripts, by the name that stands for them."""
    refusal_messages: Sequence[Any]
    """The messages that a house sends to a peer that it cannot accept."""
    final_messages: Sequence[Any]
    """The messages of a house after which it always closes the connection."""
    codec: Callable[[bool, Any], FrameCodec[Any]]
    """Makes the codec of one end of a connection: `codec(strict, settings_or_options)`; strict disables tolerances."""
    house: Callable[[Any, Timeouts, bool], TableFactory]
    """Makes a factory of tables: `house(settings, timeouts, strict)`. Raises ValueError for invalid settings."""
    player: ClientFactory
    referee: RefereeFactory
