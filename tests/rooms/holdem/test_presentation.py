"""Tests of the conversion of a hand to the Game object."""

from croupier.rooms.holdem.cards import parse_cards
from croupier.rooms.holdem.engine.hand import Hand
from croupier.rooms.holdem.table import presentation
from croupier.rooms.holdem.table.presentation import ShownPlayer
from croupier.rooms.holdem.wire import Cards, Pot, Winner


def seated_players(count: int) -> list[ShownPlayer]:
    """Return seated players; `a` has the GUID `A`."""
    return [ShownPlayer(name.upper(), name, 0) for name in "abcdefghij"[:count]]


def three_handed() -> Hand:
    """Return a hand of three players with aces, kings and queens, before the first decision."""
    hand = Hand([1000, 1000, 100])
    hand.deal_from(parse_cards("KcQcAcKdQdAd2h3h4h9s9d"))
    return hand


def test_players_have_states_stacks_and_bets() -> None:
    hand, dealt = three_handed(), seated_players(3)
    hand.bet(20)
    hand.fold()
    players = presentation.visible_players(hand, dealt)
    states = [(player.player_id, player.handle, player.state) for player in players]
    assert states == [("A", "a", "called"), ("B", "b", "folded"), ("C", "c", "active")]
    shown = [(player.wealth, player.bet_so_far, player.small_blind) for player in players]
    assert shown == [(980, 20, False), (990, 10, True), (80, 20, False)]


def test_all_in_players_and_all_players_at_the_end_are_called() -> None:
    hand, dealt = three_handed(), seated_players(3)
    hand.bet(100)
    hand.bet(90)
    hand.bet(80)
    players = presentation.visible_players(hand, dealt)
    assert [player.state for player in players] == ["active", "active", "called"]
    for _ in range(6):
        hand.bet(0)
    assert [player.state for player in presentation.visible_players(hand, dealt)] == ["called"] * 3


def test_players_who_left_are_not_shown_and_their_chips_stay_in_the_pot() -> None:
    hand, dealt = three_handed(), seated_players(3)
    hand.leave(1)
    dealt[1] = ShownPlayer("B", "b", 0, is_here=False)
    assert [player.player_id for player in presentation.visible_players(hand, dealt)] == ["A", "C"]
    assert presentation.visible_pots(hand, dealt) == [Pot(30, ["B", "C"])]


def test_the_board_is_shown_by_streets() -> None:
    hand = three_handed()
    assert presentation.visible_cards(hand, ()) == Cards((), None, None, None)
    hand.bet(20)
    hand.bet(10)
    hand.bet(0)
    assert presentation.visible_cards(hand, ("AC", "AD")) == Cards(("AC", "AD"), ("2H", "3H", "4H"), None, None)
    for _ in range(6):
        hand.bet(0)
    assert presentation.visible_cards(hand, None) == Cards(None, ("2H", "3H", "4H"), ("9S",), ("9D",))


def test_winners_have_five_cards_after_a_showdown_only() -> None:
    hand, dealt = three_handed(), seated_players(3)
    hand.bet(20)
    hand.bet(10)
    hand.bet(0)
    assert presentation.showdown_winners(hand, dealt) == ()
    for _ in range(9):
        hand.bet(0)
    assert presentation.showdown_winners(hand, dealt) == (Winner("A", ("AC", "AD", "9S", "9D", "4H")),)
    hand = three_handed()
    hand.fold()
    hand.fold()
    assert presentation.showdown_winners(hand, dealt) == ()
