"""Server test data of blackjack: states, inputs, and cases about money."""

from functools import partial
from typing import Any, Final

from croupier.conformance.conditions import in_game
from croupier.conformance.conversation import Conversation
from croupier.conformance.servers.blackjack_goals import (
    GOALS,
    always_hit,
    always_stand,
    always_surrender,
    is_dealt_21,
    max_bet,
    outline,
    play_carefully,
    play_randomly,
)
from croupier.conformance.servers.blackjack_values import READINGS
from croupier.conformance.servers.cases import house_server_suite
from croupier.conformance.servers.components import (
    VALID_INPUT_RANK,
    StateClauses,
    room_case,
    shared_clauses,
    untestable_clauses,
)
from croupier.conformance.servers.deals import BankDealReader, FairDealRule
from croupier.conformance.servers.scenarios import scenario, send_each
from croupier.conformance.servers.scripted_client import ClientScript
from croupier.conformance.servers.test_data import (
    ClientStrategy,
    DialectFrame,
    FarewellRule,
    Input,
    ScenarioContext,
    ServerTestData,
    ServerTestState,
)
from croupier.core.errors import Violation
from croupier.core.referee import HOUSE
from croupier.rooms.blackjack import ROOM
from croupier.rooms.blackjack.rules import BLACKJACK, CARDS, MAX_INT32, TARGET_TOTAL
from croupier.rooms.blackjack.wire import (
    CRD,
    GOODBYE,
    INVALID,
    MOV,
    NO_COINS,
    PLY,
    SRD,
    STP,
    TRN,
    UNEXPECTED,
    Bet,
    Crd,
    Err,
    Mon,
    Res,
)

STATES: Final = (
    ServerTestState(
        "start", "before the first round", lambda talk: PLY in talk.referee.legal and not talk.referee.finished_count
    ),
    ServerTestState(
        "between", "between two rounds", lambda talk: PLY in talk.referee.legal and talk.referee.finished_count > 0
    ),
    ServerTestState("bet", "before the bet", lambda talk: max_bet(talk.referee) > 0),
    ServerTestState("turn", "with two cards", in_game(lambda game: len(game.cards) == 2 and game.total < TARGET_TOTAL)),
    ServerTestState("hit", "after a hit", in_game(lambda game: len(game.cards) > 2), always_hit),
    ServerTestState("21", "with 21 in two cards", in_game(is_dealt_21), always_surrender, 25),
)

_clauses: Final = StateClauses(
    "blackjack",
    {
        "idle": ("start", "between"),
        "start": ("start",),
        "bet": ("bet",),
        "turn": ("turn", "hit", "21"),
        "best": ("21",),
    },
)
_all: Final = _clauses.everywhere


def _frame(header: bytes, letters: str, rest: bytes = b"") -> DialectFrame:
    """A frame with these letters, each as wide as in the dialect."""
    encoding = {"document": "utf-16-be", "char8": "ascii"}
    return lambda dialect: header + letters.encode(encoding[dialect]) + rest


LOW_HALF: Final = 1 << 16
"""What a house does not see that looks at two bytes of four."""

