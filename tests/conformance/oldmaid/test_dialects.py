"""Dialects of Old Maid programs are detected, named and undone; valid messages are unchanged."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.json import decode

from croupier.conformance.diagnosis.message_dialect import likely_dialect
from croupier.conformance.oldmaid.answers import check_answer, likely_spelling
from croupier.conformance.oldmaid.dialect import JsonDialect
from croupier.conformance.oldmaid.dialects import DIALECTS
from croupier.conformance.oldmaid.outcomes import Failed
from croupier.conformance.oldmaid.reader import MessageReader
from croupier.core.errors import Violation
from croupier.rooms.oldmaid.wire import JSON_ENCODER, Discard, Draw, Message, Status, Wire, WireRole
from tests.rooms.oldmaid.vocabulary import VOCABULARY
from tests.sampling import extended, in_one_test

CARD = '{"result":"ok","card":["10","spades"]}'
QUEEN = '{"result":"ok","card":["Q","spades"]}'
MAID = '{"result":"last_card","card":["joker","maid"]}'
PLAYERS = '{"result":"ok","players":{"player1":[["192.0.2.1",4001],"ann"],"player2":[["192.0.2.2",4002],"bob"]}}'
STANDING = '{"in":["ann"],"out":["bob","cyd"]}'
ERROR = '{"result":"error","message":"no reason is given"}'
THROWN = '{"result":"ok","message":"ok"}'
PAIR = '{"cmd":"discard","cards":[["3","spades"],["3","clubs"]],"last_cards":"false"}'

SAMPLES = [
    ("json.dumps", "{'result': 'ok', 'card': ('10', 'spades')}", CARD),
    ("quotes of the printed document", CARD.replace('"', "“"), CARD),
    (
        "keys into an array",
        '{"result":"ok","players":["player1":[["192.0.2.1",4001],"ann"],"player2":[["192.0.2.2",4002],"bob"]]}',
        PLAYERS,
    ),
    ("nicks into braces", '{"in":{"ann"},"out":{"bob","cyd"}}', STANDING),
    ("results in capitals", CARD.replace("ok", "OK"), CARD),
    ("another word for error", '{"result":"fail","message":"no reason is given"}', ERROR),
    ("a truth value", CARD.replace('"ok"', "true"), CARD),
    ("the key status", CARD.replace("result", "status"), CARD),
    ("put nicks into an array", '{"in":{},"out":"bob"}', '{"in":[],"out":["bob"]}'),
    ("suits in capitals", CARD.replace("spades", "Spades"), CARD),
    ("suits as signs", CARD.replace("spades", "♠"), CARD),
    ("suits as letters", CARD.replace("spades", "S"), CARD),
    ("ten as T", CARD.replace("10", "T"), CARD),
    ("values as numbers", CARD.replace('"10"', "10"), CARD),
    ("values as numbers", QUEEN.replace('"Q"', "12"), QUEEN),
    ("other names for jack", QUEEN.replace("Q", "queen"), QUEEN),
    ("another name for the old maid", MAID.replace('"joker","maid"', '"joker","joker"'), MAID),
    ("suit before the value", CARD.replace('"10","spades"', '"spades","10"'), CARD),
    ("as a single string", CARD.replace('["10","spades"]', '"10 of spades"'), CARD),
    ("a card as an object", CARD.replace('["10","spades"]', '{"suit":"spades","value":"10"}'), CARD),
    ("one more array", CARD.replace('["10","spades"]', '[["10","spades"]]'), CARD),
    ("one array of four", PAIR.replace('"],["', '","').replace("[[", "[").replace("]]", "]"), PAIR),
    ("other keys for the players", PLAYERS.replace("player2", "player_1").replace("player1", "player_0"), PLAYERS),
    ("list a player as", PLAYERS.replace('["192.0.2.1",4001],"ann"', '"192.0.2.1",4001,"ann"'), PLAYERS),
    ("list a player as", PLAYERS.replace('["192.0.2.1",4001],"ann"', '"192.0.2.1:4001","ann"'), PLAYERS),
    (
        "a player as an object",
        PLAYERS.replace('[["192.0.2.1",4001],"ann"]', '{"nick":"ann","ip":"192.0.2.1","port":4001}'),
        PLAYERS,
    ),
    (
        "a player as an object",
        PLAYERS.replace('[["192.0.2.1",4001],"ann"]', '{"nick":"ann","addr":"192.0.2.1:4001"}'),
        PLAYERS,
    ),
    ("quotes around its numbers", PLAYERS.replace("4001", '"4001"'), PLAYERS),
    ("quotes around its numbers", '{"cmd":"offer","num_cards":"3"}', '{"cmd":"offer","num_cards":3}'),
    ("with a fraction", '{"cmd":"join","nick":"ann","port":4001.0}', '{"cmd":"join","nick":"ann","port":4001}'),
    ("commands in capitals", '{"cmd":"DRAW"}', '{"cmd":"draw"}'),
    ("spells its commands otherwise", '{"cmd":"yourTurn"}', '{"cmd":"your_turn"}'),
    ("another key for a command", '{"command":"draw"}', '{"cmd":"draw"}'),
    ("spells its keys otherwise", '{"cmd":"offer","numCards":3}', '{"cmd":"offer","num_cards":3}'),
]

samples = pytest.mark.parametrize(
    ("words", "text", "interpreted"), SAMPLES, ids=[f"{n}-{h[0]}" for n, h in enumerate(SAMPLES)]
)


def find_dialect(words: str) -> JsonDialect:
    (found,) = (dialect for dialect in DIALECTS if words in dialect.description)
    return found


def receiver_role(interpreted: str) -> WireRole:
    """The role that receives this message."""
    found = Wire("table").feed(interpreted.encode() + b"\n")
    return "table" if not isinstance(found[0], Violation) and "cmd" in interpreted else "player"


@in_one_test
@samples
def test_dialect_is_named_and_undone(words: str, text: str, interpreted: str) -> None:
    assert decode(find_dialect(words).read(text.encode(), None)) == decode(interpreted)
    read_messages = MessageReader(receiver_role(interpreted)).feed(text.encode() + b"\n")
    cause = likely_spelling(receiver_role(interpreted), read_messages[0])
    assert cause is not None
    assert decode(cause.dialect.read(text.encode(), None)) == decode(interpreted)


def test_every_dialect_has_a_sample() -> None:
    own = ("a length before", "a NUL after", "no reason", 'without the message "ok"')
    covered = [words for words, *_ in SAMPLES] + [*own]
    assert [
        dialect.description for dialect in DIALECTS if not any(words in dialect.description for words in covered)
    ] == []


@in_one_test
@pytest.mark.parametrize("dialect", DIALECTS, ids=lambda dialect: dialect.description)
def test_valid_messages_are_unchanged(dialect: JsonDialect) -> None:
    for message in VOCABULARY:
        data = JSON_ENCODER.encode(message)
        assert dialect.read(data, None) == data


@given(st.text(max_size=60))
def test_any_text_can_be_read(text: str) -> None:
    for dialect in DIALECTS:
        data = text.encode(errors="surrogateescape") if text.isprintable() else b'{"card":' + repr(text).encode()
        dialect.read(data, None)


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=8),
        lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.sampled_from(["1", "suit", "ip"]), inner),
        max_leaves=8,
    ),
    st.sampled_from(["card", "cards", "players", "result", "status", "cmd", "command", "in", "out", "port", "message"]),
)
def test_any_value_can_be_read(value: object, key: str) -> None:
    data = JSON_ENCODER.encode({key: value, "in": value, "out": []})
    for dialect in DIALECTS:
        dialect.read(data, None)


def test_bare_ok_is_completed_for_discards_only() -> None:
    dialect = find_dialect('without the message "ok"')
    discard = Discard((("3", "spades"), ("3", "clubs")))
    assert decode(dialect.read(b'{"result":"ok"}', discard)) == {"result": "ok", "message": "ok"}
    assert dialect.read(b'{"result":"ok"}', None) == b'{"result":"ok"}'


def test_error_without_reason() -> None:
    assert decode(find_dialect("no reason").read(b'{"result":"error"}', None)) == decode(ERROR)


def test_two_dialects_at_once() -> None:
    text = b'{"result":"OK","card":["10","Spades"]}'
    (read_messages,) = MessageReader("player").feed(text)
    cause = likely_spelling("player", read_messages)
    assert str(cause) == "it writes its results in capitals, and it writes suits in capitals"
    assert cause is not None
    assert decode(cause.dialect.read(text, None)) == decode(CARD)


def test_valid_and_unknown_messages_have_no_cause() -> None:
    (right,) = MessageReader("player").feed(CARD.encode())
    assert likely_spelling("player", right) is None
    assert likely_dialect(b"hello\n", None, DIALECTS, lambda _: False) is None


# Streams.


def read_messages(reader: MessageReader, text: bytes, cut: int) -> list[Message | Violation]:
    return [one.message for at in range(0, len(text), cut) for one in reader.feed(text[at : at + cut])]


@pytest.mark.parametrize("cut", [1, 2, 3, 1000])
@pytest.mark.parametrize(
    ("words", "frame"),
    [
        ("a length before", lambda data: b"%d " % len(data) + data),
        ("a length before", lambda data: len(data).to_bytes(4) + data),
        ("a length before", lambda data: b"Content-Length: %d\r\n\r\n" % len(data) + data),
        ("a NUL after", lambda data: data + b"\0"),
        ("json.dumps", lambda data: repr(decode(data)).encode()),
    ],
)
def test_stream_is_read_in_any_pieces(words: str, frame: object, cut: int) -> None:
    answers = [one for one in VOCABULARY if not isinstance(Wire("player").feed(JSON_ENCODER.encode(one))[0], Violation)]
    assert callable(frame)
    text = b"".join(frame(JSON_ENCODER.encode(message)) for message in answers)
    assert read_messages(MessageReader("player", detected_dialect=find_dialect(words)), text, cut) == answers


def test_prefix_belongs_to_the_message() -> None:
    text = b'38 {"result":"ok","card":["10","spades"]}\n'
    found = MessageReader("player", detected_dialect=find_dialect("a length before")).feed(text)
    assert [one.data for one in found] == [text[:-1]]
    assert found[0].json_object["card"] == ["10", "spades"]
    plain = MessageReader("player").feed(text)
    assert [one.data for one in plain] == [b"38 ", text[3:-1]]
    assert str(likely_spelling("player", plain[0])) == "it sends a length before its messages: nothing frames them"


def test_reading_depends_on_the_request() -> None:
    reader = MessageReader("player", detected_dialect=find_dialect('without the message "ok"'))
    reader.expect_answer(Violation("oldmaid-8.5", "", ""))
    reader.expect_answer(Discard((("3", "spades"), ("3", "clubs"))))
    found = reader.feed(b'{"result":"error","message":"no"}{"result":"ok"}{"result":"ok"}')
    assert [str(one.message) for one in found] == ['{"result":"error","message":"no"}', THROWN, '{"result":"ok"}']


@pytest.mark.parametrize(
    "card", extended([b'["\xff","spades"]', b"[" * 20_000 + b"]" * 20_000], 2), ids=["no UTF-8", "deep"]
)
def test_answer_that_cannot_be_read_fails(card: bytes) -> None:
    (received,) = MessageReader("player").feed(b'{"result":"ok","card":%s}' % card)
    assert received.json_object == {}
    with pytest.raises(Failed, match=r"oldmaid-1\.3"):
        check_answer(Draw(), received)


def test_an_answer_of_another_form_fails_with_the_form_of_the_answer() -> None:
    (received,) = MessageReader("player").feed(b'{"in":["ann"],"out":{"nicks":["bob"]}}')
    with pytest.raises(Failed, match=re.escape('{"in": […], "out": […]}')):
        check_answer(Status(), received)
