"""Basic credentials are read as they are written, and whatever else is found in a header is a ValueError."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from croupier.core.basic_auth import (
    basic_authorization,
    decode_user_pass,
    encode_user_pass,
    parse_basic_authorization,
)

NAMES = st.text(st.characters(exclude_categories=["Cs"], exclude_characters=":"))
PASSWORDS = st.text(st.characters(exclude_categories=["Cs"]))


@given(NAMES, PASSWORDS)
def test_credentials_are_read_as_written(name: str, password: str) -> None:
    assert parse_basic_authorization(basic_authorization(name, password)) == (name, password)
    assert decode_user_pass(encode_user_pass(name, password).decode()) == (name, password)


@pytest.mark.parametrize(
    "header", [b"", b"Basic", b"Bearer YW5uOnNlY3JldA==", b"Basic YW5u", b"Basic !!!", b"Basic /zph"]
)
def test_other_headers_are_refused(header: bytes) -> None:
    with pytest.raises(ValueError, match=r"it has|base64|utf-8"):
        parse_basic_authorization(header)
