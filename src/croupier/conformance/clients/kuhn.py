"""Client test data of Kuhn poker: states, variations of messages, and injected faults."""

from collections.abc import Mapping
from functools import partial
from typing import Final

from croupier.conformance.clients.bench import house_client_suite
from croupier.conformance.clients.test_data import (
    ClientTestData,
    ClientTestState,
    append_to_messages,
    has_house_said,
    many_games,
    next_game,
    reasons_by_clause,
    replace_messages,
    rewrite_each,
    wire_variation,
)
from croupier.conformance.conditions import Condition, after_game, in_game, never_reached
from croupier.conformance.conversation import AnyClientReferee, Conversation
from croupier.core.rules import Seat
from croupier.rooms.kuhn import ROOM
from croupier.rooms.kuhn.rules import BETTING_TREE, P_1, P_2, BettingHistory, KuhnAction, Rank
from croupier.rooms.kuhn.wire import NO_COINS

DECISION_CLAUSES: Final[Mapping[BettingHistory, str]] = {
    (): "kuhn-4.1",
    ("CHK",): "kuhn-4.2",
    ("BET",): "kuhn-4.2",
    ("CHK", "BET"): "kuhn-4.3",
}
"""The clause by which a client acts, by the history of the betting."""

ACTION_NAMES: Final[Mapping[KuhnAction, str]] = {"CHK": "check", "BET": "bet", "CAL": "call", "FLD": "fold"}


def obligation(conversation: Conversation) -> str:
    """The clause by which the client has to act, empty if it need not."""
    game = conversation.referee.game
    if game is None:
        return ""
    return "kuhn-7.3" if has_house_said(conversation, NO_COINS) else DECISION_CLAUSES[game.history]


def idle_obligation(referee: AnyClientReferee) -> str:
    """The clause by which no answer follows a fold of the client, empty if it has not folded."""
    last = referee.last_game
    folded = last is not None and last.history[-1] == "FLD" and BETTING_TREE[last.history[:-1]][0] == last.seat
    return "kuhn-4.7" if folded else ""


def is_at(seat: Seat, *history: KuhnAction) -> Condition:
    """The client has this seat, and the betting has this history."""
    return in_game(lambda game: (game.seat, game.history) == (seat, history))


def is_over(seat: Seat, *history: KuhnAction) -> Condition:
    """A game in this seat has ended with this history."""
    return after_game(lambda game: (game.seat, game.history) == (seat, history))


def is_dealt(rank: Rank) -> Condition:
    """The client holds this card."""
    return in_game(lambda game: game.card == rank)


def _shown(rank: Rank, name: str, decks: str) -> ClientTestState:
    """The house shows this card. What a client fails after shows by its message, whatever the card of the house is."""
    return ClientTestState(
        f"house-shows-{name}",
        f"The house shows the {name}",
        "kuhn-3.1",
        after_game(lambda game: game.house_card == rank),
        f"the house never showed the {name}",
        settings={"bot": "script:CHK,CAL", **RICH_SETTINGS},
        decks=decks,
        shown_by=never_reached,
    )


RICH_SETTINGS: Final[Mapping[str, int]] = {"coins": 1000}
"""A purse that does not run empty."""

SEAT_NOT_REACHED: Final[Mapping[Seat, str]] = {
    P_1: "the client never sat in seat P_1",
    P_2: "the client never sat in seat P_2",
}


def _ending(clause: str, title: str, actions: str, seat: Seat, *history: KuhnAction) -> ClientTestState:
    return ClientTestState(
        f"{'-'.join(ACTION_NAMES[action] for action in history)}-p{seat + 1}",
        title,
        clause,
        is_over(seat, *history),
        f"no game of the client in seat P_{seat + 1} went {' '.join(history)}",
        settings={"bot": f"script:{actions}", **RICH_SETTINGS},
    )


