"""Experiments that find out why a case has failed: the same messages are sent in another way, or with line ends.

Luck decides what the house answers, so every experiment has a control: the failure has to come up again with the
messages as they were, and must not come up once with the others.
"""

from collections.abc import Callable, Sequence
from enum import Enum, auto
from functools import partial
from itertools import takewhile, zip_longest
from typing import Any, Final

from croupier.conformance.channel.delivery import WHOLE, Delivery
from croupier.conformance.conversation import Conversation, DialogueLine
from croupier.conformance.diagnosis.cause import ONE_READ_CAUSE, SPELLING_MATTERS, WAITS_FOR_LINE_END, Cause
from croupier.conformance.diagnosis.causes import REFUSAL_CODES, byte_order_cause
from croupier.conformance.diagnosis.dialect import DialectReader
from croupier.conformance.diagnosis.layouts import LAYOUTS, byte_orders
from croupier.conformance.diagnosis.pairs import MAX_CHANCE, MAX_PAIRS, one_sided_chance
from croupier.conformance.diagnosis.unread import unread_part
from croupier.conformance.results import Outcome
from croupier.conformance.servers.closes import MIN_CONFIRMATIONS, ProvokedCloseDetector
from croupier.conformance.servers.conversing import Conversations
from croupier.conformance.servers.scenarios import play_at_random
from croupier.conformance.servers.scripted_client import ScriptedClient
from croupier.conformance.servers.test_data import Reading, ServerTestData
from croupier.conformance.servers.verdicts import (
    canonical_messages,
    client_messages,
    failing_dialogue,
    is_fatal,
    whole_messages,
)
from croupier.conformance.suite import Attempt, Config
from croupier.core.errors import FoundKind, Violation
from croupier.core.referee import CLIENT, HOUSE

MIXES_UP_MESSAGES: Final = Cause(
    "it takes what one read brings for one message, or handles a message before the one before it is done: "
    "the same messages pass when each is sent alone"
)
HOLDS_ANSWERS_BACK: Final = Cause(
    "it does not answer a message as long as only the beginning of the next one is there: "
    "the same messages pass when each is sent alone"
)
CHANGED_BY_REFUSALS: Final = Cause("a message that it refuses changes its state: without that message, the others pass")
NEITHER_READS_NOR_REFUSES: Final = Cause(
    "it neither reads what it need not accept nor refuses it as unreadable: without that, the same messages pass"
)
CHANGED_BY_ERRORS: Final = Cause("it does not discard an error of the client: without it, the other messages pass")
ENDS_AT_ERRORS: Final = Cause("it does not discard an error of the client: it ends the conversation")
LOSES_SLOW_MESSAGES: Final = Cause(
    "it does not read a message whose pieces arrive with a pause between them: the same messages pass without it"
)
ENDS_IN_MESSAGE: Final = Cause("it ends the conversation when only the beginning of a message has arrived")
ENDS_AT_REFUSALS: Final = Cause("it ends the conversation at a message that it only has to refuse")
ENDS_AFTER_GAMES: Final = Cause("it ends the conversation when a game is over")
MISREAD_FAULTS: Final = 4
MIN_MISREAD_CONVERSATIONS: Final = 5
ENOUGH_CONVERSATIONS: Final = 25
MAX_MISREAD_CONVERSATIONS: Final = 400
"""A wrong reading of the rules has to explain all conversations, until the house was at fault in this many of them.

If it is at fault less often, one of at least 25 conversations will do. Only conversations with other cards count.
"""

FIRST_MESSAGES: Final = 4
"""The number of messages of the house in which the first cards of a conversation come."""

GAMES_A_CONVERSATION: Final = 8


type Change = Callable[[Sequence[DialogueLine]], Sequence[bytes]]
"""Makes other messages of the client from a dialogue; none if the change does not apply to it."""

type Experiment = tuple[Change, str, Cause]
"""A change, and the clause and the cause if only the original messages fail."""


