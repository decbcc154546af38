"""Test data of a room for client tests: states to lead a client into, variations of messages, and injected faults."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import takewhile
from typing import Any, Final

from croupier.conformance.clients.setup import HouseLimit, Obligation, Unforeseeable, never, no_limit
from croupier.conformance.conditions import Condition, finished
from croupier.conformance.conversation import AnyClientReferee, Conversation
from croupier.conformance.responders import Mutation, unchanged
from croupier.core.referee import HOUSE
from croupier.core.room import HouseRoom

MAX_UINT16: Final = (1 << 16) - 1
"""The largest amount that a client reads rightly which reads two bytes of four."""

NEXT_GAME_SLUG: Final = "next-"
"""How the slug of the state begins in which a game follows another one."""


@dataclass(frozen=True)
class ClientTestState:
    """A state that a house can lead a client into, and the clause about what the client does there.

    `missing` is the reason that is given if it has not come up in `max_games` games. `settings` and `decks` are those
    of the house. `allows_goodbye`: the cases in which the house says goodbye use this state, too. `demands_answer`: the
    clause itself requires the client to send something. `may_rest`: the client need not do anything any more. `rank` is
    that of the case. `shown_by` is whether the last messages of the house alone show what the clause is about, if that
    is not `is_reached`.
    """

    slug: str
    title: str
    clause: str
    is_reached: Condition
    missing: str
    settings: Mapping[str, Any] = field(default_factory=dict)
    decks: str = ""
    allows_goodbye: bool = False
    max_games: int = 12
    demands_answer: bool = False
    may_rest: bool = False
    rank: int = 0
    shown_by: Condition | None = None

    def shows(self, conversation: Conversation) -> bool:
        """Whether the last messages of the house show what the clause is about."""
        return (self.shown_by or self.is_reached)(conversation)


@dataclass(frozen=True)
class WireVariation:
    """A variation of the messages of a house, or a fault in them. If `is_tolerated`, clients need not accept it.

    `dialect` is the dialect of the room in which it exists, empty for any. `state` is the state in which the client
    meets it, None for a whole game.
    """

    clause: str
    slug: str
    title: str
    mutation: Mutation = unchanged
    is_tolerated: bool = False
    settings: Mapping[str, Any] = field(default_factory=dict)
    decks: str = ""
    dialect: str = ""
    state: ClientTestState | None = None


@dataclass(frozen=True, kw_only=True)
class ClientTestData:
    """What the client cases of a room are generated from, in addition to its transcripts.

    `states` begin with the plainest one; `glued_states` are those in which the house sends several messages at once.
    `variations` are permitted, and `faults` are not.

    `obligation` returns the clause by which the client has to send; `idle_obligation` the one by which it has to go on
    after a finished game, empty if there is none. The clauses of the room are: `limit_clause`, clients over a limit are
    disconnected; `seat_clause`, so are clients without a seat; `closing_clause`, a house may say goodbye with the end
    of a game when it shuts down.

    `is_limit_of_house` returns whether a message breaks no rule of the document, only a limit that follows from the
    amounts of the house: the violation, the message and the lines before it. The house refuses it, and plays on.

    `farewell_errors` are errors that a client may report when it leaves. `awaited_message` is the goodbye of either
    side that the client has to wait for, and the clause that says so.
    `late_clause` tolerates what only a strict referee finds wrong with a client. `is_unforeseeable` returns whether a
    client that sends ahead cannot foresee an answer of the house: it does not know its coins. `untestable` are the
    clauses without a case, each with the reason.
    """

    room: HouseRoom
    states: Sequence[ClientTestState]
    glued_states: Sequence[ClientTestState]
    variations: Sequence[WireVariation]
    faults: Sequence[WireVariation]
    obligation: Obligation
    limit_clause: str
    seat_clause: str
    closing_clause: str
    untestable: Mapping[str, str]
    idle_obligation: Callable[[AnyClientReferee], str] = lambda _: ""
    late_clause: str = ""
    is_unforeseeable: Unforeseeable = never
    is_limit_of_house: HouseLimit = no_limit
    farewell_errors: Sequence[Any] = ()
    awaited_message: tuple[bytes, str] | None = None
    goodbye_variations: Sequence[WireVariation] = ()

    def clause(self, section: str) -> str:
        """The clause of the room in a section that all rooms have."""
        return f"{self.room.name}-{section}"

    @property
    def next_game_clause(self) -> str:
        """The clause by which a game follows another one on the same connection."""
        return next(state.clause for state in self.states if state.slug.startswith(NEXT_GAME_SLUG))


def reasons_by_clause(room: str, sections: Mapping[str, str]) -> Mapping[str, str]:
    """The reason why a clause cannot be tested, by clause; `sections` has the numbers of the clauses by reason.

    Example:
        >>> reasons_by_clause("kuhn", {"it binds the house": "6.6 6.7"})
        {'kuhn-6.6': 'it binds the house', 'kuhn-6.7': 'it binds the house'}
    """
    return {f"{room}-{number}": reason for reason, numbers in sections.items() for number in numbers.split()}


def wire_variation(room: str, number: str, slug: str, title: str, mutation: Mutation, **more: Any) -> WireVariation:
    """A variation that the clause with this number is about; `more` are further fields of it."""
    return WireVariation(f"{room}-{number}", slug, title, mutation, **more)


def next_game(clause: str, game: str = "game", **more: Any) -> ClientTestState:
    """The state in which a game follows another one; `more` are further fields of it."""
    missing = f"the client never played a second {game} on its connection"
    return ClientTestState(
        f"{NEXT_GAME_SLUG}{game}",
        f"One {game} after another on the same connection",
        clause,
        finished(2),
        missing,
        **more,
    )


def many_games(clause: str, messages: str = "messages", game: str = "game", **more: Any) -> ClientTestState:
    """The state in which ten games are over; `more` are further fields of it."""
    title = f"All {messages} of ten {game}s are in the table of {messages}"
    missing = f"the client played fewer than ten {game}s"
    return ClientTestState(f"many-{game}s", title, clause, finished(10), missing, max_games=24, rank=1, **more)


def has_house_said(conversation: Conversation, message: object) -> bool:
    """Whether the last message is this one, from the house."""
    return (
        bool(conversation.lines) and conversation.lines[-1].side == HOUSE and conversation.lines[-1].message == message
    )


def just_received(holds: Callable[[Any], bool]) -> Condition:
    """A condition holds for a message that the house has sent after the last one of the client."""

    def is_reached(conversation: Conversation) -> bool:
        last = takewhile(lambda line: line.side == HOUSE, reversed(conversation.lines))
        return any(holds(line.message) for line in last)

    return is_reached


def rewrite_each(change: Callable[[bytes], bytes]) -> Mutation:
    """A mutation that rewrites every message."""
    return lambda answers: [change(answer) for answer in answers]


def replace_messages(old: bytes, new: bytes) -> Mutation:
    """A mutation that replaces every message that begins like this."""
    return lambda answers: [new if answer.startswith(old) else answer for answer in answers]


def drop_messages(old: bytes) -> Mutation:
    """A mutation that drops every message that begins like this."""
    return lambda answers: [answer for answer in answers if not answer.startswith(old)]


def append_to_messages(old: bytes, more: bytes) -> Mutation:
    """A mutation that appends to every message that begins like this."""
    return lambda answers: [answer + more if answer.startswith(old) else answer for answer in answers]
