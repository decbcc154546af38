"""Redaction of credentials in texts that are logged or printed."""

import re
from typing import Final

REPLACEMENT: Final = "***"

USERINFO_PATTERN = re.compile(r"(?<=://)[^\s\"'<>\\]*@")
AUTHORIZATION_PATTERN = re.compile(
    r"(?i)(\bauthorization['\"\\]*\s*[:=,]\s*(?:b(?=['\"]))?['\"\\]*)(?!(?:basic|bearer)\b|b['\"])[\w+/=.~-]+"
)
SCHEME_PATTERN = re.compile(r"(?i)(\b(?:basic|bearer)\s+)[\w+/=.~-]+")
QUERY_PATTERN = re.compile(
    r"(?i)([?&;](?:password|passwd|pwd|pass|secret|token|authorization|api_?key)=)[^\s&;\"'<>\\]*"
)
ARGON2_PATTERN = re.compile(r"\$argon2\w*\$[\w+/=$,.-]*")


def redact(text: str) -> str:
    """Replace the userinfo of URLs, HTTP credentials, secrets in query strings, and argon2 hashes by `***`.

    >>> redact("GET https://ann:secret@example.org/?token=abc")
    'GET https://***@example.org/?token=***'
    """
    text = USERINFO_PATTERN.sub(f"{REPLACEMENT}@", text)
    text = SCHEME_PATTERN.sub(rf"\1{REPLACEMENT}", text)
    text = AUTHORIZATION_PATTERN.sub(rf"\1{REPLACEMENT}", text)
    text = QUERY_PATTERN.sub(rf"\1{REPLACEMENT}", text)
    return ARGON2_PATTERN.sub(REPLACEMENT, text)
