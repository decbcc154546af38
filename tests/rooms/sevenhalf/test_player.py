"""Player of seven and a half: legal messages, raises, exhaustion and reactions to faults."""

from collections.abc import Sequence
from typing import Any

import pytest

from croupier.core.bots import bot_factory
from croupier.core.dealer import FairDealer
from croupier.core.errors import IllegalMove, Violation
from croupier.core.referee import HOUSE
from croupier.core.session import (
    Closing,
    Drop,
    Joined,
    Left,
    Malformed,
    Notify,
    Received,
    Send,
    Settle,
    Submitted,
    TimedOut,
)
from croupier.rooms.sevenhalf import Options, Player
from croupier.rooms.sevenhalf.bots import BOT_SPECS
from tests.rooms.sevenhalf.conversations import (
    BSTG,
    BUST,
    DRAW,
    GONE,
    HAND,
    PASS,
    STRT,
    WINS,
    Ante,
    Erro,
    Gain,
    Stbt,
    bksc,
    card,
    exchange,
)

MOST = 2**30 - 1
NO = Erro("too much")
PLAYED = (*HAND, PASS, WINS, Gain(100))
DRAWN = (DRAW, card("1o"))


def player_after(*sent: Any, **how: Any) -> Player:
    """A player after a conversation, of which it has submitted the client's part."""
    strict = how.pop("strict", False)
    player = Player(Options(**how), strict=strict)
    player.on(Joined(HOUSE), 0.0)
    process(player, *sent)
    return player


def process(player: Player, *sent: Any) -> list[Any]:
    """Process turns; return the effects of the last one."""
    effects: Sequence[Any] = []
    for turn in sent:
        if turn == GONE:
            effects = player.on(Left(HOUSE), 0.0)
            continue
        ((side, message),) = exchange(turn)
        effects = player.on(Received(HOUSE, message) if side == HOUSE else Submitted(message), 0.0)
    return list(effects)


def bot(player: Player, spec: str) -> Any:
    return player.decide(bot_factory(BOT_SPECS, spec)(), FairDealer(bytes(32)).luck, 0)


# Legal messages.


@pytest.mark.parametrize(
    ("sent", "offered"),
    [
        ([], [STRT]),
        ([STRT], []),
        ([STRT, Stbt(100)], [DRAW]),
        ([STRT, Stbt(100), DRAW], []),
        (HAND, [DRAW, PASS]),
        ([*HAND, Ante(10)], [DRAW]),
        ([*HAND, Ante(10), Ante(10)], [DRAW]),
        ([*HAND, Ante(10), NO], [DRAW, PASS]),
        ([*HAND, Ante(10), Ante(20), NO], [DRAW]),
        ([*HAND, Ante(10), Ante(20), NO, NO], [DRAW, PASS]),
        ([*HAND, Ante(10), DRAW], []),
        ([*HAND, Ante(10), DRAW, NO], []),
        ([*HAND, Ante(10), DRAW, NO, card("1o")], [DRAW, PASS]),
        ([*HAND, Ante(10), DRAW, card("1o")], [DRAW, PASS]),
        ([*HAND, PASS], []),
        ([*HAND, PASS, WINS], []),
        (PLAYED, [STRT]),
        (BUST[:-1], []),
        (BUST, [STRT]),
        ([*HAND, NO], []),
        ([NO], []),
        ([*PLAYED, NO], []),
        ([*PLAYED, GONE], []),
    ],
)
def test_legal_messages_are_those_of_the_protocol(sent: Sequence[Any], offered: list[Any]) -> None:
    """The tables of section 4; empty while an answer is due and after an announced close."""
    assert list(player_after(*sent).legal) == offered


def test_unlisted_raise_may_be_submitted() -> None:
    for sent in (HAND, [*HAND, Ante(10)]):
        player = player_after(*sent)
        left = MOST - 100 - (10 if len(sent) > len(HAND) else 0)
        assert all(Ante(coins) in player.legal for coins in (1, 10, left))
        assert not any(Ante(coins) in player.legal for coins in (0, -1, left + 1, 2**31 - 1))
    for sent in ([], [STRT], [STRT, Stbt(100)], [*HAND, PASS], PLAYED):
        assert Ante(1) not in player_after(*sent).legal


@pytest.mark.parametrize("sent", [[], [STRT], [STRT, Stbt(100)], HAND, [*HAND, Ante(10)], PLAYED])
def test_illegal_submission_is_refused_without_effect(sent: Sequence[Any]) -> None:
    player = player_after(*sent)
    before = (list(player.legal), player.game, player.deadline)
    for message in (STRT, DRAW, PASS, Ante(0), Ante(MOST), Erro("no"), Stbt(1), BSTG):
        if message not in player.legal:
            with pytest.raises(IllegalMove):
                player.on(Submitted(message), 0.0)
            assert (list(player.legal), player.game, player.deadline) == before


