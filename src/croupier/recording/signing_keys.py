"""The keys with which the web app signs its cookies, kept in the store so that a restart keeps people's seats."""

import secrets
from base64 import b64decode, b64encode
from collections.abc import Sequence
from typing import Final

from msgspec import Struct
from msgspec.json import decode, encode

from croupier.store.records import SIGNING_KEYS, Snapshot
from croupier.store.store import Store

KEY_BYTES: Final = 32
KEY_SECONDS: Final = 30 * 24 * 3600
"""A key signs for this long; then it is only checked, for as long again."""


class SigningKey(Struct, frozen=True):
    """A key in base64, and when it was made, in seconds since the epoch."""

    key: str
    time: float


async def signing_keys(store: Store, now: float) -> Sequence[bytes]:
    """Return the key that signs now, and the one before it. Raises StoreUnavailable."""
    snapshot = await store.load_snapshot(*SIGNING_KEYS)
    keys = [] if snapshot is None else decode(snapshot.state, type=list[SigningKey])
    if not keys or keys[0].time + KEY_SECONDS < now:
        new = SigningKey(b64encode(secrets.token_bytes(KEY_BYTES)).decode(), now)
        keys = [new, *keys[:1]]
        await store.save_snapshot(Snapshot(*SIGNING_KEYS, 0, encode(keys), now))
    return [b64decode(key.key) for key in keys]
