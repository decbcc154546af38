"""Spellings: what programs write otherwise is read as what it means, told in words, and nothing else is touched."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.json import decode

from croupier.conformance.oldmaid.answers import likely_spelling
from croupier.conformance.oldmaid.dialect import JsonDialect, dialect_from_cause, likely_cause
from croupier.conformance.oldmaid.dialects import DIALECTS
from croupier.conformance.oldmaid.reader import MessageReader
from croupier.core.errors import Violation
from croupier.rooms.oldmaid.wire import JSON_ENCODER, VOCABULARY, Discard, Message, Wire, WireRole

CARD = '{"result":"ok","card":["10","spades"]}'
QUEEN = '{"result":"ok","card":["Q","spades"]}'
MAID = '{"result":"last_card","card":["joker","maid"]}'
PLAYERS = '{"result":"ok","players":{"player1":[["192.0.2.1",4001],"ann"],"player2":[["192.0.2.2",4002],"bob"]}}'
STANDING = '{"in":["ann"],"out":["bob","cyd"]}'
ERROR = '{"result":"error","message":"no reason is given"}'
THROWN = '{"result":"ok","message":"ok"}'
PAIR = '{"cmd":"discard","cards":[["3","spades"],["3","clubs"]],"last_cards":"false"}'

HABITS = [
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
    (
        "a player as an object",
        PLAYERS.replace('[["192.0.2.1",4001],"ann"]', '{"nick":"ann","ip":"192.0.2.1","port":4001}'),
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

habits = pytest.mark.parametrize(("words", "said", "meant"), HABITS, ids=[f"{n}-{h[0]}" for n, h in enumerate(HABITS)])


def spelling(words: str) -> JsonDialect:
    (found,) = (each for each in DIALECTS if words in each.description)
    return found


def side(meant: str) -> WireRole:
    """Who is told this."""
    found = Wire("table").feed(meant.encode() + b"\n")
    return "table" if not isinstance(found[0], Violation) and "cmd" in meant else "player"


@habits
def test_what_is_spelt_otherwise_is_read_as_what_it_means_and_told_in_words(words: str, said: str, meant: str) -> None:
    assert decode(spelling(words).read(said.encode())) == decode(meant)
    heard = MessageReader(side(meant)).feed(said.encode() + b"\n")
    cause = likely_spelling(side(meant), heard[0])
    assert cause.startswith("it ")
    found = dialect_from_cause(cause, DIALECTS)
    assert found is not None
    assert decode(found.read(said.encode())) == decode(meant)


def test_every_spelling_has_a_habit_or_a_test_of_its_own() -> None:
    own = ("a length before", "a NUL behind", "no reason", 'without the message "ok"')
    told = [words for words, *_ in HABITS] + [*own]
    assert [each.description for each in DIALECTS if not any(words in each.description for words in told)] == []


@pytest.mark.parametrize("each", DIALECTS, ids=lambda each: each.description)
def test_what_is_spelt_as_it_should_be_is_not_touched(each: JsonDialect) -> None:
    for message in VOCABULARY:
        data = JSON_ENCODER.encode(message)
        assert each.read(data) == data


@given(st.text(max_size=60))
def test_no_text_whatever_is_too_much_for_a_spelling(said: str) -> None:
    for each in DIALECTS:
        each.read(said.encode(errors="surrogateescape") if said.isprintable() else b'{"card":' + repr(said).encode())


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=8),
        lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.sampled_from(["1", "suit", "ip"]), inner),
        max_leaves=8,
    ),
    st.sampled_from(["card", "cards", "players", "result", "status", "cmd", "command", "in", "out", "port", "message"]),
)
def test_no_value_whatever_is_too_much_for_a_spelling(value: object, key: str) -> None:
    data = JSON_ENCODER.encode({key: value, "in": value, "out": []})
    for each in DIALECTS:
        each.read(data)


def test_a_bare_ok_means_that_a_discard_is_taken_and_nothing_else() -> None:
    bare = spelling('without the message "ok"')
    discard = Discard((("3", "spades"), ("3", "clubs")))
    assert decode(bare.read(b'{"result":"ok"}', discard)) == {"result": "ok", "message": "ok"}
    assert bare.read(b'{"result":"ok"}') == b'{"result":"ok"}'


def test_an_error_without_a_reason_is_read_as_one() -> None:
    assert decode(spelling("no reason").read(b'{"result":"error"}')) == decode(ERROR)


def test_two_spellings_at_the_same_time_are_told_and_named() -> None:
    said = b'{"result":"OK","card":["10","Spades"]}'
    (heard,) = MessageReader("player").feed(said)
    cause = likely_spelling("player", heard)
    assert cause == "it writes its results in capitals, and it writes suits in capitals"
    both = dialect_from_cause(cause, DIALECTS)
    assert both is not None
    assert decode(both.read(said)) == decode(CARD)
    assert dialect_from_cause("it does something else", DIALECTS) is None


def test_what_is_right_has_no_cause_and_what_nobody_knows_has_none_either() -> None:
    (right,) = MessageReader("player").feed(CARD.encode())
    assert likely_spelling("player", right) == ""
    assert likely_cause(b"hello\n", DIALECTS, lambda _: False) == ""


# As it comes.


def heard(ear: MessageReader, said: bytes, cut: int) -> list[Message | Violation]:
    return [one.message for at in range(0, len(said), cut) for one in ear.feed(said[at : at + cut])]


@pytest.mark.parametrize("cut", [1, 2, 3, 1000])
@pytest.mark.parametrize(
    ("words", "frame"),
    [
        ("a length before", lambda data: b"%d " % len(data) + data),
        ("a length before", lambda data: len(data).to_bytes(4) + data),
        ("a length before", lambda data: b"Content-Length: %d\r\n\r\n" % len(data) + data),
        ("a NUL behind", lambda data: data + b"\0"),
        ("json.dumps", lambda data: repr(decode(data)).encode()),
    ],
)
def test_however_it_is_cut_a_stream_is_read_by_its_spelling(words: str, frame: object, cut: int) -> None:
    answers = [one for one in VOCABULARY if not isinstance(Wire("player").feed(JSON_ENCODER.encode(one))[0], Violation)]
    assert callable(frame)
    said = b"".join(frame(JSON_ENCODER.encode(message)) for message in answers)
    assert heard(MessageReader("player", detected_dialect=spelling(words)), said, cut) == answers


def test_what_stands_before_a_message_is_told_with_it_and_nothing_is_lost() -> None:
    said = b'38 {"result":"ok","card":["10","spades"]}\n'
    found = MessageReader("player", detected_dialect=spelling("a length before")).feed(said)
    assert [one.data for one in found] == [said[:-1]]
    assert found[0].json_object["card"] == ["10", "spades"]
    plain = MessageReader("player").feed(said)
    assert [one.data for one in plain] == [b"38 ", said[3:-1]]
    assert likely_spelling("player", plain[0]) == "it sends a length before its messages: nothing frames them"


def test_an_answer_may_mean_something_by_what_was_asked() -> None:
    ear = MessageReader("player", detected_dialect=spelling('without the message "ok"'))
    ear.expect_answer(Violation("oldmaid-8.5", "", ""))
    ear.expect_answer(Discard((("3", "spades"), ("3", "clubs"))))
    found = ear.feed(b'{"result":"error","message":"no"}{"result":"ok"}{"result":"ok"}')
    assert [str(one.message) for one in found] == ['{"result":"error","message":"no"}', THROWN, '{"result":"ok"}']
