"""Server test data of seven and a half: states, inputs and cases of its own."""

from collections.abc import Mapping, Sequence
from functools import partial
from itertools import accumulate
from random import Random
from typing import Final

from croupier.conformance.conditions import after_game, before_first_game, in_game
from croupier.conformance.conversation import AnyClientReferee
from croupier.conformance.servers.cases import house_server_suite
from croupier.conformance.servers.components import (
    RARE,
    StateClauses,
    room_case,
    shared_clauses,
    untestable_clauses,
)
from croupier.conformance.servers.deals import BankDealReader, FairDealRule
from croupier.conformance.servers.scenarios import go_to_state, play_at_random, scenario, send_each
from croupier.conformance.servers.scripted_client import ClientScript, Wait
from croupier.conformance.servers.sevenhalf_goals import (
    GOALS,
    draw_one_card,
    draw_to_best,
    outline,
    play_randomly,
)
from croupier.conformance.servers.sevenhalf_values import READINGS
from croupier.conformance.servers.test_data import FarewellRule, Input, ScenarioContext, ServerTestData, ServerTestState
from croupier.core.errors import Violation
from croupier.rooms.sevenhalf import ROOM
from croupier.rooms.sevenhalf.rules import CARDS, LENIENT_RULES, MAX_TOTAL_BET, TARGET_HALVES
from croupier.rooms.sevenhalf.wire import BSTG, CARD, DRAW, PASS, STRT, Ante, Bksc, Erro, Gain, Message, Stbt

ANTE_OF_TEN: Final = Ante(10)

SPELLINGS_OF_START: Final = (b"STRT", b"Strt", b"strt", b"StRt", b"StRT")

MIN_COMPARED_RAISES: Final = 5
"""A house that accepts some ANTEs this often, and as often refuses others of no larger sum, does not refuse the sum."""


ANTES_OF_GAMES: Final = (7, 13, 1, 29)
"""No starting bet that changes from game to game grows by just these amounts."""


def raise_after_first_card(referee: AnyClientReferee, luck: Random) -> object:
    """Raise after the first card."""
    game = referee.game
    return ANTE_OF_TEN if game is not None and game.state.cards else play_randomly(referee, luck)


OVER: Final = ServerTestState("over", "after a game that was over", after_game(lambda game: game.is_over), draw_to_best)

STATES: Final = (
    ServerTestState("start", "before the first game", before_first_game),
    ServerTestState(
        "between", "after a game that was passed", after_game(lambda game: not game.is_over), draw_one_card
    ),
    OVER,
    ServerTestState("bet", "before the first card", in_game(lambda game: not game.cards)),
    ServerTestState(
        "card",
        "with less than seven and a half",
        in_game(lambda game: 0 < game.total < TARGET_HALVES and not game.has_raised),
    ),
    ServerTestState(
        "best",
        "with seven and a half",
        in_game(lambda game: game.total == TARGET_HALVES and not game.has_raised),
        draw_to_best,
    ),
    ServerTestState("raised", "after an ANTE", in_game(lambda game: game.has_raised), raise_after_first_card),
)

_clauses: Final = StateClauses(
    "sevenhalf",
    {
        "idle": ("start", "between", "over"),
        "start": ("start",),
        "over": ("over",),
        "bet": ("bet",),
        "card": ("card", "best"),
        "best": ("best",),
        "raised": ("raised",),
    },
)
_all: Final = _clauses.everywhere


def _amount(clause: str) -> Mapping[str, str]:
    """The clauses about an ANTE with a wrong amount."""
    return _clauses(idle="7.5", bet="7.5", card=clause, raised=clause)


