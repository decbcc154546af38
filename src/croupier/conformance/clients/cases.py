"""The cases for clients: what a house does to lead a client somewhere, and what the client has to make of it."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import Enum, auto
from typing import Any, Final

from croupier.conformance.case import Case, clause_id
from croupier.conformance.clauses import clauses
from croupier.conformance.clients import Guests, Situation
from croupier.conformance.clients.blackjack import GUESTS as BLACKJACK
from croupier.conformance.clients.kuhn import GUESTS as KUHN
from croupier.conformance.clients.responders import Habit, Step, honest, steps
from croupier.conformance.clients.sevenhalf import GUESTS as SEVENHALF
from croupier.conformance.clients.test_server import Deed, Scene
from croupier.conformance.resources import transcripts
from croupier.conformance.tap.outbox import Manner
from croupier.core.room import HouseRoom
from croupier.core.transcript import Transcript, settings, strict

GUESTS: Final[Mapping[str, Guests]] = {guests.room.name: guests for guests in (KUHN, SEVENHALF, BLACKJACK)}

GAP: Final = 0.002
"""So many seconds lie between two pieces of an answer, so that each is a read of its own."""

APART: Final = 0.02
"""So many seconds lie between two messages, so that no client can take them for one."""

LATE: Final = 0.2
"""A word that the client has to wait for is held back so many seconds."""

DELIVERIES: Final[Mapping[str, tuple[str, Manner]]] = {
    "byte-by-byte": ("one byte at a time", Manner(chop=1, delay=GAP)),
    "two-bytes-at-a-time": ("two bytes at a time", Manner(chop=2, delay=GAP)),
    "three-bytes-at-a-time": ("three bytes at a time", Manner(chop=3, delay=GAP)),
    "five-bytes-at-a-time": ("five bytes at a time", Manner(chop=5, delay=GAP)),
    "seven-bytes-at-a-time": ("seven bytes at a time", Manner(chop=7, delay=GAP)),
    "slowly": ("late, and in pieces of four bytes", Manner(chop=4, delay=0.05)),
}
"""How answers may arrive: a slug, words for the title, and the manner."""

MANY: Final = 50
"""So many games are played with a client until it says goodbye of itself."""

TALKS: Final = 2
"""So often a client speaks at most before a house breaks a rule: longer ways to it are hardly ever taken."""


class Kind(Enum):
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
class ClientCase(Case):
    """A case for clients: how the house is set, how it behaves (`scene`, `habit`), and what is looked at.

    `twin` is the same without what is special about it: what a client fails there as well is not the fault of what is
    special. `paper` has the part of the house where it is on paper. `missing` is told when the situation has not come
    up; `silent`: nobody has to speak in it. `demands` and `rests` as in `Situation`.
    """

    kind: Kind
    scene: Scene
    settings: Mapping[str, Any] = field(default_factory=dict)
    decks: str = ""
    habit: Habit = honest
    twin: "ClientCase | None" = None
    paper: tuple[Step, ...] | None = None
    missing: str = ""
    silent: bool = False
    demands: bool = False
    rests: bool = False


def client_cases(room: HouseRoom) -> tuple[ClientCase, ...]:
    """Every case for the clients of a room, in the order of the clauses; ids are unique."""
    cases = [*_plays(GUESTS[room.name]), *_deliveries(GUESTS[room.name]), *_goodbyes(GUESTS[room.name])]
    cases += [*_spelt(GUESTS[room.name]), *_breaks(GUESTS[room.name]), *_on_paper(GUESTS[room.name], cases)]
    order = {clause: number for number, clause in enumerate(clauses(room.name))}
    return tuple(sorted(cases, key=lambda case: order[case.clause]))


def untestable(room: HouseRoom) -> Mapping[str, str]:
    """The clauses that no client can be tested for, each with the reason."""
    return GUESTS[room.name].untestable


def _case(guests: Guests, situation: Situation, clause: str, slug: str, title: str, **more: Any) -> ClientCase:
    """A case that stands on a situation."""
    scene = Scene(point=situation.point, games=situation.games)
    given = {
        "kind": Kind.PLAY,
        "scene": scene,
        "settings": situation.settings,
        "decks": situation.decks,
        "missing": situation.missing,
        "twin": _plain(guests),
        "rests": situation.rests,
        "demands": situation.demands,
    }
    return ClientCase(id=clause_id(guests.room.name, clause, slug), title=title, clause=clause, **{**given, **more})


def _plain(guests: Guests) -> ClientCase:
    """Whole games with nothing special about them."""
    return _twin(guests, _game_over(guests), "plain")


def _twin(guests: Guests, place: Situation, slug: str, apart: float = 0.0) -> ClientCase:
    """A situation with nothing special about it, each message a read of its own if they stand `apart`."""
    return ClientCase(
        id=clause_id(guests.room.name, place.clause, f"{slug}-{place.slug}"),
        title=place.title,
        clause=place.clause,
        kind=Kind.PLAY,
        scene=Scene(point=place.point, games=place.games, enough=2, apart=apart),
        settings=place.settings,
        decks=place.decks,
        missing=place.missing,
    )


def _plays(guests: Guests) -> Iterator[ClientCase]:
    for situation in guests.situations:
        yield _case(guests, situation, situation.clause, situation.slug, situation.title)
    plainest = guests.situations[0]
    yield _case(
        guests,
        plainest,
        guests.first,
        "the-client-speaks-first",
        "A house that says nothing of its own accord is spoken to",
        scene=Scene(point=lambda talk: bool(talk.lines)),
        missing="the client never spoke",
    )
    if guests.waits is not None:
        word, clause = guests.waits
        yield _case(
            guests,
            plainest,
            clause,
            "waits-for-the-last-word",
            "A client that has said goodbye waits for the goodbye of the house",
            kind=Kind.WAIT,
            scene=Scene(point=lambda _: False, late={word: LATE}, games=MANY),
            missing="the client never said goodbye",
        )


def _game_over(guests: Guests) -> Situation:
    """A whole game, however it went."""
    return replace(
        guests.situations[0],
        slug="a-game",
        point=lambda talk: talk.referee.finished >= 1,
        missing="the client never finished a game",
        games=3,
    )


def _deliveries(guests: Guests) -> Iterator[ClientCase]:
    """Answers that are cut, slow, and glued together."""
    places = {place.slug: place for place in (guests.situations[0], *guests.glued)}
    for slug, (told, manner) in DELIVERIES.items():
        for place in places.values():
            scene = Scene(point=place.point, games=place.games, enough=2, manner=manner)
            yield _case(
                guests,
                place,
                guests.stream,
                f"{slug}-{place.slug}",
                f"The answers arrive {told}: {place.title[0].lower()}{place.title[1:]}",
                kind=Kind.VARIATION,
                scene=scene,
                twin=_twin(guests, place, "apart", APART),
            )
    for place in guests.glued:
        yield _case(
            guests,
            place,
            guests.stream,
            f"glued-{place.slug}",
            f"Several answers arrive in one piece: {place.title[0].lower()}{place.title[1:]}",
            kind=Kind.VARIATION,
            twin=_twin(guests, place, "apart", APART),
        )


def _goodbyes(guests: Guests) -> Iterator[ClientCase]:
    """The house leaves: at once, with the end of a game, before it has begun, and without a word."""
    over = _game_over(guests)
    yield _case(
        guests,
        over,
        guests.seat,
        "no-seat",
        "A house that has no room says goodbye before the client has spoken",
        kind=Kind.GOODBYE,
        scene=Scene(point=lambda _: True, deed=Deed.LEAVE),
        silent=True,
    )
    yield _case(
        guests,
        over,
        guests.limit,
        "out-of-time",
        "A client that is out of time is sent away",
        kind=Kind.GOODBYE,
        scene=Scene(point=guests.situations[0].point, deed=Deed.LEAVE, manner=Manner(delay=LATE)),
    )
    yield _case(
        guests,
        over,
        guests.goodbye,
        "between-games",
        "The house says goodbye between two games",
        kind=Kind.GOODBYE,
        scene=Scene(point=over.point, deed=Deed.LEAVE),
    )
    for spelling in guests.farewells:
        yield _case(
            guests,
            over,
            spelling.clause,
            spelling.slug,
            spelling.title,
            kind=Kind.GOODBYE,
            scene=Scene(point=over.point, deed=Deed.LEAVE),
            habit=spelling.habit,
        )
    for situation in guests.situations:
        if not situation.farewell:
            continue
        scene = Scene(point=situation.point, games=situation.games, deed=Deed.LEAVE)
        told = f"{situation.title[0].lower()}{situation.title[1:]}"
        yield _case(
            guests,
            situation,
            guests.goodbye,
            f"goodbye-{situation.slug}",
            f"The house says goodbye where {told}",
            kind=Kind.GOODBYE,
            scene=scene,
        )
        yield _case(
            guests,
            situation,
            guests.closing,
            f"closing-{situation.slug}",
            f"The house says goodbye with the end of the game in which {told}",
            kind=Kind.GOODBYE,
            scene=Scene(point=situation.point, games=situation.games, deed=Deed.CLOSE),
        )
        yield _case(
            guests,
            situation,
            guests.goodbye,
            f"hangs-up-{situation.slug}",
            f"The house hangs up without a word where {told}",
            kind=Kind.FAULT,
            scene=Scene(point=situation.point, games=situation.games, deed=Deed.HANG_UP),
        )


def _spelt(guests: Guests) -> Iterator[ClientCase]:
    """The house speaks in another way."""
    over = _game_over(guests)
    for spelling in guests.spellings:
        yield _case(
            guests,
            over,
            spelling.clause,
            spelling.slug,
            spelling.title,
            kind=Kind.TOLERANCE if spelling.tolerated else Kind.VARIATION,
            scene=Scene(point=over.point, games=over.games, enough=2),
            habit=spelling.habit,
            settings={**over.settings, **spelling.settings},
            decks=spelling.decks,
        )


def _breaks(guests: Guests) -> Iterator[ClientCase]:
    """The house breaks a rule."""
    over = _game_over(guests)
    for fault in guests.breaks:
        yield _case(
            guests,
            over,
            fault.clause,
            f"house-{fault.slug}",
            fault.title,
            kind=Kind.HANG_UP if fault.hangs_up else Kind.FAULT,
            scene=Scene(point=lambda _: False, games=over.games, listens=fault.hangs_up),
            habit=fault.habit,
            missing="the client never led the house to it",
        )


def _on_paper(guests: Guests, others: Sequence[ClientCase]) -> Iterator[ClientCase]:
    """The transcripts in which the house plays a part that ours does not: it is at fault, or does what it may."""
    room = guests.room
    taken = {case.id for case in others}
    for paper in transcripts(room.name):
        case_id = clause_id(room.name, paper.clauses[0], paper.name)
        if case_id in taken or strict(paper) or "dialect" in paper.head:
            continue
        if not paper.head.get("fault", "").startswith("house") and paper.head.get("side") != "player":
            continue
        try:
            script = steps(room, settings(room, paper), paper)
        except ValueError:
            continue
        if "fault" in paper.head and len(script) > TALKS + 1:
            continue
        seen = _seen(guests, paper, script)
        yield ClientCase(
            id=case_id,
            title=paper.title,
            clause=paper.clauses[0],
            kind=seen,
            scene=Scene(point=lambda _: False, listens=seen is Kind.HANG_UP),
            paper=script,
            missing="the client left before all of it was said",
            silent=len(script) == 1,
            twin=_plain(guests),
        )


def _seen(guests: Guests, paper: Transcript, script: Sequence[Step]) -> Kind:
    """What a transcript looks at."""
    clause = paper.clauses[0]
    if paper.head.get("fault", "").startswith("house"):
        return Kind.HANG_UP if clause in guests.unreadable else Kind.FAULT
    if script[-1].reply.closes:
        return Kind.GOODBYE
    return Kind.TOLERANCE if clauses(guests.room.name)[clause].tolerated else Kind.PLAY
