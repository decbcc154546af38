"""Referee of seven and a half: no false verdicts, timeouts, and ambiguous conversations."""

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from itertools import combinations
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from croupier.core.bots import bot_factory
from croupier.core.errors import Violation
from croupier.core.referee import CLIENT, HOUSE, OTHER_END, Sent, Verdict
from croupier.core.session import TimedOut
from croupier.rooms.sevenhalf import ROOM, Options
from croupier.rooms.sevenhalf.bots import BOT_SPECS
from croupier.rooms.sevenhalf.referee import MAX_INTERPRETATIONS, Referee
from croupier.rooms.sevenhalf.wire import UNREADABLE, VOCABULARY
from tests.properties.inputs import random_violations
from tests.properties.random_session import bot_names, run_session
from tests.properties.self_play import SelfPlay
from tests.rooms.sevenhalf.conversations import (
    BSTG,
    BUST,
    BYE,
    DRAW,
    GONE,
    HAND,
    PASS,
    SILENT,
    STRT,
    WINS,
    Ante,
    Erro,
    Gain,
    Stbt,
    bksc,
    card,
    clauses,
    verdicts_on,
)
from tests.sampling import example_count, extended

sides = st.sampled_from([CLIENT, HOUSE])
NO = Erro("too much")
MOST = 2**30 - 1


@pytest.mark.hypothesis
@pytest.mark.parametrize("games", [10, pytest.param(3_000, marks=pytest.mark.slow)], ids=["quick", "soak"])
@pytest.mark.parametrize("style", [*bot_names(ROOM), "script:DRAW,100,DRAW,PASS"])
@pytest.mark.parametrize(
    "head", [{}, {"max_bet": "150"}, {"bet": "7", "dialect": "lenient"}], ids=["", "few", "lenient"]
)
def test_honest_games_have_no_house_faults(style: str, head: dict[str, str], games: int) -> None:
    """A raise beyond the limit of the house is no fault either, because the client does not know the limit."""
    room = replace(ROOM, options=partial(Options, limit=3))
    for seed in range(example_count(4)):
        bout = SelfPlay(room, bot_factory(BOT_SPECS, style)(), {"seed": str(seed), **head})
        bout.play(games)
        assert bout.verdicts == []
        assert bout.won == bout.paid
        assert len(bout.won) == games


@given(st.lists(st.tuples(sides, st.sampled_from(VOCABULARY)), max_size=40), st.booleans(), st.booleans())
def test_a_referee_never_raises_and_names_clauses(
    sent: Sequence[tuple[int, object]], lenient: bool, strict: bool
) -> None:
    verdicts = verdicts_on(*sent, lenient=lenient, strict=strict)
    assert all(verdict.violation.clause.startswith("sevenhalf-") for verdict in verdicts)
    faults = [at for at, verdict in enumerate(verdicts) if verdict.party == HOUSE]
    assert faults in ([], [len(verdicts) - 1]), "a fault of the house ends the checks"


@given(st.lists(st.tuples(sides, random_violations(ROOM)), max_size=8))
def test_malformed_input_is_the_senders_fault(sent: Sequence[tuple[int, Violation]]) -> None:
    referee = Referee()
    for side, violation in sent:
        found = referee.on(Sent(side, OTHER_END[side], violation), 0.0)
        if side == CLIENT and not violation.fatal:
            assert {(verdict.party, verdict.violation.clause) for verdict in found} <= {(CLIENT, "sevenhalf-6.5")}
            continue
        assert [*found[:1]] == [Verdict(side, violation)]
        if side == HOUSE:
            assert referee.on(Sent(side, OTHER_END[side], violation), 0.0) == []
            return


