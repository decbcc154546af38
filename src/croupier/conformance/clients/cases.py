"""Client test cases: generated from the test data of a room and from its transcripts."""

from collections.abc import Container, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import Enum, auto
from typing import Any, Final

from msgspec import structs

from croupier.conformance.case import Case, Retries
from croupier.conformance.channel.delivery import Delivery
from croupier.conformance.clauses import clauses
from croupier.conformance.clients.setup import HouseAction, HouseSetup
from croupier.conformance.clients.test_data import ClientTestData, ClientTestState, WireVariation
from croupier.conformance.conditions import finished, never_reached
from croupier.conformance.conversation import FIRST_SECTION, GOODBYE_SECTION, STREAM_SECTION
from croupier.conformance.resources import transcripts
from croupier.conformance.responders import Mutation, TranscriptStep, transcript_steps, unchanged
from croupier.core.codec import Codec
from croupier.core.errors import Violation
from croupier.core.transcript import Transcript, house_settings, is_fault_of_house, is_strict

RETRIES: Final = Retries(at_most=3, seconds=2.0)
"""How often a case is tried that has not come up, by chance or because of the client."""

PIECE_GAP_SECONDS: Final = 0.002
"""The pause between two pieces of an answer, so that each is a read of its own."""

LATE_ANSWER_SECONDS: Final = 1.0
"""How late an answer is that an impatient client does not wait for."""

MESSAGE_GAP_SECONDS: Final = 0.02
"""The pause between two messages, so that no client can take them for one."""

GOODBYE_DELAY_SECONDS: Final = 0.2
"""How long a message is held back that the client has to wait for."""

BASELINE_GAMES: Final = 3
"""The games of a baseline in which a client goes on after each of its first two."""

APART_SETUP: Final[Mapping[str, float]] = {"min_games": 2, "message_gap_seconds": MESSAGE_GAP_SECONDS}
"""The setup of a house whose messages arrive one by one."""

DELIVERIES: Final[Mapping[str, tuple[str, Delivery]]] = {
    "byte-by-byte": ("one byte at a time", Delivery(max_piece_bytes=1, delay_seconds=PIECE_GAP_SECONDS)),
    "two-bytes-at-a-time": ("two bytes at a time", Delivery(max_piece_bytes=2, delay_seconds=PIECE_GAP_SECONDS)),
    "three-bytes-at-a-time": ("three bytes at a time", Delivery(max_piece_bytes=3, delay_seconds=PIECE_GAP_SECONDS)),
    "five-bytes-at-a-time": ("five bytes at a time", Delivery(max_piece_bytes=5, delay_seconds=PIECE_GAP_SECONDS)),
    "seven-bytes-at-a-time": ("seven bytes at a time", Delivery(max_piece_bytes=7, delay_seconds=PIECE_GAP_SECONDS)),
    "slowly": ("late, and in pieces of four bytes", Delivery(max_piece_bytes=4, delay_seconds=0.05)),
}
"""Deliveries of answers: a slug, words for the title, and the delivery."""

MAX_GAMES: Final = 50
"""How many games are played with a client until it says goodbye by itself."""

MAX_MESSAGES_BEFORE_FAULT: Final = 2
"""Replayed faults come after at most this many messages of the client: longer scripts are rarely followed."""


class CaseKind(Enum):
    """What a case tests."""

    PLAY = auto()
    """The client handles a state."""
    VARIATION = auto()
    """The client handles a variation; a failure that the baseline does not show is on the clause of the case."""
    TOLERANCE = auto()
    """The client need not accept the messages: its behaviour is reported."""
    GOODBYE = auto()
    """The house says goodbye and closes."""
    FAULT = auto()
    """The house breaks a rule: the client's behaviour is reported."""
    WAIT = auto()
    """The client waits for the last message of the house."""


