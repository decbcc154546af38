"""Why is it wrong? What has likely led to a fault, in a sentence for whoever wrote the program.

Nothing here knows a rogue. What came is read as programs spell it (`dialects`), or a message is left out, added, or
exchanged with its neighbour; if the referee then finds nothing wrong any more, that is the cause.
"""

from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby, product
from typing import Any, Final, NamedTuple

from croupier.conformance.conversation import Conversation, DialogueLine, Fault
from croupier.conformance.diagnosis.dialect import Dialect, DialectReader, dialect_from_cause
from croupier.conformance.diagnosis.layouts import dialects
from croupier.core.errors import Violation
from croupier.core.plural import format_count
from croupier.core.referee import CLIENT, HOUSE
from croupier.core.room import HouseRoom
from croupier.core.session import Peer

MAX_DIALECT_DEPTH: Final = 3
"""So many spellings are found on top of each other at most."""

NON_MESSAGES: Final = frozenset({"silence", "the end of the conversation", "an open connection"})
"""What a referee finds that is no message."""

REFUSAL_CODES: Final = frozenset({"FAIL", "ERRO", "ERR", "DISC", "STP"})
"""The codes by which a house refuses, or says goodbye."""

type WireLog = Sequence[tuple[Peer, bytes]]
"""What both ends have sent, piece by piece, in the order in which it was on the wire."""


def likely_cause(
    room: HouseRoom,
    expected: bytes | None,
    actual: bytes,
    conversation: Conversation,
    *,
    wire_log: WireLog = (),
    known_options: Any = None,
    strict: bool = False,
    side: Peer = HOUSE,
) -> str:
    """The likely cause of the first fault of one end, in a sentence that begins with "it"; empty where nobody knows.

    `expected` are the bytes that the document fixes, None where it leaves a choice, and `got` those that came. `wire`
    is the conversation piece by piece as it was sent, if that is known; `own` and `strict` are those of its codecs.
    """
    hearing = AlteredConversation(room, wire_log or _pieces(conversation), known_options, strict, side)
    fault = next((fault for fault in conversation.faults if fault.verdict.end == side), None)
    if fault is None:
        found = _as(room, expected, actual)
        return f"it {found.description}" if found else ""
    return _spelt(hearing) or _misplaced(hearing, conversation, fault) or _unheard(hearing, conversation, fault)


def dialect_of_cause(room: HouseRoom, cause: str) -> Dialect | None:
    """The spelling that a cause names, if the whole stream can be read by it."""
    return dialect_from_cause(cause, dialects(room.name))


def _pieces(conversation: Conversation) -> WireLog:
    """A conversation as it was on the wire, as far as its lines tell."""
    lines = [(line.side, line.data) for line in conversation.lines]
    return [*lines, *((side, rest) for side in (CLIENT, HOUSE) if (rest := conversation.incomplete(side)))]


def _as(room: HouseRoom, expected: bytes | None, got: bytes) -> Dialect | None:
    """The spelling by which what came is what was expected."""
    for spelling in dialects(room.name) if expected else ():
        if DialectReader(spelling).feed(got) == expected != got:
            return spelling
    return None


class ReadAttempt(NamedTuple):
    """What comes of another reading: how many messages are `good`, whether all are `right`, or one may have `begun`.

    `amounts` is the sum of all that are told in it: of two readings that are both right the one with the smaller
    numbers is likelier.
    """

    dialect: Dialect
    message_count: int
    is_faultless: bool = False
    has_begun: bool = False
    amount_sum: int = 0


