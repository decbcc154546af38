"""Randomness and names for bots and players."""

import secrets
from typing import NamedTuple

from croupier.core.dealer import FairDealer, Luck, derive_server_seed


class Login(NamedTuple):
    """A user name and a password."""

    user: str
    password: str


def new_login(prefix: str = "bot") -> Login:
    """Return a user name that no server knows yet, which begins with `prefix`, and a password.

    A fixed name would fail where somebody else has registered it, and when a bot is run twice at the same time.
    """
    return Login(f"{prefix}-{secrets.token_hex(4)}", secrets.token_urlsafe())


def make_luck(seed: int | None = None, label: str = "bot", number: int = 1) -> Luck:
    """Return a source of random numbers: fixed by `seed`, `label` and `number`, or unpredictable if `seed` is None.

    Example:
        >>> make_luck(1).below(6) == make_luck(1).below(6)
        True
    """
    return FairDealer(secrets.token_bytes(32) if seed is None else derive_server_seed(seed, label, number)).luck