INPUTS: Final = (
    Input("strt", "STRT", STRT, _clauses(idle="4.10", start="4.1", bet="6.2", card="6.3", raised="6.4")),
    Input("draw", "DRAW", DRAW, _clauses(idle="6.1", bet="4.2", card="4.3", best="4.7", raised="4.4")),
    Input("pass", "PASS", PASS, _clauses(idle="6.1", over="4.8", bet="6.2", card="4.5", best="4.7", raised="6.4")),
    Input("ante", "ANTE 10", ANTE_OF_TEN, _clauses(idle="6.1", bet="6.2", card="4.3", best="4.4", raised="4.4")),
    Input("ante-of-nothing", "ANTE 0", Ante(0), _amount("7.2")),
    Input("ante-below-nothing", "ANTE -10", Ante(-10), _amount("7.2")),
    Input("ante-too-much", f"ANTE {MAX_TOTAL_BET + 1}", Ante(MAX_TOTAL_BET + 1), _amount("7.3")),
    Input("largest-ante", "ANTE 2147483647", Ante(2**31 - 1), _amount("7.3")),
    Input("stbt-from-the-client", "STBT 100", Stbt(100), _all("6.5")),
    Input("card-from-the-client", "CARD rb", CARD["rb"], _all("6.5")),
    Input("bstg-from-the-client", "BSTG", BSTG, _all("6.5")),
    Input("bksc-from-the-client", "BKSC with two cards", Bksc(("7c", "cc"), "07.5"), _all("6.5")),
    Input("gain-from-the-client", "GAIN 100", Gain(100), _all("6.5")),
    Input("erro-from-the-client", "ERRO 05what?", Erro("what?"), _all("6.6")),
    Input("erro-that-looks-like-a-command", "ERRO 04STRT", Erro("STRT"), _all("2.6")),
    Input("unknown-code", "HELO, an unknown code", b"HELO", _all("2.9")),
    Input("mistyped-start", "STRX, with a wrong last letter", b"STRX", _clauses(idle="2.9")),
    Input("mistyped-draw", "DRAX, with a wrong last letter", b"DRAX", _clauses(bet="2.9", card="2.9", raised="2.9")),
    Input("number-as-text", "ANTE 50 as text, and a line end", b"ANTE 50\r\nDRAW", _clauses(raised="2.3")),
    Input("no-space", "a code without its space", b"ANTE-\0\0\0\x0a", _all("2.9")),
    Input("no-such-card", "CARD 8o, a card that does not exist", b"CARD 8o", _all("2.9")),
    Input("http-request", "a request of a browser", b"GET / HTTP/1.1\r\nHost: croupier\r\n\r\n", _all("2.9")),
    Input("bytes-that-are-no-letters", "four bytes that are no letters", b"\x00\xff\x80\x01", _all("2.9")),
    Input("draw-in-small-letters", "draw", b"draw", {"bet": "sevenhalf-2.7", "card": "sevenhalf-2.7"}),
    Input("pass-in-mixed-letters", "PaSs", b"PaSs", {"card": "sevenhalf-2.7", "best": "sevenhalf-2.7"}),
    Input("strt-in-small-letters", "strt", b"strt", {"start": "sevenhalf-2.7", "between": "sevenhalf-2.7"}),
)
INVALID_INPUTS: Final = frozenset(
    {"strt", "ante", "ante-of-nothing", "stbt-from-the-client", "card-from-the-client", "erro-from-the-client"}
)


@scenario
def compare_raises(
    context: ScenarioContext, accepted: Sequence[int], other: Sequence[int], clause: str
) -> ClientScript:
    """Check that the house accepts other ANTEs of no larger sum than it accepts: its limit is one for the sum."""
    totals: dict[bool, list[int]] = {False: [], True: []}
    for antes in (accepted, other) * MIN_COMPARED_RAISES:
        start = len(context.conversation.lines)
        for message in (STRT, DRAW, *map(Ante, antes), DRAW):
            yield context.encoded(message)
        if context.referee.game is not None:
            yield context.encoded(PASS)
        answers = [line.message for line in context.conversation.lines[start:]]
        is_refused = any(isinstance(message, Erro) for message in answers)
        if is_refused != (antes is other):
            return f"the house has refused {_outline_antes(accepted)}" if is_refused else None
        bets = [message.coins for message in answers if isinstance(message, Stbt)]
        totals[antes is other].append(sum(bets) + sum(antes))
    if min(totals[True]) <= max(totals[False]):
        raise Violation(clause, f"ERRO for {_outline_antes(other)}", f"no answer, as for {_outline_antes(accepted)}")
    return None


