"""The dealer: shuffles nobody can predict beforehand and anybody can check afterwards (docs/fair-deal.md)."""

import hmac
from array import array
from collections.abc import Callable, Iterator, MutableSequence, Sequence
from functools import lru_cache
from hashlib import sha256
from itertools import chain
from struct import Struct
from typing import Protocol

from croupier.core.cards import Order

FAIR = "croupier-fair-1"
"""The id of the algorithm below. Whoever changes one byte of what it deals gives it a new id."""

SCRIPTED = "scripted"
"""The id of deals that were laid out by hand, about which nothing is promised."""

DECISIONS = 0
"""The hand number whose luck the house's own decisions use; games count from 1."""

SPAN = 1 << 16
"""How many different words there are."""

WORDS = Struct(">H").iter_unpack
NO_WORDS: Iterator[tuple[int]] = iter(())
COUNTER = Struct(">QI").pack
INNER = bytes(byte ^ 0x36 for byte in range(256))
OUTER = bytes(byte ^ 0x5C for byte in range(256))


class Mac:
    """HMAC-SHA256 (RFC 2104) of messages that begin alike: the key and that beginning are taken in once.

    Copying the two hashes takes a third of the time of `hmac.digest`, and a house makes one for every hand.
    """

    __slots__ = ("_inner", "_outer")

    def __init__(self, key: bytes, beginning: bytes) -> None:
        assert len(key) <= 64, "longer keys would have to be hashed first"
        padded = key.ljust(64, b"\0")
        self._inner = sha256(padded.translate(INNER) + beginning)
        self._outer = sha256(padded.translate(OUTER))

    def digest(self, end: bytes) -> bytes:
        """The HMAC of the beginning and this end."""
        inner, outer = self._inner.copy(), self._outer.copy()
        inner.update(end)
        outer.update(inner.digest())
        return outer.digest()


class Luck:
    """A stream of unbiased integers: HMAC-SHA256(server seed, client seed ‖ hand ‖ block), cut into 16-bit words."""

    __slots__ = ("_blocks", "_hand", "_mac", "_words")

    def __init__(self, mac: Mac, hand: int) -> None:
        self._mac = mac
        self._hand = hand
        self._blocks = 0
        self._words = NO_WORDS

    def below(self, bound: int) -> int:
        """Draw an integer from 0 to bound − 1, each equally likely; 1 ≤ bound ≤ 65,536. A bound of 1 uses no luck."""
        if bound == 1:
            return 0
        assert bound <= SPAN, f"a word of luck cannot decide between {bound}"
        while True:
            for (word,) in self._words:  # goes on where the last draw has stopped
                draw: int = word % bound
                if word - draw <= SPAN - bound:  # the whole run of `bound` words that it lies in exists
                    return draw
            self._words = WORDS(self._mac.digest(COUNTER(self._hand, self._blocks)))
            self._blocks += 1


type Deck = Iterator[int]
"""One shuffled deck, face down: the cards in the order in which they are dealt."""


def shuffled(cards: MutableSequence[int], mac: Mac, hand: int) -> Deck:
    """Shuffle a deck with the luck of a hand (Fisher–Yates, from the top), only as deep as cards are drawn."""
    top, block, bound = 0, 0, len(cards)
    while bound > 1:
        for (word,) in WORDS(mac.digest(COUNTER(hand, block))):
            draw = word % bound
            if word - draw > SPAN - bound:  # as in `Luck.below`
                continue
            draw += top
            card = cards[draw]
            cards[draw] = cards[top]
            top += 1
            bound -= 1
            yield card
            if bound == 1:
                break
        block += 1
    yield cards[top]


@lru_cache(maxsize=16)
def _new(size: int) -> MutableSequence[int]:
    """A deck of so many cards in its first order, to be copied: small, for a thousand tables have one each."""
    return bytearray(range(size)) if size <= 256 else array("H", range(size))


class Dealer(Protocol):
    """Deals the hands of one conversation (or of one hand, at a shared table)."""

    algorithm: str
    server_seed: bytes
    client_seed: bytes
    hands: int

    @property
    def luck(self) -> Luck:
        """The luck of the house's own decisions."""
        ...

    def deck(self, size: int) -> Deck:
        """Shuffle `size` cards for the next hand."""
        ...


class Fair:
    """The default dealer. `luck` is for the house's own decisions; `hands` counts the decks dealt so far."""

    __slots__ = ("_luck", "_mac", "client_seed", "hands", "server_seed")
    algorithm = FAIR

    def __init__(self, server_seed: bytes, client_seed: bytes = b"") -> None:
        if len(server_seed) != 32:
            raise ValueError(f"found a server seed of {len(server_seed)} bytes; allowed: 32")
        self.server_seed = server_seed
        self.client_seed = client_seed
        self.hands = 0
        self._mac: Mac | None = None
        self._luck: Luck | None = None

    @property
    def luck(self) -> Luck:
        """The luck of the house's own decisions."""
        if self._luck is None:
            self._luck = Luck(self._keyed(), DECISIONS)
        return self._luck

    def deck(self, size: int) -> Deck:
        """Shuffle `size` cards for the next hand."""
        self.hands += 1
        return shuffled(_new(size)[:], self._mac or self._keyed(), self.hands)

    def _keyed(self) -> Mac:
        if self._mac is None:  # made when it is first needed: a peer that never plays costs little memory
            self._mac = Mac(self.server_seed, self.client_seed)
        return self._mac


class Scripted(Fair):
    """Deals decks that were laid out beforehand, in turn and cyclically; cards they do not list lie shuffled below."""

    __slots__ = ("_decks",)
    algorithm = SCRIPTED

    def __init__(self, decks: Sequence[Order], server_seed: bytes, client_seed: bytes = b"") -> None:
        super().__init__(server_seed, client_seed)
        self._decks = decks

    def deck(self, size: int) -> Deck:
        """Lay out the next deck, and shuffle what it does not list below it."""
        script = self._decks[self.hands % len(self._decks)]
        self.hands += 1
        below = [card for card in range(size) if card not in script]
        return chain(script, shuffled(below, self._keyed(), self.hands) if below else ())


def commitment(server_seed: bytes) -> bytes:
    """What is published before the first deal: the SHA-256 of the server seed."""
    return sha256(server_seed).digest()


def derive(seed: int, room: str, table: int) -> bytes:
    """The server seed of a room's table, from one number (`--seed`) for the whole server."""
    return hmac.digest(FAIR.encode(), f"{seed}/{room}/{table}".encode(), "sha256")


def dealers(
    seeds: Callable[[int], bytes], client_seed: bytes = b"", decks: Sequence[Order] = (), *, shared: bool = False
) -> Callable[[int], Dealer]:
    """A dealer for each table: from its server seed and, if there are any, from decks laid out by hand.

    At `shared` tables every hand has a dealer of its own, counted from 1: so the decks go on from one to the next.
    """
    if not decks:
        return lambda table: Fair(seeds(table), client_seed)

    def scripted(table: int) -> Dealer:
        first = (table - 1) % len(decks) if shared else 0
        return Scripted([*decks[first:], *decks[:first]], seeds(table), client_seed)

    return scripted
