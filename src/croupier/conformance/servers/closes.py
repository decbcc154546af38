"""Decides whether a goodbye and a close of the house are its answer to the client's last message.

A house may say goodbye when a limit has expired or when it stops, and such a goodbye may cross a message of the client.
So one conversation proves nothing. The conversation is repeated, with a longer silence before the last message each
time: if the house stays silent for longer than the whole previous conversation took, no limit can have expired in that
one.
"""

from collections import Counter, defaultdict
from collections.abc import Awaitable, Callable, Sequence
from itertools import accumulate, dropwhile, takewhile
from typing import Final, NamedTuple

from msgspec import structs

from croupier.conformance.channel.delivery import WHOLE, Delivery
from croupier.conformance.conversation import Conversation
from croupier.conformance.diagnosis.cause import ONE_READ_CAUSE, SPELLING_MATTERS, Cause
from croupier.conformance.servers.conversing import Conversations
from croupier.conformance.servers.scenarios import send_each
from croupier.conformance.servers.scripted_client import ScriptedClient, Wait
from croupier.conformance.servers.test_data import Scenario, ServerTestData
from croupier.conformance.servers.verdicts import canonical_messages, client_messages, has_refused, is_fatal
from croupier.core.errors import FoundKind, Violation
from croupier.core.referee import CLIENT, HOUSE
from croupier.core.session import Peer

MIN_CONFIRMATIONS: Final = 3
"""A close has to follow the same messages in this many conversations."""

MAX_CONVERSATIONS: Final = 24
"""At most this many conversations are held before the house is given the benefit of the doubt.

The answers of the house depend on luck: only some of the conversations come to the close again.
"""

MAX_MESSAGES: Final = 16
"""Longer conversations do not come to the same end again."""

FIRST_PAUSE_SECONDS: Final = 0.02
"""The first silence before the last message, and the time to listen after it, in seconds."""

PADDING: Final = bytes(4)
"""Bytes that complete the code of a message, and are none."""

MAX_CLOSE_TRIES: Final = 6
"""How often a conversation is repeated in which the house has closed the connection."""


class ProvokedClose(NamedTuple):
    """A conversation in which the client's messages caused the close.

    `is_certain` is false if the house may be one that starts no game at all, for a reason of its own. `cause` is what
    other conversations have shown, None if they have shown nothing.
    """

    probe: ScriptedClient
    is_certain: bool
    cause: Cause | None = None


class Ending(NamedTuple):
    """The end of a conversation by the house: the client's messages before it, and what it breaks if they caused it.

    `was_idle`: no game was in progress before the last message and after it; `finished_count` games had been finished.
    """

    messages: Sequence[bytes]
    violation: Violation
    was_idle: bool
    finished_count: int


