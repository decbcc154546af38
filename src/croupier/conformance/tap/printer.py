"""Prints tapped conversations line by line: direction, message, bytes and faults."""

from collections import Counter
from collections.abc import Callable, Iterator
from typing import Final

from rich.text import Text

from croupier.conformance.conversation import DialogueLine, Fault
from croupier.conformance.tap.connection import (
    BytesRelayed,
    ConnectionEnded,
    ConnectionOpened,
    SideClosed,
    SilenceFound,
    TapEvent,
    TappedConnection,
)
from croupier.conformance.tap.transcript import END_NAMES, safe_text, tolerance_sentences, verdict_sentence
from croupier.core.errors import FoundKind, Violation
from croupier.core.plural import format_count
from croupier.core.referee import CLIENT, HOUSE, Party
from croupier.core.session import Address, Peer

ARROWS: Final = {CLIENT: "→", HOUSE: "←"}
COLOURS: Final = {CLIENT: "cyan", HOUSE: "green"}
MAX_SHOWN_BYTES: Final = 48
"""At most this many bytes of a line are shown."""


MAX_KINDS: Final = 1000
"""At most this many kinds of faults are counted: peers choose the names of users that stand in them."""

type FaultKind = tuple[Party, str, FoundKind, str]
"""What faults that are shown once have in common: the end, the clause, what was found, and what it is about."""


class RepeatedFaults:
    """Faults that are shown once and counted, whatever values were found and allowed."""

    def __init__(self) -> None:
        self._counts: Counter[FaultKind] = Counter()
        self._first: dict[FaultKind, Fault] = {}

    def is_new(self, fault: Fault) -> bool:
        """Count a fault; return whether it is the first of its kind, or of a kind that is not counted."""
        violation = fault.verdict.violation
        kind = fault.verdict.party, violation.clause, violation.kind, violation.about
        if kind not in self._counts and len(self._counts) == MAX_KINDS:
            return True
        self._first.setdefault(kind, fault)
        self._counts[kind] += 1
        return self._counts[kind] == 1

    def render(self) -> Iterator[Text]:
        """Yield a line for each fault that was found again."""
        for kind, count in self._counts.items():
            if count > 1:
                yield Text(f"✗ and {count - 1} more: {verdict_sentence(self._first[kind])}", "bold red")


def render_event(event: TapEvent, is_shown: Callable[[Fault], bool] = lambda _: True) -> Iterator[Text]:
    """Yield the lines for an event, each with the number of its connection and the time since that opened, in s.

    `is_shown` says which faults are shown.
    """
    connection = event.connection
    match event:
        case ConnectionOpened():
            yield _line(event, Text(f"client is here{_place(connection.address)}", "bold"))
        case BytesRelayed(entries=entries):
            is_text = connection.conversation.is_text
            for entry in entries:
                if not isinstance(entry, Fault):
                    yield _line(event, _spoken(entry, is_text=is_text))
                elif is_shown(entry):
                    yield _line(event, _verdict(entry))
        case SilenceFound(faults=faults):
            yield from (_line(event, _verdict(fault)) for fault in faults if is_shown(fault))
        case SideClosed(side=side, reason=reason, faults=faults):
            rest = connection.conversation.incomplete(side)
            if rest:
                yield _line(event, _unread(side, rest, is_text=connection.conversation.is_text))
            yield _line(event, Text(f"{_who(side)} has closed{f' ({reason})' if reason else ''}", "dim"))
            yield from (_line(event, _verdict(fault)) for fault in faults if is_shown(fault))
        case ConnectionEnded():
            yield _line(event, Text(summarize(connection), "bold"))


def summarize(connection: TappedConnection) -> str:
    """Summarize a connection in a sentence."""
    conversation = connection.conversation
    parts = [format_count(conversation.line_count, "message"), format_count(conversation.games, "game")]
    if connection.note:
        parts.append(connection.note)
    parts += tolerance_sentences(conversation.tolerated)
    broken = [f"the {END_NAMES[side]} breaks {clause}" for side, clause in conversation.violation_counts]
    return "; ".join((*parts, *(broken or [conversation.unread_reason or "nothing is broken"])))


def _line(event: TapEvent, text: Text) -> Text:
    return Text.assemble((f"{event.connection.number:>3} {event.at - event.connection.started_at:9.3f}  ", "dim"), text)


def _who(side: Peer) -> str:
    return f"{END_NAMES[side]:<6} "


def _place(address: Address | None) -> str:
    return f": {address[0]} {address[1]}" if address else ""


def _spoken(line: DialogueLine, *, is_text: bool) -> Text:
    message = line.message
    is_message = not isinstance(message, Violation)
    words = str(message) if is_message else f"? {message.found}"
    plain = is_message if is_text else line.data == words.encode("latin-1", "replace")
    return Text.assemble(
        (f"{_who(line.side)}{ARROWS[line.side]} {safe_text(words)}", COLOURS[line.side]),
        ("" if plain else _bytes(line.data, is_text=is_text), "dim"),
    )


def _unread(side: Peer, rest: bytes, *, is_text: bool) -> Text:
    words = f"{_who(side)}{ARROWS[side]} … no whole message"
    return Text.assemble((words, COLOURS[side]), (_bytes(rest, is_text=is_text), "dim"))


def _bytes(data: bytes, *, is_text: bool) -> str:
    """The beginning of some bytes, as text or in hexadecimal."""
    begin = data[:MAX_SHOWN_BYTES]
    shown = safe_text(begin.decode(errors="backslashreplace")) if is_text else begin.hex(" ")
    return f"  = {shown}{' …' if len(data) > MAX_SHOWN_BYTES else ''}"


def _verdict(fault: Fault) -> Text:
    return Text(f"✗ {verdict_sentence(fault)}", "bold red")
