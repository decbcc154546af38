"""The URL of a hold'em server, and the proxy through which it is reached."""

from typing import NamedTuple
from urllib.parse import SplitResult, quote, unquote, urlsplit
from urllib.request import getproxies, proxy_bypass

from croupier.core.basic_auth import basic_authorization
from croupier.core.redaction import redact
from croupier.core.room import Room
from croupier.core.session import Address
from croupier.net.addresses import format_address, parse_address
from croupier.rooms.holdem import ROOM as HOLDEM

DEFAULT_PORTS = {"http": 80, "https": 443}


class Proxy(NamedTuple):
    """An HTTP proxy; `authorization` is the value of the header for it, "" if it needs none."""

    address: Address
    is_tls: bool
    authorization: str


class ServerUrl(NamedTuple):
    """The parts of a server's URL; `path` is the prefix of all paths, without a slash at its end."""

    scheme: str
    host: str
    port: int
    path: str

    @property
    def is_tls(self) -> bool:
        """Whether the server speaks TLS."""
        return self.scheme == "https"

    @property
    def address(self) -> Address:
        """The host and the port."""
        return self.host, self.port

    @property
    def authority(self) -> str:
        """The value of the header Host.

        >>> parse_url("http://[::1]").authority, parse_url("localhost:8080").authority
        ('[::1]', 'localhost:8080')
        """
        text = format_address((_ascii_host(self.host), self.port))
        return text.rpartition(":")[0] if self.port == DEFAULT_PORTS[self.scheme] else text

    def proxy(self) -> Proxy | None:
        """The proxy for the server, None without one.

        It is set in the environment variables HTTP_PROXY, HTTPS_PROXY, ALL_PROXY and NO_PROXY, in upper or lower case,
        or in the settings of macOS and Windows. Raises ValueError if it is not an HTTP proxy.
        """
        proxies = getproxies()
        text = proxies.get(self.scheme) or proxies.get("all")
        if not text or proxy_bypass(format_address(self.address)):
            return None
        address = text if "://" in text else f"http://{text}"
        try:
            parsed = urlsplit(address)
            scheme, host, port = _scheme_host_port(parsed)
        except ValueError:
            raise ValueError(
                f"found the proxy {redact(text)!r}; allowed: http://HOST:PORT or https://HOST:PORT"
            ) from None
        user, password = unquote(parsed.username or ""), unquote(parsed.password or "")
        return Proxy((host, port), scheme == "https", basic_authorization(user, password).decode() if user else "")


def with_scheme(url: str, port: int = HOLDEM.port) -> str:
    """Return the URL of a server with its scheme; HOST has the default `port`, and the host of `:PORT` is 127.0.0.1.

    Raises ValueError if it is not an HTTP URL, or contains a user, a query or a fragment.

    >>> with_scheme(":1234"), with_scheme("cards.example"), with_scheme("https://cards.example")
    ('http://127.0.0.1:1234', 'http://cards.example:8080', 'https://cards.example')
    """
    parse_url(url)
    return _add_scheme(url, port)


def room_address(room: Room, text: str) -> tuple[Address, bool]:
    """Return the address of a room's server, at the room's port unless it is given, and whether its URL is https.

    Hold'em is played over HTTP: the address of its server may be a URL without a path. Raises ValueError.

    >>> room_address(HOLDEM, "https://cards.example/"), room_address(HOLDEM, "127.0.0.1")
    ((('cards.example', 443), True), (('127.0.0.1', 8080), False))
    """
    if room is HOLDEM and "://" in text:
        url = parse_url(text)
        if url.path:
            raise ValueError(f"found {text!r}; allowed: http://HOST:PORT or https://HOST:PORT, without a path")
        return url.address, url.is_tls
    host, port = parse_address(text)
    return (host, room.port if port is None else port), False


def parse_url(url: str) -> ServerUrl:
    """Parse the URL of a server; see `with_scheme`. Raises ValueError."""
    if "@" in url:  # checked first, so that no error text contains a password
        found = redact(url if "://" in url else f"http://{url}")
        raise ValueError(f"found {found!r}; allowed: http://HOST:PORT or https://HOST:PORT, without a user")
    address = _add_scheme(url, HOLDEM.port)
    try:
        parsed = urlsplit(address)
        if not url or parsed.query or parsed.fragment or not url.isprintable() or " " in url:
            raise ValueError("it is empty, or has more than a path")
        return ServerUrl(*_scheme_host_port(parsed), quote(parsed.path.rstrip("/"), safe="/%"))
    except ValueError:
        raise ValueError(f"found {redact(url)!r}; allowed: http://HOST:PORT or https://HOST:PORT") from None


def _add_scheme(url: str, port: int) -> str:
    """Raises ValueError if the port is invalid."""
    if "://" in url:
        return url
    authority, slash, path = url.partition("/")
    host, given_port = parse_address(authority)
    return f"http://{format_address((host, port if given_port is None else given_port))}{slash}{path}"


def _scheme_host_port(parsed: SplitResult) -> tuple[str, str, int]:
    """Raises ValueError unless it is the URL of an HTTP server."""
    if parsed.scheme not in DEFAULT_PORTS or not parsed.hostname:
        raise ValueError("it has another scheme, or no host")
    _ascii_host(parsed.hostname)
    return parsed.scheme, parsed.hostname, parsed.port or DEFAULT_PORTS[parsed.scheme]


def _ascii_host(host: str) -> str:
    return host if host.isascii() else host.encode("idna").decode()