@pytest.mark.parametrize("answer", [Erro("no"), None])
def test_house_message_from_a_client_must_be_refused(answer: Erro | None) -> None:
    """sevenhalf-6.5: and the conversation goes on."""
    referee = Referee()
    violation = Violation("sevenhalf-2.9", "CARD '8o'", "CARD with one of the forty cards")
    (blamed,) = referee.on(Sent(CLIENT, HOUSE, violation), 0.0)
    assert (blamed.party, blamed.violation.clause) == (CLIENT, "sevenhalf-6.5")
    assert referee.legal == ()
    if answer is None:
        (silence,) = referee.on(TimedOut(), 9.0)
        assert (silence.party, silence.violation.clause) == (HOUSE, "sevenhalf-6.5")
    else:
        assert referee.on(Sent(HOUSE, CLIENT, answer), 0.0) == []
        assert referee.legal == (STRT,)


def test_a_verdict_on_a_client_has_its_message_and_the_limit_of_an_amount() -> None:
    (blamed,) = verdicts_on(*HAND, (CLIENT, Ante(1 << 30)))
    assert (blamed.message, blamed.violation.limit) == (Ante(1 << 30), MOST)


# Silence.


@pytest.mark.parametrize(
    ("sent", "clause"),
    [
        ([STRT], "4.1"),
        ([STRT, Stbt(100), DRAW], "4.2"),
        ([*HAND, PASS], "4.5"),
        ([*HAND, PASS, WINS], "4.5"),
        ([*HAND, DRAW, card("7o")], "4.6"),
        ([*HAND, DRAW, card("7o"), BSTG], "4.6"),
        ([DRAW], "6.1"),
        ([STRT, Stbt(100), PASS], "6.2"),
        ([*HAND, STRT], "6.3"),
        ([*HAND, Ante(10), PASS], "6.4"),
        ([(CLIENT, Gain(1))], "6.5"),
        ([*HAND, Ante(0)], "7.2"),
        ([*HAND, Ante(MOST)], "7.3"),
        ([Erro("goodbye")], "6.8"),
        ([*HAND, Ante(10), NO, NO], "6.8"),
    ],
)
def test_missing_answer_is_a_fault_at_the_timeout(sent: Sequence[Any], clause: str) -> None:
    referee = Referee(reply_timeout=5.0)
    assert referee.deadline is None
    verdicts_on(*sent, referee=referee)
    assert referee.deadline == 5.0
    (verdict,) = [verdict for verdict in referee.on(TimedOut(), 5.0) if verdict.party == HOUSE]
    assert (verdict.party, verdict.violation.clause) == (HOUSE, f"sevenhalf-{clause}")
    assert referee.deadline is None


def test_a_refusal_that_is_no_farewell_names_the_answer_that_was_due() -> None:
    referee = Referee()
    verdicts_on(*HAND, PASS, NO, referee=referee)
    (verdict,) = referee.on(TimedOut(), 5.0)
    assert verdict.violation.found == f"{NO}, and an open connection"
    assert verdict.violation.allowed == "BKSC, or the close of the connection"


def test_a_refusal_of_nothing_names_itself_if_it_is_no_farewell() -> None:
    referee = Referee()
    verdicts_on(*HAND, NO, referee=referee)
    (verdict,) = referee.on(TimedOut(), 5.0)
    assert verdict.violation.found == f"{NO}, and an open connection"
    assert verdict.violation.allowed == "nothing, or the close of the connection"


@pytest.mark.parametrize(
    "sent",
    [
        [],
        [STRT, Stbt(100)],
        [*HAND],
        [*HAND, Ante(10)],
        [*HAND, Ante(10), NO],
        [*HAND, PASS, WINS, Gain(100)],
        [*BUST],
        [*BUST, PASS],
        [(CLIENT, Erro("hello"))],
    ],
)
def test_client_has_no_timeout(sent: Sequence[Any]) -> None:
    referee = Referee()
    assert verdicts_on(*sent, referee=referee) == []
    assert referee.on(TimedOut(), 1000.0) == [], "of an ANTE that was not refused by then nothing is awaited any more"
    assert referee.deadline is None
    assert referee.on(TimedOut(), 2000.0) == []


