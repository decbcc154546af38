"""Addresses, and what went wrong there, as people read them."""

import os
import ssl
from typing import Final

from croupier.core.session import Address

PLAIN: Final = frozenset({"WRONG_VERSION_NUMBER", "RECORD_LAYER_FAILURE", "PACKET_LENGTH_TOO_LONG", "UNKNOWN_PROTOCOL"})
"""How OpenSSL names answers that are no TLS."""


def written(address: Address) -> str:
    """An address as host:port."""
    host, port = address
    return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"


def unheard(address: Address, error: OSError) -> OSError:
    """What is told of an address that cannot be had."""
    return OSError(f"cannot listen on {written(address)}: {_plainly(error)}")


def _plainly(error: OSError) -> str:
    """What the system calls an error, without what event loops add."""
    if error.errno is not None and error.errno > 0:
        return os.strerror(error.errno).lower()
    return error.strerror or str(error)


def is_plain(error: BaseException | None) -> bool:
    """Whether a handshake of TLS failed because the other side does not speak TLS."""
    return isinstance(error, ssl.SSLError) and error.reason in PLAIN


def reason_of(error: Exception) -> str:
    """Why a connection could not be made."""
    if is_plain(error):
        return "it does not speak TLS; leave out --tls, --tls-ca and --tls-cert (in a program: ssl=)"
    if isinstance(error, ssl.SSLCertVerificationError):
        return f"certificate verify failed: {error.verify_message} (--tls-ca FILE trusts another authority)"
    return _plainly(error) if isinstance(error, OSError) else str(error)
