"""Server test data of Kuhn poker: states, inputs, goals and cases of its own."""

from collections.abc import Sequence
from functools import partial
from itertools import permutations
from random import Random
from typing import Final

from croupier.conformance.conditions import Condition, GameCondition, before_first_game, between_games, in_game
from croupier.conformance.conversation import AnyClientReferee, DialogueLine
from croupier.conformance.fair_deal import Deal, Draw
from croupier.conformance.servers.cases import house_server_suite
from croupier.conformance.servers.components import (
    GameGoals,
    StateClauses,
    room_case,
    shared_clauses,
    untestable_clauses,
)
from croupier.conformance.servers.deals import FairDealRule
from croupier.conformance.servers.kuhn_coins import COIN_CASES, play_randomly, play_to_call, spend_purse, tracking
from croupier.conformance.servers.kuhn_referee import SEQUENCE_CLAUSES, PurseObserver
from croupier.conformance.servers.scenarios import play_games, send_each
from croupier.conformance.servers.scripted_client import ClientScript
from croupier.conformance.servers.test_data import (
    FarewellRule,
    Input,
    Reading,
    ScenarioContext,
    ServerTestData,
    ServerTestState,
)
from croupier.core.errors import Violation
from croupier.core.referee import HOUSE
from croupier.rooms.kuhn import ROOM
from croupier.rooms.kuhn.referee import WireGame
from croupier.rooms.kuhn.rules import CARDS, BettingHistory, Rank
from croupier.rooms.kuhn.wire import ACTN, CARD, DISC, NO_COINS, STRT, WRONG_ACTION, Card, Fail, Message, Strt


def _after(*history: str) -> Condition:
    """Whether a game with this history is in progress and the client is to act."""
    return in_game(lambda game: game.history == history)


def _check_or_fold(seat: str, referee: AnyClientReferee, luck: Random) -> object:  # noqa: ARG001 -- a ClientStrategy
    """Take this seat, and check or fold."""
    if referee.game is None:
        return STRT[seat]
    return ACTN["CHK"] if ACTN["CHK"] in referee.legal else ACTN["FLD"]


_as_first: Final = partial(_check_or_fold, "P_1")
_as_second: Final = partial(_check_or_fold, "P_2")

STATES: Final = (
    ServerTestState("start", "before the first game", before_first_game),
    ServerTestState("between", "between two games", between_games),
    ServerTestState("card", "as the first to act", _after(), _as_first),
    ServerTestState("check", "after a check of the house", _after("CHK"), _as_second),
    ServerTestState("bet", "after a bet of the house", _after("BET"), _as_second),
    ServerTestState("check-bet", "after a check of its own and a bet", _after("CHK", "BET"), _as_first),
)

_clauses: Final = StateClauses(
    "kuhn",
    {
        "idle": ("start", "between"),
        "start": ("start",),
        "playing": ("card", "check", "bet", "check-bet"),
        "card": ("card",),
        "check": ("check",),
        "bet": ("bet", "check-bet"),
    },
)
_all: Final = _clauses.everywhere

INPUTS: Final = (
    Input("strt-p1", "STRT P_1", STRT["P_1"], _clauses(idle="4.10", start="4.1", playing="6.3")),
    Input("strt-p2", "STRT P_2", STRT["P_2"], _clauses(idle="4.10", start="4.2", playing="6.3")),
    Input("chk", "ACTN CHK", ACTN["CHK"], _clauses(idle="6.2", card="4.3", check="4.5", bet="6.1")),
    Input("bet", "ACTN BET", ACTN["BET"], _clauses(idle="6.2", card="4.4", check="4.4", bet="6.1")),
    Input("cal", "ACTN CAL", ACTN["CAL"], _clauses(idle="6.2", card="6.1", check="6.1", bet="4.6")),
    Input("fld", "ACTN FLD", ACTN["FLD"], _clauses(idle="6.2", card="6.1", check="6.1", bet="4.7")),
    Input("card-from-the-client", "CARD C_K", CARD["K"], _all("6.4")),
    Input("fail-w-a-from-the-client", "FAIL W_A", WRONG_ACTION, _all("6.5")),
    Input("fail-n-c-from-the-client", "FAIL N_C", NO_COINS, _all("6.5")),
    Input("unknown-fail", "FAIL XYZ, an unknown argument", b"FAIL XYZ", _all("2.8")),
    Input("unknown-seat", "STRT P_3, an unknown argument", b"STRT P_3", _all("2.6")),
    Input("unknown-action", "ACTN RSE, an unknown argument", b"ACTN RSE", _all("2.6")),
    Input("unknown-card", "CARD C_A, an unknown argument", b"CARD C_A", _all("2.6")),
    Input("unknown-code", "HELO, an unknown code", b"HELO", _all("2.7")),
    Input("mistyped-start", "STRX, with a wrong last letter", b"STRX P_1", _clauses(idle="2.7")),
    Input("mistyped-action", "ACTX, with a wrong last letter", b"ACTX CHK", _clauses(playing="2.7")),
    Input("no-space", "a code without its space", b"STRT-P_1", _all("2.7")),
    Input("http-request", "a request of a browser", b"GET / HTTP/1.1\r\nHost: croupier\r\n\r\n", _all("2.7")),
    Input("bytes-that-are-no-letters", "four bytes that are no letters", b"\x00\xff\x80\x01", _all("2.7")),
    Input("goodbye", "DISC", DISC, _all("8.1")),
    Input("strt-in-small-letters", "strt p_2", b"strt p_2", _clauses(idle="2.3")),
    Input("chk-in-small-letters", "actn chk", b"actn chk", _clauses(card="2.3", check="2.3")),
    Input("cal-in-mixed-letters", "Actn Cal", b"Actn Cal", _clauses(bet="2.3")),
)
INVALID_INPUTS: Final = frozenset(
    {
        *("strt-p1", "strt-p2", "chk", "bet", "cal", "fld", "card-from-the-client", "fail-w-a-from-the-client"),
        *("fail-n-c-from-the-client", "unknown-fail", "unknown-seat", "unknown-action", "unknown-card"),
    }
)


