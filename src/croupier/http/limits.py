"""What the hold'em service allows those who connect, and those who ask."""

from msgspec import Struct

from croupier.net.client_addresses import TrustedProxies


class ServiceLimits(Struct, frozen=True):
    """What the service allows.

    `body` is how many bytes a body may have. `streams` counts the streams and long polls of everybody together,
    `streams_each` those of one user (or of one address, without credentials). A long poll takes at most `wait` seconds,
    and a stream without news says every `alive` seconds that it lives. `requests` within `span` seconds are allowed
    each address; None means no limit (holdem-9.10).
    """

    max_body_bytes: int = 65_536
    max_streams: int = 10_000
    max_streams_per_user: int = 64
    max_wait_seconds: float = 60.0
    heartbeat_seconds: float = 15.0
    max_requests: int | None = None
    request_window_seconds: float = 60.0


class ConnectionLimits(Struct, frozen=True):
    """What is allowed of those who connect. `connections` and `per_address` are counts, 0 means no limit.

    `head` is how many bytes a request may take before its body, to within a piece. `arrive` is how many seconds a
    request may take to arrive, `idle` how many may lie between two, `stuck` for how many somebody may not read what he
    is sent, and `linger` how many he has to close a connection that we have ended, for which no more than `lingering`
    of those who found no place are waited for at the same time. Connections from `proxies` are counted together only:
    they are not their clients'.
    """

    max_connections: int = 20_000
    max_connections_per_address: int = 2_000
    max_header_bytes: int = 32_768
    request_timeout: float = 20.0
    keep_alive_timeout: float = 75.0
    write_timeout: float = 30.0
    close_timeout: float = 2.0
    max_lingering_connections: int = 1000
    trusted_proxies: TrustedProxies = TrustedProxies()


MONITORING_LIMITS = ConnectionLimits(
    max_connections=64,
    max_connections_per_address=0,
    max_header_bytes=16_384,
    request_timeout=5.0,
    keep_alive_timeout=60.0,
    write_timeout=5.0,
    close_timeout=1.0,
)
"""What is allowed of those who ask for metrics and health."""
