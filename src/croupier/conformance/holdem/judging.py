"""Judges what a bot has asked of a table: every request that no client should send, by the clause that says so."""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from croupier.conformance.conversation import Line
from croupier.conformance.holdem.test_server import Note, Stand
from croupier.conformance.holdem.tolerated import Departure, gravity
from croupier.conformance.results import Outcome
from croupier.core.referee import CLIENT, HOUSE
from croupier.rooms.holdem.wire import USUAL

CLAUSE: Final = re.compile(r"holdem-\d+\.\d+")

RATE: Final = 0.05
"""The document suggests so many seconds between two looks."""

LOOKS: Final = 10
"""So many looks in a row are too fast if they take less than that together; a few may come close together."""

INVALID: Final = (
    (re.compile(r"found -"), "holdem-4.8"),
    (re.compile(r"a number of"), "holdem-4.9"),
)
"""What the reason for a fold tells about the bet."""

TOLD: Final[Mapping[str, str]] = {
    "holdem-2.5": "the name and the password of the new user",
    "holdem-2.7": "its own name and password",
    "holdem-2.8": "its own name and password, or none",
    "holdem-3.7": "to join a game once",
    "holdem-4.4": "an act as the document has it",
    "holdem-4.13": "an act in its turn",
    "holdem-4.14": "one act a turn",
    "holdem-7.4": "an act in its turn",
    "holdem-7.5": "its own name and password",
    "holdem-8.3": "a path of the document",
    "holdem-8.4": "a game that there is",
    "holdem-8.5": "its own player, while it is in the game",
    "holdem-8.6": "the method of the path",
    "holdem-8.8": "its own player",
    "holdem-9.5": "a time to wait in seconds",
    "holdem-9.12": "a page of games in whole numbers",
}
"""What a client should do, by the clause with which it is refused."""

NATURAL: Final = frozenset(
    {"holdem-2.6", "holdem-7.3", "holdem-2.9", "holdem-3.15", "holdem-3.3", "holdem-9.10", "holdem-9.11"}
)
"""Refusals that are nobody's fault: a name may be taken, and a server may be busy or set a limit."""


def lines(stand: Stand) -> list[Line]:
    """The dialogue of a bot with a stand: two lines for every request, without looks at which nothing was new."""
    told: list[Line] = []
    before = b""
    for note in stand.notes:
        answer = note.answer
        shown = answer.shown() if answer is not None else b""
        if note.question.method == "GET" and shown == before:
            continue
        before = shown
        told.append(Line(CLIENT, note.question.shown(), f"{note.question.method} {note.question.path}", note.at))
        if answer is not None:
            told.append(Line(HOUSE, shown, answer.text, note.at))
    return told


def judged(stand: Stand, *, excused: Sequence[str] = ()) -> Iterator[Departure]:
    """What the bot of a stand has done wrong. `excused` are clauses that a case provokes."""
    for data in stand.garbage:
        yield _departure("holdem-1.1", "a request of HTTP/1.1", repr(data[:80]), Outcome.FAIL, got=data[:400])
    doubtful = False
    for note in stand.notes:
        if note.answer is None or note.doubtful:
            doubtful = doubtful or note.doubtful
            continue
        for departure in _note(stand, note, doubtful=doubtful):
            if departure.clause not in excused:
                yield departure
    yield from _pace(stand.notes)


def _departure(
    clause: str, expected: str, actual: str, outcome: Outcome | None = None, *, got: bytes = b""
) -> Departure:
    return Departure(clause, outcome or gravity(clause), expected, actual, None, got)


def _note(stand: Stand, note: Note, *, doubtful: bool) -> Iterator[Departure]:
    answer, question = note.answer, note.question
    assert answer is not None, "a note without an answer is not judged"
    shown = question.shown()
    if answer.status >= 400:
        clause = match[0] if (match := CLAUSE.match(answer.body.decode(errors="replace"))) else "holdem-8.1"
        if clause in NATURAL or (doubtful and clause in {"holdem-4.13", "holdem-7.4", "holdem-3.7"}):
            return
        if clause == "holdem-4.13" and _again(stand, note):
            clause = "holdem-4.14"
        elif clause in {"holdem-8.4", "holdem-8.5", "holdem-4.13", "holdem-7.4"} and not _knew(stand, note):
            return
        told = TOLD.get(clause, "a request that is not refused")
        grave = Outcome.FAIL if clause == "holdem-8.6" else None  # the document has a method for everything
        yield _departure(clause, told, f"{question.method} {question.path}: {answer.text}", grave, got=shown)
    elif reason := answer.headers.get("x-fold-reason"):
        yield _departure(_invalid(reason), "a valid bet", f"{reason} in {question.body!r}", Outcome.FAIL, got=shown)
    if question.method == "POST" and note.path[-1:] == ["acts"] and answer.status < 300:
        yield from _spelling(note)


def _spelling(note: Note) -> Iterator[Departure]:
    """Keys that are written in another way are understood, and not what the document has."""
    try:
        USUAL(note.question.body)
    except ValueError:
        body = note.question.body
        yield _departure(
            "holdem-4.2", "the keys action and betAmount, and no others", repr(body[:80]), Outcome.NON_STRICT
        )


def _invalid(reason: str) -> str:
    """The clause by which a bet was invalid."""
    for pattern, clause in INVALID:
        if pattern.search(reason):
            return clause
    numbers = [int(number) for number in re.findall(r"\d+", reason)]
    chips, call = numbers[0], numbers[1]
    if chips < call:
        return "holdem-4.10"
    if len(numbers) == 2:
        return "holdem-4.12" if chips > call else "holdem-4.10"
    return "holdem-4.9" if chips > numbers[-1] else "holdem-4.11"


def _knew(stand: Stand, note: Note) -> bool:
    """Whether a bot could know better: what it has looked at last may be older than what it asks."""
    looks = [one for one in stand.notes if one.user == note.user and one.at < note.at and one.question.method == "GET"]
    return note.question.method == "GET" or not looks or not _had_turn(looks[-1], stand, note.user)


def _had_turn(look: Note, stand: Stand, user: str) -> bool:
    """Whether a look showed the turn of a user."""
    if look.answer is None:
        return False
    return f'"turn":{{"playerID":"{stand.house.guid(user)}"'.encode() in look.answer.body


def _again(stand: Stand, note: Note) -> bool:
    """Whether an act comes behind another one without a look between them."""
    own = [one for one in stand.notes if one.user == note.user and one.at <= note.at and one is not note]
    return bool(own) and own[-1].path[-1:] == ["acts"]


def _pace(notes: Sequence[Note]) -> Iterator[Departure]:
    """Whether a bot looks more often than the document suggests."""
    looks = [note for note in notes if note.question.method == "GET" and not note.waits]
    for first, last in zip(looks, looks[LOOKS:], strict=False):
        if last.at - first.at < LOOKS * RATE * 0.8 and not any(first.at < one.at < last.at for one in _deeds(notes)):
            rate = (last.at - first.at) / LOOKS
            yield _departure("holdem-9.10", "50 ms between two looks", f"{1000 * rate:.0f} ms", Outcome.CHOICE)
            return


def _deeds(notes: Sequence[Note]) -> Sequence[Note]:
    return [note for note in notes if note.question.method != "GET"]
