"""What the table of Old Maid does that no paper shows: its facts, its alarms, its memory, and who comes first."""

from hashlib import sha256

import pytest

from croupier.core.dealer import FAIR_ALGORITHM, SCRIPTED_ALGORITHM
from croupier.core.errors import Violation
from croupier.core.session import Closing, Commit, HandFinished, Malformed, Received, Reveal
from croupier.rooms.oldmaid.cards import CARD_NUMBERS, JOKER, WIRE_CARDS, to_wire
from croupier.rooms.oldmaid.house import UNAVAILABLE
from croupier.rooms.oldmaid.table.game import TableGame
from croupier.rooms.oldmaid.table.lobby import UNKNOWN_ADDRESS
from croupier.rooms.oldmaid.wire import (
    DISCARD_OK,
    OK,
    Discard,
    Draw,
    Join,
    Message,
    OutOfCards,
    Reply,
    Standing,
    Status,
    Wire,
)
from tests.rooms.oldmaid.tables import Evening, clause

PAIR = Discard((("3", "spades"), ("3", "clubs")), "false")


def state(fact: object) -> TableGame:
    """The game that a Finished tells of."""
    assert isinstance(fact, HandFinished)
    assert isinstance(fact.state, TableGame)
    return fact.state


# The facts.


def test_a_game_is_promised_told_and_revealed() -> None:
    evening = Evening(players=3)
    p, q, r = evening.join("ann", "bob", "cyd")
    (promise,) = evening.facts
    drawn = evening.draw(p, q, r)
    assert evening.house.playing
    assert evening.finish(q) == [OK]
    assert len(evening.facts) == 1
    assert evening.finish(p) == [OK]
    assert not evening.house.playing
    _, finished, seed = evening.facts
    assert isinstance(promise, Commit)
    assert isinstance(finished, HandFinished)
    assert isinstance(seed, Reveal)
    assert (promise.peer, finished.hand_number, seed.peer) == (1, 1, 1)
    assert (promise.algorithm, seed.algorithm, seed.hands) == (FAIR_ALGORITHM, FAIR_ALGORITHM, 1)
    assert promise.commitment == sha256(seed.server_seed).digest()
    assert finished.nets == (0, 0, -1)
    game = state(finished)
    assert (game.number, game.nicks, game.ranking) == (1, ("ann", "bob", "cyd"), (1, 0, 2))
    assert game.dealt_cards == tuple(card for _, card in drawn)
    assert not game.is_void


def test_the_course_of_a_game_is_all_that_was_done() -> None:
    evening = Evening(players=3, deck="3 spades, 4 spades, 5 spades, 3 clubs, joker maid")
    p, q, r = evening.join("ann", "bob", "cyd")
    drawn = evening.draw(p, q, r)
    assert evening.say(p, PAIR) == [DISCARD_OK]
    evening.leave(q)
    evening.finish(r)
    game = state(evening.facts[1])
    seats = {p: 0, q: 1, r: 2}
    three, clubs = CARD_NUMBERS["3", "spades"], CARD_NUMBERS["3", "clubs"]
    assert game.log == [
        *(("drew", seats[peer], card) for peer, card in drawn),
        ("threw", 0, three, clubs),
        ("gone", 1),
        *(("threw", 2, card, card + 1) for card in range(0, 16, 2) if card != three),
        ("out", 2),
    ]
    assert game.dealt_cards[:5] == (three, CARD_NUMBERS["4", "spades"], CARD_NUMBERS["5", "spades"], clubs, JOKER)
    assert (game.ranking, game.nets) == ((2, 0, 1), (0, -1, 0))


def test_decks_that_were_laid_out_go_on_from_game_to_game() -> None:
    """Ruling G5"""
    evening = Evening(players=2, deck="3 spades / 4 spades")
    for value in ("3", "4", "3"):
        p, q = evening.join("ann", "bob")
        assert evening.say(p, Draw()) == [Reply("ok", card=(value, "spades"))]
        evening.leave(p, q)
    assert [fact.algorithm for fact in evening.facts if isinstance(fact, Commit)] == [SCRIPTED_ALGORITHM] * 3


