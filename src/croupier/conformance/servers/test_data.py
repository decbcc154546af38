"""Test data of a room for server tests: states, inputs, and the cases that only this room has."""

from collections import Counter
from collections.abc import Callable, Collection, Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from random import Random
from typing import Any, Protocol

from croupier.conformance.case import Case
from croupier.conformance.channel.delivery import WHOLE, Delivery
from croupier.conformance.conditions import Condition
from croupier.conformance.conversation import AnyClientReferee, Conversation, DialogueLine
from croupier.conformance.servers.deals import FairDealRule
from croupier.conformance.servers.scripted_client import ClientScript
from croupier.core.room import HouseRoom


class RefereeSource(Protocol):
    """Creates the referees of a run, which may know what earlier conversations have shown."""

    def new_referee(self, reply_timeout: float) -> Any:
        """Create the referee of a new conversation."""

    def observe(self, referee: Any) -> None:
        """Learn from the referee of a conversation that is over."""

    def are_independent(self, referees: Sequence[Any]) -> bool:
        """Whether conversations that were held at the same time show of each client what it would show alone."""


type ClientStrategy = Callable[[AnyClientReferee, Random], object]
"""Chooses the next message among those that are allowed now."""


@dataclass(frozen=True)
class ServerTestState:
    """A state of the game in which the client may send. `title` is used in case titles: `before the first game`.

    `is_reached` detects the state and `strategy` leads to it.
    """

    name: str
    title: str
    is_reached: Condition
    strategy: ClientStrategy | None = None
    max_games: int = 1
    """It has to come up within this many games; otherwise a new conversation is started."""


type DialectFrame = Callable[[str], bytes]
"""Bytes that are no message, but whose spelling depends on the dialect of the room."""


@dataclass(frozen=True)
class Input:
    """A message or bytes that a client can send, valid or not. `title` describes it to people.

    `clauses` maps the states in which it is worth sending to the clause that governs the answer of the house.
    """

    slug: str
    title: str
    message: object
    clauses: Mapping[str, str]


@dataclass
class ScenarioContext:
    """What a scenario can use: the conversation so far, a random source of its own, and the test data of the room.

    An answer may take `answer_timeout` seconds. `dialect` is the dialect of the room that the house is known to speak.
    `progress` counts the concurrent clients that have started, and those that have reached their goal. `earlier` are
    the conversations of the scenarios before this one in the same case.
    """

    conversation: Conversation
    luck: Random
    test_data: "ServerTestData"
    encode: Callable[[Any], bytes]
    answer_timeout: float = 1.0
    dialect: str = "document"
    progress: Counter[str] = field(default_factory=Counter)
    earlier: Sequence[Conversation] = ()

    @property
    def referee(self) -> AnyClientReferee:
        """The referee of the conversation, which knows the game."""
        return self.conversation.referee

    def encoded(self, message: object) -> bytes:
        """Encode a message; bytes are returned unchanged, and a DialectFrame is spelled in the room's dialect."""
        if callable(message):
            message = message(self.dialect)
        return message if isinstance(message, bytes) else self.encode(message)


type Scenario = Callable[[ScenarioContext], ClientScript]
"""What a client does in one try of a case, on a connection of its own."""


@dataclass(frozen=True, kw_only=True)
class HouseServerCase(Case):
    """A case for servers. Its scenarios have a connection each, one after the other, or all at the same time.

    The scenarios with the numbers `independent` need nothing of each other: a house that serves several clients may
    have them at the same time. A case that `is_rare` has one scenario, and takes many games: several clients may play
    it until one of them reaches its goal. If the case `judges_deals`, its scenarios are played until enough games were
    dealt, and all games of the run are judged.
    """

    scenarios: tuple[Scenario, ...]
    is_concurrent: bool = False
    independent: range = range(0)
    is_rare: bool = False
    delivery: Delivery = WHOLE
    judges_deals: bool = False

    @property
    def runs_alone(self) -> bool:
        """See `Case.runs_alone`: it knows how many clients play, or all that was dealt before."""
        return self.is_concurrent or self.judges_deals

    @property
    def stages(self) -> Sequence[Sequence[Scenario]]:
        """The scenarios in order; those of a stage may be played at the same time."""
        first, last = self.independent.start, self.independent.stop
        before, after = self.scenarios[:first], self.scenarios[last:]
        together = [self.scenarios[first:last]] if self.independent else []
        return [*((each,) for each in before), *together, *((each,) for each in after)]