class ProvokedCloseDetector:
    """Judges the closes of a house by the room's `farewell_rule`."""

    def __init__(self, test_data: ServerTestData, conversations: Conversations) -> None:
        self._test_data = test_data
        self._rule = test_data.farewell_rule
        self._goodbyes = test_data.goodbye
        self._opening = test_data.room.codec(True, None).encode(test_data.sample_game[0])
        self._clauses = test_data.shared_clauses
        self._is_refusal = test_data.is_refusal
        self._conversations = conversations

    async def find_provoked(self, suspect: ScriptedClient, delivery: Delivery) -> ProvokedClose | None:
        """Return a conversation in which the client's messages caused the close, None if the cause may be another."""
        first = ending = self._ending(suspect)
        confirmations = Counter[Sequence[bytes]]()
        silences = defaultdict[Sequence[bytes], float](lambda: FIRST_PAUSE_SECONDS)
        for _ in range(MAX_CONVERSATIONS):
            if ending is None or len(ending.messages) > MAX_MESSAGES:
                break
            messages = ending.messages
            if silences[messages] > self._conversations.timeout.max_seconds:
                break
            probe = await self._conversations.play(_send_after_silence(messages, silences[messages]), delivery)
            found = self._ending(probe)
            if found is None:
                if probe.house_has_left and probe.fault is None and len(probe.sent) < len(messages):
                    break
                ending = first  # a shorter one may have been luck
                continue
            if len(found.messages) < len(messages):
                ending = found
                continue
            confirmations[messages] += 1
            if confirmations[messages] == MIN_CONFIRMATIONS:
                return await self._judge(probe, found, delivery)
            silences[messages] = 2 * probe.duration_seconds + FIRST_PAUSE_SECONDS
        return None

    async def _judge(self, probe: ScriptedClient, ending: Ending, delivery: Delivery) -> ProvokedClose | None:
        """Decide whether the house may have had a reason of its own: it has none if it would start a game."""
        is_certain = True
        if ending.was_idle:
            is_certain = await self._starts_game_instead(ending)
            if not is_certain and (ending.messages[-1] != self._opening or ending.finished_count):
                return None
        found = ending.violation
        cause = await self._cause_of_form(probe, ending, delivery)
        probe.accuse(found if cause is None else found.replace(clause=cause.clause))
        return ProvokedClose(probe, is_certain, cause)

    async def _starts_game_instead(self, ending: Ending) -> bool:
        """Whether the house starts a game in place of the last message.

        A house may play only once, so the games before are played again: luck decides whether they come to their end.
        """
        if not (self._rule.may_play_once and ending.finished_count):
            return await self._accepts([self._opening])
        messages = [*ending.messages[:-1], self._opening]
        for _ in range(MAX_CONVERSATIONS):
            probe = await self._send_after_silence(messages)
            if self._is_accepted(probe, messages):
                return True
            if probe.house_has_left:
                break
        return False

    async def _cause_of_form(self, probe: ScriptedClient, ending: Ending, delivery: Delivery) -> Cause | None:
        """The pieces or the letters in which the house does not accept what it accepts otherwise, with their clause."""
        if probe.conversation.tolerated(CLIENT):
            return None
        if await self._accepts_alone(probe, ending, delivery):
            return structs.replace(ONE_READ_CAUSE, clause=self._clauses["stream"])
        canonical = canonical_messages(probe.conversation, probe.conversation.lines)
        if "letters" not in self._clauses or len(canonical) < len(ending.messages):
            return None
        if b"".join(canonical) == b"".join(ending.messages):
            return None
        refused_count, confirmations = len(probe.conversation.faults_of(CLIENT)), 0
        for _ in range(MAX_CONVERSATIONS):
            found = await self._send_after_silence(canonical)
            if found.house_has_left:
                return None
            confirmations += len(found.conversation.faults_of(CLIENT)) == refused_count  # luck may have decided it
            if confirmations == MIN_CONFIRMATIONS:
                return structs.replace(SPELLING_MATTERS, clause=self._clauses["letters"])
        return None

    async def _accepts_alone(self, probe: ScriptedClient, ending: Ending, delivery: Delivery) -> bool:
        """Whether the messages came in other pieces, and the house accepts them whenever each is sent alone."""
        messages = [*ending.messages] if delivery != WHOLE else client_messages(probe.conversation.lines)
        if not messages or (delivery == WHOLE and messages == [*ending.messages]):
            return False
        return await self.accepts(messages)

    def _ending(self, probe: ScriptedClient) -> Ending | None:
        """How the house has ended a conversation in which it could read all messages, None if it was not its fault.

        If it could not read the last one, it may close, but only after the error that it owes.
        """
        conversation = probe.conversation
        said = [line.message for line in conversation.lines if line.side == CLIENT]
        is_incomplete = conversation.was_refused_at_once or bool(conversation.incomplete(CLIENT))
        if conversation.was_refused_at_once:
            said.pop()
        have_parted = (
            bool(said) and said[-1] in self._goodbyes and self._rule.is_goodbye(conversation.lines[-1].message)
        )
        if not (probe.house_has_left or have_parted) or probe.fault is not None or not probe.sent:
            return None
        if conversation.tolerated(CLIENT) and has_refused(self._test_data, conversation):
            return None  # a house may refuse what need not be tolerated, and close
        if any(message in self._goodbyes for message in said[:-1]) or any(map(is_fatal, said[:-1])):
            return None
        if said and isinstance(said[-1], Violation) and is_incomplete:
            return None  # what follows a message without a meaning need not have one
        wire = [*dropwhile(_is_from(CLIENT), reversed(probe.wire_log))]
        received = [data for _, data in takewhile(_is_from(HOUSE), wire)][::-1]
        goodbye_size = self._goodbye_size(conversation, sum(map(len, received)))
        if goodbye_size:
            before = [*wire[len(received) :]][::-1]
            rest = b"".join(received)[:-goodbye_size]
            messages = _sent_before(probe, len(received))
        else:
            before, rest, messages = probe.wire_log, b"", tuple(probe.sent)
        judge = self._conversations.new_conversation(strict=False)
        was_idle, finished_count = True, 0
        for side, data in before:
            if side == CLIENT:
                was_idle, finished_count = judge.referee.game is None, judge.referee.finished_count
            judge.on_data(side, data, 0.0)
        judge.on_data(HOUSE, rest, 0.0)
        was_idle = was_idle and judge.referee.game is None
        violation = self._violation(judge, finished_count, has_goodbye=goodbye_size > 0)
        return Ending(messages, violation, was_idle, finished_count) if violation is not None and messages else None

    async def refused_by_close(self, probe: ScriptedClient) -> str | None:
        """The clause by which a house owes a refusal before its close, None if the form of the messages is no reason.

        The house has closed after messages that it need not tolerate; it accepts them as the protocol spells them.
        """
        messages = canonical_messages(probe.conversation, probe.conversation.lines)
        is_refused = messages != [*probe.sent] and await self.accepts(messages)
        return self._first_unreadable(probe.conversation) if is_refused else None

    def _strict_clause(self, conversation: Conversation) -> str | None:
        """The clause by which a house refuses what it does not tolerate, None if there is nothing of the kind."""
        return self._first_unreadable(conversation) if conversation.tolerated(CLIENT) else None

    def _first_unreadable(self, conversation: Conversation) -> str | None:
        """The clause of the first message of the client that a strict house cannot read, None if it reads them all."""
        sent = b"".join(line.data for line in conversation.lines if line.side == CLIENT)
        messages = self._test_data.room.codec(True, None).feed(sent + conversation.incomplete(CLIENT) + PADDING)
        return next((message.clause for message in messages if isinstance(message, Violation)), None)

    def _goodbye_size(self, conversation: Conversation, max_size: int) -> int:
        """The number of bytes of the goodbye at the end of what the house has sent, 0 if there is none."""
        size = 0
        for line in reversed([line for line in conversation.lines if line.side == HOUSE]):
            if not self._rule.is_goodbye(line.message) or size + len(line.data) > max_size:
                break
            size += len(line.data)
        return size

    def _violation(self, judge: Conversation, finished_before: int, *, has_goodbye: bool) -> Violation | None:
        """What a goodbye and a close break at the end of this conversation."""
        due = judge.referee.pending
        found = "a goodbye and the close" if has_goodbye else "the close"
        said = [line.message for line in judge.lines if line.side == CLIENT]
        if said and said[-1] in self._goodbyes:
            if due is None or not has_goodbye or due.clause == self._clauses["goodbye"]:
                return None  # the referee judges it
            return Violation(self._clauses["goodbye"], found, f"{due} before that", kind=FoundKind.CLOSED)
        if due is None and not has_goodbye and not self._rule.may_play_once:
            return None  # the referee judges it
        has_played_once = self._rule.may_play_once and judge.referee.finished_count > finished_before
        if has_played_once and not has_goodbye:
            return None
        allowed = "an open connection" if due is None else f"{due} and an open connection"
        if said and is_fatal(said[-1]):
            if due is None or any(map(self._rule.is_goodbye, due.messages)) or (has_goodbye and not due.messages):
                return None  # nothing but the goodbye is due, or it may be the error
            if not has_goodbye and not self._rule.may_play_once:
                return None  # the referee judges it
            return Violation(due.clause, found, f"{due} before that", kind=FoundKind.CLOSED)
        if (strict_clause := self._strict_clause(judge)) is not None:
            clause, allowed = strict_clause, "the answer, or a refusal before the close"
        elif due is None and judge.incomplete(CLIENT):
            clause = self._clauses["stream"]
        elif due is None and said and self._is_refusal(said[-1]):
            clause = self._clauses["errors"]
        elif has_goodbye and self._rule.clause:
            clause = self._rule.clause
        else:
            clause = self._clauses["close"] if due is None else due.clause
        return Violation(clause, found, allowed, kind=FoundKind.CLOSED)

    async def accepts(self, messages: Sequence[bytes]) -> bool:
        """Whether the house accepts the last of these messages in several conversations; see `_accepts`."""
        for _ in range(MIN_CONFIRMATIONS):
            if not await self._accepts(messages):
                return False
        return True

    async def _accepts(self, messages: Sequence[bytes]) -> bool:
        """Whether the house accepts the last of these messages, each sent in one piece, and stays connected."""
        return self._is_accepted(await self._send_after_silence(messages), messages)

    async def _send_after_silence(self, messages: Sequence[bytes]) -> ScriptedClient:
        return await self._conversations.play(_send_after_silence(messages, FIRST_PAUSE_SECONDS), WHOLE)

    def _is_accepted(self, probe: ScriptedClient, messages: Sequence[bytes]) -> bool:
        """Whether the house has accepted the last of these messages in a conversation, and stayed connected."""
        lines = probe.conversation.lines
        last = max((place for place, line in enumerate(lines) if line.side == CLIENT), default=len(lines))
        replies = lines[last + 1 :]
        if probe.house_has_left or probe.fault is not None or len(probe.sent) < len(messages) or not replies:
            return False
        return not any(self._is_refusal(line.message) for line in replies)


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


def _send_after_silence(messages: Sequence[bytes], silence_seconds: float) -> Scenario:
    """Send these messages, the last one after a silence, and listen for a moment."""
    return send_each(*messages[:-1], Wait(silence_seconds), messages[-1], Wait(FIRST_PAUSE_SECONDS))
