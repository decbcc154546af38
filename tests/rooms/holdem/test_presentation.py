"""What everybody may see of a hand that is being played."""

from croupier.rooms.holdem.cards import parse_cards
from croupier.rooms.holdem.rules import Hand
from croupier.rooms.holdem.table import presentation
from croupier.rooms.holdem.table.seats import Participant
from croupier.rooms.holdem.wire import Cards, Pot, Winner


def sitters(count: int) -> list[Participant]:
    """So many who sit: `a` has the GUID `A`."""
    found = [Participant(name, name.upper()) for name in "abcdefghij"[:count]]
    for chair, sitter in enumerate(found):
        sitter.chair = chair
    return found


def begun() -> Hand:
    """Three players who hold aces, kings and queens, before the first decision."""
    hand = Hand([1000, 1000, 100])
    hand.deal_from(parse_cards("KcQcAcKdQdAd2h3h4h9s9d"))
    return hand


def test_players_have_states_stacks_and_bets() -> None:
    hand, dealt = begun(), sitters(3)
    hand.bet(20)
    hand.fold()
    states = [(one.player_id, one.handle, one.state) for one in presentation.visible_players(hand, dealt, {0})]
    assert states == [("A", "a", "called"), ("B", "b", "folded"), ("C", "c", "active")]
    shown = [(one.wealth, one.bet_so_far, one.small_blind) for one in presentation.visible_players(hand, dealt, {0})]
    assert shown == [(980, 20, False), (990, 10, True), (80, 20, False)]


def test_all_in_players_and_all_players_at_the_end_are_called() -> None:
    hand, dealt = begun(), sitters(3)
    hand.bet(100)
    hand.bet(90)
    hand.bet(80)
    assert [one.state for one in presentation.visible_players(hand, dealt, set())] == ["active", "active", "called"]
    for _ in range(6):
        hand.bet(0)
    assert [one.state for one in presentation.visible_players(hand, dealt, set())] == ["called"] * 3


def test_players_who_left_are_not_shown_and_their_chips_stay_in_the_pot() -> None:
    hand, dealt = begun(), sitters(3)
    hand.leave(1)
    dealt[1].chair = None
    assert [one.player_id for one in presentation.visible_players(hand, dealt, set())] == ["A", "C"]
    assert presentation.visible_pots(hand, dealt) == [Pot(30, ["B", "C"])]


def test_the_board_is_shown_by_streets() -> None:
    hand = begun()
    assert presentation.visible_cards(hand, ()) == Cards((), None, None, None)
    hand.bet(20)
    hand.bet(10)
    hand.bet(0)
    assert presentation.visible_cards(hand, ("AC", "AD")) == Cards(("AC", "AD"), ("2H", "3H", "4H"), None, None)
    for _ in range(6):
        hand.bet(0)
    assert presentation.visible_cards(hand, None) == Cards(None, ("2H", "3H", "4H"), ("9S",), ("9D",))


def test_winners_have_five_cards_after_a_showdown_only() -> None:
    hand, dealt = begun(), sitters(3)
    hand.bet(20)
    hand.bet(10)
    hand.bet(0)
    assert presentation.showdown_winners(hand, dealt) == ()
    for _ in range(9):
        hand.bet(0)
    assert presentation.showdown_winners(hand, dealt) == (Winner("A", ("AC", "AD", "9S", "9D", "4H")),)
    hand = begun()
    hand.fold()
    hand.fold()
    assert presentation.showdown_winners(hand, dealt) == ()
