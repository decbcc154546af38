"""Tests of the client side of hold'em: legal acts, decisions, and settlements."""

from collections.abc import Sequence
from random import Random
from typing import Any

import msgspec
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from croupier.core.bots import bot_factory
from croupier.core.dealer import FairDealer
from croupier.core.errors import IllegalMove, Violation
from croupier.core.referee import HOUSE
from croupier.core.rules import Seat, Turn
from croupier.core.session import (
    Closing,
    Drop,
    Effect,
    HandFinished,
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
from croupier.rooms.holdem.bots import BOT_SPECS
from croupier.rooms.holdem.cards import CARDS, Card
from croupier.rooms.holdem.engine.hand import Hand
from croupier.rooms.holdem.engine.legal import Move
from croupier.rooms.holdem.player import Options, Player
from croupier.rooms.holdem.table.finished_hands import FinishedHand
from croupier.rooms.holdem.wire import ACTION_BET, NO_TURN, Act, ActDone, Cards, Game, Leave, Pot
from croupier.rooms.holdem.wire import Player as Seated
from croupier.rooms.holdem.wire import Turn as Asked
from tests.rooms.holdem.house_fixture import HouseFixture
from tests.rooms.holdem.random_hands import begin, move, steps

LUCK = FairDealer(bytes(32)).luck
CALLER = bot_factory(BOT_SPECS, "caller")()


class PlayerHarness:
    """A house whose users are Players. `nets` has the settled results of each user."""

    def __init__(self, *users: str, **settings: Any) -> None:
        self.fixture = HouseFixture(**settings)
        self.nets: dict[str, list[int]] = {user: [] for user in users}
        self.players = {user: Player(Options(user, self.fixture.house.guid_of(user))) for user in users}
        self.fixture.join(*users)

    def handle(self, user: str, event: Any) -> Sequence[Effect[Any]]:
        effects = self.players[user].on(event, self.fixture.now)
        self.nets[user] += [effect.net for effect in effects if isinstance(effect, Settle)]
        return effects

    def look(self, *users: str) -> None:
        """Show the table to some users, by default to all of them."""
        for user in users or self.players:
            self.handle(user, Received(HOUSE, self.fixture.view(user)))

    def legal(self, user: str) -> tuple[Move, ...]:
        """Return the legal moves of a user after showing them the table."""
        self.look(user)
        return tuple(self.players[user].legal)

    def do(self, user: str, chosen: Move) -> None:
        """Make a move, and check that it is accepted."""
        self.look(user)
        (send,) = self.handle(user, Submitted(self.players[user].act(chosen)))
        assert isinstance(send, Send)
        assert self.fixture.request(send.message) == ActDone()


def finished_nets(harness: PlayerHarness) -> list[dict[str, int]]:
    """Return what each user has won in each finished hand."""
    nets = []
    for fact in harness.fixture.facts:
        if isinstance(fact, HandFinished):
            assert isinstance(fact.state, FinishedHand)
            nets.append(dict(zip(fact.state.players, fact.nets, strict=True)))
    return nets


def shown(hand: Hand, me: Seat) -> Game:
    """Return the game as a server by the document shows it to a seat; a finished hand is paid out."""
    over = hand.turn is Turn.OVER
    asked = NO_TURN
    if isinstance(hand.turn, int):
        seat = hand.turn
        asked = Asked(f"p{seat}", hand.bets[seat], hand.to_match, hand.min_raise, f"moment {len(hand.log)}")
    table = [
        Seated(
            f"p{seat}",
            "",
            "folded" if hand.folded[seat] else "active",
            stack,
            hand.bets[seat],
            seat == hand.small_blind,
        )
        for seat, stack in enumerate(hand.stacks)
    ]
    board = [CARDS[card] for card in hand.board]
    cards = Cards([CARDS[card] for card in hand.holes[me]], board[:3] or None, board[3:4] or None, board[4:] or None)
    pots = [Pot(0, ())] if over else [Pot(pot.size, [f"p{seat}" for seat in pot.payers]) for pot in hand.pots]
    return Game("g", table, asked, cards, pots)


# Decisions


def test_acts_are_legal_only_in_turn() -> None:
    harness = PlayerHarness("ann", "bob")
    assert harness.legal("ann") == ("fold", 10, 30, 50, 9990)
    assert harness.legal("bob") == ()
    with pytest.raises(IllegalMove, match="allowed: nothing"):
        harness.players["bob"].act(0)


def test_a_decision_is_requested_once() -> None:
    harness = PlayerHarness("ann", "bob")
    harness.look()
    late = harness.fixture.view("ann")
    act = harness.players["ann"].act(10)
    assert act == Act("ann", late.game_id, harness.fixture.house.guid_of("ann"), ACTION_BET, 10)
    assert harness.handle("ann", Submitted(act)) == [Send(HOUSE, act)]
    with pytest.raises(IllegalMove):
        harness.handle("ann", Submitted(act))
    harness.handle("ann", Received(HOUSE, late))  # a response that was in flight
    assert not harness.players["ann"].legal
    assert harness.players["ann"].decide(CALLER, LUCK) is None


def test_a_decision_stays_the_same_when_another_player_leaves() -> None:
    harness = PlayerHarness("ann", "bob", "cat")
    harness.do("ann", "fold")
    harness.look("bob")  # three players are dealt in now, and bob has the button
    harness.handle("bob", Submitted(harness.players["bob"].act(20)))
    harness.fixture.leave("cat")
    assert harness.fixture.turn() == "bob"
    assert harness.legal("bob") == ()


def test_the_next_street_is_another_decision() -> None:
    harness = PlayerHarness("ann", "bob")
    harness.do("ann", 10)
    harness.do("bob", 0)
    assert harness.legal("bob")[:2] == ("fold", 0)
    assert harness.players["bob"].view is not None
    assert len(harness.players["bob"].view.board) == 3


def test_an_act_that_did_not_arrive_is_decided_again() -> None:
    harness = PlayerHarness("ann", "bob")
    before = harness.legal("ann")
    harness.handle("ann", Submitted(harness.players["ann"].act(10)))
    harness.players["ann"].mark_unconfirmed()
    assert harness.legal("ann") == before
    harness.do("ann", 10)
    assert harness.fixture.turn() == "bob"


def test_an_act_that_did_arrive_is_not_decided_again() -> None:
    harness = PlayerHarness("ann", "bob")
    harness.look("ann")
    late = harness.fixture.view("ann")
    harness.do("ann", 10)
    harness.players["ann"].mark_unconfirmed()
    assert harness.legal("ann") == ()
    harness.handle("ann", Received(HOUSE, late))
    assert not harness.players["ann"].legal


def test_a_bot_decides_in_turn() -> None:
    harness = PlayerHarness("ann", "bob")
    harness.look()
    act = harness.players["ann"].decide(CALLER, LUCK)
    assert act is not None
    assert (act.action, act.amount) == (ACTION_BET, 10)
    assert harness.players["bob"].decide(CALLER, LUCK) is None


def test_an_illegal_move_of_a_bot_raises_illegal_move() -> None:
    class Cheat:
        def choose(self, view: object, legal: object, luck: object) -> int:
            return 15

    harness = PlayerHarness("ann", "bob")
    harness.look()
    with pytest.raises(IllegalMove, match="any raise from 30 to 9990"):
        harness.players["ann"].decide(Cheat(), LUCK)
    assert harness.players["ann"].legal


@pytest.mark.parametrize("chosen", [-10, 0, 5, 15, 29, 9991, 10**30, True, 10.0, "call", None])
def test_no_invalid_bet_is_ever_sent(chosen: Any) -> None:
    harness = PlayerHarness("ann", "bob")
    harness.look()
    with pytest.raises(IllegalMove):
        harness.players["ann"].act(chosen)


def test_a_hand_made_act_is_validated_too() -> None:
    harness = PlayerHarness("ann", "bob")
    harness.look()
    act = harness.players["ann"].act(10)
    for forged in ({"amount": 15}, {"player": harness.fixture.house.guid_of("bob")}, {"game": "another"}):
        with pytest.raises(IllegalMove):
            harness.handle("ann", Submitted(msgspec.structs.replace(act, **forged)))


# Raises


def test_a_short_all_in_does_not_reopen_the_betting() -> None:
    hand = Hand([1000, 1000, 130])
    hand.deal(range(6))
    first = Player(Options(player="p0"))
    first.on(Received(HOUSE, shown(hand, 0)), 0.0)
    first.on(Submitted(first.act(100)), 0.0)
    for chips in (100, 90, 110):
        hand.bet(chips)
    first.on(Received(HOUSE, shown(hand, 0)), 0.0)
    assert tuple(first.legal) == ("fold", 30)
    second = Player(Options(player="p0"))  # a player without observations cannot know that the betting is not reopened
    second.on(Received(HOUSE, shown(hand, 0)), 0.0)
    assert second.legal[-1] == 900


def test_short_all_ins_adding_up_to_a_full_raise_reopen_the_betting() -> None:
    hand = Hand([150, 190, 1000, 1000])
    hand.deal(range(8))
    player = Player(Options(player="p3"))
    player.on(Received(HOUSE, shown(hand, 3)), 0.0)
    player.on(Submitted(player.act(100)), 0.0)
    for chips in (100, 150, 180, 170):
        hand.bet(chips)
    player.on(Received(HOUSE, shown(hand, 3)), 0.0)
    assert player.legal[1] == 90
    assert tuple(player.legal) == tuple(hand.legal)
    assert player.legal[-1] == 900


@given(st.randoms(use_true_random=False), st.floats(0, 1))
def test_legal_moves_match_the_rules(luck: Random, attention: float) -> None:
    hand = begin(luck)
    players = [Player(Options(player=f"p{seat}")) for seat in range(len(hand.stacks))]

    def choose(hand: Hand, luck: Random) -> Move:
        for seat, player in enumerate(players):
            if seat == hand.turn or luck.random() < attention:
                player.on(Received(HOUSE, shown(hand, seat)), 0.0)
        assert isinstance(hand.turn, int)
        player = players[hand.turn]
        assert tuple(player.legal) == tuple(hand.legal)
        chosen = move(hand, luck)
        if chosen not in player.legal:
            assert len(hand.legal) == 2, "only a raise that no opponent can answer is omitted"
            chosen = hand.legal.call
        player.on(Submitted(player.act(chosen)), 0.0)
        assert not player.legal
        return chosen

    for _ in steps(hand, luck, choose):
        pass


# Settlements


@given(st.randoms(use_true_random=False))
def test_a_hand_observed_from_its_beginning_is_settled_exactly(luck: Random) -> None:
    hand = begin(luck)
    players = [Player(Options(player=f"p{seat}")) for seat in range(len(hand.stacks))]
    settled: list[list[Settle]] = [[] for _ in players]
    # The antes of short stacks cannot be derived from the game.
    seen = [sum(hand.bets) == sum(hand.paid) for _ in players]
    for after in steps(hand, luck):
        if after.cards_due and not after.board:
            continue
        for seat, player in enumerate(players):
            effects = player.on(Received(HOUSE, shown(after, seat)), 0.0)
            settled[seat] += [effect for effect in effects if isinstance(effect, Settle)]
    for seat, (net, settlements) in enumerate(zip(hand.payoff(), settled, strict=True)):
        if seen[seat] and settlements:
            assert [(one.hand_number, one.seat, one.net) for one in settlements] == [(1, seat, net)]


@given(st.randoms(use_true_random=False), st.floats(0, 1), st.integers(2, 6), st.sampled_from([0, 5]), st.booleans())
def test_settlements_add_up_to_the_total_gain_with_rare_observations(
    luck: Random, attention: float, users: int, ante: int, pause: bool
) -> None:
    names = ("ann", "bob", "cat", "dan", "eve", "fay")[:users]
    harness = PlayerHarness(*names, seed=luck.randrange(1000), stack=200, ante=ante, pause_seconds=float(pause))
    harness.do("ann", "fold")
    harness.fixture.wait(float(pause))  # from now on all players are dealt in
    harness.look()
    harness.nets = {name: [] for name in names}
    base = {one.handle: one.wealth + one.bet_so_far + ante for one in harness.fixture.view().table}
    for _ in range(40):
        user = harness.fixture.turn()
        harness.look(*(name for name in names if luck.random() < attention))
        if user:
            harness.look(user)
            harness.do(user, luck.choice(harness.players[user].legal))
        else:
            harness.fixture.wait(1.0)
    harness.fixture.close(final=True)
    harness.look()
    left = harness.fixture.chips()
    assert {name: base[name] + sum(harness.nets[name]) for name in names} == {name: left.get(name, 0) for name in names}


def test_every_hand_is_settled_once() -> None:
    harness = PlayerHarness("ann", "bob")
    for _ in range(2):
        harness.look()
        harness.do(harness.fixture.turn(), "fold")
    harness.look()
    harness.look()
    assert harness.nets == {"ann": [-10, 10], "bob": [10, -10]}


@pytest.mark.parametrize("ante", [0, 5])
def test_a_hand_that_ended_between_two_observations_is_settled(ante: int) -> None:
    harness = PlayerHarness("ann", "bob", ante=ante)
    harness.look()
    harness.do("ann", "fold")
    harness.do("bob", 10)
    harness.do("ann", 40)
    harness.do("bob", "fold")
    harness.do("ann", "fold")  # bob, in the big blind, does not see this hand
    harness.look()
    assert harness.nets == {"ann": [-10 - ante, 20 + ante, -10 - ante], "bob": [10 + ante, -20 - ante, 10 + ante]}


def test_a_missed_hand_after_one_whose_end_was_not_observed_is_settled() -> None:
    harness = PlayerHarness("ann", "bob")
    harness.look()
    harness.do("ann", "fold")
    harness.do("bob", 10)
    harness.do("ann", 0)
    harness.do("ann", 100)
    harness.do("bob", 300)
    harness.do("ann", "fold")
    harness.do("ann", "fold")
    harness.look()
    assert harness.nets == {"ann": [-10, -120, -10], "bob": [10, 120, 10]}


def test_a_missed_hand_after_a_pause_in_which_the_last_one_was_settled_is_settled() -> None:
    harness = PlayerHarness("ann", "bob", pause_seconds=3.0)
    harness.look()
    harness.do("ann", "fold")
    harness.fixture.wait(3.0)
    harness.do("bob", "fold")
    harness.look()  # the end of the second hand
    harness.fixture.wait(3.0)
    harness.do("ann", "fold")
    harness.fixture.wait(3.0)
    harness.look()
    assert harness.nets == {"ann": [-10, 10, -10], "bob": [10, -10, 10]}


def test_a_missed_hand_is_settled_when_the_button_is_seen_to_move() -> None:
    harness = PlayerHarness("ann", "bob")
    harness.look("ann")
    harness.do("ann", 10)
    harness.do("bob", 0)
    harness.do("bob", 40)
    harness.do("ann", 40)
    for _ in range(2):
        harness.do("bob", 0)
        harness.do("ann", 0)
    harness.do("bob", "fold")
    harness.look("ann")
    assert [each["ann"] for each in finished_nets(harness)] == [-60, 10]
    assert harness.nets["ann"] == [-50]
    harness.do("ann", "fold")
    harness.look("ann")
    assert harness.nets["ann"] == [-50, -10, 0]


def test_the_first_hand_is_settled_although_it_was_missed() -> None:
    harness = PlayerHarness("ann", "bob")
    harness.do("ann", "fold")
    harness.look("bob")
    assert harness.nets["bob"] == [10]


def test_no_hand_is_missed_where_the_button_never_moves() -> None:
    hands = [Hand([1000, 1000], button=0) for _ in range(3)]
    player = Player(Options(player="p0"))
    for first, hand in zip((0, 20, 40), hands, strict=True):
        hand.deal(range(first, first + 4))
        player.on(Received(HOUSE, shown(hand, 0)), 0.0)
        act = player.act(10)
        player.on(Submitted(act), 0.0)
    assert player.nets == [0, 0]


@given(st.randoms(use_true_random=False), st.integers(2, 6), st.sampled_from([0, 5]), st.booleans())
def test_a_player_who_looks_only_when_it_has_to_act_counts_every_hand(
    luck: Random, users: int, ante: int, pause: bool
) -> None:
    names = ("ann", "bob", "cat", "dan", "eve", "fay")[:users]
    harness = PlayerHarness(*names, seed=luck.randrange(1000), ante=ante, pause_seconds=float(pause))
    played = 0
    last: dict[str, tuple[int, tuple[Card, ...]]] = {}
    for step in range(60):
        if step < 20:  # all players look, and see that the button moves
            harness.look()
            harness.nets = {name: [] for name in names}
            played = len(finished_nets(harness))
        user = harness.fixture.turn()
        if user:
            move = luck.choice(("fold", "fold", harness.legal(user)[1]))
            view = harness.players[user].view
            assert view is not None
            hand = len(finished_nets(harness)), view.hole
            assume(last.get(user, hand) == hand or last[user][1] != view.hole)  # the same cards look like the same hand
            last[user] = hand
            harness.do(user, move)
        else:
            harness.fixture.wait(1.0)
    expected = finished_nets(harness)[played:]
    for name in names:
        nets = harness.nets[name]
        assert nets == [each[name] for each in expected[: len(nets)]]
        assert len(nets) >= len(expected) - 2  # the last hands are seen when the player has to act again


def test_a_hand_is_settled_as_soon_as_its_end_is_shown() -> None:
    harness = PlayerHarness("ann", "bob", pause_seconds=3.0)
    harness.look()
    harness.do("ann", "fold")
    for _ in range(2):
        harness.look()
        assert harness.nets == {"ann": [-10], "bob": [10]}
    assert harness.players["ann"].view is not None
    assert not harness.players["ann"].legal
    harness.fixture.wait(3.0)
    harness.look()
    assert harness.nets == {"ann": [-10], "bob": [10]}
    assert harness.legal("bob")


def test_a_player_waiting_for_the_next_hand_has_no_view_but_a_seat() -> None:
    harness = PlayerHarness("ann", "bob", "cat")
    harness.look()
    cat = harness.players["cat"]
    assert (cat.view, cat.is_exhausted, cat.legal) == (None, False, cat.legal)
    assert not cat.legal
    harness.do("ann", "fold")
    harness.look()
    assert cat.view is not None
    assert harness.nets["cat"] == []


def test_a_timeout_costs_the_chips_of_the_hand_not_the_forfeited_stack() -> None:
    harness = PlayerHarness("ann", "bob")
    harness.look()
    harness.fixture.wait(16)
    harness.look()
    assert harness.players["ann"].is_exhausted
    assert harness.players["ann"].view is None
    assert harness.nets == {"ann": [-10], "bob": [10]}


def test_a_bet_before_a_timeout_is_lost_with_the_hand() -> None:
    harness = PlayerHarness("ann", "bob")
    harness.do("ann", 80)
    harness.do("bob", 70)
    harness.do("bob", 0)
    harness.look()
    harness.fixture.wait(16)
    harness.look()
    assert harness.nets == {"ann": [-90], "bob": [90]}


def test_a_lost_all_in_is_settled_although_the_end_is_not_observed() -> None:
    harness = PlayerHarness("ann", "bob", decks="2C AS 7H AH KS QH 9C 8D 4H")
    harness.do("ann", 9990)
    harness.do("bob", 9980)
    harness.look()
    assert harness.nets == {"ann": [-10_000], "bob": [10_000]}


def test_a_player_that_has_lost_its_seat_still_knows_its_guid() -> None:
    harness = PlayerHarness("ann", "bob")
    harness.players["bob"] = bob = Player(Options("bob"))
    harness.look()
    harness.fixture.leave("bob")
    harness.look()
    assert bob.is_exhausted
    assert bob.guid == harness.fixture.house.guid_of("bob")


def test_a_lost_all_in_blind_is_settled_although_its_hand_is_not_observed() -> None:
    harness = PlayerHarness("ann", "bob", stack=30)
    harness.do("ann", "fold")
    assert harness.fixture.chips() == {"ann": 0, "bob": 30}
    harness.handle("ann", Left(HOUSE, "404"))
    assert harness.nets["ann"] == [-30]


def test_a_broke_player_is_exhausted_and_may_rejoin_as_a_new_player() -> None:
    harness = PlayerHarness("ann", "bob", seed=4, stack=20)
    harness.look()
    harness.do("ann", 10)
    harness.look()
    (loser,) = [user for user, player in harness.players.items() if player.is_exhausted]
    assert harness.nets[loser] == [-20]
    again = Player(harness.players[loser].options)
    harness.fixture.join(loser)
    again.on(Received(HOUSE, harness.fixture.view(loser)), 0.0)
    assert not again.is_exhausted
    assert again.view is not None


# Other events


def test_a_player_without_guid_is_found_by_name() -> None:
    fixture = HouseFixture()
    fixture.join("ann", "bob")
    player = Player(Options("ann"))
    player.on(Received(HOUSE, fixture.view("ann")), 0.0)
    assert player.guid == fixture.house.guid_of("ann")
    assert player.act(10).player == player.guid


def test_our_turn_without_hole_cards_is_a_violation() -> None:
    fixture = HouseFixture()
    fixture.join("ann", "bob")
    player = Player(Options("ann"))
    _, fault = player.on(Received(HOUSE, fixture.view(None)), 0.0)
    assert isinstance(fault, Notify)
    assert isinstance(fault.notice, Violation)
    assert fault.notice.clause == "holdem-5.6"


def test_games_and_violations_are_notified() -> None:
    player = Player()
    broken = Violation("holdem-5.3", "nothing", "a Game")
    assert player.on(Malformed(HOUSE, broken), 0.0) == [Notify(broken)]
    fixture = HouseFixture()
    assert player.on(Received(HOUSE, fixture.view()), 0.0) == [Notify(fixture.view())]
    assert player.on(Joined(HOUSE), 0.0) == []
    assert player.on(TimedOut(), 0.0) == []
    assert player.deadline is None


def test_the_end_of_a_game_loses_the_seat() -> None:
    harness = PlayerHarness("ann", "bob")
    harness.look()
    gone = Left(HOUSE, "404")
    assert harness.handle("ann", gone)[-1] == Notify(gone)
    assert harness.players["ann"].is_exhausted
    assert harness.nets["ann"] == [-10]


def test_closing_sends_a_leave_request_if_there_is_a_seat() -> None:
    harness = PlayerHarness("ann", "bob")
    ann = harness.players["ann"]
    assert ann.on(Closing(), 0.0) == [Drop(HOUSE)]
    harness.look()
    leave = Leave("ann", harness.fixture.table().guid, ann.guid)
    assert ann.on(Closing(), 0.0) == [Send(HOUSE, leave), Drop(HOUSE)]
    harness.fixture.request(leave)
    harness.look()
    assert ann.on(Closing(), 0.0) == [Drop(HOUSE)]


def test_without_a_minimum_raise_the_big_blind_is_assumed() -> None:
    hand = Hand([1000, 1000])
    hand.deal(range(4))
    player = Player(Options(player="p0"))
    player.on(Received(HOUSE, shown(hand, 0)), 0.0)
    quiet = shown(hand, 0)
    quiet = msgspec.structs.replace(quiet, turn=msgspec.structs.replace(quiet.turn, minimum_raise=0, expiry="later"))
    player.on(Received(HOUSE, quiet), 0.0)
    assert player.legal[2] == 30
    fresh_player = Player(Options(player="p0"))
    fresh_player.on(Received(HOUSE, quiet), 0.0)
    assert fresh_player.legal[2] == 11
    assert fresh_player.view is not None
    assert fresh_player.view.big_blind == 1
