"""House of Old Maid beyond the transcripts: final effects, timeouts, memory and the lobby."""

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
from tests.rooms.oldmaid.tables import TableHarness, clause

PAIR = Discard((("3", "spades"), ("3", "clubs")), "false")


def state(fact: object) -> TableGame:
    """The game of a HandFinished effect."""
    assert isinstance(fact, HandFinished)
    assert isinstance(fact.state, TableGame)
    return fact.state


# The facts.


def test_game_has_commit_finished_and_reveal() -> None:
    harness = TableHarness(players=3)
    p, q, r = harness.join("ann", "bob", "cyd")
    (promise,) = harness.facts
    drawn = harness.draw(p, q, r)
    assert harness.house.playing
    assert harness.finish(q) == [OK]
    assert len(harness.facts) == 1
    assert harness.finish(p) == [OK]
    assert not harness.house.playing
    _, finished, seed = harness.facts
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


def test_game_log_has_all_actions() -> None:
    harness = TableHarness(players=3, deck="3 spades, 4 spades, 5 spades, 3 clubs, joker maid")
    p, q, r = harness.join("ann", "bob", "cyd")
    drawn = harness.draw(p, q, r)
    assert harness.send(p, PAIR) == [DISCARD_OK]
    harness.disconnect(q)
    harness.finish(r)
    game = state(harness.facts[1])
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


def test_listed_decks_are_used_game_by_game() -> None:
    """Ruling G5"""
    harness = TableHarness(players=2, deck="3 spades / 4 spades")
    for value in ("3", "4", "3"):
        p, q = harness.join("ann", "bob")
        assert harness.send(p, Draw()) == [Reply("ok", card=(value, "spades"))]
        harness.disconnect(p, q)
    assert [fact.algorithm for fact in harness.facts if isinstance(fact, Commit)] == [SCRIPTED_ALGORITHM] * 3


@pytest.mark.parametrize("final", [False, True])
def test_stopped_game_has_no_loser(final: bool) -> None:
    """oldmaid-6.10, oldmaid-9.12"""
    harness = TableHarness(players=3)
    p, q, r = harness.join("ann", "bob", "cyd")
    harness.draw(p, q, r)
    harness.finish(p)
    if final:
        harness.on(Closing(True))
    else:
        harness.wait(120)
    game = state(harness.facts[1])
    assert (game.is_void, game.ranking, game.nets) == (True, (), (0, 0, 0))
    assert isinstance(harness.facts[2], Reveal)
    assert harness.dropped == ({p, q, r} if final else {q, r})
    expected = "oldmaid-9.12" if final else "oldmaid-6.10"
    assert [clause(harness.received[peer][-1]) for peer in (q, r)] == [expected, expected]
    if not final:
        assert harness.send(p, Status()) == [Standing((), ("ann", "bob", "cyd"))]
        assert harness.clause(p, OutOfCards()) == "oldmaid-6.9"


# Joining.


def test_client_without_a_known_address_can_play() -> None:
    harness = TableHarness(players=2)
    p, q = harness.connect(None), harness.connect()
    harness.send(p, Join("ann"))
    (listed,) = harness.send(q, Join("bob"))
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
    harness = TableHarness(players=2)
    harness.send(harness.connect((host, 4001)), Join("ann"))
    (answer,) = harness.send(harness.connect(), Join("bob"))
    assert isinstance(answer, Reply)
    assert answer.players is not None
    assert answer.players[0] == ((listed, 4001), "ann")


@pytest.mark.parametrize("nick", ["a", "x" * 64, "b o b", "Ægir ♠", " ", "\u200b", "\u00a0", "🂿" * 64])
def test_a_nick_is_nearly_any_text(nick: str) -> None:
    """oldmaid-3.7"""
    harness = TableHarness(players=2)
    assert harness.clause(harness.connect(), Join(nick)) == ""


@pytest.mark.parametrize("nick", ["", "x" * 65, "a\0", "\n", "a\x7f", "\x9b2J", "\x85", "🂿" * 65, "y" * 60_000])
def test_control_characters_and_long_nicks_are_refused(nick: str) -> None:
    """oldmaid-3.7"""
    harness = TableHarness(players=2)
    (answer,) = harness.send(harness.connect(), Join(nick))
    assert clause(answer) == "oldmaid-3.7"
    assert len(str(answer)) < 600


def test_address_of_a_player_out_is_reserved_until_the_game_ends() -> None:
    """oldmaid-3.9: it still answers out (oldmaid-7.16)."""
    harness = TableHarness(players=3)
    p, q, r = harness.join("ann", "bob", "cyd")
    harness.draw(p, q, r)
    harness.finish(p)
    other = harness.connect(("192.0.2.1", 50_000))
    taken = Join("dan", 40_000 + p)
    assert harness.clause(other, taken) == "oldmaid-3.9"
    harness.disconnect(r)
    assert harness.clause(other, taken) == ""


