"""Referee of Kuhn poker: no false verdicts, timeouts, and the client's purse."""

from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from croupier.core.bots import bot_factory
from croupier.core.errors import Violation
from croupier.core.referee import CLIENT, HOUSE, OTHER_END, Disconnected, Sent, Verdict
from croupier.core.session import Joined, Notify, Received, Submitted, TimedOut
from croupier.rooms import HOUSE_ROOMS
from croupier.rooms.kuhn.bots import BOT_SPECS
from croupier.rooms.kuhn.player import Player
from croupier.rooms.kuhn.referee import ACTION_CLAUSES, Referee, WireGame
from croupier.rooms.kuhn.rules import BETTING_TREE, P_1, P_2, TERMINAL_HISTORIES
from croupier.rooms.kuhn.wire import ACTN, CARD, DISC, NO_COINS, STRT, VOCABULARY, WRONG_ACTION
from tests.properties.inputs import random_violations
from tests.properties.random_session import bot_names
from tests.properties.self_play import SelfPlay
from tests.sampling import example_count

KUHN = HOUSE_ROOMS["kuhn"]
sides = st.sampled_from([CLIENT, HOUSE])


def verdicts_on(*sent: tuple[int, object], coins: int | None = None) -> list[Verdict]:
    referee = Referee(coins)
    return [verdict for side, message in sent for verdict in referee.on(Sent(side, OTHER_END[side], message), 0.0)]


@pytest.mark.hypothesis
@pytest.mark.parametrize("games", [30, pytest.param(3_000, marks=pytest.mark.slow)], ids=["quick", "soak"])
@pytest.mark.parametrize("style", bot_names(KUHN))
def test_honest_games_have_no_house_faults(style: str, games: int) -> None:
    """The referee knows the purse, so that every FAIL N_C is checked as well."""
    for seed in range(example_count(8)):
        bout = SelfPlay(KUHN, bot_factory(BOT_SPECS, style)(), {"seed": str(seed), "coins": "2", "bot": "random"})
        bout.referee = lambda: Referee(coins=2)
        bout.play(games)
        assert {verdict.violation.clause for verdict in bout.verdicts} <= {"kuhn-7.2", "kuhn-7.3"}
        assert all(verdict.party == CLIENT for verdict in bout.verdicts)


@given(st.lists(st.tuples(sides, st.sampled_from(VOCABULARY)), max_size=40), st.sampled_from([None, 0, 1, 10]))
def test_a_referee_never_raises_and_names_clauses(exchange: Sequence[tuple[int, object]], coins: int | None) -> None:
    verdicts = verdicts_on(*exchange, coins=coins)
    assert all(verdict.violation.clause.startswith("kuhn-") for verdict in verdicts)
    faults = [at for at, verdict in enumerate(verdicts) if verdict.party == HOUSE]
    assert faults in ([], [len(verdicts) - 1]), "a fault of the house ends the checks"


@given(st.lists(st.tuples(sides, random_violations(KUHN)), max_size=8))
def test_malformed_input_is_the_senders_fault(exchange: Sequence[tuple[int, Violation]]) -> None:
    referee = Referee()
    for side, violation in exchange:
        verdicts = referee.on(Sent(side, OTHER_END[side], violation), 0.0)
        assert [*verdicts[:1]] == [Verdict(side, violation)]
        if side == HOUSE:
            assert referee.on(Sent(side, OTHER_END[side], violation), 0.0) == []
            return


def test_every_action_of_the_client_has_a_clause_for_its_answer() -> None:
    assert set(ACTION_CLAUSES) == {
        (action, history) for history, (_, actions) in BETTING_TREE.items() for action in actions
    }


