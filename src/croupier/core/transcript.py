"""Transcripts: recorded conversations as text files.

A transcript has a head and a body. The head consists of `name: value` lines, including `title` and `clause`. The lines
of the body are

    p> STRT P_1              the peer p sends this
    p< CARD C_Q              the peer p receives this
    * left p                 p disconnects
    * dropped p              the house closes the connection to p
    * settled p +2           the house settles a game with p, which has won two coins (`?`: any number)
    * 500 seconds pass       time passes
    * halted                 the room closes: no new games
    * halted for good        the room closes: running games are void

Special bytes are written in braces: `{lf}`, `{cr}`, `{sp}`, `{hex:00ff}`, `{int32:100}`, `{char16:T}`. In received
lines, any other name in braces stands for random bytes: the room defines a pattern for the name, and the same name
stands for the same bytes until the end of the transcript. Lines that begin with `#` are comments; lines that begin with
white space continue the line above.
"""

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, fields
from typing import Any, Final

from msgspec import convert

from croupier.core.dealer import dealer_factory, derive_server_seed
from croupier.core.hall import Hall
from croupier.core.room import HouseRoom
from croupier.core.session import Timeouts

NAMED_BYTES: Final = {"lf": b"\n", "cr": b"\r", "sp": b" "}
FIELD_ENCODERS: Final[Mapping[str, Callable[[str], bytes]]] = {
    "hex": bytes.fromhex,
    "int32": lambda value: int(value).to_bytes(4, signed=True),
    "char16": lambda value: ord(value).to_bytes(2),
}


@dataclass(frozen=True)
class TranscriptLine:
    """A line of the body. `kind` is ">", "<", or the action: left, dropped, settled, pass, halted."""

    number: int
    kind: str
    peer: str = ""
    text: str = ""


@dataclass(frozen=True)
class Transcript:
    """A parsed transcript. `clauses` are the clauses that it demonstrates; `head` has all entries of the head."""

    name: str
    title: str
    clauses: tuple[str, ...]
    head: Mapping[str, str]
    lines: tuple[TranscriptLine, ...]


ACTION_PATTERNS: Final = (
    (re.compile(r"\* (left|dropped) (\w+)"), lambda action, peer: (action, peer, "")),
    (re.compile(r"\* settled (\w+) ([+-]?\d+|\?)"), lambda peer, net: ("settled", peer, net)),
    (re.compile(r"\* (\d+(?:\.\d+)?) seconds? pass"), lambda seconds: ("pass", "", seconds)),
    (re.compile(r"\* halted( for good)?"), lambda final: ("halted", "", final or "")),
)
PIECE_PATTERN: Final = re.compile(r"([^{}]+)|\{([^{}]*)\}|(.)")
MESSAGE_PATTERN: Final = re.compile(r"(\w+)([<>]) ?(.*)")
HEAD_PATTERN: Final = re.compile(r"([a-z_]+): *(.*)")


def parse_transcript(text: str, name: str) -> Transcript:
    """Parse a transcript. Raises ValueError, naming the file and the line, if it is invalid.

    >>> transcript = parse_transcript("title: A start\\nclause: kuhn-2.1\\n\\np> STRT P_1\\n* left p", "start.txt")
    >>> transcript.lines[0]
    TranscriptLine(number=4, kind='>', peer='p', text='STRT P_1')
    """
    head: dict[str, str] = {}
    lines: list[TranscriptLine] = []
    for number, content in _logical_lines(text):
        if not lines and (entry := HEAD_PATTERN.fullmatch(content)):
            head[entry[1]] = entry[2]
        else:
            lines.append(_parse_line(number, content, name))
    missing = {"title", "clause"} - head.keys()
    if missing or not lines:
        raise ValueError(
            f"{name}: found no {' and no '.join(sorted(missing) or ['lines'])}; allowed: a head and a body"
        )
    return Transcript(name, head["title"], tuple(head["clause"].split()), head, tuple(lines))


def _logical_lines(text: str) -> Iterator[tuple[int, str]]:
    """The lines without comments and blank lines, each joined with its continuations and with its first line number."""
    current: tuple[int, str] | None = None
    for number, raw in enumerate(text.splitlines(), start=1):
        content = raw.rstrip()
        if not content or content.startswith("#"):
            continue
        if current and content[0].isspace():
            current = (current[0], f"{current[1]} {content.lstrip()}")
            continue
        if current:
            yield current
        current = (number, content)
    if current:
        yield current