def test_player_out_releases_its_address_by_joining_with_another() -> None:
    """oldmaid-3.9, oldmaid-3.14"""
    harness = TableHarness(players=3)
    p, q, r = harness.join("ann", "bob", "cyd")
    harness.draw(p, q, r)
    harness.finish(p)
    assert harness.send(p, Join("ann", 50_000)) == []
    other = harness.connect(("192.0.2.1", 40_000 + p))
    assert harness.clause(other, Join("dan", 50_000)) == "oldmaid-3.9"
    assert harness.clause(other, Join("dan")) == ""
    harness.disconnect(r)  # the end of the first game does not release the new address
    assert harness.clause(harness.connect(("192.0.2.2", 1)), Join("eve", 50_000)) == ""
    assert harness.clause(harness.connect(("192.0.2.1", 50_000)), Join("fay")) == "oldmaid-3.9"


def test_refused_join_reserves_nothing() -> None:
    """oldmaid-8.1"""
    harness = TableHarness(players=3)
    (p,) = harness.join("ann")
    q = harness.connect()
    assert harness.clause(q, Join("ann", 50_000)) == "oldmaid-3.8"
    assert harness.clause(q, Join("bob", 40_000 + p)) == "oldmaid-3.9"
    assert harness.clause(harness.connect(), Join("bob", 50_000)) == ""


def test_join_window_zero_starts_with_the_second_player() -> None:
    """oldmaid-3.11"""
    harness = TableHarness(join_window=0.0)
    p, q = harness.join("ann", "bob")
    harness.wait(0)
    assert [len(harness.received[peer]) for peer in (p, q)] == [1, 1]


def test_leaving_the_queue_does_not_restart_the_window() -> None:
    """oldmaid-3.11"""
    harness = TableHarness(join_window=5.0)
    p, q = harness.join("ann", "bob")
    harness.wait(4)
    (r,) = harness.join("cyd")
    harness.disconnect(p)
    harness.wait(1)
    assert [len(harness.received[peer]) for peer in (q, r)] == [1, 1]


# Requests after a join.


def test_answers_are_not_queued_after_a_join() -> None:
    """oldmaid-2.11, oldmaid-3.15"""
    harness = TableHarness(players=2)
    (p,) = harness.join("ann")
    harness.send(p, *[Reply("ok")] * 50, *[Status()] * 16)
    assert harness.dropped == set()
    harness.join("bob")
    assert harness.received[p][1:] == [Standing(("ann", "bob"), ())] * 16


def test_17th_queued_request_disconnects_even_if_malformed() -> None:
    """oldmaid-3.15"""
    harness = TableHarness(players=2)
    (p,) = harness.join("ann")
    for _ in range(17):
        assert harness.dropped == set()
        harness.on(Malformed(p, Violation("oldmaid-8.3", "this", "JSON")))
    assert harness.dropped == {p}
    assert [clause(answer) for answer in harness.received[p]] == ["oldmaid-3.15"]
    harness.send(p, Status())
    harness.on(Malformed(p, Violation("oldmaid-8.3", "this", "JSON")))
    assert len(harness.received[p]) == 1
    harness.join("ann", "bob")


def test_queued_requests_are_handled_in_seat_order() -> None:
    """oldmaid-3.15, oldmaid-4.3: not in the order of arrival"""
    harness = TableHarness(players=3)
    p, q = harness.join("ann", "bob")
    harness.send(q, Draw())
    harness.send(p, Draw(), Draw())
    harness.join("cyd")
    assert [clause(answer) for answer in harness.received[p]] == ["", "", "oldmaid-4.3"]
    assert [clause(answer) for answer in harness.received[q]] == ["", ""]


# The first reason that applies.


def test_join_while_playing_is_refused_without_a_drop_on_closing() -> None:
    """oldmaid-3.14 before oldmaid-9.12: a running game may be finished"""
    harness = TableHarness(players=2)
    p, q = harness.join("ann", "bob")
    harness.on(Closing())
    assert harness.clause(p, Join("ann")) == "oldmaid-3.14"
    harness.draw(p, q)
    harness.finish(p)
    assert harness.clause(p, Join("ann")) == "oldmaid-9.12"
    assert harness.dropped == {p}
    assert not harness.house.playing


@pytest.mark.parametrize(
    ("message", "before", "after"),
    [
        (Draw(), "oldmaid-4.6", "oldmaid-6.9"),
        (PAIR, "oldmaid-5.9", "oldmaid-5.12"),
        (OutOfCards(), "oldmaid-6.4", "oldmaid-6.9"),
        (Status(), "oldmaid-6.13", ""),
    ],
    ids=str,
)
def test_requests_without_a_game_are_refused(message: Message, before: str, after: str) -> None:
    harness = TableHarness(players=2)
    peer = harness.connect()
    assert harness.clause(peer, message) == before
    harness.send(peer, Join("ann"))
    harness.disconnect(*harness.join("bob"))
    assert harness.clause(peer, message) == after


