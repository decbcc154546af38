"""What nodes send each other over the bus, as JSON."""

from collections.abc import Mapping, Sequence
from typing import Final, Self

from msgspec import Raw, Struct
from msgspec.json import Decoder, decode, encode

from croupier.cluster.lease import HOLDEM, NodeState
from croupier.core.session import Peer
from croupier.rooms.holdem.table.finished_hands import FinishedHand
from croupier.rooms.holdem.table.presentation import Rendered, ShownTable, TableState
from croupier.rooms.holdem.wire import (
    ACT_DONE,
    ActDone,
    Created,
    Game,
    Guid,
    HoldemRequest,
    HoldemResponse,
    PlayerLeft,
    Queued,
    RequestRefused,
)

NODE_KEYS: Final = "node"
VIEW_SUBJECT: Final = "croupier.view"
"""The prefix of the subjects of changed views; the rest is the number of the house."""


def node_subject(node: str) -> str:
    """Return the subject on which a node takes requests."""
    return f"croupier.node.{node}"


class NodeValue(Struct, frozen=True, omit_defaults=True):
    """The value of a node's key. `process` is different for every process that uses the name of the node.

    `connections` has the number of clients that are connected to each room of the node, `clients` the numbers of the
    newest ones of the houses with private tables, and `players` the names of the players in some rooms. `rooms` are
    those whose houses the node can own.
    """

    state: NodeState
    process: str = ""
    version: str = ""
    connections: Mapping[str, int] = {}
    clients: Mapping[str, Sequence[Peer]] = {}
    players: Mapping[str, Sequence[str]] = {}
    rooms: Sequence[str] = (HOLDEM,)


class OwnerValue(Struct, frozen=True):
    """The value of a house's key, which is named after its room and its number."""

    owner: str


class Position(Struct, frozen=True, gc=False, order=True, array_like=True):
    """The place of a change among those that the owner of a house has published.

    `term` is the number of the owner's first entry in the journal, so that later owners have larger ones; `number`
    counts from 1.
    """

    term: int
    number: int


class Forwarded(Struct, frozen=True, gc=False, tag="request"):
    """A request for a house of the node."""

    request: HoldemRequest


class HandWanted(Struct, frozen=True, gc=False, tag="hand"):
    """A question for a finished hand of a house of the node."""

    game: Guid
    number: int


class ViewsWanted(Struct, frozen=True, gc=False, tag="views"):
    """A question for the tables of a house of the node after the one with a number."""

    house: int
    after: int = 0


class PositionWanted(Struct, frozen=True, gc=False, tag="position"):
    """A question for the position of the views of a house of the node."""

    house: int


type NodeRequest = Forwarded | HandWanted | ViewsWanted | PositionWanted

decode_request: Final = Decoder(NodeRequest).decode

RESPONSE_TYPES: Final[Mapping[str, type[HoldemResponse]]] = {
    each.__name__: each for each in (Created, Queued, ActDone, PlayerLeft, RequestRefused)
}


class Reply(Struct, frozen=True, gc=False, omit_defaults=True):
    """The answer of a node. `answer` is JSON of the type `kind`: a response, a hand, or views; without, there is none.

    Without `is_owner` nothing was done. A response may be given when the views of `house` are those at `position`.
    """

    is_owner: bool = True
    kind: str = ""
    answer: Raw = Raw(b"null")
    house: int = 0
    position: Position = Position(0, 0)

    @classmethod
    def of(cls, response: HoldemResponse, house: int, position: Position) -> Self:
        """Make the reply to a request."""
        return cls(True, type(response).__name__, Raw(encode(response)), house, position)

    @classmethod
    def of_hand(cls, hand: FinishedHand) -> Self:
        """Make the reply with a hand."""
        return cls(True, "hand", Raw(hand.json))

    @classmethod
    def of_views(cls, views: "Views") -> Self:
        """Make the reply with a page of views."""
        return cls(True, "views", Raw(encode(views)))

    @property
    def response(self) -> HoldemResponse:
        """The response to a request."""
        response = decode(self.answer, type=RESPONSE_TYPES[self.kind])
        return ACT_DONE if response == ACT_DONE else response  # whose rendering is kept

    @property
    def hand(self) -> FinishedHand | None:
        """The hand that was wanted, None if there is none."""
        return FinishedHand.from_json(bytes(self.answer)) if self.kind else None


decode_reply: Final = Decoder(Reply).decode


class MirroredTable(TableState, frozen=True, gc=False, omit_defaults=True):
    """What a table shows, for other nodes. Its finished hands stay where they are; see `HouseGroup.find_hand`."""

    public: Game
    holes: dict[str, tuple[str, ...]]

    @classmethod
    def of(cls, shown: ShownTable) -> Self:
        """Copy what a table shows."""
        return cls(*(getattr(shown, name) for name in cls.__struct_fields__))

    @property
    def shown(self) -> ShownTable:
        """What the table shows, at another node."""
        state = {name: getattr(self, name) for name in TableState.__struct_fields__}
        return ShownTable(**state, hands={}, render=lambda: Rendered(self.public, self.holes))


class Views(Struct, frozen=True, gc=False, omit_defaults=True):
    """Tables of a house at `position`: those that have changed since the position before, or a page of all.

    `removed` are the games that are gone since, `has_more` says that further pages follow. With `is_beat` the position
    alone is repeated.
    """

    house: int
    position: Position
    tables: tuple[MirroredTable, ...] = ()
    removed: tuple[Guid, ...] = ()
    has_more: bool = False
    is_beat: bool = False


decode_views: Final = Decoder(Views).decode
