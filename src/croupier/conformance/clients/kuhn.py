"""What the clients of Kuhn poker are tested with."""

from collections.abc import Mapping
from typing import Final

from croupier.conformance.clients import Break, Guests, Situation, Spelling, behind, heard, replaced, rewritten
from croupier.conformance.clients.test_server import Point, Referee
from croupier.conformance.conversation import Conversation
from croupier.core.rules import Seat
from croupier.rooms.kuhn import ROOM
from croupier.rooms.kuhn.rules import BETTING, P_1, P_2, Action, History, Rank
from croupier.rooms.kuhn.wire import NO_COINS

DECIDES: Final[Mapping[History, str]] = {
    (): "kuhn-4.1",
    ("CHK",): "kuhn-4.2",
    ("BET",): "kuhn-4.2",
    ("CHK", "BET"): "kuhn-4.3",
}
"""The clause by which a client decides after what has been done."""

WORDS: Final[Mapping[Action, str]] = {"CHK": "check", "BET": "bet", "CAL": "call", "FLD": "fold"}


def word(talk: Conversation) -> str:
    """The clause by which the client has the word."""
    game = talk.referee.game
    if game is None:
        return ""
    return "kuhn-7.3" if heard(talk, NO_COINS) else DECIDES[game.history]


def rest(referee: Referee) -> str:
    """The clause by which nothing comes behind a fold of the client."""
    last = referee.last
    folded = last is not None and last.history[-1] == "FLD" and BETTING[last.history[:-1]][0] == last.seat
    return "kuhn-4.7" if folded else ""


def at(seat: Seat, *history: Action) -> Point:
    """The client sits there, and so much has been done."""

    def here(talk: Conversation) -> bool:
        game = talk.referee.game
        return game is not None and (game.seat, game.history) == (seat, history)

    return here


def over(seat: Seat, *history: Action) -> Point:
    """A game in this seat has ended like this."""

    def here(talk: Conversation) -> bool:
        last = talk.referee.last
        return talk.referee.game is None and last is not None and (last.seat, last.history) == (seat, history)

    return here


def dealt(rank: Rank) -> Point:
    """The client holds this card."""
    return lambda talk: talk.referee.game is not None and talk.referee.game.card == rank


RICH: Final[Mapping[str, int]] = {"coins": 1000}
"""A purse that does not become empty."""

NEVER: Final[Mapping[Seat, str]] = {P_1: "the client never sat in seat P_1", P_2: "the client never sat in seat P_2"}


def _ending(clause: str, title: str, mind: str, seat: Seat, *history: Action) -> Situation:
    return Situation(
        slug=f"{'-'.join(WORDS[action] for action in history)}-p{seat + 1}",
        title=title,
        clause=clause,
        point=over(seat, *history),
        missing=f"no game of the client in seat P_{seat + 1} went {' '.join(history)}",
        settings={"mind": f"script:{mind}", **RICH},
    )


PLAINEST: Final = Situation(
    slug="p1-acts",
    title="P_1 is dealt a card and acts",
    clause="kuhn-4.1",
    point=at(P_1),
    missing=NEVER[P_1],
    settings=RICH,
    farewell=True,
)
CHECKED_TO: Final = Situation(
    slug="p2-is-checked-to",
    title="P_2 is dealt a card, the house checks, and the client acts",
    clause="kuhn-4.2",
    point=at(P_2, "CHK"),
    missing=NEVER[P_2],
    settings={"mind": "script:CHK", **RICH},
    farewell=True,
)
BET_AT: Final = Situation(
    slug="p2-is-bet-at",
    title="P_2 is dealt a card, the house bets, and the client calls or folds",
    clause="kuhn-4.2",
    point=at(P_2, "BET"),
    missing=NEVER[P_2],
    settings={"mind": "script:BET", **RICH},
    farewell=True,
)

