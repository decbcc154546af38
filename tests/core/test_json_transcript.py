"""JSON transcripts: parsing of lines, binding of names, and mismatches."""

import re
from collections import deque
from collections.abc import Mapping
from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.json import encode

from croupier.core.http_transcript import Mismatch
from croupier.core.json_transcript import encode_sent, match_received, parse_values
from croupier.core.transcript import TranscriptLine, parse_transcript
from tests.transcript_drivers import play_json_transcript

WORDS = st.text(st.characters(codec="utf-8", exclude_characters="$"))
JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53), 2**53) | WORDS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(WORDS, inner),
    max_leaves=8,
)


@pytest.mark.parametrize(
    ("text", "data"),
    [
        ('{"cmd": "draw"}', b'{"cmd": "draw"}\n'),
        ('{"cmd": "draw"} {"cmd": "status"}', b'{"cmd": "draw"} {"cmd": "status"}\n'),
        ('{"cmd":"draw"}{"cmd":"draw"}', b'{"cmd":"draw"}{"cmd":"draw"}\n'),
        ('"ü"', '"ü"\n'.encode()),
        ("42", b"42\n"),
        ("'hello'", b"hello"),
        (r"'{\x22\x0a'", b'{"\n'),
        (r"'\xff' * 3", b"\xff\xff\xff"),
        ("'it's'", b"it's"),
        ('{"nick": "it\'s"}', b'{"nick": "it\'s"}\n'),
    ],
)
def test_sent_line_is_json_with_a_line_end_or_quoted_text(text: str, data: bytes) -> None:
    assert encode_sent(text, {}) == data


def test_names_in_a_sent_line_are_substituted() -> None:
    bound = {"value": "3", "suit": "spades"}
    assert encode_sent('{"cards": [["$value", "$suit"]]}', bound) == b'{"cards": [["3", "spades"]]}\n'
    assert encode_sent("'$value'", bound) == b"3"
    with pytest.raises(ValueError, match=r"found \$other; allowed: \$value, \$suit"):
        encode_sent('["$other"]', bound)


@pytest.mark.parametrize("text", ["draw", "{'cmd': 'draw'}", '{"cmd": }', '{"a": 1} b', "'open", "[" * 100_000])
def test_line_that_is_neither_json_nor_quoted_raises_value_error(text: str) -> None:
    with pytest.raises(ValueError, match=r"(?s)found .*; allowed: JSON values, 'text'"):
        encode_sent(text, {})
    with pytest.raises(ValueError, match=r"(?s)found .*; allowed"):
        match_received(text, b"1", {})


@pytest.mark.parametrize("text", ["", "1 2", '{"a": 1} {"a": 1}'])
def test_received_line_must_have_exactly_one_value(text: str) -> None:
    with pytest.raises(ValueError, match=r"found .*; allowed: one JSON value in a received line"):
        match_received(text, b"1", {})


@given(JSON)
def test_every_json_value_matches_itself(value: object) -> None:
    text = encode(value).decode()
    assert parse_values(text) == [value]
    assert match_received(text, encode(value), {}) == {}
    assert encode_sent(text, {}) == encode(value) + b"\n"


@pytest.mark.parametrize(
    ("expected", "found", "message"),
    [
        ('{"result": "ok"}', b'{"result":"out"}', "the message.result: 'out', not 'ok'"),
        ('{"result": "ok"}', b'{"result":"ok","card":[]}', "the keys"),
        ('{"a": 1, "b": 2}', b'{"b":2,"a":1}', "the keys"),
        ("1", b"1.0", "1.0, not 1"),
        ('["$known"]', b'["other"]', r"\[0\]: 'other', not 'it'"),
        ('["$a", "$a"]', b'["x","y"]', r"\[1\]: 'y', not 'x'"),
        ('{"message": "oldmaid-4.3: $_"}', b'{"message":"oldmaid-4.5: late"}', "message: 'oldmaid-4.5: late', not"),
        ('{"message": "oldmaid-4.3: $_"}', b'{"message":3}', "message: 3, not"),
        ("1", b"", "no JSON"),
        ("1", b"1 2", "no JSON"),
        ('"x"', b'"\xff"', "no JSON"),
    ],
)
def test_mismatch_names_the_place(expected: str, found: bytes, message: str) -> None:
    with pytest.raises(Mismatch, match=message):
        match_received(expected, found, {"known": "it"})