@pytest.mark.parametrize("final", [False, True])
def test_nobody_has_lost_a_game_that_was_stopped(final: bool) -> None:
    """oldmaid-6.10, oldmaid-9.12"""
    evening = Evening(players=3)
    p, q, r = evening.join("ann", "bob", "cyd")
    evening.draw(p, q, r)
    evening.finish(p)
    if final:
        evening.on(Closing(True))
    else:
        evening.wait(120)
    game = state(evening.facts[1])
    assert (game.is_void, game.ranking, game.nets) == (True, (), (0, 0, 0))
    assert isinstance(evening.facts[2], Reveal)
    assert evening.dropped == ({p, q, r} if final else {q, r})
    told = "oldmaid-9.12" if final else "oldmaid-6.10"
    assert [clause(evening.heard[peer][-1]) for peer in (q, r)] == [told, told]
    if not final:
        assert evening.say(p, Status()) == [Standing((), ("ann", "bob", "cyd"))]
        assert evening.clause(p, OutOfCards()) == "oldmaid-6.9"


# Joining.


def test_who_comes_from_nobody_knows_where_can_play() -> None:
    evening = Evening(players=2)
    p, q = evening.come(None), evening.come()
    evening.say(p, Join("ann"))
    (listed,) = evening.say(q, Join("bob"))
    assert isinstance(listed, Reply)
    assert listed.players == ((UNKNOWN_ADDRESS, "ann"), (("192.0.2.1", 40_000 + q), "bob"))


@pytest.mark.parametrize(
    ("host", "listed"),
    [
        ("::ffff:192.0.2.7", "192.0.2.7"),
        ("2001:db8::ffff:7", "2001:db8::ffff:7"),
        ("::ffff:0:1", "::ffff:0:1"),
        ("fe80::1%eth0", "fe80::1%eth0"),
    ],
)
def test_only_an_address_of_ipv4_is_listed_in_another_form(host: str, listed: str) -> None:
    """oldmaid-3.6"""
    evening = Evening(players=2)
    evening.say(evening.come((host, 4001)), Join("ann"))
    (answer,) = evening.say(evening.come(), Join("bob"))
    assert isinstance(answer, Reply)
    assert answer.players is not None
    assert answer.players[0] == ((listed, 4001), "ann")


@pytest.mark.parametrize("nick", ["a", "x" * 64, "b o b", "Ægir ♠", " ", "\u200b", "\u00a0", "🂿" * 64])
def test_a_nick_is_nearly_any_text(nick: str) -> None:
    """oldmaid-3.7"""
    evening = Evening(players=2)
    assert evening.clause(evening.come(), Join(nick)) == ""


@pytest.mark.parametrize("nick", ["", "x" * 65, "a\0", "\n", "a\x7f", "\x9b2J", "\x85", "🂿" * 65, "y" * 60_000])
def test_what_controls_a_terminal_or_is_too_long_is_no_nick(nick: str) -> None:
    """oldmaid-3.7"""
    evening = Evening(players=2)
    (answer,) = evening.say(evening.come(), Join(nick))
    assert clause(answer) == "oldmaid-3.7"
    assert len(str(answer)) < 600


def test_who_is_out_is_reached_at_his_address_until_the_game_is_over() -> None:
    """oldmaid-3.9: he goes on to answer out (oldmaid-7.16)."""
    evening = Evening(players=3)
    p, q, r = evening.join("ann", "bob", "cyd")
    evening.draw(p, q, r)
    evening.finish(p)
    other = evening.come(("192.0.2.1", 50_000))
    taken = Join("dan", 40_000 + p)
    assert evening.clause(other, taken) == "oldmaid-3.9"
    evening.leave(r)
    assert evening.clause(other, taken) == ""


def test_who_is_out_frees_his_address_when_he_joins_with_another_one() -> None:
    """oldmaid-3.9, oldmaid-3.14"""
    evening = Evening(players=3)
    p, q, r = evening.join("ann", "bob", "cyd")
    evening.draw(p, q, r)
    evening.finish(p)
    assert evening.say(p, Join("ann", 50_000)) == []
    other = evening.come(("192.0.2.1", 40_000 + p))
    assert evening.clause(other, Join("dan", 50_000)) == "oldmaid-3.9"
    assert evening.clause(other, Join("dan")) == ""
    evening.leave(r)  # and the end of his first game does not free the one that he is reached at now
    assert evening.clause(evening.come(("192.0.2.2", 1)), Join("eve", 50_000)) == ""
    assert evening.clause(evening.come(("192.0.2.1", 50_000)), Join("fay")) == "oldmaid-3.9"


