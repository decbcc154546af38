"""The lines of transcripts for both roles, and the clauses that a player violates if a line does not come."""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final, NamedTuple, cast

from croupier.conformance.clauses import find_clause
from croupier.conformance.oldmaid.answers import ReceivedMessage
from croupier.core.http_transcript import QUOTED_PATTERN, Mismatch, encode_body, match_json
from croupier.core.json_transcript import parse_values
from croupier.core.transcript import Transcript, TranscriptLine

OTHER_OFFER_CLAUSES: Final = ("7.2", "7.10", "7.15", "8.11", "9.6", "9.8", "9.9")
"""The clauses that require an offer for other reasons than a card or an out."""

CLAUSES_BY_MESSAGE: Final[Mapping[str, Sequence[str]]] = {
    "join": ("3.1",),
    "first draw": ("4.7", "9.5"),
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

USUAL_CLAUSES: Final = {message: f"oldmaid-{numbers[0]}" for message, numbers in CLAUSES_BY_MESSAGE.items()}

EMPTY_OFFER_CLAUSES: Final = ("oldmaid-7.10", "oldmaid-7.2")
"""The clauses that require an ok to an offer of no cards."""

DRAW_CLAUSE: Final = "oldmaid-4.3"
"""The clause of a draw without a turn."""

OFFER_CLAUSE: Final = "oldmaid-7.2"
GIVEN_CARD_CLAUSE: Final = "oldmaid-7.5"
PICKED_CARD_CLAUSE: Final = "oldmaid-7.8"
KEPT_PAIR_CLAUSE: Final = "oldmaid-5.11"
"""An offer states how many cards there are: without the cards given and discarded, and with the card picked."""

NEIGHBOUR_CLAUSE: Final = "oldmaid-3.16"
UNREACHABLE_CLAUSE: Final = "oldmaid-9.5"
PAIR_CLAUSE: Final = "oldmaid-5.1"
UNKNOWN_CARD_CLAUSE: Final = "oldmaid-5.4"
"""A player connects to its left neighbour, or to the next player if it cannot be reached, and discards pairs of cards
of the pack."""

NATURAL_CLAUSES: Final = frozenset(f"oldmaid-{number}" for found in CLAUSES_BY_MESSAGE.values() for number in found)
"""The clauses that a missing or wrong message can violate."""


class ReplayLine(NamedTuple):
    """A line of a transcript, see `TranscriptLine`.

    `data` are the bytes to be sent, and `values` the JSON values of a message, none if it is quoted. A line that
    `is_answer` answers a request of the program under test. `seconds` pass, if that is what the line says.
    """

    number: int
    kind: str
    peer: str
    data: bytes = b""
    values: Sequence[Any] = ()
    is_answer: bool = False
    seconds: float = 0.0

    @property
    def wanted(self) -> Mapping[str, Any]:
        """The object to be received."""
        (value,) = self.values
        return cast(Mapping[str, Any], value)

    @property
    def is_status(self) -> bool:
        """Whether it is a request for the status, which no player has to send."""
        return bool(self.wanted.get("cmd") == "status")

    @property
    def text(self) -> str:
        """The values to be received, for people."""
        if self.wanted.get("result") == "error":
            return "an error"
        return re.sub(r'"\$\w+"', "…", " ".join(map(json.dumps, self.values)))


def is_free(transcript: Transcript) -> bool:
    """Whether only rulings of the project decide what a transcript is about: a deviation is a choice."""
    return transcript.head.get("free") == "yes" or find_clause(transcript.clauses[0]).is_open


def gives_turn(entry: ReplayLine) -> bool:
    """Whether a line gives the program the turn to draw."""
    return entry.kind == ">" and entry.data.startswith(b'{"cmd": "your_turn"')


def replay_lines(transcript: Transcript) -> Sequence[ReplayLine]:
    """Return the lines of a transcript."""
    return [_replay_line(line) for line in transcript.lines]


def _replay_line(line: TranscriptLine) -> ReplayLine:
    if line.kind not in "<>":
        return ReplayLine(line.number, line.kind, line.peer, seconds=float(line.text) if line.kind == "pass" else 0.0)
    if QUOTED_PATTERN.fullmatch(line.text):
        return ReplayLine(line.number, line.kind, line.peer, encode_body(line.text), is_answer=line.peer == "table")
    values = parse_values(line.text)
    is_answer = isinstance(values[0], dict) and "cmd" not in values[0] and bool(values[0])
    return ReplayLine(line.number, line.kind, line.peer, f"{line.text}\n".encode(), values, is_answer)


def require_match(clause: str, entry: ReplayLine, received: ReceivedMessage, names: dict[str, str]) -> None:
    """Compare the keys that a message has in common with its line, and bind names. Raises Failed."""
    found = received.json_object
    present = {key: found[key] for key in entry.wanted if key in found}
    try:
        match_json(entry.wanted, present, names, "the message")
    except Mismatch as error:
        raise received.failure(clause, entry.text, f"{received.text} ({error})") from None


def surplus_clause(transcript: Transcript, received: ReceivedMessage) -> str:
    """Return the clause that a request violates that is sent once too often: the one that defines it."""
    return USUAL_CLAUSES.get(received.json_object.get("cmd", ""), transcript.clauses[0])


def _sent_before(transcript: Transcript, entry: ReplayLine) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Yield the peers and objects that are sent to the player before a line, the latest first."""
    for one in reversed(replay_lines(transcript)):
        if one.kind == ">" and one.number < entry.number and one.values and isinstance(one.values[-1], dict):
            yield one.peer, one.values[-1]


def _natural_clauses(transcript: Transcript, entry: ReplayLine) -> Sequence[str]:
    """Return the clauses that may require the message of this line, the most usual one first."""
    wanted = entry.wanted
    kind: str = wanted.get("cmd") or ("card" if "card" in wanted else wanted.get("result", ""))
    if kind in {"ok", "out"}:
        sent = _sent_before(transcript, entry)
        request = next((message for peer, message in sent if peer == entry.peer and "cmd" in message), None)
        if request is not None and (kind, request.get("num_cards")) == ("ok", 0):
            return EMPTY_OFFER_CLAUSES
        kind = f"{kind} to {request['cmd']}" if request is not None else kind
    elif kind in {"draw", "offer"}:
        kind = _turn_message(transcript, entry, kind)
    return [f"oldmaid-{number}" for number in CLAUSES_BY_MESSAGE.get(kind, ())]


def _turn_message(transcript: Transcript, entry: ReplayLine, command: str) -> str:
    """Return the name of a draw or an offer by what has given the player the turn before."""
    for peer, message in _sent_before(transcript, entry):
        if command == "draw" and message.get("cmd") == "your_turn":
            return "draw"
        if command == "offer" and message.get("result") in {"last_card", "out"}:
            return f"offer after {message['result']}"
        if command == "offer" and "card" in message and peer != "table":
            return "offer after pick"
    return "first draw" if command == "draw" else "offer"


def replaced_clause(transcript: Transcript, entry: ReplayLine) -> str:
    """Return the clause that is violated if another message comes in place of this line: the one that defines it."""
    return next(iter(_natural_clauses(transcript, entry)), transcript.clauses[0])


def expected_clause(transcript: Transcript, entry: ReplayLine) -> str:
    """Return the clause that is violated if this line does not come."""
    if entry.wanted.get("result") == "error":
        return error_clause(entry)
    main = transcript.clauses[0]
    natural = _natural_clauses(transcript, entry)
    named = [clause for clause in natural if clause in transcript.clauses]
    last_received = [one.number for one in replay_lines(transcript) if one.kind == "<"][-3:]
    is_late = entry.number >= last_received[0] and not main.startswith("oldmaid-1.")
    if is_late and not (natural and main in NATURAL_CLAUSES):
        natural = []
    return [*named, *natural, main][0]


def error_clause(entry: ReplayLine) -> str:
    """Return the clause that an expected error names."""
    return str(entry.wanted["message"]).partition(":")[0]


def wrong_count_clause(
    transcript: Transcript, entry: ReplayLine, found: object, lines_left: Sequence[ReplayLine]
) -> str:
    """Return the clause that an offer of another number of cards violates; `lines_left` have not come yet."""
    wanted = entry.wanted["num_cards"]
    before = [one for one in replay_lines(transcript) if one.kind == "<" and one.number < entry.number]
    if found == wanted + 2 and any(one in lines_left and one.wanted.get("cmd") == "discard" for one in before):
        return KEPT_PAIR_CLAUSE
    if found == wanted + 1 and any("card" in one.wanted for one in before):
        return GIVEN_CARD_CLAUSE
    has_picked = _turn_message(transcript, entry, "offer") == "offer after pick"
    return PICKED_CARD_CLAUSE if found == wanted - 1 and has_picked else OFFER_CLAUSE
