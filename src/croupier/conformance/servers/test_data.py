"""The ground of a room's cases: where a client can be in a game, what it can say there, and what luck can bring."""

from collections import Counter
from collections.abc import Callable, Collection, Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from random import Random
from typing import Any

from croupier.conformance.conversation import Conversation
from croupier.conformance.servers.scripted_client import ClientScript
from croupier.core.client_session import ClientReferee
from croupier.core.room import HouseRoom

type AnyClientReferee = ClientReferee[Any, Any]

type ClientStrategy = Callable[[AnyClientReferee, Random], object]
"""Picks what to say next, one of the messages that are allowed now."""


@dataclass(frozen=True)
class ServerTestState:
    """A place in a game in which the client has the word. `told` stands in titles: `before the first game`.

    `here` tells whether this is it, and `aim` leads there.
    """

    name: str
    title: str
    is_reached: Callable[[AnyClientReferee], bool]
    strategy: ClientStrategy | None = None
    max_games: int = 1
    """In the course of so many games it has to come up, or else a new conversation is begun."""


@dataclass(frozen=True)
class Input:
    """Something that a client can say, right or wrong: a message, or bytes. `told` is how it is told to people.

    `clauses` says which clause tells what a house does about it, for every situation in which it is worth saying.
    """

    slug: str
    title: str
    message: object
    clauses: Mapping[str, str]


@dataclass(frozen=True)
class CoverageGoal:
    """What games are played for until it comes up: an end, a card, a score. `aim` as in `Situation`.

    `seen` is asked of the referee whenever a game is over. `games` are played on one connection, at most.
    """

    slug: str
    title: str
    clause: str
    is_reached: Callable[[AnyClientReferee], bool]
    strategy: ClientStrategy | None = None
    max_games: int = 12


@dataclass
class ScenarioContext:
    """What a script goes by: the conversation so far, luck of its own, and the ground it stands on.

    `patience` is how many seconds an answer may take. `company` counts the clients that play together and have begun.
    """

    conversation: Conversation
    luck: Random
    test_data: "ServerTestData"
    encode: Callable[[Any], bytes]
    answer_timeout: float = 1.0
    started_clients: Counter[str] = field(default_factory=Counter)

    @property
    def referee(self) -> AnyClientReferee:
        """The referee, who knows the game."""
        return self.conversation.referee

    def encoded(self, message: object) -> bytes:
        """The bytes of a message; of what is bytes already, themselves."""
        return message if isinstance(message, bytes) else self.encode(message)


type Scenario = Callable[[ScenarioContext], ClientScript]
"""What is done in one try of a case, on a connection of its own."""


@dataclass(frozen=True)
class ExtraCase:
    """A case that only this room has; what is played has a connection each, one after the other."""

    slug: str
    title: str
    clause: str
    scenarios: tuple[Scenario, ...]


@dataclass(frozen=True)
class FarewellRule:
    """How the houses of a room take leave where they refuse and say farewell by the same message.

    `clause` forbids a farewell in answer to what can be read. `opening` begins a game: where none is being played the
    house may have a reason of its own to close, and is accused only if it takes this.
    """

    clause: str
    opening: bytes


@dataclass(frozen=True, kw_only=True)
class ServerTestData:
    """What the cases of a room are made from, besides its transcripts.

    `outline` is what has to be as on paper, besides the sorts of messages, where a transcript is about what luck
    brings: where its first clause begins with one of `lucky`. It is asked of a game and of whether it is over. `sort`
    is the sort of a message, without what luck decides in it. `goodbye` is what a client says before it leaves, and
    `farewells` are the messages by which it does. `moves` are what a client may say to play on, and `blunders` the
    remarks, by their slugs, behind which the conversation goes on. `game` is what it says from the start of a game to
    its end, whatever the cards. `untestable` are the clauses that no client can show, each with the reason. `shared`
    are the clauses that the cases of all rooms stand on, by what they are about.
    """

    room: HouseRoom
    states: Sequence[ServerTestState]
    inputs: Sequence[Input]
    invalid_inputs: Collection[str]
    goals: Sequence[CoverageGoal]
    extra_cases: Sequence[ExtraCase]
    outline: Callable[[Any, bool], Hashable]
    kind_of: Callable[[Any], str]
    is_refusal: Callable[[Any], bool]
    strategy: ClientStrategy
    goodbye: tuple[object, ...]
    goodbye_messages: Collection[object]
    sample_game: tuple[object, ...]
    untestable: Mapping[str, str]
    shared_clauses: Mapping[str, str]
    luck_clauses: tuple[str, ...] = ()
    tolerated_clauses: Collection[str] = ()
    """The clauses that tolerate what a client should not send: a house may take it or refuse it."""
    harmless_settings: Mapping[str, Collection[str]] = field(default_factory=dict)
    """Settings that a transcript may have in its head, with values that do not change the sorts of what is said."""
    owes_answer: Callable[[AnyClientReferee], bool] = field(default=lambda referee: referee.deadline is not None)
    new_referee: Callable[[Any, bool, float], AnyClientReferee] | None = None
    """A referee that knows more than the room's, by what is known of the house, whether it is strict, and patience."""
    farewell_rule: FarewellRule | None = None