def play_for_showdown(referee: AnyClientReferee, luck: Random) -> object:
    """Play so that the game ends with a showdown."""
    legal = referee.legal
    if referee.game is None:
        return luck.choice([*STRT.values()])
    return ACTN["CAL"] if ACTN["CAL"] in legal else luck.choice([ACTN["CHK"], ACTN["BET"]])


def _follow(seat: str, history: BettingHistory, referee: AnyClientReferee, luck: Random) -> Message:
    """Take this seat, and the actions of the sequence as long as the house does."""
    if referee.game is None:
        return STRT[seat]
    turn = len(referee.game.history)
    is_ours = referee.game.history == history[:turn]
    return ACTN[history[turn]] if is_ours else play_randomly(referee, luck)


def _has_dealt(own: Rank, shown: Rank | None = None) -> GameCondition:
    """Whether the client had this card, and the house has shown that one."""
    return lambda game: game.card == own and shown in {None, game.house_card}


def _has_run(seat: str, history: BettingHistory) -> GameCondition:
    """Whether the client had this seat, and these were the actions."""
    return lambda game: (("P_1", "P_2")[game.seat], game.history) == (seat, history)


ENOUGH_DEALS: Final = 190
"""With a fair deck, the probability that one of six deals never comes to one of two seats is then less than 10^-6."""

DEALING_PURSES: Final = 12
"""The purses with which the deals are looked for: each is good for some 20 games."""

MAX_GOAL_GAMES: Final = 4
"""The games on a connection that aim at a goal: a purse of 10 coins is good for them."""

_goal: Final = GameGoals("kuhn", max_games=MAX_GOAL_GAMES)
_showdown: Final = GameGoals("kuhn", play_for_showdown, MAX_GOAL_GAMES)

GOALS: Final = (
    *(_goal("3.1", f"dealt-{own.lower()}", f"The client is dealt C_{own}", _has_dealt(own)) for own in CARDS),
    *(
        _showdown(
            "5.4",
            f"{own.lower()}-against-{shown.lower()}",
            f"The client has C_{own}, and the house shows C_{shown}",
            _has_dealt(own, shown),
        )
        for own, shown in permutations(CARDS, 2)
    ),
    _goal("4.8", "house-calls-by-showing", "The house calls by showing its card", _has_run("P_1", ("BET", "CAL"))),
    _goal(
        "4.8",
        "house-checks-by-showing",
        "The house checks after a check by showing its card",
        _has_run("P_1", ("CHK", "CHK")),
    ),
    *(
        GameGoals("kuhn", partial(_follow, seat, history), MAX_GOAL_GAMES)(
            clause.removeprefix("kuhn-"),
            f"{'-'.join(history).lower()}-{seat.lower()}",
            f"As {seat}: {' '.join(history)}",
            _has_run(seat, history),
        )
        for seat in STRT
        for history, clause in SEQUENCE_CLAUSES.items()
    ),
)

_case: Final = partial(room_case, "kuhn")


def _missing_deals(context: ScenarioContext) -> Sequence[tuple[int, Rank, Rank]]:
    """The seat and the cards of client and house that never came, and cannot have come in an unfinished game."""
    seen = {(game.seat, game.card, game.house_card) for game in _dealt_games(context)}
    return [
        (seat, own, shown)
        for seat in range(len(STRT))
        for own, shown in permutations(CARDS, 2)
        if not {(seat, own, shown), (seat, own, None)} & seen
    ]


