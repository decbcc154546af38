"""How the test server behaves in a case, and how long it waits."""

from collections.abc import Callable, Mapping, Sequence
from enum import Enum, auto
from typing import Any

from msgspec import Struct

from croupier.conformance.channel.delivery import WHOLE, Delivery
from croupier.conformance.conditions import Condition
from croupier.conformance.conversation import Conversation, DialogueLine
from croupier.core.errors import Violation

type Obligation = Callable[[Conversation], str]
"""Returns the clause by which the client has to send something now, empty if it need not."""

type Unforeseeable = Callable[[Any, Any], bool]
"""Whether a client could not foresee an answer of the house when it sent a message: the answer and the message."""


def never(answer: Any, sent: Any) -> bool:  # noqa: ARG001 -- see `Unforeseeable`
    """Whether an answer is unforeseeable where clients know everything that the house decides by."""
    return False


type HouseLimit = Callable[[Violation, Any, Sequence[DialogueLine]], bool]
"""See `ClientTestData.is_limit_of_house`."""


def no_limit(violation: Violation, sent: Any, before: Sequence[DialogueLine]) -> bool:  # noqa: ARG001 -- see `HouseLimit`
    """Whether a message is only beyond a limit of the house, where the document states all limits."""
    return False


class HouseAction(Enum):
    """What the house does when the state was reached."""

    PLAY = auto()
    """Play on."""
    LEAVE = auto()
    """Say goodbye and close at once."""
    CLOSE = auto()
    """Say goodbye with the end of the game and close."""
    HANG_UP = auto()
    """Close without a goodbye, which is a fault of the house."""


class ClientTimeouts(Struct, frozen=True):
    """How long to wait for the client, in seconds.

    `act_seconds` is for a client that has to send something; `idle_seconds` for one that need not, because no game is
    in progress, and for one that has received a fault of the house; `close_seconds` for one that has seen the house
    close.
    """

    act_seconds: float = 5.0
    idle_seconds: float = 1.0
    close_seconds: float = 1.0


class HouseSetup(Struct, frozen=True, kw_only=True):
    """How the test server behaves; see `HouseAction` and `Delivery`.

    After `max_games` games the conversation ends, whether the state was reached or not.
    """

    is_reached: Condition
    action: HouseAction = HouseAction.PLAY
    delivery: Delivery = WHOLE
    max_games: int = 12
    min_games: int = 1
    """At least this many games are finished once the state was reached."""
    message_gap_seconds: float = 0.0
    """The pause between two messages, also between the answers to two messages of the client."""
    delayed_messages: Mapping[bytes, float] = {}
    """Messages of the house that are held back for some seconds."""
