"""A mutation: one fault of a house or of a player, in one state of the protocol, and the clauses that it breaks."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from croupier.core.dealer import Dealer
from croupier.core.errors import Violation
from croupier.core.room import HouseRoom

type Role = Literal["server", "client"]
type Table = Any
"""The house's side of a conversation, a `PrivateTable` of the room."""


@dataclass(frozen=True)
class Situation:
    """What an end answers, or is about to say.

    `state` is a name from the table of the room. For a house, `message` is the client's message, or a Violation if it
    was none; None stands for the greeting. For a player, it is the player's own message. `games` is the number of games
    of this conversation that are over, `messages` the number of messages before this one, `coins` what the purse of a
    house holds, and `game` the game in progress of a house. A change can keep facts in the `memory` of a conversation.
    """

    state: str
    message: Any
    games: int = 0
    messages: int = 0
    coins: int = 0
    game: Any = None
    memory: dict[str, Any] = field(default_factory=dict)

    def is_for(self, state: str, sent: str) -> bool:
        """Whether a message that begins with this text is answered, or sent, in this state."""
        return self.state == state and text_of(self.message).startswith(sent)


type Change = Callable[[Situation, list[bytes]], Sequence[bytes]]
"""Maps a situation and the correct messages to those that are sent; HANG_UP stands for a close."""

type Tamper = Callable[[Table, Situation], None]
"""Changes the state of a house."""

type Reader = Callable[[bytes], Sequence[bytes]]
"""Maps the bytes of one read to those that the program takes from it, message by message; keeps a state of its own."""


def unchanged(situation: Situation, messages: list[bytes]) -> Sequence[bytes]:
    return messages


def untouched(table: Table, situation: Situation) -> None:
    pass


@dataclass(frozen=True, kw_only=True)
class AnyMutation:
    """A fault. `clauses` are the clauses of which a teacher would name one; `operator` is the kind of the fault."""

    room: str
    role: Role
    operator: str
    state: str
    what: str
    clauses: frozenset[str]

    @property
    def name(self) -> str:
        return f"{self.room}-{self.role}: {self.operator}: {self.what}, {self.state}"


@dataclass(frozen=True, kw_only=True)
class Mutation(AnyMutation):
    """A fault at the level of messages.

    `change` changes what is sent. For houses, `before` and `after` change the table before and after it has processed
    a message; `dealer` changes the deals, `new_reader` how bytes become messages; `is_shared`: all connections have the
    same table; `shares_purse`: they have one purse; `is_serial`: a client is served after the one before it has left.
    An Old Maid table that `is_shared` deals the same deck in every game, and `house` is its class.
    """

    change: Change = unchanged
    before: Tamper = untouched
    after: Tamper = untouched
    dealer: Callable[[Dealer], Dealer] | None = None
    new_reader: Callable[[HouseRoom], Reader] | None = None
    is_shared: bool = False
    shares_purse: bool = False
    is_serial: bool = False
    house: type[Any] | None = None


def clauses(room: str, *numbers: str) -> frozenset[str]:
    """The ids of clauses: `clauses("kuhn", "4.1")`."""
    return frozenset(f"{room}-{number}" for number in numbers)


def text_of(message: Any) -> str:
    """A message as text; of unreadable bytes, the clause that they break."""
    return message.clause if isinstance(message, Violation) else str(message)
