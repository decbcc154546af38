"""Seven and a half: the client draws Spanish cards to at most 7½ points, then the bank draws to beat it.

The client starts a game with STRT, receives the starting bet and draws. With a card in hand it may draw again, pass, or
raise the bet, after which it must draw. The bank then draws until it has more points than the client, exactly 7½, or
more than 7½. A client over 7½ loses its bet whatever the bank has; exactly 7½ wins twice the bet.
"""

from dataclasses import dataclass
from typing import Literal

from croupier.core.bank import BankState, client_cards, possible_nets
from croupier.core.deal_record import recompute_nets
from croupier.core.dealer import Dealer
from croupier.core.private_table import Purse
from croupier.core.room import HouseRoom, TableFactory
from croupier.core.session import Peer, Timeouts
from croupier.rooms.sevenhalf.bots import BOT_SPECS
from croupier.rooms.sevenhalf.house import UNLIMITED_COINS, House
from croupier.rooms.sevenhalf.player import Options, Player
from croupier.rooms.sevenhalf.referee import Referee
from croupier.rooms.sevenhalf.rules import (
    LENIENT_RULES,
    MAX_TOTAL_BET,
    PACK,
    SEVENHALF,
    TARGET_HALVES,
    SevenHalf,
    total,
)
from croupier.rooms.sevenhalf.wire import CLOSING, FULL, NO_COINS, TIMED_OUT, VOCABULARY, Wire

__all__ = ["ROOM", "Options", "Player", "Referee", "Settings"]


@dataclass(frozen=True)
class Settings:
    """The settings of a seven-and-a-half house.

    Example:
        >>> settings = Settings(bet=50)
        >>> settings.bet, settings.coins
        (50, 1000)
    """

    bet: int = 100
    """The starting bet, in coins."""

    max_bet: int = MAX_TOTAL_BET
    """The largest total bet; an ANTE beyond it is refused."""

    coins: int = 1000
    """With --accounts: the coins of a new account."""

    once: bool = False
    """Close each connection after its first game, as some houses do."""

    dialect: Literal["document", "lenient"] = "document"
    """What the house accepts; lenient: also commands that known clients send out of place."""


def table_factory(settings: Settings, timeouts: Timeouts, strict: bool) -> TableFactory:
    """Return a factory of private tables. Raises ValueError if a bet or the number of coins is out of range."""
    if not 1 <= settings.max_bet <= MAX_TOTAL_BET:
        raise ValueError(f"found the largest bet {settings.max_bet}; allowed: 1 to {MAX_TOTAL_BET}")
    if not 1 <= settings.bet <= settings.max_bet:
        raise ValueError(f"found the starting bet {settings.bet}; allowed: 1 to {settings.max_bet}")
    lenient = settings.dialect == "lenient"
    if settings.coins < 0:
        raise ValueError(f"found {settings.coins} coins; allowed: 0 or more")
    rules = SevenHalf(settings.max_bet, lenient=lenient)
    rules.start()  # now, because building the automaton at the first game would delay all tables
    bet, once = settings.bet, settings.once

    def new_table(peer: Peer, dealer: Dealer, purse: Purse | None = None) -> House:
        purse = purse or Purse(UNLIMITED_COINS)
        return House(peer, dealer, timeouts, rules, purse, bet=bet, lenient=lenient, once=once, strict=strict)

    return new_table


def commands_given(state: BankState) -> tuple[str, ...]:
    """The total bet and the client's other commands, for the deal record."""
    passed = state.bank_card_count > 0 and total(client_cards(state)) <= TARGET_HALVES
    draws = ["DRAW"] * len(client_cards(state))
    return (f"BET {state.bet}", *draws, *(["PASS"] if passed else []))


ROOM = HouseRoom(
    name="sevenhalf",
    title="Seven and a half",
    port=1213,
    document_port=1212,
    answer_pattern=rb"(?i)(STBT |CARD [1-7SCR][OCEB]|BSTG|BKSC |GAIN |ERRO )",
    probe=b"PASSPASSPASS\n",  # refused between games (sevenhalf-6.1)
    rules=SEVENHALF,
    pack=PACK,
    sample_messages=VOCABULARY,
    patterns={"card": b"[1-7scr][oceb]", "score": rb"\d\d\.\d"},
    refusal_messages=(FULL,),
    final_messages=(TIMED_OUT, CLOSING, FULL, NO_COINS),
    codec=lambda strict, _: Wire(strict=strict),
    settings=Settings,
    house=table_factory,
    initial_purse=lambda settings: settings.coins,
    has_purse=False,  # (sevenhalf-7.6)
    dealt_cards=lambda state: state.cards,
    net_check=recompute_nets(lambda cards, commands, _: possible_nets(LENIENT_RULES.start_node, cards, commands)),
    commands=commands_given,
    options=Options,
    player=Player,
    referee=lambda own, strict, reply_timeout=5.0: Referee(
        lenient=own is not None and own.dialect == "lenient", strict=strict, reply_timeout=reply_timeout
    ),
    bots=BOT_SPECS,
    default_bot="exact",
    extras={
        "solve": "croupier.rooms.sevenhalf.solution:solve",
        "presenter": "croupier.rooms.sevenhalf.presenter:SevenHalfPresenter",
        "arena": "croupier.arena.bank:SevenHalfGame",
        "server_tests": "croupier.conformance.servers.sevenhalf:SUITE",
        "client_tests": "croupier.conformance.clients.sevenhalf:SUITE",
    },
)
