"""TLS to a server that is known by its address: its certificate is verified, the name in it is not."""

from ssl import SSLContext, SSLError, create_default_context


def pinned_tls_context(authority: str) -> SSLContext:
    """Make the context of a client that trusts the certificate authority in a PEM text, or without one this machine's.

    The name in the server's certificate is not compared, because the client connects to an address that is resolved
    already. Raises ValueError if the text has no certificate.
    """
    try:
        context = create_default_context(cadata=authority or None)
    except (SSLError, TypeError) as error:  # a TypeError: a character that is not ASCII
        raise ValueError(f"found no certificate: {error}; allowed: one in the PEM format") from error
    context.check_hostname = False
    return context
