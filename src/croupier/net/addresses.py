"""Formats addresses and connection errors for people."""

import os
import ssl
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

from croupier.core.redaction import redact
from croupier.core.session import Address

NOT_TLS_REASONS: Final = frozenset(
    {"WRONG_VERSION_NUMBER", "RECORD_LAYER_FAILURE", "PACKET_LENGTH_TOO_LONG", "UNKNOWN_PROTOCOL"}
)
"""Reasons that OpenSSL gives when the other side does not speak TLS."""


def format_address(address: Address) -> str:
    """Format an address as host:port.

    Example:
        >>> format_address(("192.0.2.1", 7001)), format_address(("::1", 7001))
        ('192.0.2.1:7001', '[::1]:7001')
    """
    host, port = address
    return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"


def parse_address(text: str) -> tuple[str, int | None]:
    """Host and port of `HOST`, `HOST:PORT` or `:PORT`; the port is None if the text has none. Raises ValueError.

    The host is 127.0.0.1 if the text has none. An IPv6 address with a port is in brackets.

    Example:
        >>> parse_address("[::1]:1212"), parse_address("::1")
        (('::1', 1212), ('::1', None))
    """
    if "/" in text:
        raise ValueError(f"found {redact(text)!r}, a URL; allowed: HOST or HOST:PORT")
    host, colon, port = text.rpartition(":")
    if not colon or text.endswith("]") or (":" in host and not host.startswith("[")):
        return text.strip("[]") or "127.0.0.1", None
    if not (port.isascii() and port.isdecimal()):
        raise ValueError(f"found {text!r}; allowed: HOST or HOST:PORT")
    if not 0 < int(port) < 65536:
        raise ValueError(f"found the port {port}; allowed: 1 to 65535")
    return host.strip("[]") or "127.0.0.1", int(port)


@contextmanager
def name_address(host: str, port: int) -> Iterator[None]:
    """Name the address on which to listen in an OSError. An impossible port is one, too.

    Some event loops use an impossible port modulo 65,536 instead of failing.
    """
    try:
        check_port(port)
        yield
    except OSError as error:
        raise OSError(f"cannot listen on {format_address((host, port))}: {_system_message(error)}") from error


def check_port(port: int) -> None:
    """Raise OSError for an impossible port."""
    if not 0 <= port <= 65535:
        raise OSError(f"found the port {port}; allowed: 0 to 65535")


def _system_message(error: OSError) -> str:
    """The system's message for an error, without what event loops add."""
    if error.errno is not None and error.errno > 0:
        return os.strerror(error.errno).lower()
    return error.strerror or str(error)


def is_not_tls(error: BaseException | None) -> bool:
    """Whether a TLS handshake failed because the other side does not speak TLS."""
    return isinstance(error, ssl.SSLError) and error.reason in NOT_TLS_REASONS


def connect_error_reason(error: Exception) -> str:
    """The reason why a connection could not be made, for people."""
    if is_not_tls(error):
        return "it does not speak TLS; leave out --tls, --tls-ca and --tls-cert (in a program: ssl=)"
    if isinstance(error, ssl.SSLCertVerificationError):
        return f"certificate verify failed: {error.verify_message} (--tls-ca FILE trusts another authority)"
    return _system_message(error) if isinstance(error, OSError) else str(error)
