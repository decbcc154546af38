"""The cases for house servers: transcripts, inputs in every state, deliveries, disconnects and those of the room."""

from collections.abc import Sequence
from functools import partial
from typing import Any, Final

from croupier.conformance.channel.delivery import Delivery
from croupier.conformance.resources import transcripts
from croupier.conformance.servers.bench import HouseBench
from croupier.conformance.servers.components import GAME_RANK, INVALID_INPUT_RANK, VALID_INPUT_RANK, server_case
from croupier.conformance.servers.replay import is_playable, record, replay
from croupier.conformance.servers.scenarios import (
    hang_up_after,
    hang_up_unanswered,
    listen_in_state,
    pause_in_message,
    play_at_random,
    play_meanwhile,
    play_together,
    send_ahead,
    send_cut_at,
    send_each,
    send_input,
    send_refused_twice,
)
from croupier.conformance.servers.scripted_client import Wait
from croupier.conformance.servers.tcp_house import TcpHouse
from croupier.conformance.servers.test_data import HouseServerCase, Scenario, ServerTestData, is_about_answers
from croupier.conformance.suite import FAIR_DEAL_SLUG, Suite

FAIR_DEAL_GAMES: Final = 20
FAIR_DEAL_SECONDS: Final = 2.0
"""How many games are played on a connection to see what is dealt, and how long if too few were dealt before."""

ANSWER_TIMEOUT_SECONDS: Final = 1.5
"""How long a server may take to answer, by default."""

SLOW_MESSAGE_SECONDS: Final = 1.2
"""The pause in a message that arrives slowly: longer than the second after which many servers look at their clock."""

LISTEN_SECONDS: Final = 0.05
"""How long to listen to a house that has nothing to send."""

CONCURRENT_CLIENTS: Final = 8
"""The number of clients that play at the same time."""

REPLAY_SECONDS: Final = 0.15
"""How long a transcript is tried until it comes up by chance."""

RANDOM_GAMES: Final = (
    ("Three games at random", 3, 0.0),
    ("Three games at random, with mistakes now and then", 3, 0.2),
    ("Ten games at random, with mistakes now and then", 10, 0.1),
    ("Three games at random, with more mistakes than moves", 3, 0.6),
)
"""The title of a long conversation, the number of its games, and how often a mistake takes the place of a move."""

DELIVERY_RANK: Final = 3
LONG_RANK: Final = 4
CONCURRENT_RANK: Final = 9
FAIR_DEAL_RANK: Final = 10
"""The order of the last cases: those that nearly every fault breaks, and all deals."""


def house_server_suite(test_data: ServerTestData) -> Suite:
    """Return the suite for the servers of a room."""
    return Suite(
        ANSWER_TIMEOUT_SECONDS,
        lambda: server_cases(test_data),
        test_data.untestable,
        lambda config: HouseBench(test_data, TcpHouse(config.timeout, config.dialect, config.ssl), config),
        test_data,
    )


def server_cases(data: ServerTestData) -> Sequence[HouseServerCase]:
    """Return all cases, in the order of the clauses."""
    cases = (*_replays(data), *_input_cases(data), *_delivery_cases(data), *data.room_cases, *_long_cases(data))
    return sorted(cases, key=lambda case: case.clause_number)


def _replays(test_data: ServerTestData) -> list[HouseServerCase]:
    """The replayed transcripts."""
    return [
        server_case(
            transcript.clauses[0],
            transcript.name,
            transcript.title,
            replay(record(test_data, transcript), is_dialect="dialect" in transcript.head),
            dialect=transcript.head.get("dialect", ""),
            seconds=REPLAY_SECONDS,
            rank=GAME_RANK,
        )
        for transcript in transcripts(test_data.room.name)
        if is_playable(transcript, test_data.harmless_settings)
        and transcript.clauses[0] not in test_data.tolerated_clauses
        and transcript.clauses[0] not in test_data.untestable
    ]


def _input_cases(test_data: ServerTestData) -> list[HouseServerCase]:
    """Every input in every state in which it makes sense."""
    return [
        server_case(
            given.clauses[state.name],
            f"{given.slug}-at-{state.name}",
            f"{given.title}, {state.title}",
            send_input(state, given),
            hits=2,
            rank=VALID_INPUT_RANK if is_about_answers(given.clauses[state.name]) else INVALID_INPUT_RANK,
        )
        for state in test_data.states
        for given in test_data.inputs
        if state.name in given.clauses
    ]


def _longest_command(test_data: ServerTestData) -> object:
    """The longest message that a house accepts somewhere."""
    encode = test_data.room.codec(True, None).encode
    accepted = [
        given.message
        for given in test_data.inputs
        if any(map(is_about_answers, given.clauses.values())) and not isinstance(given.message, bytes)
    ]
    return max(accepted, key=lambda message: len(encode(message)))


def _shared_case(
    test_data: ServerTestData, topic: str, slug: str, title: str, *scenarios: Scenario, **more: Any
) -> HouseServerCase:
    """A case that all rooms share, about the clause of a topic; `more` are further fields of it."""
    return server_case(test_data.shared_clauses[topic], slug, title, *scenarios, **more)