def _dealt_games(context: ScenarioContext) -> Sequence[WireGame]:
    return [game for each in (*context.earlier, context.conversation) for game in each.dealt_games]


def see_deals(context: ScenarioContext) -> ClientScript:
    """Check and call in every game, so that the house shows its card whatever it does, until all deals have come."""
    referee = tracking(context.referee)
    while _missing_deals(context) and len(_dealt_games(context)) < ENOUGH_DEALS and referee.coins_left > 1:
        if (yield from play_games(context, referee.finished_count + 1, play_to_call)):
            break
    return None


def find_missing_deal(context: ScenarioContext) -> ClientScript:
    """Check that every two cards have come in both seats."""
    yield from see_deals(context)
    missing = _missing_deals(context)
    if not missing:
        return None
    count = len(_dealt_games(context))
    if count < ENOUGH_DEALS:
        return f"fewer than {ENOUGH_DEALS} games were dealt"
    seat, own, shown = missing[0]
    found = f"in none of {count} games C_{own} for the client as P_{seat + 1} and C_{shown} for the house"
    raise Violation("kuhn-3.2", found, "every two cards, as often as any others")


ROOM_CASES: Final = (
    *COIN_CASES,
    _case(
        "3.2",
        "every-deal",
        "Client and house are dealt every two cards",
        *[see_deals] * DEALING_PURSES,
        find_missing_deal,
        independent=range(DEALING_PURSES),
    ),
    _case(
        "2.4",
        "line-ends-between-messages",
        "Line ends and spaces between messages",
        send_each(b"STRT P_1\r\n", b"\n ACTN BET", b"\r\nSTRT P_1\n"),
    ),
    _case(
        "6.7",
        "refusals-change-nothing",
        "What is refused changes nothing",
        send_each(ACTN["BET"], STRT["P_1"], STRT["P_2"], ACTN["CAL"], CARD["K"], ACTN["BET"], STRT["P_1"]),
        send_each(WRONG_ACTION, STRT["P_2"], STRT["P_1"], NO_COINS, CARD["K"], b"STRT P_3", ACTN["BET"]),
    ),
    _case("2.5", "quoted-seat", "An argument in double quotes", send_each(b'STRT "P_1"', b"ACTN BET")),
)


def deal_of(game: WireGame) -> Deal:
    """The client's card. What the house shows depends on how it plays."""
    return [] if game.card is None else [Draw(game.seat, game.card)]


def message_kind(message: object) -> str:
    """The kind of a message: all cards are of one kind."""
    return "CARD" if isinstance(message, Card) else str(message)


def _may_have_sent(jack: Rank, lines: Sequence[DialogueLine]) -> bool:
    """Whether a house that writes its jack like this may have sent the cards of a dialogue."""
    own: Rank | None = None
    for line in lines:
        match line.message:
            case Strt():
                own = None
            case Card(rank) if line.side == HOUSE:
                if rank == "J" != jack or (rank == own and (rank, jack) != ("K", "K")):
                    return False
                own = own or rank
    return True


READINGS: Final = (
    Reading("it writes every card as its own", "kuhn-2.2", partial(_may_have_sent, "J")),
    Reading("it writes C_K for the jack, which is a slip of the document's", "kuhn-2.2", partial(_may_have_sent, "K")),
)

SUITE: Final = house_server_suite(
    ServerTestData(
        room=ROOM,
        states=STATES,
        inputs=INPUTS,
        invalid_inputs=INVALID_INPUTS,
        room_cases=(*GOALS, *ROOM_CASES),
        outline=lambda game, over: None,  # noqa: ARG005 -- the messages show all that matters
        kind_of=message_kind,
        is_refusal=lambda message: isinstance(message, Fail),
        refusals_of_payment=(NO_COINS,),
        readings=READINGS,
        strategy=play_randomly,
        goodbye=(DISC,),
        sample_game=(STRT["P_1"], ACTN["BET"]),
        untestable=untestable_clauses(
            "kuhn",
            {
                "1.1": "port",
                "1.4": "limits",
                "1.5": "connection limit",
                "3.4": "follows from 3.3 and 6.1: there is no word for a raise",
                "3.5": "who has won does not show on the wire, but in the purse, with 7.4",
                "8.3": "forfeited purse",
                "8.4": "stop",
                "8.5": "way of closing",
            },
        ),
        shared_clauses=shared_clauses(
            "kuhn", unasked="4.9", following="4.10", unchanged="6.7", errors="6.5", letters="2.3", purse="7.1"
        ),
        fair_deal=FairDealRule("kuhn-3.2", CARDS, deal_of),
        tolerated_clauses=frozenset({"kuhn-2.4", "kuhn-2.5"}),
        new_referee_source=PurseObserver,
        farewell_rule=FarewellRule(lambda message: message == DISC),
        independence=spend_purse,
    )
)
