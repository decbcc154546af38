"""Finds the likely cause of a fault.

The received bytes are read in every known dialect of the room, or a message is left out, added, or swapped with its
neighbour. If the referee finds nothing wrong with the altered conversation, the alteration is the cause.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import groupby, product
from typing import Any, Final, NamedTuple

from croupier.conformance.conversation import Conversation, DialogueLine, Fault
from croupier.conformance.diagnosis.cause import SENDS_BACK, Cause
from croupier.conformance.diagnosis.common_dialects import LITTLE_ENDIAN, LOWER_CASE
from croupier.conformance.diagnosis.dialect import Dialect, DialectReader
from croupier.conformance.diagnosis.layouts import (
    LAYOUTS,
    SWAPPED_CHARACTERS,
    byte_orders,
    dialects,
    greeting_dialects,
)
from croupier.core.errors import FoundKind, Violation
from croupier.core.plural import format_count
from croupier.core.referee import CLIENT, HOUSE, OTHER_END
from croupier.core.room import HouseRoom
from croupier.core.session import Peer

MAX_DIALECT_DEPTH: Final = 3
"""At most this many dialects are combined."""

READINGS: Final[Mapping[str, str]] = {
    LITTLE_ENDIAN: "it reads integers with the least significant byte first",
    SWAPPED_CHARACTERS: "it reads characters with the less significant byte first",
    LOWER_CASE: "it reads lower case letters as if they were upper case",
}
"""What a house does that reads what a client sends in a dialect, by the description of the dialect."""

DEALS_FROM_SEVERAL_DECKS: Final = Cause(
    "it deals a card again that is out, as from several decks (`--decks` says from how many)"
)

ERROR_CODES: Final = frozenset({"FAIL", "ERRO", "ERR"})
"""The codes with which an end says that something is wrong."""

REFUSAL_CODES: Final = ERROR_CODES | {"DISC", "STP"}
"""The codes with which a house refuses, or says goodbye."""

RULES_SECTION: Final = "3"
"""The section of the rules of the game: they decide how many cards a bank draws, so none of these is left out."""

type WireLog = Sequence[tuple[Peer, bytes]]
"""The chunks that both ends have sent, in the order in which they were on the wire."""


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
    greeting: bytes = b"",
) -> Cause | None:
    """Return the likely cause of an end's first fault, or of a client's incomplete message; None if it is unknown.

    `expected` are the bytes that the document requires, None where it leaves a choice, and `actual` the received bytes.
    `wire_log` is the conversation chunk by chunk, if it is known; `known_options` and `strict` are those of its codecs.
    The end is known to send the `greeting`, if there is one, before anything is sent to it.
    """
    altered = AlteredConversation(room, wire_log or _pieces(conversation), known_options, strict, side)
    known_dialects = (*(greeting_dialects(room.name, greeting) if greeting else ()), *dialects(room.name))
    fault = next(iter(conversation.faults_of(side)), None)
    if fault is None and side == CLIENT and conversation.incomplete(CLIENT):
        return _explain_by_dialect(altered, known_dialects)
    if fault is None:
        found = _dialect_between(room, expected, actual)
        return _cause_of_dialect(room, found) if found else None
    if side == CLIENT and _resembles_number(conversation, fault):
        return None
    return (
        _explain_by_dialect(altered, known_dialects)
        or _explain_by_echo(conversation, fault)
        or _explain_by_reading(altered, fault)
        or _explain_by_decks(altered, fault)
        or _explain_by_order(altered, conversation, fault)
        or _explain_silence(altered, conversation, fault)
    )


def _cause_of_dialect(room: HouseRoom, dialect: Dialect, *, is_partial: bool = False) -> Cause:
    """The cause of messages in a dialect; `is_partial`: only a part of the stream is in it."""
    text = f"{'in some messages it' if is_partial else 'it'} {dialect.description}"
    if not dialect.is_consistent:
        return Cause(text)
    clause = f"{room.name}-{dialect.section}"
    return Cause(text, partial_dialect=dialect, clause=clause) if is_partial else Cause(text, dialect, clause=clause)


def _pieces(conversation: Conversation) -> WireLog:
    """Reconstruct the wire log of a conversation from its lines."""
    lines = [(line.side, line.data) for line in conversation.lines]
    return [*lines, *((side, rest) for side in (CLIENT, HOUSE) if (rest := conversation.incomplete(side)))]


def _dialect_between(room: HouseRoom, expected: bytes | None, actual: bytes) -> Dialect | None:
    """Return the dialect in which the received bytes mean the expected ones."""
    for dialect in dialects(room.name) if expected else ():
        if DialectReader(dialect).feed(actual) == expected != actual:
            return dialect
    return None


class ReadAttempt(NamedTuple):
    """The result of reading a conversation in a dialect.

    `message_count` messages came before the first fault; `read_count` are spelled in the dialect, whether or not they
    are right. `is_faultless`: no fault is left. `has_begun`: the last message may be incomplete. `amount_sum` is the
    sum of all amounts: of two faultless readings the one with the smaller amounts is more likely.
    """

    dialect: Dialect
    message_count: int
    read_count: int
    is_faultless: bool = False
    has_begun: bool = False
    amount_sum: int = 0


class AlteredConversation:
    """Replays a conversation with an alteration of what one end has sent."""

    def __init__(self, room: HouseRoom, wire_log: WireLog, known_options: Any, strict: bool, side: Peer) -> None:
        self.room = room
        self.side = side
        self.wire_log = wire_log
        self.sent = b"".join(data for by, data in wire_log if by == side)
        self._known_options = known_options
        self._strict = strict
        self.original = self.judge([data for by, data in wire_log if by == side])

    def _new_conversation(self) -> Conversation:
        may_wait = self.side == HOUSE  # a client is heard by the tester's own house
        return Conversation(self.room, self._known_options, strict=self._strict, house_may_wait=may_wait)

    def judge(self, pieces: Iterable[bytes]) -> Conversation:
        """The conversation with as many other chunks in place of those of the end, up to its first fault."""
        conversation = self._new_conversation()
        replacements = iter(pieces)
        for by, data in self.wire_log:
            conversation.on_data(by, next(replacements) if by == self.side else data, 0.0)
            if conversation.faults_of(self.side):
                break
        return conversation

    def count_good_messages(self, conversation: Conversation) -> int:
        """The number of messages of the end before its first fault."""
        faults = conversation.faults_of(self.side)
        before = conversation.lines[: faults[0].line_count] if faults else conversation.lines
        wrong = bool(faults) and bool(before) and before[-1].side == self.side
        return sum(line.side == self.side for line in before) - wrong

    def _split_at(self, start: int) -> Iterator[tuple[bytes, bytes]]:
        """Yield the chunks of the end, each divided into what was sent before a byte offset, and after it."""
        at = 0
        for by, data in self.wire_log:
            if by == self.side:
                cut = max(start - at, 0)
                yield data[:cut], data[cut:]
                at += len(data)

    def read(self, dialect: Dialect, start: int) -> ReadAttempt:
        """Read what the end has sent, from a byte offset on, in a dialect."""
        reader = DialectReader(dialect)
        pieces = [before + (reader.feed(after) if after else b"") for before, after in self._split_at(start)]
        if b"".join(pieces) == self.sent:
            return ReadAttempt(dialect, self.count_good_messages(self.original), reader.message_count)
        conversation = self.judge(pieces)
        message_count = self.count_good_messages(conversation)
        has_faults = bool(conversation.faults_of(self.side)) or self._is_refuted(conversation)
        if has_faults or conversation.incomplete(self.side) or (reader.has_failed and not start):
            return ReadAttempt(dialect, message_count, reader.message_count)
        is_faultless = not reader.unread and message_count + bool(
            self.original.faults_of(self.side)
        ) > self.count_good_messages(self.original)
        amounts = sum(abs(getattr(line.message, "coins", 0)) for line in conversation.lines)
        has_begun = self.is_cut and bool(reader.unread)
        return ReadAttempt(dialect, message_count, reader.message_count, is_faultless, has_begun, amounts)

    def is_explained_by_reading(self, dialect: Dialect, *, is_cut: bool = False) -> bool:
        """Whether the end has answered rightly all that the other end means in a dialect, and has not refused it.

        If the conversation `is_cut`, what the end has sent so far has to be right, and may be a refusal.
        """
        reader = DialectReader(dialect)
        read = [(by, data if by == self.side else reader.feed(data)) for by, data in self.wire_log]
        conversation = self._new_conversation()
        for by, data in read:
            conversation.on_data(by, data, 0.0)
        lines = conversation.lines
        if read == [*self.wire_log] or conversation.faults_of(self.side) or not lines or lines[-1].side != self.side:
            return False
        if is_cut:
            return True
        if conversation.deadline is not None or conversation.incomplete(self.side):  # it still owes an answer
            return False
        return message_code(lines[-1].message) not in REFUSAL_CODES

    def _is_refuted(self, conversation: Conversation) -> bool:
        """Whether a reading of what a client has sent puts the tester's own house at fault."""
        return self.side == CLIENT and bool(conversation.faults_of(HOUSE))

    @property
    def is_right_with_more_decks(self) -> bool:
        """Whether nothing is wrong but that cards are dealt that are out, where the number of decks varies."""
        options = self._known_options or self.room.options()
        if not hasattr(options, "decks"):
            return False
        options = replace(options, decks=len(self.original.lines))
        dealt = AlteredConversation(self.room, self.wire_log, options, self._strict, self.side)
        return not dealt.original.faults_of(self.side)

    @property
    def is_cut(self) -> bool:
        """Whether the stream was given up at unreadable bytes, so that later bytes are unknown."""
        last = next((line for line in reversed(self.original.lines) if line.side == self.side), None)
        lost = last is not None and type(last.message) is Violation and last.message.fatal
        return lost and not self.original.incomplete(self.side)

    def could_have_sent(self, start: int, data: bytes, min_messages: int) -> bool:
        """Whether the end could have sent this from an offset on: no fault, and at least `min_messages` messages."""
        pieces = [before for before, _ in self._split_at(start)]
        changed = next((index for index, (_, after) in enumerate(self._split_at(start)) if after), None)
        if changed is not None:
            pieces[changed] += data
        conversation = self.judge(pieces)
        return not conversation.faults_of(self.side) and self.count_good_messages(conversation) >= min_messages

    @property
    def possible_starts(self) -> Iterator[int]:
        """Offsets where the dialect may start: the first byte, the last flight, or the wrong message."""
        yield 0
        flight = sum(len(data) for by, data in self.wire_log[: self._last_flight] if by == self.side)
        if flight:
            yield flight
        lines = [line for line in self.original.lines if line.side == self.side]
        message = sum(len(line.data) for line in lines[: self.count_good_messages(self.original)])
        if message not in {0, flight}:
            yield message

    @property
    def unanswered_pieces(self) -> Sequence[bytes]:
        """The last chunks of the other end that were sent without an answer in between."""
        runs = [
            [data for _, data in run] for by, run in groupby(self.wire_log, lambda piece: piece[0]) if by != self.side
        ]
        return runs[-1] if runs else []

    @property
    def _last_flight(self) -> int:
        """The index after the last chunk of the other end that was followed by an answer."""
        last = max((place for place, (by, _) in enumerate(self.wire_log) if by == self.side), default=0)
        before = enumerate(self.wire_log[:last])
        return max((place + 1 for place, (by, _) in before if by != self.side), default=0)