@pytest.mark.parametrize("found", [b"null", b"1", b'"x"', b"[]", b'{"a":[1]}'])
def test_wildcard_matches_any_json(found: bytes) -> None:
    assert match_received('"$_"', found, {}) == {}


def test_name_is_bound_by_the_first_message_and_matches_only_the_same_text_afterwards() -> None:
    bound = match_received('{"card": ["$value", "$suit"]}', b'{"card":["3","spades"]}', {})
    assert bound == {"value": "3", "suit": "spades"}
    assert match_received('["$suit", "$other"]', b'["spades","x"]', bound) == bound | {"other": "x"}
    assert match_received('"found $value of $kind"', b'"found 3 of a kind"', bound) == bound | {"kind": "a kind"}


class RecordingDriver:
    """A driver that receives messages from a list and records what is sent and performed."""

    def __init__(self, *answers: bytes) -> None:
        self.answers = deque(answers)
        self.past: list[object] = []

    def send(self, peer: str, data: bytes) -> None:
        self.past.append((peer, data))

    def receive(self, peer: str, expected: re.Pattern[bytes]) -> Mapping[str, bytes]:
        match = expected.match(self.answers.popleft())
        assert match, f"{peer} receives no whole line"
        return match.groupdict()

    def perform(self, line: TranscriptLine) -> None:
        self.past.append((line.kind, line.peer, line.text))

    def finish(self) -> None:
        self.past.append("quiet")


HEAD = "title: A title\nclause: oldmaid-1.1\n"


def test_transcript_is_played_line_by_line() -> None:
    sample = parse_transcript(
        HEAD + 'p> {"cmd": "draw"}\np< {"result": "ok",\n  "card": ["$v", "$s"]}\n* 0.05 seconds pass\n'
        'q> \'{"cards": [["$v", "$s"]\'\n* left q\n',
        "sample",
    )
    driver = RecordingDriver(b'{"result":"ok","card":["3","spades"]}\n')
    play_json_transcript(sample, driver)
    assert driver.past == [
        ("p", b'{"cmd": "draw"}\n'),
        ("pass", "", "0.05"),
        ("q", b'{"cards": [["3", "spades"]'),
        ("left", "q", ""),
        "quiet",
    ]


@pytest.mark.parametrize(
    ("answer", "message"), [(b'"other"\n', "the message: 'other', not 'this'"), (b'"this"', "p receives no whole line")]
)
def test_mismatch_is_reported_with_its_line(answer: bytes, message: str) -> None:
    with pytest.raises(AssertionError, match=rf"^sample, line 4: {message}"):
        play_json_transcript(parse_transcript(HEAD + 'p> {}\np< "this"\n', "sample"), RecordingDriver(answer))


def test_invalid_line_is_reported_with_its_number() -> None:
    with pytest.raises(ValueError, match=r"^sample, line 3: found 'STRT P_1'; allowed: JSON"):
        play_json_transcript(parse_transcript(HEAD + "p> STRT P_1\n", "sample"), RecordingDriver())


@given(st.text(max_size=60))
def test_any_text_is_parsed_or_raises_value_error(text: str) -> None:
    for parse in (lambda: encode_sent(text, {}), lambda: match_received(text, b"1", {})):
        message = "found and allowed"
        with suppress(Mismatch):
            try:
                parse()
            except ValueError as error:
                message = str(error)
        assert "found" in message
        assert "allowed" in message


@given(st.text(max_size=40), st.binary(max_size=20))
def test_no_received_bytes_break_the_comparison(text: str, found: bytes) -> None:
    with suppress(ValueError, Mismatch):
        assert match_received(text, found, {}).keys() <= {*re.findall(r"\$([a-z_0-9]+)", text)}