PLAINEST_STATE: Final = ClientTestState(
    "p1-acts",
    "P_1 is dealt a card and acts",
    "kuhn-4.1",
    is_at(P_1),
    SEAT_NOT_REACHED[P_1],
    settings=RICH_SETTINGS,
    allows_goodbye=True,
)
CHECKED_TO_STATE: Final = ClientTestState(
    "p2-is-checked-to",
    "P_2 is dealt a card, the house checks, and the client acts",
    "kuhn-4.2",
    is_at(P_2, "CHK"),
    SEAT_NOT_REACHED[P_2],
    settings={"bot": "script:CHK", **RICH_SETTINGS},
    allows_goodbye=True,
)
BET_AT_STATE: Final = ClientTestState(
    "p2-is-bet-at",
    "P_2 is dealt a card, the house bets, and the client calls or folds",
    "kuhn-4.2",
    is_at(P_2, "BET"),
    SEAT_NOT_REACHED[P_2],
    settings={"bot": "script:BET", **RICH_SETTINGS},
    allows_goodbye=True,
)

STATES: Final = (
    PLAINEST_STATE,
    CHECKED_TO_STATE,
    BET_AT_STATE,
    ClientTestState(
        "check-is-bet-at",
        "P_1 checks, the house bets, and the client calls or folds",
        "kuhn-4.3",
        is_at(P_1, "CHK", "BET"),
        "the client never checked as P_1",
        settings={"bot": "script:BET", **RICH_SETTINGS},
        allows_goodbye=True,
    ),
    _ending("kuhn-5.1", "Two checks are a showdown: the game is over", "CHK", P_1, "CHK", "CHK"),
    _ending("kuhn-4.5", "The client checks after a check: a showdown", "CHK", P_2, "CHK", "CHK"),
    _ending("kuhn-4.4", "The house calls by showing its card: the game is over", "CAL", P_1, "BET", "CAL"),
    _ending("kuhn-5.3", "The house folds to a bet: the game is over without a card", "FLD", P_1, "BET", "FLD"),
    _ending("kuhn-5.2", "The house checks and calls: a showdown", "CHK,CAL", P_2, "CHK", "BET", "CAL"),
    _ending("kuhn-5.3", "The house checks and folds: the game is over", "CHK,FLD", P_2, "CHK", "BET", "FLD"),
    _ending("kuhn-4.6", "The client calls a bet as P_2: a showdown", "BET", P_2, "BET", "CAL"),
    _ending("kuhn-4.6", "The client checks and calls a bet: a showdown", "BET", P_1, "CHK", "BET", "CAL"),
    _ending("kuhn-4.7", "The client folds as P_2, and no answer comes", "BET", P_2, "BET", "FLD"),
    _ending("kuhn-4.7", "The client checks and folds, and no answer comes", "BET", P_1, "CHK", "BET", "FLD"),
    next_game("kuhn-4.10", settings=RICH_SETTINGS),
    many_games("kuhn-2.2", settings={"bot": "random", **RICH_SETTINGS}),
    ClientTestState(
        "king",
        "The client is dealt the king",
        "kuhn-3.1",
        is_dealt("K"),
        "the client was never dealt the king",
        decks="K Q J / Q K J",
        settings=RICH_SETTINGS,
    ),
    ClientTestState(
        "jack",
        "The client is dealt the jack",
        "kuhn-3.1",
        is_dealt("J"),
        "the client was never dealt the jack",
        decks="J Q K / Q J K",
        settings=RICH_SETTINGS,
    ),
    _shown("K", "king", "Q K J / K Q J / J K Q"),
    _shown("Q", "queen", "J Q K / Q J K / K Q J"),
    _shown("J", "jack", "Q J K / J Q K / K J Q"),
    ClientTestState(
        "no-coin-for-the-ante",
        "A STRT that the purse cannot pay is refused: no game has begun",
        "kuhn-7.2",
        lambda conversation: has_house_said(conversation, NO_COINS) and conversation.referee.game is None,
        "the client never asked for a game",
        settings={"coins": 0},
        may_rest=True,
    ),
    ClientTestState(
        "no-coin-for-a-bet",
        "A BET that the purse cannot pay is refused: the decision is still the client's",
        "kuhn-7.3",
        lambda conversation: (
            has_house_said(conversation, NO_COINS)
            and conversation.referee.game is not None
            and len(conversation.referee.game.history) < 2
        ),
        "the client never bet a coin that it did not have",
        settings={"coins": 1, "bot": "script:CHK"},
        decks="K Q J / Q K J",
    ),
    ClientTestState(
        "no-coin-for-a-call",
        "A CAL that the purse cannot pay is refused: the decision is still the client's",
        "kuhn-7.3",
        lambda conversation: (
            has_house_said(conversation, NO_COINS)
            and conversation.referee.game is not None
            and "BET" in conversation.referee.game.history
        ),
        "the client never called with a coin that it did not have",
        settings={"coins": 1, "bot": "script:BET"},
        decks="K Q J / Q K J",
    ),
)

