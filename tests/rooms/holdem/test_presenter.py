"""The presenter of hold'em describes a table to a person in a seat and to watchers."""

from random import Random
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from croupier.core.presentation import TableCommand, TableView, UnknownAction, verbatim
from croupier.core.referee import HOUSE
from croupier.core.session import Left, Received, Submitted
from croupier.rooms.holdem import ROOM
from croupier.rooms.holdem.cards import CARD_NUMBERS, card_names
from croupier.rooms.holdem.engine.legal import FOLD, Legal
from croupier.rooms.holdem.engine.ranks import best_five
from croupier.rooms.holdem.hand_names import hand_name
from croupier.rooms.holdem.player import Options, Player
from croupier.rooms.holdem.presenter import HoldemPresenter
from croupier.rooms.holdem.wire import Act, ActDone
from tests.presentation import action_keys, announcements, check_table, other_actions
from tests.rooms.holdem.house_fixture import HouseFixture, duel, trio
from tests.rooms.holdem.test_live_history import USERS, act_at_random
from tests.sampling import example_count


class Seated:
    """A person in a seat of a house, with a presenter that sees every state which `see` fetches."""

    def __init__(self, house: HouseFixture, user: str = "ann") -> None:
        self.house = house
        self.user = user
        self.presenter: HoldemPresenter = ROOM.load_extra("presenter")()
        self.join()

    def join(self) -> TableView:
        self.player = Player(Options(self.user))
        assert self.presenter.sit(self.player) is None
        return self.see()

    def see(self) -> TableView:
        """Receive the current state."""
        game = self.house.view(self.user)
        self.player.on(Received(HOUSE, game), 0.0)
        self.presenter.received(game)
        return self.table

    def play(self, line: str) -> TableView:
        """Let others act, and receive the state after each act."""
        for act in line.split(", "):
            self.house.play(act)
            self.see()
        return self.table

    def press(self, action: str, amount: int | None = None) -> TableView:
        """Do an action of the table, and receive the state after it."""
        act = self.presenter.move(action, amount)
        assert isinstance(act, Act)
        self.player.on(Submitted(act), 0.0)
        self.presenter.sent(act)
        assert self.house.request(act) == ActDone()
        return self.see()

    def lose_seat(self) -> TableView:
        self.player.on(Left(HOUSE), 0.0)
        return self.table

    @property
    def table(self) -> TableView:
        view = self.presenter.table(self.house.now)
        check_table(view)
        return view


def watch(house: HouseFixture) -> HoldemPresenter:
    presenter = HoldemPresenter()
    presenter.received(house.view())
    return presenter


def own_chips(view: TableView) -> int | None:
    assert view.purse is None, "the seat shows the chips"
    return next((seat.chips for seat in view.seats if seat.is_viewer), None)


def seat_lines(view: TableView) -> list[str]:
    return [
        f"{seat.name} {seat.chips} {seat.bet} {''.join(card.face or '?' for card in seat.cards)} "
        f"{seat.status}{', dealer' if seat.is_dealer else ''}{f', {seat.caption}' if seat.caption else ''}"
        for seat in view.seats
    ]


def test_a_hand_is_played_with_the_actions() -> None:
    ann = Seated(duel(turn_seconds=15.0))
    view = ann.table
    assert str(view.status) == "It is your turn: 10 chips to call."
    assert seat_lines(view) == ["bob 9980 20 ?? , big blind", "You 9990 10 ASAH to act, dealer, small blind"]
    assert action_keys(view) == ["c call", "f fold", "r raise", "q leave"]
    assert [str(action.label) for action in view.actions] == ["Call 10", "Fold", "Raise to", "Leave"]
    assert str(view.actions[-1].help) == "gives up your seat, and you lose your 10 chips in the pot"
    amount = view.actions[2].amount
    assert amount is not None
    assert (amount.low, amount.high, amount.initial) == (40, 10_000, 40)
    assert [(str(name), chips) for name, chips in amount.presets] == [("½ pot", 40), ("Pot", 60), ("All-in", 10_000)]
    assert (view.deadline, own_chips(view)) == (15.0, 9990)
    assert [(pot.coins, str(pot.name)) for pot in view.pots] == [(30, "Pot")]
    waiting = ann.press("raise", 60)
    assert (announcements(waiting), str(waiting.blocked)) == (["You raise to 60."], "It is the turn of bob.")
    flop = ann.play("bob 40, bob 0")
    assert announcements(flop) == [
        "You raise to 60.",
        "bob calls 40.",
        "Flop: the king of spades, the queen of hearts, the 9 of clubs.",
        "bob checks.",
    ]
    assert [str(action.label) for action in flop.actions] == ["Check", "Fold", "Bet", "Leave"]
    assert str(flop.seats[-1].caption) == "pair of aces"
    assert [card.face for card in flop.board] == ["KS", "QH", "9C"]
    ann.press("raise", 100)
    won = ann.play("bob fold")
    assert announcements(won)[1:4] == ["bob folds.", "You win 60 chips.", "Hand 2: bob has the button."]
    assert [str(result) for result in won.results] == ["hand 1: +60"]
    assert str(won.score) == "1 hand, chips won: +60"


