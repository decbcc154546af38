"""Redaction of credentials in logged text."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from croupier.core.redaction import redact
from tests.http.service_fixture import basic

SECRET = "YW5uOm1hcmtlZA=="


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        (f"[(b'host', b'x'), (b'authorization', b'Basic {SECRET}'), (b'a', b'b')]", "(b'a', b'b')]"),
        (f"Authorization: Basic {SECRET}", "Authorization: Basic ***"),
        (f"proxy-authorization: bearer {SECRET} x", "proxy-authorization: bearer *** x"),
        (f"Asked(authorization=b'Basic {SECRET}', accept=b'')", "Asked(authorization=b'Basic ***', accept=b'')"),
        (f"authorization: {SECRET}", "authorization: ***"),
        (f"{{'authorization': '{SECRET}'}}", "{'authorization': '***'}"),
        (f'{{\\"authorization\\": \\"{SECRET}\\"}}', '{\\"authorization\\": \\"***\\"}'),
        (f"(b'authorization', b'{SECRET}')", "(b'authorization', b'***')"),
        (f"postgresql://ann:{SECRET}@host/db?password={SECRET}&x=y", "postgresql://***@host/db?password=***&x=y"),
        (f"http://ann:{SECRET}/x@host/", "http://***@host/"),
        (f"$argon2id$v=19$m=19456,t=2,p=1${SECRET[:-2]}/+${SECRET[:-2]} next", "*** next"),
        (f"/games/?wait=1&token={SECRET}&b=c", "/games/?wait=1&token=***&b=c"),
    ],
)
def test_credentials_are_redacted_and_other_text_is_unchanged(text: str, wanted: str) -> None:
    found = redact(text)
    assert SECRET not in found
    assert SECRET[:-2] not in found
    assert found.endswith(wanted)


@pytest.mark.parametrize(
    "text",
    [
        "found no Authorization; allowed: a name",
        "http://127.0.0.1:9464/metrics",
        "ann@example.com has left /games/?wait=1",
        "the basics",
    ],
)
def test_text_without_credentials_is_unchanged(text: str) -> None:
    assert redact(text) == text


@given(st.text(st.characters(codec="utf-8"), min_size=1))
def test_every_password_in_a_header_is_redacted(password: str) -> None:
    header = basic("ann", password)
    for text in (header, repr(header.encode()), repr({"authorization": header})):
        assert header.removeprefix("Basic ") not in redact(text)
