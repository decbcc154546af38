"""A dialogue is told as shortly as it shows what is wrong: what the client said is left out, piece by piece."""

from collections.abc import Awaitable, Callable, Sequence
from time import perf_counter
from typing import Final

from croupier.conformance.ddmin import ddmin
from croupier.conformance.servers.scripted_client import ScriptedClient
from croupier.core.referee import CLIENT

SHORT_DIALOGUE_LINES: Final = 6
"""A dialogue of so many lines is short."""

MAX_TRIES: Final = 3
"""So often the same is said once more: luck has a part in most faults."""

MAX_CLOSE_TRIES: Final = 6
"""So often a house that has hung up is listened to once more."""


async def shrink(
    probe: ScriptedClient, run_again: Callable[[Sequence[bytes]], Awaitable[ScriptedClient]], seconds: float
) -> ScriptedClient:
    """A conversation with the same fault that is as short as can be found in so many seconds, at best a short one.

    `again` has a new conversation in which only this is said. The conversation itself, where nothing shorter is found.
    """
    end = perf_counter() + seconds
    silent = probe.fault is not None and probe.fault.verdict.violation.found == "silence"  # that was patience enough
    best = probe if silent else await _same(probe, probe.sent, run_again, end) or probe
    if (
        len(best.conversation.lines) > SHORT_DIALOGUE_LINES
    ):  # what was sent ahead may be said message by message as well
        apart = [line.data for line in best.conversation.lines if line.side == CLIENT]
        best = await _same(best, apart, run_again, end) or best
    return await ddmin(
        best,
        lambda found: found.sent,
        lambda says: _same(best, says, run_again, end),
        lambda found: len(found.conversation.lines) <= SHORT_DIALOGUE_LINES or perf_counter() >= end,
    )


async def find_unasked_close(
    probe: ScriptedClient, run_again: Callable[[Sequence[bytes]], Awaitable[ScriptedClient]], close_clause: str
) -> ScriptedClient:
    """The conversation that shows that the house hung up before it was asked for what it has not answered, if it did.

    What a client says while a house hangs up is no reason for it, and which of them comes first is up to the machine.
    `again` as in `shortened`, with a while to listen before everything that is said; `close` is the clause by which a
    house may not just hang up.
    """
    says = [line.data for line in probe.conversation.lines if line.side == CLIENT]
    for _ in range(
        MAX_CLOSE_TRIES if probe.fault is not None and probe.fault.verdict.violation.clause != close_clause else 0
    ):
        found = await run_again(says)
        if found.fault is not None and found.fault.verdict.violation.clause == close_clause:
            return found
    return probe


async def _same(
    probe: ScriptedClient,
    says: Sequence[bytes],
    again: Callable[[Sequence[bytes]], Awaitable[ScriptedClient]],
    end: float,
) -> ScriptedClient | None:
    """A conversation in which only this is said, and the house breaks the same clause, if there is one in time."""
    assert probe.fault is not None, "there is a fault to be shown"
    for _ in range(MAX_TRIES if says else 0):
        if perf_counter() >= end:
            break
        found = await again(says)
        if found.fault is not None and found.fault.verdict.violation.clause == probe.fault.verdict.violation.clause:
            return found
    return None