def test_player_out_cannot_draw() -> None:
    """oldmaid-4.5"""
    harness = TableHarness(players=3)
    p, q, r = harness.join("ann", "bob", "cyd")
    harness.draw(p, q, r)
    harness.finish(p)
    assert [harness.clause(peer, Draw()) for peer in (p, q, r)] == ["oldmaid-4.5"] * 3


def test_long_values_are_shortened_in_errors() -> None:
    """oldmaid-2.9"""
    harness = TableHarness(players=2)
    p, _ = harness.join("ann", "bob")
    (answer,) = harness.send(p, Discard((("3" * 30_000, "\x1b[2J"), ("3", "clubs" * 6_000))))
    assert clause(answer) == "oldmaid-5.4"
    assert len(str(answer)) < 300
    assert "\x1b" not in str(answer)


def test_a_refused_discard_reveals_nothing_about_other_hands() -> None:
    """oldmaid-5.12: neither where the cards are, nor whether they were discarded, nor what was asked"""
    harness = TableHarness(players=2, deck="3 spades, 3 clubs, 5 hearts, 9 hearts, 5 diamonds, 9 diamonds")
    p, q = harness.join("ann", "bob")
    for _ in range(3):
        harness.send(p, Draw())
        harness.send(q, Draw())
    harness.send(q, Discard((("9", "hearts"), ("9", "diamonds"))))
    (game, *_), before = harness.house._running_games[1], harness.now
    harness.wait(1)
    one_of_another, thrown = PAIR, Discard((("9", "diamonds"), ("9", "hearts")))
    in_the_deck, of_another = Discard((("K", "spades"), ("K", "clubs"))), Discard((("5", "hearts"), ("5", "diamonds")))
    answers = [*harness.send(p, one_of_another, thrown, in_the_deck), *harness.send(q, of_another, thrown, PAIR)]
    assert len(answers) == 6
    assert len({Wire("table").encode(answer) for answer in answers}) == 1
    assert clause(answers[0]) == "oldmaid-5.12"
    assert game.last_action_at == before


def test_out_of_cards_is_refused_if_cards_must_be_left() -> None:
    """oldmaid-6.12: with 18 cards and three players, at most 4 cards may have been passed on"""
    harness = TableHarness(players=3)
    p, q, r = harness.join("ann", "bob", "cyd")
    harness.draw(p, q, r)
    for card in range(0, 14, 2):
        assert harness.clause(p, OutOfCards()) == "oldmaid-6.12"
        assert harness.send(p, Discard((to_wire(card), to_wire(card + 1)))) == [DISCARD_OK]
    assert harness.send(p, OutOfCards()) == [OK]


# Disconnects.


def test_turn_to_draw_skips_players_that_are_gone() -> None:
    """oldmaid-9.2"""
    harness = TableHarness(players=4)
    p, q, r, s = harness.join("ann", "bob", "cyd", "dan")
    harness.send(p, Draw())
    harness.disconnect(r, q)
    assert harness.clause(p, Draw()) == "oldmaid-4.3"
    assert harness.clause(s, Draw()) == ""
    harness.disconnect(p)
    assert state(harness.facts[1]).ranking == (3, 0, 1, 2)


def test_player_that_left_ranks_after_the_last_one() -> None:
    """oldmaid-6.11: a player that left ranks after the last one in."""
    harness = TableHarness(players=2)
    p, q = harness.join("ann", "bob")
    harness.disconnect(q)
    assert state(harness.facts[1]).nets == (0, -1)
    assert harness.send(p, Status()) == [Standing(("ann",), ("bob",))]


def test_dropped_player_leaves_its_game_at_once() -> None:
    """oldmaid-8.8, oldmaid-9.1"""
    harness = TableHarness(players=3)
    p, q, r = harness.join("ann", "bob", "cyd")
    harness.on(Malformed(p, Violation("oldmaid-8.8", "this", "UTF-8", fatal=True)))
    assert harness.send(q, Status()) == [Standing(("bob", "cyd"), ("ann",))]
    assert harness.clause(q, Draw()) == ""
    harness.disconnect(p)
    assert harness.send(r, Status()) == [Standing(("bob", "cyd"), ("ann",))]


# Time.


