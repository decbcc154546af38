"""Finds what a client does not handle: what it had just received wherever it failed, and nowhere where it went on."""

from collections import Counter
from collections.abc import Container, Iterable, Iterator, Sequence
from itertools import pairwise
from typing import Final, NamedTuple

from croupier.conformance.clients.cases import CaseKind
from croupier.conformance.clients.observation import ClientObservation
from croupier.conformance.clients.test_data import ClientTestData
from croupier.conformance.clients.test_server import ConversationEnd
from croupier.conformance.conversation import Conversation, DialogueLine
from croupier.conformance.diagnosis.cause import Cause
from croupier.conformance.diagnosis.causes import REFUSAL_CODES, is_error, message_code
from croupier.conformance.diagnosis.layouts import LAYOUTS
from croupier.conformance.diagnosis.unread import unread_part
from croupier.core.referee import CLIENT, HOUSE

MIN_FAILURES: Final = 2
"""A client has to fail this often after a message before the message is named."""

MIN_FATAL_FAILURES: Final = 8
"""A client that fails between two games has to fail this often after the same message, and go on as often otherwise."""

REPLY: Final = 0
STATE: Final = 1
STATE_IN_GAME: Final = 2
GAMES: Final = 3
EXACT: Final = 4
"""The levels of features: a reply, a state of the test data, such a state in a game, games, a reply with its values."""

REFUSAL_FIELD_BYTES: Final = 2
"""A client that expects another message than a refusal gives up after this many bytes of its first field."""


class Feature(NamedTuple):
    """Something that a client has just received: the `clause` about it, and words that complete "it never goes on".

    `code` is that of a message, `state` the slug of a state of the test data. The most general features have the lowest
    `level`.
    """

    level: int
    clause: str
    words: str
    code: str = ""
    state: str = ""


class EarlyReaction(NamedTuple):
    """What a client did not wait for, and the code of the message. `has_gone_on`: it has sent a message of its own."""

    cause: Cause
    code: str
    has_gone_on: bool


type Position = frozenset[Feature]
"""What a client had just received when it had to go on, or might."""


class Evidence:
    """All positions of the conversations of a run: those in which the client failed, and those in which it went on."""

    def __init__(self) -> None:
        self._survived: Counter[Feature] = Counter()
        self._handled_codes: set[str] = set()
        self._failed: list[Position] = []
        self._failed_cases: dict[Feature, set[str]] = {}
        self._failed_without_variation: set[Feature] = set()
        self._unread: dict[str, Cause] = {}

    def add(self, observation: ClientObservation, *, has_failed: bool) -> None:
        """Record a conversation. `has_failed`: the client has not gone on at its end."""
        fault, lines = observation.server.fault, observation.lines_before_complaint
        judged = lines if fault is None else lines[: fault.sent_index]
        for is_last, position in _read_positions(observation, judged):
            if not is_last:
                self._survived.update(position)
                self._handled_codes.update(feature.code for feature in position)
            elif has_failed:
                self._failed.append(position)
                for feature in position:
                    self._failed_cases.setdefault(feature, set()).add(observation.case.id)
                if observation.case.kind is not CaseKind.VARIATION:
                    self._failed_without_variation |= position

    def add_reaction(self, position: Position, reaction: EarlyReaction) -> None:
        """Record at which message a client has failed, or gone on too early, that otherwise handles such messages.

        If it has failed, the cause is neither another message nor that one comes at all.
        """
        if reaction.has_gone_on:
            self._unread[reaction.code] = reaction.cause
        else:
            replies = (each for each in position if each.code)
            self._survived.update(each for each in replies if each.level == REPLY or each.code != reaction.code)

    def unread_before(self, observation: ClientObservation) -> Cause | None:
        """What is wrong with the last message that the client had answered when it failed, if it does not read it."""
        lines = observation.lines_before_complaint
        answered = (first.message for first, second in pairwise(lines) if (first.side, second.side) == (HOUSE, CLIENT))
        return self._unread.get(message_code(next(reversed([*answered]), None)))

    def has_handled(self, code: str) -> bool:
        """Whether the client has gone on after a message with this code; not if it is empty."""
        return bool(code) and code in self._handled_codes

    def candidates(self, position: Position) -> Sequence[Feature]:
        """What may be the cause of a failure: what the client has never gone on after."""
        return [feature for feature in position if not self._survived[feature]]

    def cause(self, position: Position) -> Cause | None:
        """Return the cause of a failure: what explains most failures of all, the most general first."""
        if not self._survived:
            return None
        found = self.candidates(position)
        counts = {feature: self._count_failures(feature) for feature in found}
        likeliest = max(found, key=lambda each: (counts[each], -each.level, each), default=None)
        if likeliest is None or counts[likeliest] < MIN_FAILURES:
            return None
        return Cause(f"it never goes on {likeliest.words}", clause=likeliest.clause)

    def cause_without_variation(self, position: Position) -> Cause | None:
        """Return the cause of a failure after a variation of the house's messages if it lies in something else."""
        is_known = not self._failed_without_variation.isdisjoint(self.candidates(position))
        return self.cause(position) if is_known else None

    def is_fatal(self, position: Position) -> bool:
        """Whether a client that fails between two games fails after a certain message, and only after that one."""
        ends = [failed for failed in self._failed if self._replies(failed) == self._replies(position)]
        for feature in self.candidates(position):
            kind = (feature.level, feature.clause, feature.code)
            others = sum(n for other, n in self._survived.items() if (other.level, other.clause, other.code) == kind)
            if feature.level == EXACT and len(ends) >= MIN_FATAL_FAILURES <= others:
                return all(feature in failed for failed in ends)
        return False

    def _count_failures(self, feature: Feature) -> int:
        """The number of failures that a feature may explain, or another one on its clause if it is no message.

        A certain message has to come before failures in several cases: one case may have the same cards in each try.
        """
        if feature.level == EXACT:
            return len(self._failed_cases.get(feature, ()))
        return sum(
            any((each.clause, each.level < EXACT) == (feature.clause, True) for each in self.candidates(failed))
            for failed in self._failed
        )

    @staticmethod
    def _replies(position: Position) -> frozenset[Feature]:
        return frozenset(feature for feature in position if feature.level == REPLY)


