"""The cases for clients: what a house does to lead a client somewhere, and what the client has to make of it."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import Enum, auto
from typing import Any, Final

from croupier.conformance.case import Case, make_case_id
from croupier.conformance.clauses import clauses
from croupier.conformance.clients import ClientTestData, ClientTestState
from croupier.conformance.clients.responders import Mutation, TranscriptStep, transcript_steps, unchanged
from croupier.conformance.clients.test_server import HouseAction, HouseSetup
from croupier.conformance.resources import transcripts
from croupier.conformance.tap.outbox import Delivery
from croupier.core.room import HouseRoom
from croupier.core.transcript import Transcript, house_settings, is_strict
from croupier.rooms import HOUSE_ROOMS

TEST_DATA_BY_ROOM: Final[Mapping[str, ClientTestData]] = {
    name: room.load_extra("client_tests") for name, room in HOUSE_ROOMS.items()
}

PIECE_GAP_SECONDS: Final = 0.002
"""So many seconds lie between two pieces of an answer, so that each is a read of its own."""

MESSAGE_GAP_SECONDS: Final = 0.02
"""So many seconds lie between two messages, so that no client can take them for one."""

GOODBYE_DELAY_SECONDS: Final = 0.2
"""A word that the client has to wait for is held back so many seconds."""

DELIVERIES: Final[Mapping[str, tuple[str, Delivery]]] = {
    "byte-by-byte": ("one byte at a time", Delivery(max_piece_bytes=1, delay_seconds=PIECE_GAP_SECONDS)),
    "two-bytes-at-a-time": ("two bytes at a time", Delivery(max_piece_bytes=2, delay_seconds=PIECE_GAP_SECONDS)),
    "three-bytes-at-a-time": ("three bytes at a time", Delivery(max_piece_bytes=3, delay_seconds=PIECE_GAP_SECONDS)),
    "five-bytes-at-a-time": ("five bytes at a time", Delivery(max_piece_bytes=5, delay_seconds=PIECE_GAP_SECONDS)),
    "seven-bytes-at-a-time": ("seven bytes at a time", Delivery(max_piece_bytes=7, delay_seconds=PIECE_GAP_SECONDS)),
    "slowly": ("late, and in pieces of four bytes", Delivery(max_piece_bytes=4, delay_seconds=0.05)),
}
"""How answers may arrive: a slug, words for the title, and the manner."""

MAX_GAMES: Final = 50
"""So many games are played with a client until it says goodbye of itself."""

MAX_MESSAGES_BEFORE_FAULT: Final = 2
"""So often a client speaks at most before a house breaks a rule: longer ways to it are hardly ever taken."""


class CaseKind(Enum):
    """What a case looks at."""

    PLAY = auto()
    """The client handles what has come up."""
    VARIATION = auto()
    """The client does so no matter how it is said: what fails only like this fails on the clause of the case."""
    TOLERANCE = auto()
    """Nobody has to understand it: what the client does is told."""
    GOODBYE = auto()
    """The house says goodbye and closes."""
    FAULT = auto()
    """The house breaks a rule: what the client does is told."""
    HANG_UP = auto()
    """The house breaks a rule, and then a client hangs up."""
    WAIT = auto()
    """The client waits for the last word of the house."""


@dataclass(frozen=True, kw_only=True)
class HouseClientCase(Case):
    """A case for clients: how the house is set, how it behaves (`scene`, `habit`), and what is looked at.

    `twin` is the same without what is special about it: what a client fails there as well is not the fault of what is
    special. `paper` has the part of the house where it is on paper. `missing` is told when the situation has not come
    up; `silent`: nobody has to speak in it. `demands` and `rests` as in `Situation`.
    """

    kind: CaseKind
    setup: HouseSetup
    settings: Mapping[str, Any] = field(default_factory=dict)
    decks: str = ""
    mutation: Mutation = unchanged
    baseline: "HouseClientCase | None" = None
    transcript_steps: tuple[TranscriptStep, ...] | None = None
    missing: str = ""
    may_be_silent: bool = False
    demands_answer: bool = False
    may_rest: bool = False


def client_cases(room: HouseRoom) -> tuple[HouseClientCase, ...]:
    """Every case for the clients of a room, in the order of the clauses; ids are unique."""
    cases = [
        *_plays(TEST_DATA_BY_ROOM[room.name]),
        *_deliveries(TEST_DATA_BY_ROOM[room.name]),
        *_goodbyes(TEST_DATA_BY_ROOM[room.name]),
    ]
    cases += [
        *_spelt(TEST_DATA_BY_ROOM[room.name]),
        *_breaks(TEST_DATA_BY_ROOM[room.name]),
        *_on_paper(TEST_DATA_BY_ROOM[room.name], cases),
    ]
    order = {clause: number for number, clause in enumerate(clauses(room.name))}
    return tuple(sorted(cases, key=lambda case: order[case.clause]))


def untestable(room: HouseRoom) -> Mapping[str, str]:
    """The clauses that no client can be tested for, each with the reason."""
    return TEST_DATA_BY_ROOM[room.name].untestable


def _case(
    guests: ClientTestData, situation: ClientTestState, clause: str, slug: str, title: str, **more: Any
) -> HouseClientCase:
    """A case that stands on a situation."""
    scene = HouseSetup(is_reached=situation.is_reached, max_games=situation.max_games)
    given = {
        "kind": CaseKind.PLAY,
        "setup": scene,
        "settings": situation.settings,
        "decks": situation.decks,
        "missing": situation.missing,
        "baseline": _plain(guests),
        "may_rest": situation.may_rest,
        "demands_answer": situation.demands_answer,
    }
    return HouseClientCase(
        id=make_case_id(guests.room.name, clause, slug), title=title, clause=clause, **{**given, **more}
    )


def _plain(guests: ClientTestData) -> HouseClientCase:
    """Whole games with nothing special about them."""
    return _twin(guests, _game_over(guests), "plain")


def _twin(guests: ClientTestData, place: ClientTestState, slug: str, apart: float = 0.0) -> HouseClientCase:
    """A situation with nothing special about it, each message a read of its own if they stand `apart`."""
    return HouseClientCase(
        id=make_case_id(guests.room.name, place.clause, f"{slug}-{place.slug}"),
        title=place.title,
        clause=place.clause,
        kind=CaseKind.PLAY,
        setup=HouseSetup(
            is_reached=place.is_reached, max_games=place.max_games, min_games=2, message_gap_seconds=apart
        ),
        settings=place.settings,
        decks=place.decks,
        missing=place.missing,
    )


def _plays(guests: ClientTestData) -> Iterator[HouseClientCase]:
    for situation in guests.states:
        yield _case(guests, situation, situation.clause, situation.slug, situation.title)
    plainest = guests.states[0]
    yield _case(
        guests,
        plainest,
        guests.first_clause,
        "the-client-speaks-first",
        "A house that says nothing of its own accord is spoken to",
        setup=HouseSetup(is_reached=lambda talk: bool(talk.lines)),
        missing="the client never spoke",
    )
    if guests.awaited_message is not None:
        word, clause = guests.awaited_message
        yield _case(
            guests,
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


def _game_over(guests: ClientTestData) -> ClientTestState:
    """A whole game, however it went."""
    return replace(
        guests.states[0],
        slug="a-game",
        is_reached=lambda context: context.referee.finished_count >= 1,
        missing="the client never finished a game",
        max_games=3,
    )


def _deliveries(guests: ClientTestData) -> Iterator[HouseClientCase]:
    """Answers that are cut, slow, and glued together."""
    places = {place.slug: place for place in (guests.states[0], *guests.glued_states)}
    for slug, (told, manner) in DELIVERIES.items():
        for place in places.values():
            scene = HouseSetup(is_reached=place.is_reached, max_games=place.max_games, min_games=2, delivery=manner)
            yield _case(
                guests,
                place,
                guests.stream_clause,
                f"{slug}-{place.slug}",
                f"The answers arrive {told}: {place.title[0].lower()}{place.title[1:]}",
                kind=CaseKind.VARIATION,
                setup=scene,
                baseline=_twin(guests, place, "apart", MESSAGE_GAP_SECONDS),
            )
    for place in guests.glued_states:
        yield _case(
            guests,
            place,
            guests.stream_clause,
            f"glued-{place.slug}",
            f"Several answers arrive in one piece: {place.title[0].lower()}{place.title[1:]}",
            kind=CaseKind.VARIATION,
            baseline=_twin(guests, place, "apart", MESSAGE_GAP_SECONDS),
        )


def _goodbyes(guests: ClientTestData) -> Iterator[HouseClientCase]:
    """The house leaves: at once, with the end of a game, before it has begun, and without a word."""
    over = _game_over(guests)
    yield _case(
        guests,
        over,
        guests.seat_clause,
        "no-seat",
        "A house that has no room says goodbye before the client has spoken",
        kind=CaseKind.GOODBYE,
        setup=HouseSetup(is_reached=lambda _: True, action=HouseAction.LEAVE),
        may_be_silent=True,
    )
    yield _case(
        guests,
        over,
        guests.limit_clause,
        "out-of-time",
        "A client that is out of time is sent away",
        kind=CaseKind.GOODBYE,
        setup=HouseSetup(
            is_reached=guests.states[0].is_reached,
            action=HouseAction.LEAVE,
            delivery=Delivery(delay_seconds=GOODBYE_DELAY_SECONDS),
        ),
    )
    yield _case(
        guests,
        over,
        guests.goodbye_clause,
        "between-games",
        "The house says goodbye between two games",
        kind=CaseKind.GOODBYE,
        setup=HouseSetup(is_reached=over.is_reached, action=HouseAction.LEAVE),
    )
    for spelling in guests.goodbye_variations:
        yield _case(
            guests,
            over,
            spelling.clause,
            spelling.slug,
            spelling.title,
            kind=CaseKind.GOODBYE,
            setup=HouseSetup(is_reached=over.is_reached, action=HouseAction.LEAVE),
            mutation=spelling.mutation,
        )
    for situation in guests.states:
        if not situation.allows_goodbye:
            continue
        scene = HouseSetup(is_reached=situation.is_reached, max_games=situation.max_games, action=HouseAction.LEAVE)
        told = f"{situation.title[0].lower()}{situation.title[1:]}"
        yield _case(
            guests,
            situation,
            guests.goodbye_clause,
            f"goodbye-{situation.slug}",
            f"The house says goodbye where {told}",
            kind=CaseKind.GOODBYE,
            setup=scene,
        )
        yield _case(
            guests,
            situation,
            guests.closing_clause,
            f"closing-{situation.slug}",
            f"The house says goodbye with the end of the game in which {told}",
            kind=CaseKind.GOODBYE,
            setup=HouseSetup(is_reached=situation.is_reached, max_games=situation.max_games, action=HouseAction.CLOSE),
        )
        yield _case(
            guests,
            situation,
            guests.goodbye_clause,
            f"hangs-up-{situation.slug}",
            f"The house hangs up without a word where {told}",
            kind=CaseKind.FAULT,
            setup=HouseSetup(
                is_reached=situation.is_reached, max_games=situation.max_games, action=HouseAction.HANG_UP
            ),
        )


def _spelt(guests: ClientTestData) -> Iterator[HouseClientCase]:
    """The house speaks in another way."""
    over = _game_over(guests)
    for spelling in guests.variations:
        yield _case(
            guests,
            over,
            spelling.clause,
            spelling.slug,
            spelling.title,
            kind=CaseKind.TOLERANCE if spelling.is_tolerated else CaseKind.VARIATION,
            setup=HouseSetup(is_reached=over.is_reached, max_games=over.max_games, min_games=2),
            mutation=spelling.mutation,
            settings={**over.settings, **spelling.settings},
            decks=spelling.decks,
        )


def _breaks(guests: ClientTestData) -> Iterator[HouseClientCase]:
    """The house breaks a rule."""
    over = _game_over(guests)
    for fault in guests.faults:
        yield _case(
            guests,
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


def _on_paper(guests: ClientTestData, others: Sequence[HouseClientCase]) -> Iterator[HouseClientCase]:
    """The transcripts in which the house plays a part that ours does not: it is at fault, or does what it may."""
    room = guests.room
    taken = {case.id for case in others}
    for paper in transcripts(room.name):
        case_id = make_case_id(room.name, paper.clauses[0], paper.name)
        if case_id in taken or is_strict(paper) or "dialect" in paper.head:
            continue
        if not paper.head.get("fault", "").startswith("house") and paper.head.get("side") != "player":
            continue
        try:
            script = transcript_steps(room, house_settings(room, paper), paper)
        except ValueError:
            continue
        if "fault" in paper.head and len(script) > MAX_MESSAGES_BEFORE_FAULT + 1:
            continue
        seen = _seen(guests, paper, script)
        yield HouseClientCase(
            id=case_id,
            title=paper.title,
            clause=paper.clauses[0],
            kind=seen,
            setup=HouseSetup(is_reached=lambda _: False, listens_after_fault=seen is CaseKind.HANG_UP),
            transcript_steps=script,
            missing="the client left before all of it was said",
            may_be_silent=len(script) == 1,
            baseline=_plain(guests),
        )


def _seen(guests: ClientTestData, paper: Transcript, script: Sequence[TranscriptStep]) -> CaseKind:
    """What a transcript looks at."""
    clause = paper.clauses[0]
    if paper.head.get("fault", "").startswith("house"):
        return CaseKind.HANG_UP if clause in guests.unreadable_clauses else CaseKind.FAULT
    if script[-1].reply.closes:
        return CaseKind.GOODBYE
    return CaseKind.TOLERANCE if clauses(guests.room.name)[clause].is_tolerated else CaseKind.PLAY
