"""The settings of a server, and of each room that it opens."""

import ssl
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from croupier.app.tracing import check_endpoint
from croupier.core.cards import Order
from croupier.core.room import HouseRoom, Room
from croupier.logs import LogLevel
from croupier.net.client_addresses import parse_networks, parse_trusted_proxies
from croupier.net.limits import EndpointLimits
from croupier.net.pem_files import naming_pem_files
from croupier.recording.seeds import Seeds

type JournalMode = Literal["durable", "async", "off"]


@dataclass(frozen=True)
class ServerConfig:
    """Settings that apply to all rooms. The field docstrings are the help texts of `croupier serve`."""

    host: str = "127.0.0.1"
    """The address to listen on; 0.0.0.0 and :: mean all addresses of this machine."""

    seed: int | None = None
    """Deal reproducibly: every server seed is derived from this number. Without it, server seeds are random."""

    client_seed: str = ""
    """A word chosen by the players that is mixed into every deal."""

    deals: Path | None = None
    """Append the dealer's record to this file: promises, hands and seeds, for `croupier verify`."""

    log: Path | None = None
    """Write conversations to this file as text; {n} in its name is the number of the connection, {room} the room."""

    strict: bool = False
    """Reject messages that the protocol only tolerates."""

    referee: bool = False
    """Check every conversation of a house with the room's referee, and log what breaks a clause: what the house did as
    an error, what a client did at level info. Not with --accounts. Hold'em and Old Maid: see `croupier tap`."""

    idle_seconds: float = 500.0
    """Disconnect a client after this many seconds without a message."""

    move_seconds: float | None = None
    """Disconnect a client that takes longer than this for one decision. Without it, only the idle limit applies."""

    max_connections: int = 20_000
    """Maximum number of clients of one room at the same time; 0: no limit."""

    max_per_address: int = 2_000
    """Maximum number of clients of one room from one address at the same time; 0: no limit."""

    trusted_proxies: str = ""
    """Addresses and networks of proxies, separated by commas. Hold'em reads a client's address from their headers
    Forwarded or X-Forwarded-For; the other rooms read it from the PROXY protocol (--proxy-protocol)."""

    proxy_protocol: bool = False
    """In rooms without HTTP, connections from --trusted-proxies begin with the PROXY protocol, version 1 or 2."""

    tls_cert: Path | None = None
    """Use TLS, with the certificate chain in this PEM file."""

    tls_key: Path | None = None
    """The private key of the certificate, a PEM file."""

    tls_client_ca: Path | None = None
    """Accept only clients with a certificate issued by an authority in this PEM file."""

    store: str | None = None
    """Where data is stored: a path, or the URL of a PostgreSQL database. Without it, a file in the user's data
    directory."""

    journal: JournalMode | None = None
    """durable: clients receive no result that a crash could still lose, and hold'em tables resume when the server is
    restarted; async: games against the house are stored without waiting; off: nothing is stored. By default hold'em and
    Old Maid are durable, and games against the house are async, or durable with --accounts. With --deck or --seed, and
    without --store, the default is off."""

    houses: int | None = None
    """The number of houses among which hold'em's tables are divided, each with a journal of its own, when a store is
    new: at least as many as nodes or workers, so that each can have one. It never changes. [default: 1, or as
    stored]"""

    bus: str | None = None
    """Make this server a node of a cluster, on the bus at this URL, such as nats://HOST:4222: the nodes share a store,
    and divide hold'em's houses and the table of Old Maid among them. Several URLs are separated by commas."""

    node: str | None = None
    """The name of this server in the cluster, which no other node has: letters, digits, - and _. [default: the names of
    the machine and the port of hold'em, or else of Old Maid]"""

    accounts: Literal["address", "certificate"] | None = None
    """Keep the coins of clients of a house between connections. A client is identified by its address or, with
    --tls-client-ca, by its certificate. Without this flag every connection starts with a new purse. Hold'em has its own
    users, and Old Maid has no coins."""

    metrics_port: int | None = None
    """Serve Prometheus metrics, /healthz and /readyz on this port; 0 picks a free one."""

    metrics_host: str = "127.0.0.1"
    """The address on which the metrics are served."""

    trace_endpoint: str | None = None
    """Send traces to this OTLP/HTTP endpoint of OpenTelemetry, such as http://HOST:4318/v1/traces. The standard
    variables OTEL_* apply as well; an endpoint in OTEL_EXPORTER_OTLP_ENDPOINT turns traces on, too."""

    web_port: int | None = None
    """Open the web app, where people play in a browser, on this port; 0 picks a free one. With all rooms it is open on
    port 8000 without this flag."""

    no_web: bool = False
    """Do not open the web app."""

    web_hosts: str = ""
    """Names of this server in the addresses that browsers open, separated by commas. Its IP addresses, localhost and
    names that end with .local are always allowed; requests for other names are refused."""

    watch_delay_seconds: float = 0.0
    """Show tables to those who only watch in the web app this many seconds later."""

    tournament: Path | None = None
    """Show the tournament in this folder in the web app, live while `croupier arena --out` writes it. Everybody who
    reaches the web app sees the names of its bots."""

    admin_token_file: Path | None = None
    """Open the administration of the web app, /admin, to the token in this file: a line of at least 16 characters.
    The token may also be in the environment variable CROUPIER_ADMIN_TOKEN."""

    classroom: bool = False
    """Let browsers behind one address take ten times more new seats in the web app: 600 a minute."""

    check_targets: str = ""
    """Addresses and networks whose servers everybody may test in the web app, separated by commas, such as
    192.168.1.0/24. The rooms of this server and servers on a visitor's own computer can always be tested."""

    workers: int = 1
    """Serve with this many processes. Each of them serves games against the house without --accounts, and hold'em if it
    is stored; the first one alone has the other rooms and the web app. SIGHUP restarts them one by one."""

    drain_seconds: float = 5.0
    """Seconds that running games have to finish after a stop signal. A second signal ends them at once."""

    log_level: LogLevel = "info"
    """Log level for standard error; debug logs every message."""

    @property
    def limits(self) -> EndpointLimits:
        """The limits of a room's endpoint. Raises ValueError if `trusted_proxies` is invalid."""
        proxies = parse_trusted_proxies(self.trusted_proxies if self.proxy_protocol else "")
        return EndpointLimits(self.max_connections, self.max_per_address, trusted_proxies=proxies)

    def check(self) -> None:
        """Raise ValueError if a setting is invalid, alone or in combination with others."""
        for name in ("idle_seconds", "move_seconds"):
            if (found := getattr(self, name)) is not None and not found > 0:
                raise ValueError(f"found --{name.replace('_', '-')} {found:g}; allowed: more than 0")
        for name in ("max_connections", "max_per_address", "drain_seconds", "watch_delay_seconds"):
            if not (found := getattr(self, name)) >= 0:
                raise ValueError(f"found --{name.replace('_', '-')} {found:g}; allowed: 0 or more")
        if self.workers < 1:
            raise ValueError(f"found --workers {self.workers}; allowed: 1 or more")
        check_endpoint(self.trace_endpoint)
        parse_trusted_proxies(self.trusted_proxies)
        parse_networks("--check-targets", self.check_targets)
        if self.proxy_protocol and not self.trusted_proxies:
            raise ValueError("found --proxy-protocol without --trusted-proxies; allowed: both, or neither")
        if self.accounts is not None and self.journal not in {None, "durable"}:
            raise ValueError(f"found --accounts with --journal {self.journal}; allowed: --journal durable")
        if self.accounts is not None and self.referee:
            raise ValueError("found --referee with --accounts; allowed: one of them, because purses are then unknown")
        if self.accounts == "certificate" and self.tls_client_ca is None:
            raise ValueError("found --accounts certificate without --tls-client-ca; allowed: both")

    def tls_context(self) -> ssl.SSLContext | None:
        """Make the TLS context of the server, or return None if TLS is not configured.

        Raises ValueError if the options are incomplete, or a PEM file is invalid or cannot be read.
        """
        if self.tls_cert is None and self.tls_key is None:
            if self.tls_client_ca is not None:
                raise ValueError(
                    "found --tls-client-ca without --tls-cert; allowed: both, for a server that speaks TLS"
                )
            return None
        if self.tls_cert is None or self.tls_key is None:
            raise ValueError("found only one of --tls-cert and --tls-key; allowed: both, or neither")
        context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
        with naming_pem_files("a certificate and its private key", self.tls_cert, self.tls_key):
            context.load_cert_chain(self.tls_cert, self.tls_key)
        if self.tls_client_ca is not None:
            context.verify_mode = ssl.CERT_REQUIRED
            with naming_pem_files("a certificate", self.tls_client_ca):
                context.load_verify_locations(self.tls_client_ca)
        return context


