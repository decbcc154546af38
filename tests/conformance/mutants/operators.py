"""Operators: they derive the faults of a house from its exchanges, in every state, whatever the room."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import cycle
from typing import Any

from croupier.core.room import HouseRoom
from tests.conformance.mutants.mutation import Change, Mutation, Reader, Situation, Tamper
from tests.rooms.conversation_fixture import HANG_UP

type Clauses = frozenset[str]

type Blame = Callable[["Exchange", int, bytes], Clauses | None]
"""The clauses that are broken by a message in place of the reply at a position, None if it is a legal reply.

The position after the last reply stands for an additional message.
"""


@dataclass(frozen=True)
class Exchange:
    """What the client sends in a state, and the first bytes of each reply. `clauses` define the reply.

    `sent` is the beginning of the message as text, or the clause that an unreadable message breaks. `is_error`: the
    reply is a refusal.
    """

    state: str
    sent: str
    reply: tuple[bytes, ...]
    clauses: Clauses
    is_error: bool = False

    @property
    def title(self) -> str:
        answers = " ".join("close" if each == HANG_UP else each.decode("latin-1") for each in self.reply) or "nothing"
        return f"{self.sent} ({answers})"

    def is_asked(self, situation: Situation) -> bool:
        """Whether this is what the client has sent in this state."""
        return situation.is_for(self.state, self.sent)

    def is_met(self, situation: Situation, messages: Sequence[bytes]) -> bool:
        """Whether a conversation has come to this exchange."""
        return (
            self.is_asked(situation)
            and len(messages) == len(self.reply)
            and all(message.startswith(kind) for message, kind in zip(messages, self.reply, strict=True))
        )


@dataclass(frozen=True)
class RoomTable:
    """What the operators know of a room.

    `others` are the messages that a house may send in place of others, `extras` those that it may add. `goodbye` is
    what it sends before it closes, and `farewell_clauses` those that are broken if it does not. `spellings` maps the
    name of a misspelling to the code that it applies to, the function that misspells, and the clauses that it breaks.
    `unmoved` are the clauses, in addition to those of a refusal, by which a refusal changes nothing. After a reply that
    ends with `may_close_after`, a house may close, and it may do so in place of the replies of which
    `may_leave_instead` is true. `bare` are the messages without arguments.
    """

    name: str
    exchanges: Sequence[Exchange]
    others: Sequence[bytes]
    extras: Sequence[bytes]
    blame: Blame
    goodbye: tuple[bytes, ...]
    farewell_clauses: Clauses
    unasked_clauses: Clauses
    spellings: Mapping[str, tuple[bytes, Callable[[bytes], bytes], Clauses]]
    unmoved: Clauses = frozenset()
    may_close_after: bytes = b""
    may_leave_instead: Callable[[Exchange], bool] = lambda exchange: False
    bare: frozenset[bytes] = frozenset()


def when(exchange: Exchange, change: Change) -> Change:
    """Apply a change in one exchange only."""
    return lambda situation, messages: change(situation, messages) if exchange.is_met(situation, messages) else messages


def only_in(is_there: Callable[[Situation], bool], tamper: Tamper) -> Tamper:
    """Tamper with a house in some situations only, unless it has closed."""

    def guarded(table: Any, situation: Situation) -> None:
        if is_there(situation) and not table._is_dropped:
            tamper(table, situation)

    return guarded


SAMPLES_OF_REPLY = {"doubled": 1, "replaced": 3, "added": 1, "closes": 1, "closes instead": 1, "misspelt": 2}
"""How many mutations of each operator a legal exchange has; over all exchanges, everything has its turn."""


def server_mutations(room: RoomTable) -> Iterator[Mutation]:
    """The mutations that follow from the exchanges of a room.

    Every reply is dropped, in whole and in parts, and its messages are swapped. Of the other operators each legal
    exchange has a sample, and a refusal has one other message in its place and one mutation of the other operators.
    """
    for turn, exchange in enumerate(room.exchanges):
        new = partial(_mutation, room, exchange)
        yield from _missing(room, exchange, new)
        yield from _swapped(room, exchange, new)
        generated = {operator: [*generate(room, exchange, new)] for operator, generate in GENERATORS.items()}
        if exchange.is_error:
            yield from _sample(generated.pop("replaced"), turn, 1)
            found = [mutations for mutations in generated.values() if mutations]
            yield from _sample(found[turn % len(found)], turn, 1)
        else:
            for operator, mutations in generated.items():
                yield from _sample(mutations, turn, SAMPLES_OF_REPLY[operator])


def _sample(mutations: Sequence[Mutation], turn: int, size: int) -> Iterator[Mutation]:
    """Some of the mutations: the next ones in each turn."""
    count = min(size, len(mutations))
    return (mutations[(turn * count + number) % len(mutations)] for number in range(count))


def _mutation(
    room: RoomTable, exchange: Exchange, operator: str, what: str, clauses: Clauses, change: Change
) -> Mutation:
    return Mutation(
        room=room.name,
        role="server",
        operator=operator,
        state=exchange.state,
        what=f"{exchange.title}: {what}" if what else exchange.title,
        clauses=clauses,
        change=when(exchange, change),
    )


type New = Callable[[str, str, Clauses, Change], Mutation]


def _name(message: bytes) -> str:
    return "close" if message == HANG_UP else message.decode("latin-1").encode("unicode_escape").decode()


def _missing(room: RoomTable, exchange: Exchange, new: New) -> Iterator[Mutation]:
    """No reply, a reply without one of its messages, a reply that waits for the client's next message."""
    replies = exchange.reply
    if replies:
        yield new("silent", "", exchange.clauses, lambda _, messages: [])
    if len(replies) > 1:
        for place, kind in enumerate(replies):
            clauses = exchange.clauses | (room.farewell_clauses if kind in (*room.goodbye, HANG_UP) else frozenset())
            yield new(
                "dropped",
                f"{place + 1}. {_name(kind)}",
                clauses,
                lambda _, messages, place=place: [*messages[:place], *messages[place + 1 :]],
            )