def test_further_client_messages_do_not_extend_the_timeout() -> None:
    """The answer to STRT is due five seconds after STRT, whatever the client sends meanwhile."""
    referee = Referee(reply_timeout=5.0)
    referee.on(Sent(CLIENT, HOUSE, STRT), 0.0)
    for second in (1, 2, 3, 4):
        referee.on(Sent(CLIENT, HOUSE, DRAW), float(second))
    assert referee.deadline == 5.0
    referee.on(Sent(HOUSE, CLIENT, Stbt(100)), 4.5)
    assert referee.deadline == 9.5


# ANTEs that may have been refused (sevenhalf-7.4, P12).


WRONG_PAYOUTS = (["sevenhalf-5.5"], ["sevenhalf-5.3"], ["sevenhalf-7.4"])
"""The verdicts on a wrong GAIN when the bank is over: the amount of another result, one that is no result of the bet,
or one that counts the ANTEs that were refused."""


def accepted(*sent: Any) -> set[int]:
    """The GAIN amounts up to 250 that a referee accepts when the bank is over."""
    found = set()
    for coins in range(251):
        verdicts = verdicts_on(*HAND, *sent, PASS, WINS, Gain(coins))
        assert clauses(verdicts) in ([], *WRONG_PAYOUTS)
        if not verdicts:
            found.add(coins)
    return found


A10, A20, A40 = Ante(10), Ante(20), Ante(40)
AND_DRAW = (DRAW, card("1o"))


@pytest.mark.parametrize(
    ("sent", "gains"),
    extended(
        [
            ([], {100}),
            ([A10, *AND_DRAW], {110}),
            ([A10, A20, *AND_DRAW], {130}),
            ([A10, NO], {100}),
            ([A10, NO, A20, *AND_DRAW], {120}),
            ([A10, NO, *AND_DRAW], {100}),
            ([A10, DRAW, NO, card("1o")], {100}),
            ([A10, A20, NO, *AND_DRAW], {110, 120}),
            ([A10, A20, NO, NO], {100}),
            ([A10, A20, NO, NO, *AND_DRAW], {100}),
            ([A10, A20, NO, DRAW, NO, card("1o")], {100}),
            ([A10, A20, DRAW, NO, card("1o")], {110, 120}),
            ([A10, A20, A40, NO, *AND_DRAW], {130, 150, 160}),
            ([A10, A20, A40, NO, NO, *AND_DRAW], {110, 120, 140}),
            ([A10, A20, A40, NO, NO, NO], {100}),
            ([A10, A10, NO, *AND_DRAW], {110}),
            ([A10, A20, NO, *AND_DRAW, A40, DRAW, card("so")], {150, 160}),
            ([A10, A20, NO, *AND_DRAW, A40, NO], {110, 120}),
            ([A10, A20, NO, *AND_DRAW, A10, A20, NO, DRAW, card("so")], {120, 130, 140}),
            ([A10, *AND_DRAW, A20, NO], {110}),
        ],
        3,
    ),
)
def test_accepted_bets_are_those_possible_after_the_refusals(sent: Sequence[Any], gains: set[int]) -> None:
    assert accepted(*sent) == gains


@given(st.lists(st.integers(1, 60), min_size=1, max_size=6), st.data())
def test_house_may_refuse_any_subset_of_antes(antes: list[int], data: st.DataObject) -> None:
    count = data.draw(st.integers(0, len(antes)))
    sent = [*map(Ante, antes), *[NO] * count, *AND_DRAW]
    possible = {100 + sum(kept) for kept in combinations(antes, len(antes) - count)}
    paid = data.draw(st.sampled_from(sorted(possible)))
    assert verdicts_on(*HAND, *sent, PASS, WINS, Gain(paid)) == []
    other = data.draw(st.integers(0, 600).filter(lambda coins: coins not in possible))
    assert clauses(verdicts_on(*HAND, *sent, PASS, WINS, Gain(other))) in WRONG_PAYOUTS


@pytest.mark.parametrize("ante", [A10, Ante(-10), Ante(2**30)])
def test_a_payout_that_counts_a_refused_ante_breaks_the_clause_about_refusals(ante: Ante) -> None:
    played = (*HAND, ante, NO, PASS, WINS)
    assert verdicts_on(*played, Gain(100)) == [*verdicts_on(*HAND, ante, NO)]
    assert clauses(verdicts_on(*played, Gain(100 + ante.coins))) == ["sevenhalf-7.4"]
    assert clauses(verdicts_on(*played, Gain(99))) == ["sevenhalf-5.5"]