@pytest.mark.parametrize("history", TERMINAL_HISTORIES)
def test_the_referee_pays_as_the_rules_do(history: tuple[str, ...]) -> None:
    for deal in ("JQ", "JK", "QJ", "QK", "KJ", "KQ"):
        state = KUHN.rules.start()
        for move in (*deal, *history):
            state = KUHN.rules.play(state, move)
        for seat in (P_1, P_2):
            assert WireGame(seat, deal[seat], history, deal[1 - seat]).net == KUHN.rules.payoff(state)[seat]


def test_missing_answer_is_a_fault_at_the_timeout() -> None:
    referee = Referee(reply_timeout=5.0)
    assert referee.deadline is None
    referee.on(Sent(CLIENT, HOUSE, STRT["P_1"]), 100.0)
    assert referee.deadline == 105.0
    (verdict,) = referee.on(TimedOut(), 105.0)
    assert (verdict.party, verdict.violation.clause, verdict.violation.found) == (HOUSE, "kuhn-4.1", "silence")
    assert referee.deadline is None


def test_client_has_no_timeout() -> None:
    referee = Referee()
    referee.on(Sent(CLIENT, HOUSE, STRT["P_1"]), 0.0)
    referee.on(Sent(HOUSE, CLIENT, CARD["Q"]), 0.0)
    assert referee.deadline is None
    assert referee.on(TimedOut(), 1000.0) == []


def test_further_client_messages_do_not_extend_the_timeout() -> None:
    """The answer to STRT is due five seconds after STRT, whatever the client sends meanwhile."""
    referee = Referee(reply_timeout=5.0)
    referee.on(Sent(CLIENT, HOUSE, STRT["P_1"]), 0.0)
    referee.on(Sent(CLIENT, HOUSE, ACTN["BET"]), 4.0)
    assert referee.deadline == 5.0


@pytest.mark.parametrize("sent", [[STRT["P_1"]], [STRT["P_1"], CARD["Q"], ACTN["BET"]]], ids=["STRT", "ACTN"])
def test_a_goodbye_of_the_house_that_crosses_a_message_is_no_fault(sent: list[object]) -> None:
    """The house may send DISC at any time (kuhn-4.9), for example when it is closing as STRT arrives (kuhn-8.4)."""
    exchange = [(HOUSE if message in CARD.values() else CLIENT, message) for message in sent]
    assert verdicts_on(*exchange, (HOUSE, DISC)) == []


def test_player_accepts_a_goodbye_that_crosses_its_message() -> None:
    player = Player()
    player.on(Joined(HOUSE), 0.0)
    player.on(Submitted(STRT["P_1"]), 0.0)
    assert [e.notice for e in player.on(Received(HOUSE, DISC), 0.0) if isinstance(e, Notify)] == [DISC]


def test_exhausted_player_has_no_decision_after_the_close() -> None:
    player, mind = Player(), bot_factory(BOT_SPECS, "random")()
    player.on(Joined(HOUSE), 0.0)
    player.on(Submitted(STRT["P_1"]), 0.0)
    player.on(Received(HOUSE, NO_COINS), 0.0)
    assert player.is_exhausted
    assert player.decide(mind, None, 0) == DISC
    player.on(Received(HOUSE, DISC), 0.0)
    assert player.legal == ()
    assert player.decide(mind, None, 0) is None


def test_unaffordable_actions_are_not_legal_until_the_state_changes() -> None:
    player = Player()
    player.on(Joined(HOUSE), 0.0)
    for event in (
        Submitted(STRT["P_1"]),
        Received(HOUSE, CARD["Q"]),
        Submitted(ACTN["BET"]),
        Received(HOUSE, NO_COINS),
    ):
        player.on(event, 0.0)
    assert player.legal == (ACTN["CHK"], DISC)
    player.on(Submitted(ACTN["CHK"]), 0.0)
    player.on(Received(HOUSE, CARD["K"]), 0.0)
    assert player.legal == (STRT["P_1"], STRT["P_2"], DISC)


