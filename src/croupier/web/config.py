"""Settings and limits of the web app."""

from collections.abc import Sequence
from typing import Final

from msgspec import Struct

from croupier.net.client_addresses import IPNetwork, TrustedProxies

DEFAULT_PORT: Final = 8000


class WebConfig(Struct, frozen=True):
    """Settings of the web app. Times are in seconds.

    A seat is kept for `reconnect_seconds` after the last stream of its table has ended. `is_classroom` allows ten times
    the new sessions from one address, because a school often has only one. `has_tls` says whether browsers connect with
    TLS. `hosts` are names under which browsers may reach the server, besides its addresses, `localhost` and names that
    end with `.local`. `keeps_coins` says whether the houses keep the coins of a user between games. `cookie` is the
    visitors' cookie: browsers send cookies to all ports of a host, so two apps on a host need two names.
    """

    reconnect_seconds: float = 120.0
    is_classroom: bool = False
    has_tls: bool = False
    hosts: frozenset[str] = frozenset()
    keeps_coins: bool = False
    cookie: str = "croupier"
    proxies: TrustedProxies = TrustedProxies()
    check_networks: Sequence[IPNetwork] = ()
    """Networks whose servers anybody may have tested."""

    max_checks: int = 4
    """Runs of the tester at the same time, for all sessions together; each session may have one."""

    max_check_seconds: float = 900.0
    checks_per_minute: int = 30
    """From one address."""

    max_acts_per_second: int = 20
    max_seats: int = 8
    """For each session."""

    max_browser_streams: int = 4
    """For each session: browsers allow six connections to a server, and a page needs some itself."""

    max_streams: int = 2000
    """For all sessions together."""

    heartbeat_seconds: float = 15.0
    watch_delay_seconds: float = 0.0
    """Watchers see a table this much later."""

    @property
    def new_sessions_per_minute(self) -> int:
        """The number of new sessions that one address may have take seats in a minute."""
        return 600 if self.is_classroom else 60

    @property
    def cookie_name(self) -> str:
        """The full name of the visitors' cookie; with TLS browsers accept it from this host only."""
        return f"__Host-{self.cookie}" if self.has_tls else self.cookie