def _outline_antes(antes: Sequence[int]) -> str:
    first, *others = antes
    return f"two ANTEs of {first}" if others else f"an ANTE of {first}"


def raise_at_best(context: ScenarioContext) -> ClientScript:
    """Check that the house accepts the same ANTE at seven and a half that it accepts with less."""
    refused: dict[bool, list[bool]] = {True: [], False: []}
    for number in range(RARE):
        wants_best = number % MIN_COMPARED_RAISES > 0
        yield context.encoded(STRT)
        yield context.encoded(DRAW)
        while (game := context.referee.game) and game.cards and wants_best and game.total < TARGET_HALVES:
            yield context.encoded(DRAW)
        if game is None or not game.cards:
            continue
        start = len(context.conversation.lines)
        yield context.encoded(ANTE_OF_TEN)
        yield context.encoded(DRAW)
        is_refused = any(isinstance(line.message, Erro) for line in context.conversation.lines[start:])
        if is_refused != wants_best:
            return None
        refused[wants_best].append(is_refused)
        if context.referee.game is not None:
            yield context.encoded(PASS)
        if all(len(each) >= MIN_COMPARED_RAISES for each in refused.values()):
            raise Violation("sevenhalf-4.3", "ERRO for an ANTE at seven and a half", "no answer, as with less")
    return "seven and a half came too rarely"


def raise_in_each_game(context: ScenarioContext) -> ClientScript:
    """Check that the antes of a game do not stay in the starting bet, which would grow by each of them."""
    bets: list[int] = []
    for coins in ANTES_OF_GAMES:
        start = len(context.conversation.lines)
        for message in (STRT, DRAW, Ante(coins), DRAW):
            yield context.encoded(message)
        if context.referee.game is not None:
            yield context.encoded(PASS)
        answers = [line.message for line in context.conversation.lines[start:]]
        if any(isinstance(message, Erro) for message in answers):
            return "the house has refused an ANTE"
        bets += [message.coins for message in answers if isinstance(message, Stbt)]
    first, *_, last = bets
    if bets == [*accumulate((first, *ANTES_OF_GAMES[:-1]))]:
        raise Violation(
            "sevenhalf-7.1", f"STBT {last}, as much more as the antes", f"STBT {first}, as in the first game"
        )
    return None


@scenario
def send_after_bust(context: ScenarioContext, *messages: Message) -> ClientScript:
    """Send these messages after a game in which the client was over."""
    missed = yield from go_to_state(context, OVER)
    if missed:
        return missed
    for message in messages:
        yield context.encoded(message)
    return None


_case: Final = partial(room_case, "sevenhalf")

