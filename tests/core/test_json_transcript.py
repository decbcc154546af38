"""Conversations in JSON on paper: how lines are read, what their names bind, and when they do not come true."""

import re
from collections import deque
from collections.abc import Mapping
from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.json import encode

from croupier.core.http_transcript import Mismatch
from croupier.core.json_transcript import encode_sent, match_received, parse_values, play_json_transcript
from croupier.core.transcript import TranscriptLine, parse_transcript

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
def test_what_is_said_is_json_with_a_line_end_or_text_as_it_stands(text: str, data: bytes) -> None:
    assert encode_sent(text, {}) == data


def test_names_in_what_is_said_stand_for_what_they_were_bound_to() -> None:
    bound = {"value": "3", "suit": "spades"}
    assert encode_sent('{"cards": [["$value", "$suit"]]}', bound) == b'{"cards": [["3", "spades"]]}\n'
    assert encode_sent("'$value'", bound) == b"3"
    with pytest.raises(ValueError, match=r"found \$other; allowed: \$value, \$suit"):
        encode_sent('["$other"]', bound)


@pytest.mark.parametrize("text", ["draw", "{'cmd': 'draw'}", '{"cmd": }', '{"a": 1} b', "'open", "[" * 100_000])
def test_a_line_that_is_neither_is_refused_with_what_was_found_and_allowed(text: str) -> None:
    with pytest.raises(ValueError, match=r"(?s)found .*; allowed: JSON values, 'text'"):
        encode_sent(text, {})
    with pytest.raises(ValueError, match=r"(?s)found .*; allowed"):
        match_received(text, b"1", {})


@pytest.mark.parametrize("text", ["", "1 2", '{"a": 1} {"a": 1}'])
def test_one_value_is_heard_in_a_line(text: str) -> None:
    with pytest.raises(ValueError, match=r"found .*; allowed: one JSON value in a line that is heard"):
        match_received(text, b"1", {})


@given(JSON)
def test_every_json_value_is_itself(value: object) -> None:
    text = encode(value).decode()
    assert parse_values(text) == [value]
    assert match_received(text, encode(value), {}) == {}
    assert encode_sent(text, {}) == encode(value) + b"\n"


@pytest.mark.parametrize(
    ("expected", "found", "told"),
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
def test_what_is_heard_and_is_another_is_told_with_the_place(expected: str, found: bytes, told: str) -> None:
    with pytest.raises(Mismatch, match=told):
        match_received(expected, found, {"known": "it"})


@pytest.mark.parametrize("found", [b"null", b"1", b'"x"', b"[]", b'{"a":[1]}'])
def test_any_json_may_stand_where_nothing_is_known(found: bytes) -> None:
    assert match_received('"$_"', found, {}) == {}


def test_names_are_bound_by_what_is_heard_first_and_hold_from_then_on() -> None:
    bound = match_received('{"card": ["$value", "$suit"]}', b'{"card":["3","spades"]}', {})
    assert bound == {"value": "3", "suit": "spades"}
    assert match_received('["$suit", "$other"]', b'["spades","x"]', bound) == bound | {"other": "x"}
    assert match_received('"found $value of $kind"', b'"found 3 of a kind"', bound) == bound | {"kind": "a kind"}


class Ring:
    """A stage that answers from a list and remembers what was said and done."""

    def __init__(self, *answers: bytes) -> None:
        self.answers = deque(answers)
        self.past: list[object] = []

    def send(self, peer: str, data: bytes) -> None:
        self.past.append((peer, data))

    def receive(self, peer: str, expected: re.Pattern[bytes]) -> Mapping[str, bytes]:
        match = expected.match(self.answers.popleft())
        assert match, f"{peer} hears no whole line"
        return match.groupdict()

    def perform(self, line: TranscriptLine) -> None:
        self.past.append((line.kind, line.peer, line.text))

    def finish(self) -> None:
        self.past.append("quiet")


HEAD = "title: A title\nclause: oldmaid-1.1\n"


def test_a_paper_is_played_line_by_line() -> None:
    paper = parse_transcript(
        HEAD + 'p> {"cmd": "draw"}\np< {"result": "ok",\n  "card": ["$v", "$s"]}\n* 0.05 seconds pass\n'
        'q> \'{"cards": [["$v", "$s"]\'\n* left q\n',
        "paper",
    )
    ring = Ring(b'{"result":"ok","card":["3","spades"]}\n')
    play_json_transcript(paper, ring)
    assert ring.past == [
        ("p", b'{"cmd": "draw"}\n'),
        ("pass", "", "0.05"),
        ("q", b'{"cards": [["3", "spades"]'),
        ("left", "q", ""),
        "quiet",
    ]


@pytest.mark.parametrize(
    ("answer", "told"), [(b'"other"\n', "the message: 'other', not 'this'"), (b'"this"', "p hears no whole line")]
)
def test_what_does_not_come_true_is_told_with_its_line(answer: bytes, told: str) -> None:
    with pytest.raises(AssertionError, match=rf"^paper, line 4: {told}"):
        play_json_transcript(parse_transcript(HEAD + 'p> {}\np< "this"\n', "paper"), Ring(answer))


def test_a_line_that_means_nothing_is_told_with_its_number() -> None:
    with pytest.raises(ValueError, match=r"^paper, line 3: found 'STRT P_1'; allowed: JSON"):
        play_json_transcript(parse_transcript(HEAD + "p> STRT P_1\n", "paper"), Ring())


@given(st.text(max_size=60))
def test_any_text_is_a_line_or_a_value_error(text: str) -> None:
    for parse in (lambda: encode_sent(text, {}), lambda: match_received(text, b"1", {})):
        told = "found and allowed"
        with suppress(Mismatch):
            try:
                parse()
            except ValueError as error:
                told = str(error)
        assert "found" in told
        assert "allowed" in told


@given(st.text(max_size=40), st.binary(max_size=20))
def test_nothing_that_is_heard_breaks_the_comparison(text: str, found: bytes) -> None:
    with suppress(ValueError, Mismatch):
        assert match_received(text, found, {}).keys() <= {*re.findall(r"\$([a-z_0-9]+)", text)}