def _explain_by_dialect(altered: AlteredConversation, known_dialects: Sequence[Dialect]) -> Cause | None:
    """Return the dialect in which the conversation is faultless, or else one in which it may have become so.

    A single dialect for a part of the stream is more likely than several combined. Of these, the first is the one that
    leaves the most messages right, or reads the most: a message that departs in two ways is right in none of them.
    """
    fallback: Cause | None = None
    for depth, start in product((1, MAX_DIALECT_DEPTH), altered.possible_starts):
        candidates = [each for each in known_dialects if start or each.is_consistent]
        found: Dialect | None = None
        best = _progress(altered.read(LAYOUTS[altered.room.name].dialect("spells all as the protocol does"), start))
        for _ in range(depth):
            attempts = [altered.read(found + each if found else each, start) for each in candidates]
            faultless = [attempt for attempt in attempts if attempt.is_faultless]
            if faultless:
                likeliest = min(faultless, key=lambda attempt: attempt.amount_sum).dialect
                return _cause_of_dialect(altered.room, likeliest, is_partial=bool(start))
            begun = (attempt.dialect for attempt in attempts if attempt.has_begun)
            fallback = fallback or next(
                (_cause_of_dialect(altered.room, each, is_partial=bool(start)) for each in begun), None
            )
            farthest = max(attempts, key=_progress, default=None)
            if farthest is None or _progress(farthest) <= best:
                break
            best, found = _progress(farthest), farthest.dialect
    return fallback