ROOM_CASES: Final = (
    _case("6.1", "two-passes-after-a-bust", "A second PASS after a BSTG is refused", send_after_bust(PASS, PASS, STRT)),
    _case(
        "6.1",
        "pass-after-the-game-after-a-bust",
        "The PASS that may follow a BSTG may not follow the next game",
        send_after_bust(STRT, DRAW, PASS, PASS, STRT),
    ),
    _case("8.5", "open-behind-gain", "The connection stays open after GAIN", send_each(STRT, DRAW, PASS, Wait(0.05))),
    _case(
        "6.9",
        "refusals-change-nothing",
        "What is refused changes nothing",
        send_each(DRAW, STRT, PASS, STRT, ANTE_OF_TEN, DRAW, STRT, Ante(0), CARD["7o"], PASS, DRAW, STRT),
    ),
    _case("6.8", "nothing-allowed-is-refused", "Nothing that is allowed is refused", play_at_random(8, 0.0)),
    _case(
        "2.7",
        "spellings-of-start-apart",
        "The document's five ways to write STRT, each on a connection of its own",
        *(send_each(spelling, DRAW, PASS) for spelling in SPELLINGS_OF_START),
        independent=range(len(SPELLINGS_OF_START)),
    ),
    _case(
        "2.8",
        "line-ends-between-messages",
        "Line ends and spaces between messages",
        send_each(b"STRT\r\n", b"\nDRAW", b"\r\n DRAW\n"),
    ),
    _case(
        "7.1",
        "starting-bet-again",
        "Every game begins with its starting bet",
        send_each(STRT, DRAW, DRAW, DRAW, DRAW, DRAW, DRAW, DRAW, STRT, STRT),
    ),
    _case(
        "7.4",
        "a-refused-ante-adds-nothing",
        "A refused ANTE adds nothing and forces nothing",
        send_each(STRT, DRAW, Ante(0), PASS, STRT, DRAW, Ante(-1), PASS),
    ),
    _case(
        "7.3",
        "antes-that-add-up-to-too-much",
        "Two ANTEs that are too much only together",
        send_each(STRT, DRAW, Ante(2**29), Ante(2**29), DRAW),
    ),
    _case(
        "4.4",
        "two-antes",
        "What is allowed in one ANTE is allowed in two",
        compare_raises((20,), (10, 10), "sevenhalf-4.4"),
    ),
    _case(
        "2.3",
        "ante-with-a-high-byte",
        "A byte of 128 or more is a sign in the first place only",
        compare_raises((256,), (200,), "sevenhalf-2.3"),
    ),
    _case(
        "7.1", "no-ante-of-the-last-game", "The antes of a game are not in the next starting bet", raise_in_each_game
    ),
    _case("4.3", "ante-with-the-best", "What is allowed as an ANTE is allowed at seven and a half", raise_at_best),
    _case(
        "7.6",
        "a-million-in-every-game",
        "A client may bet as much in every game, whatever it has lost",
        send_each(*(word for _ in range(4) for word in (STRT, DRAW, Ante(1_000_000), PASS, DRAW, DRAW, DRAW, DRAW))),
    ),
)


DEALS: Final = BankDealReader(LENIENT_RULES.start_node)

SUITE: Final = house_server_suite(
    ServerTestData(
        room=ROOM,
        states=STATES,
        inputs=INPUTS,
        invalid_inputs=INVALID_INPUTS,
        room_cases=(*GOALS, *ROOM_CASES),
        outline=outline,
        luck_clauses=("sevenhalf-3.", "sevenhalf-4.7", "sevenhalf-5."),
        kind_of=lambda message: "garbage" if isinstance(message, Violation) else str(message)[:4],
        is_refusal=lambda message: isinstance(message, Erro),
        refusal_clauses={"ANTE": "sevenhalf-7.4"},
        readings=READINGS,
        strategy=play_randomly,
        goodbye=(),
        sample_game=(STRT, DRAW, PASS),
        untestable=untestable_clauses(
            "sevenhalf",
            {
                "1.1": "port",
                "1.4": "limits",
                "1.5": "connection limit",
                "6.7": "the text of an ERRO is for people",
                "8.3": "what was forfeited does not show on the wire",
                "8.4": "stop",
                "8.6": "way of closing",
                "10.1": "a text log is not on the wire",
            },
        ),
        shared_clauses=shared_clauses(
            "sevenhalf", unasked="4.9", following="4.10", unchanged="6.9", errors="6.6", letters="2.7"
        ),
        fair_deal=FairDealRule("sevenhalf-3.3", CARDS, DEALS.deal_of),
        harmless_settings={"bet": ("1", "10", "13", "50")},
        tolerated_clauses=frozenset({"sevenhalf-2.8", "sevenhalf-4.8"}),
        owes_answer=lambda referee: referee.deadline is not None and not referee.legal,
        farewell_rule=FarewellRule(lambda message: isinstance(message, Erro), "sevenhalf-6.8", may_play_once=True),
    )
)
