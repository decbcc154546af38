"""HTTP Basic credentials as an Authorization header contains them (RFC 7617)."""

from base64 import b64decode, b64encode


def basic_authorization(name: str, password: str) -> bytes:
    """The Authorization header for a name and a password.

    Example:
        >>> basic_authorization("ann", "secret")
        b'Basic YW5uOnNlY3JldA=='
    """
    return b"Basic " + encode_user_pass(name, password)


def parse_basic_authorization(header: bytes) -> tuple[str, str]:
    """The name and password of an Authorization header. Raises ValueError if it has no Basic credentials.

    Example:
        >>> parse_basic_authorization(b"basic YW5uOnNlY3JldA==")
        ('ann', 'secret')
    """
    scheme, _, encoded = header.strip().partition(b" ")
    if scheme.lower() != b"basic":
        raise ValueError("it has another scheme")
    return decode_user_pass(encoded.strip())


def encode_user_pass(name: str, password: str) -> bytes:
    """A name and a password as they follow the scheme in the header."""
    return b64encode(f"{name}:{password}".encode())


def decode_user_pass(encoded: bytes | str) -> tuple[str, str]:
    """The name and password that follow the scheme in the header. Raises ValueError if they cannot be read."""
    name, colon, password = b64decode(encoded, validate=True).decode().partition(":")
    if not colon:
        raise ValueError("it has no colon")
    return name, password