def _progress(attempt: ReadAttempt) -> tuple[int, int]:
    """How far a conversation can be read in a dialect."""
    return attempt.message_count, attempt.read_count


def _resembles_number(conversation: Conversation, fault: Fault) -> bool:
    """Whether a client has sent a number of the house, or a limit, or a little more, with either sign."""
    lines = conversation.lines[: fault.line_count]
    numbers = {line.message.coins for line in lines if line.side == HOUSE and hasattr(line.message, "coins")}
    if fault.verdict.violation.limit is not None:
        numbers.add(fault.verdict.violation.limit)
    sent = getattr(lines[fault.sent_index].message, "coins", None) if lines else None
    return sent is not None and any(0 <= abs(sent) - size <= size // 8 for size in map(abs, numbers))


def _explain_by_echo(conversation: Conversation, fault: Fault) -> Cause | None:
    """Return a cause if the first answer of a house is the first message of the client."""
    lines = conversation.lines[: fault.line_count]
    first = {side: next((line.data for line in lines if line.side == side), b"") for side in (CLIENT, HOUSE)}
    is_wrong = fault.verdict.violation.kind is FoundKind.MESSAGE
    is_at_fault = is_wrong and sum(line.side == HOUSE for line in lines) == 1 and lines[-1].side == HOUSE
    return SENDS_BACK if is_at_fault and first[CLIENT] == first[HOUSE] else None


def _explain_by_reading(altered: AlteredConversation, fault: Fault) -> Cause | None:
    """Return a cause if a house has answered lower case letters as if they were upper case."""
    if altered.side == HOUSE and fault.verdict.violation.kind is FoundKind.MESSAGE:
        lower = [each for each in dialects(altered.room.name) if each.description == LOWER_CASE]
        return _reading_cause(altered, lower)
    return None


def byte_order_cause(
    room: HouseRoom,
    conversation: Conversation,
    wire_log: WireLog,
    known_options: Any,
    *,
    strict: bool,
    is_cut: bool = False,
) -> Cause | None:
    """Return a cause if a house has answered numbers of the client rightly by the opposite order of their bytes.

    The numbers are integers or characters. This is no proof: a house that accepts all of them answers so, too. Another
    conversation has to show that it does not answer the same ones rightly by the order of the protocol. `is_cut`: the
    conversation was ended at a wrong message, so that the rest of the answer is unknown. The other arguments are those
    of `likely_cause`.
    """
    altered = AlteredConversation(room, wire_log or _pieces(conversation), known_options, strict, HOUSE)
    return _reading_cause(altered, byte_orders(room.name), is_cut=is_cut)


def _reading_cause(altered: AlteredConversation, readings: Sequence[Dialect], *, is_cut: bool = False) -> Cause | None:
    """The cause of a house that reads what a client sends in one of these dialects."""
    for dialect in readings:
        if altered.is_explained_by_reading(dialect, is_cut=is_cut):
            return Cause(READINGS[dialect.description], clause=f"{altered.room.name}-{dialect.section}")
    return None


def _explain_by_decks(altered: AlteredConversation, fault: Fault) -> Cause | None:
    """Return a cause if a house deals a card that is out, and all else is right."""
    is_message = altered.side == HOUSE and fault.verdict.violation.kind is FoundKind.MESSAGE
    return DEALS_FROM_SEVERAL_DECKS if is_message and altered.is_right_with_more_decks else None


def _explain_by_order(altered: AlteredConversation, conversation: Conversation, fault: Fault) -> Cause | None:
    """Return a cause if a message is repeated, too early, or missing."""
    lines = [line for line in conversation.lines[: fault.line_count] if line.side == altered.side]
    if not lines or fault.verdict.violation.kind is not FoundKind.MESSAGE or type(lines[-1].message) is Violation:
        return None
    wrong, at = lines[-1], sum(len(line.data) for line in lines[:-1])
    before = conversation.lines[: fault.line_count - 1]
    said = [line.message for line in before if line.side == CLIENT]
    is_behind_garbage = bool(said) and type(said[-1]) is Violation and said[-1].fatal
    if altered.side == HOUSE and is_behind_garbage and conversation.incomplete(CLIENT):
        return Cause("it may read on behind bytes that cannot be read", is_guess=True)
    due = conversation.start_again().replay(before).referee.pending
    has_its_place = altered.side == HOUSE and due is not None and due.has_kind_of(wrong.message)
    if len(lines) > 1 and lines[-2].data == wrong.data and before[-1] is lines[-2]:
        rest = altered.sent[at + len(wrong.data) :]
        if not has_its_place or altered.could_have_sent(at, rest, len(lines)):
            return Cause(f"it says {wrong.message} twice")
    for line in _lines(altered.room, altered.side, altered.sent[at + len(wrong.data) :])[:1]:
        if altered.could_have_sent(at, line.data + wrong.data, len(lines) + 1):
            early, late = (message_code(message) for message in (wrong.message, line.message))
            if early == late:
                early, late = str(wrong.message), str(line.message)
            return Cause(f"it says {early} too early: {late} has to stand before it")
    codec = altered.room.codec(True, None)
    breaks_game_rule = fault.verdict.violation.clause.startswith(f"{altered.room.name}-{RULES_SECTION}.")
    if has_its_place or breaks_game_rule or message_code(wrong.message) in REFUSAL_CODES:
        return None
    for message in altered.room.sample_messages:
        if altered.could_have_sent(at, codec.encode(message) + wrong.data, len(lines) + 1):
            refused = message_code(message) in REFUSAL_CODES
            return Cause("it goes on where it has to refuse" if refused else f"it leaves out {message_code(message)}")
    return None


def _lines(room: HouseRoom, side: Peer, data: bytes) -> Sequence[DialogueLine]:
    """Decode the messages that an end has sent."""
    conversation = Conversation(room)
    conversation.on_data(side, data, 0.0)
    return [line for line in conversation.lines if type(line.message) is not Violation]


def _explain_silence(altered: AlteredConversation, conversation: Conversation, fault: Fault) -> Cause | None:
    """Return a cause if no message came, or only a part of one."""
    kind = fault.verdict.violation.kind
    if kind not in {FoundKind.SILENCE, FoundKind.CLOSED}:
        return None
    rest = conversation.incomplete(altered.side)
    if rest and not rest.isspace():  # a line end is tolerated
        return Cause(f"it sends {format_count(len(rest), 'byte')} of a message that is longer")
    pieces = altered.unanswered_pieces
    request_count = len(_lines(altered.room, OTHER_END[altered.side], b"".join(pieces)))
    if len(pieces) > request_count > 0:
        return Cause("it may take what one read brings for a whole message: this one came in pieces", is_guess=True)
    if len(pieces) == 1 and request_count > 1:
        return Cause("it may take what one read brings for one message: several came at once", is_guess=True)
    return None


def is_error(message: object) -> bool:
    """Whether an end says that something is wrong.

    Example:
        >>> is_error("ERRO 00"), is_error("DISC")
        (True, False)
    """
    return message_code(message) in ERROR_CODES


def message_code(message: object) -> str:
    """The first word of a message.

    Example:
        >>> message_code("ANTE 10")
        'ANTE'
    """
    return str(message).partition(" ")[0]
