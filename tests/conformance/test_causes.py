"""Likely causes: named for typical mistakes, and left out where nothing is known."""

import re
from collections.abc import Mapping
from typing import Any

import pytest

from croupier.conformance.conversation import Conversation
from croupier.conformance.diagnosis.causes import byte_order_cause, likely_cause
from croupier.core.errors import FoundKind
from croupier.core.referee import CLIENT, HOUSE
from croupier.core.room import HouseRoom
from croupier.rooms.blackjack import ROOM as BLACKJACK
from croupier.rooms.kuhn import ROOM as KUHN
from croupier.rooms.sevenhalf import ROOM as SEVENHALF
from tests.conformance.dialect_conversation import NAMES, ROGUES, hear

CAUSES: Mapping[str, str] = {
    "kuhn: spells its card with a word": "it spells its arguments out",
    "kuhn: spells its card with one letter and goes on": "it writes a card as its rank alone",
    "kuhn: spells its card with one letter and waits": "it writes a card as its rank alone",
    "kuhn: writes BRT as the document misprints it": "it writes BRT, which is a slip of the document's",
    "kuhn: forgets the space": "it forgets the space",
    "kuhn: ends its lines": "it ends its messages with a line end",
    "kuhn: writes the quotes": "it puts quotes around its arguments",
    "kuhn: deals twice": "it says CARD C_Q twice",
    "kuhn: forgets the card": "it leaves out CARD",
    "kuhn: never answers": "",
    "kuhn: closes without a word": "",
    "kuhn: closes instead of answering": "",
    "kuhn: shows the client's card": "",
    "kuhn: refuses to start": "",
    "kuhn: answers in prose": "",
    "sevenhalf: writes its bet as text and waits": "it writes its integers as text",
    "sevenhalf: writes its bet as text and goes on": "it writes its integers as text",
    "sevenhalf: writes its gain as text": "in some messages it writes its integers as text",
    "sevenhalf: writes its count as a byte": "it sends the number of its cards in one byte",
    "sevenhalf: sends its integers backwards": "it sends its integers with the least significant byte first",
    "sevenhalf: sends its gain backwards": (
        "in some messages it sends its integers with the least significant byte first"
    ),
    "sevenhalf: sends its bet in eight bytes": "it sends its integers in eight bytes",
    "sevenhalf: sends its bet in two bytes and waits": "it sends its integers in two bytes",
    "sevenhalf: forgets the sign": "in some messages it sends an integer without its sign",
    "sevenhalf: sets the highest bit for the sign": "it sets the highest bit of its integers for a minus sign",
    "sevenhalf: writes a sign before its integer": "it writes a minus sign before its integers",
    "sevenhalf: takes the complement of one": "",
    "sevenhalf: writes quotes around its card": "it puts quotes around its arguments",
    "sevenhalf: writes quotes around the bank's cards": "it puts quotes around its arguments",
    "sevenhalf: ends its lines with a NUL": "it ends its messages with a NUL",
    "sevenhalf: says how long its messages are": "it sends a length before its messages",
    "sevenhalf: forgets the space before the score": "it forgets the space",
    "sevenhalf: puts a space between the bank's cards": "it puts something between its cards",
    "sevenhalf: names the suit first": "it writes the suit of a card before its rank",
    "sevenhalf: numbers its figures": "it writes the figures as 10, 11 and 12",
    "sevenhalf: writes a comma": "it writes its scores in another form than 07.5",
    "sevenhalf: writes a blank for a zero": "it writes its scores in another form than 07.5",
    "sevenhalf: forgets BKSC": "it leaves out BKSC",
    "sevenhalf: forgets BSTG": "it leaves out BSTG",
    "sevenhalf: pays before it shows": "it says GAIN too early: BKSC has to stand before it",
    "sevenhalf: says BSTG before the card": "it says BSTG too early: CARD has to stand before it",
    "sevenhalf: pays twice": "it says GAIN -100 twice",
    "sevenhalf: sends half a message": "it sends 7 bytes of a message that is longer",
    "sevenhalf: takes a PASS after an ANTE": "it goes on where it has to refuse",
    "sevenhalf: refuses STRT": "",
    "blackjack: writes the balance little-endian": "it sends its integers with the least significant byte first",
    "blackjack: writes characters of one byte": "in some messages it sends characters of one byte",
    "blackjack: writes lower case": "it writes lower case letters",
    "blackjack: ends its lines": "it ends its messages with a line end",
    "blackjack: spells the ten X": "it spells the ten otherwise than as T",
    "blackjack: deals in turn": "it says CRD S 9D too early: CRD C 6H has to stand before it",
    "blackjack: says TRN twice": "it says TRN twice",
    "blackjack: stops at 16": "",
    "blackjack: closes without a word": "",
}
"""The expected causes of faulty servers, by name; None if no cause can be known."""