@dataclass(frozen=True, kw_only=True)
class HouseClientCase(Case):
    """A case for clients: the state that is tested, and how the house behaves (`setup`, `mutation`).

    `baseline` is the same case without its special feature: what fails there as well is not on the clause of this case.
    `other_baseline` is another one, for a client that does not play on in the first.
    `transcript_steps` is the part of the house if it is taken from a transcript. `may_be_silent`: the client need not
    send anything.
    """

    kind: CaseKind
    state: ClientTestState
    setup: HouseSetup
    mutation: Mutation = unchanged
    baseline: "HouseClientCase | None" = None
    other_baseline: "HouseClientCase | None" = None
    transcript_steps: tuple[TranscriptStep, ...] | None = None
    may_be_silent: bool = False


RANKS: Final = {CaseKind.VARIATION: 2, CaseKind.TOLERANCE: 2, CaseKind.FAULT: 3}
"""The order of the cases: first whether a client plays, then unusual messages, and at last faults of the house."""


def client_cases(test_data: ClientTestData) -> Sequence[HouseClientCase]:
    """Return every case for the clients of a room, in the order of the clauses. Ids are unique."""
    order = {clause: number for number, clause in enumerate(clauses(test_data.room.name))}
    return tuple(sorted(CaseGenerator(test_data).cases(), key=lambda case: order[case.clause]))


