"""Conversations of a client with a house: the messages of both ends with their bytes, and the verdicts on them."""

from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Callable, Iterable, Sequence, Set
from math import inf
from typing import Any, ClassVar, Final, Self

from msgspec import Struct

from croupier.core.client_session import ClientReferee
from croupier.core.codec import printable_bytes
from croupier.core.errors import FoundKind, Violation
from croupier.core.frames import FrameCodec
from croupier.core.referee import CLIENT, HOUSE, OTHER_END, Disconnected, Observation, Party, Sent, Verdict
from croupier.core.room import HouseRoom
from croupier.core.session import Address, Peer, TimedOut
from croupier.core.spans import Span, SpanReader

FIRST_SECTION: Final = "1.2"
STREAM_SECTION: Final = "1.3"
MESSAGE_SECTION: Final = "2.1"
LEAVING_SECTION: Final = "8.1"
GOODBYE_SECTION: Final = "8.2"
"""The clauses of every room on who sends first, where messages are cut, what a message is, how a client leaves, and
goodbyes of a house."""

MIN_CODE_BYTES: Final = 3
"""The length of the shortest code of a message."""

UNFINISHED_MESSAGE: Final = Violation("", "the beginning of a message", "all of it")
"""What stands for the message in the line of an end that has sent only the beginning of it."""


type AnyClientReferee = ClientReferee[Any, Any]


class DialogueLine(Struct, frozen=True):
    """A message of one end (CLIENT or HOUSE) with its bytes, or a Violation if the bytes are not a message.

    White space before a message belongs to it. `at` is a time in seconds. `cuts` are the places in `data` where a piece
    begins that was sent alone; None where that is not known.
    """

    side: Peer
    data: bytes
    message: Any
    at: float
    cuts: tuple[int, ...] | None = None


class Fault(Struct, frozen=True):
    """A verdict, and the number of lines when it was passed: the last of them shows the fault.

    `sent_index` is the index of the line with the fault, −1 for the last one: an earlier one if a client has sent
    ahead, because its message is judged when the replies to those before it have come.
    """

    verdict: Verdict
    line_count: int
    sent_index: int = -1


class ConversationMonitor(ABC):
    """Reads the bytes of both ends of one connection in the order in which they were on the wire, and judges them.

    Bytes may arrive in chunks of any size: every line still holds exactly the bytes of its message. `lines` and
    `faults` cover the time since `forget`; `line_count` counts all lines, `games` all finished games, and
    `violation_counts` how often each side broke each clause, in the order of the first violation. After `max_lines`
    lines nothing more is read; `excess_bytes` are the bytes of the last `on_data` that this concerns. `client_address`
    is None if it is unknown. The lines of the `sender` show in which pieces it sends, if all of its pieces are passed
    to `on_data` one by one. `is_house_cut`: a reset has cut the last message of the house; what is missing is not
    judged. `unread_reason` says why nothing was judged, if it was not.
    """

    is_text: ClassVar[bool] = False
    """Whether all messages are text, which describes them without their bytes."""

    def __init__(self) -> None:
        self.lines: list[DialogueLine] = []
        self.faults: list[Fault] = []
        self.line_count = 0
        self.games = 0
        self.violation_counts: Counter[tuple[Party, str]] = Counter()
        self.max_lines: int | None = None
        self.excess_bytes = 0
        self.client_address: Address | None = None
        self.sender: Peer | None = None
        self._pieces: list[int] = []  # where the pieces of the sender begin that are in no line yet
        self._sent_bytes = self._shown_bytes = 0
        self.is_house_cut = False
        self.unread_reason = ""
        self._client_input_ended = False

    @property
    @abstractmethod
    def deadline(self) -> float | None:
        """When the silence of the house becomes a fault; None while it owes nothing or the client has ended."""

    @abstractmethod
    def incomplete(self, side: Peer) -> bytes:
        """What one end has sent after its last message."""

    @abstractmethod
    def tolerated(self, side: Peer) -> Set[str]:
        """The clauses whose tolerance one end has needed."""

    @abstractmethod
    def _read(self, side: Peer, data: bytes, now: float) -> Iterable[Span[Any]]:
        """Read the messages that these bytes complete."""

    @abstractmethod
    def _on_message(self, side: Peer, span: Span[Any], now: float) -> None:
        """Add the line of a message, and judge it."""

    @abstractmethod
    def _on_disconnect(self, side: Peer, now: float) -> None:
        """Judge a connection closed by one end."""

    @abstractmethod
    def _on_timeout(self, now: float) -> None:
        """Judge a deadline that has passed."""

    def faults_of(self, side: Peer) -> Sequence[Fault]:
        """The faults of one end."""
        return [fault for fault in self.faults if fault.verdict.party == side]

    def on_data(self, side: Peer, data: bytes, now: float) -> Sequence[Fault]:
        """Process bytes of one end; return the faults that they show."""
        before = len(self.faults)
        self.excess_bytes = 0
        if side == self.sender:
            self._pieces.append(self._sent_bytes)
            self._sent_bytes += len(data)
        for span in self._read(side, data, now):
            self._on_message(side, span, now)
            if self.line_count == self.max_lines:
                self.excess_bytes = len(data) - span.end
                break
        return self.faults[before:]

    def replay(self, lines: Iterable[DialogueLine]) -> Self:
        """Process the bytes of lines again; return this conversation."""
        for line in lines:
            self.on_data(line.side, line.data, line.at)
        return self

    def on_end_of_input(self, side: Peer, now: float) -> Sequence[Fault]:
        """Process the end of output of one end. A client that still reads gets everything that it is owed."""
        if side == HOUSE:
            return self.on_disconnect(HOUSE, now)
        self._client_input_ended = True
        return ()

    def on_disconnect(self, side: Peer, now: float, *, was_reset: bool = False) -> Sequence[Fault]:
        """Process a connection closed by one end; `was_reset`: the last bytes that it has sent may be missing."""
        before = len(self.faults)
        self.is_house_cut |= side == HOUSE and was_reset and bool(self.incomplete(HOUSE))
        self._on_disconnect(side, now)
        return self.faults[before:]

    def on_timeout(self, now: float) -> Sequence[Fault]:
        """Process a deadline that has passed."""
        before = len(self.faults)
        self._on_timeout(now)
        return self.faults[before:]

    def to_client(self, data: bytes) -> bytes:
        """Return what the client receives after data of the house was processed."""
        return data

    def forget(self) -> None:
        """Drop the lines and faults so far. They stay counted."""
        self.lines.clear()
        self.faults.clear()

    def _add_line(self, side: Peer, data: bytes, message: Any, now: float) -> None:
        self.lines.append(DialogueLine(side, data, message, now, self._cuts(data) if side == self.sender else None))
        self.line_count += 1

    def _cuts(self, data: bytes) -> tuple[int, ...]:
        """Where pieces of the sender begin in the data of its next line."""
        start, self._shown_bytes = self._shown_bytes, self._shown_bytes + len(data)
        cuts = tuple(each - start for each in self._pieces if each < self._shown_bytes)
        del self._pieces[: len(cuts)]
        return cuts

    def _add_fault(self, verdict: Verdict, sent_index: int = -1) -> None:
        self.faults.append(Fault(verdict, self.line_count, sent_index))
        self.violation_counts[verdict.party, verdict.violation.clause] += 1


