"""Frames of blackjack, for conversation tests."""

from croupier.rooms.blackjack.wire import CRD as CARDS
from croupier.rooms.blackjack.wire import Bet, Err, Mon, Mov, Res, Wire

encode = Wire().encode

PLY, SRD, STP, TRN = b"PLY", b"SRD", b"STP", b"TRN"
HIT, STAND = encode(Mov("H")), encode(Mov("S"))


def bet(coins: int) -> bytes:
    return encode(Bet(coins))


def mon(coins: int) -> bytes:
    return encode(Mon(coins))


def won(coins: int) -> bytes:
    return encode(Res("W", coins))


def lost(coins: int) -> bytes:
    return encode(Res("L", coins))


def err(number: int) -> bytes:
    return encode(Err(number))


def client(*cards: str) -> bytes:
    """CRD frames with cards for the client."""
    return b"".join(encode(CARDS["C"][card]) for card in cards)


def bank(*cards: str) -> bytes:
    """CRD frames with cards for the bank."""
    return b"".join(encode(CARDS["S"][card]) for card in cards)
