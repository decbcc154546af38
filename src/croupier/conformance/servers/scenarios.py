"""Scenarios: what a client sends in a test case, from a single message to many games."""

from collections.abc import Callable, Iterator, Sequence
from math import ceil
from random import Random
from typing import Concatenate, Final

from croupier.conformance.conditions import Condition
from croupier.conformance.conversation import AnyClientReferee
from croupier.conformance.servers.scripted_client import ClientScript, HangUp, Wait
from croupier.conformance.servers.test_data import ClientStrategy, Input, Scenario, ScenarioContext, ServerTestState
from croupier.core.errors import Violation
from croupier.core.referee import CLIENT, HOUSE

MAX_MESSAGES: Final = 60
"""At most this many messages are sent to reach a state, or the end of a game."""

POLL_SECONDS: Final = 0.01
"""The pause between two checks whether the other clients have started."""

CONCURRENT_GAMES: Final = 3
"""How many games each of the clients plays that play at the same time."""

MAX_REFUSALS: Final = 3
"""After this many refusals in a row of allowed messages the client gives up."""

STUCK_REASON: Final = "the house would not play on"
POOR_REASON: Final = "the client has nothing left to stake"


def scenario[**P](script: Callable[Concatenate[ScenarioContext, P], ClientScript]) -> Callable[P, Scenario]:
    """Turn a script that takes more than its context into a maker of scenarios, which is called with the rest."""

    def make(*args: P.args, **kwargs: P.kwargs) -> Scenario:
        return lambda context: script(context, *args, **kwargs)

    return make


@scenario
def send_each(context: ScenarioContext, *actions: object) -> ClientScript:
    """Send these messages, each after the answer to the one before it. A Wait or a HangUp may stand between them."""
    for action in actions:
        yield action if isinstance(action, Wait | HangUp) else context.encoded(action)
    return None


@scenario
def send_ahead(context: ScenarioContext, *messages: object) -> ClientScript:
    """Send all of these messages at once, ahead of their answers."""
    yield b"".join(map(context.encoded, messages))
    return None


@scenario
def hang_up_after(context: ScenarioContext, *messages: object, cut: int = 0, resets: bool = False) -> ClientScript:
    """Send these messages without their last `cut` bytes, and disconnect, or reset, after their answers."""
    data = b"".join(map(context.encoded, messages))
    if data:
        yield data[: len(data) - cut]
    yield HangUp(resets=resets)
    return None


@scenario
def hang_up_unanswered(context: ScenarioContext, *messages: object, resets: bool = False) -> ClientScript:
    """Send these messages, and disconnect, or reset, before their answers come."""
    yield HangUp(b"".join(map(context.encoded, messages)), resets)
    return None


@scenario
def send_cut_at(context: ScenarioContext, offset: int, messages: Sequence[object], seconds: float) -> ClientScript:
    """Send all of these messages at once, except for a pause before the byte at `offset`."""
    data = b"".join(map(context.encoded, messages))
    yield data[:offset]
    yield Wait(seconds)
    yield data[offset:]
    return None


def go_to_state(context: ScenarioContext, state: ServerTestState) -> ClientScript:
    """Play until the client is in a state: in the first game, or after it."""
    for _ in range(MAX_MESSAGES):
        referee = context.referee
        if state.is_reached(context.conversation):
            return None
        if referee.finished_count >= state.max_games:
            break
        message = _next_message(context, state.strategy)
        if message is None:
            break
        yield context.encoded(message)
    return f"the client never came to this state: {state.title}"


@scenario
def send_input(context: ScenarioContext, state: ServerTestState, given: Input) -> ClientScript:
    """Send an input in a state, and check that the game continues correctly, and begin the next one.

    The answer to that shows what the house thinks that the client has.
    """
    missed = yield from go_to_state(context, state)
    if missed:
        return missed
    yield context.encoded(given.message)
    games = 1 + context.referee.finished_count + (context.referee.game is None)
    stuck = yield from play_games(context, games)
    if context.conversation.incomplete(HOUSE):
        stuck = yield from play_games(context, games + 1)  # the next answer shows what it belongs to
    opening = context.test_data.sample_game[0]
    if not stuck and opening in context.referee.legal:
        yield context.encoded(opening)
    return stuck if context.referee.legal else None


@scenario
def send_refused_twice(context: ScenarioContext, state: ServerTestState) -> ClientScript:
    """Send everything twice in a row that is not allowed in a state, and check that the game goes on."""
    missed = yield from go_to_state(context, state)
    if missed:
        return missed
    games = context.referee.finished_count + 1
    for given in context.test_data.inputs:
        data = context.encoded(given.message)
        if _is_out_of_place(context, given.clauses.get(state.name), data):
            yield data
            yield data
    return (yield from play_games(context, games))


