"""Dealers: shuffles that cannot be predicted beforehand and can be verified afterwards (docs/fair-deal.md)."""

import hmac
from array import array
from collections.abc import Callable, Iterable, Iterator, Mapping, MutableSequence, Sequence
from functools import lru_cache
from hashlib import sha256
from itertools import chain, product
from operator import mod
from struct import Struct
from typing import Protocol

from croupier.core.cards import Order

FAIR_ALGORITHM = "croupier-fair-1"
"""The id of the algorithm of FairDealer. Any change of the dealt cards needs a new id."""

SMALL_PACK_ALGORITHM = "croupier-fair-2"
"""The id of the algorithm of SmallPackDealer."""

MAX_SMALL_PACK = 4
"""The number of cards up to which a pack is small. Larger packs would gain little."""

SCRIPTED_ALGORITHM = "scripted"
"""The id of scripted deals, which promise nothing."""

HOUSE_DECISIONS_HAND_NUMBER = 0
"""The hand number of the house's own random decisions; games count from 1."""

SHARED_BLOCKS_HAND_NUMBER = (1 << 64) - 1
"""The hand number of the blocks that several hands with a small pack share."""

BLOCK_WORDS = 16

WORD_VALUES = 1 << 16
"""The number of values of a 16-bit word."""

UNPACK_WORDS = Struct(f">{BLOCK_WORDS}H").unpack
NO_WORDS: Iterator[int] = iter(())
PACK_COUNTER = Struct(">QI").pack
INNER_PAD_TABLE = bytes(byte ^ 0x36 for byte in range(256))
OUTER_PAD_TABLE = bytes(byte ^ 0x5C for byte in range(256))


class Mac:
    """HMAC-SHA256 (RFC 2104) of messages with a common prefix; the key and the prefix are hashed only once.

    Copying the two hash states takes a third of the time of `hmac.digest`, and a house needs a digest for every hand.
    """

    __slots__ = ("_inner", "_key", "_outer", "_prefix")

    def __init__(self, key: bytes, prefix: bytes) -> None:
        assert len(key) <= 64, "a longer key would have to be hashed first"
        self._key, self._prefix = key, prefix
        padded = key.ljust(64, b"\0")
        self._inner = sha256(padded.translate(INNER_PAD_TABLE) + prefix)
        self._outer = sha256(padded.translate(OUTER_PAD_TABLE))

    def __reduce__(self) -> tuple[type["Mac"], tuple[bytes, bytes]]:
        return Mac, (self._key, self._prefix)  # hash states cannot be copied by pickle

    def digest(self, suffix: bytes) -> bytes:
        """The HMAC of the prefix followed by this suffix."""
        inner, outer = self._inner.copy(), self._outer.copy()
        inner.update(suffix)
        outer.update(inner.digest())
        return outer.digest()


class Luck:
    """A stream of unbiased integers: HMAC-SHA256(server seed, client seed ‖ hand ‖ block), cut into 16-bit words.

    Example:
        >>> from croupier import make_luck
        >>> def roll(luck: Luck) -> int:
        ...     return luck.below(6) + 1
        >>> 1 <= roll(make_luck()) <= 6
        True
    """

    __slots__ = ("_block_count", "_hand_number", "_mac", "_words")

    def __init__(self, mac: Mac, hand_number: int) -> None:
        self._mac = mac
        self._hand_number = hand_number
        self._block_count = 0
        self._words = NO_WORDS

    def below(self, bound: int) -> int:
        """Draw a uniformly distributed integer from 0 to bound − 1, where 1 ≤ bound ≤ 65,536.

        A bound of 1 uses no randomness.

        >>> luck = FairDealer(bytes(32)).luck
        >>> [luck.below(6) for _ in range(8)]
        [1, 1, 1, 5, 5, 3, 4, 5]
        """
        if bound == 1:
            return 0
        assert bound <= WORD_VALUES, f"found the bound {bound}; allowed: at most {WORD_VALUES}"
        while True:
            for word in self._words:  # continues after the last draw
                draw: int = word % bound
                if word - draw <= WORD_VALUES - bound:  # reject the incomplete last range, so that there is no bias
                    return draw
            self._words = iter(UNPACK_WORDS(self._mac.digest(PACK_COUNTER(self._hand_number, self._block_count))))
            self._block_count += 1


