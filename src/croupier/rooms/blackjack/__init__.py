"""Blackjack: a client and the bank, nearer to 21 wins, and over it loses.

The client begins a round with PLY, hears its balance, and bets. It is dealt two cards and the bank one, all of them
open. Then it hits or stands, or surrenders for half of its bet. A hit to 21 wins at once, and a hit over 21 loses at
once. When the client stands the bank draws to 17 or more, and stands on every 17. The higher score wins; a tie is the
client's, except at 21, where it is the bank's. A win pays as much as was bet, also for 21 in two cards; there are no
splits and no doubles.
"""

from dataclasses import dataclass

from croupier.core.bank import State, nets
from croupier.core.deal_record import recomputed
from croupier.core.dealer import Dealer
from croupier.core.private_table import Purse
from croupier.core.room import HouseRoom, Seating
from croupier.core.session import Patience, Peer
from croupier.rooms.blackjack.bots import STYLES
from croupier.rooms.blackjack.house import House
from croupier.rooms.blackjack.player import Options, Player
from croupier.rooms.blackjack.referee import Referee
from croupier.rooms.blackjack.rules import (
    BLACKJACK,
    HIT,
    LARGEST,
    MOST,
    PACK,
    STAND,
    SURRENDER,
    SURRENDERED,
    Blackjack,
    client_cards,
    decks_allowed,
)
from croupier.rooms.blackjack.wire import (
    GOODBYE,
    VOCABULARY,
    Bet,
    Crd,
    Dialect,
    Err,
    Mon,
    Mov,
    Ply,
    Res,
    Srd,
    Stp,
    Ten,
    Trn,
    Wire,
)

__all__ = [
    "ROOM",
    "Bet",
    "Crd",
    "Err",
    "Mon",
    "Mov",
    "Options",
    "Player",
    "Ply",
    "Referee",
    "Res",
    "Settings",
    "Srd",
    "Stp",
    "Trn",
]


@dataclass(frozen=True)
class Settings:
    """What can be set about the house of blackjack."""

    money: int = 1000
    """The coins in the purse of every new connection."""

    decks: int = 1
    """How many decks are shuffled together for every round, 1 to 8."""

    ten: Ten = "T"
    """How the rank 10 is spelt on the wire: T, X, 10 (the number) or digits (two in one character)."""

    dialect: Dialect = "document"
    """The size of characters on the wire; char8: one byte."""


def seating(settings: Settings, patience: Patience, strict: bool) -> Seating:  # noqa: ARG001 -- no tolerance is the house's here
    """Tables of this house. Raises ValueError on settings that make no sense."""
    if not 0 <= settings.money <= LARGEST:
        raise ValueError(f"found {settings.money} coins; allowed: 0 to {LARGEST}")
    if settings.ten == "digits" and settings.dialect == "char8":
        raise ValueError("found the ten as digits in characters of one byte; allowed: T, X, 10")
    rules = Blackjack(decks_allowed(settings.decks))

    def seat(peer: Peer, dealer: Dealer, purse: Purse | None = None) -> House:
        return House(peer, dealer, patience, rules, purse or Purse(settings.money))

    return seat


def done(state: State) -> tuple[str, ...]:
    """What was bet, and what the client has said then."""
    said = [f"BET {state.bet}", *[HIT] * (len(client_cards(state)) - 2)]
    if state.banked > 1:
        said.append(STAND)
    elif state.node is SURRENDERED:
        said.append(SURRENDER)
    return tuple(said)


def codec(strict: bool, end: Settings | Options | None) -> Wire:
    """The codec of one end, by what is set about it."""
    match end:
        case Settings(dialect=dialect, ten=ten):
            return Wire(strict=strict, dialect=dialect, ten=ten)
        case Options(dialect=dialect):
            return Wire(strict=strict, dialect=dialect)
    return Wire(strict=strict)


def referee(own: Settings | Options | None, strict: bool, patience: float = 5.0) -> Referee:
    """The referee of one end; what purses begin with is known to the house alone."""
    match own:
        case Settings(decks=decks, money=money):
            return Referee(decks, money, strict=strict, patience=patience)
        case Options(decks=decks):
            return Referee(decks, strict=strict, patience=patience)
    return Referee(strict=strict, patience=patience)


ROOM = HouseRoom(
    name="blackjack",
    title="Blackjack",
    port=1214,
    answers=rb"(MON|ERR\x00|STP|TRN|(CRD|RES)[\x00CSWL])",
    probe=b"STPSTPSTPSTP\n",  # a goodbye; other rooms read at least four bytes
    rules=BLACKJACK,
    pack=PACK,
    vocabulary=VOCABULARY,
    patterns={"card": rb"\x00[A2-9TJQK]\x00[HDSC]"},
    refusal=GOODBYE,
    goodbyes=GOODBYE,
    codec=codec,
    settings=Settings,
    house=seating,
    purse=lambda settings: settings.money,
    largest_purse=MOST,
    dealt=lambda state: state.cards,
    nets=recomputed(lambda cards, done, _: nets(BLACKJACK.first, cards, done)),
    done=done,
    options=Options,
    player=lambda options, strict, patience=30.0: Player(options, strict=strict, patience=patience),
    referee=referee,
    styles=STYLES,
    style="exact",
    decks=lambda settings: settings.decks,
)
