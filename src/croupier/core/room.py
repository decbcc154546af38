"""A room: everything the rest of the house needs to know about a game, in one value."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pkgutil import resolve_name
from typing import Any, Literal, Protocol

from croupier.core.bots import Bot, BotSpec
from croupier.core.cards import Pack
from croupier.core.client_session import ClientReferee
from croupier.core.codec import Codec
from croupier.core.deal_record import NetCheck
from croupier.core.dealer import Dealer, Luck
from croupier.core.private_table import Purse
from croupier.core.rules import Rules
from croupier.core.session import Effect, Event, Peer, Session, Timeouts


class RoomClient[M](Protocol):
    """The client's side of a room: a session that says what it may say, and can ask a mind what to say."""

    is_exhausted: bool

    @property
    def is_broke(self) -> bool:
        """Whether it is `spent` for want of coins."""
        ...

    @property
    def deadline(self) -> float | None: ...  # noqa: D102 -- as in Session

    @property
    def legal(self) -> Sequence[M]:
        """The messages that Chose may hold now; empty while the house has to speak, or when the talk is over."""
        ...

    def decide(self, bot: Bot[Any, Any], luck: Luck, game: int) -> M | None:
        """What a mind says now, None while there is nothing to decide. `game` counts the games it has played."""
        ...

    def on(self, event: Event[M], now: float) -> Sequence[Effect[M]]: ...  # noqa: D102 -- as in Session


class RefereeFactory(Protocol):
    """Calls a referee of a room."""

    def __call__(self, own: Any, strict: bool, patience: float = 5.0) -> ClientReferee[Any, Any]:
        """A referee, by the settings of the house or the options of the client, None where nothing is known.

        `patience` is how many seconds an answer may take.
        """
        ...


class ClientFactory(Protocol):
    """Makes the client's side of a room."""

    def __call__(self, options: Any, strict: bool, patience: float = 30.0) -> RoomClient[Any]:
        """A client, by its options and whether it is strict. `patience` is how many seconds an answer may take."""
        ...


class TableFactory(Protocol):
    """Opens private tables."""

    def __call__(self, peer: Peer, dealer: Dealer, purse: Purse | None = None) -> Session[Any, Any]:
        """A table for a peer. `purse` is its client's; without it the peer has one of its own, filled as usual."""
        ...


type Extra = Literal["solve", "scene", "server_tests", "client_tests"]
"""An exact solver, a scene of the terminal, and the tester's data about servers and about clients."""


@dataclass(frozen=True, kw_only=True)
class Room:
    """One game. The types of its states and messages are its own; what crosses this table is not typed by them."""

    name: str
    title: str
    port: int
    """The default port of servers and clients."""
    answer_pattern: bytes
    """What everything that a server of this room sends begins with, as a regular expression; no two rooms share it."""
    probe: bytes
    """What a client of this room sends on a connection of its own to find out which game a port speaks.

    It changes nothing in this room; a server of any room answers it at once.
    """
    pack: Pack
    settings: type[Any]
    """A dataclass of what can be set about the house; each field has a docstring below it."""
    options: type[Any]
    """A dataclass of what can be set about a client, as `settings` is for the house."""
    dealt_cards: Callable[[Any], Sequence[str]]
    """The cards of a state of the rules in the order in which they were dealt."""
    bots: Mapping[str, BotSpec[Any, Any]]
    """Every mind that can play, by name."""
    default_bot: str
    """The mind a bot has unless it is told otherwise."""
    net_check: NetCheck
    """How the nets in a dealer's record are checked."""
    message_formatter: Callable[[Any], Callable[[Any], str]] = lambda _: str
    """How a house with these settings spells a message, for people who read the conversations."""
    deck_count: Callable[[Any], int] = lambda _: 1
    """How many times its pack a house with these settings shuffles."""
    document_port: int | None = None
    """The port of the room's document where that is another room's default: a server that is opened alone listens
    there as well, and a client without an address tries it second (G1)."""
    extras: Mapping[Extra, str] = field(default_factory=dict)
    """What other packages have for this room alone, as `module:attribute`; `load_extra` imports it on first use."""

    def load_extra(self, name: Extra) -> Any:
        """Import and return an extra of the room. Raises LookupError if the room has none of that name."""
        if name not in self.extras:
            raise LookupError(f"found the extra {name!r}; allowed for {self.name}: {', '.join(self.extras) or 'none'}")
        return resolve_name(self.extras[name])


@dataclass(frozen=True, kw_only=True)
class HouseRoom(Room):
    """A game against the house: every client that connects has a private table and is answered message by message."""

    rules: Rules[Any, Any]
    sample_messages: Sequence[Any]
    """Messages of every kind, for laws and fuzzing."""
    commands: Callable[[Any], Sequence[str]]
    """What the client, or both sides, have done in a state of the rules: with `dealt` and the seat, all of the game."""
    initial_purse: Callable[[Any], int]
    """The coins that a house with these settings gives a new client."""
    max_purse: int = 2**63 - 1
    """At most so many coins of an account are put into a purse; the rest stays in the account until the next visit."""
    patterns: Mapping[str, bytes]
    """What luck may put in the place of a name in a transcript, as regular expressions."""
    refusal_messages: Sequence[Any]
    """What a house says to a peer that it cannot seat."""
    final_messages: Sequence[Any]
    """The messages of a house behind which it always closes."""
    codec: Callable[[bool, Any], Codec[Any, Any]]
    """A codec for one end of a connection: whether it is strict, without tolerances, and the settings or options."""
    house: Callable[[Any, Timeouts, bool], TableFactory]
    """Tables by the settings and the patience of the house, and whether it is strict.

    Raises ValueError on settings that make no sense.
    """
    player: ClientFactory
    referee: RefereeFactory