def _doubled(room: RoomTable, exchange: Exchange, new: New) -> Iterator[Mutation]:
    for place, kind in enumerate(exchange.reply):
        following = exchange.reply[place + 1 : place + 2]
        clauses = room.blame(exchange, place + 1, kind)
        if kind == HANG_UP or clauses is None or following[:1] == (kind,):
            continue
        yield new(
            "doubled",
            f"{place + 1}. {_name(kind)}",
            clauses,
            lambda _, messages, place=place: [*messages[: place + 1], *messages[place:]],
        )


def _swapped(room: RoomTable, exchange: Exchange, new: New) -> Iterator[Mutation]:
    """Two messages in the wrong order: a goodbye of two messages has nothing between them, and nothing after them."""
    for place, (first, second) in enumerate(zip(exchange.reply, exchange.reply[1:], strict=False)):
        if HANG_UP in (first, second) or first == second:
            continue
        is_torn = len(room.goodbye) > 1 and not {first, second}.isdisjoint(room.goodbye)
        yield new(
            "swapped",
            f"{_name(second)} before {_name(first)}",
            exchange.clauses | (room.farewell_clauses if is_torn else frozenset()),
            lambda _, messages, place=place: [
                *messages[:place],
                messages[place + 1],
                messages[place],
                *messages[place + 2 :],
            ],
        )


def _replaced(room: RoomTable, exchange: Exchange, new: New) -> Iterator[Mutation]:
    """Every other message of the vocabulary in the place of each reply."""
    for place, kind in enumerate(exchange.reply):
        for other in room.others:
            clauses = None if other.startswith(kind) or kind == HANG_UP else room.blame(exchange, place, other)
            if clauses is not None:
                yield new(
                    "replaced",
                    f"{place + 1}. {_name(kind)} by {_name(other)}",
                    clauses,
                    lambda _, messages, place=place, other=other: [*messages[:place], other, *messages[place + 1 :]],
                )


def _added(room: RoomTable, exchange: Exchange, new: New) -> Iterator[Mutation]:
    """A message after the reply, or in place of none."""
    if HANG_UP in exchange.reply:
        return
    for other in room.extras:
        clauses = room.blame(exchange, len(exchange.reply), other)
        if clauses is not None:
            yield new("added", f"then {_name(other)}", clauses, lambda _, messages, other=other: [*messages, other])


def _closes_after(room: RoomTable, exchange: Exchange, new: New) -> Iterator[Mutation]:
    """A close after the reply, with a goodbye and without."""
    if HANG_UP in exchange.reply or (room.may_close_after and exchange.reply[-1:] == (room.may_close_after,)):
        return
    unasked = exchange.clauses | room.unasked_clauses | room.farewell_clauses
    is_goodbye = bool(exchange.reply and room.goodbye) and room.goodbye[-1].startswith(exchange.reply[-1])
    without = unasked if is_goodbye else room.farewell_clauses
    yield new("closes", "without a goodbye", without, lambda _, messages: [*messages, HANG_UP])
    if room.goodbye:
        farewell = [*room.goodbye, HANG_UP]
        yield new("closes", "with a goodbye", unasked, lambda _, messages: [*messages, *farewell])


def _closes_instead(room: RoomTable, exchange: Exchange, new: New) -> Iterator[Mutation]:
    """A close in place of the reply, with a goodbye and without."""
    if HANG_UP in exchange.reply or not exchange.reply or room.may_leave_instead(exchange):
        return
    unanswered = exchange.clauses | room.unasked_clauses
    without = unanswered | room.farewell_clauses
    yield new("closes instead", "without a goodbye", without, lambda _, messages: [HANG_UP])
    if room.goodbye:
        farewell = [*room.goodbye, HANG_UP]
        yield new("closes instead", "with a goodbye", unanswered, lambda _, messages: farewell)


