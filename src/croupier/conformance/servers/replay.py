"""Replays a transcript to a server: sends the client's messages as long as the server answers as in the transcript."""

from collections.abc import Collection, Hashable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import groupby
from typing import Any, Final

from croupier.conformance.conversation import Conversation
from croupier.conformance.responders import LiveResponder
from croupier.conformance.servers.scenarios import scenario
from croupier.conformance.servers.scripted_client import ClientScript, HangUp, Inapplicable
from croupier.conformance.servers.test_data import ScenarioContext, ServerTestData
from croupier.core.dealer import derive_server_seed
from croupier.core.errors import Violation
from croupier.core.referee import CLIENT, HOUSE
from croupier.core.transcript import Transcript, encode_line, house_settings, is_fault_of_house

HARMLESS_KEYS: Final = frozenset({"title", "clause", "fault", "deck", "house", "seed", "dialect"})
"""Header fields of a transcript that do not prevent a replay: the server deals and plays in its own way."""


@dataclass(frozen=True)
class HouseReplayStep:
    """A message of the client with what the reference house makes of it.

    `sent` is None for a disconnect. `received_kinds` are the kinds of the answers, repetitions left out;
    `client_faults` the clauses that the client breaks; `outline` the state of the game (`ServerTestData.outline`).
    `amount` is the first message of the house with an amount; it may differ, but the client reckons with it.
    """

    sent: bytes | None
    received_kinds: tuple[str, ...]
    client_faults: tuple[str, ...]
    outline: Hashable
    amount: Any = field(default=None, compare=False)


def is_playable(transcript: Transcript, known: Mapping[str, Collection[str]]) -> bool:
    """Whether a client can play its part against an unknown house: no faults of the house, and no passing of time."""
    head = transcript.head
    lines = transcript.lines
    return (
        not is_fault_of_house(transcript)
        and all(name in HARMLESS_KEYS or value in known.get(name, ()) for name, value in head.items())
        and not any(line.kind in {"pass", "halted"} for line in lines)
        and {line.peer for line in lines if line.peer} == {"p"}
    )


def record(test_data: ServerTestData, transcript: Transcript) -> tuple[HouseReplayStep, ...]:
    """Run a transcript against our own house; return a step for every message of the client."""
    room, settings = test_data.room, house_settings(test_data.room, transcript)
    seed = derive_server_seed(int(transcript.head.get("seed", 1)), room.name, CLIENT)
    house = LiveResponder(room, settings, decks=transcript.head.get("deck", ""), seed=seed)
    codec, conversation = room.codec(False, settings), Conversation(room, settings)
    steps: list[HouseReplayStep] = []
    for line in transcript.lines:
        if line.kind == "left":
            steps.append(HouseReplayStep(None, (), (), None))
        elif line.kind == ">":
            lines, faults = len(conversation.lines), len(conversation.faults_of(CLIENT))
            message = encode_line(line.text)
            conversation.on_data(CLIENT, message, 0.0)
            for item in codec.feed(message):
                conversation.on_data(HOUSE, b"".join(house.answer(item).messages), 0.0)
            steps.append(_step(message, conversation, test_data, lines, faults))
    several = conversation.referee.finished_count > 1  # it is unlikely that the same cards come up in every game
    if several or not transcript.clauses[0].startswith(test_data.luck_clauses):
        return tuple(replace(step, outline=None) for step in steps)
    return tuple(steps)


def _step(
    sent: bytes, conversation: Conversation, test_data: ServerTestData, lines: int, faults: int
) -> HouseReplayStep:
    """The step that led from this many lines and faults of the client to the present state."""
    referee = conversation.referee
    game = referee.last_game if referee.game is None else referee.game
    received = [line for line in conversation.lines[lines:] if line.side == HOUSE]
    return HouseReplayStep(
        sent,
        tuple(kind for kind, _ in groupby(test_data.kind_of(line.message) for line in received)),
        tuple(fault.verdict.violation.clause for fault in conversation.faults_of(CLIENT)[faults:]),
        None if game is None else test_data.outline(game, referee.game is None),
        next((line.message for line in received if hasattr(line.message, "coins")), None),
    )


@scenario
def replay(context: ScenarioContext, steps: Sequence[HouseReplayStep], *, is_dialect: bool = False) -> ClientScript:
    """Send the messages of recorded steps as long as the answers are those of the recording.

    Unless the recording `is_dialect`, its messages are spelled in the dialect of the house.
    """
    conversation = context.conversation
    other_amount = ""
    for number, step in enumerate(steps):
        if step.sent is None:
            yield HangUp()
            return None
        sent = step.sent if is_dialect else _respell(step.sent, context)
        if sent is None:
            raise Inapplicable("only in the dialect of the document")
        lines, faults = len(conversation.lines), len(conversation.faults_of(CLIENT))
        yield sent
        found = _step(step.sent, conversation, context.test_data, lines, faults)
        if step.outline is None:
            found = replace(found, outline=None)
        if number == 0 and found.amount != step.amount:
            other_amount = f"; the house begins with {found.amount}, the transcript with {step.amount}"
        if found != step:
            return _difference(step, found) + other_amount
    return None


def _respell(sent: bytes, context: ScenarioContext) -> bytes | None:
    """Return bytes of the document's dialect as the room's dialect spells them, None if they are no messages."""
    room = context.test_data.room
    document = room.codec(True, None)
    if all(context.encode(message) == document.encode(message) for message in room.sample_messages):
        return sent
    messages = document.feed(sent)
    if any(isinstance(message, Violation) for message in messages):
        return None
    complete = b"".join(map(document.encode, messages)) == sent
    return b"".join(map(context.encode, messages)) if complete else None


def _difference(expected: HouseReplayStep, actual: HouseReplayStep) -> str:
    """Describe what did not come up."""
    if expected.received_kinds != actual.received_kinds:
        wanted, sent = (_join_kinds(step.received_kinds) for step in (expected, actual))
        return f"the case needs {wanted or 'no answer'} here; the server sent {sent or 'nothing'}"
    if expected.client_faults != actual.client_faults:
        return f"the message of the case was {'' if expected.client_faults else 'not '}allowed with these cards"
    return "the cards that the case needs were never dealt"


def _join_kinds(kinds: Sequence[str]) -> str:
    """The received messages for people; only the last ones if there are many, and empty if there are none."""
    return " ".join(kinds[-4:])