SITUATIONS: Final = (
    PLAINEST,
    CHECKED_TO,
    BET_AT,
    Situation(
        slug="check-is-bet-at",
        title="P_1 checks, the house bets, and the client calls or folds",
        clause="kuhn-4.3",
        point=at(P_1, "CHK", "BET"),
        missing="the client never checked as P_1",
        settings={"mind": "script:BET", **RICH},
        farewell=True,
    ),
    _ending("kuhn-5.1", "Two checks are a showdown: the game is over", "CHK", P_1, "CHK", "CHK"),
    _ending("kuhn-4.5", "The client checks behind a check: a showdown", "CHK", P_2, "CHK", "CHK"),
    _ending("kuhn-4.4", "The house calls by showing its card: the game is over", "CAL", P_1, "BET", "CAL"),
    _ending("kuhn-5.3", "The house folds to a bet: the game is over without a card", "FLD", P_1, "BET", "FLD"),
    _ending("kuhn-5.2", "The house checks and calls: a showdown", "CHK,CAL", P_2, "CHK", "BET", "CAL"),
    _ending("kuhn-5.3", "The house checks and folds: the game is over", "CHK,FLD", P_2, "CHK", "BET", "FLD"),
    _ending("kuhn-4.6", "The client calls a bet as P_2: a showdown", "BET", P_2, "BET", "CAL"),
    _ending("kuhn-4.6", "The client checks and calls a bet: a showdown", "BET", P_1, "CHK", "BET", "CAL"),
    _ending("kuhn-4.7", "The client folds as P_2, and no answer comes", "BET", P_2, "BET", "FLD"),
    _ending("kuhn-4.7", "The client checks and folds, and no answer comes", "BET", P_1, "CHK", "BET", "FLD"),
    Situation(
        slug="next-game",
        title="One game after another on the same connection",
        clause="kuhn-4.10",
        point=lambda talk: talk.referee.finished >= 2,
        missing="the client never played a second game on its connection",
        settings=RICH,
    ),
    Situation(
        slug="many-games",
        title="In ten games nothing is said that is not in the table of messages",
        clause="kuhn-2.2",
        point=lambda talk: talk.referee.finished >= 10,
        missing="the client played fewer than ten games",
        settings={"mind": "random", **RICH},
        games=24,
    ),
    Situation(
        slug="king",
        title="The client is dealt the king",
        clause="kuhn-3.1",
        point=dealt("K"),
        missing="the client was never dealt the king",
        decks="K Q J / Q K J",
        settings=RICH,
    ),
    Situation(
        slug="jack",
        title="The client is dealt the jack",
        clause="kuhn-3.1",
        point=dealt("J"),
        missing="the client was never dealt the jack",
        decks="J Q K / Q J K",
        settings=RICH,
    ),
    Situation(
        slug="no-coin-for-the-ante",
        title="A STRT that the purse cannot pay is refused: no game has begun",
        clause="kuhn-7.2",
        point=lambda talk: heard(talk, NO_COINS) and talk.referee.game is None,
        missing="the client never asked for a game",
        settings={"coins": 0},
        rests=True,
    ),
    Situation(
        slug="no-coin-for-a-bet",
        title="A BET that the purse cannot pay is refused: the decision is still the client's",
        clause="kuhn-7.3",
        point=lambda talk: (
            heard(talk, NO_COINS) and talk.referee.game is not None and len(talk.referee.game.history) < 2
        ),
        missing="the client never bet a coin that it did not have",
        settings={"coins": 1, "mind": "script:CHK"},
    ),
    Situation(
        slug="no-coin-for-a-call",
        title="A CAL that the purse cannot pay is refused: the decision is still the client's",
        clause="kuhn-7.3",
        point=lambda talk: (
            heard(talk, NO_COINS) and talk.referee.game is not None and "BET" in talk.referee.game.history
        ),
        missing="the client never called with a coin that it did not have",
        settings={"coins": 1, "mind": "script:BET"},
    ),
)

