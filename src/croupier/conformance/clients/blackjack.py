"""Client test data of blackjack: variations of messages, injected faults, and the suite."""

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Final

from croupier.conformance.clients.bench import house_client_suite
from croupier.conformance.clients.blackjack_states import (
    DEALT_STATE,
    HIT_STATE,
    STAND_STATE,
    STATES,
    is_limit_of_house,
    obligation,
)
from croupier.conformance.clients.test_data import (
    ClientTestData,
    append_to_messages,
    drop_messages,
    reasons_by_clause,
    replace_messages,
    wire_variation,
)
from croupier.conformance.responders import unchanged
from croupier.rooms.blackjack import ROOM
from croupier.rooms.blackjack.wire import LEAVING, NO_COINS, Bet, Mon

TEN_SPELLINGS: Final[Mapping[str, str]] = {"X": "X", "10": "the number ten", "digits": "two digits"}

MIXED_TENS: Final[Mapping[bytes, bytes]] = {b"\0S": b"\0X", b"\0H": b"\0\n", b"\0D": b"10", b"\0C": b"\0T"}
"""The spelling of the ten of each suit by a house that mixes them."""


def _mix_tens(answers: Sequence[bytes]) -> Sequence[bytes]:
    """Spell the ten of each suit in another way."""
    return [
        answer[:5] + MIXED_TENS[answer[7:]] + answer[7:] if answer[:3] == b"CRD" and answer[5:7] == b"\0T" else answer
        for answer in answers
    ]


_varied: Final = partial(wire_variation, "blackjack")

VARIATIONS: Final = (
    *(
        _varied(
            "2.7",
            f"ten-as-{spelling.replace(' ', '-').lower()}",
            f"A house that writes the ten as {spelling}",
            unchanged,
            is_tolerated=True,
            settings={"ten": ten},
            decks="TH 9D TS TC TD / 2H TD 9S TC TS",
            dialect="document" if ten == "digits" else "",
        )
        for ten, spelling in TEN_SPELLINGS.items()
    ),
    _varied(
        "2.7",
        "ten-in-every-spelling",
        "A client takes the ten in every spelling, even mixed",
        _mix_tens,
        is_tolerated=True,
        decks="TS TH TD TC / TS TH TD TC",
        dialect="document",
    ),
    _varied(
        "8.3",
        "no-300",
        "A house that sends STP without ERR 300 before it",
        drop_messages(b"ERR\0\0\x01\x2c"),
        is_tolerated=True,
    ),
)

INJECTED_FAULTS: Final = (
    _varied("2.5", "lower-case-header", "The house writes a header in lower case", replace_messages(b"TRN", b"trn")),
    _varied(
        "2.10", "garbage", "The house sends bytes that cannot be read", replace_messages(b"MON", b"\xff\xfe\0\x01")
    ),
    _varied(
        "2.10",
        "http",
        "The house sends HTTP",
        replace_messages(b"MON", b"HTTP/1.1 400 Bad Request\r\nConnection: close\r\n\r\n"),
    ),
    _varied("2.10", "line-end", "The house ends a frame with a line end", append_to_messages(b"MON", b"\r\n")),
    _varied("2.9", "no-such-card", "The house deals an unknown card", replace_messages(b"CRD", b"CRD\0C\0001\0A")),
    _varied("2.9", "nobodys-card", "The house deals a card for nobody", replace_messages(b"CRD", b"CRD\0X\0A\0H")),
    _varied("2.9", "draw", "The house calls a round a draw", replace_messages(b"RES", b"RES\0D\0\0\0\x0a")),
    _varied(
        "2.12",
        "unknown-error",
        "The house complains with a number that is unknown",
        replace_messages(b"MON", b"ERR\0\0\x01\x94"),
    ),
    _varied(
        "7.1",
        "balance-below-nothing",
        "The balance is less than nothing",
        replace_messages(b"MON", b"MON\xff\xff\xff\xff"),
    ),
    _varied("4.7", "asks-twice", "The house asks twice", append_to_messages(b"TRN", b"TRN")),
    _varied("4.1", "refuses", "The house refuses what is allowed", replace_messages(b"MON", b"ERR\0\0\x01\xf5")),
)

UNTESTABLE: Final = reasons_by_clause(
    "blackjack",
    {
        "the tester gives the client the address": "1.1",
        "what a client does that is sent away is shown on blackjack-1.5": "1.4",
        "what cannot be read is found in every case, on blackjack-2.10": "2.1",
        "characters in other widths are found in every case, on blackjack-2.10 or blackjack-2.11": "2.4",
        "nothing on the wire shows a dialect: the house would have to be set to it": "2.8",
        "a move that is none is found in every case": "2.11",
        "it binds the house": "5.3 5.4 6.1 6.2 6.7 7.3 7.6 8.6",
        "what there is not is found in every case, on blackjack-2.10": "3.11",
        "a second bet is found in every case, on blackjack-6.3; a silent client fails on this clause": "4.6",
        "a frame that is not expected is found in every case": "6.3",
        "a message of the house is found in every case": "6.4",
        "a bet of nothing or less is found in every case": "6.5",
        "a bet that cannot be paid is found in every case; those of section 7 tempt a client to it": "6.6",
        "an ERR of the client changes nothing: none is wrong": "6.8",
        "what is forfeited does not show on the wire": "8.4",
    },
)

SUITE: Final = house_client_suite(
    ClientTestData(
        room=ROOM,
        states=STATES,
        glued_states=(DEALT_STATE, HIT_STATE, STAND_STATE),
        variations=VARIATIONS,
        faults=INJECTED_FAULTS,
        obligation=obligation,
        limit_clause="blackjack-1.5",
        seat_clause="blackjack-1.6",
        closing_clause="blackjack-8.5",
        is_unforeseeable=lambda answer, sent: answer == NO_COINS or (type(answer) is Mon and type(sent) is Bet),
        is_limit_of_house=is_limit_of_house,
        untestable=UNTESTABLE,
        farewell_errors=(LEAVING,),
        awaited_message=(b"STP", "blackjack-8.1"),
    )
)
