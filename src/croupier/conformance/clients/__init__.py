"""What the clients of each room are tested with: situations a house can lead them into, and ways in which it speaks."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from croupier.conformance.clients.responders import Mutation
from croupier.conformance.clients.test_server import AnyClientReferee, Obligation, StateReached
from croupier.conformance.conversation import Conversation
from croupier.core.referee import HOUSE
from croupier.core.room import HouseRoom


@dataclass(frozen=True, kw_only=True)
class ClientTestState:
    """Something that a house can lead a client into, and the clause that says what the client makes of it.

    `missing` says, when it has not come up, why. `settings` and `decks` are those of the house. `farewell`: a house
    also says goodbye there. `games` is how many games are played for it to come up. `demands`: the clause is the one by
    which the client has to speak there; `rests`: it need not do anything any more.
    """

    slug: str
    title: str
    clause: str
    is_reached: StateReached
    missing: str
    settings: Mapping[str, Any] = field(default_factory=dict)
    decks: str = ""
    allows_goodbye: bool = False
    max_games: int = 12
    demands_answer: bool = False
    may_rest: bool = False


@dataclass(frozen=True, kw_only=True)
class WireVariation:
    """A way in which a house may speak. `tolerated`: nobody has to understand it."""

    slug: str
    title: str
    clause: str
    mutation: Mutation
    is_tolerated: bool = False
    settings: Mapping[str, Any] = field(default_factory=dict)
    decks: str = ""


@dataclass(frozen=True, kw_only=True)
class InjectedFault:
    """A way in which a house breaks a rule; `hangs_up`: the clause also says that a client hangs up then."""

    slug: str
    title: str
    clause: str
    mutation: Mutation
    requires_hang_up: bool = False


@dataclass(frozen=True, kw_only=True)
class ClientTestData:
    """What a room adds to the cases for clients, besides its transcripts.

    `situations` begin with the plainest one, and `glued` are those in which the house says several messages in one go.
    `word` is the clause by which the client has the word, `rest` the one by which it has it behind a game that is over,
    empty where that is nothing special. The other clauses of the room say that the client speaks `first`; what a
    `message` is made of; that TCP is a `stream`; that who is over a `limit` is sent away, and who finds no `seat`; that
    a house says `goodbye` at any time; and how it says so with the end of a game when it is `closing`.

    `waits` has a word that the client has to wait for, and the clause that says so. `late` is the clause that tolerates
    what a strict referee, and only he, finds wrong with a client. `unreadable` are the clauses by which a client hangs
    up on what it cannot read. `untestable` tells of every clause without a case why it has none.
    """

    room: HouseRoom
    states: Sequence[ClientTestState]
    glued_states: Sequence[ClientTestState]
    variations: Sequence[WireVariation]
    faults: Sequence[InjectedFault]
    obligation: Obligation
    first_clause: str
    message_clause: str
    stream_clause: str
    limit_clause: str
    seat_clause: str
    goodbye_clause: str
    closing_clause: str
    untestable: Mapping[str, str]
    idle_obligation: Callable[[AnyClientReferee], str] = lambda _: ""
    late_clause: str = ""
    unreadable_clauses: frozenset[str] = frozenset()
    awaited_message: tuple[bytes, str] | None = None
    goodbye_variations: Sequence[WireVariation] = ()


def has_house_said(conversation: Conversation, message: object) -> bool:
    """Whether this is the last thing that was said, by the house."""
    return (
        bool(conversation.lines) and conversation.lines[-1].side == HOUSE and conversation.lines[-1].message == message
    )


def rewrite_each(change: Callable[[bytes], bytes]) -> Mutation:
    """The habit of spelling every message in another way."""
    return lambda answers: [change(answer) for answer in answers]


def replace_messages(old: bytes, new: bytes) -> Mutation:
    """The habit of saying something else in the place of every message that begins like this."""
    return lambda answers: [new if answer.startswith(old) else answer for answer in answers]


def drop_messages(old: bytes) -> Mutation:
    """The habit of leaving out every message that begins like this."""
    return lambda answers: [answer for answer in answers if not answer.startswith(old)]


def append_to_messages(old: bytes, more: bytes) -> Mutation:
    """The habit of saying more behind every message that begins like this."""
    return lambda answers: [answer + more if answer.startswith(old) else answer for answer in answers]
