"""Client test cases: generated from the test data of a room and from its transcripts."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import Enum, auto
from typing import Any, Final

from croupier.conformance.case import Case, Retries, make_case_id
from croupier.conformance.channel.delivery import Delivery
from croupier.conformance.clauses import clauses
from croupier.conformance.clients import ClientTestData, ClientTestState
from croupier.conformance.clients.responders import Mutation, TranscriptStep, transcript_steps, unchanged
from croupier.conformance.clients.test_server import HouseAction, HouseSetup
from croupier.conformance.resources import transcripts
from croupier.core.transcript import Transcript, house_settings, is_strict

RETRIES: Final = Retries(at_most=3, seconds=2.0)
"""How often a case is tried that has not come up, by chance or because of the client."""

PIECE_GAP_SECONDS: Final = 0.002
"""The pause between two pieces of an answer, so that each is a read of its own."""

MESSAGE_GAP_SECONDS: Final = 0.02
"""The pause between two messages, so that no client can take them for one."""

GOODBYE_DELAY_SECONDS: Final = 0.2
"""How long a message is held back that the client has to wait for."""

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
    HANG_UP = auto()
    """The house breaks a rule, and the client has to disconnect."""
    WAIT = auto()
    """The client waits for the last message of the house."""


@dataclass(frozen=True, kw_only=True)
class HouseClientCase(Case):
    """A case for clients: the settings and behaviour of the house (`setup`, `mutation`), and what is tested.

    `dialect` is the dialect of the room in which it is played, empty for any.
    `baseline` is the same case without its special feature: what fails there as well is not on the clause of this case.
    `transcript_steps` is the part of the house if it is taken from a transcript. `missing` is the reason that is given
    if the state has not come up. `may_be_silent`: the client need not send anything. `demands_answer` and `may_rest`
    are as in `ClientTestState`.
    """

    kind: CaseKind
    setup: HouseSetup
    dialect: str = ""
    settings: Mapping[str, Any] = field(default_factory=dict)
    decks: str = ""
    mutation: Mutation = unchanged
    baseline: "HouseClientCase | None" = None
    transcript_steps: tuple[TranscriptStep, ...] | None = None
    missing: str = ""
    may_be_silent: bool = False
    demands_answer: bool = False
    may_rest: bool = False


RANKS: Final = {CaseKind.VARIATION: 2, CaseKind.TOLERANCE: 2, CaseKind.FAULT: 3, CaseKind.HANG_UP: 3}
"""The order of the cases: first whether a client plays, then unusual messages, and at last faults of the house."""


def client_cases(test_data: ClientTestData) -> Sequence[HouseClientCase]:
    """Return every case for the clients of a room, in the order of the clauses. Ids are unique."""
    cases = [*_plays(test_data), *_deliveries(test_data), *_goodbyes(test_data)]
    cases += [*_variations(test_data), *_faults(test_data), *_transcript_cases(test_data, cases)]
    order = {clause: number for number, clause in enumerate(clauses(test_data.room.name))}
    ranked = (replace(case, rank=RANKS.get(case.kind, 0), retries=RETRIES) for case in cases)
    return tuple(sorted(ranked, key=lambda case: order[case.clause]))


def _case(
    test_data: ClientTestData, state: ClientTestState, clause: str, slug: str, title: str, **more: Any
) -> HouseClientCase:
    """A case with the defaults of a state."""
    setup = HouseSetup(is_reached=state.is_reached, max_games=state.max_games)
    defaults = {
        "kind": CaseKind.PLAY,
        "setup": setup,
        "settings": state.settings,
        "decks": state.decks,
        "missing": state.missing,
        "baseline": _plain_baseline(test_data),
        "may_rest": state.may_rest,
        "demands_answer": state.demands_answer,
    }
    return HouseClientCase(
        id=make_case_id(test_data.room.name, clause, slug), title=title, clause=clause, **{**defaults, **more}
    )


def _plain_baseline(test_data: ClientTestData) -> HouseClientCase:
    """Whole games without any special feature."""
    return _baseline(test_data, _game_over(test_data), "plain")


def _baseline(
    test_data: ClientTestData, state: ClientTestState, slug: str, message_gap_seconds: float = 0.0
) -> HouseClientCase:
    """A state without any special feature; with `message_gap_seconds`, messages are separated by that many seconds."""
    return HouseClientCase(
        id=make_case_id(test_data.room.name, state.clause, f"{slug}-{state.slug}"),
        title=state.title,
        clause=state.clause,
        kind=CaseKind.PLAY,
        setup=HouseSetup(
            is_reached=state.is_reached, max_games=state.max_games, min_games=2, message_gap_seconds=message_gap_seconds
        ),
        settings=state.settings,
        decks=state.decks,
        missing=state.missing,
    )


def _plays(test_data: ClientTestData) -> Iterator[HouseClientCase]:
    for state in test_data.states:
        yield _case(test_data, state, state.clause, state.slug, state.title)
    plainest = test_data.states[0]
    yield _case(
        test_data,
        plainest,
        test_data.first_clause,
        "the-client-speaks-first",
        "A house that says nothing of its own accord is spoken to",
        setup=HouseSetup(is_reached=lambda talk: bool(talk.lines)),
        missing="the client never spoke",
    )
    if test_data.awaited_message is not None:
        word, clause = test_data.awaited_message
        yield _case(
            test_data,
            plainest,
            clause,
            "waits-for-the-last-word",
            "A client that has said goodbye waits for the goodbye of the house",
            kind=CaseKind.WAIT,
            setup=HouseSetup(
                is_reached=lambda _: False, delayed_messages={word: GOODBYE_DELAY_SECONDS}, max_games=MAX_GAMES
            ),
            missing="the client never said goodbye",
        )


def _game_over(test_data: ClientTestData) -> ClientTestState:
    """A whole game, whatever its result."""
    return replace(
        test_data.states[0],
        slug="a-game",
        is_reached=lambda context: context.referee.finished_count >= 1,
        missing="the client never finished a game",
        max_games=3,
    )


def _deliveries(test_data: ClientTestData) -> Iterator[HouseClientCase]:
    """Answers that are split, slow, or sent in one piece."""
    states = {state.slug: state for state in (test_data.states[0], *test_data.glued_states)}
    for slug, (phrase, delivery) in DELIVERIES.items():
        for state in states.values():
            setup = HouseSetup(is_reached=state.is_reached, max_games=state.max_games, min_games=2, delivery=delivery)
            yield _case(
                test_data,
                state,
                test_data.stream_clause,
                f"{slug}-{state.slug}",
                f"The answers arrive {phrase}: {state.title[0].lower()}{state.title[1:]}",
                kind=CaseKind.VARIATION,
                setup=setup,
                baseline=_baseline(test_data, state, "apart", MESSAGE_GAP_SECONDS),
            )
    for state in test_data.glued_states:
        yield _case(
            test_data,
            state,
            test_data.stream_clause,
            f"glued-{state.slug}",
            f"Several answers arrive in one piece: {state.title[0].lower()}{state.title[1:]}",
            kind=CaseKind.VARIATION,
            baseline=_baseline(test_data, state, "apart", MESSAGE_GAP_SECONDS),
        )


def _goodbyes(test_data: ClientTestData) -> Iterator[HouseClientCase]:
    """The house leaves: at once, with the end of a game, before a game, and without a goodbye."""
    over = _game_over(test_data)
    yield _case(
        test_data,
        over,
        test_data.seat_clause,
        "no-seat",
        "A house that has no room says goodbye before the client has spoken",
        kind=CaseKind.GOODBYE,
        setup=HouseSetup(is_reached=lambda _: True, action=HouseAction.LEAVE),
        may_be_silent=True,
    )
    yield _case(
        test_data,
        over,
        test_data.limit_clause,
        "out-of-time",
        "A client that is out of time is sent away",
        kind=CaseKind.GOODBYE,
        setup=HouseSetup(
            is_reached=test_data.states[0].is_reached,
            action=HouseAction.LEAVE,
            delivery=Delivery(delay_seconds=GOODBYE_DELAY_SECONDS),
        ),
    )
    yield _case(
        test_data,
        over,
        test_data.goodbye_clause,
        "between-games",
        "The house says goodbye between two games",
        kind=CaseKind.GOODBYE,
        setup=HouseSetup(is_reached=over.is_reached, action=HouseAction.LEAVE),
    )
    for variation in test_data.goodbye_variations:
        yield _case(
            test_data,
            over,
            variation.clause,
            variation.slug,
            variation.title,
            kind=CaseKind.GOODBYE,
            setup=HouseSetup(is_reached=over.is_reached, action=HouseAction.LEAVE),
            mutation=variation.mutation,
        )
    for state in test_data.states:
        if not state.allows_goodbye:
            continue
        setup = HouseSetup(is_reached=state.is_reached, max_games=state.max_games, action=HouseAction.LEAVE)
        phrase = f"{state.title[0].lower()}{state.title[1:]}"
        yield _case(
            test_data,
            state,
            test_data.goodbye_clause,
            f"goodbye-{state.slug}",
            f"The house says goodbye where {phrase}",
            kind=CaseKind.GOODBYE,
            setup=setup,
        )
        yield _case(
            test_data,
            state,
            test_data.closing_clause,
            f"closing-{state.slug}",
            f"The house says goodbye with the end of the game in which {phrase}",
            kind=CaseKind.GOODBYE,
            setup=HouseSetup(is_reached=state.is_reached, max_games=state.max_games, action=HouseAction.CLOSE),
        )
        yield _case(
            test_data,
            state,
            test_data.goodbye_clause,
            f"hangs-up-{state.slug}",
            f"The house hangs up without a word where {phrase}",
            kind=CaseKind.FAULT,
            setup=HouseSetup(is_reached=state.is_reached, max_games=state.max_games, action=HouseAction.HANG_UP),
        )


def _variations(test_data: ClientTestData) -> Iterator[HouseClientCase]:
    """The house varies its messages."""
    over = _game_over(test_data)
    for variation in test_data.variations:
        yield _case(
            test_data,
            over,
            variation.clause,
            variation.slug,
            variation.title,
            kind=CaseKind.TOLERANCE if variation.is_tolerated else CaseKind.VARIATION,
            setup=HouseSetup(is_reached=over.is_reached, max_games=over.max_games, min_games=2),
            mutation=variation.mutation,
            settings={**over.settings, **variation.settings},
            decks=variation.decks,
            dialect=variation.dialect,
        )


def _faults(test_data: ClientTestData) -> Iterator[HouseClientCase]:
    """The house breaks a rule."""
    over = _game_over(test_data)
    for fault in test_data.faults:
        yield _case(
            test_data,
            over,
            fault.clause,
            f"house-{fault.slug}",
            fault.title,
            kind=CaseKind.HANG_UP if fault.requires_hang_up else CaseKind.FAULT,
            setup=HouseSetup(
                is_reached=lambda _: False, max_games=over.max_games, listens_after_fault=fault.requires_hang_up
            ),
            mutation=fault.mutation,
            missing="the client never led the house to it",
        )


def _transcript_cases(test_data: ClientTestData, others: Sequence[HouseClientCase]) -> Iterator[HouseClientCase]:
    """Transcripts in which the house does what ours does not: it is at fault, or makes another choice."""
    room = test_data.room
    used_ids = {case.id for case in others}
    for transcript in transcripts(room.name):
        case_id = make_case_id(room.name, transcript.clauses[0], transcript.name)
        if case_id in used_ids or is_strict(transcript) or "dialect" in transcript.head:
            continue
        if not transcript.head.get("fault", "").startswith("house") and transcript.head.get("side") != "player":
            continue
        try:
            script = transcript_steps(room, house_settings(room, transcript), transcript)
        except ValueError:
            continue
        if "fault" in transcript.head and len(script) > MAX_MESSAGES_BEFORE_FAULT + 1:
            continue
        kind = _kind_of(test_data, transcript, script)
        yield HouseClientCase(
            id=case_id,
            title=transcript.title,
            clause=transcript.clauses[0],
            kind=kind,
            setup=HouseSetup(is_reached=lambda _: False, listens_after_fault=kind is CaseKind.HANG_UP),
            transcript_steps=script,
            missing="the client left before all of it was said",
            may_be_silent=len(script) == 1,
            baseline=_plain_baseline(test_data),
        )


def _kind_of(test_data: ClientTestData, transcript: Transcript, script: Sequence[TranscriptStep]) -> CaseKind:
    """What a transcript tests."""
    clause = transcript.clauses[0]
    if transcript.head.get("fault", "").startswith("house"):
        return CaseKind.HANG_UP if clause in test_data.unreadable_clauses else CaseKind.FAULT
    if script[-1].reply.closes:
        return CaseKind.GOODBYE
    return CaseKind.TOLERANCE if clauses(test_data.room.name)[clause].is_tolerated else CaseKind.PLAY