@dataclass(frozen=True)
class RoomConfig:
    """A room to open: its port, its own settings and, optionally, a file of prearranged decks."""

    room: Room
    port: int
    settings: Any
    deck: Path | None = None
    document_port: int | None = None
    """A second port to listen on, the one in the protocol's document; the server opens without it if it is in use."""
    bots: tuple[str, ...] = ()
    """The bots that join people who are alone at a table in the web app; if empty, the web app chooses them."""

    def read_decks(self) -> tuple[Order, ...]:
        """Read the decks of --deck. Raises OSError if the file cannot be read, ValueError if it has no valid decks."""
        if self.deck is None:
            return ()
        try:
            text = self.deck.read_text(encoding="utf-8")
        except UnicodeDecodeError:
            raise ValueError(f"found {self.deck}, which is not UTF-8; allowed: a text file in UTF-8") from None
        return self.room.pack.parse_decks(text, str(self.deck), self.room.deck_count(self.settings))


def journal_mode(room_config: RoomConfig, server_config: ServerConfig) -> JournalMode:
    """The value of --journal, or the default: rooms with --deck or --seed and without --store store nothing."""
    is_house = isinstance(room_config.room, HouseRoom)
    if server_config.journal is not None or (is_house and server_config.accounts is not None):
        return server_config.journal or "durable"
    if server_config.store is None and (room_config.deck is not None or server_config.seed is not None):
        return "off"
    return "async" if is_house else "durable"


def is_stored(room_config: RoomConfig, server_config: ServerConfig) -> bool:
    """Return whether a room stores anything."""
    return journal_mode(room_config, server_config) != "off"


def is_divided(room_config: RoomConfig, server_config: ServerConfig) -> bool:
    """Return whether nodes divide a room: its houses, its table or its accounts. Workers divide only hold'em."""
    if server_config.bus is None or (isinstance(room_config.room, HouseRoom) and server_config.accounts is None):
        return False
    from croupier.cluster.open_bus import is_local_bus

    if is_local_bus(server_config.bus):
        return room_config.room.name == "holdem" and is_stored(room_config, server_config)
    return True


def wanted_seeds(room_config: RoomConfig, server_config: ServerConfig) -> Seeds:
    """Return the seeds and decks of the command line. Raises as `RoomConfig.read_decks`."""
    return Seeds(server_config.seed, client_seed=server_config.client_seed, decks=room_config.read_decks())
