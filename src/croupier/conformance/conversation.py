"""One conversation of a client with a house: the messages of both ends, and the verdicts on them."""

from collections import Counter
from collections.abc import Iterator, Sequence, Set
from functools import partial
from typing import Any, Final

from msgspec import Struct

from croupier.core.client_session import ClientReferee
from croupier.core.codec import printable_bytes
from croupier.core.errors import FoundKind, Violation
from croupier.core.referee import CLIENT, HOUSE, OTHER_END, Disconnected, Observation, Party, Sent, Verdict
from croupier.core.room import HouseRoom
from croupier.core.session import Peer, TimedOut

MAX_UNREAD_BYTES: Final = 1 << 16
"""Bytes kept per end that do not make up a message."""

STREAM_SECTION: Final = "1.3"
MESSAGE_SECTION: Final = "2.1"
"""The clauses of every room that say where messages may be cut, and what a message is."""


class DialogueLine(Struct, frozen=True):
    """A message of one end (CLIENT or HOUSE) with its bytes, or a Violation if the bytes are not a message.

    White space before a message belongs to it. `at` is a time in seconds.
    """

    side: Peer
    data: bytes
    message: Any
    at: float


class Fault(Struct, frozen=True):
    """A verdict, and the number of lines when it was passed: the last of them shows the fault.

    `sent_index` is the index of the line with the fault, −1 for the last one: an earlier one if a client has sent
    ahead, because its message is judged when the replies to those before it have come.
    """

    verdict: Verdict
    line_count: int
    sent_index: int = -1


