"""Unfair decks: dealers that change what another dealer has shuffled."""

from collections.abc import Callable, Iterator
from itertools import chain
from typing import Any

from croupier.core.dealer import Deck


class UnfairDealer:
    """A dealer whose decks are changed by `deal`, a function of the size and of the decks of the fair dealer."""

    def __init__(self, fair: Any, deal: Callable[[int, Callable[[], Deck]], Deck]) -> None:
        self._fair = fair
        self._deal = deal

    def __getattr__(self, name: str) -> Any:
        return getattr(self._fair, name)

    def next_deck(self, size: int) -> Deck:
        return self._deal(size, lambda: self._fair.next_deck(size))


def unshuffled(fair: Any) -> UnfairDealer:
    """The same order in every game of every connection."""
    return UnfairDealer(fair, lambda size, shuffle: (shuffle(), iter(range(size)))[1])


def shuffled_once(fair: Any) -> UnfairDealer:
    """The same order in every game of a connection."""
    first: list[int] = []

    def deal(size: int, shuffle: Callable[[], Deck]) -> Deck:
        order = [*shuffle()]
        first[:] = first or order
        return iter([*first])

    return UnfairDealer(fair, deal)


def without_cards(*cards: int) -> Callable[[Any], UnfairDealer]:
    """These cards are never dealt, unless there are no others left."""

    def deal(size: int, shuffle: Callable[[], Deck]) -> Deck:
        return iter([*(drawn for drawn in shuffle() if drawn not in cards), *cards])

    return lambda fair: UnfairDealer(fair, deal)


def with_first_twice(fair: Any) -> UnfairDealer:
    """The first card is dealt twice."""

    def deal(size: int, shuffle: Callable[[], Deck]) -> Deck:
        first, *rest = shuffle()
        return iter([first, first, *rest])

    return UnfairDealer(fair, deal)


def with_replacement(fair: Any) -> UnfairDealer:
    """Every card is drawn from a whole deck."""

    def deal(size: int, shuffle: Callable[[], Deck]) -> Iterator[int]:
        for _ in range(size):
            yield next(shuffle())

    return UnfairDealer(fair, deal)


def carried_over(fair: Any) -> UnfairDealer:
    """The next game goes on with the rest of the deck of the one before, until it runs out."""
    rest: list[Deck] = [iter(())]

    def deal(size: int, shuffle: Callable[[], Deck]) -> Iterator[int]:
        while True:
            card = next(rest[0], None)
            if card is None:
                rest[0] = shuffle()
            else:
                yield card

    return UnfairDealer(fair, deal)


def with_cards_first(*cards: int) -> Callable[[Any], UnfairDealer]:
    """Every deck begins with these cards."""

    def deal(size: int, shuffle: Callable[[], Deck]) -> Deck:
        return chain(cards, (drawn for drawn in shuffle() if drawn not in cards))

    return lambda fair: UnfairDealer(fair, deal)