type Deck = Iterator[int]
"""A shuffled deck: the cards in dealing order, each as its index."""


def shuffled(cards: MutableSequence[int], mac: Mac, hand_number: int, words: Iterable[int] = ()) -> Deck:
    """Shuffle lazily, as cards are drawn (Fisher–Yates from the top), with `words` and then the stream of this hand."""
    top, block, bound = 0, 0, len(cards)
    never_rejected = WORD_VALUES - bound
    while bound > 1:
        for word in words:
            draw = word % bound
            if word > never_rejected and word - draw > WORD_VALUES - bound:  # as in `Luck.below`
                continue
            draw += top
            card = cards[draw]
            cards[draw] = cards[top]
            top += 1
            bound -= 1
            yield card
            if bound == 1:
                break
        else:
            words = UNPACK_WORDS(mac.digest(PACK_COUNTER(hand_number, block)))
            block += 1
    yield cards[top]


@lru_cache(maxsize=16)
def _unshuffled_deck(size: int) -> MutableSequence[int]:
    """A compact deck in initial order, to be copied: thousands of tables have one each."""
    return bytearray(range(size)) if size <= 256 else array("H", range(size))


class Dealer(Protocol):
    """Deals the hands of one conversation, or a single hand at a shared table. `hands` counts the dealt decks."""

    algorithm: str
    server_seed: bytes
    client_seed: bytes
    hands: int

    @property
    def luck(self) -> Luck:
        """The randomness of the house's own decisions."""
        ...

    def next_deck(self, size: int) -> Deck:
        """A shuffled deck of `size` cards for the next hand."""
        ...


class FairDealer:
    """The default dealer: all randomness follows from the server seed (32 bytes) and the client seed.

    Raises ValueError for a server seed of another length.

    >>> [*FairDealer(bytes(32)).next_deck(5)]
    [1, 4, 0, 3, 2]
    """

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
        """The randomness of the house's own decisions."""
        if self._luck is None:
            self._luck = Luck(self._get_mac(), HOUSE_DECISIONS_HAND_NUMBER)
        return self._luck

    def next_deck(self, size: int) -> Deck:
        """A shuffled deck of `size` cards for the next hand."""
        self.hands += 1
        return shuffled(_unshuffled_deck(size)[:], self._mac or self._get_mac(), self.hands)

    def _get_mac(self) -> Mac:
        if self._mac is None:  # made on first use: a peer that never plays costs little memory
            self._mac = Mac(self.server_seed, self.client_seed)
        return self._mac


class SmallPackDealer(FairDealer):
    """Deals packs of a few cards: several hands share a block of randomness, which takes longest to compute.

    >>> [*SmallPackDealer(bytes(32)).next_deck(3)]
    [1, 0, 2]
    """

    __slots__ = ("_decks", "_first_hand", "_size")
    algorithm = SMALL_PACK_ALGORITHM

    def __init__(self, server_seed: bytes, client_seed: bytes = b"") -> None:
        super().__init__(server_seed, client_seed)
        self._size = 0
        self._first_hand = 0
        self._decks: Sequence[Order] = ()

    def next_deck(self, size: int) -> Deck:
        """A shuffled deck of `size` cards for the next hand."""
        self.hands += 1
        place = self.hands - self._first_hand
        if size != self._size or not 0 <= place < len(self._decks):
            place = self._shuffle_block(size)
        return iter(self._decks[place])

    def _shuffle_block(self, size: int) -> int:
        """Shuffle the decks of all hands that share a block with this one, and return its place among them."""
        mac, words_a_hand = self._get_mac(), min(max(1, size - 1), BLOCK_WORDS)
        hands_a_block = BLOCK_WORDS // words_a_hand
        number, place = divmod(self.hands - 1, hands_a_block)
        block = UNPACK_WORDS(mac.digest(PACK_COUNTER(SHARED_BLOCKS_HAND_NUMBER, number)))
        self._size = size
        self._first_hand = self.hands - place
        if size <= MAX_SMALL_PACK and WORD_VALUES - 1 not in block:  # for these bounds, all other words are accepted
            bounds, orders = _orders_by_draws(size)
            draws = map(mod, block, bounds)
            self._decks = [orders[draws_of_hand] for draws_of_hand in zip(*[draws] * words_a_hand, strict=False)]
        else:
            self._decks = [
                tuple(shuffled(_unshuffled_deck(size)[:], mac, hand, block[at : at + words_a_hand]))
                for hand, at in enumerate(range(0, hands_a_block * words_a_hand, words_a_hand), self._first_hand)
            ]
        return place


