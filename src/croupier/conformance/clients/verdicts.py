"""What a case says about a client, from what the stand has seen of it and how its program has ended."""

from typing import Any, Final

from msgspec import Struct

from croupier.conformance.clients.cases import GUESTS, ClientCase, Kind
from croupier.conformance.clients.test_server import End, Stand
from croupier.conformance.conversation import Conversation, Fault, Line
from croupier.conformance.diagnosis.causes import dialect, likely
from croupier.conformance.program import ending
from croupier.conformance.results import Failure, Outcome, Result
from croupier.core.referee import CLIENT, HOUSE
from croupier.core.room import HouseRoom
from croupier.core.session import Peer

LONGEST: Final = 6
"""So many lines show a failure at most."""

WORDS: Final = 200
"""So much of the last line of its errors is told in a sentence."""


class Story(Struct, frozen=True):
    """What was seen in one try of a case.

    `status` is how the program has ended by itself, None if it had to be stopped; `seconds` is how long a client that
    has to speak was waited for.
    """

    case: ClientCase
    stand: Stand
    status: int | None
    seconds: float
    stderr: bytes
    strict: bool

    @property
    def complaint(self) -> str:
        """The last line of its errors, for a sentence; empty if it has written none."""
        lines = self.stderr.decode(errors="backslashreplace").strip().splitlines()
        return f": {lines[-1].strip()[:WORDS]}" if lines else ""

    @property
    def conversation(self) -> Conversation:
        """What was said."""
        return self.stand.conversation

    @property
    def stuck(self) -> bool:
        """The client had the word in a game and did not take it, or left without meaning to; or it has half said it."""
        stand = self.stand
        if stand.broken is not None or stand.owing or not stand.spoke:
            return False
        if stand.end is End.CLIENT and self.status:
            return bool(stand.playing or self.half or not stand.waited)
        return stand.end is End.SILENCE and bool(stand.playing or self.half)

    @property
    def half(self) -> bytes:
        """What the client has said of a message that is not complete."""
        return self.conversation.rest(CLIENT)

    @property
    def resting(self) -> bool:
        """The client was silent where no game went on, though it had not said goodbye."""
        return self.stand.end is End.SILENCE and self.stand.spoke and not self.stand.playing and not self.half

    @property
    def along(self) -> bool:
        """Nothing was wrong, and a game was finished."""
        quiet = not (self.stuck or self.resting or self.stand.fault)
        return quiet and self.stand.referee.finished > 0

    @property
    def settled(self) -> bool:
        """Whether another try would show nothing new."""
        return judge(self, None).outcome is not Outcome.SKIP or not self.stand.came or bool(self.stand.broken)


def judge(story: Story, twin: Story | None) -> Result:
    """What came of a case. `twin` is what was seen without what is special about it, None where nobody has looked."""
    case, stand = story.case, story.stand
    if not stand.came:
        what = "ran" if story.status is None else f"ended ({ending(story.status)})"
        return _result(story, Outcome.SKIP, f"the program {what} and never connected{story.complaint}")
    if stand.fault is not None:
        return _at_fault(story, stand.fault)
    if story.strict and (departures := story.conversation.departures(CLIENT)):
        return _departed(story, min(departures))
    if not stand.spoke and not case.silent:
        return _speechless(story)
    if case.kind in {Kind.FAULT, Kind.HANG_UP} and stand.broken is not None:
        return _told_off(story, stand.broken)
    if stand.broken is not None:
        return _result(story, Outcome.SKIP, "what the client has bet does not fit what is on paper")
    if story.stuck or story.resting:
        return _silent(story, twin)
    return _played(story)


def _played(story: Story) -> Result:
    """The client has played, or left, without a fault."""
    case, stand = story.case, story.stand
    if case.kind is Kind.WAIT:
        return _waited(story)
    if not stand.reached or case.kind in {Kind.FAULT, Kind.HANG_UP}:
        return _tolerated(story) or _result(story, Outcome.SKIP, _missing(story))
    if case.kind is Kind.GOODBYE:
        return _goodbye(story)
    if stand.end is End.CLIENT and stand.playing and stand.waited and not stand.spoken_since:
        return _result(story, Outcome.CHOICE, f"it hung up in the middle of the game{_how(story)}")
    if case.kind is Kind.TOLERANCE:
        return _result(story, Outcome.CHOICE, "it takes it")
    return _tolerated(story) or _result(story, Outcome.PASS)


