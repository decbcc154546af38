"""Shortens a failing dialogue by leaving out messages of the client."""

from collections.abc import Awaitable, Callable, Sequence
from time import perf_counter
from typing import Final

from croupier.conformance.ddmin import ddmin
from croupier.conformance.servers.scripted_client import ScriptedClient
from croupier.core.errors import FoundKind
from croupier.core.referee import CLIENT

SHORT_DIALOGUE_LINES: Final = 6
"""A dialogue of at most this many lines is not shortened further."""

MAX_TRIES: Final = 3
"""How often the same messages are sent again: most faults depend on chance."""

MAX_CLOSE_TRIES: Final = 6
"""How often a conversation is repeated in which the house has closed the connection."""


async def shrink(
    probe: ScriptedClient, run_again: Callable[[Sequence[bytes]], Awaitable[ScriptedClient]], seconds: float
) -> ScriptedClient:
    """Return the shortest conversation with the same fault that is found within `seconds`.

    `run_again` holds a new conversation in which only the given messages are sent. Returns the conversation itself if
    none is shorter.
    """
    end = perf_counter() + seconds
    is_silence = (
        probe.fault is not None and probe.fault.verdict.violation.kind is FoundKind.SILENCE
    )  # one timeout is enough
    best = probe if is_silence else await _find_same_fault(probe, probe.sent, run_again, end) or probe
    if (
        len(best.conversation.lines) > SHORT_DIALOGUE_LINES
    ):  # messages sent ahead of their answers may be sent one by one as well
        single_messages = [line.data for line in best.conversation.lines if line.side == CLIENT]
        best = await _find_same_fault(best, single_messages, run_again, end) or best
    return await ddmin(
        best,
        lambda found: found.sent,
        lambda messages: _find_same_fault(best, messages, run_again, end),
        lambda found: len(found.conversation.lines) <= SHORT_DIALOGUE_LINES or perf_counter() >= end,
    )


async def find_unasked_close(
    probe: ScriptedClient, run_again: Callable[[Sequence[bytes]], Awaitable[ScriptedClient]], close_clause: str
) -> ScriptedClient:
    """Return a conversation in which the house closes before it receives the message that it leaves unanswered.

    Returns the conversation itself if there is none. A message that a client sends while the house closes is not the
    reason for the close; their order depends on timing. `run_again` is as in `shrink`, but listens for a while before
    each message. `close_clause` is the clause that forbids to close without a goodbye.
    """
    messages = [line.data for line in probe.conversation.lines if line.side == CLIENT]
    for _ in range(
        MAX_CLOSE_TRIES if probe.fault is not None and probe.fault.verdict.violation.clause != close_clause else 0
    ):
        found = await run_again(messages)
        if found.fault is not None and found.fault.verdict.violation.clause == close_clause:
            return found
    return probe


async def _find_same_fault(
    probe: ScriptedClient,
    messages: Sequence[bytes],
    run_again: Callable[[Sequence[bytes]], Awaitable[ScriptedClient]],
    end: float,
) -> ScriptedClient | None:
    """Return a conversation of only these messages in which the house breaks the same clause, None if none is found."""
    assert probe.fault is not None, "the conversation has a fault"
    for _ in range(MAX_TRIES if messages else 0):
        if perf_counter() >= end:
            break
        found = await run_again(messages)
        if found.fault is not None and found.fault.verdict.violation.clause == probe.fault.verdict.violation.clause:
            return found
    return None