def test_after_a_refusal_of_all_antes_the_client_may_pass_and_after_one_of_some_it_may_not() -> None:
    assert verdicts_on(*HAND, A10, NO, PASS, WINS, Gain(100)) == []
    assert verdicts_on(*HAND, A10, A20, NO, PASS) == [], "the other refusal may be on its way"
    assert clauses(verdicts_on(*HAND, A10, A20, NO, PASS, NO, *AND_DRAW), CLIENT) == ["sevenhalf-6.4"]
    assert verdicts_on(*HAND, A10, A20, NO, NO, PASS, WINS, Gain(100)) == []


def test_a_card_confirms_the_antes_before_it() -> None:
    """An ERRO after it answers nothing: it can only announce a close (sevenhalf-6.8)."""
    assert clauses(verdicts_on(*HAND, A10, *AND_DRAW, NO, SILENT)) == ["sevenhalf-6.8"]
    assert clauses(verdicts_on(*HAND, A10, *AND_DRAW, NO, Stbt(100))) == ["sevenhalf-6.8"]
    assert verdicts_on(*HAND, A10, *AND_DRAW, NO, GONE) == []


def test_one_refusal_too_many_is_a_farewell() -> None:
    assert clauses(verdicts_on(*HAND, A10, NO, NO, SILENT)) == ["sevenhalf-6.8"]
    assert verdicts_on(*HAND, A10, NO, NO, GONE) == []


def test_too_many_interpretations_disable_verdicts() -> None:
    assert accepted(*[Ante(1)] * 9, *AND_DRAW) == {109}
    assert accepted(*[Ante(1)] * 9, NO, *AND_DRAW) == {108}
    referee = Referee()
    assert verdicts_on(*HAND, *[Ante(1)] * (MAX_INTERPRETATIONS + 1), *AND_DRAW, referee=referee) == []
    assert [*referee.legal] == [DRAW, PASS]
    assert verdicts_on(PASS, WINS, Gain(1), referee=referee) == []


# Messages after an ANTE may cross its refusal (sevenhalf-7.4, G3).


def test_pass_after_a_refused_ante_is_allowed() -> None:
    assert verdicts_on(*HAND, A10, PASS, NO, WINS, Gain(100)) == []
    assert verdicts_on(*HAND, A10, PASS, NO, WINS, Gain(100), lenient=True) == []
    assert verdicts_on(*HAND, A10, STRT, NO, Stbt(100), lenient=True) == []
    assert clauses(verdicts_on(*HAND, A10, PASS, NO, *AND_DRAW), CLIENT) == ["sevenhalf-6.4"]


def test_a_refusal_may_cross_garbage() -> None:
    referee = Referee()
    verdicts_on(*HAND, A10, referee=referee)
    referee.on(Sent(CLIENT, HOUSE, Violation("sevenhalf-2.9", "x", "y", fatal=True)), 0.0)
    assert referee.on(Sent(HOUSE, CLIENT, NO), 0.0) == []
    assert referee.on(Sent(HOUSE, CLIENT, UNREADABLE), 0.0) == []


def test_refusal_may_cross_a_too_large_ante_only_after_the_first() -> None:
    """A house with a limit of 550 million refuses the first ANTE and accepts the second."""
    sent = (*HAND, Ante(6 * 10**8), Ante(5 * 10**8), DRAW, NO, card("1c"), PASS, WINS)
    assert clauses(verdicts_on(*sent, Gain(5 * 10**8 + 100))) == []


def test_house_limit_is_no_fault() -> None:
    sent = (STRT, DRAW, Ante(5), Ante(10**9), DRAW, Ante(9 * 10**8), DRAW, PASS)
    run = run_session(ROOM, {"deck": "1o 1c 1e 7o", "max_bet": str(10**9)}, [("says", 1, m) for m in sent])
    assert [verdict for verdict in run.verdicts if verdict.party == HOUSE] == []


