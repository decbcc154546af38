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

FAIR_ALGORITHM = "croupier-fair-1"
"""The id of the algorithm below. Whoever changes one byte of what it deals gives it a new id."""

SCRIPTED_ALGORITHM = "scripted"
"""The id of deals that were laid out by hand, about which nothing is promised."""

HOUSE_DECISIONS_HAND_NUMBER = 0
"""The hand number whose luck the house's own decisions use; games count from 1."""

WORD_VALUES = 1 << 16
"""How many different words there are."""

UNPACK_WORDS = Struct(">H").iter_unpack
NO_WORDS: Iterator[tuple[int]] = iter(())
PACK_COUNTER = Struct(">QI").pack
INNER_PAD_TABLE = bytes(byte ^ 0x36 for byte in range(256))
OUTER_PAD_TABLE = bytes(byte ^ 0x5C for byte in range(256))


class Mac:
    """HMAC-SHA256 (RFC 2104) of messages that begin alike: the key and that beginning are taken in once.

    Copying the two hashes takes a third of the time of `hmac.digest`, and a house makes one for every hand.
    """

    __slots__ = ("_inner", "_outer")

    def __init__(self, key: bytes, prefix: bytes) -> None:
        assert len(key) <= 64, "longer keys would have to be hashed first"
        padded = key.ljust(64, b"\0")
        self._inner = sha256(padded.translate(INNER_PAD_TABLE) + prefix)
        self._outer = sha256(padded.translate(OUTER_PAD_TABLE))

    def digest(self, suffix: bytes) -> bytes:
        """The HMAC of the beginning and this end."""
        inner, outer = self._inner.copy(), self._outer.copy()
        inner.update(suffix)
        outer.update(inner.digest())
        return outer.digest()


class Luck:
    """A stream of unbiased integers: HMAC-SHA256(server seed, client seed ‖ hand ‖ block), cut into 16-bit words."""

    __slots__ = ("_block_count", "_hand_number", "_mac", "_words")

    def __init__(self, mac: Mac, hand_number: int) -> None:
        self._mac = mac
        self._hand_number = hand_number
        self._block_count = 0
        self._words = NO_WORDS

    def below(self, bound: int) -> int:
        """Draw an integer from 0 to bound − 1, each equally likely; 1 ≤ bound ≤ 65,536. A bound of 1 uses no luck."""
        if bound == 1:
            return 0
        assert bound <= WORD_VALUES, f"a word of luck cannot decide between {bound}"
        while True:
            for (word,) in self._words:  # goes on where the last draw has stopped
                draw: int = word % bound
                if word - draw <= WORD_VALUES - bound:  # the whole run of `bound` words that it lies in exists
                    return draw
            self._words = UNPACK_WORDS(self._mac.digest(PACK_COUNTER(self._hand_number, self._block_count)))
            self._block_count += 1


type Deck = Iterator[int]
"""One shuffled deck, face down: the cards in the order in which they are dealt."""


def shuffled(cards: MutableSequence[int], mac: Mac, hand_number: int) -> Deck:
    """Shuffle a deck with the luck of a hand (Fisher–Yates, from the top), only as deep as cards are drawn."""
    top, block, bound = 0, 0, len(cards)
    while bound > 1:
        for (word,) in UNPACK_WORDS(mac.digest(PACK_COUNTER(hand_number, block))):
            draw = word % bound
            if word - draw > WORD_VALUES - bound:  # as in `Luck.below`
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
def _unshuffled_deck(size: int) -> MutableSequence[int]:
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

    def next_deck(self, size: int) -> Deck:
        """Shuffle `size` cards for the next hand."""
        ...


class FairDealer:
    """The default dealer. `luck` is for the house's own decisions; `hands` counts the decks dealt so far."""

    __slots__ = ("_luck", "_mac", "client_seed", "hands", "server_seed")
    algorithm = FAIR_ALGORITHM

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
            self._luck = Luck(self._get_mac(), HOUSE_DECISIONS_HAND_NUMBER)
        return self._luck

    def next_deck(self, size: int) -> Deck:
        """Shuffle `size` cards for the next hand."""
        self.hands += 1
        return shuffled(_unshuffled_deck(size)[:], self._mac or self._get_mac(), self.hands)

    def _get_mac(self) -> Mac:
        if self._mac is None:  # made when it is first needed: a peer that never plays costs little memory
            self._mac = Mac(self.server_seed, self.client_seed)
        return self._mac


class ScriptedDealer(FairDealer):
    """Deals decks that were laid out beforehand, in turn and cyclically; cards they do not list lie shuffled below."""

    __slots__ = ("_decks",)
    algorithm = SCRIPTED_ALGORITHM

    def __init__(self, decks: Sequence[Order], server_seed: bytes, client_seed: bytes = b"") -> None:
        super().__init__(server_seed, client_seed)
        self._decks = decks

    def next_deck(self, size: int) -> Deck:
        """Lay out the next deck, and shuffle what it does not list below it."""
        script = self._decks[self.hands % len(self._decks)]
        self.hands += 1
        below = [card for card in range(size) if card not in script]
        return chain(script, shuffled(below, self._get_mac(), self.hands) if below else ())


def commitment(server_seed: bytes) -> bytes:
    """What is published before the first deal: the SHA-256 of the server seed."""
    return sha256(server_seed).digest()


def derive_server_seed(seed: int, room: str, table: int) -> bytes:
    """The server seed of a room's table, from one number (`--seed`) for the whole server."""
    return hmac.digest(FAIR_ALGORITHM.encode(), f"{seed}/{room}/{table}".encode(), "sha256")


def dealer_factory(
    server_seed_for: Callable[[int], bytes],
    client_seed: bytes = b"",
    decks: Sequence[Order] = (),
    *,
    shared: bool = False,
) -> Callable[[int], Dealer]:
    """A dealer for each table: from its server seed and, if there are any, from decks laid out by hand.

    At `shared` tables every hand has a dealer of its own, counted from 1: so the decks go on from one to the next.
    """
    if not decks:
        return lambda table: FairDealer(server_seed_for(table), client_seed)

    def scripted(table: int) -> Dealer:
        first = (table - 1) % len(decks) if shared else 0
        return ScriptedDealer([*decks[first:], *decks[:first]], server_seed_for(table), client_seed)

    return scripted
