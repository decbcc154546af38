"""The lines of a player's transcript, and the clauses that are violated if a line does not come."""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final, NamedTuple

from croupier.conformance.clauses import find_clause
from croupier.conformance.oldmaid.answers import ReceivedMessage
from croupier.core.http_transcript import QUOTED_PATTERN, encode_body
from croupier.core.json_transcript import parse_values
from croupier.core.transcript import Transcript, TranscriptLine

OTHER_OFFER_CLAUSES: Final = ("7.2", "7.10", "7.15", "8.11", "9.6", "9.8", "9.9")
"""The clauses that require an offer for other reasons than a card or an out."""

CLAUSES_BY_MESSAGE: Final[Mapping[str, Sequence[str]]] = {
    "join": ("3.1",),
    "first draw": ("4.7",),
    "draw": ("4.8", "4.10"),
    "your_turn": ("4.7", "9.5", "9.7", "4.8"),
    "discard": ("5.11", "5.1", "7.8"),
    "out_of_cards": ("7.12", "7.10"),
    "offer after last_card": ("4.9", "7.1", *OTHER_OFFER_CLAUSES),
    "offer after pick": ("7.8", *OTHER_OFFER_CLAUSES),
    "offer after out": ("7.9", *OTHER_OFFER_CLAUSES),
    "offer": ("7.8", *OTHER_OFFER_CLAUSES),
    "pick": ("7.2", "7.15"),
    "card": ("7.5", "7.4", "7.7"),
    "ok to your_turn": ("4.8", "4.10"),
    "ok to offer": ("7.2", "7.9", "7.10"),
    "out to offer": ("7.9", "7.16", "7.10"),
    "status": ("7.16",),
}
"""The clauses that a missing or wrong message violates; the first one, unless the transcript names another. What gives
the turn names a draw or an offer."""


UNREADABLE_ANSWER_CLAUSE: Final = "oldmaid-8.11"
ANSWER_CLAUSE: Final = "oldmaid-2.3"
"""The clause of the reader of an answer, and that of its sender."""

OFFER_CLAUSE: Final = "oldmaid-7.2"
GIVEN_CARD_CLAUSE: Final = "oldmaid-7.5"
PICKED_CARD_CLAUSE: Final = "oldmaid-7.8"
KEPT_PAIR_CLAUSE: Final = "oldmaid-5.11"
"""An offer states how many cards there are: without the cards given and discarded, and with the card picked."""

NEIGHBOUR_CLAUSE: Final = "oldmaid-3.16"
PAIR_CLAUSE: Final = "oldmaid-5.1"
"""A player connects to its left neighbour, and discards pairs."""

NATURAL_CLAUSES: Final = frozenset(f"oldmaid-{number}" for found in CLAUSES_BY_MESSAGE.values() for number in found)
"""The clauses that a missing or wrong message can violate."""


ODD_RANK: Final = 30
"""How many lines an odd transcript counts more than a plain one."""


class ReplayLine(NamedTuple):
    """A line of the transcript, with the values to be sent or received, or bytes to be sent."""

    transcript_line: TranscriptLine
    value: Any
    data: bytes
    is_answer: bool


def transcript_rank(transcript: Transcript) -> int:
    """Return the rank of a transcript: the shorter ones first, and those about what is odd after the plain ones."""
    is_plain = transcript.clauses[0] in {f"oldmaid-{found[0]}" for found in CLAUSES_BY_MESSAGE.values()}
    return len(transcript.lines) + (0 if is_plain else ODD_RANK)


def longest_pause(transcript: Transcript) -> float:
    """Return the longest time that passes in a transcript, in seconds."""
    return max((float(line.text) for line in transcript.lines if line.kind == "pass"), default=0.0)


def is_free(transcript: Transcript) -> bool:
    """Whether only rulings of the project decide what a transcript is about: a deviation is a choice."""
    return transcript.head.get("free") == "yes" or find_clause(transcript.clauses[0]).is_open


def replay_lines(transcript: Transcript) -> Iterator[ReplayLine]:
    """Yield the lines of a transcript; quoted lines have bytes and no values."""
    for line in transcript.lines:
        if line.kind in "<>" and not QUOTED_PATTERN.fullmatch(line.text):
            found = parse_values(line.text)
            first = found[0]
            yield ReplayLine(line, found, b"", isinstance(first, dict) and "cmd" not in first and bool(first))
        elif line.kind == ">":
            yield ReplayLine(line, [], encode_body(line.text), line.peer == "table")
        else:
            yield ReplayLine(line, None, b"", False)