def test_single_game_house_may_cross_messages_with_its_close() -> None:
    assert clauses(verdicts_on(*HAND, PASS, DRAW, WINS, Gain(100), GONE)) == []


def test_the_bet_of_a_game_is_forgotten_with_it() -> None:
    first = (*HAND, A10, A20, NO, *AND_DRAW, PASS, WINS, Gain(120))
    again = (STRT, Stbt(50), DRAW, card("5o"), PASS, WINS)
    assert verdicts_on(*first, *again, Gain(50)) == []
    assert clauses(verdicts_on(*first, *again, Gain(100))) == ["sevenhalf-5.5"]


# Closing messages and closes.

PLAYED = (*HAND, PASS, WINS, Gain(100))


@pytest.mark.parametrize("sent", [[], [STRT], [STRT, Stbt(100)], [STRT, Stbt(100), DRAW], HAND, [*HAND, PASS], PLAYED])
def test_house_may_announce_a_close_at_any_time_and_must_close(sent: Sequence[Any]) -> None:
    """sevenhalf-6.8 and 8.2"""
    assert verdicts_on(*sent, NO, GONE) == []
    assert verdicts_on(*sent, NO, GONE, strict=True) == []
    assert clauses(verdicts_on(*sent, NO, SILENT)) == ["sevenhalf-6.8"]
    for more in (Stbt(100), card("1o"), WINS, Gain(100), NO):
        assert clauses(verdicts_on(*sent, NO, more)) == ["sevenhalf-6.8"]


@pytest.mark.parametrize("sent", [[A10], [A10, A20], [A10, DRAW], [A10, A20, DRAW]])
def test_erro_after_an_ante_may_announce_a_close(sent: Sequence[Any]) -> None:
    """sevenhalf-6.8: the close decides."""
    assert verdicts_on(*HAND, *sent, NO, GONE) == []
    assert verdicts_on(*HAND, *sent, NO, BYE) == []


def test_a_refusal_before_the_close_is_a_farewell_as_well() -> None:
    """P10: a close is never a fault if the last message of the house was ERRO."""
    assert clauses(verdicts_on(DRAW, NO, GONE)) == []
    assert clauses(verdicts_on(*HAND, A10, PASS, NO, GONE)) == []


@pytest.mark.parametrize(
    ("sent", "clause"),
    [
        ([], "8.2"),
        ([STRT], "4.1"),
        ([STRT, Stbt(100)], "8.2"),
        ([*HAND], "8.2"),
        ([*HAND, A10], "8.2"),
        ([*HAND, A10, DRAW], "4.2"),
        ([*HAND, PASS], "4.5"),
        ([*HAND, PASS, WINS], "4.5"),
        ([*BUST[:-1]], "4.6"),
        ([DRAW], "6.1"),
        ([(CLIENT, Erro("hello"))], "8.2"),
    ],
)
def test_unannounced_close_is_a_fault(sent: Sequence[Any], clause: str) -> None:
    assert clauses(verdicts_on(*sent, GONE)) == [f"sevenhalf-{clause}"]


@pytest.mark.parametrize("played", [PLAYED, BUST], ids=["pass", "bust"])
def test_close_after_gain_is_a_fault_only_if_strict(played: Sequence[Any]) -> None:
    """sevenhalf-8.5, and P14: also if the client has already requested the next game."""
    for more in ([], [STRT], [STRT, DRAW], [STRT, DRAW, PASS], [(CLIENT, Erro("hello"))]):
        assert verdicts_on(*played, *more, GONE) == []
        assert clauses(verdicts_on(*played, *more, GONE, strict=True)) == ["sevenhalf-8.5"]
    assert clauses(verdicts_on(*played, STRT, Stbt(100), GONE)) == ["sevenhalf-8.2"]


def test_no_verdicts_after_the_end() -> None:
    for sent in ([NO, GONE], [*PLAYED, GONE], [*PLAYED, NO, GONE], [*HAND, A10, NO, GONE]):
        assert verdicts_on(*sent, STRT, card("1o"), Gain(1), GONE, SILENT) == []


