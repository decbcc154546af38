"""The order of a hand, as picked cards show it."""

from croupier.conformance.oldmaid.hand_order import HandOrder, PickedCard, chance_of_order, is_in_order
from croupier.rooms.oldmaid.cards import WireCard
from croupier.rooms.oldmaid.wire import Discard, Pick, Reply

THREE, FOUR, FIVE, PARTNER = ("3", "spades"), ("4", "hearts"), ("5", "clubs"), ("3", "clubs")


def received(*cards: WireCard) -> HandOrder:
    order = HandOrder()
    for card in cards:
        order.on_message("me", "table", "me", Reply("ok", card=card))
    return order


def give(order: HandOrder, position: int, card: WireCard) -> None:
    order.on_message("me", "ann", "me", Pick(position))
    order.on_message("me", "me", "ann", Reply("ok", card=card))


def test_first_picked_card_is_remembered_with_its_places() -> None:
    order = received(FIVE, THREE, FOUR)
    give(order, 0, THREE)
    give(order, 0, FOUR)
    assert order.first_picked == PickedCard(0, [1, 0, 2, 0, 2], 3)


def test_discarded_cards_leave_the_hand() -> None:
    order = received(THREE, FOUR, PARTNER, FIVE)
    order.on_message("me", "me", "table", Discard((THREE, PARTNER), "false"))
    give(order, 1, FIVE)
    assert order.first_picked is not None
    assert order.first_picked.num_cards == 2
    assert order.first_picked.places[0] == 1


def test_single_card_shows_no_order() -> None:
    order = received(THREE)
    give(order, 0, THREE)
    assert order.first_picked is None


def picked(position: int, num_cards: int, *places: int) -> PickedCard:
    return PickedCard(position, places, num_cards)


def test_cards_in_one_order_or_its_reverse_are_in_order() -> None:
    assert is_in_order([picked(0, 3, 0, 1, 1, 1, 1), picked(2, 5, 2, 1, 1, 1, 1)])
    assert is_in_order([picked(0, 3, 1, 1, 1, 2, 1), picked(2, 5, 1, 1, 1, 2, 1)])
    assert not is_in_order([picked(0, 3, 0, 1, 1, 1, 1), picked(0, 5, 1, 0, 1, 1, 1)])


def test_chance_of_an_order_counts_all_orders() -> None:
    assert chance_of_order([picked(0, 30, *5 * [0]), picked(2, 50, *5 * [2])]) == 10 / 1500
    assert chance_of_order([]) == 1.0
