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


def test_first_picked_card_is_remembered_with_its_place() -> None:
    order = received(THREE, FOUR, FIVE)
    give(order, 0, FIVE)
    give(order, 0, THREE)
    assert order.first_picked == PickedCard(0, 2, 3)


def test_discarded_cards_leave_the_hand() -> None:
    order = received(THREE, FOUR, PARTNER, FIVE)
    order.on_message("me", "me", "table", Discard((THREE, PARTNER), "false"))
    give(order, 1, FIVE)
    assert order.first_picked == PickedCard(1, 1, 2)


def test_single_card_shows_no_order() -> None:
    order = received(THREE)
    give(order, 0, THREE)
    assert order.first_picked is None


def test_order_of_receipt_and_its_reverse_are_orders() -> None:
    assert is_in_order([PickedCard(0, 0, 3), PickedCard(2, 2, 5)])
    assert is_in_order([PickedCard(0, 2, 3), PickedCard(2, 2, 5)])
    assert not is_in_order([PickedCard(0, 0, 3), PickedCard(0, 4, 5)])
    assert chance_of_order([PickedCard(0, 0, 3), PickedCard(2, 2, 5)]) == 1 / 15
