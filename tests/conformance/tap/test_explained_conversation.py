"""Verdicts of a tap name the order of bytes, or another spelling, where only that explains what was said."""

from struct import pack

import pytest

from croupier.conformance.tap.explained_conversation import MAX_LOG_BYTES, ExplainedConversation
from croupier.core.referee import CLIENT, HOUSE
from croupier.rooms import find_room

HUNDRED, FIFTY = pack(">i", 100), pack(">i", 50)

ALL = "it sends its integers with the least significant byte first"
HERE = f"here {ALL}"

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


def verdicts(room: str, *pieces: tuple[int, bytes]) -> list[str]:
    """The verdicts on a conversation, each with its end and without what is allowed."""
    conversation, found = ExplainedConversation(find_room(room)), []
    for side, data in pieces:
        for fault in conversation.on_data(side, data, 0.0):
            end = "house" if fault.verdict.party == HOUSE else "client"
            found.append(f"{end} {fault.verdict.violation}".partition(";")[0])
        conversation.forget()
    return found


@pytest.mark.parametrize(
    ("room", "pieces", "expected"),
    [
        (
            "blackjack",
            (*SURRENDER, (HOUSE, pack("<i", 50))),
            [f"house blackjack-2.3: found RES L 838860800 ({HERE})"],
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
            [f"house sevenhalf-2.3: found GAIN 1795162111 ({HERE})"],
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


def test_no_cause_is_sought_in_a_long_conversation() -> None:
    rounds = MAX_LOG_BYTES // 6
    pieces = ((CLIENT, b"\n" * 6),) * rounds + ((CLIENT, b"STRT"), (HOUSE, b"STBT " + pack("<i", 100)))
    assert verdicts("sevenhalf", *pieces) == ["house sevenhalf-7.1: found STBT 1677721600"]
