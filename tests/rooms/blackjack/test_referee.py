"""Referee and player of blackjack: no false verdicts, timeouts and closing."""

from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from croupier.core.bank import BANK_SEAT, CLIENT_SEAT, BankState
from croupier.core.bots import bot_factory
from croupier.core.client_session import LegalMessages
from croupier.core.errors import IllegalMove, Violation
from croupier.core.referee import CLIENT, HOUSE, OTHER_END, Sent, Verdict
from croupier.core.session import (
    Closing,
    Drop,
    Joined,
    Left,
    Notify,
    Received,
    Send,
    Settle,
    Submitted,
    TimedOut,
)
from croupier.rooms.blackjack import ROOM, Options, Settings
from croupier.rooms.blackjack.bots import BOT_SPECS
from croupier.rooms.blackjack.player import Player
from croupier.rooms.blackjack.referee import IMMEDIATE_END_CLAUSES, PAYOUT_CLAUSES, Referee, WireGame
from croupier.rooms.blackjack.rules import BLACKJACK, CLIENT_LOST, CLIENT_SURRENDERED, CLIENT_WON
from croupier.rooms.blackjack.wire import (
    CRD,
    LEAVING,
    MOV,
    PLY,
    SRD,
    STP,
    TRN,
    UNEXPECTED,
    VOCABULARY,
    Bet,
    Message,
    Mon,
    Res,
    Wire,
)
from tests.properties.random_session import bot_names
from tests.properties.self_play import SelfPlay

sides = st.sampled_from([CLIENT, HOUSE])
STRANGE = [
    item
    for data in (b"MOV\0X", b"CRD\0X\x008\0S", b"RES\0D\0\0\0\0", b"ERR\0\0\0\0", b"HIT")
    for item in Wire().feed(data)
]
DEAL = [CRD["C"]["TS"], CRD["C"]["6H"], CRD["S"]["9D"], TRN]
BEGUN = [(CLIENT, PLY), (HOUSE, Mon(1000)), (CLIENT, Bet(10)), *((HOUSE, message) for message in DEAL)]


def verdicts_on(*sent: tuple[int, object], referee: Referee | None = None) -> list[Verdict]:
    referee = referee or Referee()
    return [verdict for side, message in sent for verdict in referee.on(Sent(side, OTHER_END[side], message), 0.0)]


def player(*received: object, options: Options = Options(), strict: bool = False) -> Player:
    """A player after a conversation: it submits its legal messages and receives all others."""
    found = Player(options, strict=strict)
    found.on(Joined(HOUSE), 0.0)
    for message in received:
        found.on(Submitted(message) if message in found.legal else Received(HOUSE, message), 0.0)
    return found


@pytest.mark.parametrize(
    ("games", "seeds"),
    [
        (10, range(2)),
        pytest.param(10, range(2, 6), marks=pytest.mark.extended),
        pytest.param(3_000, range(6), marks=pytest.mark.slow),
    ],
    ids=["quick", "extended", "soak"],
)
@pytest.mark.parametrize("style", bot_names(ROOM))
def test_honest_rounds_have_no_house_faults(style: str, games: int, seeds: range) -> None:
    for seed in seeds:
        bout = SelfPlay(ROOM, bot_factory(BOT_SPECS, style)(), {"seed": str(seed), "money": "200"})
        bout.play(games)
        assert bout.verdicts == []
        assert bout.won == bout.paid
        assert len(bout.won) == games or bout.player.is_exhausted


@given(
    st.lists(st.tuples(sides, st.sampled_from(VOCABULARY)), max_size=40),
    st.sampled_from([None, 0, 1000]),
    st.booleans(),
)
def test_a_referee_never_raises_and_names_clauses(
    exchange: Sequence[tuple[int, object]], money: int | None, strict: bool
) -> None:
    verdicts = verdicts_on(*BEGUN[: 3 * len(exchange) % 8], *exchange, referee=Referee(1, money, strict=strict))
    assert all(verdict.violation.clause.startswith("blackjack-") for verdict in verdicts)
    faults = [at for at, verdict in enumerate(verdicts) if verdict.party == HOUSE]
    assert faults in ([], [len(verdicts) - 1]), "a fault of the house ends the checks"


