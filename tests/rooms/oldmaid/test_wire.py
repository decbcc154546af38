"""Codec of Old Maid: sections 1, 2 and 8 of the protocol."""

import json
import re
from collections.abc import Sequence
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from msgspec.json import encode

from croupier.core import transcript as transcripts
from croupier.core.errors import Violation
from croupier.core.json_transcript import encode_sent
from croupier.rooms.oldmaid.wire import (
    MAX_FRAME_BYTES,
    OK,
    OUT,
    Answer,
    Dialect,
    Discard,
    Draw,
    Join,
    Message,
    Offer,
    OutOfCards,
    Pick,
    Reply,
    Standing,
    Status,
    Wire,
    WireRole,
    YourTurn,
    refusal,
)
from tests.properties.inputs import pieces, read
from tests.rooms.oldmaid.vocabulary import VOCABULARY
from tests.sampling import extended, in_one_test, sampled

TRANSCRIPTS = sorted((Path(__file__).parents[3] / "transcripts/oldmaid").glob("*.txt"))
THREE = (("3", "spades"), ("3", "clubs"))
TO_TABLE = (Join, Draw, Discard, OutOfCards, Status)
SIDES: tuple[WireRole, ...] = ("table", "player")

WRITTEN: dict[str, Message] = {
    '{"cmd":"join","nick":"ann"}': Join("ann"),
    '{"cmd":"join","nick":"ann","port":4001}': Join("ann", 4001),
    '{"cmd":"draw"}': Draw(),
    '{"cmd":"discard","cards":[["3","spades"],["3","clubs"]],"last_cards":"false"}': Discard(THREE, "false"),
    '{"cmd":"out_of_cards"}': OutOfCards(),
    '{"cmd":"status"}': Status(),
    '{"cmd":"your_turn"}': YourTurn(),
    '{"cmd":"offer","num_cards":7}': Offer(7),
    '{"cmd":"pick","card_num":4}': Pick(4),
    '{"result":"ok"}': OK,
    '{"result":"out"}': OUT,
    '{"result":"ok","message":"ok"}': Reply("ok", "ok"),
    '{"result":"ok","card":["3","spades"]}': Reply("ok", card=("3", "spades")),
    '{"result":"last_card","card":["joker","maid"]}': Reply("last_card", card=("joker", "maid")),
    '{"result":"ok","players":{"player1":[["192.0.2.1",40001],"ann"],"player2":[["192.0.2.2",9],"bob"]}}': Reply(
        "ok", players=((("192.0.2.1", 40001), "ann"), (("192.0.2.2", 9), "bob"))
    ),
    '{"in":["ann","bob"],"out":["cyd"]}': Standing(("ann", "bob"), ("cyd",)),
}


def side_of(message: Message) -> WireRole:
    return "table" if isinstance(message, TO_TABLE) else "player"


def clauses(data: bytes, side: WireRole = "table", *, strict: bool = False) -> list[tuple[str, bool] | Message]:
    found = Wire(side, strict=strict).feed(data)
    return [(item.clause, item.fatal) if isinstance(item, Violation) else item for item in found]


@pytest.mark.parametrize(("written", "message"), WRITTEN.items(), ids=WRITTEN.keys())
def test_a_message_is_its_json_and_a_line_end(written: str, message: Message) -> None:
    """oldmaid-1.5, oldmaid-2.2, oldmaid-2.3, in both directions."""
    assert Wire("table").encode(message) == f"{written}\n".encode()
    codec = Wire(side_of(message))
    assert list(codec.feed(written.encode())) == [message]


@in_one_test
@pytest.mark.parametrize("dialect", ["document", "njaal"])
@pytest.mark.parametrize("message", VOCABULARY, ids=str)
def test_every_message_comes_back_as_it_was_sent(message: Message, dialect: Dialect) -> None:
    data = Wire("player", dialect=dialect).encode(message)
    assert json.loads(data)
    assert list(Wire(side_of(message), dialect=dialect).feed(data)) == [message]
    assert str(message)