def render(value: Any) -> str:
    """Render expected values for people."""
    return re.sub(r'"\$\w+"', "…", " ".join(json.dumps(one) for one in value))


def surplus_clause(transcript: Transcript, received: ReceivedMessage) -> str:
    """Return the clause that a request violates that is sent once too often: the one that defines it."""
    natural = CLAUSES_BY_MESSAGE.get(received.json_object.get("cmd", ""), ())
    return f"oldmaid-{natural[0]}" if natural else transcript.clauses[0]


def _answered_request(transcript: Transcript, entry: ReplayLine) -> str | None:
    """Return the command that this line answers: the last one before it on its connection."""
    before = [
        one.value[0].get("cmd")
        for one in replay_lines(transcript)
        if one.transcript_line.number < entry.transcript_line.number
        and (one.transcript_line.kind, one.transcript_line.peer) == (">", entry.transcript_line.peer)
        and one.value
        and isinstance(one.value[0], dict)
    ]
    return next((command for command in reversed(before) if command), None)


def _natural_clauses(transcript: Transcript, entry: ReplayLine) -> Sequence[str]:
    """Return the clauses that may require the message of this line, the most usual one first."""
    (wanted,) = entry.value
    kind = wanted.get("cmd") or ("card" if "card" in wanted else wanted.get("result"))
    if kind in {"ok", "out"} and (request := _answered_request(transcript, entry)) is not None:
        kind = f"{kind} to {request}"
    elif kind in {"draw", "offer"}:
        kind = _turn_message(transcript, entry, kind)
    return [f"oldmaid-{number}" for number in CLAUSES_BY_MESSAGE.get(kind, ())]


def _turn_message(transcript: Transcript, entry: ReplayLine, command: str) -> str:
    """Return the name of a draw or an offer by what has given the player the turn before."""
    sent = [one for one in replay_lines(transcript) if one.transcript_line.kind == ">" and one.value]
    for one in reversed(sent):
        message = one.value[-1]
        if one.transcript_line.number > entry.transcript_line.number or not isinstance(message, dict):
            continue
        if command == "draw" and message.get("cmd") == "your_turn":
            return "draw"
        if command == "offer" and message.get("result") in {"last_card", "out"}:
            return f"offer after {message['result']}"
        if command == "offer" and "card" in message and one.transcript_line.peer != "table":
            return "offer after pick"
    return "first draw" if command == "draw" else "offer"


def replaced_clause(transcript: Transcript, entry: ReplayLine) -> str:
    """Return the clause that is violated if another message comes in place of this line: the one that defines it."""
    return next(iter(_natural_clauses(transcript, entry)), transcript.clauses[0])


def expected_clause(transcript: Transcript, entry: ReplayLine) -> str:
    """Return the clause that is violated if this line does not come."""
    (wanted,) = entry.value
    if wanted.get("result") == "error":
        return str(wanted.get("message", "")).partition(":")[0]
    natural = _natural_clauses(transcript, entry)
    named = [clause for clause in natural if clause in transcript.clauses]
    received = [one for one in replay_lines(transcript) if one.transcript_line.kind == "<"]
    late = entry.transcript_line.number >= received[-min(3, len(received))].transcript_line.number
    if late and not transcript.clauses[0].startswith("oldmaid-1."):
        is_of_another_message = natural and transcript.clauses[0] in NATURAL_CLAUSES
        return named[0] if named else natural[0] if is_of_another_message else transcript.clauses[0]
    return (named or natural or [transcript.clauses[0]])[0]


def wrong_count_clause(
    transcript: Transcript, entry: ReplayLine, found: object, lines_left: Sequence[ReplayLine]
) -> str:
    """Return the clause that an offer of another number of cards violates; `lines_left` have not come yet."""
    wanted = entry.value[0]["num_cards"]
    before = [
        one
        for one in replay_lines(transcript)
        if one.transcript_line.kind == "<" and one.transcript_line.number < entry.transcript_line.number and one.value
    ]
    if found == wanted + 2 and any(one in lines_left and one.value[0].get("cmd") == "discard" for one in before):
        return KEPT_PAIR_CLAUSE
    if found == wanted + 1 and any("card" in one.value[0] for one in before):
        return GIVEN_CARD_CLAUSE
    has_picked = _turn_message(transcript, entry, "offer") == "offer after pick"
    return PICKED_CARD_CLAUSE if found == wanted - 1 and has_picked else OFFER_CLAUSE
