"""Takes credentials out of texts that are logged or printed, whoever has written them."""

import re
from typing import Final

HIDDEN: Final = "***"

USERINFO = re.compile(r"(?<=://)[^\s\"'<>\\]*@")
AUTHORIZATION = re.compile(
    r"(?i)(\bauthorization['\"\\]*\s*[:=,]\s*(?:b(?=['\"]))?['\"\\]*)(?!(?:basic|bearer)\b|b['\"])[\w+/=.~-]+"
)
SCHEME = re.compile(r"(?i)(\b(?:basic|bearer)\s+)[\w+/=.~-]+")
QUERY = re.compile(r"(?i)([?&;](?:password|passwd|pwd|pass|secret|token|authorization|api_?key)=)[^\s&;\"'<>\\]*")
ARGON2 = re.compile(r"\$argon2\w*\$[\w+/=$,.-]*")


def redact(text: str) -> str:
    """The text without the user information of URLs, credentials of HTTP, passwords in queries and argon2 hashes."""
    text = USERINFO.sub(f"{HIDDEN}@", text)
    text = SCHEME.sub(rf"\1{HIDDEN}", text)
    text = AUTHORIZATION.sub(rf"\1{HIDDEN}", text)
    text = QUERY.sub(rf"\1{HIDDEN}", text)
    return ARGON2.sub(HIDDEN, text)