INPUTS: Final = (
    Input("ply", "PLY", PLY, _clauses(idle="4.8", start="4.1", bet="6.3", turn="6.3")),
    Input("bet", "BET 10", Bet(10), _clauses(idle="6.3", bet="4.2", turn="4.6")),
    Input("odd-bet", "BET 5", Bet(5), _clauses(bet="4.2")),
    Input("bet-of-nothing", "BET 0", Bet(0), _clauses(idle="6.2", bet="6.5", turn="6.2")),
    Input("bet-below-nothing", "BET -5", Bet(-5), _clauses(idle="6.2", bet="6.5", turn="6.2")),
    Input("bet-too-much", f"BET {MAX_INT32}", Bet(MAX_INT32), _clauses(idle="6.2", bet="6.6", turn="6.2")),
    Input("bet-beyond-two-bytes", "BET 65546, whose lower half is 10", Bet(LOW_HALF + 10), _clauses(bet="2.3")),
    Input("bet-backwards", "BET 10 with its bytes backwards", b"BET\x0a\0\0\0", _clauses(bet="2.3")),
    Input("hit", "MOV H", MOV["H"], _clauses(idle="6.3", bet="6.3", turn="4.3", best="3.7")),
    Input("stand", "MOV S", MOV["S"], _clauses(idle="6.3", bet="6.3", turn="4.4", best="3.7")),
    Input("surrender", "SRD", SRD, _clauses(idle="6.3", bet="6.3", turn="4.5", best="3.7")),
    Input("mon-from-the-client", "MON 1000", Mon(1000), _all("6.4")),
    Input("crd-from-the-client", "CRD C 8S", CRD["C"]["8S"], _all("6.4")),
    Input("trn-from-the-client", "TRN", TRN, _all("6.4")),
    Input("res-from-the-client", "RES W 600", Res("W", 600), _all("6.4")),
    Input("err-501-from-the-client", "ERR 501", UNEXPECTED, _all("6.8")),
    Input("err-500-from-the-client", "ERR 500", INVALID, _all("6.8")),
    Input("unknown-err", "ERR 404, an unknown number", b"ERR\0\0\x01\x94", _all("2.12")),
    Input("unknown-move", "MOV X, an unknown move", _frame(b"MOV", "X"), _clauses(idle="6.2", bet="6.2", turn="2.11")),
    Input(
        "wide-move",
        "MOV with the H of another alphabet",
        lambda dialect: b"MOV" + {"document": b"\x01H", "char8": b"\xc8"}[dialect],
        _clauses(turn="2.4"),
    ),
    Input("small-move", "MOV h, in a small letter", _frame(b"MOV", "h"), _clauses(idle="6.2", bet="6.2", turn="2.5")),
    Input("strange-card", "CRD X 8S, for nobody", _frame(b"CRD", "X8S"), _all("2.9")),
    Input("strange-result", "RES D 10, a third result", _frame(b"RES", "D", b"\0\0\0\x0a"), _all("2.9")),
    Input("unknown-header", "HIT, an unknown header", b"HIT", _clauses(idle="2.10", bet="2.10", turn="6.7")),
    Input("mistyped-play", "PLX, with a wrong last letter", b"PLX", _clauses(idle="2.10")),
    Input("mistyped-bet", "BEX, with a wrong last letter", b"BEX\0\0\0\x0a", _clauses(bet="2.10")),
    Input("mistyped-move", "MOX, with a wrong last letter", _frame(b"MOX", "S"), _clauses(turn="2.10")),
    Input("small-letters", "ply in small letters", b"ply", _all("2.5")),
    Input("line-end", "a line end", b"\r\n\n", _all("2.10")),
    Input("http-request", "a request of a browser", b"GET / HTTP/1.1\r\n\r\n", _all("6.7")),
    Input("bytes-that-are-no-letters", "three bytes that are no letters", b"\x00\xff\x80", _all("2.10")),
    Input("goodbye", "STP", STP, _all("8.1")),
)
INVALID_INPUTS: Final = frozenset(
    {
        *("ply", "bet-of-nothing", "bet-too-much", "mon-from-the-client", "crd-from-the-client"),
        *("err-501-from-the-client", "unknown-err", "strange-result"),
    }
)


@scenario
def _play_five_rounds(context: ScenarioContext, strategy: ClientStrategy) -> ClientScript:
    """Play five rounds and check the balance after each of them."""
    while context.referee.finished_count < 5:
        if context.referee.legal == (STP,):
            return "the purse was empty"
        yield context.encoded(strategy(context.referee, context.luck))
    yield context.encoded(PLY)
    return None


def lose_everything(context: ScenarioContext) -> ClientScript:
    """Bet everything until nothing is left."""
    for _ in range(60):
        referee = context.referee
        if referee.game is not None:
            yield context.encoded(MOV["H"])
        elif PLY in referee.legal:
            yield context.encoded(PLY)
        elif limit := max_bet(referee):
            yield context.encoded(Bet(limit))
        else:
            break
    if context.referee.game is not None or len(context.referee.legal) != 1:
        return "the purse was never empty"
    if not context.referee.finished_count:
        return "the purse was empty from the start"
    for coins in (1, 1000, 0):
        yield context.encoded(Bet(coins))
    return None


@scenario
def _compare_first_balances(context: ScenarioContext, clause: str, *refused: object) -> ClientScript:
    """Send what is refused, and check that the first balance is that of the connection before this one."""
    for message in (*refused, PLY):
        yield context.encoded(message)
    before, now = map(_first_balance, (context.earlier[-1], context.conversation))
    if before is None or now is None:
        return "the house has sent no balance"
    if now != before:
        expected = f"{before}, as at the start of the connection before this one"
        raise Violation(clause, str(now), expected)
    return None


def _first_balance(conversation: Conversation) -> Mon | None:
    """What the house has answered to the first PLY, None if it has said goodbye instead."""
    balances = (line.message for line in conversation.lines if line.side == HOUSE and isinstance(line.message, Mon))
    return next(balances, None)


