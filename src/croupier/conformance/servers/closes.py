"""Decides whether a refusal and a close are the answer to the client's last message, or an unrelated goodbye.

A house may say goodbye when a limit has expired or when it stops, and such a goodbye may cross a message of the client.
So one conversation proves nothing. The conversation is repeated, with a longer silence before the last message each
time: if the house stays silent for longer than the whole previous conversation took, no limit can have expired in that
one.
"""

from collections.abc import Awaitable, Callable, Sequence
from itertools import accumulate, dropwhile, takewhile
from typing import Final

from croupier.conformance.servers.scripted_client import UNCHUNKED, Chunking, ClientScript, ScriptedClient, Wait
from croupier.conformance.servers.test_data import Scenario, ScenarioContext, ServerTestData
from croupier.core.errors import FoundKind, Violation
from croupier.core.referee import CLIENT, HOUSE
from croupier.core.session import Peer

MIN_CONFIRMATIONS: Final = 3
"""A close has to follow the same messages in this many conversations in a row."""

MAX_CONVERSATIONS: Final = 8
"""At most this many conversations are held before the house is given the benefit of the doubt."""

FIRST_PAUSE_SECONDS: Final = 0.02
"""The first silence before the last message, and the time to listen after it, in seconds."""

MAX_CLOSE_TRIES: Final = 6
"""How often a conversation is repeated in which the house has closed the connection."""

type RunScenario = Callable[[Scenario, Chunking], Awaitable[ScriptedClient]]
"""Holds a new conversation with the same house."""


class ProvokedCloseDetector:
    """Judges the closes of a house by the room's `farewell_rule`; without one, no close is judged."""

    def __init__(self, test_data: ServerTestData, answer_timeout: float) -> None:
        self._farewell_rule = test_data.farewell_rule
        self._is_refusal = test_data.is_refusal
        self._answer_timeout = answer_timeout

    async def find_provoked(
        self, suspect: ScriptedClient, run_scenario: RunScenario, delivery: Chunking
    ) -> ScriptedClient | None:
        """Return a conversation in which the client's messages caused the close, None if the cause may be another."""
        messages = self._refused_messages(suspect)
        if self._farewell_rule is None or not messages:
            return None
        silence_seconds, confirmations = FIRST_PAUSE_SECONDS, 0
        for _ in range(MAX_CONVERSATIONS):
            was_idle: list[bool] = []
            probe = await run_scenario(_send_after_silence(messages, silence_seconds, was_idle), delivery)
            refused_messages = self._refused_messages(probe)
            if not refused_messages:
                break
            if len(refused_messages) < len(messages):
                messages, silence_seconds, confirmations = refused_messages, FIRST_PAUSE_SECONDS, 0
                continue
            was_idle.append(probe.conversation.referee.game is None)
            if any(was_idle) and not await self._accepts(
                (*messages[:-1], self._farewell_rule.opening), silence_seconds, run_scenario
            ):
                break
            confirmations += 1
            if confirmations == MIN_CONFIRMATIONS:
                probe.accuse(
                    Violation(
                        self._farewell_rule.clause,
                        "a refusal and the close",
                        "an open connection",
                        kind=FoundKind.CLOSED,
                    )
                )
                return probe
            silence_seconds = 2 * probe.duration_seconds + FIRST_PAUSE_SECONDS
            if silence_seconds > self._answer_timeout:
                break
        return None

    def _refused_messages(self, probe: ScriptedClient) -> Sequence[bytes]:
        """The messages of the client before the house refused and closed, if the house could read all of them.

        Empty if the house has not closed after a refusal, or has answered the same messages in another way.
        """
        conversation = probe.conversation
        if not probe.house_has_left or probe.fault is not None or conversation.tolerated(CLIENT):
            return ()
        if any(_is_fatal(line.message) for line in conversation.lines if line.side == CLIENT):
            return ()
        replies = [line for line in conversation.lines if line.side == HOUSE]
        if not replies or not self._is_refusal(replies[-1].message):
            return ()
        wire = dropwhile(_is_from(CLIENT), reversed(probe.wire_log))
        received = [data for _, data in takewhile(_is_from(HOUSE), wire)]
        return _sent_before(probe, len(received)) if b"".join(reversed(received)) == replies[-1].data else ()

    async def _accepts(self, messages: Sequence[bytes], silence_seconds: float, run_scenario: RunScenario) -> bool:
        """Whether the house accepts the last of these messages, each sent in one piece, and stays connected."""
        probe = await run_scenario(_send_after_silence(messages, silence_seconds, []), UNCHUNKED)
        last_lines = probe.conversation.lines[-2:]
        if probe.house_has_left or probe.fault is not None or [line.side for line in last_lines] != [CLIENT, HOUSE]:
            return False
        return not self._is_refusal(last_lines[-1].message)


async def find_unasked_close(
    messages: Sequence[bytes],
    clause: str,
    run_again: Callable[[Sequence[bytes]], Awaitable[ScriptedClient]],
    close_clause: str,
) -> ScriptedClient | None:
    """Return a conversation in which the house closes before it receives the message that it leaves unanswered.

    A message that a client sends while the house closes is not the reason for the close; their order depends on timing.
    `run_again` sends the given messages and listens for a while before each. `clause` is what the house has broken by
    its close, and `close_clause` forbids to close without a goodbye. Returns None if there is no such conversation.
    """
    for _ in range(MAX_CLOSE_TRIES if clause != close_clause else 0):
        found = await run_again(messages)
        if found.fault is not None and found.fault.verdict.violation.clause == close_clause:
            return found
    return None


def _is_from(side: Peer) -> Callable[[tuple[Peer, bytes]], bool]:
    return lambda piece: piece[0] == side


def _sent_before(probe: ScriptedClient, received_pieces: int) -> Sequence[bytes]:
    """The messages that the client had sent, or begun to send, before the last pieces from the house."""
    last = max(place for place, piece in enumerate(probe.wire_log) if piece[0] == HOUSE)
    sent = sum(len(data) for side, data in probe.wire_log[: last - received_pieces + 1] if side == CLIENT)
    starts = accumulate(map(len, probe.sent), initial=0)
    return tuple(message for message, start in zip(probe.sent, starts, strict=False) if start < sent)


def _is_fatal(message: object) -> bool:
    return type(message) is Violation and message.fatal


def _send_after_silence(messages: Sequence[bytes], silence_seconds: float, was_idle: list[bool]) -> Scenario:
    """Send these messages, the last one after a silence; note whether no game is in progress then."""

    def play(context: ScenarioContext) -> ClientScript:
        yield from messages[:-1]
        yield Wait(silence_seconds)
        was_idle.append(context.referee.game is None)
        yield messages[-1]
        yield Wait(FIRST_PAUSE_SECONDS)
        return None

    return play
