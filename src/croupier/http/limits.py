"""What the hold'em service allows those who connect, and those who ask."""

from msgspec import Struct

from croupier.net.client_addresses import TrustedProxies


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


class Reception(Struct, frozen=True):
    """What is allowed of those who connect. `connections` and `per_address` are counts, 0 means no limit.

    `head` is how many bytes a request may take before its body, to within a piece. `arrive` is how many seconds a
    request may take to arrive, `idle` how many may lie between two, `stuck` for how many somebody may not read what he
    is sent, and `linger` how many he has to close a connection that we have ended, for which no more than `lingering`
    of those who found no place are waited for at the same time. Connections from `proxies` are counted together only:
    they are not their clients'.
    """

    connections: int = 20_000
    per_address: int = 2_000
    head: int = 32_768
    arrive: float = 20.0
    idle: float = 75.0
    stuck: float = 30.0
    linger: float = 2.0
    lingering: int = 1000
    proxies: TrustedProxies = TrustedProxies()


MONITORING = Reception(connections=64, per_address=0, head=16_384, arrive=5.0, idle=60.0, stuck=5.0, linger=1.0)
"""What is allowed of those who ask for metrics and health."""