SPELLINGS: Final = (
    Spelling(
        slug="lower-case",
        title="A house that speaks in lower case means the same",
        clause="kuhn-2.3",
        habit=rewritten(bytes.lower),
    ),
    Spelling(
        slug="mixed-case",
        title="A house that speaks in letters of both cases means the same",
        clause="kuhn-2.3",
        habit=rewritten(lambda said: said.title()),
    ),
    Spelling(
        slug="line-ends",
        title="A house that ends its messages with CR and LF",
        clause="kuhn-2.4",
        habit=rewritten(lambda said: said + b"\r\n"),
        tolerated=True,
    ),
    Spelling(
        slug="quotes",
        title="A house that puts its arguments in quotes",
        clause="kuhn-2.5",
        habit=rewritten(lambda said: said[:5] + b'"' + said[5:] + b'"' if len(said) > 5 else said),
        tolerated=True,
    ),
)

BREAKS: Final = (
    Break(
        slug="unknown-card",
        title="The house deals a card that is none",
        clause="kuhn-2.6",
        habit=replaced(b"CARD", b"CARD C_A"),
    ),
    Break(
        slug="garbage",
        title="The house says what cannot be read",
        clause="kuhn-2.7",
        habit=replaced(b"CARD", b"\xff\xfe\x00\x01\r\n"),
    ),
    Break(
        slug="http",
        title="The house speaks HTTP",
        clause="kuhn-2.7",
        habit=replaced(b"CARD", b"HTTP/1.1 400 Bad Request\r\n\r\n"),
    ),
    Break(slug="calls-aloud", title="The house says ACTN CAL", clause="kuhn-4.8", habit=replaced(b"ACTN", b"ACTN CAL")),
    Break(
        slug="deals-twice", title="The house deals a second card", clause="kuhn-4.9", habit=behind(b"CARD", b"CARD C_J")
    ),
    Break(
        slug="refuses",
        title="The house refuses what is allowed",
        clause="kuhn-4.1",
        habit=replaced(b"CARD", b"FAIL W_A"),
    ),
    Break(
        slug="unknown-refusal",
        title="The house refuses with an argument that nobody knows",
        clause="kuhn-2.8",
        habit=replaced(b"CARD", b"FAIL XYZ"),
    ),
    Break(slug="starts-itself", title="The house says STRT", clause="kuhn-2.2", habit=replaced(b"CARD", b"STRT P_1")),
)

UNTESTABLE: Final[Mapping[str, str]] = {
    "kuhn-1.1": "the tester tells the client where to connect",
    "kuhn-2.1": "what cannot be read is found in every case, on kuhn-2.6 or kuhn-2.7",
    "kuhn-3.2": "the deal is the house's",
    "kuhn-3.3": "a choice that is not in the table fails every case on kuhn-6.1",
    "kuhn-3.4": "what an action costs is not said on the wire",
    "kuhn-3.5": "who has won is not said on the wire",
    "kuhn-6.1": "an action out of turn is found in every case",
    "kuhn-6.2": "an ACTN without a game is found in every case; those of kuhn-5.3 and kuhn-4.7 tempt a client to it",
    "kuhn-6.3": "a STRT during a game is found in every case",
    "kuhn-6.4": "a CARD of the client is found in every case",
    "kuhn-6.5": "a FAIL of the client is swallowed: none is wrong",
    "kuhn-6.6": "it binds the house",
    "kuhn-7.1": "the purse is the house's, and the client is not told what is in it",
    "kuhn-7.4": "what is paid is not said on the wire",
    "kuhn-8.1": "a client may say DISC or hang up at any time, also without a word",
    "kuhn-8.3": "what is forfeited is not said on the wire",
    "kuhn-8.5": "it binds the house",
}

GUESTS: Final = Guests(
    room=ROOM,
    situations=SITUATIONS,
    glued=(CHECKED_TO, BET_AT),
    spellings=SPELLINGS,
    breaks=BREAKS,
    word=word,
    rest=rest,
    first="kuhn-1.2",
    message="kuhn-2.1",
    stream="kuhn-1.3",
    limit="kuhn-1.4",
    seat="kuhn-1.5",
    goodbye="kuhn-8.2",
    closing="kuhn-8.4",
    untestable=UNTESTABLE,
)
