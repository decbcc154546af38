"""Options of clients: whether and how to connect with TLS."""

import ssl
from dataclasses import dataclass
from pathlib import Path

from croupier.net.pem_files import naming_pem_files


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
        with naming_pem_files("a certificate", self.tls_ca):
            context = ssl.create_default_context(cafile=self.tls_ca)
        if self.tls_cert is not None:
            with naming_pem_files("a certificate and its private key", self.tls_cert, self.tls_key):
                context.load_cert_chain(self.tls_cert, self.tls_key)
        return context