@pytest.mark.parametrize("coins", [None, 10])
def test_client_disconnect_is_no_fault(coins: int | None) -> None:
    referee = Referee(coins)
    referee.on(Sent(CLIENT, HOUSE, STRT["P_1"]), 0.0)
    assert referee.on(Disconnected(CLIENT, HOUSE), 0.0) == []
    assert referee.on(Sent(HOUSE, CLIENT, WRONG_ACTION), 0.0) == []


def test_the_purse_is_followed_from_game_to_game() -> None:
    won = [(CLIENT, STRT["P_1"]), (HOUSE, CARD["K"]), (CLIENT, ACTN["CHK"]), (HOUSE, CARD["Q"])]
    bet = [(CLIENT, STRT["P_1"]), (HOUSE, CARD["K"]), (CLIENT, ACTN["BET"])]
    assert verdicts_on(*won, *bet, (HOUSE, NO_COINS), coins=1)[-1].violation.clause == "kuhn-7.3"
    assert verdicts_on(*won, *bet, (HOUSE, CARD["Q"]), coins=1) == []
    lost = [(CLIENT, STRT["P_1"]), (HOUSE, CARD["Q"]), (CLIENT, ACTN["CHK"]), (HOUSE, CARD["K"])]
    assert [
        (v.party, v.violation.clause) for v in verdicts_on(*lost, (CLIENT, STRT["P_2"]), (HOUSE, NO_COINS), coins=1)
    ] == [(CLIENT, "kuhn-7.2")]


@pytest.mark.parametrize(
    ("exchange", "clause"),
    [
        ([(CLIENT, STRT["P_2"]), (HOUSE, NO_COINS), (HOUSE, ACTN["CHK"])], "kuhn-7.2"),
        ([(CLIENT, STRT["P_1"]), (HOUSE, NO_COINS), (CLIENT, STRT["P_1"]), (HOUSE, WRONG_ACTION)], "kuhn-7.2"),
        (
            [
                *[(CLIENT, STRT["P_1"]), (HOUSE, CARD["K"]), (CLIENT, ACTN["BET"]), (HOUSE, NO_COINS)],
                *[(CLIENT, ACTN["CAL"]), (HOUSE, WRONG_ACTION), (CLIENT, ACTN["CHK"]), (HOUSE, WRONG_ACTION)],
            ],
            "kuhn-7.3",
        ),
        (
            [
                *[(CLIENT, STRT["P_2"]), (HOUSE, CARD["K"]), (HOUSE, ACTN["BET"]), (CLIENT, ACTN["CAL"])],
                *[(HOUSE, NO_COINS), (CLIENT, ACTN["FLD"]), (HOUSE, WRONG_ACTION)],
            ],
            "kuhn-7.3",
        ),
        (
            [
                *[(CLIENT, STRT["P_2"]), (HOUSE, CARD["K"]), (HOUSE, ACTN["BET"]), (CLIENT, ACTN["CAL"])],
                *[(HOUSE, NO_COINS), (CLIENT, ACTN["FLD"]), (HOUSE, CARD["Q"])],
            ],
            "kuhn-4.7",
        ),
        ([(CLIENT, STRT["P_1"]), (HOUSE, NO_COINS), (CLIENT, WRONG_ACTION), (HOUSE, WRONG_ACTION)], "kuhn-6.5"),
        (
            [
                *[(CLIENT, STRT["P_2"]), (HOUSE, CARD["K"]), (HOUSE, ACTN["BET"]), (CLIENT, ACTN["CAL"])],
                *[(HOUSE, NO_COINS), (CLIENT, ACTN["FLD"]), (CLIENT, STRT["P_1"]), (HOUSE, WRONG_ACTION)],
            ],
            "kuhn-4.1",
        ),
    ],
)
def test_a_refusal_for_lack_of_coins_changes_nothing(exchange: Sequence[tuple[int, object]], clause: str) -> None:
    faults = [verdict for verdict in verdicts_on(*exchange) if verdict.party == HOUSE]
    assert [verdict.violation.clause for verdict in faults] == [clause]