def _is_out_of_place(context: ScenarioContext, clause: str | None, data: bytes) -> bool:
    """Whether bytes that a clause is about are not allowed now, and the conversation goes on after them."""
    if clause is None or clause in context.test_data.tolerated_clauses:
        return False
    conversation = context.conversation.start_again().replay(context.conversation.lines)
    lines, legal = [*conversation.lines], conversation.referee.legal
    conversation.on_data(CLIENT, data, 0.0)
    added = [line.message for line in conversation.lines[len(lines) :]]
    is_whole = len(added) == 1 and not conversation.incomplete(CLIENT)
    is_fatal = any(isinstance(message, Violation) and message.fatal for message in added)
    return is_whole and not is_fatal and added[0] not in legal


@scenario
def listen_in_state(context: ScenarioContext, state: ServerTestState, seconds: float) -> ClientScript:
    """Send nothing in a state for a while; the house has nothing to send either."""
    missed = yield from go_to_state(context, state)
    if missed:
        return missed
    yield Wait(seconds)
    return None


def play_games(context: ScenarioContext, finished: int, strategy: ClientStrategy | None = None) -> ClientScript:
    """Play until this many games are finished, or there is nothing left to send."""
    for _ in range(MAX_MESSAGES + 12 * finished):
        if context.referee.finished_count >= finished:
            return None
        message = _next_message(context, strategy)
        if message is None:
            break
        yield context.encoded(message)
    return _stuck_reason(context)


@scenario
def play_until(
    context: ScenarioContext,
    is_reached: Condition,
    strategy: ClientStrategy | None,
    max_games: int,
) -> ClientScript:
    """Play at most this many games until one of them reaches a coverage goal, or a client that plays meanwhile does."""
    for number in range(max_games):
        stuck = yield from play_games(context, number + 1, strategy)
        if stuck:
            return stuck
        if is_reached(context.conversation):
            context.progress["reached"] += 1
            return None
        if context.progress["reached"]:
            return "another client has reached it"
    return f"it did not occur in {max_games} games"


@scenario
def play_at_random(context: ScenarioContext, games: int, invalid_rate: float) -> ClientScript:
    """Play games at random; with probability `invalid_rate` send an invalid input instead of a move."""
    invalid_inputs = [each for each in context.test_data.inputs if each.slug in context.test_data.invalid_inputs]

    def strategy(referee: AnyClientReferee, luck: Random) -> object:
        if luck.random() < invalid_rate:
            return luck.choice(invalid_inputs).message
        return context.test_data.strategy(referee, luck)

    return (yield from play_games(context, games, strategy))


@scenario
def play_together(context: ScenarioContext, clients: int, first: object, then: Scenario | None = None) -> ClientScript:
    """Start a game, wait until this many clients have, and play on: what is given, or at random with mistakes."""
    yield context.encoded(first)
    context.progress["begun"] += 1
    yield from _wait_for_others(context, "begun", clients)
    return (yield from (then or play_at_random(CONCURRENT_GAMES, 0.1))(context))


@scenario
def pause_in_message(context: ScenarioContext, message: object, offset: int = -1) -> ClientScript:
    """Send a message that may be refused: its bytes from `offset` on only when another client has played."""
    data = context.encoded(message)
    if offset:
        yield data[:offset]
    context.progress["begun"] += 1
    yield from _wait_for_others(context, "reached", 1)
    yield data[offset:]
    return None


def play_meanwhile(context: ScenarioContext) -> ClientScript:
    """Play a game while another client is in the middle of a message."""
    yield from _wait_for_others(context, "begun", 1)
    stuck = yield from play_games(context, 1)
    context.progress["reached"] += 1
    return stuck


def _wait_for_others(context: ScenarioContext, what: str, clients: int) -> Iterator[Wait]:
    """Wait until this many clients have got there; not longer than they may take for an answer."""
    for _ in range(ceil((context.answer_timeout + 0.5) / POLL_SECONDS)):
        if context.progress[what] >= clients:
            break
        yield Wait(POLL_SECONDS)


def _next_message(context: ScenarioContext, strategy: ClientStrategy | None) -> object | None:
    """Choose the next message, None if nothing but a goodbye is allowed or the house refuses everything."""
    legal = context.referee.legal
    if all(message in context.test_data.goodbye for message in legal) or _is_refused_throughout(context):
        return None
    return (strategy or context.test_data.strategy)(context.referee, context.luck)


def _stuck_reason(context: ScenarioContext) -> str:
    """Why the client could not play on, with the last message if the house has refused it."""
    last = context.conversation.lines[-2:]
    if len(last) < 2 or not context.test_data.is_refusal(last[1].message):
        return STUCK_REASON
    if last[1].message in context.test_data.refusals_of_payment:
        return POOR_REASON
    return f"{STUCK_REASON}: it answers {last[0].message} with {last[1].message}"


def _is_refused_throughout(context: ScenarioContext) -> bool:
    """Whether the house has refused the last few messages although they were allowed."""
    conversation = context.conversation
    last = conversation.lines[-2 * MAX_REFUSALS :]
    if len(last) < 2 * MAX_REFUSALS or not all(context.test_data.is_refusal(line.message) for line in last[1::2]):
        return False
    before = len(conversation.lines) - len(last)
    return not (conversation.faults and conversation.faults[-1].line_count > before)