def _misspelt(room: RoomTable, exchange: Exchange, new: New) -> Iterator[Mutation]:
    """Wrong bytes in each message of a reply."""
    for place, kind in enumerate(exchange.reply):
        for name, (code, misspell, clauses) in room.spellings.items():
            applies = kind.startswith(code) and kind != HANG_UP
            if applies and not (kind in room.bare and misspell(kind) == kind):
                yield new(
                    "misspelt",
                    f"{place + 1}. {_name(kind)} {name}",
                    clauses,
                    lambda _, messages, place=place, misspell=misspell: [
                        misspell(message) if at == place else message for at, message in enumerate(messages)
                    ],
                )


GENERATORS: Mapping[str, Callable[[RoomTable, Exchange, New], Iterator[Mutation]]] = {
    "doubled": _doubled,
    "replaced": _replaced,
    "added": _added,
    "closes": _closes_after,
    "closes instead": _closes_instead,
    "misspelt": _misspelt,
}
"""The operators of which an exchange has a sample."""


# Faults that lie deeper than a single message.


def _if_refused(tamper: Tamper) -> Tamper:
    """Tamper with a house whose game no message has changed: others of its messages begin as the refused one."""
    return lambda table, situation: tamper(table, situation) if table._state is situation.game else None


def moved_by_errors(room: RoomTable, states: Sequence[str], tampers: Mapping[str, Tamper]) -> Iterator[Mutation]:
    """A refusal that changes the state, in one of these ways in turn, in these states, for every refused message."""
    refusals = [
        exchange
        for exchange in room.exchanges
        if exchange.is_error and exchange.state in states and HANG_UP not in exchange.reply
    ]
    for exchange, (what, tamper) in zip(refusals, cycle(tampers.items()), strict=False):
        yield Mutation(
            room=room.name,
            role="server",
            operator="moved by an error",
            state=exchange.state,
            what=f"{exchange.title}: {what}",
            clauses=exchange.clauses | room.unmoved,
            after=only_in(exchange.is_asked, _if_refused(tamper)),
        )


class PieceReader:
    """Takes every read for one message: what follows its first message is lost, and a part of one is garbage."""

    def __init__(self, room: HouseRoom, *, keeps_parts: bool, keeps_rest: bool) -> None:
        self._room = room
        self._keeps_parts = keeps_parts
        self._keeps_rest = keeps_rest
        self._rest = b""

    def __call__(self, data: bytes) -> Sequence[bytes]:
        data, self._rest = self._rest + data, b""
        codec = self._room.codec(False, None)
        for end in range(1, len(data) + 1):
            if codec.feed(data[end - 1 : end]):
                self._rest = data[end:] if self._keeps_rest else b""
                return [data[:end]]
        if self._keeps_parts:
            self._rest = data
            return []
        return [data + b"\0" * 16] if data else []


class WholeReader(PieceReader):
    """Reads all messages of a read, but takes a part of a message for garbage."""

    def __init__(self, room: HouseRoom) -> None:
        super().__init__(room, keeps_parts=False, keeps_rest=True)

    def __call__(self, data: bytes) -> Sequence[bytes]:
        found = [*super().__call__(data)]
        while self._rest:
            found += super().__call__(b"")
        return found


READERS: Mapping[str, Callable[[HouseRoom], Reader]] = {
    "the rest of a read is lost": lambda room: PieceReader(room, keeps_parts=True, keeps_rest=False),
    "the rest of a read waits for the next read": lambda room: PieceReader(room, keeps_parts=True, keeps_rest=True),
    "a part of a message is garbage": WholeReader,
    "one read is one message": lambda room: PieceReader(room, keeps_parts=False, keeps_rest=False),
}


class LineReader:
    """Waits for a line end after each message."""

    def __init__(self, _: HouseRoom) -> None:
        self._rest = b""

    def __call__(self, data: bytes) -> Sequence[bytes]:
        *lines, self._rest = (self._rest + data).split(b"\n")
        return lines


def misread(room: str, clauses: Clauses) -> Iterator[Mutation]:
    """Houses that take one read, or one line, for one message."""
    for what, new_reader in {**READERS, "a message ends with its line": LineReader}.items():
        yield Mutation(
            room=room,
            role="server",
            operator="misreads",
            state="always",
            what=what,
            clauses=clauses,
            new_reader=new_reader,
        )


def mixed_up(room: str, tables: Clauses, purse: Clauses | None) -> Iterator[Mutation]:
    """Houses whose connections are not independent."""
    new = partial(Mutation, room=room, role="server", operator="mixes up connections", state="always")
    yield new(what="one table for all", clauses=tables, is_shared=True)
    yield new(what="one client after the other", clauses=tables, is_serial=True)
    if purse is not None:
        yield new(what="one purse for all", clauses=purse, shares_purse=True)