def test_a_lost_hand_names_the_winner() -> None:
    ann = Seated(duel(pause_seconds=1.0))
    lost = ann.press("fold")
    assert announcements(lost) == ["You fold.", "bob wins 10.", "You lose 10 chips."]
    assert [str(result) for result in lost.results] == ["hand 1 (bob +10): -10"]
    assert (str(lost.status), str(lost.blocked)) == ("The next hand is about to begin.",) * 2


def test_an_all_in_call_is_named() -> None:
    ann = Seated(trio(stack=100))
    raised = ann.play("bob 110, cat 90")
    assert announcements(raised)[-2:] == ["bob raises to 110, all-in.", "cat calls 90, all-in."]
    assert [str(action.label) for action in raised.actions] == ["Call 70, all-in", "Fold", "Leave"]
    assert [seat.status for seat in raised.seats] == ["all in", "all in", "to act"]


def test_a_raise_that_can_only_be_all_in_has_no_amount() -> None:
    ann = Seated(duel(stack=35))
    assert [str(action.label) for action in ann.table.actions] == ["Call 10", "Fold", "All-in 35", "Leave"]
    assert ann.presenter.move("raise") == ann.player.act(25)
    assert announcements(ann.press("raise"))[-1] == "You raise to 35, all-in."


def test_side_pots_name_the_players_who_can_win_them() -> None:
    raised = Seated(trio(stack=100)).play("bob 110, cat 90")
    assert [f"{pot.name}: {pot.coins}" for pot in raised.pots] == ["Main pot: 220", "Side pot (bob): 10"]


def test_who_runs_out_of_time_has_lost_what_was_bet() -> None:
    ann = Seated(duel(turn_seconds=1.0))
    ann.house.wait(2.0)
    lost = ann.lose_seat()
    assert announcements(lost)[-2:] == ["Your time ran out: you are out of the game.", "You lose 10 chips."]
    assert ([str(result) for result in lost.results], str(lost.score)) == (["hand 1: -10"], "1 hand, chips won: -10")
    assert action_keys(lost) == ["j rejoin", "q leave"]
    assert str(lost.actions[-1].help) == "ends the session", "there is no seat to give up"
    assert ann.presenter.move("rejoin") is TableCommand.REJOIN
    assert ann.table == lost
    ann.house.join("ann")
    again = ann.join()
    assert announcements(again)[0] == "Welcome. The best five of seven cards win."
    assert announcements(again)[-1].startswith("Hand 2: ")
    assert str(again.score) == "1 hand, chips won: -10"


def test_a_table_without_the_seat_says_how_it_was_lost() -> None:
    ann = Seated(trio(turn_seconds=1.0))
    ann.play("bob 20, cat 10")
    ann.house.wait(1.5)
    lost = ann.see()
    assert "ann" not in ann.house.chips()
    assert announcements(lost)[-2:] == ["You lose 20 chips.", "Your time ran out: you are out of the game."]
    assert str(lost.status) == "You have no seat at this table."


def test_who_loses_the_last_chip_is_out() -> None:
    bob = Seated(duel(stack=100), "bob")
    bob.play("ann 90")
    bob.presenter.sent(act := bob.player.act(80))
    bob.player.on(Submitted(act), 0.0)
    bob.house.request(act)
    lost = bob.lose_seat()
    assert announcements(lost)[-2:] == ["You have lost your last chip: you are out of the game.", "You lose 100 chips."]


def test_waiting_is_explained() -> None:
    house = HouseFixture()
    presenter = HoldemPresenter()
    presenter.sit(Player(Options("ann")))
    assert str(presenter.table(0.0).blocked) == "Waiting for the server."
    house.join("ann")
    ann = Seated(house)
    assert str(ann.table.blocked) == "Waiting for another player."
    house.join("bob", "cat")
    cat = Seated(house, "cat")
    assert str(cat.table.blocked) == "You are dealt in with the next hand in which a seat is free."
    assert own_chips(cat.table) is None


def test_a_refusal_is_announced() -> None:
    ann = Seated(duel())
    ann.presenter.refused(verbatim("It is too late."))
    assert announcements(ann.table)[-1] == "It is too late."


def test_watchers_see_no_hole_cards() -> None:
    house = duel(pause_seconds=1.0)
    presenter = watch(house)
    view = presenter.table(0.0)
    check_table(view)
    assert seat_lines(view) == ["ann 9990 10 ?? to act, dealer, small blind", "bob 9980 20 ?? , big blind"]
    assert (view.actions, str(view.blocked), own_chips(view), view.score) == ((), "You watch this table.", None, None)
    house.play("ann fold")
    presenter.received(house.view())
    assert announcements(presenter.table(0.0))[-2:] == ["ann folds.", "bob wins 10."]
    assert [str(result) for result in presenter.table(0.0).results] == ["hand 1: bob +10"]
    with pytest.raises(UnknownAction):
        presenter.move("fold")