class AlteredConversation:
    """The same conversation once more, with something changed about what one end has sent."""

    def __init__(self, room: HouseRoom, wire_log: WireLog, known_options: Any, strict: bool, side: Peer) -> None:
        self.room = room
        self.side = side
        self.wire_log = wire_log
        self.sent = b"".join(data for by, data in wire_log if by == side)
        self._own = known_options
        self._strict = strict
        self.original = self.judge([data for by, data in wire_log if by == side])

    def judge(self, pieces: Iterable[bytes]) -> Conversation:
        """The conversation with these pieces in place of those that the end has sent, up to its first fault."""
        conversation = Conversation(self.room, self._own, strict=self._strict)
        heard = iter(pieces)
        for by, data in self.wire_log:
            conversation.on_data(by, next(heard, b"") if by == self.side else data, 0.0)
            if self.faults(conversation):
                return conversation
        for rest in heard:
            conversation.on_data(self.side, rest, 0.0)
        return conversation

    def faults(self, conversation: Conversation) -> Sequence[Fault]:
        """The faults of the end."""
        return [fault for fault in conversation.faults if fault.verdict.end == self.side]

    def count_good_messages(self, conversation: Conversation) -> int:
        """How many messages of the end came before its first fault."""
        faults = self.faults(conversation)
        before = conversation.lines[: faults[0].line_count] if faults else conversation.lines
        wrong = bool(faults) and bool(before) and before[-1].side == self.side
        return sum(line.side == self.side for line in before) - wrong

    def read(self, dialect: Dialect, start: int) -> ReadAttempt:
        """What comes of it when what the end has sent from a byte on is read by a spelling."""
        translation = DialectReader(dialect)
        pieces, at = [], 0
        for by, data in self.wire_log:
            if by == self.side:
                cut = min(max(start - at, 0), len(data))
                pieces.append(data[:cut] + (translation.feed(data[cut:]) if cut < len(data) else b""))
                at += len(data)
        if b"".join(pieces) == self.sent:
            return ReadAttempt(dialect, self.count_good_messages(self.original))
        heard = self.judge(pieces)
        many = self.count_good_messages(heard)
        if self.faults(heard) or heard.incomplete(self.side) or (translation.has_failed and not start):
            return ReadAttempt(dialect, many)
        right = not translation.unread and many + bool(self.faults(self.original)) > self.count_good_messages(
            self.original
        )
        amounts = sum(abs(getattr(line.message, "coins", 0)) for line in heard.lines)
        return ReadAttempt(dialect, many, right, self.is_cut and bool(translation.unread), amounts)

    @property
    def is_cut(self) -> bool:
        """Whether nothing is known of what came behind bytes that cannot be read."""
        last = next((line for line in reversed(self.original.lines) if line.side == self.side), None)
        lost = last is not None and type(last.message) is Violation and last.message.fatal
        return lost and not self.original.incomplete(self.side)

    def could_have_sent(self, start: int, data: bytes, min_messages: int) -> bool:
        """Whether the end might have sent this from a byte on: it is at no fault, and has said so many messages."""
        pieces, at = [], 0
        for by, sent in self.wire_log:
            if by == self.side:
                pieces.append(sent[: max(start - at, 0)])
                if at <= start < at + len(sent):
                    pieces[-1] += data
                at += len(sent)
        heard = self.judge(pieces)
        return not self.faults(heard) and self.count_good_messages(heard) >= min_messages

    @property
    def possible_starts(self) -> Iterator[int]:
        """Where it may have begun: with the first byte, with the last flight, or with the message that was wrong."""
        yield 0
        flight = sum(len(data) for by, data in self.wire_log[: self._last_flight] if by == self.side)
        if flight:
            yield flight
        lines = [line for line in self.original.lines if line.side == self.side]
        message = sum(len(line.data) for line in lines[: self.count_good_messages(self.original)])
        if message not in {0, flight}:
            yield message

    @property
    def other_side(self) -> Peer:
        """The other end."""
        return CLIENT if self.side == HOUSE else HOUSE

    @property
    def unanswered_pieces(self) -> Sequence[bytes]:
        """The last pieces of the other end between which nothing was answered."""
        runs = [
            [data for _, data in run] for by, run in groupby(self.wire_log, lambda piece: piece[0]) if by != self.side
        ]
        return runs[-1] if runs else []

    @property
    def _last_flight(self) -> int:
        """The place behind the last piece of the other end that something has followed."""
        last = max((place for place, (by, _) in enumerate(self.wire_log) if by == self.side), default=0)
        before = enumerate(self.wire_log[:last])
        return max((place + 1 for place, (by, _) in before if by != self.side), default=0)


