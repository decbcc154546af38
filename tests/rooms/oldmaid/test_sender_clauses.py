"""The sender of a malformed message has broken its form, and not the duty of its receiver."""

import pytest

from croupier.core.errors import Violation
from croupier.rooms.oldmaid.sender_clauses import sender_clause
from croupier.rooms.oldmaid.wire import Wire, WireRole


@pytest.mark.parametrize(
    ("role", "data", "clause"),
    [
        ("table", b"hello\n", "oldmaid-1.3"),
        ("table", b'["draw"]', "oldmaid-1.3"),
        ("table", b"\xff\n", "oldmaid-1.3"),
        ("table", b"{}", "oldmaid-2.1"),
        ("table", b'{"cmd": "DRAW"}', "oldmaid-2.2"),
        ("player", b'{"cmd": "draw"}', "oldmaid-2.2"),
        ("table", b'{"cmd": "join"}', "oldmaid-2.2"),
        ("table", b'{"cmd": "join", "nick": 3}', "oldmaid-2.2"),
        ("table", b'{"cmd": "join", "nick": "ann", "port": 0}', "oldmaid-3.5"),
        ("table", b'{"cmd": "discard", "cards": "3 spades"}', "oldmaid-2.5"),
        (
            "table",
            b'{"cmd": "discard", "cards": [["3", "spades"], ["3", "clubs"]], "last_cards": "no"}',
            "oldmaid-2.5",
        ),
        ("player", b'{"cmd": "offer"}', "oldmaid-2.2"),
        ("player", b'{"cmd": "offer", "num_cards": "3"}', "oldmaid-2.10"),
        ("player", b'{"cmd": "pick", "card_num": null}', "oldmaid-2.10"),
    ],
)
def test_a_malformed_request_breaks_the_form_of_requests(role: WireRole, data: bytes, clause: str) -> None:
    [violation] = Wire(role).feed(data)
    assert isinstance(violation, Violation)
    assert sender_clause(violation, is_answer=False) == clause


@pytest.mark.parametrize("data", [b"{}", b'{"result": 3}', b'{"in": []}'])
def test_a_malformed_answer_breaks_the_form_of_answers(data: bytes) -> None:
    [violation] = Wire("player").feed(data)
    assert isinstance(violation, Violation)
    assert sender_clause(violation, is_answer=True) == "oldmaid-2.3"
