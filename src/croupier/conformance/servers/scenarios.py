"""Walks: what a client says in a case where luck is the house's, from one message to a whole evening of games."""

from collections.abc import Sequence
from math import ceil
from typing import Final

from croupier.conformance.servers.scripted_client import ClientScript, HangUp, Wait
from croupier.conformance.servers.test_data import (
    ClientStrategy,
    CoverageGoal,
    Input,
    Scenario,
    ScenarioContext,
    ServerTestState,
)

MAX_MESSAGES: Final = 60
"""So many messages lead to a situation, or to the end of a game, at most."""

POLL_SECONDS: Final = 0.01
"""So many seconds pass between two looks whether the others have begun."""

MAX_REFUSALS: Final = 3
"""So often in a row a client asks for what is refused."""

STUCK_REASON: Final = "the house would not play on"


def send_each(*messages: object) -> Scenario:
    """Say these things, each when the one before it is answered."""

    def play(talk: ScenarioContext) -> ClientScript:
        for what in messages:
            yield talk.encoded(what)
        return None

    return play


def send_ahead(*messages: object) -> Scenario:
    """Say all of these things at once, ahead of their answers."""

    def play(talk: ScenarioContext) -> ClientScript:
        yield b"".join(map(talk.encoded, messages))
        return None

    return play


def stay_silent(seconds: float) -> Scenario:
    """Say nothing, and listen."""

    def play(talk: ScenarioContext) -> ClientScript:  # noqa: ARG001 -- a Play
        yield Wait(seconds)
        return None

    return play


def hang_up_after(*messages: object, cut: int = 0) -> Scenario:
    """Say these things and hang up at once, `cut` bytes before their end."""

    def play(talk: ScenarioContext) -> ClientScript:
        data = b"".join(map(talk.encoded, messages))
        if data:
            yield data[: len(data) - cut]
        yield HangUp()
        return None

    return play


def send_cut_at(offset: int, messages: Sequence[object], seconds: float) -> Scenario:
    """Say all of these things at once, but for a pause before the byte at this place."""

    def play(talk: ScenarioContext) -> ClientScript:
        data = b"".join(map(talk.encoded, messages))
        yield data[:offset]
        yield Wait(seconds)
        yield data[offset:]
        return None

    return play


def go_to_state(context: ScenarioContext, state: ServerTestState) -> ClientScript:
    """Play until the client is in a situation: in the first game, or behind it."""
    for _ in range(MAX_MESSAGES):
        referee = context.referee
        if state.is_reached(referee):
            return None
        if referee.finished_count >= state.max_games:
            break
        says = _next_message(context, state.strategy)
        if says is None:
            break
        yield context.encoded(says)
    return f"the client was never there: {state.title}"


def send_input(state: ServerTestState, given: Input) -> Scenario:
    """Say something in a situation, and see that the game goes on as it has to."""

    def play(talk: ScenarioContext) -> ClientScript:
        missed = yield from go_to_state(talk, state)
        if missed:
            return missed
        yield talk.encoded(given.message)
        yield from play_games(talk, 1 + talk.referee.finished_count + (talk.referee.game is None))
        return None

    return play


def listen_in_state(state: ServerTestState, seconds: float) -> Scenario:
    """Say nothing in a situation for a while; the house has nothing to say either."""

    def play(talk: ScenarioContext) -> ClientScript:
        missed = yield from go_to_state(talk, state)
        if missed:
            return missed
        yield Wait(seconds)
        return None

    return play


def play_games(context: ScenarioContext, finished: int, strategy: ClientStrategy | None = None) -> ClientScript:
    """Play on until so many games are finished, or there is nothing to say."""
    for _ in range(MAX_MESSAGES):
        if context.referee.finished_count >= finished:
            return None
        says = _next_message(context, strategy)
        if says is None:
            break
        yield context.encoded(says)
    return STUCK_REASON


def play_until(goal: CoverageGoal) -> Scenario:
    """Play games until one of them ends as it is wanted."""

    def play(talk: ScenarioContext) -> ClientScript:
        for number in range(goal.max_games):
            stuck = yield from play_games(talk, number + 1, goal.strategy)
            if stuck:
                return stuck
            if goal.is_reached(talk.referee):
                return None
        return "luck has not brought it"

    return play


def play_at_random(games: int, invalid_rate: float) -> Scenario:
    """Play games at random; as often as `blunders` says, say something that is not allowed or means nothing."""

    def play(talk: ScenarioContext) -> ClientScript:
        harmless = [remark for remark in talk.test_data.inputs if remark.slug in talk.test_data.invalid_inputs]
        for _ in range(MAX_MESSAGES + 12 * games):
            if talk.referee.finished_count >= games:
                return None
            if talk.luck.random() < invalid_rate:
                yield talk.encoded(talk.luck.choice(harmless).message)
                continue
            says = _next_message(talk, None)
            if says is None:
                break
            yield talk.encoded(says)
        return STUCK_REASON

    return play


def play_together(clients: int, first: object, games: int) -> Scenario:
    """Begin, wait until so many clients have, and play on at random."""

    def play(talk: ScenarioContext) -> ClientScript:
        yield talk.encoded(first)
        talk.started_clients["begun"] += 1
        for _ in range(ceil((talk.answer_timeout + 0.5) / POLL_SECONDS)):
            if talk.started_clients["begun"] == clients:
                break
            yield Wait(POLL_SECONDS)
        return (yield from play_at_random(games, 0.1)(talk))

    return play


def _next_message(talk: ScenarioContext, aim: ClientStrategy | None) -> object | None:
    """What is said next, None when nothing is allowed."""
    legal = talk.referee.legal
    if all(message in talk.test_data.goodbye_messages for message in legal) or _is_refused_throughout(talk):
        return None
    return (aim or talk.test_data.strategy)(talk.referee, talk.luck)


def _is_refused_throughout(talk: ScenarioContext) -> bool:
    """Whether the house has refused one thing after the other that was right to say."""
    conversation = talk.conversation
    last = conversation.lines[-2 * MAX_REFUSALS :]
    if len(last) < 2 * MAX_REFUSALS or not all(talk.test_data.is_refusal(line.message) for line in last[1::2]):
        return False
    before = len(conversation.lines) - len(last)
    return not (conversation.faults and conversation.faults[-1].line_count > before)