class Conversation:
    """Decodes the bytes of both ends in the order in which they were on the wire, and judges them.

    `known_options` is what is known of the house's settings or the client's options, None for nothing. Bytes may arrive
    in chunks of any size: every line still holds exactly the bytes of its message. `lines` and `faults` cover the time
    since `forget`; `line_count` counts all lines, and `violation_counts` how often each side broke each clause, in the
    order of the first violation.
    """

    def __init__(
        self, room: HouseRoom, known_options: Any = None, *, strict: bool = False, answer_timeout: float = 5.0
    ) -> None:
        self.lines: list[DialogueLine] = []
        self.faults: list[Fault] = []
        self.finished_games: list[Any] = []
        self.line_count = 0
        self._room_name = room.name
        self.violation_counts: Counter[tuple[Party, str]] = Counter()
        self.referee: ClientReferee[Any, Any] = room.referee(known_options, strict, answer_timeout)
        self._codec = partial(room.codec, strict, known_options)
        self._codecs = {side: self._codec() for side in (CLIENT, HOUSE)}
        self._rest = {side: bytearray() for side in (CLIENT, HOUSE)}
        self._client_input_ended = False
        self._has_client_left = False

    @property
    def games(self) -> int:
        """The number of finished games."""
        return self.referee.finished_count

    @property
    def dealt_games(self) -> Sequence[Any]:
        """All games in order, with the one in progress."""
        return self.finished_games if self.referee.game is None else [*self.finished_games, self.referee.game]

    @property
    def deadline(self) -> float | None:
        """When the silence of the house becomes a fault; None while it owes nothing or the client has ended."""
        return None if self._client_input_ended else self.referee.deadline

    def on_data(self, side: Peer, data: bytes, now: float) -> Sequence[Fault]:
        """Process bytes of one end; return the faults that they show."""
        before = len(self.faults)
        for piece, message in self._read(side, data):
            if self._client_input_ended and self.referee.deadline is None:
                self.on_disconnect(CLIENT, now)
            self.lines.append(DialogueLine(side, piece, message, now))
            self.line_count += 1
            self._judge(Sent(side, OTHER_END[side], message), now)
        return self.faults[before:]

    def on_end_of_input(self, side: Peer, now: float) -> Sequence[Fault]:
        """Process the end of output of one end. A client that still reads gets everything that it is owed."""
        self._client_input_ended = self._client_input_ended or side == CLIENT
        return self.on_disconnect(HOUSE, now) if side == HOUSE else ()

    def on_disconnect(self, side: Peer, now: float) -> Sequence[Fault]:
        """Process a connection closed by one end."""
        if self._client_input_ended:
            self.referee.on(Disconnected(CLIENT, HOUSE), now)
        has_client_left = self._has_client_left
        self._has_client_left = has_client_left or self._client_input_ended or side == CLIENT
        found = self._judge(Disconnected(side, OTHER_END[side]), now)
        rest = self._unread(HOUSE)
        is_judged = any(party == HOUSE for party, _ in self.violation_counts)
        if self._has_client_left or is_judged or not rest:
            return found
        allowed = "nothing after the last message, or all of another one"
        return self._keep([Verdict(HOUSE, Violation(self._clause(MESSAGE_SECTION), printable_bytes(rest), allowed))])

    def forget(self) -> None:
        """Drop the lines and faults so far. They stay counted."""
        self.lines.clear()
        self.faults.clear()

    def on_timeout(self, now: float) -> Sequence[Fault]:
        """Process a deadline that has passed."""
        return self._judge(TimedOut(), now)

    def incomplete(self, side: Peer) -> bytes:
        """What one end has sent after its last message; the first 64 KiB of it are kept."""
        return bytes(self._rest[side])

    def tolerated(self, side: Peer) -> Set[str]:
        """The clauses whose tolerance one end has needed."""
        return self._codecs[side].tolerated

    def _read(self, side: Peer, data: bytes) -> Iterator[tuple[bytes, Any]]:
        """Yield every message that these bytes complete, after its own bytes; keep the rest."""
        codec, rest = self._codecs[side], self._rest[side]
        if not rest:
            messages = codec.feed(data)
            pieces = [b"" if type(message) is Violation else codec.encode(message) for message in messages]
            if messages and b"".join(pieces) == data:  # the canonical spelling, which is the usual case
                yield from zip(pieces, messages, strict=True)
                return
            if not messages:
                rest += data[:MAX_UNREAD_BYTES]
                return
            codec = self._codec()  # nothing is pending: a new codec, fed byte by byte, shows where messages end
        for byte in data:
            if len(rest) < MAX_UNREAD_BYTES:
                rest.append(byte)
            for message in codec.feed(bytes((byte,))):
                piece = bytes(rest)
                rest.clear()
                yield piece, message

    def _judge(self, event: Observation[Any], now: float) -> Sequence[Fault]:
        is_answer_due = self.referee.deadline is not None
        games = self.games
        verdicts = self.referee.on(event, now)
        if self.games > games:
            self.finished_games.append(self.referee.last_game)
        return self._keep([self._explained(verdict, is_answer_due) for verdict in verdicts])

    def _explained(self, verdict: Verdict, is_answer_due: bool) -> Verdict:
        """The verdict of the referee, which does not know incomplete messages, with the clause about them."""
        violation = verdict.violation
        if verdict.party != HOUSE:
            return verdict
        rest = self._unread(HOUSE)
        if rest and violation.kind in {FoundKind.SILENCE, FoundKind.CLOSED}:
            section, found = MESSAGE_SECTION, printable_bytes(rest)
        elif self._unread(CLIENT) and violation.kind is FoundKind.MESSAGE and not is_answer_due:
            section, found = STREAM_SECTION, violation.found
        else:
            return verdict
        return Verdict(
            HOUSE,
            Violation(self._clause(section), found, violation.allowed, kind=violation.kind, wanted=violation.wanted),
        )

    def _clause(self, section: str) -> str:
        return f"{self._room_name}-{section}"

    def _unread(self, side: Peer) -> bytes:
        """The beginning of a message that is not complete; empty if it is only white space that is tolerated."""
        rest = self.incomplete(side)
        return rest if rest.strip(b"\r\n ") or not self.tolerated(side) else b""

    def _keep(self, verdicts: Sequence[Verdict]) -> Sequence[Fault]:
        found = [Fault(verdict, self.line_count, self._sent_index(verdict)) for verdict in verdicts]
        self.faults += found
        self.violation_counts.update((fault.verdict.party, fault.verdict.violation.clause) for fault in found)
        return found

    def _sent_index(self, verdict: Verdict) -> int:
        """The index of the line that a verdict is about."""
        waiting = 0 if verdict.party == HOUSE or self._is_unreadable else self.referee.unhandled_count
        for index in range(len(self.lines) - 1, -1, -1):
            if self.lines[index].side == verdict.party:
                if waiting == 0:
                    return index
                waiting -= 1
        return -1

    @property
    def _is_unreadable(self) -> bool:
        """Whether the last message cannot be read, which shows at once."""
        return bool(self.lines) and type(self.lines[-1].message) is Violation
