"""Prints tapped conversations line by line: direction, message, bytes and faults."""

from collections.abc import Iterator
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
from croupier.core.errors import Violation
from croupier.core.plural import format_count
from croupier.core.referee import CLIENT, HOUSE
from croupier.core.session import Address, Peer

ARROWS: Final = {CLIENT: "→", HOUSE: "←"}
COLOURS: Final = {CLIENT: "cyan", HOUSE: "green"}
MAX_SHOWN_BYTES: Final = 48
"""At most this many bytes of a line are shown."""


def render_event(event: TapEvent) -> Iterator[Text]:
    """Yield the lines for an event, each with the number of its connection and the time since that opened, in s."""
    connection = event.connection
    match event:
        case ConnectionOpened():
            yield _line(event, Text(f"client is here{_place(connection.address)}", "bold"))
        case BytesRelayed(entries=entries):
            is_text = connection.conversation.is_text
            for entry in entries:
                yield _line(event, _verdict(entry) if isinstance(entry, Fault) else _spoken(entry, is_text=is_text))
        case SilenceFound(faults=faults):
            yield from (_line(event, _verdict(fault)) for fault in faults)
        case SideClosed(side=side, reason=reason, faults=faults):
            rest = connection.conversation.incomplete(side)
            if rest:
                yield _line(event, _unread(side, rest, is_text=connection.conversation.is_text))
            yield _line(event, Text(f"{_who(side)} has closed{f' ({reason})' if reason else ''}", "dim"))
            yield from (_line(event, _verdict(fault)) for fault in faults)
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
    verdict = "it uses TLS and was not read" if conversation.is_encrypted else "nothing is broken"
    return "; ".join((*parts, *(broken or [verdict])))


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
