"""The message layouts of the three house games, and the dialects in which programs spell them."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cache
from typing import Final

from croupier.conformance.conversation import FIRST_SECTION
from croupier.conformance.diagnosis.common_dialects import (
    DIGITS_FIELD,
    LITTLE_ENDIAN,
    QUOTE_PATTERN,
    ProtocolLayout,
    RoomDialect,
    all_dialects,
    binary_field,
    pack_int32,
    swap_bytes,
    widen_to_int32,
)
from croupier.conformance.diagnosis.dialect import (
    CODE_FIELD,
    Dialect,
    FieldPattern,
    Normalizer,
    greets_with,
    one_of,
)
from croupier.core.codec import printable_start

# Kuhn poker.

ARGUMENTS: Final = (b"P_1", b"P_2", b"CHK", b"BET", b"CAL", b"FLD", b"C_J", b"C_Q", b"C_K", b"W_A", b"N_C")

SPELLED_OUT_ARGUMENTS: Final[Mapping[str, bytes]] = {
    "JACK": b"C_J",
    "QUEEN": b"C_Q",
    "KING": b"C_K",
    "CHECK": b"CHK",
    "CALL": b"CAL",
    "FOLD": b"FLD",
    "WRONG_ACTION": b"W_A",
    "NO_COINS": b"N_C",
    "PLAYER_1": b"P_1",
    "PLAYER_2": b"P_2",
}


def _words(others: Mapping[str, bytes]) -> Mapping[str, FieldPattern]:
    """The argument field of Kuhn poker, with other words for some arguments."""
    return {"word": one_of({a: a for a in ARGUMENTS} | {word.encode(): meant for word, meant in others.items()})}


WIDE_CHARACTERS: Final = "sends single characters, such as its spaces, in two bytes, as Java's writeChar does"
WIDE_SPACE: Final = FieldPattern((rb"\0?", b" "), normalize=lambda _: b" ")
"""A space in two bytes, or one inside a string, which has one byte for each letter."""

KUHN: Final = ProtocolLayout(
    layout={**dict.fromkeys((b"STRT", b"ACTN", b"CARD", b"FAIL"), ("space", "word")), b"DISC": ()},
    fields={"space": FieldPattern((b" ",)), **_words({})},
    sections={CODE_FIELD: "2.2", "word": "2.2"},
    code_aliases={b"START": b"STRT", b"ACTION": b"ACTN", b"ACT": b"ACTN", b"DISCONNECT": b"DISC", b"ERRO": b"FAIL"},
    text_fields=("word",),
    room_dialects=(
        RoomDialect("writes a card as its rank alone", _words({"J": b"C_J", "Q": b"C_Q", "K": b"C_K"})),
        RoomDialect("spells its arguments out", _words(SPELLED_OUT_ARGUMENTS)),
        RoomDialect("writes its arguments without _", _words({a.decode().replace("_", ""): a for a in ARGUMENTS})),
        RoomDialect("writes BRT, which is a slip of the document's", _words({"BRT": b"BET"})),
        RoomDialect(WIDE_CHARACTERS, {"space": WIDE_SPACE}),
    ),
)

# Seven and a half.


MAX_TEXT_BYTES: Final = 99
UTF8_SIZES: Final[Mapping[bytes, int]] = {b"\xf0": 4, b"\xe0": 3, b"\xc0": 2}
"""The sizes of the characters in UTF-8 that begin with this byte, or a higher one below the one before."""


class CountedText(FieldPattern):
    """The text of an ERRO: two digits, or one of other lengths, and that many bytes."""

    def __init__(self, *lengths: Sequence[bytes]) -> None:
        super().__init__(*(lengths or ([rb"\d"] * 2,)))

    def read(self, data: bytes, at: int) -> tuple[bytes, int] | None:
        """See `FieldPattern.read`."""
        found = super().read(data, at)
        if found is None:
            return None
        end = self._find_end(data, found[1], int(found[0]))
        text = data[found[1] : end][:MAX_TEXT_BYTES]
        return None if len(data) < end else (b"%02d%s" % (len(text), text), end)

    def _find_end(self, data: bytes, start: int, count: int) -> int:  # noqa: ARG002 -- for texts of characters
        """Return the end of a text; beyond the data if there is more of it to come."""
        return start + count


class TextWithOthers(CountedText):
    """The text of an ERRO whose two digits count some bytes that are not in it."""

    def __init__(self, other_bytes: int) -> None:
        super().__init__()
        self._other_bytes = other_bytes

    def _find_end(self, data: bytes, start: int, count: int) -> int:  # noqa: ARG002 -- for texts of characters
        return start + max(0, count - self._other_bytes)


class TextOfCharacters(CountedText):
    """The text of an ERRO whose two digits count its characters, and not its bytes in UTF-8."""

    def _find_end(self, data: bytes, start: int, count: int) -> int:
        end = start
        for _ in range(count):
            end += next((size for lead, size in UTF8_SIZES.items() if data[end : end + 1] >= lead), 1)
        return end


CARD_PATTERN: Final = rb"[1-7scr][oceb]"
SCORE_PATTERN: Final = (rb"\d", rb"\d", rb"\.", rb"\d")


def _cards(between: bytes = b"", behind: bytes = rb"[^1-7scr]|\d\d") -> FieldPattern:
    """Cards with a separator between them, up to what follows them."""
    row = rb"(?:%s(?:%s%s)*)?" % (CARD_PATTERN, between, CARD_PATTERN)
    normalize: Normalizer = lambda data: re.sub(between, b"", data) if between else data  # noqa: E731 -- closes over `between`
    return FieldPattern(
        (rb"%s(?=%s)" % (row, behind),), partial=rb"%s(?:%s)?[1-7scr0]?" % (row, between), normalize=normalize
    )


class MissingCount(FieldPattern):
    """The place of the bank's card count if it is left out: cards and a space follow."""

    def __init__(self) -> None:
        super().__init__((rb"(?:%s)*" % CARD_PATTERN, rb" "), partial=rb"(?:%s)*[1-7scr]?" % CARD_PATTERN)

    def read(self, data: bytes, at: int) -> tuple[bytes, int] | None:
        """See `FieldPattern.read`."""
        found = super().read(data, at)
        return None if found is None else (pack_int32((found[1] - at) // 2), at)


class WrongCount(FieldPattern):
    """A card count that is not the number of the cards after it."""

    def __init__(self) -> None:
        super().__init__(
            (*(b".",) * 4, rb"(?:%s)*(?= )" % CARD_PATTERN), partial=rb".{4}(?:%s)*[1-7scr]?" % CARD_PATTERN
        )

    def read(self, data: bytes, at: int) -> tuple[bytes, int] | None:
        """See `FieldPattern.read`."""
        found = super().read(data, at)
        return None if found is None else (pack_int32((found[1] - at - 4) // 2), at + 4)


WIDE_CARD_PATTERN: Final = rb"\0%s\0%s" % (CARD_PATTERN[:8], CARD_PATTERN[8:])


def _narrow(data: bytes) -> bytes:
    return data.replace(b"\0", b"")


COUNT_FIELD: Final = FieldPattern(
    (rb" *\d{1,2}?(?=(?:%s)* )" % CARD_PATTERN,),
    partial=rb" *\d{0,2}(?:%s)*[1-7scr]?" % CARD_PATTERN,
    normalize=lambda data: pack_int32(int(data)),
)
"""A card count in digits, without the first digit of the card after it."""


def _figure_from_number(data: bytes) -> bytes:
    """Translate 10, 11 and 12, which are printed on the three figures of the Spanish deck."""
    return {b"10": b"s", b"11": b"c", b"12": b"r"}.get(data[:-1], data[:-1]) + data[-1:]


def _score(data: bytes) -> bytes:
    whole, _, half = data.replace(b",", b".").partition(b".")
    return b"%02d.%s" % (int(whole), half or b"0")


SEVENHALF: Final = ProtocolLayout(
    layout={
        **dict.fromkeys((b"STRT", b"DRAW", b"PASS", b"BSTG"), ()),
        **dict.fromkeys((b"STBT", b"ANTE", b"GAIN"), ("space", "number")),
        b"CARD": ("space", "card"),
        b"BKSC": ("space", "count", "cards", "space", "score"),
        b"ERRO": ("space", "text"),
    },
    fields={
        "space": FieldPattern((b" ",)),
        "number": binary_field(4),
        "count": binary_field(4),
        "card": FieldPattern((CARD_PATTERN[:8], CARD_PATTERN[8:])),
        "cards": _cards(),
        "score": FieldPattern(SCORE_PATTERN),
        "text": CountedText(),
    },
    sections={
        CODE_FIELD: "2.2",
        "number": "2.3",
        "count": "2.4",
        "card": "2.4",
        "cards": "2.4",
        "score": "2.5",
        "text": "2.6",
    },
    code_aliases={b"START": b"STRT", b"BUSTING": b"BSTG", b"BUSTED": b"BSTG", b"BUST": b"BSTG", b"ERROR": b"ERRO"},
    digit_fields={"number": DIGITS_FIELD, "count": COUNT_FIELD},
    text_fields=("card", "score"),
    quoted_fields={"cards": _cards(QUOTE_PATTERN + b"*")},
    repeated_fields={"cards": (CARD_PATTERN[:8], CARD_PATTERN[8:])},
    room_dialects=(
        RoomDialect(
            "writes the suit of a card before its rank",
            {
                "card": FieldPattern((CARD_PATTERN[8:], CARD_PATTERN[:8]), normalize=lambda data: data[::-1]),
                "cards": FieldPattern(
                    (rb"(?:%s%s)*(?=[^oceb])" % (CARD_PATTERN[8:], CARD_PATTERN[:8]),),
                    partial=rb"(?:%s%s)*[oceb]?" % (CARD_PATTERN[8:], CARD_PATTERN[:8]),
                    normalize=lambda data: b"".join(data[at : at + 2][::-1] for at in range(0, len(data), 2)),
                ),
            },
        ),
        RoomDialect(
            "writes the figures as 10, 11 and 12",
            {
                "card": FieldPattern(
                    (rb"1", rb"[0-2]", rb"[oceb]"), (CARD_PATTERN[:8], CARD_PATTERN[8:]), normalize=_figure_from_number
                ),
                "cards": FieldPattern(
                    (rb"(?:(?:1[0-2]|[1-7scr])[oceb])*(?=[^1-7scr])",),
                    partial=rb"(?:(?:1[0-2]|[1-7scr])[oceb])*(?:1[0-2]?|[1-7scr])?",
                    normalize=lambda data: re.sub(rb"1[0-2].", lambda card: _figure_from_number(card[0]), data),
                ),
            },
        ),
        RoomDialect(
            "writes its scores in another form than 07.5",
            {"score": FieldPattern((rb" *\d{1,3}(?:[.,]\d)?",), partial=rb" +", normalize=_score)},
        ),
        RoomDialect("counts the characters of its texts, and not their bytes", {"text": TextOfCharacters()}),
        RoomDialect("writes the length of a text in three digits", {"text": CountedText([rb"\d"] * 3)}),
        RoomDialect(
            "writes the length of a short text in one digit",
            {"text": CountedText((rb"\d", rb"\d"), (rb"\d", rb"(?=\D)"))},
        ),
        RoomDialect("counts a byte after its texts as a part of them", {"text": TextWithOthers(1)}),
        RoomDialect("counts the two digits of a length, too", {"text": TextWithOthers(2)}),
        RoomDialect("counts all bytes of an ERRO, and not those of its text", {"text": TextWithOthers(7)}),
        RoomDialect("writes the number of its cards as text", {"count": COUNT_FIELD}),
        RoomDialect("sends the number of its cards in one byte", {"count": binary_field(1, widen_to_int32)}),
        RoomDialect(
            "sends the number of its cards with the least significant byte first",
            {"count": binary_field(4, swap_bytes)},
        ),
        RoomDialect("does not say how many cards there are", {"count": MissingCount()}),
        RoomDialect("states another number of cards than it lists", {"count": WrongCount()}, section="5.1"),
        RoomDialect(
            WIDE_CHARACTERS,
            {
                "space": WIDE_SPACE,
                "card": FieldPattern((b"\0", CARD_PATTERN[:8], b"\0", CARD_PATTERN[8:]), normalize=_narrow),
                "cards": FieldPattern(
                    (rb"(?:%s)*(?=\0? )" % WIDE_CARD_PATTERN,),
                    partial=rb"(?:%s)*(?:\0(?:[1-7scr]\0?)?)?" % WIDE_CARD_PATTERN,
                    normalize=_narrow,
                ),
            },
        ),
        RoomDialect("puts something between its cards", {"cards": _cards(rb"[ ,]+", rb" \d[\d.,]")}),
    ),
)

# Blackjack.

LETTER_PATTERN: Final = b"[CSHWL]"
RANK_PATTERN: Final = b"[A2-9TJQK]"
SUIT_PATTERN: Final = b"[HDSC]"
WIDE_RANKS: Final = frozenset(b"\0" + rank.to_bytes() for rank in b"A23456789TJQK")
"""A rank in two bytes."""


def _characters(before: bytes = b"", behind: bytes = b"") -> Mapping[str, FieldPattern]:
    """Fields of one character, each surrounded by these bytes."""
    place, size = len(before), len(before) + 1 + len(behind)

    def normalize(data: bytes) -> bytes:
        return b"".join(b"\0" + data[at + place : at + place + 1] for at in range(0, len(data), size))

    around = [[re.escape(bytes((byte,))) for byte in part] for part in (before, behind)]
    letter, rank, suit = ((*around[0], what, *around[1]) for what in (LETTER_PATTERN, RANK_PATTERN, SUIT_PATTERN))
    return {
        "letter": FieldPattern(letter, normalize=normalize, is_case_sensitive=True),
        "card": FieldPattern((*rank, *suit), normalize=normalize, is_case_sensitive=True),
    }


def _lower(is_case_sensitive: bool) -> Mapping[str, FieldPattern]:
    """Fields as the protocol spells them; unless `is_case_sensitive` is set, their letters may be lower case."""
    ten = ((b"\0", rb"[X\n]", b"\0", SUIT_PATTERN), (b"1", b"0", b"\0", SUIT_PATTERN))
    return {
        "letter": FieldPattern((b"\0", LETTER_PATTERN), normalize=bytes.upper, is_case_sensitive=is_case_sensitive),
        "card": FieldPattern(
            (b"\0", RANK_PATTERN, b"\0", SUIT_PATTERN), *ten, normalize=bytes.upper, is_case_sensitive=is_case_sensitive
        ),
    }


def _ten(data: bytes) -> bytes:
    return b"\0T" + data[-2:]


def _numbered(data: bytes) -> bytes:
    return b"\0" + b"A23456789TJQK"[data[1] - 1 : data[1]] + data[2:]


SWAPPED_CHARACTERS: Final = "sends its characters with the less significant byte first"

BLACKJACK: Final = ProtocolLayout(
    layout={
        **dict.fromkeys((b"PLY", b"SRD", b"STP", b"TRN"), ()),
        **dict.fromkeys((b"BET", b"MON", b"ERR"), ("number",)),
        b"MOV": ("letter",),
        b"CRD": ("letter", "card"),
        b"RES": ("letter", "number"),
    },
    fields={"number": binary_field(4), **_lower(is_case_sensitive=True)},
    sections={CODE_FIELD: "2.2", "number": "2.3", "letter": "2.4", "card": "2.6"},
    code_aliases={
        b"PLAY": b"PLY",
        b"MONEY": b"MON",
        b"CARD": b"CRD",
        b"TURN": b"TRN",
        b"RESULT": b"RES",
        b"ERROR": b"ERR",
        b"MOVE": b"MOV",
        b"STOP": b"STP",
        b"SURRENDER": b"SRD",
    },
    digit_fields={"number": DIGITS_FIELD},
    lower_case_fields=_lower(is_case_sensitive=False),
    room_dialects=(
        RoomDialect("sends characters of one byte", _characters(), option="char8"),
        RoomDialect(SWAPPED_CHARACTERS, _characters(b"", b"\0")),
        RoomDialect("sends characters of four bytes", _characters(b"\0\0\0")),
        RoomDialect("puts a byte order mark before its characters", _characters(b"\xfe\xff\0")),
        RoomDialect(
            "puts a byte order mark before its characters, as UTF-16 has it on most machines",
            _characters(b"\xff\xfe", b"\0"),
        ),
        RoomDialect("sends a length before its characters", _characters(b"\0\x01")),
        RoomDialect(
            "writes the suit of a card before its rank",
            {
                "card": FieldPattern(
                    (b"\0", SUIT_PATTERN, b"\0", RANK_PATTERN),
                    normalize=lambda data: data[2:] + data[:2],
                    is_case_sensitive=True,
                )
            },
        ),
        RoomDialect(
            "spells the ten otherwise than as T",
            {
                "card": FieldPattern(
                    *(
                        (*ten, b"\0", SUIT_PATTERN)
                        for ten in ((b"\0", rb"[0Xt\n]"), (b"\0", b"1", b"\0", b"0"), (b"1", b"0"))
                    ),
                    (b"\0", RANK_PATTERN, b"\0", SUIT_PATTERN),
                    normalize=lambda data: data if data[:-2] in WIDE_RANKS else _ten(data),
                    is_case_sensitive=True,
                )
            },
            section="2.7",
        ),
        RoomDialect(
            "sends the rank of a card as a number",
            {
                "card": FieldPattern(
                    (b"\0", rb"[\x01-\x0d]", b"\0", SUIT_PATTERN), normalize=_numbered, is_case_sensitive=True
                )
            },
        ),
    ),
)

MAX_PROMPT_BYTES: Final = 64

LAYOUTS: Final[Mapping[str, ProtocolLayout]] = {"kuhn": KUHN, "sevenhalf": SEVENHALF, "blackjack": BLACKJACK}


@cache
def dialects(room: str) -> tuple[Dialect, ...]:
    """The known dialects of a room, the most likely first; empty if there are none."""
    return tuple(all_dialects(LAYOUTS[room])) if room in LAYOUTS else ()


@cache
def byte_orders(room: str) -> tuple[Dialect, ...]:
    """The dialects of a client that sends all integers, or all characters, in the opposite order of their bytes."""
    integers = tuple(each for each in dialects(room) if each.description == LITTLE_ENDIAN)
    letter = binary_field(2, lambda data: data[::-1])
    return (*integers, BLACKJACK.dialect(SWAPPED_CHARACTERS, {"letter": letter})) if room == "blackjack" else integers


@cache
def greeting_dialects(room: str, greeting: bytes) -> tuple[Dialect, ...]:
    """The dialects of a program that sends this greeting before its first message, or after each of its messages."""
    protocol = LAYOUTS[room]
    prompt = FieldPattern(tuple(re.escape(bytes((byte,))) for byte in greeting[:MAX_PROMPT_BYTES]))
    return (
        replace(protocol.dialect(greets_with(greeting)), greeting=greeting, section=FIRST_SECTION),
        replace(protocol.dialect(f"sends {printable_start(greeting)} after its messages"), suffix=prompt),
    )