def _parse_line(number: int, text: str, name: str) -> TranscriptLine:
    if message := MESSAGE_PATTERN.fullmatch(text):
        return TranscriptLine(number, message[2], message[1], message[3])
    for pattern, parse_action in ACTION_PATTERNS:
        if match := pattern.fullmatch(text):
            return TranscriptLine(number, *parse_action(*match.groups()))
    raise ValueError(f"{name}, line {number}: found {text!r}; allowed: 'p> …', 'p< …' or an action ('* …')")


def parse_pieces(text: str) -> Iterator[bytes | str]:
    """The parts of a text: bytes, and as strings the names in braces that stand for patterns.

    Raises ValueError for invalid braces and for text outside Latin-1.
    """
    for literal, content, stray in PIECE_PATTERN.findall(text):
        try:
            if stray:
                raise ValueError(stray)
            kind, colon, value = content.partition(":")
            if literal:
                yield literal.encode("latin-1")
            elif colon:
                yield FIELD_ENCODERS[kind](value)
            else:
                yield NAMED_BYTES.get(content, content)
        except (ValueError, KeyError, TypeError, OverflowError):
            found = literal or stray or f"{{{content}}}"
            allowed = ", ".join(f"{{{name}}}" for name in (*NAMED_BYTES, *(f"{kind}:…" for kind in FIELD_ENCODERS)))
            raise ValueError(f"found {found!r}; allowed: Latin-1 text, {allowed}") from None


def encode_line(text: str) -> bytes:
    """The bytes of a sent line. Raises ValueError if it has a pattern, or if it is invalid.

    >>> encode_line("BET {int32:100}{lf}")
    b'BET \\x00\\x00\\x00d\\n'
    """
    data = b""
    for piece in parse_pieces(text):
        if not isinstance(piece, bytes):
            raise ValueError(f"found the pattern {{{piece}}}; allowed: bytes")  # noqa: TRY004 -- the text is at fault
        data += piece
    return data


def is_fault_of_house(transcript: Transcript) -> bool:
    """Whether the house breaks a clause in the transcript."""
    return transcript.head.get("fault", "").startswith("house")


def is_strict(transcript: Transcript) -> bool:
    """Whether the transcript is for an implementation without tolerances."""
    return transcript.head.get("strict") == "yes"


def house_settings(room: HouseRoom, transcript: Transcript) -> Any:
    """The settings of a room's house from the head of a transcript."""
    return convert_head(room.settings, transcript.head)


def convert_head(kind: type[Any], head: Mapping[str, str]) -> Any:
    """The settings or options, a dataclass of this kind, that the head of a transcript gives."""
    given = {field.name: head[field.name] for field in fields(kind) if field.name in head}
    if "house" in head and "bot" in kind.__dataclass_fields__:
        given["bot"] = f"script:{head['house'].replace(' ', ',')}"
    values = {name: "true" if value == "yes" else value for name, value in given.items()}
    return convert(values, kind, strict=False)


LONG_WORD_PATTERN: Final = re.compile("[a-z]{3}")
"""A word of a card of two words; cards of one word are shorter."""


def deck_file(decks: str) -> str:
    """Return the deck file (ruling G5) of the entry `deck` of a head: commas separate cards of two words.

    Example:
        >>> deck_file("Q K / J Q")
        'Q\\nK\\n\\nJ\\nQ'
        >>> deck_file("3 spades, joker maid")
        '3 spades\\njoker maid'
    """
    separator = ", " if LONG_WORD_PATTERN.search(decks) else " "
    return decks.replace(" / ", "\n\n").replace(separator, "\n")


def make_hall(room: HouseRoom, transcript: Transcript) -> Hall[Any, Any]:
    """The hall of a room, configured by the head of a transcript."""
    head = transcript.head
    settings = house_settings(room, transcript)
    timeouts = Timeouts(float(head.get("idle", 500)), float(head["move"]) if "move" in head else None)
    text = deck_file(head.get("deck", ""))
    decks = room.pack.parse_decks(text, transcript.name, room.deck_count(settings)) if "deck" in head else ()
    seed = int(head.get("seed", 1))
    return Hall(
        room.house(settings, timeouts, is_strict(transcript)),
        dealer_factory(lambda table: derive_server_seed(seed, room.name, table), decks=decks),
        timeouts.shortest,
    )