class Comparison(Enum):
    """What has been found out by sending the messages of a failure in two ways."""

    ONLY_THE_ORIGINAL_FAILS = auto()
    UNDECIDED = auto()


class Experiments:
    """Explains the failures of a house by experiments, as long as `has_time` returns true."""

    def __init__(
        self,
        test_data: ServerTestData,
        conversations: Conversations,
        close_detector: ProvokedCloseDetector,
        config: Config,
        has_time: Callable[[], bool],
    ) -> None:
        self._test_data = test_data
        self._conversations = conversations
        self._close_detector = close_detector
        self._config = config
        self._has_time = has_time

    async def explain(
        self, clause: str, delivery: Delivery, attempt: Attempt, describe: Callable[[ScriptedClient], Attempt]
    ) -> Attempt:
        """Return the failure of a case about `clause` on the clause, and with the cause, that experiments find.

        `describe` returns the failure of a conversation.
        """
        if (misreading := await self._find_misreading(whole_messages(attempt.dialogue))) is not None:
            return attempt.blamed(misreading.clause, Cause(misreading.title))
        messages = client_messages(attempt.dialogue)
        is_in_message = attempt.is_close and len(b"".join(messages)) < len(b"".join(attempt.steps))
        if is_in_message and delivery != WHOLE:
            messages = [*attempt.steps]
        elif is_in_message and self._is_about_pieces(clause) and await self._closes_only_after_last(attempt.steps):
            return attempt.blamed(self._test_data.shared_clauses["stream"], ENDS_IN_MESSAGE)
        if messages and (delivery != WHOLE or messages != [*attempt.steps]):
            found = await self._compare(attempt.steps, messages, delivery)
            if found is Comparison.ONLY_THE_ORIGINAL_FAILS:
                stream_cause = await self._stream_cause(attempt, messages)
                return attempt.blamed(self._test_data.shared_clauses["stream"], stream_cause)
            if found is Comparison.UNDECIDED:
                return await self._explain_slowness(clause, attempt, messages)
            if found.fault is None:
                provoked = await self._close_detector.find_provoked(found, WHOLE)
                return describe(provoked.probe) if provoked is not None and provoked.is_certain else attempt
            attempt = describe(found)
            messages = client_messages(attempt.dialogue)
        if messages and attempt.is_silence:
            line_ended = [message + b"\n" for message in messages]
            found = await self._compare(messages, line_ended, WHOLE)
            if found is Comparison.ONLY_THE_ORIGINAL_FAILS and not await self._refuses_last(line_ended):
                return attempt.blamed(self._test_data.shared_clauses["cut"], WAITS_FOR_LINE_END)
        if (cause := await self._find_byte_order(messages)) is not None:
            return attempt.blamed(cause.clause, cause)
        if messages and attempt.is_close and await self._closes_at_error(attempt, messages):
            return attempt.blamed(self._test_data.shared_clauses["errors"], ENDS_AT_ERRORS)
        return await self._explain_by_changes(clause, attempt, messages)

    async def explain_refusal(self, attempt: Attempt) -> Attempt:
        """Blame the reader if a house that always refuses a message accepts it in the opposite order of its bytes."""
        cause = await self._find_byte_order(client_messages(attempt.dialogue))
        return attempt if cause is None else attempt.blamed(cause.clause, cause)._replace(outcome=Outcome.FAIL)

    async def _explain_slowness(self, clause: str, attempt: Attempt, messages: Sequence[bytes]) -> Attempt:
        """Blame a pause in a message for a silence if the house accepts the messages and their pieces without it."""
        if not (attempt.is_silence and self._is_about_pieces(clause) and await self._close_detector.accepts(messages)):
            return attempt
        for _ in range(MIN_CONFIRMATIONS):
            if (await self._conversations.send_quickly(attempt.steps, WHOLE)).fault is not None:
                return attempt
        return attempt.blamed(self._test_data.shared_clauses["stream"], LOSES_SLOW_MESSAGES)

    async def _explain_by_changes(self, clause: str, attempt: Attempt, messages: Sequence[bytes]) -> Attempt:
        """Find out whether other messages pass: in upper case, or without those that change nothing."""
        spelling: Experiment = (
            partial(canonical_messages, self._conversations.new_conversation()),
            clause,
            SPELLING_MATTERS,
        )
        for change, blamed, cause in (spelling, *self._omissions(attempt)):
            others = change(whole_messages(attempt.dialogue))
            if others and others != messages:
                found = await self._compare(messages, others, WHOLE, change)
                if found is Comparison.ONLY_THE_ORIGINAL_FAILS and cause is SPELLING_MATTERS:
                    return attempt.blamed(blamed, cause)
                if found is Comparison.ONLY_THE_ORIGINAL_FAILS:
                    return await self._blamed_or_unread(attempt, change, blamed, cause)
        return attempt

    async def explain_tolerated(self, clause: str, attempt: Attempt) -> Attempt:
        """Blame `clause` if the house fails only where a message comes as it need not accept it.

        Not if its answer cannot be read: that may be the refusal, in another spelling.
        """
        if attempt.dialogue and isinstance(attempt.dialogue[-1].message, Violation):
            return attempt
        sent = [line.data for line in attempt.dialogue if line.side == CLIENT]
        change = partial(canonical_messages, self._conversations.new_conversation())
        others = change(whole_messages(attempt.dialogue))
        if not others or others == sent:
            return attempt
        found = await self._compare(sent, others, WHOLE, change)
        is_shown = found is Comparison.ONLY_THE_ORIGINAL_FAILS
        return attempt.blamed(clause, NEITHER_READS_NOR_REFUSES) if is_shown else attempt

    async def explain_close(self, attempt: Attempt) -> Attempt:
        """Blame a message that changes nothing if the house says goodbye after it, and goes on without it."""
        messages = client_messages(attempt.dialogue)
        for change, blamed, cause in self._omissions(attempt):
            others = change(whole_messages(attempt.dialogue))
            if others and others != messages and await self._close_detector.accepts(others):
                return await self._blamed_or_unread(attempt, change, blamed, cause)
        return attempt

    def _omissions(self, attempt: Attempt) -> Sequence[Experiment]:
        """The experiments that leave out messages which change nothing."""
        shared = self._test_data.shared_clauses
        kinds = {self._test_data.kind_of(line.message) for line in self._refused(whole_messages(attempt.dialogue))}
        clauses = {self._test_data.refusal_clauses.get(kind, shared["unchanged"]) for kind in kinds}
        unchanged = clauses.pop() if len(clauses) == 1 else shared["unchanged"]
        return (
            (self._without_errors, shared["errors"], CHANGED_BY_ERRORS),
            (self._without_refused, unchanged, CHANGED_BY_REFUSALS),
        )

    async def _blamed_or_unread(self, attempt: Attempt, change: Change, clause: str, cause: Cause) -> Attempt:
        """Blame the reader if the house answers a message that makes the difference before all of it has arrived."""
        dialogue = whole_messages(attempt.dialogue)
        kept, sent = change(dialogue), client_messages(dialogue)
        for place, data in enumerate(sent):
            if data in kept or not self._has_time():
                continue
            probe = await self._conversations.send([*sent[:place], data[:-1]])
            unread = unread_part(self._test_data.room.name, data[:-1])
            if unread is not None and _has_answered_beginning(probe, data[:-1]):
                return attempt.blamed(unread.cause.clause, unread.cause)
        return attempt.blamed(clause, cause)

    async def _closes_at_error(self, attempt: Attempt, messages: Sequence[bytes]) -> bool:
        """Whether the last message is an error of the client, and the house always closes after it, and only then."""
        last = next((line for line in reversed(attempt.dialogue) if line.side == CLIENT), None)
        return last is not None and self._is_error_report(last) and await self._closes_only_after_last(messages)

    def _is_about_pieces(self, clause: str) -> bool:
        shared = self._test_data.shared_clauses
        return clause in {shared["stream"], shared["cut"]}

    async def _closes_only_after_last(self, messages: Sequence[bytes]) -> bool:
        """Whether the house always closes after these bytes of the client, and never without the last of them."""
        for _ in range(MIN_CONFIRMATIONS):
            probe = await self._conversations.send_slowly(messages)
            control = await self._conversations.send_slowly(messages[:-1])
            if not probe.house_has_left or control.house_has_left or control.fault is not None:
                return False
        return True

    async def explain_unread(self, attempt: Attempt) -> Attempt:
        """Blame the reader if no cause is known, and the house answers the beginning of the last message and goes on.

        Its first answer to the whole message was right, and another one came after it. It has to answer the beginning
        in the same way: a house that handles every read twice refuses that. Without that message it has to be silent:
        it may send something unasked.
        """
        assert attempt.failure is not None, "only failures are explained"
        if attempt.failure.cause is not None or [line.side for line in attempt.dialogue[-2:]] != [HOUSE, HOUSE]:
            return attempt
        if attempt.is_close and not self._test_data.is_refusal(attempt.dialogue[-1].message):
            return attempt  # it has said goodbye after its answer
        *before, last = client_messages(attempt.dialogue) or [b""]
        layout = LAYOUTS[self._test_data.room.name].layout
        code = next((code for code, fields in layout.items() if fields and last.startswith(code)), b"")
        for piece in (code, last[: len(code) + 1]) if code else ():
            if not self._has_time():
                break
            probe = await self._conversations.send([*before, piece])
            if _has_answered_beginning(probe, piece) and self._has_answered_alike(probe, attempt.dialogue):
                control = await self._conversations.send_slowly(before)
                if control.fault is not None or control.house_has_left:
                    break
                cause = Cause(f"it does not read the whole of {code.decode()}")
                return attempt.blamed(self._test_data.shared_clauses["cut"], cause)
        return attempt

    def _has_answered_alike(self, probe: ScriptedClient, dialogue: Sequence[DialogueLine]) -> bool:
        """Whether the first wrong answer is a refusal just if the first answer to the last message is one."""
        *_, first = takewhile(lambda line: line.side == HOUSE, reversed(dialogue))
        end = len(probe.conversation.lines) if probe.fault is None else probe.fault.line_count
        answers = (probe.conversation.lines[end - 1], first)
        return len({self._test_data.is_refusal(line.message) for line in answers}) == 1

    async def _find_misreading(self, dialogue: Sequence[DialogueLine]) -> Reading | None:
        """Return the wrong reading of the rules that explains a failure, and all games that are played now."""
        readings = self._test_data.readings
        if not readings or readings[0].explains(dialogue):
            return None
        right, *wrong = readings
        possible = [each for each in wrong if each.explains(dialogue)]
        if self._conversations.misreading in possible:
            return self._conversations.misreading
        deals: set[Sequence[bytes]] = set()
        faulty_deals: set[Sequence[bytes]] = set()
        for number in range(MAX_MISREAD_CONVERSATIONS):
            if not possible or len(faulty_deals) == MISREAD_FAULTS or not self._has_time():
                break
            if number >= MIN_MISREAD_CONVERSATIONS and len(deals) == 1:
                return None  # a house that always deals the same cards shows nothing about others
            probe = await self._conversations.play(play_at_random(GAMES_A_CONVERSATION, 0.0))
            lines = probe.conversation.lines
            deal = tuple(line.data for line in lines if line.side == HOUSE)[:FIRST_MESSAGES]
            deals.add(deal)
            possible = [each for each in possible if each.explains(lines)]
            if not right.explains(lines):
                faulty_deals.add(deal)
        is_shown = len(faulty_deals) == MISREAD_FAULTS or (faulty_deals and len(deals) >= ENOUGH_CONVERSATIONS)
        if not (possible and is_shown):
            return None
        self._conversations.misreading = possible[0]
        return possible[0]

    async def _stream_cause(self, attempt: Attempt, messages: Sequence[bytes]) -> Cause:
        """Return the cause of a house that fails only by how its messages arrive: perhaps single bytes show it."""
        probe = await self._conversations.send_quickly(messages, Delivery(max_piece_bytes=1))
        if probe.fault is not None:
            return ONE_READ_CAUSE
        rest = b"".join(line.data for line in attempt.dialogue[len(whole_messages(attempt.dialogue)) :])
        if attempt.is_silence and rest:
            probe = await self._conversations.send_quickly([*messages[:-1], messages[-1] + rest], WHOLE)
            if probe.fault is not None and probe.fault.verdict.violation.kind is FoundKind.SILENCE:
                return HOLDS_ANSWERS_BACK
        return MIXES_UP_MESSAGES

    async def _find_byte_order(self, messages: Sequence[bytes]) -> Cause | None:
        """Return a cause if the house answers numbers or characters rightly only by the opposite order of their bytes.

        A conversation without a fault shows nothing: it may have ended before the integers mattered. Where an answer
        has several messages, the first wrong one ends the conversation: then both orders have to show the cause.
        """
        for order in byte_orders(self._test_data.room.name):
            swapped = [DialectReader(order).feed(message) for message in messages]
            if swapped != messages and self._has_time():
                cause = await self._compare_byte_orders(swapped, messages)
                if cause is not None:
                    return cause
        return None

    async def _compare_byte_orders(self, swapped: Sequence[bytes], messages: Sequence[bytes]) -> Cause | None:
        """Return the cause that messages in both orders of bytes show, if they do."""
        probe = await self._conversations.send_quickly(swapped, WHOLE)
        if probe.fault is None:
            return None
        control = await self._conversations.send_quickly(messages, WHOLE)
        cause = self._byte_order_cause(probe)
        if cause is not None or control.fault is None:
            return cause
        if (cause := self._byte_order_cause(control)) is not None:
            return cause
        return self._byte_order_cause(probe, is_cut=True) and self._byte_order_cause(control, is_cut=True)

    def _byte_order_cause(self, probe: ScriptedClient, *, is_cut: bool = False) -> Cause | None:
        """As `byte_order_cause`; no order of bytes explains a close, nor a conversation that ends with a silence."""
        kind = None if probe.fault is None else probe.fault.verdict.violation.kind
        if kind is FoundKind.CLOSED or (is_cut and kind is not FoundKind.MESSAGE):
            return None
        room, options, strict = self._test_data.room, self._config.known_options, self._config.strict
        return byte_order_cause(room, probe.conversation, probe.wire_log, options, strict=strict, is_cut=is_cut)

    async def _compare(
        self,
        original: Sequence[bytes],
        others: Sequence[bytes],
        delivery: Delivery,
        change: Change | None = None,
    ) -> Comparison | ScriptedClient:
        """Send both in turn; return the first conversation with the others that fails or ends, or what is decided.

        If a `change` makes the others from the original, a failure counts where it makes the same others from it: luck
        may have decided what is refused.
        """
        failures = 0
        for pairs in range(1, MAX_PAIRS + 1):
            if not self._has_time():
                break
            probe = await self._conversations.send_quickly(others, WHOLE)
            if probe.fault is not None:
                return probe
            if self._was_sent_away(probe):
                return probe
            if _has_unreadable(probe.conversation):
                return Comparison.UNDECIDED
            control = await self._conversations.send_quickly(original, delivery)
            if control.fault is not None:
                dialogue = failing_dialogue(control.conversation, control.fault)
                failures += change is None or [*change(dialogue)] == [*others]
            if one_sided_chance(pairs, failures) < MAX_CHANCE:
                return Comparison.ONLY_THE_ORIGINAL_FAILS
        return Comparison.UNDECIDED

    def _was_sent_away(self, probe: ScriptedClient) -> bool:
        """Whether the house has said goodbye and left before the client did: that is no proof that all is well."""
        lines, data = probe.conversation.lines, self._test_data
        if not probe.house_has_left or not lines or not data.farewell_rule.is_goodbye(lines[-1].message):
            return False
        return not any(line.side == CLIENT and line.message in data.goodbye for line in lines)

    async def _refuses_last(self, messages: Sequence[bytes]) -> bool:
        """Whether the house refuses the last of these messages; it may refuse the line end rather than the message."""
        lines = (await self._conversations.send_quickly(messages, WHOLE)).conversation.lines
        return bool(lines) and self._test_data.is_refusal(lines[-1].message)

    def _without_errors(self, dialogue: Sequence[DialogueLine]) -> Sequence[bytes]:
        """The messages of the client without its errors; empty if the last one is an error."""
        sent = [line for line in dialogue if line.side == CLIENT]
        if not sent or self._is_error_report(sent[-1]):
            return []
        return [line.data for line in sent if not self._is_error_report(line)]

    def _is_error_report(self, line: DialogueLine) -> bool:
        """Whether a message of the client reports an error, also one without a meaning."""
        if isinstance(line.message, Violation) and not line.message.fatal:
            return any(line.data.upper().startswith(code.encode()) for code in REFUSAL_CODES)
        return self._test_data.is_refusal(line.message)

    def _without_refused(self, dialogue: Sequence[DialogueLine]) -> Sequence[bytes]:
        """The messages of the client without those that change nothing; empty if the last one is such a message.

        Also empty if the house has sent bytes without a meaning: they may be the rest of a refusal.
        """
        if dialogue and isinstance(dialogue[-1].message, Violation):
            return []
        sent, refused = [line for line in dialogue if line.side == CLIENT], self._refused(dialogue)
        if not sent or any(line is sent[-1] for line in refused):
            return []
        return [line.data for line in sent if not any(line is one for one in refused)]

    def _refused(self, dialogue: Sequence[DialogueLine]) -> Sequence[DialogueLine]:
        """The messages of the client that change nothing, because a house refuses or discards them."""
        conversation = self._conversations.new_conversation()
        found: list[DialogueLine] = []
        for line, reply in zip_longest(dialogue, dialogue[1:-1]):
            faults_before = len(conversation.faults_of(CLIENT))
            conversation.on_data(line.side, line.data, 0.0)
            if line.side == CLIENT:
                is_refused = reply is not None and reply.side == HOUSE and self._test_data.is_refusal(reply.message)
                is_wrong = len(conversation.faults_of(CLIENT)) > faults_before or self._is_error(line.message)
                found += [line] * (is_refused or is_wrong)
        return found

    def _is_error(self, message: Any) -> bool:
        """Whether a message of the client reports an error, announces a goodbye without being one, or is unreadable."""
        data = self._test_data
        is_announcement = data.farewell_rule.is_goodbye(message) and message not in data.goodbye
        return isinstance(message, Violation) or data.is_refusal(message) or is_announcement


def _has_answered_beginning(probe: ScriptedClient, piece: bytes) -> bool:
    """Whether the house has answered the beginning of a message, and goes on."""
    is_answered = probe.conversation.incomplete(CLIENT) == piece and probe.wire_log[-1][0] == HOUSE
    return is_answered and not probe.house_has_left


def _has_unreadable(conversation: Conversation) -> bool:
    """Whether the client has sent what a house cannot read: its answer says nothing about the messages."""
    return any(line.side == CLIENT and is_fatal(line.message) for line in conversation.lines)
