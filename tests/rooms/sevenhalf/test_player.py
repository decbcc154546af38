"""Our client of seven and a half: what it offers, how it raises, when it is spent, and how it complains."""

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
    talk,
)

MOST = 2**30 - 1
NO = Erro("too much")
PLAYED = (*HAND, PASS, WINS, Gain(100))
DRAWN = (DRAW, card("1o"))


def seated(*said: Any, **how: Any) -> Player:
    """A client behind a conversation, of which it has chosen its part."""
    strict = how.pop("strict", False)
    player = Player(Options(**how), strict=strict)
    player.on(Joined(HOUSE), 0.0)
    hear(player, *said)
    return player


def hear(player: Player, *said: Any) -> list[Any]:
    """What came of the last thing that was said."""
    effects: Sequence[Any] = []
    for turn in said:
        if turn == GONE:
            effects = player.on(Left(HOUSE), 0.0)
            continue
        ((side, message),) = talk(turn)
        effects = player.on(Received(HOUSE, message) if side == HOUSE else Submitted(message), 0.0)
    return list(effects)


def bot(player: Player, spec: str) -> Any:
    return player.decide(bot_factory(BOT_SPECS, spec)(), FairDealer(bytes(32)).luck, 0)


# What may be said.


@pytest.mark.parametrize(
    ("said", "offered"),
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
def test_a_client_is_offered_what_the_page_allows(said: Sequence[Any], offered: list[Any]) -> None:
    """The tables of section 4; nothing while an answer is due, or behind a farewell."""
    assert list(seated(*said).legal) == offered


def test_a_raise_may_be_chosen_though_none_is_listed() -> None:
    for said in (HAND, [*HAND, Ante(10)]):
        player = seated(*said)
        left = MOST - 100 - (10 if len(said) > len(HAND) else 0)
        assert all(Ante(coins) in player.legal for coins in (1, 10, left))
        assert not any(Ante(coins) in player.legal for coins in (0, -1, left + 1, 2**31 - 1))
    for said in ([], [STRT], [STRT, Stbt(100)], [*HAND, PASS], PLAYED):
        assert Ante(1) not in seated(*said).legal


@pytest.mark.parametrize("said", [[], [STRT], [STRT, Stbt(100)], HAND, [*HAND, Ante(10)], PLAYED])
def test_what_is_not_offered_cannot_be_chosen_and_changes_nothing(said: Sequence[Any]) -> None:
    player = seated(*said)
    before = (list(player.legal), player.game, player.deadline)
    for message in (STRT, DRAW, PASS, Ante(0), Ante(MOST), Erro("no"), Stbt(1), BSTG):
        if message not in player.legal:
            with pytest.raises(IllegalMove):
                player.on(Submitted(message), 0.0)
            assert (list(player.legal), player.game, player.deadline) == before


def test_what_is_chosen_is_said_and_what_is_heard_is_told() -> None:
    player = seated()
    assert hear(player, STRT) == [Send(HOUSE, STRT)]
    assert hear(player, Stbt(100)) == [Notify(Stbt(100))]
    assert hear(player, *HAND[2:], Ante(10)) == [Send(HOUSE, Ante(10))]
    assert hear(player, NO) == [Notify(NO)]
    assert hear(player, PASS, WINS) == [Notify(WINS)]
    told, settle = hear(player, Gain(100))
    assert told == Notify(Gain(100))
    assert isinstance(settle, Settle)
    assert (settle.hand_number, settle.seat, settle.net) == (1, 0, 100)
    assert hear(player, GONE) == [Notify(Left(HOUSE))]


# The limit on raises.


@pytest.mark.parametrize(("limit", "raised"), [(1, None), (2, 100), (3, 200), (10, 900)])
def test_a_raise_to_the_limit_is_listed_and_no_other(limit: int, raised: int | None) -> None:
    player = seated(*HAND, limit=limit)
    assert list(player.legal) == [DRAW, PASS, *([Ante(raised)] if raised else [])]
    assert Ante(1) in player.legal, "whoever chooses for himself may raise as he likes"
    assert Ante(MOST - 100) in player.legal


def test_the_limit_is_counted_in_starting_bets_of_this_game() -> None:
    player = seated(*HAND, limit=3)
    hear(player, PASS, WINS, Gain(100), STRT, Stbt(7), DRAW, card("5o"))
    assert list(player.legal) == [DRAW, PASS, Ante(14)]
    hear(player, PASS, WINS, Gain(7), *HAND)
    assert list(player.legal) == [DRAW, PASS, Ante(200)]


def test_what_is_left_of_the_limit_is_offered_and_no_more() -> None:
    player = seated(*HAND, Ante(50), limit=3)
    assert list(player.legal) == [DRAW, Ante(150)]
    hear(player, Ante(150))
    assert list(player.legal) == [DRAW]
    hear(player, DRAW, card("1o"))
    assert list(player.legal) == [DRAW, PASS]
    assert Ante(500) in player.legal, "whoever chooses for himself is not bound by it"


def test_the_limit_never_leads_beyond_what_a_house_can_pay() -> None:
    start = (STRT, Stbt(MOST - 5), DRAW, card("5o"))
    assert list(seated(*start, limit=2).legal) == [DRAW, PASS, Ante(5)]
    assert list(seated(STRT, Stbt(MOST), DRAW, card("5o"), limit=2).legal) == [DRAW, PASS]


@pytest.mark.parametrize("limit", [0, -1])
def test_a_limit_below_one_bet_is_refused(limit: int) -> None:
    with pytest.raises(ValueError, match=f"^found the limit {limit}; allowed: 1 or more$"):
        Player(Options(limit=limit))


def test_a_bot_raises_as_far_as_it_is_told_and_not_at_all_unless_it_is_told() -> None:
    for limit, expected in ((1, PASS), (2, Ante(100)), (3, Ante(100))):
        assert bot(seated(*HAND, limit=limit), "script:100,PASS") == expected
    assert bot(seated(*HAND, limit=2), "script:50,PASS") == Ante(50), "a script raises by the number it names"
    low = (STRT, Stbt(100), DRAW, card("so"))
    assert bot(seated(*low), "exact") == DRAW
    assert bot(seated(*low, limit=5), "exact") == Ante(400)
    assert bot(seated(*low, limit=5), "book") == DRAW


def test_a_raise_that_was_refused_is_not_tried_again_in_this_game() -> None:
    script = "script:200,DRAW"
    player = seated(*HAND, limit=3)
    assert bot(player, script) == Ante(200)
    hear(player, Ante(200), NO)
    assert bot(player, script) == DRAW
    hear(player, DRAW, card("1o"))
    assert bot(player, script) == DRAW
    hear(player, PASS, WINS, Gain(100), *HAND)
    assert bot(player, script) == Ante(200), "the next game is another one"


@pytest.mark.parametrize(
    ("said", "move"),
    [
        ([], STRT),
        ([STRT], None),
        ([STRT, Stbt(100)], DRAW),
        ([*HAND, PASS], None),
        (PLAYED, STRT),
        ([*PLAYED, NO], None),
    ],
)
def test_a_bot_asks_for_games_and_waits_for_answers(said: Sequence[Any], move: Any) -> None:
    for spec in ("exact", "book:0.5", "random", "script:PASS"):
        assert bot(seated(*said), spec) == move


# The end.


@pytest.mark.parametrize("played", [PLAYED, BUST], ids=["pass", "bust"])
@pytest.mark.parametrize("asked", [[], [STRT]], ids=["", "asked"])
def test_a_client_is_spent_when_the_house_closes_between_games(played: Sequence[Any], asked: Sequence[Any]) -> None:
    """sevenhalf-8.5: the next game is played on a new connection."""
    player = seated(*played, *asked)
    assert not player.is_exhausted
    assert hear(player, GONE) == [Notify(Left(HOUSE))]
    assert player.is_exhausted
    assert player.legal == ()


def test_to_a_strict_client_the_same_is_a_fault() -> None:
    player = seated(*PLAYED, strict=True)
    told, gone = hear(player, GONE)
    assert told.news.clause == "sevenhalf-8.5"
    assert gone == Notify(Left(HOUSE))
    assert not player.is_exhausted


@pytest.mark.parametrize("said", [[], [STRT], [STRT, Stbt(100)], HAND, [*HAND, PASS, WINS], [*PLAYED, *HAND]])
def test_a_client_is_not_spent_when_the_house_closes_at_any_other_time(said: Sequence[Any]) -> None:
    player = seated(*said)
    told, gone = hear(player, GONE)
    assert isinstance(told.news, Violation)
    assert gone == Notify(Left(HOUSE))
    assert not player.is_exhausted


@pytest.mark.parametrize("said", [[], [STRT], HAND, [*HAND, Ante(10)], [*HAND, PASS]])
def test_a_farewell_is_no_fault_and_spends_only_who_has_played(said: Sequence[Any]) -> None:
    """sevenhalf-8.2 and 8.4"""
    player = seated(*said)
    assert hear(player, NO) == [Notify(NO)]
    assert hear(player, GONE) == [Notify(Left(HOUSE))]
    assert not player.is_exhausted
    player = seated(*PLAYED, NO)
    assert hear(player, GONE) == [Notify(Left(HOUSE))]
    assert player.is_exhausted


def stderr_excerpt(clause: str) -> list[Any]:
    return [Send(HOUSE, Erro(f"sevenhalf-{clause} is broken")), Drop(HOUSE)]


@pytest.mark.parametrize(
    ("said", "fault", "clause"),
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
def test_a_client_says_which_clause_is_broken_and_goes(said: Sequence[Any], fault: Any, clause: str) -> None:
    player = seated(*said)
    told, *rest = hear(player, fault)
    assert told.news.clause == f"sevenhalf-{clause}"
    assert rest == stderr_excerpt(clause)
    assert player.legal == ()
    assert player.deadline is None
    assert hear(player, GONE) == [Notify(Left(HOUSE))]
    assert not player.is_exhausted


def test_a_client_that_cannot_read_its_house_says_so_and_goes() -> None:
    violation = Violation("sevenhalf-2.9", "'HELO'", "a code", fatal=True)
    assert seated(STRT).on(Malformed(HOUSE, violation), 0.0) == [Notify(violation), *stderr_excerpt("2.9")]


def test_a_client_waits_so_long_and_no_longer() -> None:
    player = Player(patience=30.0)
    player.on(Joined(HOUSE), 0.0)
    assert player.deadline is None
    player.on(Submitted(STRT), 2.0)
    assert player.deadline == 32.0
    told, *rest = player.on(TimedOut(), 32.0)
    assert (told.notice.clause, told.notice.found) == ("sevenhalf-4.1", "silence")
    assert rest == stderr_excerpt("4.1")


def test_a_client_that_is_told_to_stop_hangs_up_without_a_word() -> None:
    """sevenhalf-8.1"""
    for said in ([], [STRT], HAND, PLAYED):
        player = seated(*said)
        assert player.on(Closing(), 0.0) == [Drop(HOUSE)]
        hear(player, GONE)
        assert not player.is_exhausted


def test_a_bust_is_settled_as_the_house_says() -> None:
    player = seated(*BUST[:-1])
    (settle,) = [effect for effect in hear(player, Gain(-100)) if isinstance(effect, Settle)]
    assert settle.net == -100
    assert player.last_game is not None
    assert (player.last_game.state.cards, player.last_game.state.bank_card_count) == (("7o", "7c", "rb"), 1)
    assert list(player.legal) == [STRT], "no PASS is wanted"


def test_a_lost_game_with_antes_is_settled_with_them() -> None:
    player = seated(*HAND, Ante(10), Ante(5), DRAW, card("7c"), BSTG, bksc("rb", "00.5"))
    (settle,) = [effect for effect in hear(player, Gain(-115)) if isinstance(effect, Settle)]
    assert settle.net == -115


def test_the_game_is_shown_with_the_bet_as_far_as_it_is_known() -> None:
    player = seated(*HAND)
    for said, bet in (([Ante(10)], 110), ([Ante(5)], 115), ([NO, NO], 100), ([Ante(7), *DRAWN], 107)):
        hear(player, *said)
        assert player.game is not None
        assert player.game.bet == bet


def test_best_play_works_with_a_lenient_client() -> None:
    assert bot(seated(STRT, Stbt(100), dialect="lenient"), "exact") == DRAW


def test_a_raise_that_is_refused_late_is_not_tried_again() -> None:
    """The bot's usual course: it does not wait between ANTE and DRAW."""
    player = seated(*HAND, limit=2)
    hear(player, Ante(100), DRAW, NO, card("1o"))
    assert bot(player, "script:100,DRAW") == DRAW
