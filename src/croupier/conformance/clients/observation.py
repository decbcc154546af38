"""What was observed in one try of a client test case."""

from collections.abc import Mapping, Sequence, Set
from itertools import dropwhile, groupby, pairwise, takewhile
from typing import Final

from msgspec import Struct

from croupier.conformance.clients.cases import CaseKind, HouseClientCase
from croupier.conformance.clients.test_data import ClientTestData
from croupier.conformance.clients.test_server import ConversationEnd, Decision, HouseTestServer
from croupier.conformance.conversation import Conversation, DialogueLine
from croupier.conformance.diagnosis.causes import REFUSAL_CODES, is_error, message_code
from croupier.conformance.responders import message_kind
from croupier.core.errors import Violation
from croupier.core.referee import CLIENT, HOUSE

HELD_BACK_SECONDS: Final = 0.3
"""How long an answer is held back to see whether the client sends ahead."""


class ClientObservation(Struct, frozen=True):
    """What was observed in one try of a case.

    `exit_status` is None if the program had to be stopped, otherwise `end` says how it has ended; `seconds` is the
    timeout of a client that has to send something. `has_status`: the program has ended without a failure, here or in
    another try, so that another exit status means a failure.
    """

    test_data: ClientTestData
    case: HouseClientCase
    server: HouseTestServer
    exit_status: int | None
    end: str
    seconds: float
    stderr: bytes
    is_strict: bool
    has_status: bool = False

    @property
    def conversation(self) -> Conversation:
        """The conversation."""
        return self.server.conversation

    @property
    def has_reacted(self) -> bool:
        """Whether the client has sent anything after a message of the house other than a goodbye."""
        goodbyes = self.test_data.room.final_messages
        lines = takewhile(lambda line: line.side == CLIENT or line.message not in goodbyes, self.conversation.lines)
        return any(first.side == HOUSE and second.side == CLIENT for first, second in pairwise(lines))

    @property
    def is_stuck(self) -> bool:
        """The client had to act in a game and did not, or crashed, or repeats a message, or has sent a part of one."""
        server = self.server
        if server.house_fault is not None or server.is_answer_owed or not server.has_spoken:
            return False
        if self.case.kind is CaseKind.PLAY and server.was_left_waiting:
            return False  # nobody has to wait for a late answer
        must_send = bool(server.pending_obligation or self.partial_message)
        if self.has_left:
            was_refused = self.end_with_refusal(self.lines_before_complaint)
            return self.has_crashed and (self.is_killed or (must_send and not was_refused))
        is_silent = server.conversation_end is ConversationEnd.SILENCE
        return server.conversation_end is ConversationEnd.ENDLESS or (is_silent and must_send)

    def end_with_refusal(self, lines: Sequence[DialogueLine]) -> bool:
        """Whether the client has not gone on after a refusal of the house, after which it may give up.

        After a message that requires no answer, or has only exceeded a limit of the house, it may have sent the next
        one before it read the refusal. An error that it reports is no move.
        """
        lines = [line for line in lines if line.side == HOUSE or not is_error(line.message)]
        refusals = [place for place, line in enumerate(lines) if line.side == HOUSE and _is_refusal(line)]
        if not refusals:
            return False
        sides = [side for side, _ in groupby(lines[refusals[-1] :], lambda line: line.side)]
        refused = self.conversation.start_again().replay(lines[: refusals[-1]])
        is_unanswered = refused.referee.pending is None or self.server.limit_fault is not None
        return sides == [HOUSE] or (sides == [HOUSE, CLIENT, HOUSE] and is_unanswered)

    @property
    def has_complained(self) -> bool:
        """Whether the client has reported an error, said goodbye, and left."""
        last, goodbyes = self.conversation.lines[-2:], self.test_data.room.final_messages
        has_said_both = [line.side for line in last] == [CLIENT, CLIENT] and last[1].message in goodbyes
        return has_said_both and self._is_complaint(last[0]) and not self.server.is_ending

    @property
    def _has_hung_up_with_complaint(self) -> bool:
        """Whether the last message of a client that has left is an error that it reports."""
        has_left = self.server.conversation_end is ConversationEnd.CLIENT and not self.server.is_closing
        return has_left and bool(self.conversation.lines) and self._is_complaint(self.conversation.lines[-1])

    def _is_complaint(self, line: DialogueLine) -> bool:
        """Whether the client reports an error, other than one that announces its own end."""
        return line.side == CLIENT and is_error(line.message) and line.message not in self.test_data.farewell_errors

    @property
    def has_failed_with_goodbye(self) -> bool:
        """Whether the program has said goodbye where it had to go on with the game, and then failed."""
        said = self._lines_without_farewell[-1:]
        is_goodbye = bool(said) and said[0].side == CLIENT and said[0].message in self.test_data.room.final_messages
        has_failed = self.has_status and bool(self.exit_status) and not self.server.is_ending
        return is_goodbye and has_failed and bool(self.server.last_decision.clause)

    @property
    def _lines_without_farewell(self) -> Sequence[DialogueLine]:
        """The dialogue without the goodbye with which the house answers that of the client."""
        lines, goodbyes = self.conversation.lines, self.test_data.room.final_messages
        has_answered = bool(lines) and lines[-1].side == HOUSE and lines[-1].message in goodbyes
        return lines[:-1] if has_answered else lines

    @property
    def lines_before_complaint(self) -> Sequence[DialogueLine]:
        """The dialogue without the error and the goodbye of a client that has complained, or failed with a goodbye."""
        if self.has_failed_with_goodbye:
            return self._lines_without_farewell[:-1]
        return self.conversation.lines[:-2] if self.has_complained else self.conversation.lines

    @property
    def has_left(self) -> bool:
        """Whether the client has ended the conversation, other than by a goodbye in good order."""
        has_failed = self.has_complained or self.has_failed_with_goodbye
        return self.server.conversation_end is ConversationEnd.CLIENT or has_failed

    @property
    def has_crashed(self) -> bool:
        """Whether the program has failed by itself, or reports an error and leaves.

        Its exit status does not count once the house says goodbye.
        """
        has_failed = bool(self.exit_status) and not self.server.is_closing
        has_failed = has_failed or self.has_failed_with_goodbye
        return has_failed or self.has_complained or self._has_hung_up_with_complaint

    @property
    def is_killed(self) -> bool:
        """Whether a signal has ended the program."""
        return self.exit_status is not None and self.exit_status < 0

    @property
    def has_given_up(self) -> bool:
        """Whether the client has left in good order before the end of a game, or of its first game.

        The house ends a conversation by itself if the client has left the transcript.
        """
        server = self.server
        if server.deviation:
            return False
        has_ended = server.conversation_end in {ConversationEnd.CLIENT, ConversationEnd.HOUSE} and not server.is_ending
        has_finished = server.referee.finished_count > 0 and not server.pending_obligation
        return has_ended and not (server.fault or server.house_fault or has_finished or self.is_stuck)

    @property
    def has_left_unprovoked(self) -> bool:
        """Whether the client has left a game in good order in which nothing was unusual: it may do so anywhere."""
        goodbyes = self.test_data.room.final_messages
        lines = [line for line in self.lines_before_complaint if line.message not in goodbyes]
        was_refused = self.end_with_refusal(lines)
        return self.case.kind is CaseKind.PLAY and self.has_given_up and not (was_refused or self.has_crashed)

    @property
    def has_left_early(self) -> bool:
        """Whether a client has left, or failed, where it may only do so if it has a reason of its own."""
        return self.has_broken_off or (self._is_varied and (self.has_given_up or self.server.was_left_waiting))

    @property
    def has_broken_off(self) -> bool:
        """Whether the program has failed between two games, when it had received what the case is about.

        Whether it should have gone on shows in a baseline with one more game. A client with few coins may give up.
        """
        server = self.server
        is_between_games = server.referee.finished_count > 0 and not server.pending_obligation
        has_left_there = (
            self.has_left
            and server.has_reached_state
            and server.messages_since_state == self.has_complained
            and (server.fault, server.house_fault) == (None, None)
        )
        return (
            self.case.kind in {CaseKind.PLAY, CaseKind.VARIATION, CaseKind.TOLERANCE}
            and self.has_crashed
            and is_between_games
            and has_left_there
            and self._has_usual_purse
        )

    @property
    def _has_usual_purse(self) -> bool:
        """Whether the house gives the client at least as many coins as in the baseline."""
        room, baseline = self.test_data.room, self.case.baseline
        settings = {} if baseline is None else baseline.state.settings
        here, usually = (room.settings(**given) for given in (self.case.state.settings, settings))
        return room.initial_purse(here) >= room.initial_purse(usually)

    @property
    def needs_baseline(self) -> bool:
        """Whether the verdict depends on what the client does in the baseline."""
        if self.server.fault is not None or self.partial_message:
            return self.case.kind is CaseKind.TOLERANCE
        return self.is_stuck or self.is_idle or (self._is_varied and self.has_given_up)

    @property
    def _is_varied(self) -> bool:
        """Whether the house varies its messages, or how they arrive."""
        return self.case.kind in {CaseKind.VARIATION, CaseKind.TOLERANCE}

    @property
    def answers_before_fault(self) -> Mapping[bytes, float]:
        """The answers before the client's fault that it could not foresee, and for how long to hold them back.

        If the client sends its message nevertheless, it has sent ahead.
        """
        fault, lines = self.server.fault, self.conversation.lines
        if fault is None:
            return {}
        *before, sent = lines[: fault.sent_index + 1]
        answers = takewhile(lambda line: line.side == HOUSE, reversed(before))
        is_unforeseeable = self.test_data.is_unforeseeable
        return {line.data: HELD_BACK_SECONDS for line in answers if is_unforeseeable(line.message, sent.message)}

    @property
    def partial_message(self) -> bytes:
        """The beginning of a message that the client has not ended; a reset may have cut one that it has."""
        return b"" if self.server.was_reset else self.conversation.incomplete(CLIENT)

    @property
    def is_idle(self) -> bool:
        """The client was silent where no game was in progress, without a goodbye."""
        return (
            self.server.conversation_end is ConversationEnd.SILENCE
            and self.server.has_spoken
            and not self.server.pending_obligation
            and not self.partial_message
        )

    def matches(self, baseline: "ClientObservation", decision: Decision) -> bool:
        """Whether the client plays on in the baseline, and has come to the same decision and the same state there."""
        has_decided = not decision.clause or decision in baseline.server.decisions
        has_passed = baseline.has_passed_state or not self.server.has_reached_state
        return baseline.has_played_on and has_decided and has_passed

    def goes_on_after(self, games: int) -> bool:
        """Whether the client plays on, and more games than this."""
        return self.has_played_on and self.server.referee.finished_count > games

    @property
    def has_played_on(self) -> bool:
        """Nothing was wrong, and a game was finished."""
        quiet = not (self.is_stuck or self.is_idle or self.server.fault)
        return quiet and self.server.referee.finished_count > 0

    @property
    def has_passed_state(self) -> bool:
        """Whether the client has gone on after the state of the case.

        What it sends before an answer that is no refusal may have been sent ahead.
        """
        server = self.server
        since_answer = dropwhile(lambda line: line.side == CLIENT or _is_refusal(line), server.lines_since_state)
        has_gone_on = any(line.side == CLIENT and not is_error(line.message) for line in since_answer)
        return server.has_reached_state and (server.is_state_between_games or has_gone_on)

    @property
    def failed_decision(self) -> Decision:
        """What the client had to decide when it failed."""
        server = self.server
        return server.pending if server.fault is None or not server.decisions else server.decisions[-1]

    @property
    def may_have_misread(self) -> bool:
        """Whether the last messages of the house arrived together or in pieces, or began to, and it was the first time.

        A client that has gone on after such an arrival reads it correctly, unless it has gone on before the last piece.
        """
        server, lines = self.server, self.conversation.lines
        if server.fault is not None:
            is_between_games = not self.failed_decision.clause and not self._is_waiting(self.failed_decision)
            lines = lines[: server.fault.sent_index + 1]
            if type(lines.pop().message) is Violation or is_between_games:
                return False
        lines = [line for line in lines if line.at < server.ending_since]
        if self.partial_message or not lines:
            return False
        if lines[-1].side == CLIENT:
            return bool(server.early_rest or self.conversation.incomplete(HOUSE))
        *before, last = [[*run] for side, run in groupby(lines, lambda line: line.side) if side == HOUSE]
        return not self._arrivals(last) <= {arrival for flight in before for arrival in self._arrivals(flight)}

    @property
    def may_have_acted_early(self) -> bool:
        """Whether several messages of the house came before a wrong message of the client, or before one in a game.

        A client that acts at the first one of them goes wrong there, or where it answers the others.
        """
        fault, lines = self.server.fault, self.conversation.lines
        if fault is None or type(lines[fault.sent_index].message) is Violation:
            return False
        before, sides = self.conversation.start_again(), [line.side for line in lines]
        for at, line in enumerate(lines[: fault.sent_index + 1]):
            is_after_several = at > 1 and sides[at - 2 : at + 1] == [HOUSE, HOUSE, CLIENT]
            if is_after_several and (at == fault.sent_index or before.referee.game is not None):
                return True
            before.on_data(line.side, line.data, line.at)
        return False

    def _arrivals(self, flight: Sequence[DialogueLine]) -> Set[str]:
        """In which unusual ways messages that were sent without an answer in between have arrived, by the first one."""
        max_bytes = self.case.setup.delivery.max_piece_bytes
        is_cut = 0 < max_bytes < max(len(line.data) for line in flight)
        together = f"together after {message_code(flight[0].message)}"
        return {*[together] * (len(flight) > 1), *["in pieces"] * is_cut}

    def _is_waiting(self, decision: Decision) -> bool:
        """Whether there was nothing to decide, because the house owed an answer."""
        return not decision.kinds - {message_kind(message) for message in self.test_data.room.final_messages}

    def has_met(self, decision: Decision) -> bool:
        """Whether the client has come to a decision; without conditions if it had to wait for the house there."""
        met = (*self.server.decisions, self.failed_decision)
        return self._is_waiting(decision) or decision in met


def _is_refusal(line: DialogueLine) -> bool:
    return message_code(line.message) in REFUSAL_CODES
