"""Signed cookies: a browser is known by a random number that only this server can have issued."""

import hmac
import secrets
from base64 import urlsafe_b64encode
from collections.abc import Sequence
from hashlib import sha256
from typing import Final

from msgspec import Struct

from croupier.core.usernames import guest_name

COOKIE_SECONDS: Final = 30 * 24 * 3600
KEY_BYTES: Final = 32
SESSION_ID_BYTES: Final = 16
GUEST_DIGITS: Final = 12
"""Hexadecimal digits in the names of guests: enough that nobody finds a cookie with the name of another guest."""


class Visitor(Struct, frozen=True):
    """A browser: its session id, a secret, and when the id was issued, in seconds of Unix time.

    `account` is the name of the account with which it is logged in; the cookie does not contain it.
    """

    session: str
    issued: int
    account: str | None = None

    @property
    def user(self) -> str:
        """The user name of this browser: that of its account, or one of a guest."""
        return self.guest if self.account is None else self.account

    @property
    def guest(self) -> str:
        """The user name of this browser without an account; its session id cannot be computed from it."""
        return guest_name(sha256(self.session.encode()).hexdigest()[:GUEST_DIGITS])


class SigningKeys:
    """Signs texts with the first key, and accepts signatures of all keys."""

    def __init__(self, keys: Sequence[bytes] = ()) -> None:
        self._keys = tuple(keys) or (secrets.token_bytes(KEY_BYTES),)

    def sign(self, purpose: str, text: str) -> str:
        """Return the signature of a text for a purpose."""
        return _sign(self._keys[0], purpose, text)

    def verify(self, purpose: str, text: str, signature: str) -> bool:
        """Whether a signature is that of a text for a purpose."""
        found = signature.encode()
        return any(hmac.compare_digest(_sign(key, purpose, text).encode(), found) for key in self._keys)

    # Cookies of browsers.

    def issue(self, now: float) -> Visitor:
        """Return a new visitor."""
        return Visitor(secrets.token_urlsafe(SESSION_ID_BYTES), int(now))

    def encode(self, visitor: Visitor) -> str:
        """Return the value of a visitor's cookie."""
        text = f"{visitor.session}.{visitor.issued}"
        return f"{text}.{self.sign('session', text)}"

    def decode(self, value: str, now: float) -> Visitor | None:
        """Return the visitor of a cookie; None if it is forged or has expired."""
        text, _, signature = value.rpartition(".")
        session, _, issued = text.partition(".")
        if not self.verify("session", text, signature) or int(issued) + COOKIE_SECONDS < now:
            return None
        return Visitor(session, int(issued))

    # Tokens of forms.

    def csrf_token(self, visitor: Visitor) -> str:
        """Return the token that every form of a visitor contains."""
        return self.sign("csrf", visitor.session)

    def is_csrf_token(self, visitor: Visitor, token: str) -> bool:
        """Whether a token is one for the forms of a visitor."""
        return self.verify("csrf", visitor.session, token)


def set_cookie(name: str, value: str, *, has_tls: bool) -> str:
    """Return the value of a Set-Cookie header."""
    attributes = f"Path=/; Max-Age={COOKIE_SECONDS}; SameSite=Lax"
    return f"{name}={value}; {attributes}; HttpOnly{'; Secure' if has_tls else ''}"


def _sign(key: bytes, purpose: str, text: str) -> str:
    digest = hmac.digest(key, f"{purpose}\0{text}".encode(), "sha256")
    return urlsafe_b64encode(digest).rstrip(b"=").decode()
