"""How students' programs write the messages of a protocol otherwise, and some messages to write."""

import re
import struct
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Literal

KUHN = (b"CARD C_Q", b"ACTN BET", b"CARD C_K", b"FAIL W_A", b"DISC")
SEVENHALF = (
    b"STBT " + (100).to_bytes(4),
    b"CARD 7o",
    b"CARD rc",
    b"BSTG",
    b"BKSC " + (2).to_bytes(4) + b"7ccc 07.5",
    b"GAIN " + (-100).to_bytes(4, signed=True),
    b"ERRO 12Syntax error",
    b"ERRO 07" + "no és".encode() + b"!",
)
BLACKJACK = (
    b"MON" + (1000).to_bytes(4),
    b"CRD\0C\x002\0D",
    b"CRD\0S\0T\0C",
    b"TRN",
    b"RES\0W" + (600).to_bytes(4),
    b"ERR" + (501).to_bytes(4),
    b"STP",
)
TALKS: Mapping[str, Sequence[bytes]] = {"kuhn": KUHN, "sevenhalf": SEVENHALF, "blackjack": BLACKJACK}

type Habit = Callable[[bytes], bytes]
type Order = Literal["big", "little"]


def swap(*pairs: tuple[bytes, bytes]) -> Habit:
    """Writes some letters otherwise."""

    def habit(message: bytes) -> bytes:
        for old, new in pairs:
            message = message.replace(old, new)
        return message

    return habit


def each(letters: bytes, high: bytes, low: bytes) -> bytes:
    """Letters with something around every one of them."""
    return b"".join(high + bytes((letter,)) + low for letter in letters)


def around(before: bytes, behind: bytes) -> Habit:
    return lambda message: before + message + behind


def integer(size: int, order: Order = "big") -> Callable[[int], bytes]:
    """Return an encoder of numbers in `size` bytes."""
    return lambda n: (n % (1 << 8 * size)).to_bytes(size, order)


def text(n: int) -> bytes:
    return str(n).encode()


def minus(n: int) -> bytes:
    return b"-" + (-n).to_bytes(4) if n < 0 else n.to_bytes(4)


def sign_bit(n: int) -> bytes:
    return (-n | 1 << 31).to_bytes(4) if n < 0 else n.to_bytes(4)


# Seven and a half.

type Change = Callable[[bytes], bytes]


def numbers(write: Callable[[int], bytes]) -> Habit:
    """Writes its amounts and counts otherwise."""

    def habit(message: bytes) -> bytes:
        if message[:4] not in {b"STBT", b"GAIN", b"BKSC"}:
            return message
        return message[:5] + write(int.from_bytes(message[5:9], signed=True)) + message[9:]

    return habit


def counts(write: Callable[[int], bytes]) -> Habit:
    """Writes its counts otherwise."""
    return lambda message: numbers(write)(message) if message[:4] == b"BKSC" else message


def characters(message: bytes) -> bytes:
    """Counts the characters of a text."""
    return b"ERRO %02d%s" % (len(message[7:].decode()), message[7:]) if message[:4] == b"ERRO" else message


def longer_texts(other_bytes: int) -> Habit:
    """Counts some bytes that are not in a text."""

    def habit(message: bytes) -> bytes:
        return b"ERRO %02d%s" % (len(message) - 7 + other_bytes, message[7:]) if message[:4] == b"ERRO" else message

    return habit


def three_digits(message: bytes) -> bytes:
    """Counts the bytes of a text in three digits."""
    return b"ERRO %03d%s" % (len(message) - 7, message[7:]) if message[:4] == b"ERRO" else message


def one_digit(message: bytes) -> bytes:
    """Counts the bytes of a text below ten in one digit."""
    return message.replace(b"ERRO 0", b"ERRO ") if message[:4] == b"ERRO" else message


def spaces(between: bytes) -> Habit:
    """Has something else in the place of a space that belongs to a message."""

    def habit(message: bytes) -> bytes:
        if message[:4] == b"BKSC":
            return message[:4] + between + message[5:-5] + between + message[-4:]
        return message[:4] + between + message[5:] if message[4:5] == b" " else message

    return habit


def wide_characters(message: bytes) -> bytes:
    """Writes spaces and the letters of cards in two bytes, and strings, such as a score with its space, in one each."""
    if message[:4] == b"BKSC":
        return message[:4] + b"\0 " + message[5:9] + each(message[9:-5], b"\0", b"") + message[-5:]
    letters = message[4:] if message[:4] == b"CARD" else message[4:5]
    return message[:4] + each(letters, b"\0", b"") + message[4 + len(letters) :]


