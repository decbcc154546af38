"""The conversations on paper as cases: what is said there is said to a stranger, as long as he answers as on paper."""

from collections.abc import Collection, Hashable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from typing import Final

from croupier.conformance.conversation import Conversation
from croupier.conformance.servers.scripted_client import HangUp, Script
from croupier.conformance.servers.test_data import Ground, Play, Talk
from croupier.core.errors import Violation
from croupier.core.referee import CLIENT, HOUSE
from croupier.core.session import Drop, Garbled, Joined, Said, Say
from croupier.core.transcript import Transcript, data, hall, settings, strict

ALWAYS: Final = frozenset({"title", "clause", "fault", "deck", "house", "seed", "dialect"})
"""What may stand in the head of a transcript that a stranger can be told: his own luck and his own mind will do."""


@dataclass(frozen=True)
class Passage:
    """What the client says, and what comes of it: the sorts of what it hears, its own faults, and where the game is.

    A sort that comes several times in a row is told once. `outline` is the ground's; `said` None stands for hanging up.
    """

    said: bytes | None
    heard: tuple[str, ...]
    faults: tuple[str, ...]
    outline: Hashable


def playable(transcript: Transcript, known: Mapping[str, Collection[str]]) -> bool:
    """Whether a client can play its part against a house it knows nothing of: no faults but its own, and no time."""
    head = transcript.head
    lines = transcript.lines
    return (
        not head.get("fault", "").startswith("house")
        and all(name in ALWAYS or value in known.get(name, ()) for name, value in head.items())
        and not any(line.kind in {"pass", "halted"} for line in lines)
        and {line.peer for line in lines if line.peer} == {"p"}
    )


class Ours:
    """Our own house, set as a transcript says, with one client: bytes in, bytes out."""

    def __init__(self, ground: Ground, transcript: Transcript) -> None:
        own = settings(ground.room, transcript)
        self.closed = False
        self._hall = hall(ground.room, transcript)
        self._codec = ground.room.codec(strict(transcript), own)
        self._hall.on(Joined(1), 0.0)

    def answers(self, said: bytes) -> bytes:
        """What it says to that."""
        found = b""
        for message in self._codec.feed(said):
            if not self.closed:
                event = Garbled(1, message) if isinstance(message, Violation) else Said(1, message)
                for effect in self._hall.on(event, 0.0):
                    match effect:
                        case Say(_, answer):
                            found += self._codec.encode(answer)
                        case Drop():
                            self.closed = True
                        case _:
                            pass  # a fact, not a deed on the wire
        return found


def recorded(ground: Ground, transcript: Transcript) -> tuple[Passage, ...]:
    """What comes of everything that the client says on paper, told by our own house."""
    house = Ours(ground, transcript)
    conversation = Conversation(ground.room, settings(ground.room, transcript))
    found: list[Passage] = []
    for line in transcript.lines:
        if line.kind == "left":
            found.append(Passage(None, (), (), None))
        elif line.kind == ">":
            lines, faults = len(conversation.lines), len(conversation.faults)
            said = data(line.text)
            conversation.heard(CLIENT, said, 0.0)
            conversation.heard(HOUSE, house.answers(said), 0.0)
            found.append(_passage(said, conversation, ground, lines, faults))
    several = conversation.referee.finished > 1  # what luck brings to one game it seldom brings to each of them
    if several or not transcript.clauses[0].startswith(ground.lucky):
        return tuple(replace(passage, outline=None) for passage in found)
    return tuple(found)


def _passage(said: bytes, conversation: Conversation, ground: Ground, lines: int, faults: int) -> Passage:
    """What has come of it behind so many lines and faults."""
    referee = conversation.referee
    game = referee.last if referee.game is None else referee.game
    return Passage(
        said,
        tuple(
            sort
            for sort, _ in groupby(
                ground.sort(line.message) for line in conversation.lines[lines:] if line.side == HOUSE
            )
        ),
        tuple(fault.verdict.violation.clause for fault in conversation.faults[faults:] if fault.verdict.side == CLIENT),
        None if game is None else ground.outline(game, referee.game is None),
    )


def followed(paper: Sequence[Passage]) -> Play:
    """Say what is said on paper, as long as what is heard is what is heard there."""

    def play(talk: Talk) -> Script:
        conversation = talk.conversation
        for passage in paper:
            if passage.said is None:
                yield HangUp()
                return None
            lines, faults = len(conversation.lines), len(conversation.faults)
            yield passage.said
            found = _passage(passage.said, conversation, talk.ground, lines, faults)
            if passage.outline is None:
                found = replace(found, outline=None)
            if found != passage:
                return _missed(passage, found)
        return None

    return play


def _missed(paper: Passage, found: Passage) -> str:
    """What did not come up."""
    if paper.heard != found.heard:
        return f"{_told(paper.heard)} did not come up: it was {_told(found.heard)}"
    if paper.faults != found.faults:
        return f"it was {'right' if paper.faults else 'wrong'} to say this here"
    return "the cards were never right"


def _told(heard: Sequence[str]) -> str:
    """What was heard, for people: the end of it, if it is much."""
    return " ".join(heard[-4:]) or "silence"