def test_in_the_dialect_njaal_the_players_are_a_list() -> None:
    """oldmaid-10.1."""
    listed = Reply("ok", players=((("192.0.2.1", 40001), "ann"), (("192.0.2.2", 9), "bob")))
    wanted = b'{"result":"ok","players":[[["192.0.2.1",40001],"ann"],[["192.0.2.2",9],"bob"]]}\n'
    assert Wire("table", dialect="njaal").encode(listed) == wanted


WRONG: dict[bytes, tuple[str, bool]] = {
    b"hello\n": ("oldmaid-8.3", False),
    b"{'cmd': 'draw'}": ("oldmaid-8.3", False),
    b'{"cmd": "dr\n': ("oldmaid-8.3", False),
    b'{"cmd": NaN}': ("oldmaid-8.3", False),
    b'{"cmd": "draw"]': ("oldmaid-8.3", False),
    b"[" * 30_000 + b"]" * 30_000: ("oldmaid-8.3", False),
    b'["cmd", "draw"]': ("oldmaid-8.4", False),
    b"3\n": ("oldmaid-8.4", False),
    b"{}": ("oldmaid-8.5", False),
    b'{"cmd": 3}': ("oldmaid-8.5", False),
    b'{"cmd": null, "result": "ok"}': ("oldmaid-8.5", False),
    b'{"nick": "ann"}': ("oldmaid-8.5", False),
    b'{"in": [], "out": []}': ("oldmaid-8.5", False),
    b'{"cmd": "DRAW"}': ("oldmaid-8.6", False),
    b'{"cmd": "offer"}': ("oldmaid-8.6", False),
    b'{"cmd": "join"}': ("oldmaid-8.7", False),
    b'{"cmd": "join", "nick": 3}': ("oldmaid-8.7", False),
    b'{"cmd": "join", "nick": "ann", "port": 0}': ("oldmaid-3.5", False),
    b'{"cmd": "join", "nick": "ann", "port": 65536}': ("oldmaid-3.5", False),
    b'{"cmd": "join", "nick": "ann", "port": "4001"}': ("oldmaid-8.7", False),
    b'{"cmd": "join", "nick": "ann", "port": null}': ("oldmaid-8.7", False),
    b'{"cmd": "discard"}': ("oldmaid-8.7", False),
    b'{"cmd": "discard", "cards": [["3", "spades"]], "last_cards": "false"}': ("oldmaid-8.7", False),
    b'{"cmd": "discard", "cards": [["3", "spades"], ["3", 4]], "last_cards": "false"}': ("oldmaid-8.7", False),
    b'{"cmd": "discard", "cards": [["3", "spades"], ["3"]], "last_cards": "false"}': ("oldmaid-8.7", False),
    b'{"cmd": "discard", "cards": [["3", "spades"], ["3", "clubs"]], "last_cards": "no"}': ("oldmaid-8.7", False),
    b'{"cmd": "discard", "cards": [["3", "spades"], ["3", "clubs"]], "last_cards": 1}': ("oldmaid-8.7", False),
    b'{"cmd": "discard", "cards": [["3", "spades"], ["3", "clubs"]], "last_cards": null}': ("oldmaid-8.7", False),
    b'{"cmd": "discard", "cards": [["3", "spades"], ["3", "clubs"]], "last_cards": []}': ("oldmaid-8.7", False),
    b'{"cmd": "\xff"}': ("oldmaid-8.8", True),
    b"\xff\xfe\n": ("oldmaid-8.8", True),
    b'{"cmd": "draw", "x": "\xff"}': ("oldmaid-8.8", True),
    b"x" * MAX_FRAME_BYTES: ("oldmaid-8.9", True),
    b'{"cmd": "' + b"x" * MAX_FRAME_BYTES: ("oldmaid-8.9", True),
    b'{"cmd": "draw", "x": "' + b"x" * MAX_FRAME_BYTES + b'"}\n': ("oldmaid-8.9", True),
}


@pytest.mark.parametrize(("written", "wanted"), WRONG.items(), ids=[str(written[:70]) for written in WRONG])
def test_invalid_request_is_refused_by_the_first_matching_clause(written: bytes, wanted: tuple[str, bool]) -> None:
    """oldmaid-8.2 to oldmaid-8.9."""
    assert clauses(written) == [wanted]
    assert clauses(written + b'{"cmd": "draw"}') == [wanted] + [Draw()] * (not wanted[1])
    assert [getattr(item, "clause", item) for item in read(Wire("table"), pieces(written, [1]))] == [wanted[0]]