def test_a_client_that_hangs_up_is_not_judged_and_neither_is_what_follows() -> None:
    for sent in ([], [STRT], HAND, [*HAND, A10], [*HAND, PASS], PLAYED):
        assert verdicts_on(*sent, BYE, card("1o"), GONE) == []


# A PASS after a bust (sevenhalf-4.8).


def test_one_pass_after_a_bust_may_be_ignored_or_refused() -> None:
    """A strict house refuses it; a referee that does not know that the house is strict accepts this."""
    assert verdicts_on(*BUST, PASS, STRT, Stbt(100)) == []
    assert verdicts_on(*BUST, PASS, NO, STRT, Stbt(100)) == []
    assert verdicts_on(*BUST, STRT, Stbt(100)) == []
    assert verdicts_on(*BUST, PASS, STRT, NO, GONE) == [], "the closing message counts"


def test_second_pass_after_a_bust_must_be_refused() -> None:
    verdicts = verdicts_on(*BUST, PASS, PASS, SILENT)
    assert (clauses(verdicts, CLIENT), clauses(verdicts)) == (["sevenhalf-6.1"], ["sevenhalf-6.1"])
    assert clauses(verdicts_on(*BUST, PASS, NO, PASS, NO)) == []


def test_late_pass_tolerance_ends_with_the_next_game() -> None:
    assert clauses(verdicts_on(*PLAYED, PASS, NO), CLIENT) == ["sevenhalf-6.1"]
    next_game = (STRT, Stbt(100), DRAW, card("5o"), PASS, WINS, Gain(100))
    assert clauses(verdicts_on(*BUST, *next_game, PASS, NO), CLIENT) == ["sevenhalf-6.1"]
    assert clauses(verdicts_on(*BUST, STRT, Stbt(100), PASS, NO), CLIENT) == ["sevenhalf-6.2"]


def test_strict_referee_requires_a_refusal_of_that_pass() -> None:
    assert clauses(verdicts_on(*BUST, PASS, NO, strict=True), CLIENT) == ["sevenhalf-6.1"]
    assert clauses(verdicts_on(*BUST, PASS, SILENT, strict=True)) == ["sevenhalf-6.1"]


def test_whatever_else_answers_that_pass_is_a_fault() -> None:
    for more in (Gain(-100), bksc("rb", "00.5"), Stbt(100), BSTG):
        assert clauses(verdicts_on(*BUST, PASS, more)) == ["sevenhalf-4.9"]


# Speaking unasked.


@pytest.mark.parametrize(
    ("sent", "clause"),
    [
        ([], "1.2"),
        ([STRT, Stbt(100)], "4.9"),
        (HAND, "4.9"),
        ([*HAND, A10], "4.4"),
        ([STRT, Stbt(100), DRAW, card("7o"), DRAW, card("so")], "4.7"),
        (PLAYED, "4.9"),
        (BUST, "4.9"),
        ([(CLIENT, Erro("hello"))], "6.6"),
    ],
)
def test_unsolicited_message_clause_depends_on_the_state(sent: Sequence[Any], clause: str) -> None:
    for unasked in (Stbt(100), card("1o"), bksc("1o", "01.0"), Gain(0), (HOUSE, STRT)):
        assert clauses(verdicts_on(*sent, unasked)) == [f"sevenhalf-{clause}"]
    after_card = sent == HAND  # the score is wrong, too
    assert clauses(verdicts_on(*sent, BSTG)) == [f"sevenhalf-{'3.4' if after_card else clause}"]


def test_messages_ahead_of_their_answers_are_judged_in_their_turn() -> None:
    """sevenhalf-1.3"""
    assert verdicts_on(STRT, DRAW, PASS, STRT, Stbt(100), card("5o"), WINS, Gain(100), Stbt(100)) == []
    ahead = verdicts_on(STRT, DRAW, DRAW, PASS, STRT, *(turn for turn in BUST if turn not in (STRT, DRAW)), Stbt(100))
    assert ahead == []
    verdicts = verdicts_on(STRT, PASS, Stbt(100), NO)
    assert (clauses(verdicts, CLIENT), clauses(verdicts)) == (["sevenhalf-6.2"], [])