@given(st.lists(st.tuples(sides, st.sampled_from(STRANGE)), max_size=8))
def test_malformed_input_is_the_senders_fault(exchange: Sequence[tuple[int, Violation]]) -> None:
    referee = Referee()
    for side, violation in exchange:
        assert [*referee.on(Sent(side, OTHER_END[side], violation), 0.0)][:1] == [Verdict(side, violation)]
        if side == HOUSE:
            assert referee.on(Sent(side, OTHER_END[side], violation), 0.0) == []
            return


def test_a_bet_that_is_too_high_has_its_limit() -> None:
    (blamed,) = verdicts_on((CLIENT, PLY), (HOUSE, Mon(1000)), (CLIENT, Bet(1001)))
    assert (blamed.violation.clause, blamed.violation.limit) == ("blackjack-6.6", 1000)


def test_every_end_of_a_round_has_a_clause_for_what_it_pays() -> None:
    assert set(PAYOUT_CLAUSES) == {CLIENT_WON, CLIENT_LOST, CLIENT_SURRENDERED}
    assert set(IMMEDIATE_END_CLAUSES) == {CLIENT_WON, CLIENT_LOST}


@pytest.mark.parametrize("bet", [1, 2, 5, 2**30 - 1])
@pytest.mark.parametrize("end", [CLIENT_WON, CLIENT_LOST, CLIENT_SURRENDERED], ids=str)
def test_the_referee_pays_as_the_rules_do(end: Any, bet: int) -> None:
    state = BankState(end, ("TS", "6H", "9D"), (CLIENT_SEAT, CLIENT_SEAT, BANK_SEAT), bet)
    assert WireGame(state).net == BLACKJACK.payoff(state)[0]


def test_wire_game_exposes_the_observed_round() -> None:
    referee = Referee()
    verdicts_on(*BEGUN, referee=referee)
    assert referee.game is not None
    assert (referee.game.cards, referee.game.bank, referee.game.bet, referee.game.seat) == (
        ("TS", "6H"),
        ("9D",),
        10,
        0,
    )
    verdicts_on((CLIENT, SRD), (HOUSE, Res("L", 5)), referee=referee)
    assert referee.game is None
    assert referee.last_game is not None
    assert referee.last_game.net == -5


def test_the_referee_of_a_house_knows_its_settings_and_that_of_a_client_its_options() -> None:
    first = [(CLIENT, PLY), (HOUSE, Mon(400))]
    assert [v.violation.clause for v in verdicts_on(*first, referee=ROOM.referee(Settings(), False))] == [
        "blackjack-7.2"
    ]
    for end in (Settings(money=400), Options(), None):
        assert verdicts_on(*first, referee=ROOM.referee(end, False)) == []
    pair = [(CLIENT, PLY), (HOUSE, Mon(1000)), (CLIENT, Bet(10)), (HOUSE, CRD["C"]["8S"]), (HOUSE, CRD["C"]["8S"])]
    assert [v.violation.clause for v in verdicts_on(*pair, referee=ROOM.referee(Options(), False))] == ["blackjack-3.1"]
    for end in (Settings(decks=2), Options(decks=2)):
        assert verdicts_on(*pair, referee=ROOM.referee(end, False)) == []
    stop = [(CLIENT, PLY), (HOUSE, STP)]
    for end in (Settings(), Options(), None):
        assert verdicts_on(*stop, referee=ROOM.referee(end, False)) == []
        assert [v.violation.clause for v in verdicts_on(*stop, referee=ROOM.referee(end, True))] == ["blackjack-8.3"]


def test_missing_answer_is_a_fault_at_the_timeout() -> None:
    referee = Referee(reply_timeout=5.0)
    assert referee.deadline is None
    referee.on(Sent(CLIENT, HOUSE, PLY), 100.0)
    assert referee.deadline == 105.0
    (verdict,) = referee.on(TimedOut(), 105.0)
    assert (verdict.party, verdict.violation.clause, verdict.violation.found) == (HOUSE, "blackjack-4.1", "silence")
    assert referee.deadline is None


def test_client_has_no_timeout() -> None:
    referee = Referee()
    verdicts_on(*BEGUN, referee=referee)
    assert referee.deadline is None
    assert referee.on(TimedOut(), 1000.0) == []


