"""Randomness for bots and players."""

import secrets

from croupier.core.dealer import FairDealer, Luck, derive_server_seed


def make_luck(seed: int | None = None, label: str = "bot", number: int = 1) -> Luck:
    """Return a source of random numbers: fixed by `seed`, `label` and `number`, or unpredictable if `seed` is None.

    Example:
        >>> make_luck(1).below(6) == make_luck(1).below(6)
        True
    """
    return FairDealer(secrets.token_bytes(32) if seed is None else derive_server_seed(seed, label, number)).luck
