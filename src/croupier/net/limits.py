"""Limits of an endpoint: connections, buffers and timeouts."""

from msgspec import Struct

from croupier.net.client_addresses import TrustedProxies


class EndpointLimits(Struct, frozen=True):
    """Limits of an endpoint. Timeouts are in seconds.

    `max_connections` and `max_connections_per_address` count accepted connections; 0 means no limit.
    `max_write_buffer_bytes` may be queued for a peer that does not read; a peer that exceeds it is disconnected. A
    dropped peer has `close_timeout` to close its side; at most `max_lingering_connections` refused clients have that
    time, too, and further ones are disconnected at once. `connect_timeout` limits an outgoing connection and a TLS
    handshake, `proxy_header_timeout` the arrival of a PROXY protocol header. With `allow_half_close` the session
    receives EndOfInput when a peer ends its input and may still answer; otherwise that peer has left. TLS has no
    half-close.

    Connections from `trusted_proxies` begin with a PROXY protocol header, which contains the address of the client.
    """

    max_connections: int = 20_000
    max_connections_per_address: int = 2_000
    max_write_buffer_bytes: int = 1 << 20
    close_timeout: float = 2.0
    max_lingering_connections: int = 1000
    connect_timeout: float = 10.0
    proxy_header_timeout: float = 5.0
    allow_half_close: bool = False
    trusted_proxies: TrustedProxies = TrustedProxies()
