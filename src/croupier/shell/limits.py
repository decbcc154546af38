"""What the hold'em service allows those who ask."""

from msgspec import Struct


class Limits(Struct, frozen=True):
    """What the service allows.

    `body` is how many bytes a body may have. `streams` counts the streams and long polls of everybody together,
    `streams_each` those of one user (or of one address, without credentials). A long poll takes at most `wait` seconds,
    and a stream without news says every `alive` seconds that it lives. `requests` within `span` seconds are allowed
    each address; None means no limit (holdem-9.10).
    """

    body: int = 65_536
    streams: int = 10_000
    streams_each: int = 64
    wait: float = 60.0
    alive: float = 15.0
    requests: int | None = None
    span: float = 60.0