class CaseGenerator:
    """Makes the cases of a room from its test data and its transcripts."""

    def __init__(self, test_data: ClientTestData) -> None:
        self._data = test_data
        self._plainest = test_data.states[0]
        self._between_games = replace(
            self._plainest, slug="a-game", is_reached=finished(1), missing="the client never finished a game"
        )
        self._whole_game = replace(self._between_games, max_games=3)
        self._whole_games = self._baseline(self._whole_game, "plain")

    def cases(self) -> Sequence[HouseClientCase]:
        """Every case."""
        found = [*self._plays(), *self._deliveries(), *self._goodbyes()]
        found += [*self._variations(), *self._faults()]
        used = {(case.clause, case.slug) for case in found}
        return [*found, *self._replays(used)]

    def _case(
        self,
        state: ClientTestState,
        clause: str,
        slug: str,
        title: str,
        *,
        kind: CaseKind = CaseKind.PLAY,
        setup: Mapping[str, Any] | None = None,
        **more: Any,
    ) -> HouseClientCase:
        """A case in which the house plays as usual, but for what `setup` changes."""
        if "baseline" not in more:
            more["baseline"] = self._whole_games
        return HouseClientCase(
            clause=clause,
            slug=slug,
            title=title,
            rank=RANKS.get(kind, state.rank),
            retries=RETRIES,
            kind=kind,
            state=state,
            setup=HouseSetup(is_reached=state.is_reached, max_games=state.max_games, **(setup or {})),
            **more,
        )

    def _varied(self, state: ClientTestState, variation: WireVariation, **more: Any) -> HouseClientCase:
        """A case in which the house varies its messages."""
        return self._case(state, variation.clause, variation.slug, variation.title, mutation=variation.mutation, **more)

    def _baseline(self, state: ClientTestState, slug: str, **setup: float) -> HouseClientCase:
        """A state without any special feature."""
        setup = {"min_games": 2, **setup}
        return self._case(state, state.clause, f"{slug}-{state.slug}", state.title, setup=setup, baseline=None)

    def _plays(self) -> Iterator[HouseClientCase]:
        for state in self._data.states:
            yield self._case(state, state.clause, state.slug, state.title)
        yield self._case(
            replace(
                self._plainest,
                is_reached=lambda talk: bool(talk.lines),
                missing="the client never sent a message",
                max_games=12,
            ),
            self._data.clause(FIRST_SECTION),
            "the-client-speaks-first",
            "The client sends the first message: the house waits for it",
        )
        yield self._case(
            self._whole_game,
            self._data.clause(STREAM_SECTION),
            "late-answers",
            "The answers arrive late: the client waits for each of them",
            setup={"delivery": Delivery(delay_seconds=LATE_ANSWER_SECONDS)},
        )
        if self._data.awaited_message is not None:
            message, clause = self._data.awaited_message
            yield self._case(
                replace(
                    self._plainest,
                    is_reached=never_reached,
                    missing="the client never said goodbye",
                    max_games=MAX_GAMES,
                ),
                clause,
                "waits-for-the-last-word",
                "A client that has said goodbye waits for the goodbye of the house",
                kind=CaseKind.WAIT,
                setup={"delayed_messages": {message: GOODBYE_DELAY_SECONDS}},
            )

    def _deliveries(self) -> Iterator[HouseClientCase]:
        """Answers that are split, slow, or sent in one piece."""
        data = self._data
        states = {state.slug: state for state in (self._plainest, *data.glued_states)}
        rows: list[tuple[ClientTestState, str, str, Mapping[str, Any]]] = [
            (state, slug, phrase, {"min_games": 2, "delivery": delivery})
            for slug, (phrase, delivery) in DELIVERIES.items()
            for state in states.values()
        ]
        rows += [(state, "glued", "in one piece", {}) for state in data.glued_states]
        rows += [(state, "apart", "one by one", APART_SETUP) for state in data.glued_states]
        for state, slug, phrase, setup in rows:
            together = self._baseline(state, "plain", min_games=BASELINE_GAMES)
            apart = self._baseline(state, "apart", **{**APART_SETUP, "min_games": BASELINE_GAMES})
            yield self._case(
                state,
                data.clause(STREAM_SECTION),
                f"{slug}-{state.slug}",
                f"{'The' if setup else 'Several'} answers arrive {phrase}: {_begin_small(state.title)}",
                kind=CaseKind.VARIATION,
                setup=setup,
                baseline=together if setup is APART_SETUP else apart,
                other_baseline=together if setup else None,
            )

    def _goodbyes(self) -> Iterator[HouseClientCase]:
        """The house leaves: at once, with the end of a game, before a game, and without a goodbye."""
        data, over = self._data, self._between_games
        goodbye_clause = data.clause(GOODBYE_SECTION)
        leaving, late = {"action": HouseAction.LEAVE}, Delivery(delay_seconds=GOODBYE_DELAY_SECONDS)
        yield self._case(
            replace(over, is_reached=lambda _: True),
            data.seat_clause,
            "no-seat",
            "A house that has no room says goodbye before the client has spoken",
            kind=CaseKind.GOODBYE,
            setup=leaving,
            may_be_silent=True,
        )
        yield self._case(
            replace(over, is_reached=self._plainest.is_reached),
            data.limit_clause,
            "out-of-time",
            "A client that is out of time is sent away",
            kind=CaseKind.GOODBYE,
            setup={**leaving, "delivery": late},
        )
        between = WireVariation(goodbye_clause, "between-games", "The house says goodbye between two games")
        for variation in (between, *data.goodbye_variations):
            yield self._varied(over, variation, kind=CaseKind.GOODBYE, setup=leaving)
        for state in (state for state in data.states if state.allows_goodbye):
            for clause, slug, phrase, kind, action in (
                (goodbye_clause, "goodbye", "says goodbye where", CaseKind.GOODBYE, HouseAction.LEAVE),
                (
                    data.closing_clause,
                    "closing",
                    "says goodbye with the end of the game in which",
                    CaseKind.GOODBYE,
                    HouseAction.CLOSE,
                ),
                (
                    goodbye_clause,
                    "hangs-up",
                    "closes without a goodbye where",
                    CaseKind.FAULT,
                    HouseAction.HANG_UP,
                ),
            ):
                title = f"The house {phrase} {_begin_small(state.title)}"
                yield self._case(state, clause, f"{slug}-{state.slug}", title, kind=kind, setup={"action": action})

    def _variations(self) -> Iterator[HouseClientCase]:
        """The house varies its messages."""
        for variation in self._data.variations:
            state = variation.state or self._whole_game
            settings = {**state.settings, **variation.settings}
            yield self._varied(
                replace(state, settings=settings, decks=variation.decks or state.decks),
                variation,
                kind=CaseKind.TOLERANCE if variation.is_tolerated else CaseKind.VARIATION,
                setup={"min_games": 2},
                dialect=variation.dialect,
                baseline=self._whole_games if variation.state is None else self._baseline(state, "plain"),
            )

    def _faults(self) -> Iterator[HouseClientCase]:
        """The house breaks a rule."""
        missing = "the client never led the house to it"
        state = replace(self._whole_game, is_reached=never_reached, missing=missing)
        for fault in self._data.faults:
            yield self._varied(state, replace(fault, slug=f"house-{fault.slug}"), kind=CaseKind.FAULT)

    def _replays(self, used: Container[tuple[str, str]]) -> Iterator[HouseClientCase]:
        """Transcripts in which the house does what ours does not: it is at fault, or makes another choice."""
        room = self._data.room
        for transcript in transcripts(room.name):
            clause, is_fault = transcript.clauses[0], "fault" in transcript.head
            if (clause, transcript.name) in used:
                continue
            if is_strict(transcript) or "dialect" in transcript.head:
                continue
            if not is_fault_of_house(transcript) and transcript.head.get("side") != "player":
                continue
            try:
                script = transcript_steps(room, house_settings(room, transcript), transcript)
            except ValueError:
                continue
            if is_fault and len(script) > MAX_MESSAGES_BEFORE_FAULT + 1:
                continue
            plain = self._plainly_spelled(script)
            kind = _kind_of(self._data, transcript, script, is_varied=plain != script)
            missing = "the client left before the end of the transcript"
            case = self._case(
                ClientTestState(transcript.name, transcript.title, clause, never_reached, missing),
                clause,
                transcript.name,
                transcript.title,
                kind=kind,
                transcript_steps=script,
                may_be_silent=len(script) == 1,
            )
            if kind is CaseKind.VARIATION:
                plain_case = replace(case, slug=f"{case.slug}-plain", transcript_steps=plain, baseline=None)
                case = replace(case, baseline=plain_case)
            yield case

    def _plainly_spelled(self, script: Sequence[TranscriptStep]) -> tuple[TranscriptStep, ...]:
        """The transcript with the messages of the house as our house spells them, each in one piece."""
        codec = self._data.room.codec(False, None)
        return tuple(
            structs.replace(
                step, reply=structs.replace(step.reply, messages=_spelled_again(codec, step.reply.messages))
            )
            for step in script
        )


def _begin_small(title: str) -> str:
    """The title as the end of a sentence: its first letter is small unless the word is a name such as P_1."""
    return title[0].lower() + title[1:] if title[1] == " " or title[1].islower() else title


def _spelled_again(codec: Codec[Any, Any], data: Sequence[bytes]) -> Sequence[bytes]:
    """The messages in these pieces, each in one piece; unchanged if they cannot be read."""
    messages = codec.feed(b"".join(data))
    if any(type(message) is Violation for message in messages):
        return data
    spelled = [codec.encode(message) for message in messages]
    return data if spelled == [*data] else spelled


def _kind_of(
    test_data: ClientTestData, transcript: Transcript, script: Sequence[TranscriptStep], *, is_varied: bool
) -> CaseKind:
    """What a transcript tests. `is_varied`: our house would spell it in another way."""
    if is_fault_of_house(transcript):
        return CaseKind.FAULT
    if script[-1].reply.closes:
        return CaseKind.GOODBYE
    if clauses(test_data.room.name)[transcript.clauses[0]].is_tolerated:
        return CaseKind.TOLERANCE
    return CaseKind.VARIATION if is_varied else CaseKind.PLAY