def test_submissions_are_sent_and_received_messages_notified() -> None:
    player = player_after()
    assert process(player, STRT) == [Send(HOUSE, STRT)]
    assert process(player, Stbt(100)) == [Notify(Stbt(100))]
    assert process(player, *HAND[2:], Ante(10)) == [Send(HOUSE, Ante(10))]
    assert process(player, NO) == [Notify(NO)]
    assert process(player, PASS, WINS) == [Notify(WINS)]
    description, settle = process(player, Gain(100))
    assert description == Notify(Gain(100))
    assert isinstance(settle, Settle)
    assert (settle.hand_number, settle.seat, settle.net) == (1, 0, 100)
    assert process(player, GONE) == [Notify(Left(HOUSE))]


# The limit on raises.


@pytest.mark.parametrize(("limit", "raised"), [(1, None), (2, 100), (3, 200), (10, 900)])
def test_a_raise_to_the_limit_is_listed_and_no_other(limit: int, raised: int | None) -> None:
    player = player_after(*HAND, limit=limit)
    assert list(player.legal) == [DRAW, PASS, *([Ante(raised)] if raised else [])]
    assert Ante(1) in player.legal, "a program may raise freely"
    assert Ante(MOST - 100) in player.legal


def test_limit_follows_the_starting_bet_of_the_game() -> None:
    player = player_after(*HAND, limit=3)
    process(player, PASS, WINS, Gain(100), STRT, Stbt(7), DRAW, card("5o"))
    assert list(player.legal) == [DRAW, PASS, Ante(14)]
    process(player, PASS, WINS, Gain(7), *HAND)
    assert list(player.legal) == [DRAW, PASS, Ante(200)]


def test_listed_raise_is_the_rest_of_the_limit() -> None:
    player = player_after(*HAND, Ante(50), limit=3)
    assert list(player.legal) == [DRAW, Ante(150)]
    process(player, Ante(150))
    assert list(player.legal) == [DRAW]
    process(player, DRAW, card("1o"))
    assert list(player.legal) == [DRAW, PASS]
    assert Ante(500) in player.legal, "the limit binds bots only"


def test_limit_never_exceeds_the_largest_total_bet() -> None:
    start = (STRT, Stbt(MOST - 5), DRAW, card("5o"))
    assert list(player_after(*start, limit=2).legal) == [DRAW, PASS, Ante(5)]
    assert list(player_after(STRT, Stbt(MOST), DRAW, card("5o"), limit=2).legal) == [DRAW, PASS]


@pytest.mark.parametrize("limit", [0, -1])
def test_a_limit_below_one_bet_is_refused(limit: int) -> None:
    with pytest.raises(ValueError, match=f"^found the limit {limit}; allowed: 1 or more$"):
        Player(Options(limit=limit))


def test_bot_raises_to_the_limit_and_never_by_default() -> None:
    for limit, expected in ((1, PASS), (2, Ante(100)), (3, Ante(100))):
        assert bot(player_after(*HAND, limit=limit), "script:100,PASS") == expected
    assert bot(player_after(*HAND, limit=2), "script:50,PASS") == Ante(50), "a script raises by the number it names"
    low = (STRT, Stbt(100), DRAW, card("so"))
    assert bot(player_after(*low), "exact") == DRAW
    assert bot(player_after(*low, limit=5), "exact") == Ante(400)
    assert bot(player_after(*low, limit=5), "book") == DRAW


def test_a_raise_that_was_refused_is_not_tried_again_in_this_game() -> None:
    script = "script:200,DRAW"
    player = player_after(*HAND, limit=3)
    assert bot(player, script) == Ante(200)
    process(player, Ante(200), NO)
    assert bot(player, script) == DRAW
    process(player, DRAW, card("1o"))
    assert bot(player, script) == DRAW
    process(player, PASS, WINS, Gain(100), *HAND)
    assert bot(player, script) == Ante(200), "the next game is another one"


@pytest.mark.parametrize(
    ("sent", "move"),
    [
        ([], STRT),
        ([STRT], None),
        ([STRT, Stbt(100)], DRAW),
        ([*HAND, PASS], None),
        (PLAYED, STRT),
        ([*PLAYED, NO], None),
    ],
)
def test_a_bot_asks_for_games_and_waits_for_answers(sent: Sequence[Any], move: Any) -> None:
    for spec in ("exact", "book:0.5", "random", "script:PASS"):
        assert bot(player_after(*sent), spec) == move


# The end.


@pytest.mark.parametrize("played", [PLAYED, BUST], ids=["pass", "bust"])
@pytest.mark.parametrize("asked", [[], [STRT]], ids=["", "asked"])
def test_client_is_exhausted_when_the_house_closes_between_games(played: Sequence[Any], asked: Sequence[Any]) -> None:
    """sevenhalf-8.5: the next game is played on a new connection."""
    player = player_after(*played, *asked)
    assert not player.is_exhausted
    assert process(player, GONE) == [Notify(Left(HOUSE))]
    assert player.is_exhausted
    assert player.legal == ()


def test_strict_client_reports_the_same_close_as_a_fault() -> None:
    player = player_after(*PLAYED, strict=True)
    description, gone = process(player, GONE)
    assert description.notice.clause == "sevenhalf-8.5"
    assert gone == Notify(Left(HOUSE))
    assert not player.is_exhausted