def test_a_join_that_is_refused_takes_nothing() -> None:
    """oldmaid-8.1"""
    evening = Evening(players=3)
    (p,) = evening.join("ann")
    q = evening.come()
    assert evening.clause(q, Join("ann", 50_000)) == "oldmaid-3.8"
    assert evening.clause(q, Join("bob", 40_000 + p)) == "oldmaid-3.9"
    assert evening.clause(evening.come(), Join("bob", 50_000)) == ""


def test_with_no_time_to_wait_the_second_player_starts_the_game() -> None:
    """oldmaid-3.11"""
    evening = Evening(join_window=0.0)
    p, q = evening.join("ann", "bob")
    evening.wait(0)
    assert [len(evening.heard[peer]) for peer in (p, q)] == [1, 1]


def test_one_of_three_who_leaves_does_not_make_the_others_wait_longer() -> None:
    """oldmaid-3.11"""
    evening = Evening(join_window=5.0)
    p, q = evening.join("ann", "bob")
    evening.wait(4)
    (r,) = evening.join("cyd")
    evening.leave(p)
    evening.wait(1)
    assert [len(evening.heard[peer]) for peer in (q, r)] == [1, 1]


# Behind a join that waits.


def test_answers_are_not_kept_behind_a_join() -> None:
    """oldmaid-2.11, oldmaid-3.15"""
    evening = Evening(players=2)
    (p,) = evening.join("ann")
    evening.say(p, *[Reply("ok")] * 50, *[Status()] * 16)
    assert evening.dropped == set()
    evening.join("bob")
    assert evening.heard[p][1:] == [Standing(("ann", "bob"), ())] * 16


def test_the_17th_request_behind_a_join_is_one_too_many_even_if_it_cannot_be_read() -> None:
    """oldmaid-3.15"""
    evening = Evening(players=2)
    (p,) = evening.join("ann")
    for _ in range(17):
        assert evening.dropped == set()
        evening.on(Malformed(p, Violation("oldmaid-8.3", "this", "JSON")))
    assert evening.dropped == {p}
    assert [clause(answer) for answer in evening.heard[p]] == ["oldmaid-3.15"]
    evening.say(p, Status())
    evening.on(Malformed(p, Violation("oldmaid-8.3", "this", "JSON")))
    assert len(evening.heard[p]) == 1
    evening.join("ann", "bob")


def test_requests_behind_joins_are_handled_in_the_order_of_the_list() -> None:
    """oldmaid-3.15, oldmaid-4.3: whoever sent them first"""
    evening = Evening(players=3)
    p, q = evening.join("ann", "bob")
    evening.say(q, Draw())
    evening.say(p, Draw(), Draw())
    evening.join("cyd")
    assert [clause(answer) for answer in evening.heard[p]] == ["", "", "oldmaid-4.3"]
    assert [clause(answer) for answer in evening.heard[q]] == ["", ""]


# The first reason that applies.


def test_who_plays_is_not_dropped_for_a_join_when_the_table_stops() -> None:
    """oldmaid-3.14 before oldmaid-9.12: a running game may be finished"""
    evening = Evening(players=2)
    p, q = evening.join("ann", "bob")
    evening.on(Closing())
    assert evening.clause(p, Join("ann")) == "oldmaid-3.14"
    evening.draw(p, q)
    evening.finish(p)
    assert evening.clause(p, Join("ann")) == "oldmaid-9.12"
    assert evening.dropped == {p}
    assert not evening.house.playing


@pytest.mark.parametrize(
    ("message", "before", "after"),
    [
        (Draw(), "oldmaid-4.6", "oldmaid-6.9"),
        (PAIR, "oldmaid-5.9", "oldmaid-5.12"),
        (OutOfCards(), "oldmaid-6.4", "oldmaid-6.9"),
        (Status(), "oldmaid-6.7", ""),
    ],
    ids=str,
)
def test_without_a_game_there_is_little_to_ask(message: Message, before: str, after: str) -> None:
    evening = Evening(players=2)
    peer = evening.come()
    assert evening.clause(peer, message) == before
    evening.say(peer, Join("ann"))
    evening.leave(*evening.join("bob"))
    assert evening.clause(peer, message) == after


def test_who_is_out_can_draw_no_more_than_anybody_else() -> None:
    """oldmaid-4.5"""
    evening = Evening(players=3)
    p, q, r = evening.join("ann", "bob", "cyd")
    evening.draw(p, q, r)
    evening.finish(p)
    assert [evening.clause(peer, Draw()) for peer in (p, q, r)] == ["oldmaid-4.5"] * 3