def _read_positions(observation: ClientObservation, lines: Iterable[DialogueLine]) -> Iterator[tuple[bool, Position]]:
    """Yield where the house had sent all its replies, and whether the client has sent nothing afterwards."""
    test_data = observation.test_data
    replayed = observation.conversation.start_again()
    goodbyes = test_data.room.final_messages
    replies: list[Feature] = []
    has_received = False
    for line in lines:
        if line.side == HOUSE and line.message in goodbyes:
            break
        if line.side == CLIENT and is_error(line.message):
            replayed.on_data(line.side, line.data, line.at)
            continue  # who complains has not gone on
        if line.side == CLIENT:
            if has_received and line.message not in goodbyes:
                yield False, _position(test_data, replayed, replies)
            replies.clear()
        elif (pending := replayed.referee.pending) is not None:
            replies += _features_of(line.message, pending.clause, frozenset(replies))
        has_received = line.side == HOUSE
        replayed.on_data(line.side, line.data, line.at)
    if has_received:
        yield True, _position(test_data, replayed, replies)


def _features_of(message: object, clause: str, earlier: Container[Feature]) -> Iterator[Feature]:
    """The features of a message of the house as the reply that a clause requires; a refusal is not that reply.

    `earlier` are the features of the messages before it that the client had not answered either.
    """
    code = message_code(message)
    if code not in REFUSAL_CODES:
        reply = Feature(REPLY, clause, f"after {code}, the reply of {clause}", code)
        yield reply
        if reply in earlier:
            yield Feature(REPLY, clause, f"after several {code} in the reply of {clause}", code)
        yield Feature(EXACT, clause, f"after {message}, the reply of {clause}", code)


def _position(test_data: ClientTestData, conversation: Conversation, replies: Iterable[Feature]) -> Position:
    """The features of a position. A client that has to act in a game may yet go on in the same state after a game.

    The number of games is one where the client has gone on after fewer.
    """
    is_between_games, games = conversation.referee.game is None, conversation.referee.finished_count
    levels = (STATE,) if is_between_games else (STATE, STATE_IN_GAME)
    shown = [
        Feature(level, state.clause, f"in the state '{state.title}'", state=state.slug)
        for state in test_data.states
        if state.shows(conversation)
        for level in levels
    ]
    if is_between_games and games > 1:
        shown.append(Feature(GAMES, test_data.next_game_clause, f"after {games} games on one connection"))
    return frozenset((*replies, *shown))


def last_position(observation: ClientObservation) -> Position | None:
    """Return where the client failed to go on, None if it had sent something itself and had to wait for nothing."""
    positions = _read_positions(observation, observation.lines_before_complaint)
    return next((position for is_last, position in positions if is_last), None)


# What a client does not wait for.


def early_reaction(observation: ClientObservation) -> EarlyReaction | None:
    """Return what the client did not wait for when the house sent one byte after the other, None if it waited.

    A client that goes on, or gives up, in the middle of a message does not read that message. One that gives up within
    a code has read too little of the message before it.
    """
    server, lines = observation.server, observation.conversation.lines
    if server.early_rest and (unread := _unread_reaction(observation, server.early_rest, has_gone_on=True)) is not None:
        return unread
    replayed = observation.conversation.start_again()
    for line in lines:
        is_move = line.side == CLIENT and message_code(line.message) not in REFUSAL_CODES
        if is_move and (cause := unawaited_reply(replayed)) is not None:
            return EarlyReaction(cause, "", has_gone_on=True)
        replayed.replay([line])
    if server.conversation_end is ConversationEnd.SILENCE:
        return None  # what is incomplete is the goodbye of the house, which has waited for the client in vain
    rest = observation.conversation.incomplete(HOUSE)
    code_length = len(next(iter(LAYOUTS[observation.test_data.room.name].layout)))
    if len(rest) < code_length:
        last = next((line.data for line in reversed(lines) if rest and line.side == HOUSE), b"")
        return _unread_reaction(observation, last[:-1])
    is_refusal = rest[:code_length].decode("latin-1").upper() in REFUSAL_CODES
    is_unexpected = len(rest) <= code_length + 1 + REFUSAL_FIELD_BYTES * is_refusal
    return None if is_unexpected else _unread_reaction(observation, rest)


def unawaited_reply(before: Conversation) -> Cause | None:
    """Return what is wrong with a message of the client after these: the house owes it a reply. None if it does not.

    Nobody waits for a refusal.
    """
    pending = before.referee.pending
    if pending is None or message_code(pending) in REFUSAL_CODES:
        return None
    return Cause(f"it does not wait for the reply that {pending.clause} requires", clause=pending.clause)


def _unread_reaction(observation: ClientObservation, read: bytes, *, has_gone_on: bool = False) -> EarlyReaction | None:
    """The reaction to a message of the house of which the client has only read these bytes."""
    unread = unread_part(observation.test_data.room.name, read)
    return None if unread is None else EarlyReaction(unread.cause, unread.code, has_gone_on)