PLAYERS_WRONG: dict[bytes, str] = {
    b'{"cmd": "draw"}': "oldmaid-8.6",
    b'{"cmd": "offer"}': "oldmaid-8.7",
    b'{"cmd": "offer", "num_cards": -1}': "oldmaid-8.7",
    b'{"cmd": "offer", "num_cards": 3.0}': "oldmaid-8.7",
    b'{"cmd": "offer", "num_cards": "3"}': "oldmaid-8.7",
    b'{"cmd": "offer", "num_cards": true}': "oldmaid-8.7",
    b'{"cmd": "pick", "card_num": 1.0}': "oldmaid-8.7",
    b'{"cmd": "pick", "card_num": true}': "oldmaid-8.7",
    b'{"in": [3], "out": []}': "oldmaid-8.5",
    b'{"in": []}': "oldmaid-8.5",
    b'{"result": 3}': "oldmaid-8.11",
    b'{"result": "ok", "message": 3}': "oldmaid-8.11",
    b'{"result": "ok", "card": ["3"]}': "oldmaid-8.11",
    b'{"result": "ok", "card": "3 spades"}': "oldmaid-8.11",
    b'{"result": "ok", "players": 3}': "oldmaid-3.19",
    b'{"result": "ok", "players": null}': "oldmaid-3.19",
    b'{"result": "ok", "players": {"player2": [["192.0.2.1", 4], "ann"]}}': "oldmaid-3.19",
    b'{"result": "ok", "players": {"player1": [["192.0.2.1", "4"], "ann"]}}': "oldmaid-3.19",
    b'{"result": "ok", "players": {"player1": [["192.0.2.1", true], "ann"]}}': "oldmaid-3.19",
    b'{"result": "ok", "players": [[["192.0.2.1", 65536], "ann"]]}': "oldmaid-3.19",
    b'{"result": "ok", "players": [["192.0.2.1", 4, "ann"]]}': "oldmaid-3.19",
}


@pytest.mark.parametrize(("written", "clause"), PLAYERS_WRONG.items(), ids=map(str, PLAYERS_WRONG))
def test_player_codec_violations(written: bytes, clause: str) -> None:
    assert clauses(written, "player") == [(clause, False)]


def test_codec_accepts_a_negative_pick() -> None:
    """oldmaid-7.6."""
    assert clauses(b'{"cmd": "pick", "card_num": -1}', "player") == [Pick(-1)]


TOLERATED: dict[bytes, tuple[str, WireRole, Message]] = {
    b'{"cmd": "discard", "cards": [["3", "spades"], ["3", "clubs"]], "last_cards": true}': (
        "oldmaid-2.6",
        "table",
        Discard(THREE, True),
    ),
    b'{"cmd": "discard", "cards": [["3", "spades"], ["3", "clubs"]], "last_card": "false"}': (
        "oldmaid-2.7",
        "table",
        Discard(THREE, last_card="false"),
    ),
    b'{"cmd": "discard", "cards": [["3", "spades"], ["3", "clubs"]]}': ("oldmaid-2.8", "table", Discard(THREE)),
    b'{"cmd": "join", "nick": "ann", "port": 4001}': ("oldmaid-3.5", "table", Join("ann", 4001)),
    b'{"result": "ok", "players": {"player1": [["::ffff:192.0.2.1", 4], "ann"]}}': (
        "oldmaid-3.6",
        "player",
        Reply("ok", players=((("192.0.2.1", 4), "ann"),)),
    ),
    b'{"result": "ok", "players": [[["192.0.2.1", 4], "ann"]]}': (
        "oldmaid-10.2",
        "player",
        Reply("ok", players=((("192.0.2.1", 4), "ann"),)),
    ),
}


