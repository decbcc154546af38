"""Client test data of seven and a half: variations of messages, injected faults, and the suite."""

from collections.abc import Mapping
from functools import partial
from typing import Final

from croupier.conformance.clients.bench import house_client_suite
from croupier.conformance.clients.sevenhalf_states import (
    BUST_STATE,
    PASSED_STATE,
    REFUSED_ANTE_STATE,
    STATES,
    is_limit_of_house,
    obligation,
)
from croupier.conformance.clients.test_data import (
    ClientTestData,
    append_to_messages,
    reasons_by_clause,
    replace_messages,
    rewrite_each,
    wire_variation,
)
from croupier.rooms.sevenhalf import ROOM

UNREADABLE_MESSAGES: Final[Mapping[str, tuple[str, bytes, bytes]]] = {
    "unknown-code": ("a code that does not exist", b"CARD", b"KART 7o"),
    "no-space": ("a code without the space after it", b"STBT", b"STBT\0\0\0\x64\0"),
    "no-such-card": ("a card that does not exist", b"CARD", b"CARD 9o"),
    "no-such-suit": ("a suit that does not exist", b"CARD", b"CARD 7x"),
    "too-many-cards": ("a bank of more cards than there are", b"BKSC", b"BKSC \0\0\x01\0" + 4 * b"7o" + b" 07.5"),
    "no-score": ("a malformed score", b"BKSC", b"BKSC \0\0\0\x017o 07,5"),
    "http": ("HTTP", b"STBT", b"HTTP/1.1 400 Bad Request\r\nConnection: close\r\n\r\n"),
    "binary": ("bytes that are no text", b"CARD", b"\xff\xfe\0\0\x80\x81"),
}
"""Unreadable messages: words for the title, the beginning of the message that is replaced, and the bytes."""

TEXTS: Final[Mapping[str, tuple[str, bytes]]] = {
    "no-text": ("without a text", b"ERRO 00"),
    "long-text": ("with a text of 99 bytes", b"ERRO 99" + 99 * b"x"),
    "text-like-commands": ("with a text that looks like commands", b"ERRO 24STBT \0\0\0\x64CARD 7oBSTGERRO"),
    "text-of-any-bytes": ("with a text of any bytes", b'ERRO 08\r\n\0\xff\xfe \xe9"'),
}
"""Texts of ERRO: words for the title, and the bytes of the message."""

_varied: Final = partial(wire_variation, "sevenhalf")

VARIATIONS: Final = (
    _varied(
        "2.7",
        "upper-case-cards",
        "A house that writes cards in upper case means the same",
        rewrite_each(lambda data: data.upper() if data[:4] == b"CARD" else data),
        decks="so 3c 2e 7o / 2o co 3b 7c / ro 4e 1b 7e",
    ),
    _varied(
        "2.7",
        "lower-case-codes",
        "A house that writes codes in lower case means the same",
        rewrite_each(lambda data: data[:4].lower() + data[4:]),
    ),
    _varied(
        "2.8",
        "line-ends",
        "A house that ends its messages with CR and LF",
        rewrite_each(lambda data: data + b"\r\n"),
        is_tolerated=True,
    ),
    *(
        _varied(
            "2.6",
            f"refusal-{slug}",
            f"The house refuses an ANTE {phrase}",
            replace_messages(b"ERRO", words),
            state=REFUSED_ANTE_STATE,
        )
        for slug, (phrase, words) in TEXTS.items()
    ),
)

GOODBYE_VARIATIONS: Final = tuple(
    _varied("2.6", f"goodbye-{slug}", f"The house says goodbye {phrase}", replace_messages(b"ERRO", words))
    for slug, (phrase, words) in TEXTS.items()
)

INJECTED_FAULTS: Final = (
    *(
        _varied("2.9", slug, f"The house sends {phrase}, which cannot be read", replace_messages(old, new))
        for slug, (phrase, old, new) in UNREADABLE_MESSAGES.items()
    ),
    _varied("4.9", "two-cards", "The house deals two cards for one DRAW", append_to_messages(b"CARD", b"CARD 1o")),
    _varied("4.1", "starts-itself", "The house sends STRT", replace_messages(b"STBT", b"STRT")),
    _varied("7.1", "bet-of-nothing", "The starting bet is nothing", replace_messages(b"STBT", b"STBT \0\0\0\0")),
    _varied(
        "4.5",
        "pays-first",
        "The house pays before it shows",
        lambda answers: sorted(answers, key=lambda said: said[:4] == b"BKSC"),
    ),
)

UNTESTABLE: Final = reasons_by_clause(
    "sevenhalf",
    {
        "the tester gives the client the address": "1.1",
        "what cannot be read is found in every case, on sevenhalf-2.9": "2.1",
        "the deck is the house's; the cases of sevenhalf-2.4 deal every card": "3.1",
        "the deal is the house's": "3.3 3.5",
        "a client does not send its score": "3.4",
        "it binds the house": "3.6 3.7 5.2 5.3 5.4 6.9 7.5 7.6 8.6",
        "a PASS after a bust is reported in every case in which it comes": "4.8",
        "a command between games is found in every case": "6.1",
        "a command after STBT is found in every case": "6.2",
        "a STRT in a game is found in every case": "6.3",
        "a command after ANTE is found in every case": "6.4",
        "a message of the house is found in every case": "6.5",
        "an ERRO of the client changes nothing: none is wrong": "6.6",
        "the texts are croupier's, and no program has to understand them": "6.7",
        "an ANTE of nothing or less is found in every case": "7.2",
        "a client may hang up at any time": "8.1",
        "what is forfeited does not show on the wire": "8.3",
        "the dialect is one of houses": "9.1 9.2 9.3 9.4 9.5 9.6",
        "no conversation shows how it is written down": "10.1",
    },
)

SUITE: Final = house_client_suite(
    ClientTestData(
        room=ROOM,
        states=STATES,
        glued_states=(PASSED_STATE, BUST_STATE),
        variations=VARIATIONS,
        goodbye_variations=GOODBYE_VARIATIONS,
        faults=INJECTED_FAULTS,
        obligation=obligation,
        limit_clause="sevenhalf-1.4",
        seat_clause="sevenhalf-1.5",
        closing_clause="sevenhalf-8.4",
        untestable=UNTESTABLE,
        late_clause="sevenhalf-4.8",
        is_limit_of_house=is_limit_of_house,
    )
)
