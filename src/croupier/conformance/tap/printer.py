"""What goes through a relay, told line by line: who said what, in words and bytes, and what was wrong with it."""

from collections.abc import Iterator
from typing import Final

from rich.text import Text

from croupier.conformance.conversation import Fault, Line
from croupier.conformance.tap.connection import Closed, Ended, Heard, News, Opened, Passage, Silent
from croupier.conformance.tap.transcript import NAME, safe
from croupier.core.errors import Violation
from croupier.core.referee import CLIENT, HOUSE
from croupier.core.session import Address, Peer

ARROW: Final = {CLIENT: "→", HOUSE: "←"}
COLOUR: Final = {CLIENT: "cyan", HOUSE: "green"}
WIDE: Final = 48
"""So many bytes of a line are shown in hex."""


def tell(news: News) -> Iterator[Text]:
    """The lines for a piece of news, each with the number of its connection and the time since that was made, in s."""
    passage = news.passage
    match news:
        case Opened():
            yield _line(news, Text(f"client is here{_place(passage.address)}", "bold"))
        case Heard(lines=lines, faults=faults):
            first = passage.conversation.count - len(lines)
            yield from (_line(news, _verdict(fault)) for fault in faults if fault.lines <= first)
            for number, line in enumerate(lines, start=first + 1):
                yield _line(news, _spoken(line))
                yield from (_line(news, _verdict(fault)) for fault in faults if fault.lines == number)
        case Silent(faults=faults):
            yield from (_line(news, _verdict(fault)) for fault in faults)
        case Closed(side=side, reason=reason, faults=faults):
            rest = passage.conversation.rest(side)
            if rest:
                yield _line(news, _unread(side, rest))
            yield _line(news, Text(f"{_who(side)} has closed{f' ({reason})' if reason else ''}", "dim"))
            yield from (_line(news, _verdict(fault)) for fault in faults)
        case Ended():
            yield _line(news, Text(summary(passage), "bold"))


def summary(passage: Passage) -> str:
    """A connection in a sentence."""
    heard = passage.conversation
    told = [_count(heard.count, "message"), _count(heard.games, "game")]
    if passage.note:
        told.append(passage.note)
    told += [
        f"the {NAME[side]} departs from {', '.join(sorted(heard.departures(side)))}, which is tolerated"
        for side in (CLIENT, HOUSE)
        if heard.departures(side)
    ]
    broken = [f"the {NAME[side]} breaks {clause}" for side, clause in heard.broken]
    return "; ".join((*told, *(broken or ["nothing is broken"])))


def _count(number: int, thing: str) -> str:
    return f"{number:,} {thing}{'' if number == 1 else 's'}"


def _line(news: News, text: Text) -> Text:
    return Text.assemble((f"{news.passage.number:>3} {news.at - news.passage.begun:9.3f}  ", "dim"), text)


def _who(side: Peer) -> str:
    return f"{NAME[side]:<6} "


def _place(address: Address | None) -> str:
    return f": {address[0]} {address[1]}" if address else ""


def _spoken(line: Line) -> Text:
    message = line.message
    words = f"? {message.found}" if isinstance(message, Violation) else str(message)
    plain = line.data == words.encode("latin-1", "replace")
    return Text.assemble(
        (f"{_who(line.side)}{ARROW[line.side]} {safe(words)}", COLOUR[line.side]),
        ("" if plain else f"  = {_hex(line.data)}", "dim"),
    )


def _unread(side: Peer, rest: bytes) -> Text:
    return Text.assemble((f"{_who(side)}{ARROW[side]} … no whole message", COLOUR[side]), (f"  = {_hex(rest)}", "dim"))


def _hex(data: bytes) -> str:
    return data[:WIDE].hex(" ") + (" …" if len(data) > WIDE else "")


def _verdict(fault: Fault) -> Text:
    return Text(f"✗ the {NAME[fault.verdict.side]} breaks {safe(str(fault.verdict.violation))}", "bold red")