@pytest.mark.parametrize(("written", "wanted"), TOLERATED.items(), ids=map(str, TOLERATED))
def test_tolerated_forms_are_recorded_and_refused_if_strict(
    written: bytes, wanted: tuple[str, WireRole, Message]
) -> None:
    clause, side, message = wanted
    tolerant, strict = Wire(side), Wire(side, strict=True)
    assert list(tolerant.feed(written)) == [message]
    assert tolerant.tolerated == {clause}
    assert clauses(written, side, strict=True) == [(clause, False)]
    assert list(strict.feed(written + b'{"cmd":"your_turn"}{"cmd":"draw"}'))
    assert not strict.tolerated


def test_last_cards_takes_precedence_over_last_card() -> None:
    """oldmaid-2.7."""
    both = b'{"cmd":"discard","cards":[["3","spades"],["3","clubs"]],"last_card":"true","last_cards":"false"}'
    codec = Wire("table")
    assert list(codec.feed(both)) == [Discard(THREE, "false", "true")]
    assert not codec.tolerated


@pytest.mark.parametrize(
    "written",
    [
        b'{"x": [1, {"y": "]}"}], "cmd": "draw"}',
        b'{"cmd": "join", "cmd": "draw"}',
        b'{"\\u0063md": "dr\\u0061w"}',
        b' \t\r\n{\n  "cmd":\n  "draw"\n}\n',
        b'{"cmd": "draw", "x": "\\"}{[\\\\"}',
        '{"cmd": "draw", "Ærø": "♠"}'.encode(),
        b'{"cmd": "draw", "x": ' + b"[" * 60 + b"]" * 60 + b"}",
    ],
    ids=str,
)
def test_keys_spaces_and_unknown_fields_change_nothing(written: bytes) -> None:
    """oldmaid-1.3, oldmaid-2.1."""
    assert clauses(written) == [Draw()]
    assert read(Wire("table"), pieces(written, [1])) == [Draw()]


def test_a_table_does_not_read_answers() -> None:
    """oldmaid-2.11."""
    for written in (b'{"result": 3}', b'{"result": "error", "message": 4}', b'{"result": "ok", "players": 3}'):
        (found,) = Wire("table").feed(written)
        assert isinstance(found, Reply)


@pytest.mark.parametrize("card", [b"[]", b"null", b'""', b'["3", "spades"]'])
def test_an_error_is_one_with_any_card(card: bytes) -> None:
    """oldmaid-2.9: the document prints the key beside the result."""
    assert clauses(b'{"result": "error", "card": ' + card + b"}", "player") == [Reply("error")]


def test_a_refusal_names_the_clause() -> None:
    """oldmaid-2.9."""
    description = refusal(Violation("oldmaid-4.3", "a draw", "to wait"))
    assert json.loads(Wire("table").encode(description)) == {
        "result": "error",
        "message": "oldmaid-4.3: found a draw; allowed: to wait",
    }


@pytest.mark.parametrize(
    "message",
    [
        b"x" * (MAX_FRAME_BYTES - 1) + b"\n",
        b'{"cmd": "draw", "x": "' + b"x" * (MAX_FRAME_BYTES - 24) + b'"}',
        b"[" + b" " * (MAX_FRAME_BYTES - 2) + b"]",
    ],
    ids=["a line", "an object", "an array"],
)
def test_a_message_may_be_as_long_as_the_limit_and_not_a_byte_longer(message: bytes) -> None:
    """oldmaid-8.9."""
    assert len(message) == MAX_FRAME_BYTES
    longer = message[:1] + b" " + message[1:]
    for data, lost in ((message, False), (longer, True)):
        for sizes in ([len(data)], [1000], [MAX_FRAME_BYTES - 1, 1]):
            found = read(Wire("table"), pieces(data, sizes))
            assert [getattr(item, "fatal", False) for item in found] == [lost]


def test_violation_shortens_long_values() -> None:
    (found,) = Wire("table").feed(b"x" * 60_000 + b"\n")
    assert isinstance(found, Violation)
    assert len(found.found) < 100


@pytest.mark.parametrize("filler", extended([b"A", b" ", b"\n", b'"', b"[", b"\\", b"{}", b"\x00"], 4))
@pytest.mark.parametrize("start", extended([b"", b"{", b'{"', b'{"\\', b"A", b'{"cmd":"draw"}'], 2))
def test_buffer_is_bounded(start: bytes, filler: bytes) -> None:
    codec = Wire("table")
    read(codec, [start, *[filler * 1000] * 200])
    assert len(codec._framing.buffer) <= MAX_FRAME_BYTES