every_rogue = pytest.mark.parametrize(("room", "rogue", "head"), ROGUES, ids=NAMES)


@pytest.mark.parametrize("name", CAUSES)
def test_a_rogue_is_told_what_it_does(name: str) -> None:
    hearing = hear(*ROGUES[NAMES.index(name)])
    assert hearing.cause == CAUSES[name]


@pytest.mark.extended
def test_a_cause_is_found_for_many_rogues_and_reads_as_a_sentence() -> None:
    """The others break a rule of the game rather than of writing: there the clause says it all."""
    causes = [hear(*rogue).cause for rogue in ROGUES[::3]]
    assert all(cause == "" or re.match(r"(in some messages )?it [a-z]", cause) for cause in causes)
    assert sum(map(bool, causes)) >= len(causes) // 5


def explain(room: HouseRoom, expected: bytes | None, actual: bytes, heard: Conversation, **more: Any) -> str:
    return str(likely_cause(room, expected, actual, heard, **more) or "")


def test_quotes_are_a_dialect_and_a_repeated_card_is_none() -> None:
    quoted = likely_cause(
        KUHN, None, b"", conversation((CLIENT, b"STRT P_1"), (HOUSE, b'CARD "C_Q"'), strict=True), strict=True
    )
    assert quoted is not None
    assert quoted.dialect.description == "puts quotes around its arguments"
    repeated = likely_cause(
        KUHN, None, b"", conversation((CLIENT, b"STRT P_1"), (HOUSE, b"CARD C_Q"), (HOUSE, b"CARD C_Q"))
    )
    assert repeated is not None
    assert repeated.dialect is None


def test_the_clients_card_in_the_place_of_the_houses_is_not_said_twice() -> None:
    ahead = conversation((CLIENT, b"STRT P_1ACTN BET"), (HOUSE, b"CARD C_Q"), (HOUSE, b"CARD C_Q"))
    assert explain(KUHN, None, b"", ahead) == ""
    more = conversation((CLIENT, b"STRT P_1ACTN BETSTRT P_1"), (HOUSE, b"CARD C_Q"), (HOUSE, b"CARD C_Q"))
    assert explain(KUHN, None, b"", more) == "", "that ACTN FLD was left out would explain it, too"
    acts = conversation((CLIENT, b"STRT P_2ACTN CAL"), (HOUSE, b"CARD C_Q"), (HOUSE, b"CARD C_Q"))
    assert explain(KUHN, None, b"", acts) == "it says CARD C_Q twice"


@pytest.mark.parametrize("answer", [b"FAIL W_A", b"CARD C_Q"])
def test_an_answer_to_what_is_behind_unreadable_bytes_is_no_repetition(answer: bytes) -> None:
    heard = conversation((CLIENT, b"HELOSTRT P_1"), (HOUSE, b"FAIL W_A"), (HOUSE, answer))
    cause = likely_cause(KUHN, None, b"", heard)
    assert cause is not None
    assert (cause.text, cause.is_guess) == ("it may read on behind bytes that cannot be read", True)
    alone = conversation((CLIENT, b"HELO"), (HOUSE, b"FAIL W_A"), (HOUSE, b"FAIL W_A"))
    assert explain(KUHN, None, b"", alone) == "it says FAIL W_A twice"