@dataclass(frozen=True)
class FarewellRule:
    """How to judge a goodbye and a close of the house.

    `is_goodbye` recognises the messages of a goodbye. If no game is in progress, the house may have a reason of its own
    to close, and is accused only if it starts another one. `clause` forbids a goodbye in answer to a readable message,
    empty if the clause of the missing answer does. A house that `may_play_once` may close after a game.
    """

    is_goodbye: Callable[[Any], bool]
    clause: str = ""
    may_play_once: bool = False


@dataclass(frozen=True)
class Reading:
    """A wrong reading of a clause of the rules. `explains` decides whether it leads to the answers in a dialogue."""

    title: str
    clause: str
    explains: Callable[[Sequence[DialogueLine]], bool]


@dataclass(frozen=True, kw_only=True)
class ServerTestData:
    """What the cases of a room are generated from, in addition to its transcripts.

    `invalid_inputs` are the slugs of the inputs that are not allowed but after which the conversation goes on.
    `room_cases` are the cases that only this room has, its coverage goals among them.

    `outline` describes a game (and whether it is over) apart from its messages. A replayed transcript has to reach the
    same outline if it is about chance, i.e. if its first clause begins with one of `luck_clauses`. `kind_of` is the
    kind of a message, without what depends on chance.

    `strategy` plays a game. `goodbye` is what a client sends before it leaves. `sample_game` is a whole game that is
    valid with any cards.

    `untestable` are the clauses that no client can test, each with the reason. `shared_clauses` are the clauses of the
    cases that all rooms share, by topic.
    """

    room: HouseRoom
    states: Sequence[ServerTestState]
    inputs: Sequence[Input]
    invalid_inputs: Collection[str]
    room_cases: Sequence[HouseServerCase]
    outline: Callable[[Any, bool], Hashable]
    kind_of: Callable[[Any], str]
    is_refusal: Callable[[Any], bool]
    strategy: ClientStrategy
    goodbye: tuple[object, ...]
    sample_game: tuple[object, ...]
    untestable: Mapping[str, str]
    shared_clauses: Mapping[str, str]
    farewell_rule: FarewellRule
    fair_deal: FairDealRule
    luck_clauses: tuple[str, ...] = ()
    tolerated_clauses: Collection[str] = ()
    """The clauses that tolerate what a client should not send: a house may accept it or refuse it."""
    harmless_settings: Mapping[str, Collection[str]] = field(default_factory=dict)
    """Header fields of transcripts with values that do not change the kinds of the messages."""
    owes_answer: Callable[[AnyClientReferee], bool] = field(default=lambda referee: referee.deadline is not None)
    new_referee_source: Callable[[Any], RefereeSource] | None = None
    """Creates, from the known options, a source of referees that know more than the room's."""
    independence: Scenario | None = None
    """What a client plays to show that it has nothing to do with others, by default a few games at random."""
    readings: Sequence[Reading] = ()
    """The right reading of the rules, and wrong ones with which a house may be right in every game."""
    refusal_clauses: Mapping[str, str] = field(default_factory=dict)
    """The clauses about what a refusal leaves unchanged, by the kind of the refused message; see `shared_clauses`."""
    refusals_of_payment: Collection[object] = ()
    """The messages with which the house refuses what the client cannot pay."""

    @property
    def moves(self) -> Sequence[Any]:
        """The messages that a house accepts only in a game."""
        start = self.states[0].name
        return [
            given.message
            for given in self.inputs
            if any(map(is_about_answers, given.clauses.values()))
            and not (is_about_answers(given.clauses.get(start, "")) or isinstance(given.message, bytes))
        ]


def is_about_answers(clause: str) -> bool:
    """Whether a clause is in section 4 of its page, which has the answers to what is allowed."""
    return clause.partition("-")[2].startswith("4.")