def test_the_end_is_final() -> None:
    ann = Seated(duel())
    ann.presenter.ended(verbatim("The server closed the connection."))
    view = ann.table
    assert (view.is_over, view.actions, view.deadline) == (True, (), None)
    assert str(view.status) == "The server closed the connection."
    with pytest.raises(UnknownAction):
        ann.presenter.move("fold")


@given(st.lists(st.integers(0, 51), min_size=5, max_size=7, unique=True))
def test_a_hand_has_the_name_of_its_best_five_cards(cards: list[int]) -> None:
    assert hand_name(card_names(cards)) == hand_name(card_names(best_five(cards)))


def test_cards_that_are_no_hand_have_no_name() -> None:
    assert hand_name(["AS", "AS", "KD", "2C", "3C"]) is None
    assert hand_name(["AS", "KD", "2C", "3C"]) is None
    assert len(CARD_NUMBERS) == 52


def legal_chips(seat: Seated) -> tuple[Legal, set[Any]]:
    """The legal moves of a person, and the moves of all actions with their bounds and presets."""
    legal = seat.player.legal
    assert isinstance(legal, Legal)
    moves: set[Any] = set()
    for action in other_actions(seat.table):
        amount = action.amount
        amounts = [None] if amount is None else [amount.low, amount.high, *(chips for _, chips in amount.presets)]
        for each in amounts:
            act = seat.presenter.move(action.id, each)
            assert isinstance(act, Act)
            moves.add(FOLD if not act.action else act.amount)
    return legal, moves


RULES: list[dict[str, Any]] = [{}, {"ante": 3}, {"straddle": 40}, {"pause_seconds": 1.0}, {"dialect": "hspe-go"}]


@settings(max_examples=example_count(20))
@given(st.integers(0, 10**6), st.sampled_from(RULES))
def test_the_actions_are_exactly_the_legal_moves(seed: int, rules: dict[str, Any]) -> None:
    house = HouseFixture(seed=seed, stack=400, **rules)
    house.join(*USERS)
    seats = [Seated(house, user) for user in USERS]
    luck = Random(seed)
    for _ in range(20):
        for seat in seats:
            if seat.user not in house.chips():
                continue
            view = seat.see()
            legal, moves = legal_chips(seat)
            assert moves == {*legal}
            assert own_chips(view) == house.chips()[seat.user]
            assert bool(legal) == (house.turn() == seat.user)
        act_at_random(house, luck)


@settings(max_examples=example_count(30))
@given(st.integers(0, 10**6), st.sampled_from(RULES))
def test_results_are_those_of_the_house(seed: int, rules: dict[str, Any]) -> None:
    ann = Seated(duel("", seed=seed, **rules))
    luck = Random(seed)
    for _ in range(40):
        act_at_random(ann.house, luck)
        if ann.house.chips().keys() != {"ann", "bob"}:
            return
        view, nets = ann.see(), ann.player.nets
        # A hand in which the blinds put a player all-in is over before anybody sees it: it counts with the next one.
        assert sum(nets) == sum(hand[0] for hand in ann.house.nets)
        assert len(nets) <= len(ann.house.nets)
        assert str(view.score) == f"{len(nets)} hand{'' if len(nets) == 1 else 's'}, chips won: {sum(nets):+d}"
        assert [int(str(result).rpartition(": ")[2]) for result in view.results] == nets[-8:]


@settings(max_examples=example_count(30))
@given(st.permutations([*CARD_NUMBERS]), st.permutations(range(4)), st.lists(st.booleans(), max_size=4))
def test_cards_that_a_viewer_has_not_seen_change_nothing(
    cards: list[str], order: list[int], raises: list[bool]
) -> None:
    """Two houses with the same cards of ann and the same flop; bob's cards, the turn and the river are others."""
    ann, flop, unseen = cards[:2], cards[2:5], cards[5:9]
    views = []
    for one, two, *rest in (unseen, [unseen[at] for at in order]):
        seat = Seated(duel(" ".join((ann[0], one, ann[1], two, *flop, *rest)), pause_seconds=1.0))
        watcher = watch(seat.house)
        seen = [(seat.table, watcher.table(0.0))]
        for is_raise in (*raises, False, False, False, False):
            turn = seat.house.view().turn
            seat.house.bet(seat.house.turn(), turn.bet_to_player - turn.bet_so_far + is_raise * turn.minimum_raise)
            if len(seat.house.view().cards.board) > len(flop) or not seat.house.turn():
                break
            watcher.received(seat.house.view())
            seen.append((seat.see(), watcher.table(0.0)))
        views.append(seen)
    assert views[0] == views[1]
    assert len(views[0]) > 2
