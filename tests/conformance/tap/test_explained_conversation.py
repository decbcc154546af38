"""Verdicts of a tap name the order of bytes, or another spelling, where only that explains what was said."""

from collections.abc import Iterable
from struct import pack

import pytest

from croupier.conformance.conversation import Fault
from croupier.conformance.tap.explained_conversation import MAX_LOG_BYTES, ExplainedConversation
from croupier.core.referee import CLIENT, HOUSE
from croupier.rooms import HOUSE_ROOMS

HUNDRED, FIFTY = pack(">i", 100), pack(">i", 50)

ALL = "it sends its integers with the least significant byte first"
IN_SOME_MESSAGES = f"in some messages {ALL}"

BUST_GAME = (
    (CLIENT, b"STRT"),
    (HOUSE, b"STBT " + HUNDRED),
    (CLIENT, b"DRAW"),
    (HOUSE, b"CARD 7o"),
    (CLIENT, b"ANTE " + FIFTY + b"DRAW"),
    (HOUSE, b"CARD 7cBSTGBKSC " + pack(">i", 1) + b"1o 01.0GAIN "),
)

SURRENDER = (
    (CLIENT, b"PLY"),
    (HOUSE, b"MON" + pack(">i", 1000)),
    (CLIENT, b"BET" + HUNDRED),
    (HOUSE, b"CRD\0C\0T\0HCRD\0C\0T\0SCRD\0S\0T\0DTRN"),
    (CLIENT, b"SRD"),
    (HOUSE, b"RES\0L"),
)


WRONG_BET = (*SURRENDER[:2], (CLIENT, b"BET" + pack("<i", 100)), (HOUSE, b"ERR" + pack(">i", 400)))


def described(faults: Iterable[Fault]) -> list[str]:
    """The verdicts, each with its end and without what is allowed."""
    ends = {HOUSE: "house", CLIENT: "client"}
    return [f"{ends[fault.verdict.party]} {fault.verdict.violation}".partition(";")[0] for fault in faults]


def verdicts(room: str, *pieces: tuple[int, bytes]) -> list[str]:
    """The verdicts on a conversation."""
    conversation, found = ExplainedConversation(HOUSE_ROOMS[room]), []
    for side, data in pieces:
        found += described(conversation.on_data(side, data, 0.0))
        conversation.forget()
    return found


@pytest.mark.parametrize(
    ("room", "pieces", "expected"),
    [
        (
            "blackjack",
            (*SURRENDER, (HOUSE, pack("<i", 50))),
            [f"house blackjack-2.3: found RES L 838860800 ({IN_SOME_MESSAGES})"],
        ),
        ("blackjack", (*SURRENDER, (HOUSE, HUNDRED)), ["house blackjack-5.3: found RES L 100"]),
        (
            "blackjack",
            (*WRONG_BET, (CLIENT, b"BET" + pack("<i", 50))),
            [
                f"client blackjack-2.3: found BET 1677721600 ({ALL})",
                f"client blackjack-2.3: found BET 838860800 ({ALL})",
            ],
        ),
        (
            "sevenhalf",
            (*BUST_GAME, (HOUSE, pack("<i", -150))),
            [f"house sevenhalf-2.3: found GAIN 1795162111 ({IN_SOME_MESSAGES})"],
        ),
        (
            "sevenhalf",
            (*BUST_GAME, (HOUSE, pack(">i", -100 - int.from_bytes(FIFTY, "little")))),
            ["house sevenhalf-2.3: found GAIN -838860900 (it reads integers with the least significant byte first)"],
        ),
        ("kuhn", ((CLIENT, b"ACTN BET"),), ["client kuhn-6.2: found ACTN BET"]),
    ],
    ids=["of-a-house", "another-amount", "of-a-client", "of-a-negative-amount", "of-what-is-read", "another-fault"],
)
def test_verdict_names_the_order_of_bytes(
    room: str, pieces: tuple[tuple[int, bytes], ...], expected: list[str]
) -> None:
    assert verdicts(room, *pieces) == expected


@pytest.mark.parametrize(
    ("rest", "expected"),
    [
        (b"MOVS", ["client blackjack-2.4: found 'MOVS' (it sends characters of one byte)"]),
        (b"MOV", []),
        (b"MOV\0", []),
    ],
)
def test_client_that_leaves_within_a_message_is_blamed_if_it_is_whole_in_another_spelling(
    rest: bytes, expected: list[str]
) -> None:
    conversation = ExplainedConversation(HOUSE_ROOMS["blackjack"])
    for side, data in (*SURRENDER[:4], (CLIENT, rest)):
        conversation.on_data(side, data, 0.0)
        conversation.forget()
    assert described(conversation.on_disconnect(CLIENT, 9.0)) == expected


def test_limit_and_a_little_more_is_no_other_spelling() -> None:
    pieces = (*BUST_GAME[:4], (CLIENT, b"ANTE " + pack(">i", 1 << 30)))  # 2.0 as a floating-point number
    assert verdicts("sevenhalf", *pieces) == ["client sevenhalf-7.3: found ANTE 1073741824"]


def test_no_cause_is_sought_in_a_long_conversation() -> None:
    rounds = MAX_LOG_BYTES // 6
    pieces = ((CLIENT, b"\n" * 6),) * rounds + ((CLIENT, b"STRT"), (HOUSE, b"STBT " + pack("<i", 100)))
    assert verdicts("sevenhalf", *pieces) == ["house sevenhalf-7.1: found STBT 1677721600"]