def test_what_is_found_is_told_in_few_words_however_long_it_was() -> None:
    """oldmaid-2.9"""
    evening = Evening(players=2)
    p, _ = evening.join("ann", "bob")
    (answer,) = evening.say(p, Discard((("3" * 30_000, "\x1b[2J"), ("3", "clubs" * 6_000))))
    assert clause(answer) == "oldmaid-5.4"
    assert len(str(answer)) < 300
    assert "\x1b" not in str(answer)


def test_a_refused_discard_reveals_nothing_about_other_hands() -> None:
    """oldmaid-5.12: not where the cards are, nor whether they were thrown away, nor that it was asked"""
    evening = Evening(players=2, deck="3 spades, 3 clubs, 5 hearts, 9 hearts, 5 diamonds, 9 diamonds")
    p, q = evening.join("ann", "bob")
    for _ in range(3):
        evening.say(p, Draw())
        evening.say(q, Draw())
    evening.say(q, Discard((("9", "hearts"), ("9", "diamonds"))))
    (game, *_), before = evening.house._running_games[1], evening.now
    evening.wait(1)
    one_of_another, thrown = PAIR, Discard((("9", "diamonds"), ("9", "hearts")))
    in_the_deck, of_another = Discard((("K", "spades"), ("K", "clubs"))), Discard((("5", "hearts"), ("5", "diamonds")))
    answers = [*evening.say(p, one_of_another, thrown, in_the_deck), *evening.say(q, of_another, thrown, PAIR)]
    assert len(answers) == 6
    assert len({Wire("table").encode(answer) for answer in answers}) == 1
    assert clause(answers[0]) == "oldmaid-5.12"
    assert game.last_action_at == before


def test_nobody_is_out_who_must_still_hold_cards() -> None:
    """oldmaid-6.12: after 18 cards, of three players, at most 4 of which may have been passed on"""
    evening = Evening(players=3)
    p, q, r = evening.join("ann", "bob", "cyd")
    evening.draw(p, q, r)
    for card in range(0, 14, 2):
        assert evening.clause(p, OutOfCards()) == "oldmaid-6.12"
        assert evening.say(p, Discard((to_wire(card), to_wire(card + 1)))) == [DISCARD_OK]
    assert evening.say(p, OutOfCards()) == [OK]


# Those who are gone.


def test_when_those_who_are_to_draw_are_gone_the_next_one_who_is_in_draws() -> None:
    """oldmaid-9.2"""
    evening = Evening(players=4)
    p, q, r, s = evening.join("ann", "bob", "cyd", "dan")
    evening.say(p, Draw())
    evening.leave(r, q)
    assert evening.clause(p, Draw()) == "oldmaid-4.3"
    assert evening.clause(s, Draw()) == ""
    evening.leave(p)
    assert state(evening.facts[1]).ranking == (3, 0, 1, 2)


def test_a_loser_who_hangs_up_first_was_not_the_last_one_left() -> None:
    """oldmaid-6.11: who is gone is behind the one who is left."""
    evening = Evening(players=2)
    p, q = evening.join("ann", "bob")
    evening.leave(q)
    assert state(evening.facts[1]).nets == (0, -1)
    assert evening.say(p, Status()) == [Standing(("ann",), ("bob",))]


def test_who_was_dropped_in_a_game_is_out_of_it_at_once() -> None:
    """oldmaid-8.8, oldmaid-9.1"""
    evening = Evening(players=3)
    p, q, r = evening.join("ann", "bob", "cyd")
    evening.on(Malformed(p, Violation("oldmaid-8.8", "this", "UTF-8", fatal=True)))
    assert evening.say(q, Status()) == [Standing(("bob", "cyd"), ("ann",))]
    assert evening.clause(q, Draw()) == ""
    evening.leave(p)
    assert evening.say(r, Status()) == [Standing(("bob", "cyd"), ("ann",))]


# Time.


def test_a_game_goes_on_while_something_is_done_in_it() -> None:
    """oldmaid-6.10: a draw, a pair thrown away, out of cards, and somebody gone"""
    evening = Evening(players=4, deck="3 spades, 4 spades, 5 spades, 6 spades, 3 clubs")
    p, q, r, s = evening.join("ann", "bob", "cyd", "dan")
    evening.wait(100)
    evening.draw(p, q, r, s)
    evening.wait(100)
    evening.say(p, PAIR)
    evening.wait(100)
    evening.finish(p)
    evening.wait(100)
    evening.leave(q)
    evening.wait(119)
    for nothing in (Status(), Draw(), PAIR, OutOfCards(), Join("ann")):
        evening.say(s if nothing == PAIR else p if nothing == OutOfCards() else r, nothing)
    assert evening.house.playing
    evening.wait(1)
    assert evening.dropped == {r, s}