_varied: Final = partial(wire_variation, "kuhn")

VARIATIONS: Final = (
    _varied("2.3", "lower-case", "A house that writes in lower case means the same", rewrite_each(bytes.lower)),
    _varied(
        "2.3", "mixed-case", "A house that writes in letters of both cases means the same", rewrite_each(bytes.title)
    ),
    _varied(
        "2.4",
        "line-ends",
        "A house that ends its messages with CR and LF",
        rewrite_each(lambda data: data + b"\r\n"),
        is_tolerated=True,
    ),
    _varied(
        "2.5",
        "quotes",
        "A house that puts its arguments in quotes",
        rewrite_each(lambda data: data[:5] + b'"' + data[5:] + b'"' if len(data) > 5 else data),
        is_tolerated=True,
    ),
)

INJECTED_FAULTS: Final = (
    _varied("2.6", "unknown-card", "The house deals an unknown card", replace_messages(b"CARD", b"CARD C_A")),
    _varied(
        "2.7",
        "garbage",
        "The house sends bytes that cannot be read",
        replace_messages(b"CARD", b"\xff\xfe\x00\x01\r\n"),
    ),
    _varied("2.7", "http", "The house sends HTTP", replace_messages(b"CARD", b"HTTP/1.1 400 Bad Request\r\n\r\n")),
    _varied("4.8", "calls-aloud", "The house sends ACTN CAL", replace_messages(b"ACTN", b"ACTN CAL")),
    _varied("4.9", "deals-twice", "The house deals a second card", append_to_messages(b"CARD", b"CARD C_J")),
    _varied("4.1", "refuses", "The house refuses what is allowed", replace_messages(b"CARD", b"FAIL W_A")),
    _varied(
        "2.8", "unknown-refusal", "The house refuses with an unknown argument", replace_messages(b"CARD", b"FAIL XYZ")
    ),
    _varied("2.2", "starts-itself", "The house sends STRT", replace_messages(b"CARD", b"STRT P_1")),
)

UNTESTABLE: Final = reasons_by_clause(
    "kuhn",
    {
        "the tester gives the client the address": "1.1",
        "what cannot be read is found in every case, on kuhn-2.6 or kuhn-2.7": "2.1",
        "the deal is the house's": "3.2",
        "a choice that is not in the table fails every case on kuhn-6.1": "3.3",
        "what an action costs does not show on the wire": "3.4",
        "who has won does not show on the wire": "3.5",
        "an action out of turn is found in every case": "6.1",
        "an ACTN without a game is found in every case; those of kuhn-5.3 and kuhn-4.7 tempt a client to it": "6.2",
        "a STRT during a game is found in every case": "6.3",
        "a CARD of the client is found in every case": "6.4",
        "a FAIL of the client changes nothing: none is wrong": "6.5",
        "it binds the house": "6.6 6.7 8.5",
        "the purse is the house's, and the client does not see it": "7.1",
        "what is paid does not show on the wire": "7.4",
        "a client may say DISC or hang up at any time, also without a message": "8.1",
        "what is forfeited does not show on the wire": "8.3",
    },
)

SUITE: Final = house_client_suite(
    ClientTestData(
        room=ROOM,
        states=STATES,
        glued_states=(CHECKED_TO_STATE, BET_AT_STATE),
        variations=VARIATIONS,
        faults=INJECTED_FAULTS,
        obligation=obligation,
        idle_obligation=idle_obligation,
        limit_clause="kuhn-1.4",
        seat_clause="kuhn-1.5",
        closing_clause="kuhn-8.4",
        is_unforeseeable=lambda answer, _: answer == NO_COINS,
        untestable=UNTESTABLE,
    )
)
