"""Options of clients: whether and how to connect with TLS."""

import ssl
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class TlsOptions:
    """How to connect with TLS, if at all."""

    tls: bool = False
    """Connect with TLS; trust the certificate authorities of this machine."""

    tls_ca: Path | None = None
    """Connect with TLS; trust the certificate authority in this PEM file."""

    tls_cert: Path | None = None
    """Connect with TLS; present the certificate chain in this PEM file."""

    tls_key: Path | None = None
    """PEM file with the private key of --tls-cert. [default: the same file]"""

    def ssl_context(self) -> ssl.SSLContext | None:
        """Return the TLS context, None without TLS. Raises ValueError if a PEM file cannot be read."""
        if not self.tls and self.tls_ca is None and self.tls_cert is None:
            return None
        context = trusting_context(self.tls_ca)
        if self.tls_cert is not None:
            with naming_file("a certificate and its private key", self.tls_cert, self.tls_key):
                context.load_cert_chain(self.tls_cert, self.tls_key)
        return context


def trusting_context(authority: Path | None) -> ssl.SSLContext:
    """Return the TLS context that trusts the authority in a PEM file; without one, those of this machine.

    Raises ValueError if the file cannot be read.
    """
    with naming_file("a certificate", authority):
        return ssl.create_default_context(cafile=authority)


@contextmanager
def naming_file(content: str, *paths: Path | None) -> Iterator[None]:
    """Name the PEM files, which have to contain `content`, in the ValueError that replaces an OSError of the block.

    The `ssl` module names no file, and says where it has failed in the place of why.
    """
    try:
        yield
    except ssl.SSLError as error:
        raise ValueError(f"found {_listed(paths)}; allowed: {content} in PEM format") from error
    except OSError as error:
        raise ValueError(f"cannot read {_listed(paths)}: {error.strerror}") from error


def _listed(paths: Sequence[Path | None]) -> str:
    return " and ".join(str(path) for path in paths if path is not None)