def test_further_client_messages_do_not_extend_the_timeout() -> None:
    referee = Referee(reply_timeout=5.0)
    referee.on(Sent(CLIENT, HOUSE, PLY), 0.0)
    referee.on(Sent(CLIENT, HOUSE, Bet(10)), 4.0)
    assert referee.deadline == 5.0


def test_expected_card_names_its_owner() -> None:
    referee = Referee()
    (verdict,) = verdicts_on(*BEGUN[:4], (HOUSE, TRN), referee=referee)
    assert str(verdict.violation) == "blackjack-4.2: found TRN; allowed: CRD C and a card"
    (verdict,) = verdicts_on(*BEGUN, (CLIENT, MOV["S"]), (HOUSE, TRN))
    assert str(verdict.violation) == "blackjack-4.4: found TRN; allowed: CRD S and a card"
    (verdict,) = verdicts_on(*BEGUN, (CLIENT, SRD), (HOUSE, TRN))
    assert str(verdict.violation) == "blackjack-4.5: found TRN; allowed: RES L 5"


@pytest.mark.parametrize(
    ("begun", "more", "clause"),
    [
        (BEGUN, CRD["C"]["2C"], "blackjack-6.1"),
        (BEGUN, UNEXPECTED, "blackjack-4.7"),
        ((), CRD["C"]["2C"], "blackjack-1.2"),
    ],
)
def test_a_refused_frame_that_moves_the_round_has_changed_something(
    begun: Sequence[tuple[int, object]], more: Message, clause: str
) -> None:
    refused, after = verdicts_on(*begun, (CLIENT, TRN), (HOUSE, UNEXPECTED), (HOUSE, more))
    assert (refused.party, after.party, after.violation.clause) == (CLIENT, HOUSE, clause)


@pytest.mark.parametrize("sent", [BEGUN[:1], BEGUN[:3], BEGUN[:5], BEGUN, [*BEGUN, (CLIENT, MOV["H"])]], ids=len)
def test_a_goodbye_of_the_house_that_crosses_a_frame_is_no_fault(sent: list[tuple[int, object]]) -> None:
    """blackjack-4.7, blackjack-8.1"""
    assert verdicts_on(*sent, (HOUSE, LEAVING), (HOUSE, STP)) == []
    assert verdicts_on(*sent, (CLIENT, STP), (HOUSE, LEAVING), (HOUSE, STP)) == []
    assert verdicts_on(*sent, (HOUSE, LEAVING), (CLIENT, PLY), (CLIENT, STP), (HOUSE, STP)) == []


# The player.


def test_legal_messages_in_each_state() -> None:
    assert player().legal == (PLY, STP)
    assert player(PLY).legal == (STP,)
    assert player(PLY, Mon(1000)).legal == (Bet(10), STP)
    assert player(PLY, Mon(1000), Bet(10)).legal == (STP,)
    assert player(PLY, Mon(1000), Bet(10), *DEAL).legal == (MOV["H"], MOV["S"], SRD, STP)
    assert player(PLY, Mon(1000), Bet(10), *DEAL, SRD, Res("L", 5)).legal == (PLY, STP)


@given(st.integers(0, 2**31 - 1), st.integers(1, 2**31 - 1), st.integers(-5, 2**31 - 1))
def test_all_payable_bets_are_legal_and_the_configured_one_is_listed(balance: int, own: int, bet: int) -> None:
    found = player(PLY, Mon(balance), options=Options(bet=own))
    most = min(balance, 2**31 - 1 - balance, 2**30 - 1)
    assert found.legal == ((Bet(min(own, most)), STP) if most else (STP,))
    assert (Bet(bet) in found.legal) == (0 < bet <= most)
    assert found.is_exhausted == (most == 0)
    if bet > most:
        with pytest.raises(IllegalMove) as refusal:
            found.on(Submitted(Bet(bet)), 0.0)
        assert refusal.value.allowed == tuple(found.legal)


def test_another_bet_than_the_listed_one_is_played() -> None:
    found = player(PLY, Mon(1000))
    assert isinstance(found.legal, LegalMessages)
    assert [*found.on(Submitted(Bet(777)), 0.0)] == [Send(HOUSE, Bet(777))]
    assert found.game is not None
    assert found.game.bet == 777