def _result(story: Story, outcome: Outcome, told: str = "", failure: Failure | None = None, lines: int = -1) -> Result:
    case = story.case
    said = story.conversation.lines
    dialogue = said[: lines if lines >= 0 else len(said)][-LONGEST:]
    return Result(case.id, case.title, case.clause, outcome, told, failure, tuple(dialogue))


def _missing(story: Story) -> str:
    """Why the situation has not come up."""
    stand = story.stand
    if stand.stray:
        return stand.stray
    if stand.end is End.CLIENT and not stand.referee.finished:
        return f"the client left before it had finished a game{_how(story)}"
    return story.case.missing


def _how(story: Story) -> str:
    """How the program has ended, if it has not ended well."""
    return f" ({ending(story.status)}{story.complaint})" if story.status else ""


def _at_fault(story: Story, fault: Fault) -> Result:
    """The referee has found the client at fault."""
    violation = fault.verdict.violation
    line = _last(story.conversation.lines[: fault.lines], CLIENT)
    got = line.data if line is not None else b""
    room = _room(story)
    wanted = _only(story, fault)
    cause = likely(room, wanted, got, story.conversation, side=CLIENT)
    if not dialect(room, cause):
        cause = ""  # which move a client should have made is its own affair
    failure = Failure(violation.clause, violation.allowed, violation.found, wanted, got, cause)
    return _result(story, Outcome.FAIL, failure=failure, lines=fault.lines)


def _only(story: Story, fault: Fault) -> bytes | None:
    """The bytes of the only message that was allowed, if there was only one besides a goodbye."""
    room = _room(story)
    before = Conversation(room)
    for line in story.conversation.lines[: fault.lines - 1]:
        before.heard(line.side, line.data, line.at)
    farewells = {str(message) for message in room.goodbyes}
    allowed = [message for message in before.referee.legal if str(message) not in farewells]
    return room.codec(True, None).encode(allowed[0]) if len(allowed) == 1 and before.referee.game is None else None


def _departed(story: Story, clause: str) -> Result:
    """The client has needed a tolerance that a strict house has not."""
    lines = story.conversation.lines
    line = _last(lines, CLIENT)
    failure = Failure(clause, "what the document has, from a client in a strict run", "a departure from it")
    if line is not None:
        encoded = _room(story).codec(True, None).encode(line.message)
        failure = Failure(clause, str(line.message), _text(line.data), encoded, line.data)
    return _result(story, Outcome.FAIL, failure=failure)


def _speechless(story: Story) -> Result:
    """The client has come and not said a word."""
    stand = story.stand
    if stand.end is not End.SILENCE and story.status == 0:
        return _result(story, Outcome.SKIP, "the client left without a word")
    actual = f"nothing within {story.seconds:g} seconds"
    if stand.end is not End.SILENCE:
        actual = f"the end of the connection without a word{_how(story)}"
    elif story.half:
        actual = f"{_text(story.half)}, and then nothing for {story.seconds:g} seconds"
    guests = GUESTS[story.case.room]
    clause = guests.message if story.half else guests.first
    return _result(story, Outcome.FAIL, failure=Failure(clause, "the first word of the client", actual, got=story.half))


def _silent(story: Story, twin: Story | None) -> Result:
    """The client had to speak, or has stopped where others go on."""
    case, stand = story.case, story.stand
    alone = twin is not None and twin.along
    if case.kind is Kind.TOLERANCE and alone:
        return _result(story, Outcome.CHOICE, f"it does not take it: {_silence(story)}")
    if story.resting and (case.rests or not alone):
        if case.kind is Kind.GOODBYE or not stand.reached:
            return _result(story, Outcome.SKIP, f"{_missing(story)}: it was silent after a game")
        told = "when the game was over it said nothing more, and did not leave"
        return _tolerated(story) or _result(story, *((Outcome.PASS,) if case.rests else (Outcome.CHOICE, told)))
    legal = ", ".join(str(message) for message in _legal(story)) or "the end, or another game"
    failure = Failure(_owed(story, alone=alone), legal, _silence(story), got=story.half)
    return _result(story, Outcome.FAIL, failure=failure)


