"""The conversations on paper as cases: what is said there is said to a stranger, as long as he answers as on paper."""

from collections.abc import Collection, Hashable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from typing import Final

from croupier.conformance.conversation import Conversation
from croupier.conformance.servers.scripted_client import ClientScript, HangUp
from croupier.conformance.servers.test_data import Scenario, ScenarioContext, ServerTestData
from croupier.core.errors import Violation
from croupier.core.referee import CLIENT, HOUSE
from croupier.core.session import Drop, Joined, Malformed, Received, Send
from croupier.core.transcript import Transcript, encode_line, house_settings, is_strict, make_hall

HARMLESS_KEYS: Final = frozenset({"title", "clause", "fault", "deck", "house", "seed", "dialect"})
"""What may stand in the head of a transcript that a stranger can be told: his own luck and his own mind will do."""


@dataclass(frozen=True)
class HouseReplayStep:
    """What the client says, and what comes of it: the sorts of what it hears, its own faults, and where the game is.

    A sort that comes several times in a row is told once. `outline` is the ground's; `said` None stands for hanging up.
    """

    sent: bytes | None
    received_kinds: tuple[str, ...]
    client_faults: tuple[str, ...]
    outline: Hashable


def is_playable(transcript: Transcript, known: Mapping[str, Collection[str]]) -> bool:
    """Whether a client can play its part against a house it knows nothing of: no faults but its own, and no time."""
    head = transcript.head
    lines = transcript.lines
    return (
        not head.get("fault", "").startswith("house")
        and all(name in HARMLESS_KEYS or value in known.get(name, ()) for name, value in head.items())
        and not any(line.kind in {"pass", "halted"} for line in lines)
        and {line.peer for line in lines if line.peer} == {"p"}
    )


class ReferenceServer:
    """Our own house, set as a transcript says, with one client: bytes in, bytes out."""

    def __init__(self, test_data: ServerTestData, transcript: Transcript) -> None:
        own = house_settings(test_data.room, transcript)
        self.is_closed = False
        self._hall = make_hall(test_data.room, transcript)
        self._codec = test_data.room.codec(is_strict(transcript), own)
        self._hall.on(Joined(1), 0.0)

    def answer(self, data: bytes) -> bytes:
        """What it says to that."""
        found = b""
        for message in self._codec.feed(data):
            if not self.is_closed:
                event = Malformed(1, message) if isinstance(message, Violation) else Received(1, message)
                for effect in self._hall.on(event, 0.0):
                    match effect:
                        case Send(_, answer):
                            found += self._codec.encode(answer)
                        case Drop():
                            self.is_closed = True
                        case _:
                            pass  # a fact, not a deed on the wire
        return found


def record(test_data: ServerTestData, transcript: Transcript) -> tuple[HouseReplayStep, ...]:
    """What comes of everything that the client says on paper, told by our own house."""
    house = ReferenceServer(test_data, transcript)
    conversation = Conversation(test_data.room, house_settings(test_data.room, transcript))
    found: list[HouseReplayStep] = []
    for line in transcript.lines:
        if line.kind == "left":
            found.append(HouseReplayStep(None, (), (), None))
        elif line.kind == ">":
            lines, faults = len(conversation.lines), len(conversation.faults)
            said = encode_line(line.text)
            conversation.on_data(CLIENT, said, 0.0)
            conversation.on_data(HOUSE, house.answer(said), 0.0)
            found.append(_passage(said, conversation, test_data, lines, faults))
    several = conversation.referee.finished_count > 1  # what luck brings to one game it seldom brings to each of them
    if several or not transcript.clauses[0].startswith(test_data.luck_clauses):
        return tuple(replace(passage, outline=None) for passage in found)
    return tuple(found)


def _passage(
    said: bytes, conversation: Conversation, ground: ServerTestData, lines: int, faults: int
) -> HouseReplayStep:
    """What has come of it behind so many lines and faults."""
    referee = conversation.referee
    game = referee.last_game if referee.game is None else referee.game
    return HouseReplayStep(
        said,
        tuple(
            sort
            for sort, _ in groupby(
                ground.kind_of(line.message) for line in conversation.lines[lines:] if line.side == HOUSE
            )
        ),
        tuple(fault.verdict.violation.clause for fault in conversation.faults[faults:] if fault.verdict.end == CLIENT),
        None if game is None else ground.outline(game, referee.game is None),
    )


def replay(steps: Sequence[HouseReplayStep]) -> Scenario:
    """Say what is said on paper, as long as what is heard is what is heard there."""

    def play(talk: ScenarioContext) -> ClientScript:
        conversation = talk.conversation
        for passage in steps:
            if passage.sent is None:
                yield HangUp()
                return None
            lines, faults = len(conversation.lines), len(conversation.faults)
            yield passage.sent
            found = _passage(passage.sent, conversation, talk.test_data, lines, faults)
            if passage.outline is None:
                found = replace(found, outline=None)
            if found != passage:
                return _missed(passage, found)
        return None

    return play


def _missed(paper: HouseReplayStep, found: HouseReplayStep) -> str:
    """What did not come up."""
    if paper.received_kinds != found.received_kinds:
        return f"{_told(paper.received_kinds)} did not come up: it was {_told(found.received_kinds)}"
    if paper.client_faults != found.client_faults:
        return f"it was {'right' if paper.client_faults else 'wrong'} to say this here"
    return "the cards were never right"


def _told(heard: Sequence[str]) -> str:
    """What was heard, for people: the end of it, if it is much."""
    return " ".join(heard[-4:]) or "silence"
