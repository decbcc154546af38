"""Opens the web app of a server, for the rooms that are open."""

import os
import ssl
import time
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Final

from croupier.app.config import RoomConfig, ServerConfig
from croupier.app.room_context import OpenRoom
from croupier.core.session import Address
from croupier.logs import get_logger
from croupier.net.addresses import format_address
from croupier.net.client_addresses import parse_networks, parse_trusted_proxies
from croupier.net.listening_socket import BoundSocket, bind_socket, bound_address
from croupier.recording.shared_store import SharedStore
from croupier.web.config import DEFAULT_PORT

if TYPE_CHECKING:  # imported at run time only by servers with a web app, because Starlette and Jinja take time
    from croupier.cluster.node import Node
    from croupier.cluster.table_views import RoomElsewhere
    from croupier.web.cookies import SigningKeys
    from croupier.web.rooms import RoomEntry
    from croupier.web.server import WebServer

ADMIN_TOKEN_VARIABLE: Final = "CROUPIER_ADMIN_TOKEN"  # noqa: S105 -- the name of a variable
MIN_TOKEN_CHARACTERS: Final = 16


def has_web_app(config: ServerConfig, room_configs: Sequence[RoomConfig]) -> bool:
    """Whether the server has a web app: with all rooms, or if a port is given, unless it is left out."""
    return not config.no_web and (len(room_configs) > 1 or config.web_port is not None)


async def bind_web_socket(config: ServerConfig) -> BoundSocket:
    """Return the socket of the web app, so that a port in use is known before the rooms open. Raises OSError."""
    try:
        return await bind_socket(config.host, DEFAULT_PORT if config.web_port is None else config.web_port)
    except OSError as error:
        raise OSError(f"{error} (--web-port selects another port for the web app; --no-web leaves it out)") from error


def local_address(address: Address) -> Address:
    """Return the address at which this machine reaches a server that listens on `address`: not all addresses, but one.

    >>> local_address(("0.0.0.0", 8000))
    ('127.0.0.1', 8000)
    """
    host, port = address
    return {"0.0.0.0": "127.0.0.1", "::": "::1"}.get(host, host), port  # noqa: S104 -- nothing is bound here


def web_url(config: ServerConfig, bound: BoundSocket) -> str:
    """Return the URL of the web app for browsers on this machine; its other addresses work as well."""
    return f"http{'s' if config.tls_cert else ''}://{format_address(local_address(bound_address(bound)))}"


def room_entries(
    config: ServerConfig,
    room_configs: Sequence[RoomConfig],
    rooms: Mapping[str, OpenRoom],
    addresses: Mapping[str, Address],
    node: "Node | None",
) -> "list[RoomEntry]":
    """Return the rooms as the web app uses them; `addresses` are where they listen, `node` is this server's."""
    from croupier.web.rooms import RoomEntry

    return [
        RoomEntry(
            each.room,
            each.settings,
            rooms[each.room.name],
            has_accounts=config.accounts is not None,
            address=None if config.tls_cert else local_address(addresses[each.room.name]),
            bots=each.bots,
            elsewhere=None if node is None else _room_elsewhere(node, each.room.name),
        )
        for each in room_configs
    ]


def _room_elsewhere(node: "Node", room: str) -> "RoomElsewhere":
    from croupier.cluster.table_views import RoomElsewhere

    return RoomElsewhere(node, room)


@asynccontextmanager
async def serve_web(
    config: ServerConfig,
    bound: BoundSocket,
    entries: "Sequence[RoomEntry]",
    shared_store: SharedStore,
    *,
    tls_context: ssl.SSLContext | None,
    token: str | None,
    drain: Callable[[], None],
) -> AsyncIterator["WebServer"]:
    """Serve the web app while the context is open. The administrator's `token` opens what calls `drain`."""
    from croupier.http.holdem_app import TablesApp
    from croupier.http.limits import ConnectionLimits
    from croupier.web.admin_routes import AdminAccess
    from croupier.web.app import create_app
    from croupier.web.config import WebConfig
    from croupier.web.records import Records
    from croupier.web.server import WebServer

    web_config = WebConfig(
        is_classroom=config.classroom,
        watch_delay_seconds=config.watch_delay_seconds,
        has_tls=tls_context is not None,
        keeps_coins=config.accounts == "certificate",
        hosts=frozenset(name.strip().lower() for name in config.web_hosts.split(",") if name.strip()),
        proxies=parse_trusted_proxies(config.trusted_proxies),
        check_networks=parse_networks("--check-targets", config.check_targets),
    )
    for entry in entries:
        if isinstance(entry.open_room, TablesApp):
            entry.open_room.web_port = bound_address(bound)[1]
    keys = await _signing_keys(shared_store)
    records = Records(lambda: shared_store.current, config.deals)
    admin = None if token is None else AdminAccess(token, shared_store.current, drain)
    log = get_logger(part="web")
    app = create_app(entries, web_config, keys, log, records=records, admin=admin, tournament=config.tournament)
    limits = ConnectionLimits(config.max_connections, config.max_per_address, trusted_proxies=web_config.proxies)
    server = WebServer(app, bound, tls_context, limits)
    try:
        yield server
    finally:
        await server.close()


def admin_token(config: ServerConfig) -> str | None:
    """Return the administrator's token, from the file or else from the environment; None without one.

    Raises ValueError if it is too short, OSError if the file cannot be read.
    """
    if config.admin_token_file is None:
        token = os.environ.get(ADMIN_TOKEN_VARIABLE, "")
        if not token:
            return None
    else:
        token = config.admin_token_file.read_text(encoding="utf-8", errors="replace")
    token = token.strip()
    if len(token) < MIN_TOKEN_CHARACTERS:
        raise ValueError(
            f"found an administrator's token of {len(token)} characters; allowed: {MIN_TOKEN_CHARACTERS} or more"
        )
    return token


async def _signing_keys(shared_store: SharedStore) -> "SigningKeys":
    """Return the keys for cookies: those in the store, or new ones if nothing is stored or the store is down."""
    from croupier.web.cookies import SigningKeys

    if (store := shared_store.current) is None:
        return SigningKeys()
    from croupier.recording.signing_keys import signing_keys
    from croupier.store.records import StoreUnavailable

    try:
        return SigningKeys(await signing_keys(store, time.time()))
    except StoreUnavailable as error:
        get_logger(part="web").warning("people lose their seats in a restart", reason=str(error))
        return SigningKeys()