def cards(change: Change, between: bytes = b"", score: Change = bytes) -> Habit:
    """Writes its cards otherwise, and perhaps the score."""

    def habit(message: bytes) -> bytes:
        if message[:4] == b"CARD":
            return message[:5] + change(message[5:])
        if message[:4] == b"BKSC":
            row = (change(message[at : at + 2]) for at in range(9, len(message) - 5, 2))
            return message[:9] + between.join(row) + b" " + score(message[-4:])
        return message

    return habit


def catalan(card: bytes) -> bytes:
    return {b"s": b"10", b"c": b"11", b"r": b"12"}.get(card[:1], card[:1]) + card[1:]


def quoted(part: bytes) -> bytes:
    return b"'" + part + b"'"


def comma(score: bytes) -> bytes:
    return text(int(score[:2])) + b"," + score[3:]


def wide(high: bytes, low: bytes, mark: bytes) -> Habit:
    """Writes what is text in two bytes a letter."""

    def habit(message: bytes) -> bytes:
        found = mark + each(message[:5], high, low)
        if message[:4] in {b"STBT", b"GAIN"}:
            return found + message[5:]
        if message[:4] == b"BKSC":
            return found + message[5:9] + each(message[9:], high, low)
        return found + (message[5:] if message[:4] == b"ERRO" else each(message[5:], high, low))

    return habit


# Blackjack.

AMOUNTS = frozenset({b"MON", b"ERR", b"RES"})


def money(write: Callable[[int], bytes]) -> Habit:
    """Writes its amounts otherwise."""

    def habit(message: bytes) -> bytes:
        if message[:3] not in AMOUNTS:
            return message
        return message[:-4] + write(int.from_bytes(message[-4:], signed=True))

    return habit


def letters(change: Change) -> Habit:
    """Writes the characters of its fields otherwise."""

    def habit(message: bytes) -> bytes:
        if message[:3] not in {b"CRD", b"RES"}:
            return message
        end = 9 if message[:3] == b"CRD" else 5
        return message[:3] + change(message[4:end:2]) + message[end:]

    return habit


def deals(change: Change) -> Habit:
    """Writes the rank and the suit of its cards otherwise."""
    return lambda message: message[:5] + change(message[5:]) if message[:3] == b"CRD" else message


def numbered(card: bytes) -> bytes:
    return b"\0" + bytes((b"A23456789TJQK".index(card[1:2]) + 1,)) + card[2:]


def small(message: bytes) -> bytes:
    end = len(message) - 4 * (message[:3] in AMOUNTS)
    return message[:end].lower() + message[end:]


def headers(high: bytes, low: bytes) -> Habit:
    return lambda message: each(message[:3], high, low) + message[3:]