@pytest.mark.parametrize("sent", [[], [STRT], [STRT, Stbt(100)], HAND, [*HAND, PASS, WINS], [*PLAYED, *HAND]])
def test_client_is_not_exhausted_by_a_close_at_other_times(sent: Sequence[Any]) -> None:
    player = player_after(*sent)
    description, gone = process(player, GONE)
    assert isinstance(description.notice, Violation)
    assert gone == Notify(Left(HOUSE))
    assert not player.is_exhausted


@pytest.mark.parametrize("sent", [[], [STRT], HAND, [*HAND, Ante(10)], [*HAND, PASS]])
def test_announced_close_is_no_fault_and_exhausts_only_after_a_game(sent: Sequence[Any]) -> None:
    """sevenhalf-8.2 and 8.4"""
    player = player_after(*sent)
    assert process(player, NO) == [Notify(NO)]
    assert process(player, GONE) == [Notify(Left(HOUSE))]
    assert not player.is_exhausted
    player = player_after(*PLAYED, NO)
    assert process(player, GONE) == [Notify(Left(HOUSE))]
    assert player.is_exhausted


def stderr_excerpt(clause: str) -> list[Any]:
    return [Send(HOUSE, Erro(f"sevenhalf-{clause} is broken")), Drop(HOUSE)]


@pytest.mark.parametrize(
    ("sent", "fault", "clause"),
    [
        ([], Stbt(100), "1.2"),
        ([STRT], Stbt(0), "7.1"),
        ([STRT], card("1o"), "4.1"),
        ([*HAND, DRAW], card("5o"), "3.3"),
        ([*HAND, PASS], bksc("4c", "04.0"), "3.6"),
        ([*HAND, PASS], bksc("4c 4e", "07.5"), "5.2"),
        ([*HAND, PASS, WINS], Gain(-100), "5.5"),
        ([*HAND, Ante(10)], Stbt(110), "4.4"),
        ([*HAND, NO], Stbt(100), "6.8"),
        (PLAYED, card("1o"), "4.9"),
    ],
)
def test_client_sends_the_broken_clause_and_closes(sent: Sequence[Any], fault: Any, clause: str) -> None:
    player = player_after(*sent)
    description, *rest = process(player, fault)
    assert description.notice.clause == f"sevenhalf-{clause}"
    assert rest == stderr_excerpt(clause)
    assert player.legal == ()
    assert player.deadline is None
    assert process(player, GONE) == [Notify(Left(HOUSE))]
    assert not player.is_exhausted


def test_client_reports_malformed_input_and_closes() -> None:
    violation = Violation("sevenhalf-2.9", "'HELO'", "a code", fatal=True)
    assert player_after(STRT).on(Malformed(HOUSE, violation), 0.0) == [Notify(violation), *stderr_excerpt("2.9")]


def test_a_client_waits_so_long_and_no_longer() -> None:
    player = Player(reply_timeout=30.0)
    player.on(Joined(HOUSE), 0.0)
    assert player.deadline is None
    player.on(Submitted(STRT), 2.0)
    assert player.deadline == 32.0
    description, *rest = player.on(TimedOut(), 32.0)
    assert (description.notice.clause, description.notice.found) == ("sevenhalf-4.1", "silence")
    assert rest == stderr_excerpt("4.1")


def test_closing_client_disconnects_silently() -> None:
    """sevenhalf-8.1"""
    for sent in ([], [STRT], HAND, PLAYED):
        player = player_after(*sent)
        assert player.on(Closing(), 0.0) == [Drop(HOUSE)]
        process(player, GONE)
        assert not player.is_exhausted


def test_bust_is_settled_by_gain() -> None:
    player = player_after(*BUST[:-1])
    (settle,) = [effect for effect in process(player, Gain(-100)) if isinstance(effect, Settle)]
    assert settle.net == -100
    assert player.last_game is not None
    assert (player.last_game.state.cards, player.last_game.state.bank_card_count) == (("7o", "7c", "rb"), 1)
    assert list(player.legal) == [STRT], "no PASS is wanted"


def test_a_lost_game_with_antes_is_settled_with_them() -> None:
    player = player_after(*HAND, Ante(10), Ante(5), DRAW, card("7c"), BSTG, bksc("rb", "00.5"))
    (settle,) = [effect for effect in process(player, Gain(-115)) if isinstance(effect, Settle)]
    assert settle.net == -115


def test_the_game_is_shown_with_the_bet_as_far_as_it_is_known() -> None:
    player = player_after(*HAND)
    for sent, bet in (([Ante(10)], 110), ([Ante(5)], 115), ([NO, NO], 100), ([Ante(7), *DRAWN], 107)):
        process(player, *sent)
        assert player.game is not None
        assert player.game.bet == bet


def test_best_play_works_with_a_lenient_client() -> None:
    assert bot(player_after(STRT, Stbt(100), dialect="lenient"), "exact") == DRAW


def test_a_raise_that_is_refused_late_is_not_tried_again() -> None:
    """As bots usually do, without a pause between ANTE and DRAW."""
    player = player_after(*HAND, limit=2)
    process(player, Ante(100), DRAW, NO, card("1o"))
    assert bot(player, "script:100,DRAW") == DRAW