def _long_cases(test_data: ServerTestData) -> list[HouseServerCase]:
    """Long conversations, all that is refused in a state, and the deals of all games."""
    case = partial(_shared_case, test_data, rank=LONG_RANK)
    return [
        *(
            case("unasked", f"stroll-{number}", title, play_at_random(games, invalid_rate), hits=3)
            for number, (title, games, invalid_rate) in enumerate(RANDOM_GAMES, start=1)
        ),
        *(
            case(
                "unchanged",
                f"refused-twice-at-{state.name}",
                f"What is refused is refused again, {state.title}",
                send_refused_twice(state),
            )
            for state in test_data.states
        ),
        case("next", "evening", "Many games on one connection", play_at_random(20, 0.0)),
        server_case(
            test_data.fair_deal.clause,
            FAIR_DEAL_SLUG,
            "The cards of all games are those of freshly shuffled decks",
            play_at_random(FAIR_DEAL_GAMES, 0.0),
            seconds=FAIR_DEAL_SECONDS,
            rank=FAIR_DEAL_RANK,
            judges_deals=True,
        ),
    ]


def _delivery_cases(test_data: ServerTestData) -> list[HouseServerCase]:
    """The same games with bytes that arrive in other chunks, and with clients that disconnect."""
    game, case = test_data.sample_game, partial(_shared_case, test_data, rank=DELIVERY_RANK)
    frames = [test_data.room.codec(True, None).encode(message) for message in game]
    size = sum(map(len, frames))
    again, listen = play_at_random(1, 0.0), send_each(Wait(LISTEN_SECONDS))
    first = len(frames[0])

    return [
        *(
            case(
                "stream",
                f"{number}-bytes-at-a-time",
                f"Messages arrive {number} byte{'s' * (number > 1)} at a time",
                play_at_random(2, 0.0),
                delivery=Delivery(number),
            )
            for number in (1, 2, 3, 5, 7)
        ),
        case(
            "cut",
            "cut-everywhere",
            "A game that is sent at once may be cut at any byte",
            *(send_cut_at(place, game, 0.002) for place in range(1, size)),
            independent=range(size - 1),
        ),
        case("stream", "slow", "A message arrives slowly", send_cut_at(first - 1, game[:1], SLOW_MESSAGE_SECONDS)),
        case("stream", "glued", "All of a game arrives at once", send_ahead(*game)),
        case("stream", "sent-ahead", "Several games are sent ahead of their answers", send_ahead(*game * 5)),
        case(
            "stream",
            "two-games-in-one-piece",
            "A game and the next are glued together",
            send_ahead(*game * 2),
            send_each(*game),
        ),
        case("next", "games-in-a-row", "Games follow each other on one connection", send_each(*game * 3)),
        case(
            "goodbye",
            "goodbye-sent-ahead",
            "What came before a goodbye is still answered",
            send_ahead(*game, *test_data.goodbye) if test_data.goodbye else hang_up_after(*game),
        ),
        case("goodbye", "goodbye-behind-a-game", "A client leaves after a game", send_each(*game, *test_data.goodbye)),
        *(
            case("goodbye", slug, f"A client that {what} does no harm", *hang_up, again)
            for slug, what, *hang_up in (
                ("hang-up-at-once", "hangs up at once", hang_up_after()),
                ("hang-up-in-a-message", "hangs up in the middle of a message", hang_up_after(game[0], cut=1)),
                ("hang-up-in-a-game", "hangs up in the middle of a game", hang_up_after(game[0])),
                (
                    "hang-up-without-reading",
                    "hangs up before it has read its answers",
                    hang_up_unanswered(*game * 5),
                    listen,
                ),
                ("reset-at-once", "resets its connection at once", hang_up_after(resets=True)),
                ("reset-in-a-game", "resets its connection in a game", hang_up_after(game[0], resets=True)),
                (
                    "reset-without-reading",
                    "resets its connection before it has read its answers",
                    hang_up_unanswered(*game * 5, resets=True),
                    listen,
                ),
            )
        ),
        case(
            "tables",
            "many-at-once",
            f"{CONCURRENT_CLIENTS} clients play at the same time, each at a table of its own",
            *[play_together(CONCURRENT_CLIENTS, game[0])] * CONCURRENT_CLIENTS,
            is_concurrent=True,
            rank=CONCURRENT_RANK,
        ),
        case(
            "tables",
            "pause-in-a-message",
            "A client that pauses in the middle of a message does not hold up another one",
            pause_in_message(_longest_command(test_data)),
            play_meanwhile,
            is_concurrent=True,
            rank=CONCURRENT_RANK,
        ),
        case(
            "tables",
            "pause-at-the-start",
            "A client that has sent nothing yet does not hold up another one",
            pause_in_message(game[0], offset=0),
            play_meanwhile,
            is_concurrent=True,
            rank=CONCURRENT_RANK,
        ),
        case(
            "speaks first",
            "client-speaks-first",
            "The house says nothing before the client does",
            listen,
            rank=VALID_INPUT_RANK,
        ),
        *(
            case(
                "unasked",
                f"nothing-unasked-at-{state.name}",
                f"The house says nothing unasked, {state.title}",
                listen_in_state(state, LISTEN_SECONDS),
            )
            for state in test_data.states
        ),
        case(
            "close",
            "no-close-unannounced",
            "The house does not close a connection on which nothing is wrong",
            send_cut_at(size, (*game, game[0]), 3 * LISTEN_SECONDS),
        ),
    ]