HABITS: Mapping[str, Mapping[str, Habit]] = {
    "kuhn": {
        "ends its messages with a line end": around(b"", b"\r\n"),
        "ends its messages with a NUL": around(b"", b"\0"),
        "puts blanks between its messages": around(b"", b" "),
        "puts commas between its messages": around(b"", b", "),
        "sends a length before its messages": lambda message: len(message).to_bytes(2) + message,
        "puts quotes around its messages": around(b"'", b"'"),
        "puts quotes around its arguments": lambda m: m[:5] + b'"' + m[5:] + b'"' if len(m) > 4 else m,
        "forgets the space": swap((b" ", b"")),
        "puts more than one space": swap((b" ", b"  ")),
        "puts something else where a space belongs": swap((b" ", b": ")),
        "writes a card as its rank alone": swap((b"C_", b"")),
        "spells its arguments out": swap((b"C_J", b"Jack"), (b"C_Q", b"queen"), (b"C_K", b"KING")),
        "writes its arguments without _": swap((b"_", b"")),
        "writes BRT, which is a slip of the document's": swap((b"BET", b"BRT")),
        "spells its codes in another way": swap((b"ACTN", b"ACTION")),
        "sends single characters, such as its spaces, in two bytes, as Java's writeChar does": spaces(b"\0 "),
        "sends every letter in two bytes": lambda message: each(message, b"\0", b""),
        "sends every letter in two bytes, the less significant first": lambda m: m.decode().encode("utf-16"),
    },
    "sevenhalf": {
        "ends its messages with a line end": around(b"", b"\n"),
        "ends its messages with a NUL": around(b"", b"\0\0"),
        "puts blanks between its messages": around(b"", b"\t"),
        "puts commas between its messages": around(b"", b";"),
        "sends a length before its messages": lambda message: text(len(message)) + b":" + message,
        "puts quotes around its messages": around(b"'", b"'"),
        "puts quotes around its arguments": cards(quoted, score=quoted),
        "writes its integers as text": numbers(text),
        "sends its integers with the least significant byte first": numbers(integer(4, "little")),
        "sends its integers in eight bytes": numbers(lambda n: n.to_bytes(8, signed=True)),
        "sends its integers in eight bytes, the least significant first": numbers(
            lambda n: n.to_bytes(8, "little", signed=True)
        ),
        "sends its integers in two bytes": numbers(integer(2)),
        "sends its integers in two bytes, the least significant first": numbers(integer(2, "little")),
        "sends its integers in one byte": numbers(integer(1)),
        "sends its integers in the upper two bytes of four": numbers(lambda n: n.to_bytes(2, signed=True) + b"\0\0"),
        "sends its integers as floating-point numbers of four bytes": numbers(partial(struct.pack, ">f")),
        "sends its integers as floating-point numbers of eight bytes": numbers(partial(struct.pack, ">d")),
        "writes a minus sign before its integers": numbers(minus),
        "sets the highest bit of its integers for a minus sign": numbers(sign_bit),
        "forgets the space": spaces(b""),
        "puts more than one space": spaces(b"  "),
        "puts something else where a space belongs": spaces(b"\t"),
        "writes the suit of a card before its rank": cards(lambda card: card[::-1]),
        "writes the figures as 10, 11 and 12": cards(catalan),
        "writes its scores in another form than 07.5": cards(bytes, score=comma),
        "writes the number of its cards as text": counts(text),
        "sends the number of its cards in one byte": counts(integer(1)),
        "counts the characters of its texts, and not their bytes": characters,
        "writes the length of a text in three digits": three_digits,
        "writes the length of a short text in one digit": one_digit,
        "counts a byte after its texts as a part of them": longer_texts(1),
        "counts the two digits of a length, too": longer_texts(2),
        "counts all bytes of an ERRO, and not those of its text": longer_texts(7),
        "states another number of cards than it lists": counts(lambda count: (count + 2).to_bytes(4)),
        "sends the number of its cards with the least significant byte first": counts(integer(4, "little")),
        "does not say how many cards there are": counts(lambda _: b""),
        "puts something between its cards": cards(bytes, b", "),
        "spells its codes in another way": lambda m: re.sub(b"^(BSTG|ERRO)", lambda c: LONGER[c[0]], m),
        "sends single characters, such as its spaces, in two bytes, as Java's writeChar does": wide_characters,
        "sends every letter in two bytes": wide(b"\0", b"", b""),
        "sends every letter in two bytes, the less significant first": wide(b"", b"\0", b"\xff\xfe"),
    },
    "blackjack": {
        "ends its messages with a line end": around(b"", b"\n"),
        "ends its messages with a NUL": around(b"", b"\0"),
        "puts blanks between its messages": around(b"", b"  "),
        "puts commas between its messages": around(b"", b","),
        "sends a length before its messages": lambda message: len(message).to_bytes(4, "little") + message,
        "puts quotes around its messages": around(b'"', b'"'),
        "writes its integers as text": money(text),
        "sends its integers with the least significant byte first": money(integer(4, "little")),
        "sends its integers in eight bytes": money(integer(8)),
        "sends its integers in eight bytes, the least significant first": money(integer(8, "little")),
        "sends its integers in two bytes": money(integer(2)),
        "sends its integers in two bytes, the least significant first": money(integer(2, "little")),
        "sends its integers in the upper two bytes of four": money(lambda n: n.to_bytes(2, signed=True) + b"\0\0"),
        "sends its integers as floating-point numbers of four bytes": money(partial(struct.pack, ">f")),
        "sends its integers as floating-point numbers of eight bytes": money(partial(struct.pack, ">d")),
        "sends characters of one byte": letters(bytes),
        "sends its characters with the less significant byte first": letters(lambda row: each(row, b"", b"\0")),
        "sends characters of four bytes": letters(lambda row: each(row, b"\0\0\0", b"")),
        "puts a byte order mark before its characters": letters(lambda row: each(row, b"\xfe\xff\0", b"")),
        "puts a byte order mark before its characters, as UTF-16 has it on most machines": letters(
            lambda row: each(row, b"\xff\xfe", b"\0")
        ),
        "sends a length before its characters": letters(lambda row: each(row, b"\0\1", b"")),
        "writes the suit of a card before its rank": deals(lambda card: card[2:] + card[:2]),
        "spells the ten otherwise than as T": deals(swap((b"\0T", b"\x001\x000"))),
        "sends the rank of a card as a number": deals(numbered),
        "writes lower case letters": small,
        "puts a space after its headers": lambda m: m[:3] + b" " + m[3:] if len(m) > 3 else m,
        "puts a NUL after its headers": lambda m: m[:3] + b"\0" + m[3:] if len(m) > 3 else m,
        "spells its codes in another way": lambda m: re.sub(b"^(MON|STP)", lambda c: LONGER[c[0]], m),
        "sends every letter in two bytes": headers(b"\0", b""),
        "sends every letter in two bytes, the less significant first": headers(b"", b"\0"),
    },
}
"""How the messages of a room are written by programs, by what is said of them."""

LONGER = {b"BSTG": b"BUST", b"ERRO": b"ERROR", b"MON": b"MONEY", b"STP": b"STOP"}