def test_player_waits_for_the_answer_to_stp() -> None:
    """blackjack-8.1"""
    found = player()
    assert [*found.on(Submitted(STP), 0.0)] == [Send(HOUSE, STP)]
    assert found.legal == ()
    assert found.deadline == 30.0
    assert [*found.on(Received(HOUSE, STP), 1.0)] == [Notify(STP), Drop(HOUSE)]
    assert found.deadline is None
    assert [*found.on(Left(HOUSE), 2.0)] == [Notify(Left(HOUSE))]


def test_player_may_send_stp_while_an_answer_is_due() -> None:
    found = player(PLY)
    found.on(Submitted(STP), 0.0)
    assert found.legal == ()
    assert [*found.on(Received(HOUSE, Mon(1000)), 0.0)] == [Notify(Mon(1000))]
    assert found.legal == ()
    assert [*found.on(Received(HOUSE, STP), 0.0)] == [Notify(STP), Drop(HOUSE)]


@pytest.mark.parametrize("state", [(), (PLY,), (PLY, Mon(1000)), (PLY, Mon(1000), Bet(10), *DEAL)], ids=len)
def test_player_has_no_legal_message_after_a_goodbye(state: tuple[Message, ...]) -> None:
    found = player(*state)
    assert [*found.on(Received(HOUSE, LEAVING), 0.0)] == [Notify(LEAVING)]
    assert found.legal == ()
    assert found.decide(bot_factory(BOT_SPECS, "random")(), None, 0) is None
    assert [*found.on(Received(HOUSE, STP), 0.0)] == [Notify(STP), Drop(HOUSE)]
    assert [*found.on(Left(HOUSE), 0.0)] == [Notify(Left(HOUSE))]


def test_a_player_takes_stp_without_300_unless_it_is_strict() -> None:
    """blackjack-8.3"""
    assert [*player(PLY).on(Received(HOUSE, STP), 0.0)] == [Notify(STP), Drop(HOUSE)]
    expected, *rest = player(PLY, strict=True).on(Received(HOUSE, STP), 0.0)
    assert isinstance(expected, Notify)
    assert isinstance(expected.notice, Violation)
    assert expected.notice.clause == "blackjack-8.3"
    assert rest == [Send(HOUSE, STP), Drop(HOUSE)]


def test_closing_player_sends_stp() -> None:
    assert [*player(PLY).on(Closing(), 0.0)] == [Send(HOUSE, STP), Drop(HOUSE)]


def test_a_round_that_is_over_is_settled_once() -> None:
    found = player(PLY, Mon(1000), Bet(10), *DEAL, SRD)
    (_, settle) = found.on(Received(HOUSE, Res("L", 5)), 0.0)
    assert settle == Settle(HOUSE, 1, 0, -5, found.last_game)


def test_bot_with_an_empty_purse_sends_stp_once() -> None:
    mind, found = bot_factory(BOT_SPECS, "random")(), player(PLY, Mon(0))
    assert found.is_exhausted
    assert found.decide(mind, None, 0) == STP
    found.on(Submitted(STP), 0.0)
    assert found.decide(mind, None, 0) is None
    found.on(Received(HOUSE, STP), 0.0)
    assert found.decide(mind, None, 0) is None


def test_bot_bets_its_option_or_the_maximum() -> None:
    mind = bot_factory(BOT_SPECS, "random")()
    assert player(PLY, Mon(1000), options=Options(bet=300)).decide(mind, None, 0) == Bet(300)
    assert player(PLY, Mon(200), options=Options(bet=300)).decide(mind, None, 0) == Bet(200)
    assert player(PLY).decide(mind, None, 0) is None
    assert player().decide(mind, None, 0) == PLY
    assert player(PLY, Mon(1000), Bet(10)).decide(mind, None, 0) is None


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        (Options(bet=0), "found a bet of 0; allowed: 1 or more"),
        (Options(bet=-10), "found a bet of -10; allowed: 1 or more"),
        (Options(decks=0), "found 0 decks; allowed: 1 to 8"),
        (Options(decks=9), "found 9 decks; allowed: 1 to 8"),
    ],
)
def test_invalid_options_are_refused(options: Options, expected: str) -> None:
    with pytest.raises(ValueError, match=expected):
        ROOM.player(options)


def test_options_select_no_bot() -> None:
    assert Options().bot() is None
