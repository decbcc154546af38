"""Seeds of a room's deals: a stored random secret or the number given with `--seed`, and the decks of `--deck`."""

import hmac
import secrets
from collections.abc import Callable
from functools import partial
from typing import Self

from msgspec import Struct
from msgspec.json import decode
from msgspec.structs import replace

from croupier.core.cards import Order
from croupier.core.dealer import MAX_SMALL_PACK, Dealer, dealer_factory, derive_server_seed
from croupier.core.room import HouseRoom, Room


class Seeds(Struct, frozen=True, omit_defaults=True):
    """What the cards of a room derive from: the first entry of its journal.

    `seed` is the number given with `--seed`; without it, `secret` is 32 random bytes in hexadecimal. `decks` are those
    of `--deck`.
    """

    seed: int | None = None
    secret: str = ""
    client_seed: str = ""
    decks: tuple[Order, ...] = ()

    def with_secret(self) -> Self:
        """Return these seeds, with a new secret if there is neither a `seed` nor a secret."""
        return self if self.seed is not None or self.secret else replace(self, secret=secrets.token_hex(32))

    def server_seed(self, room: str, hand_number: int) -> bytes:
        """Return the server seed of a deal: derived from `seed`, or from `secret` if there is none."""
        if self.seed is not None:
            return derive_server_seed(self.seed, room, hand_number)
        return hmac.digest(bytes.fromhex(self.secret), f"{room}/{hand_number}".encode(), "sha256")

    def dealers(self, room: Room) -> Callable[[int], Dealer]:
        """Return the function that makes the dealer of a private table, or of a hand at shared tables."""
        return dealer_factory(
            partial(self.server_seed, room.name),
            self.client_seed.encode(),
            self.decks,
            shared=not isinstance(room, HouseRoom),
            has_small_pack=len(room.pack) <= MAX_SMALL_PACK,
        )


def decode_start[S: Seeds](fact: bytes, wanted: S) -> S:
    """Decode the first entry of a journal.

    Raises ValueError if it is not a first entry, or if `wanted` asks for other cards.
    """
    try:
        stored = decode(fact, type=type(wanted))
    except (ValueError, RecursionError) as error:
        found = f"found a journal with an invalid first entry ({error})"
        raise ValueError(f"{found}; allowed: a journal made by this version of croupier, or another --store") from None
    check_same_cards(stored, wanted)
    return stored


def check_same_cards(stored: Seeds, wanted: Seeds) -> None:
    """Raise ValueError if `wanted` asks for other cards than the stored ones.

    A `wanted` without seed or decks accepts the stored ones.
    """
    for name, found, allowed in (
        ("seed", stored.seed if wanted.seed is None else wanted.seed, stored.seed),
        ("client seed", wanted.client_seed, stored.client_seed),
    ):
        if found != allowed:
            raise ValueError(f"found the {name} {found!r} for saved tables; allowed: {allowed!r}, as saved")
    if wanted.decks not in {(), stored.decks}:
        stored_decks = "the saved decks" if stored.decks else "none"
        raise ValueError(f"found another --deck for saved tables; allowed: {stored_decks}, or another --store")