@pytest.mark.parametrize(
    ("answer", "cause"),
    [
        (["C2S", "C2S", "S9D", "TRN"], "it deals a card again that is out, as from several decks"),
        (["C2S", "C3H", "S2S", "TRN"], "it deals a card again that is out, as from several decks"),
        (["C2S", "C2S", "C3H", "S9D", "TRN"], "it says CRD C 2S twice"),
    ],
    ids=["next to each other", "apart", "a repeated message"],
)
def test_a_card_that_is_out_is_as_from_several_decks_where_it_stands_in_its_place(
    answer: list[str], cause: str
) -> None:
    heard = Conversation(BLACKJACK)
    frames = b"".join(b"TRN" if each == "TRN" else b"CRD" + each.encode("utf-16-be") for each in answer)
    wire = [(CLIENT, b"PLY"), (HOUSE, b"MON\0\0\x03\xe8"), (CLIENT, b"BET\0\0\0\x0a"), (HOUSE, frames)]
    for side, data in wire:
        heard.on_data(side, data, 0.0)
    assert heard.faults[0].verdict.violation.clause == "blackjack-3.1"
    assert explain(BLACKJACK, None, b"", heard, wire_log=wire).startswith(cause)


def conversation(*said: tuple[int, bytes], strict: bool = False) -> Conversation:
    found = Conversation(KUHN, strict=strict)
    for side, data in said:
        found.on_data(side, data, 0.0)
    return found


def test_a_goodbye_that_is_answered_rightly_is_not_sent_back() -> None:
    open_behind = Conversation(BLACKJACK)
    for side in (CLIENT, HOUSE):
        open_behind.on_data(side, b"STP", 0.0)
    assert open_behind.deadline is not None
    open_behind.on_timeout(open_behind.deadline)
    assert open_behind.faults_of(HOUSE)[0].verdict.violation.kind is FoundKind.STILL_OPEN
    assert explain(BLACKJACK, None, b"", open_behind) == ""


def test_two_departures_at_once_are_both_named() -> None:
    heard = conversation((CLIENT, b"STRT P_1"), (HOUSE, b'CARD "C_Q"\n'), strict=True)
    cause = explain(KUHN, None, b"", heard, strict=True)
    assert sorted(cause.removeprefix("it ").split(", and it ")) == [
        "ends its messages with a line end",
        "puts quotes around its arguments",
    ]


def test_two_departures_of_one_message_are_both_named() -> None:
    """Neither alone lets the message be read."""
    heard = Conversation(SEVENHALF)
    wire = [
        (CLIENT, b"STRT"),
        (HOUSE, b"STBT \x0a\0\0\0"),
        (CLIENT, b"DRAW"),
        (HOUSE, b"CARD 2e"),
        (CLIENT, b"PASS"),
        (HOUSE, b"BKSC \x01\0\0\x007c  7.0GAIN \xf6\xff\xff\xff"),
    ]
    for side, data in wire:
        heard.on_data(side, data, 0.0)
    cause = explain(SEVENHALF, None, b"", heard, wire_log=wire)
    assert sorted(cause.removeprefix("it ").split(", and it ")) == [
        "sends its integers with the least significant byte first",
        "writes its scores in another form than 07.5",
    ]


def test_a_line_end_is_no_part_of_a_longer_message() -> None:
    for ending, cause in ((b"\r\n", ""), (b"DI", "it sends 2 bytes of a message that is longer")):
        heard = conversation((CLIENT, b"STRT-P_1"), (HOUSE, b"FAIL W_A" + ending))
        heard.on_timeout(9.0)
        assert explain(KUHN, b"DISC", b"", heard) == cause


def test_what_came_together_and_was_answered_once_hints_at_one_read_for_one_message() -> None:
    heard = conversation((CLIENT, b"STRT P_1ACTN BETSTRT P_1"), (HOUSE, b"CARD C_QCARD C_K"))
    heard.on_timeout(9.0)
    wire = [(CLIENT, b"STRT P_1ACTN BETSTRT P_1"), (HOUSE, b"CARD C_QCARD C_K")]
    assert explain(KUHN, None, b"", heard, wire_log=wire) == (
        "it may take what one read brings for one message: several came at once"
    )


def test_what_came_in_pieces_and_was_not_answered_hints_at_it_too() -> None:
    wire = [(CLIENT, b"STRT"), (CLIENT, b" P_1")]
    heard = conversation(*wire)
    heard.on_timeout(9.0)
    assert explain(KUHN, None, b"", heard, wire_log=wire) == (
        "it may take what one read brings for a whole message: this one came in pieces"
    )


