"""Blackjack: a client against the bank; the total nearer to 21 wins, and a total over 21 loses.

The client starts a round with PLY, receives its balance and bets. It is dealt two cards and the bank one, all face up.
Then it hits, stands, or surrenders half of its bet. A hit to exactly 21 wins at once, and a hit over 21 loses at once.
When the client stands, the bank draws to 17 or more and stands on every 17. The higher total wins; a tie is won by the
client, except at 21, where the bank wins. Every win pays 1:1, also 21 in two cards. There are no splits and no doubles.
"""

from dataclasses import dataclass

from croupier.core.bank import BankState, client_cards, possible_nets
from croupier.core.deal_record import recompute_nets
from croupier.core.dealer import Dealer
from croupier.core.private_table import Purse
from croupier.core.room import HouseRoom, TableFactory
from croupier.core.session import Peer, Timeouts
from croupier.rooms.blackjack.bots import BOT_SPECS
from croupier.rooms.blackjack.house import House
from croupier.rooms.blackjack.player import Options, Player
from croupier.rooms.blackjack.referee import Referee
from croupier.rooms.blackjack.rules import (
    BLACKJACK,
    CLIENT_SURRENDERED,
    HIT,
    MAX_BET,
    MAX_INT32,
    PACK,
    STAND,
    SURRENDER,
    Blackjack,
    check_decks,
)
from croupier.rooms.blackjack.wire import GOODBYE, VOCABULARY, Dialect, TenSpelling, Wire

__all__ = ["ROOM", "Options", "Player", "Referee", "Settings"]


@dataclass(frozen=True)
class Settings:
    """The settings of a blackjack house.

    Example:
        >>> settings = Settings(decks=6)
        >>> settings.decks, settings.money
        (6, 1000)
    """

    money: int = 1000
    """The coins in the purse of every new connection."""

    decks: int = 1
    """The number of decks shuffled together for each round, 1 to 8."""

    ten: TenSpelling = "T"
    """How the rank 10 is written on the wire: T, X, 10 (the number) or digits (two in one character)."""

    dialect: Dialect = "document"
    """The size of characters on the wire; char8: one byte."""


def table_factory(settings: Settings, timeouts: Timeouts, strict: bool) -> TableFactory:  # noqa: ARG001 -- this house is equally tolerant in both modes
    """Return a factory of private tables. Raises ValueError for settings out of range or in conflict."""
    if not 0 <= settings.money <= MAX_INT32:
        raise ValueError(f"found {settings.money} coins; allowed: 0 to {MAX_INT32}")
    if settings.ten == "digits" and settings.dialect == "char8":
        raise ValueError("found the ten as digits in characters of one byte; allowed: T, X, 10")
    rules = Blackjack(check_decks(settings.decks))
    rules.start()  # now, because building the automaton at the first bet would delay all tables

    def new_table(peer: Peer, dealer: Dealer, purse: Purse | None = None) -> House:
        return House(peer, dealer, timeouts, rules, purse or Purse(settings.money))

    return new_table


def commands_given(state: BankState) -> tuple[str, ...]:
    """The bet and the client's moves, for the deal record."""
    commands = [f"BET {state.bet}", *[HIT] * (len(client_cards(state)) - 2)]
    if state.bank_card_count > 1:
        commands.append(STAND)
    elif state.node is CLIENT_SURRENDERED:
        commands.append(SURRENDER)
    return tuple(commands)


def make_codec(strict: bool, config: Settings | Options | None) -> Wire:
    """The codec for the settings of a house or the options of a client; None for the defaults."""
    match config:
        case Settings(dialect=dialect, ten=ten):
            return Wire(strict=strict, dialect=dialect, ten=ten)
        case Options(dialect=dialect):
            return Wire(strict=strict, dialect=dialect)
    return Wire(strict=strict)


def make_referee(own: Settings | Options | None, strict: bool, reply_timeout: float = 5.0) -> Referee:
    """The referee for the settings of a house or the options of a client; only the house knows the initial purse."""
    match own:
        case Settings(decks=decks, money=money):
            return Referee(decks, money, strict=strict, reply_timeout=reply_timeout)
        case Options(decks=decks):
            return Referee(decks, strict=strict, reply_timeout=reply_timeout)
    return Referee(strict=strict, reply_timeout=reply_timeout)


ROOM = HouseRoom(
    name="blackjack",
    title="Blackjack",
    port=1214,
    answer_pattern=rb"(MON|ERR\x00|STP|TRN|(CRD|RES)[\x00CSWL])",
    probe=b"STPSTPSTPSTP\n",  # a goodbye; other rooms read at least four bytes
    rules=BLACKJACK,
    pack=PACK,
    sample_messages=VOCABULARY,
    patterns={"card": rb"\x00[A2-9TJQK]\x00[HDSC]"},
    refusal_messages=GOODBYE,
    final_messages=GOODBYE,
    codec=make_codec,
    settings=Settings,
    house=table_factory,
    initial_purse=lambda settings: settings.money,
    max_purse=MAX_BET,
    dealt_cards=lambda state: state.cards,
    net_check=recompute_nets(lambda cards, commands, _: possible_nets(BLACKJACK.start_node, cards, commands)),
    commands=commands_given,
    options=Options,
    player=Player,
    referee=make_referee,
    bots=BOT_SPECS,
    default_bot="exact",
    extras={
        "solve": "croupier.rooms.blackjack.solution:solve",
        "presenter": "croupier.rooms.blackjack.presenter:BlackjackPresenter",
        "arena": "croupier.arena.bank:BlackjackGame",
        "server_tests": "croupier.conformance.servers.blackjack:SUITE",
        "client_tests": "croupier.conformance.clients.blackjack:SUITE",
    },
    deck_count=lambda settings: settings.decks,
)
