"""Frames of seven and a half, written from the protocol and independent of the tested code."""

STRT, DRAW, PASS, BSTG = b"STRT", b"DRAW", b"PASS", b"BSTG"
GARBAGE = b"HELO"


def number(coins: int) -> bytes:
    """Four bytes, most significant first, in two's complement (sevenhalf-2.3)."""
    return bytes(coins >> shift & 0xFF for shift in (24, 16, 8, 0))


def ante(coins: int) -> bytes:
    return b"ANTE " + number(coins)


def stbt(coins: int) -> bytes:
    return b"STBT " + number(coins)


def gain(coins: int) -> bytes:
    return b"GAIN " + number(coins)


def card(name: str) -> bytes:
    return b"CARD " + name.encode()


def bksc(cards: str, score: str) -> bytes:
    """BKSC with the bank's cards (separated by spaces here) and its score."""
    return b"BKSC " + number(len(cards.split())) + cards.replace(" ", "").encode() + b" " + score.encode()


def erro(text: str) -> bytes:
    return b"ERRO " + b"%02d" % len(text) + text.encode()


def refused(code: str, allowed: str) -> bytes:
    """The ERRO with which our house refuses a command (sevenhalf-6.7)."""
    return erro(f"{code} refused; allowed: {allowed}")


UNREADABLE = erro("unreadable; allowed: STRT, DRAW, ANTE, PASS, ERRO")