# Laws.

jsons = st.recursive(
    st.none() | st.booleans() | st.integers(-9, 99) | st.text(max_size=5) | st.floats(allow_nan=False),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3),
    max_leaves=6,
)
KEYS = ("cmd", "nick", "port", "cards", "last_cards", "last_card", "num_cards", "card_num", "result", "card", "players")
WORDS = ("join", "draw", "discard", "out_of_cards", "status", "your_turn", "offer", "pick", "ok", "true", "false")
spoilt = st.dictionaries(
    st.sampled_from((*KEYS, "in", "out", "message")),
    jsons | st.sampled_from(WORDS) | st.sampled_from(["3", "spades", THREE, [["192.0.2.1", 4], "ann"]]),
    max_size=4,
).map(encode)
sent = st.sampled_from([Wire("table").encode(message) for message in VOCABULARY])
junk = st.sampled_from([b"{", b"}", b"[", b'"', b"\\", b"\n", b" ", b"\xff", "♠".encode(), b"null", b"}{"]) | st.binary(
    max_size=6
)
streams = st.lists(st.one_of(sent, spoilt, junk), max_size=8).map(b"".join)
chops = st.lists(st.integers(1, 9), min_size=1, max_size=5)
sides = st.sampled_from(SIDES)


@given(streams, chops, sides, st.booleans())
@example(b'{"x":"\\', [1], "table", False)
def test_parsing_is_independent_of_chunking(data: bytes, sizes: list[int], side: WireRole, strict: bool) -> None:
    cut, glued = Wire(side, strict=strict), Wire(side, strict=strict)
    assert read(cut, pieces(data, sizes)) == read(glued, [data])
    assert cut.tolerated == glued.tolerated
    assert not (strict and cut.tolerated)


@given(streams | st.binary(max_size=300), sides, st.booleans())
def test_any_input_gives_messages_or_violations(data: bytes, side: WireRole, strict: bool) -> None:
    codec = Wire(side, strict=strict)
    found = codec.feed(data)
    for item in found:
        if isinstance(item, Violation):
            assert item.clause.startswith("oldmaid-")
            assert item.found
            assert item.allowed
        elif side == "player" or not isinstance(item, Answer.__value__):
            again = Wire(side)
            assert list(again.feed(Wire("table").encode(item))) == [item]
    assert not any(isinstance(item, Violation) and item.fatal for item in found[:-1])
    if found and isinstance(found[-1], Violation) and found[-1].fatal:
        assert list(codec.feed(b'{"cmd":"draw"}')) == []


@given(st.lists(st.sampled_from(VOCABULARY), max_size=20), chops)
def test_messages_survive_any_chunking(description: Sequence[Message], sizes: list[int]) -> None:
    """oldmaid-1.4."""
    for side in SIDES:
        own = [message for message in description if side_of(message) == side]
        data = b"".join(Wire(side).encode(message) for message in own)
        assert read(Wire(side), pieces(data, sizes)) == own


@given(streams, sides)
def test_strict_and_tolerant_codecs_agree_on_conforming_input(data: bytes, side: WireRole) -> None:
    strict, tolerant = Wire(side, strict=True), Wire(side)
    read_strictly, read_kindly = list(strict.feed(data)), list(tolerant.feed(data))
    if not tolerant.tolerated:
        assert read_strictly == read_kindly


@pytest.mark.parametrize("transcript", sampled(TRANSCRIPTS, 8), ids=lambda transcript: transcript.stem)
def test_the_transcripts_can_be_cut_at_every_byte(transcript: Path) -> None:
    transcript = transcripts.parse_transcript(transcript.read_text(), transcript.stem)
    side: WireRole = "player" if transcript.head.get("side") == "player" else "table"
    spoken = [line.text for line in transcript.lines if line.kind == ">"]
    data = b"".join(encode_sent(re.sub(r"\$\w+", "3", text), {}) for text in spoken)[:3000]
    assert data or not spoken
    expected = read(Wire(side), [data])
    for at in range(0, len(data) + 1, 1 + len(data) // 400):
        assert read(Wire(side), [data[:at], data[at:]]) == expected