class Conversation(ConversationMonitor):
    """A conversation with the house of a house game.

    `known_options` is what is known of the house's settings or the client's options, None for nothing. With
    `strict_referee` alone, what is tolerated is read, and judged as wrong. `reads_house_strictly`: as `strict` by
    default. `house_may_wait`: for a whole message before it finds that its space is missing (kuhn P9, sevenhalf P18).
    """

    def __init__(
        self,
        room: HouseRoom,
        known_options: Any = None,
        *,
        strict: bool = False,
        strict_referee: bool = False,
        reads_house_strictly: bool | None = None,
        house_may_wait: bool = True,
        answer_timeout: float = 5.0,
    ) -> None:
        super().__init__()
        self.known_options = known_options
        self._house_may_wait = house_may_wait
        self.finished_games: list[Any] = []
        self._room = room
        self._has_client_spoken = False
        self._has_client_left = False
        self.referee: AnyClientReferee = room.referee(known_options, strict or strict_referee, answer_timeout)
        self._new_codec: Callable[[], FrameCodec[Any]] = lambda: room.codec(strict, known_options)
        house_codec = room.codec(strict if reads_house_strictly is None else reads_house_strictly, known_options)
        client_codec = self._new_codec()
        client_codec.waits = house_may_wait
        self._readers = {CLIENT: SpanReader[Any](client_codec), HOUSE: SpanReader[Any](house_codec)}

    def start_again(self, *, strict_referee: bool = False) -> "Conversation":
        """Return a conversation with the same options in which nothing was said yet, and no silence is a fault."""
        return Conversation(
            self._room,
            self.known_options,
            strict_referee=strict_referee,
            house_may_wait=self._house_may_wait,
            answer_timeout=inf,
        )

    def encode(self, message: Any) -> bytes:
        """Encode a message as the protocol spells it."""
        return self._new_codec().encode(message)

    @property
    def dealt_games(self) -> Sequence[Any]:
        """All games since `forget` in order, with the one in progress."""
        return self.finished_games if self.referee.game is None else [*self.finished_games, self.referee.game]

    @property
    def deadline(self) -> float | None:
        """See `ConversationMonitor`."""
        return None if self._client_input_ended else self.referee.deadline

    @property
    def was_refused_at_once(self) -> bool:
        """Whether the last line of the client is the beginning of a message that the house has refused."""
        return self._readers[CLIENT].is_stopped

    def incomplete(self, side: Peer) -> bytes:
        """What one end has sent after its last message; the first 64 KiB of it are kept."""
        return self._readers[side].incomplete

    def tolerated(self, side: Peer) -> Set[str]:
        """The clauses whose tolerance one end has needed."""
        return self._readers[side].tolerated

    def forget(self) -> None:
        """Drop the lines, faults and games so far. They stay counted."""
        super().forget()
        self.finished_games.clear()

    def _read(self, side: Peer, data: bytes, now: float) -> Iterable[Span[Any]]:  # noqa: ARG002 -- needed by others
        self._has_client_spoken |= side == CLIENT
        return self._readers[side].feed(data)

    def _on_message(self, side: Peer, span: Span[Any], now: float) -> None:
        if self._client_input_ended and self.referee.deadline is None:
            self._on_disconnect(CLIENT, now)
        if side == HOUSE and span.message not in self._room.final_messages:
            self._judge_unreadable(now)
        self._add_line(side, span.data, span.message, now)
        self._judge(Sent(side, OTHER_END[side], span.message), now)

    def _on_disconnect(self, side: Peer, now: float) -> None:
        if self._client_input_ended:
            self._judge(Disconnected(CLIENT, HOUSE), now)
        self._has_client_left = self._has_client_left or self._client_input_ended or side == CLIENT
        if self.is_house_cut:
            self.referee.on(Disconnected(HOUSE, CLIENT), now)
            return
        self._judge(Disconnected(side, OTHER_END[side]), now)
        rest = self.unread(HOUSE)
        is_judged = any(party == HOUSE for party, _ in self.violation_counts)
        if rest and not (self._has_client_left or is_judged):
            allowed = "nothing after the last message, or all of another one"
            violation = Violation(self._clause(MESSAGE_SECTION), printable_bytes(rest), allowed)
            self._keep(Verdict(HOUSE, violation))

    def _on_timeout(self, now: float) -> None:
        self._judge(TimedOut(), now)

    def _judge_unreadable(self, now: float) -> None:
        """Judge bytes of the client that begin no message: a house may refuse them at once."""
        rest, reader = self.unread(CLIENT), self._readers[CLIENT]
        if not rest or self.referee.pending is not None or reader.is_stopped:
            return
        start = rest[:MIN_CODE_BYTES].upper()
        codec = self._new_codec()
        begins_code = any(codec.encode(message).startswith(start) for message in self._room.sample_messages)
        padding = b"" if begins_code else bytes(MIN_CODE_BYTES)  # it completes the code
        for unreadable in codec.feed(rest + padding)[:1]:
            self._add_line(CLIENT, reader.stop(), unreadable, now)
            self._judge(Sent(CLIENT, HOUSE, unreadable), now)

    def _judge(self, event: Observation[Any], now: float) -> None:
        is_answer_due = self.referee.deadline is not None
        verdicts = self.referee.on(event, now)
        if self.referee.finished_count > self.games:
            self.games = self.referee.finished_count
            self.finished_games.append(self.referee.last_game)
        for verdict in verdicts:
            self._keep(self._explained(verdict, is_answer_due))

    def _keep(self, verdict: Verdict) -> None:
        self._add_fault(verdict, self._sent_index(verdict))

    def _explained(self, verdict: Verdict, is_answer_due: bool) -> Verdict:
        """The verdict of the referee, which does not know incomplete messages, with the clause about them."""
        violation, rest = verdict.violation, self.unread(HOUSE)
        if verdict.party != HOUSE:
            return verdict
        if rest and violation.kind in {FoundKind.SILENCE, FoundKind.CLOSED}:
            explained = violation.replace(clause=self._clause(MESSAGE_SECTION), found=printable_bytes(rest))
        elif violation.kind is FoundKind.MESSAGE and not self._has_client_spoken:
            explained = violation.replace(
                clause=self._clause(FIRST_SECTION), allowed="nothing, before the client speaks"
            )
        elif self.unread(CLIENT) and violation.kind is FoundKind.MESSAGE and not is_answer_due:
            allowed = "nothing, until the message is complete"
            explained = violation.replace(clause=self._clause(STREAM_SECTION), allowed=allowed)
        else:
            return verdict
        return Verdict(HOUSE, explained)

    def _clause(self, section: str) -> str:
        return f"{self._room.name}-{section}"

    def unread(self, side: Peer) -> bytes:
        """The beginning of a message that is not complete; empty if it is only white space that is tolerated."""
        rest = self.incomplete(side)
        return rest if rest.strip(b"\r\n ") or not self.tolerated(side) else b""

    def _sent_index(self, verdict: Verdict) -> int:
        """The index of the line that a verdict is about.

        A verdict on the client that waits for an answer may come when later messages have been handled.
        """
        waiting = 0 if verdict.party == HOUSE or self._is_unreadable else self.referee.unhandled_count
        said = [place for place, line in enumerate(self.lines) if line.side == verdict.party][::-1][waiting:]
        judged = (place for place in said if self.lines[place].message == verdict.message)
        return next(judged, said[0] if said else -1)

    @property
    def _is_unreadable(self) -> bool:
        """Whether the last message cannot be read, which shows at once."""
        return bool(self.lines) and type(self.lines[-1].message) is Violation