@lru_cache(maxsize=MAX_SMALL_PACK)
def _orders_by_draws(size: int) -> tuple[Sequence[int], Mapping[tuple[int, ...], Order]]:
    """The bound of the draw from each word of a block, and the order of a deck by the draws that shuffle it."""
    bounds = (*range(size, 1, -1),) or (1,)
    mac = Mac(b"", b"")  # not used, for the draws suffice
    orders = {
        draws: tuple(shuffled(_unshuffled_deck(size)[:], mac, 0, draws))
        for draws in product(*(range(bound) for bound in bounds))
    }
    return bounds * BLOCK_WORDS, orders


FAIR_DEALERS: Mapping[str, type[FairDealer]] = {each.algorithm: each for each in (FairDealer, SmallPackDealer)}
"""The dealers that keep a promise, by the ids of their algorithms."""


class ScriptedDealer(FairDealer):
    """Deals predetermined decks in order, over and over; the cards that a deck does not list are shuffled below."""

    __slots__ = ("_decks",)
    algorithm = SCRIPTED_ALGORITHM

    def __init__(self, decks: Sequence[Order], server_seed: bytes, client_seed: bytes = b"") -> None:
        super().__init__(server_seed, client_seed)
        self._decks = decks

    def next_deck(self, size: int) -> Deck:
        """The next predetermined deck, with the cards that it does not list shuffled below."""
        script = self._decks[self.hands % len(self._decks)]
        self.hands += 1
        below = [card for card in range(size) if card not in script]
        return chain(script, shuffled(below, self._get_mac(), self.hands) if below else ())


def commitment(server_seed: bytes) -> bytes:
    """The SHA-256 of the server seed, published before the first deal.

    >>> commitment(bytes(32)).hex()[:16]
    '66687aadf862bd77'
    """
    return sha256(server_seed).digest()


def derive_server_seed(seed: int, room: str, table: int) -> bytes:
    """The server seed of a room's table, derived from the server's `--seed`."""
    return hmac.digest(FAIR_ALGORITHM.encode(), f"{seed}/{room}/{table}".encode(), "sha256")


def dealer_factory(
    server_seed_for: Callable[[int], bytes],
    client_seed: bytes = b"",
    decks: Sequence[Order] = (),
    *,
    shared: bool = False,
    has_small_pack: bool = False,
) -> Callable[[int], Dealer]:
    """A function that makes the dealer of a table: scripted if there are `decks`, else fair.

    `has_small_pack`: a pack has at most MAX_SMALL_PACK cards. At `shared` tables every hand has its own dealer,
    numbered from 1, so the n-th dealer starts with the n-th deck.
    """
    if not decks:
        fair = SmallPackDealer if has_small_pack else FairDealer
        return lambda table: fair(server_seed_for(table), client_seed)

    def scripted(table: int) -> Dealer:
        first = (table - 1) % len(decks) if shared else 0
        return ScriptedDealer([*decks[first:], *decks[:first]], server_seed_for(table), client_seed)

    return scripted