def test_an_alarm_rings_seldom_however_much_is_said() -> None:
    evening = Evening(players=2, idle=10.0, stuck_seconds=10.0)
    p, q = evening.join("ann", "bob")
    for _ in range(26):
        evening.say(p, Draw())
        evening.wait(1)
        evening.say(q, Draw())
        evening.wait(1)
    assert evening.house.playing
    assert evening.rings <= 2 * 52 / 10 + 2


def test_who_has_waited_or_played_for_long_has_not_been_idle() -> None:
    """oldmaid-8.10"""
    evening = Evening(players=2, idle=10.0, stuck_seconds=1000.0)
    p, q = (evening.come(), evening.come())
    evening.say(p, Join("ann"))
    evening.wait(9)
    evening.say(q, Status())
    evening.wait(9)
    evening.say(q, Join("bob"))
    evening.wait(100)
    evening.leave(q)
    evening.wait(9)
    assert evening.dropped == set()
    evening.wait(1)
    assert evening.dropped == {p}
    assert clause(evening.heard[p][-1]) == "oldmaid-8.10"
    evening.wait(1000)
    assert evening.house.deadline is None


def test_who_is_out_and_asks_for_nothing_is_idle() -> None:
    """oldmaid-8.10: he keeps his place."""
    evening = Evening(players=3, idle=10.0)
    p, q, r = evening.join("ann", "bob", "cyd")
    evening.draw(p, q, r)
    evening.finish(p)
    evening.wait(10)
    assert evening.dropped == {p}
    assert evening.say(q, Status()) == [Standing(("bob", "cyd"), ("ann",))]


def test_whatever_is_said_is_a_sign_of_life() -> None:
    """oldmaid-8.10: also an answer to nothing, and what cannot be read"""
    evening = Evening(idle=10.0)
    peer = evening.come()
    for said in (Status(), Reply("ok"), Join("")):
        evening.wait(9)
        evening.on(Received(peer, said))
    evening.wait(9)
    evening.on(Malformed(peer, Violation("oldmaid-8.3", "this", "JSON")))
    evening.wait(9)
    assert evening.dropped == set()
    evening.wait(1)
    assert evening.dropped == {peer}


# Closing.


def test_a_table_that_stops_lets_those_stay_who_want_nothing_of_it() -> None:
    """oldmaid-9.12"""
    evening = Evening(players=3)
    idler = evening.come()
    p, q = evening.join("ann", "bob")
    evening.on(Closing())
    assert evening.dropped == {p, q}
    assert evening.house.deadline == 500.0
    evening.on(Closing(True))
    assert evening.dropped == {idler, p, q}
    assert [clause(answer) for answer in evening.heard[idler]] == ["oldmaid-9.12"]


# Memory.


def test_games_and_peers_are_forgotten_when_they_are_over() -> None:
    evening = Evening(players=2)
    for _ in range(500):
        p, q = evening.join("ann", "bob")
        evening.say(p, Draw(), Status())
        evening.leave(q, p)
    house = evening.house
    assert (len(house._clients), len(house._running_games), len(house._lobby.waiting_clients)) == (0, 0, 0)
    assert len(house._lobby._addresses) == 0
    assert len(house._checks) < 100


def test_the_numbers_of_cards_and_of_answers_agree() -> None:
    evening = Evening(players=2)
    p, q = evening.join("ann", "bob")
    drawn = evening.draw(p, q)
    assert sorted(card for _, card in drawn) == [*range(len(WIRE_CARDS))]
    answers = [evening.heard[peer][1 + turn // 2] for turn, (peer, _) in enumerate(drawn)]
    assert answers == [
        Reply("last_card" if turn == len(WIRE_CARDS) - 1 else "ok", card=to_wire(card))
        for turn, (_, card) in enumerate(drawn)
    ]


def test_a_table_that_can_write_nothing_down_refuses_joins_and_keeps_nothing_of_them() -> None:
    """oldmaid-9.15"""
    evening = Evening(players=2)
    evening.house.suspend(0.0, ())
    for _ in range(3):
        assert evening.clause(evening.come(), Join("ann")) == "oldmaid-9.15"
    assert UNAVAILABLE.__traceback__ is None, "an exception that is raised again keeps the frames of every time"
