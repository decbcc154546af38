"""What all deals of a room follow from that is kept: a secret of its own, or the number of `--seed`, and `--deck`."""

import hmac
import secrets
from typing import Protocol, Self

from msgspec import DecodeError, Struct
from msgspec.json import decode
from msgspec.structs import replace

from croupier.core.cards import Order
from croupier.core.dealer import derive_server_seed


class SeedConfig(Protocol):
    """What a journal has begun with, as far as cards go."""

    @property
    def seed(self) -> int | None: ...  # noqa: D102 -- the number of `--seed`

    @property
    def client_seed(self) -> str: ...  # noqa: D102 -- a word of the players' choice

    @property
    def decks(self) -> tuple[Order, ...]: ...  # noqa: D102 -- those of `--deck`


class Seeds(Struct, frozen=True, omit_defaults=True):
    """The first fact of a journal. Without a `seed` there is a secret, in hexadecimal."""

    seed: int | None = None
    secret: str = ""
    client_seed: str = ""
    decks: tuple[Order, ...] = ()

    def with_secret(self) -> Self:
        """These, with a secret where one is needed."""
        return self if self.seed is not None else replace(self, secret=secrets.token_hex(32))

    def server_seed(self, room: str, hand_number: int) -> bytes:
        """The server seed of a deal."""
        return server_seed(room, self.seed, self.secret, hand_number)


def server_seed(room: str, seed: int | None, secret: str, hand_number: int) -> bytes:
    """The server seed of a deal of a room."""
    if seed is not None:
        return derive_server_seed(seed, room, hand_number)
    return hmac.digest(bytes.fromhex(secret), f"{room}/{hand_number}".encode(), "sha256")


def decode_start[S: SeedConfig](fact: bytes, wanted: S) -> S:
    """How a journal has begun. Raises ValueError where it is none of ours, or where other cards are wanted."""
    try:
        kept = decode(fact, type=type(wanted))
    except DecodeError as error:
        told = f"found a journal that does not begin as ours do: {error}"
        raise ValueError(f"{told}; allowed: one that this croupier has begun, or another --store") from None
    check_same_cards(kept, wanted)
    return kept


def check_same_cards(stored: SeedConfig, wanted: SeedConfig) -> None:
    """Raise ValueError where other cards are wanted than those that were kept; no seed and no decks mean theirs."""
    for name, found, allowed in (
        ("seed", stored.seed if wanted.seed is None else wanted.seed, stored.seed),
        ("client seed", wanted.client_seed, stored.client_seed),
    ):
        if found != allowed:
            raise ValueError(f"found the {name} {found!r} for tables that were kept; allowed: theirs, {allowed!r}")
    if wanted.decks not in {(), stored.decks}:
        theirs = "the cards of theirs" if stored.decks else "none"
        raise ValueError(f"found another --deck for tables that were kept; allowed: {theirs}, or another --store")