def _spelt(hearing: AlteredConversation) -> str:
    """The spelling by which what came is right, or else by which it may have been about to be.

    A single one of a part of it is likelier than several on top of each other.
    """
    hope = ""
    for depth, start in product((1, MAX_DIALECT_DEPTH), hearing.possible_starts):
        here = "here it" if start else "it"
        known = [each for each in dialects(hearing.room.name) if start or each.is_consistent]
        found: Dialect | None = None
        best = hearing.count_good_messages(hearing.original)
        for _ in range(depth):
            trials = [hearing.read(found + each if found else each, start) for each in known]
            right = [trial for trial in trials if trial.is_faultless]
            if right:
                return f"{here} {min(right, key=lambda trial: trial.amount_sum).dialect.description}"
            hope = hope or next((f"{here} {trial.dialect.description}" for trial in trials if trial.has_begun), "")
            farthest = max(trials, key=lambda trial: trial.message_count, default=None)
            if farthest is None or farthest.message_count <= best:
                break
            best, found = farthest.message_count, farthest.dialect
    return hope


def _misplaced(hearing: AlteredConversation, conversation: Conversation, fault: Fault) -> str:
    """What is said twice, too early, too late, or not at all."""
    lines = [line for line in conversation.lines[: fault.line_count] if line.side == hearing.side]
    if not lines or fault.verdict.violation.found in NON_MESSAGES or type(lines[-1].message) is Violation:
        return ""
    wrong, at = lines[-1], sum(len(line.data) for line in lines[:-1])
    if len(lines) > 1 and lines[-2].data == wrong.data and conversation.lines[fault.line_count - 2] is lines[-2]:
        return f"it says {wrong.message} twice"
    for line in _lines(hearing.room, hearing.side, hearing.sent[at + len(wrong.data) :])[:1]:
        if hearing.could_have_sent(at, line.data + wrong.data, len(lines) + 1):
            return f"it says {wrong.message} too early: {line.message} has to stand before it"
    codec = hearing.room.codec(True, None)
    for message in hearing.room.sample_messages if _code(wrong.message) not in REFUSAL_CODES else ():
        if hearing.could_have_sent(at, codec.encode(message) + wrong.data, len(lines) + 1):
            refused = _code(message) in REFUSAL_CODES
            return "it goes on where it has to refuse" if refused else f"it leaves out {_code(message)}"
    return ""


def _lines(room: HouseRoom, side: Peer, data: bytes) -> Sequence[DialogueLine]:
    """The messages in what an end has sent."""
    conversation = Conversation(room)
    conversation.on_data(side, data, 0.0)
    return [line for line in conversation.lines if type(line.message) is not Violation]


def _unheard(hearing: AlteredConversation, conversation: Conversation, fault: Fault) -> str:
    """Why nothing comes, or nothing more."""
    found = fault.verdict.violation.found
    if found not in NON_MESSAGES - {"an open connection"}:
        return ""
    rest = conversation.incomplete(hearing.side)
    if rest:
        return f"it sends {format_count(len(rest), 'byte')} of a message that is longer"
    pieces = hearing.unanswered_pieces
    asked = len(_lines(hearing.room, hearing.other_side, b"".join(pieces)))
    if len(pieces) > asked > 0:
        return "it may take what one read brings for a whole message: this one came in pieces"
    if len(pieces) == 1 and asked > 1:
        return "it may take what one read brings for one message: several came at once"
    if found == "the end of the conversation":
        return "it may have failed: see what it has written to stderr"
    if not hearing.sent and all(type(line.message) is not Violation for line in conversation.lines):
        return "it may wait for more than a message has: for a line end, a full buffer, or the end of the connection"
    return ""


def _code(message: object) -> str:
    return str(message).partition(" ")[0]