def test_a_number_that_the_house_has_sent_in_the_same_bytes_is_spelled_rightly() -> None:
    for raised, has_cause in ((b"\x22\x27\x22\x27", False), (b"\x7f\0\0\0", True)):
        heard = Conversation(SEVENHALF)
        for side, data in (
            (CLIENT, b"STRT"),
            (HOUSE, b"STBT \x22\x27\x22\x27"),
            (CLIENT, b"DRAW"),
            (HOUSE, b"CARD 1o"),
            (CLIENT, b"ANTE " + raised),
        ):
            heard.on_data(side, data, 0.0)
        assert [fault.verdict.violation.clause for fault in heard.faults] == ["sevenhalf-7.3"]
        assert bool(explain(SEVENHALF, None, b"", heard, side=CLIENT)) == has_cause


def test_a_number_of_the_house_with_the_other_sign_is_spelled_rightly() -> None:
    heard = Conversation(SEVENHALF)
    for side, data in (
        (CLIENT, b"STRT"),
        (HOUSE, b"STBT \0\xff\xfe\xff"),
        (CLIENT, b"DRAW"),
        (HOUSE, b"CARD 1o"),
        (CLIENT, b"ANTE \xff\0\1\1"),
    ):
        heard.on_data(side, data, 0.0)
    assert [fault.verdict.violation.clause for fault in heard.faults] == ["sevenhalf-7.2"]
    assert explain(SEVENHALF, None, b"", heard, side=CLIENT) == ""


@pytest.mark.parametrize("balance", [b"\x0d\x0a\x0d\x0a", b"\x3f\xff\xff\xff", b"\x20\x20\x20\x20"])
def test_a_number_that_is_a_little_too_large_is_spelled_rightly(balance: bytes) -> None:
    more = (int.from_bytes(balance) + 1).to_bytes(4)
    heard = Conversation(BLACKJACK)
    for side, data in ((CLIENT, b"PLY"), (HOUSE, b"MON" + balance), (CLIENT, b"BET" + more)):
        heard.on_data(side, data, 0.0)
    assert [fault.verdict.party for fault in heard.faults] == [CLIENT]
    assert explain(BLACKJACK, None, b"", heard, side=CLIENT) == ""


@pytest.mark.parametrize(("gain", "has_cause"), [(b"GAIN \xf5\xff\xff\x9c", True), (b"", False)])
def test_integers_are_read_backwards_only_by_a_house_that_answers_to_the_end(gain: bytes, has_cause: bool) -> None:
    heard = Conversation(SEVENHALF)
    for side, data in (
        (CLIENT, b"STRT"),
        (HOUSE, b"STBT \0\0\0\x64"),
        (CLIENT, b"DRAW"),
        (HOUSE, b"CARD 7o"),
        (CLIENT, b"ANTE \0\0\0\x0a"),
        (CLIENT, b"DRAW"),
        (HOUSE, b"CARD 7cBSTG"),
        (HOUSE, b"BKSC \0\0\0\x011e 01.0" + gain if gain else b""),
    ):
        heard.on_data(side, data, 0.0)
    cause = byte_order_cause(SEVENHALF, heard, (), None, strict=False)
    assert (cause is not None) == has_cause


def test_without_a_fault_the_bytes_alone_tell_the_cause() -> None:
    heard = conversation()
    assert explain(BLACKJACK, b"ERR\0\0\1\xf5", b"ERR501", heard) == "it writes its integers as text"
    assert explain(KUHN, b"FAIL W_A", b"FAIL N_C", heard) == ""
    assert explain(KUHN, None, b"FAIL N_C", heard) == ""


def test_a_client_is_told_what_it_does() -> None:
    heard = conversation((CLIENT, b"STRT P_1\0"), (HOUSE, b"CARD C_Q"), (CLIENT, b"ACTN BET\0"))
    assert explain(KUHN, None, b"", heard, side=CLIENT) == "it ends its messages with a NUL"


def test_of_what_was_not_heard_to_its_end_the_beginning_tells_the_cause() -> None:
    assert explain(KUHN, None, b"", conversation((CLIENT, b"STRTP")), side=CLIENT) == "it forgets the space"
    assert explain(KUHN, None, b"", conversation((CLIENT, b"HELO")), side=CLIENT) == ""