def _owed(story: Story, *, alone: bool) -> str:
    """The clause by which the client had to say something; `alone`: it does so without what is special here."""
    case, stand = story.case, story.stand
    guests = GUESTS[case.room]
    if story.half:
        return guests.message
    if story.resting and (clause := guests.rest(stand.referee)):
        return clause
    if alone and (case.kind is Kind.VARIATION or (case.demands and stand.reached and not stand.spoken_since)):
        return case.clause
    return stand.playing or case.clause


def _legal(story: Story) -> tuple[Any, ...]:
    """What the client might have said, from the lines before the house has ended it."""
    lines = list(story.conversation.lines)
    goodbyes = _room(story).goodbyes
    while lines and lines[-1].side == HOUSE and lines[-1].message in goodbyes:
        lines.pop()
    before = Conversation(_room(story))
    for line in lines:
        before.heard(line.side, line.data, line.at)
    return tuple(before.referee.legal)


def _silence(story: Story) -> str:
    """What came in the place of a word of the client."""
    if story.stand.end is End.CLIENT:
        return f"the end of the connection{_how(story)}"
    behind = f" behind {_text(story.half)}" if story.half else ""
    return f"nothing{behind} within {story.seconds:g} seconds{_how(story)}"


def _told_off(story: Story, broken: Fault) -> Result:
    """The house has broken a rule: the document says nothing about it, or that the client hangs up."""
    stand = story.stand
    if story.case.kind is Kind.HANG_UP:
        if stand.end is End.CLIENT:
            return _result(story, Outcome.PASS)
        actual = "an open connection" if stand.reaction is None else f"{stand.reaction}, and an open connection"
        wanted = f"that the client hangs up within {story.seconds:g} seconds"
        return _result(story, Outcome.FAIL, failure=Failure(story.case.clause, wanted, actual))
    if story.status is not None and story.status < 0:
        what = f"ended by {ending(story.status)}"
    elif stand.end is End.CLIENT or (stand.end is End.HOUSE and stand.reaction is None and stand.parted is not None):
        what = "hung up"
    elif stand.reaction in _room(story).goodbyes:
        what = "said goodbye"
    else:
        what = "waited" if stand.reaction is None else f"went on with {stand.reaction}"
    clause = broken.verdict.violation.clause
    return _result(story, Outcome.CHOICE, f"when the house broke {clause}, it {what}{_how(story)}")


def _goodbye(story: Story) -> Result:
    """The house has said goodbye and closed."""
    stand = story.stand
    if story.status is not None and story.status < 0:
        return _result(story, Outcome.CHOICE, f"it ended by {ending(story.status)}")
    if stand.end is End.HOUSE and stand.parted is None:
        return _result(story, Outcome.CHOICE, "it kept the connection open when the house had said goodbye and closed")
    return _tolerated(story) or _result(story, Outcome.PASS)


def _waited(story: Story) -> Result:
    """The client has said goodbye, or not."""
    waits = GUESTS[story.case.room].waits
    assert waits is not None, "there is such a case only where there is such a word"
    line = _last(story.conversation.lines, CLIENT)
    if line is None or line.data != waits[0]:
        return _result(story, Outcome.SKIP, story.case.missing)
    if story.stand.end is End.CLIENT:
        return _result(story, Outcome.CHOICE, "it closes behind its goodbye, at least its own direction")
    return _tolerated(story) or _result(story, Outcome.PASS)


def _tolerated(story: Story) -> Result | None:
    """What the client has needed tolerance for, if anything."""
    departures = story.conversation.departures(CLIENT)
    if departures:
        return _result(
            story,
            Outcome.NON_STRICT,
            f"the client departs from the document as {', '.join(sorted(departures))} tolerates",
        )
    guests = GUESTS[story.case.room]
    if not guests.late:
        return None
    strict = Conversation(_room(story))
    strict.referee = _room(story).referee(None, True, 1e9)
    for line in story.conversation.lines:
        strict.heard(line.side, line.data, line.at)
    faults = [fault for fault in strict.faults if fault.verdict.side == CLIENT]
    if not faults:
        return None
    lines = faults[0].lines
    return _result(
        story, Outcome.NON_STRICT, f"the client departs from the document as {guests.late} tolerates", lines=lines
    )


def _room(story: Story) -> HouseRoom:
    return GUESTS[story.case.room].room


def _last(lines: list[Line], side: Peer) -> Line | None:
    """The last line of one end."""
    return next((line for line in reversed(lines) if line.side == side), None)


def _text(data: bytes) -> str:
    return repr(data.decode("latin-1"))