def test_any_starting_bet_is_accepted() -> None:
    """P11"""
    referee = Referee()
    for bet in (1, 100, 7, MOST):
        net = -bet
        expected = (STRT, Stbt(bet), DRAW, card("5o"), PASS, bksc("6c", "06.0"), Gain(net))
        assert verdicts_on(*expected, referee=referee) == []
        assert referee.last_game is not None
        assert referee.last_game.net == net
    assert referee.finished_count == 4


# The dialect `lenient`.


def test_what_the_lenient_dialect_allows_is_no_fault_of_the_client() -> None:
    before_the_card = (STRT, Stbt(100), A10, DRAW, card("5o"), PASS, WINS, Gain(110))
    behind_an_ante = (*HAND, A10, PASS, WINS, Gain(110))
    without_a_card = (STRT, Stbt(100), PASS, bksc("rb", "00.5"), Gain(-100))
    again = (*HAND, STRT, Stbt(100), *HAND[2:], PASS, WINS, Gain(100))
    without_start = (*PLAYED, *HAND[2:], PASS, WINS, Gain(100))
    for sent in (before_the_card, behind_an_ante, without_a_card, again, without_start):
        assert verdicts_on(*sent, lenient=True) == []
        assert clauses(verdicts_on(*sent), CLIENT) != []


def test_a_lenient_house_that_refuses_those_is_at_fault() -> None:
    for sent in ([STRT, Stbt(100), PASS], [*HAND, STRT], [DRAW]):
        assert clauses(verdicts_on(*sent, NO, SILENT, lenient=True)) == ["sevenhalf-6.8"]


def test_a_lenient_house_pays_as_any_other() -> None:
    for expected, clause in ((Gain(100), "5.8"), (Gain(0), "5.8"), (Gain(-110), "5.8")):
        assert clauses(verdicts_on(STRT, Stbt(100), PASS, bksc("rb", "00.5"), expected, lenient=True)) == [
            f"sevenhalf-{clause}"
        ]
    assert clauses(verdicts_on(*HAND, A10, PASS, WINS, Gain(100), lenient=True)) == ["sevenhalf-5.3"]


def test_game_without_strt_uses_the_last_starting_bet() -> None:
    """sevenhalf-9.6"""
    drawn = (DRAW, card("5o"), PASS, WINS)
    assert verdicts_on(*PLAYED, *drawn, Gain(100), lenient=True) == []
    assert clauses(verdicts_on(*PLAYED, *drawn, Gain(99), lenient=True)) == ["sevenhalf-5.5"]
    assert verdicts_on(*drawn, Gain(99), lenient=True) == [], "any bet is accepted if none is known"
    raised = (DRAW, card("5o"), A10, *AND_DRAW, PASS, WINS)
    assert verdicts_on(*raised, Gain(99), lenient=True) == []
    assert verdicts_on(*PLAYED, *raised, Gain(110), lenient=True) == []


def test_a_game_that_is_given_up_for_a_new_one_is_lost() -> None:
    """sevenhalf-9.5"""
    referee = Referee(lenient=True)
    assert verdicts_on(*HAND, A10, STRT, referee=referee) == []
    assert referee.finished_count == 1
    assert referee.last_game is not None
    assert referee.last_game.net == -110
    referee = Referee(lenient=True)
    assert verdicts_on(*PLAYED, DRAW, card("5o"), A10, STRT, referee=referee) == []
    assert referee.last_game is not None
    assert referee.last_game.net == -110, "it began without STRT, at the starting bet of the game before"


def test_lenient_house_refuses_nonsense() -> None:
    for sent, clause in (([PASS], "6.1"), ([A10], "6.1"), ([STRT, Stbt(100), (CLIENT, Gain(1))], "6.5")):
        verdicts = verdicts_on(*sent, NO, lenient=True)
        assert (clauses(verdicts, CLIENT), clauses(verdicts)) == ([f"sevenhalf-{clause}"], [])