def test_any_action_postpones_the_stuck_timeout() -> None:
    """oldmaid-6.10: a draw, a discard, out_of_cards, and a disconnect"""
    harness = TableHarness(players=4, deck="3 spades, 4 spades, 5 spades, 6 spades, 3 clubs")
    p, q, r, s = harness.join("ann", "bob", "cyd", "dan")
    harness.wait(100)
    harness.draw(p, q, r, s)
    harness.wait(100)
    harness.send(p, PAIR)
    harness.wait(100)
    harness.finish(p)
    harness.wait(100)
    harness.disconnect(q)
    harness.wait(119)
    for nothing in (Status(), Draw(), PAIR, OutOfCards(), Join("ann")):
        harness.send(s if nothing == PAIR else p if nothing == OutOfCards() else r, nothing)
    assert harness.house.playing
    harness.wait(1)
    assert harness.dropped == {r, s}


def test_timeouts_are_rare_however_many_messages_arrive() -> None:
    harness = TableHarness(players=2, idle=10.0, stuck_seconds=10.0)
    p, q = harness.join("ann", "bob")
    for _ in range(26):
        harness.send(p, Draw())
        harness.wait(1)
        harness.send(q, Draw())
        harness.wait(1)
    assert harness.house.playing
    assert harness.timeout_count <= 2 * 52 / 10 + 2


def test_waiting_and_playing_do_not_count_as_idle() -> None:
    """oldmaid-8.10"""
    harness = TableHarness(players=2, idle=10.0, stuck_seconds=1000.0)
    p, q = (harness.connect(), harness.connect())
    harness.send(p, Join("ann"))
    harness.wait(9)
    harness.send(q, Status())
    harness.wait(9)
    harness.send(q, Join("bob"))
    harness.wait(100)
    harness.disconnect(q)
    harness.wait(9)
    assert harness.dropped == set()
    harness.wait(1)
    assert harness.dropped == {p}
    assert clause(harness.received[p][-1]) == "oldmaid-8.10"
    harness.wait(1000)
    assert harness.house.deadline is None


def test_silent_player_out_is_idle() -> None:
    """oldmaid-8.10: its place in the ranking stays."""
    harness = TableHarness(players=3, idle=10.0)
    p, q, r = harness.join("ann", "bob", "cyd")
    harness.draw(p, q, r)
    harness.finish(p)
    harness.wait(10)
    assert harness.dropped == {p}
    assert harness.send(q, Status()) == [Standing(("bob", "cyd"), ("ann",))]


def test_any_input_resets_the_idle_timeout() -> None:
    """oldmaid-8.10: also an unrequested answer, and malformed input"""
    harness = TableHarness(idle=10.0)
    peer = harness.connect()
    for sent in (Status(), Reply("ok"), Join("")):
        harness.wait(9)
        harness.on(Received(peer, sent))
    harness.wait(9)
    harness.on(Malformed(peer, Violation("oldmaid-8.3", "this", "JSON")))
    harness.wait(9)
    assert harness.dropped == set()
    harness.wait(1)
    assert harness.dropped == {peer}


# Closing.


def test_closing_table_keeps_idle_clients() -> None:
    """oldmaid-9.12"""
    harness = TableHarness(players=3)
    idler = harness.connect()
    p, q = harness.join("ann", "bob")
    harness.on(Closing())
    assert harness.dropped == {p, q}
    assert harness.house.deadline == 500.0
    harness.on(Closing(True))
    assert harness.dropped == {idler, p, q}
    assert [clause(answer) for answer in harness.received[idler]] == ["oldmaid-9.12"]


# Memory.


def test_finished_games_and_peers_are_released() -> None:
    harness = TableHarness(players=2)
    for _ in range(500):
        p, q = harness.join("ann", "bob")
        harness.send(p, Draw(), Status())
        harness.disconnect(q, p)
    house = harness.house
    assert (len(house._clients), len(house._running_games), len(house._lobby.waiting_clients)) == (0, 0, 0)
    assert len(house._lobby._addresses) == 0
    assert len(house._alarms._heap) < 100


def test_the_numbers_of_cards_and_of_answers_agree() -> None:
    harness = TableHarness(players=2)
    p, q = harness.join("ann", "bob")
    drawn = harness.draw(p, q)
    assert sorted(card for _, card in drawn) == [*range(len(WIRE_CARDS))]
    answers = [harness.received[peer][1 + turn // 2] for turn, (peer, _) in enumerate(drawn)]
    assert answers == [
        Reply("last_card" if turn == len(WIRE_CARDS) - 1 else "ok", card=to_wire(card))
        for turn, (_, card) in enumerate(drawn)
    ]


def test_suspended_table_refuses_joins() -> None:
    """oldmaid-9.15"""
    harness = TableHarness(players=2)
    harness.house.suspend(0.0, ())
    for _ in range(3):
        assert harness.clause(harness.connect(), Join("ann")) == "oldmaid-9.15"
    assert UNAVAILABLE.__traceback__ is None, "an exception that is raised again keeps the frames of every time"