def bet_everything(context: ScenarioContext) -> ClientScript:
    """Bet one coin more than the balance, and then all of it."""
    yield context.encoded(PLY)
    limit = max_bet(context.referee)
    if not 0 < limit < MAX_INT32:
        return "the purse was empty"
    yield context.encoded(Bet(limit + 1))
    yield context.encoded(Bet(limit))
    yield context.encoded(SRD)
    yield context.encoded(PLY)
    return None


_case: Final = partial(room_case, "blackjack")

ROOM_CASES: Final = (
    _case(
        "7.2", "balance-behind-surrenders", "The balance follows what was saved", _play_five_rounds(always_surrender)
    ),
    _case("7.2", "balance-behind-losses", "The balance follows what was lost", _play_five_rounds(always_hit)),
    _case("7.3", "balance-behind-wins", "The balance follows what was won", _play_five_rounds(play_carefully)),
    _case("5.4", "paid-back", "RES states what is paid back", _play_five_rounds(always_stand)),
    _case("7.4", "all-there-is", "The whole balance can be bet, and not one coin more", bet_everything),
    _case("7.5", "ruin", "A client with an empty purse has nothing to bet", lose_everything),
    _case(
        "7.1",
        "a-new-purse",
        "The purse is full again on a new connection",
        send_each(PLY, Bet(1), SRD),  # nothing is paid back
        _compare_first_balances("blackjack-7.1"),
        rank=VALID_INPUT_RANK,
    ),
    _case(
        "6.1",
        "refusals-cost-nothing",
        "What is refused before the first round costs nothing",
        send_each(PLY),
        _compare_first_balances(
            "blackjack-6.1",
            *(Bet(10), MOV["H"], MOV["S"], SRD, Mon(1000), CRD["C"]["8S"], TRN, Res("W", 600), UNEXPECTED),
            *(_frame(b"MOV", "X"), _frame(b"CRD", "X8S"), b"ERR\0\0\x01\x94"),
        ),
    ),
    _case("8.3", "farewell-in-full", "ERR 300 comes before STP", send_each(PLY, b"HIT")),
    _case("7.1", "first-balance", "The first balance is not below nothing", send_each(PLY)),
    _case(
        "6.1",
        "refusals-change-nothing",
        "What is refused changes nothing",
        send_each(SRD, PLY, PLY, SRD, Bet(0), MOV["H"], Bet(10), PLY, Bet(10), SRD, SRD, PLY),
    ),
    _case(
        "2.4",
        "letters-of-two-bytes",
        "Characters have two bytes",
        send_each(b"PLY", b"BET\0\0\0\x0a", _frame(b"MOV", "S")),
    ),
)


def message_kind(message: Any) -> str:
    """The kind of a message: cards, amounts and winners depend on chance; recipients of cards and errors do not."""
    match message:
        case Violation():
            return "garbage"
        case Crd(owner):
            return f"CRD {owner}"
        case Mon() | Bet() | Res():
            return type(message).__name__.upper()
    return str(message)


DEALS: Final = BankDealReader(BLACKJACK.start_node)

SUITE: Final = house_server_suite(
    ServerTestData(
        room=ROOM,
        states=STATES,
        inputs=INPUTS,
        invalid_inputs=INVALID_INPUTS,
        room_cases=(*GOALS, *ROOM_CASES),
        outline=outline,
        luck_clauses=("blackjack-3.", "blackjack-5."),
        kind_of=message_kind,
        is_refusal=lambda message: isinstance(message, Err) and message.number != 300,
        refusals_of_payment=(NO_COINS,),
        readings=READINGS,
        strategy=play_randomly,
        goodbye=(STP,),
        sample_game=(PLY, Bet(10), SRD),
        untestable=untestable_clauses(
            "blackjack",
            {
                "1.1": "port",
                "1.4": "the idle limit is 500 seconds",
                "1.5": "a limit on decisions does not show on the wire",
                "1.6": "connection limit",
                "7.6": "what is in a client's account does not show on the wire",
                "8.4": "forfeited purse",
                "8.5": "stop",
                "8.6": "way of closing",
            },
        ),
        shared_clauses=shared_clauses("blackjack", unasked="4.7", following="4.8", unchanged="6.1", errors="6.8"),
        farewell_rule=FarewellRule(lambda message: message in GOODBYE),
        fair_deal=FairDealRule("blackjack-3.1", CARDS, DEALS.deal_of),
    )
)
