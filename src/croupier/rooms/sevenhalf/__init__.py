"""Seven and a half: a client draws Spanish cards towards 7½ and not over it, and then the bank tries to do better.

The client asks for a game with STRT, is told the starting bet, and draws. With a card in hand it may raise the bet,
which obliges it to draw, draw on, or pass. The bank then draws until it has more than the client, or exactly 7½, or too
much. A client over 7½ loses its bet whatever the bank has; exactly 7½ wins it twice.
"""

from dataclasses import dataclass
from typing import Literal

from croupier.core.bank import BankState, possible_nets
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
    client_cards,
    total,
)
from croupier.rooms.sevenhalf.wire import (
    CLOSING,
    FULL,
    NO_COINS,
    TIMED_OUT,
    VOCABULARY,
    Ante,
    Bksc,
    Bstg,
    Card,
    Draw,
    Erro,
    Gain,
    Pass,
    Stbt,
    Strt,
    Wire,
)

__all__ = [
    "ROOM",
    "Ante",
    "Bksc",
    "Bstg",
    "Card",
    "Draw",
    "Erro",
    "Gain",
    "Options",
    "Pass",
    "Player",
    "Referee",
    "Settings",
    "Stbt",
    "Strt",
]


@dataclass(frozen=True)
class Settings:
    """What can be set about the house of seven and a half."""

    bet: int = 100
    """The starting bet, in coins."""

    max_bet: int = MAX_TOTAL_BET
    """The largest total bet; an ANTE beyond it is refused."""

    coins: int = 1000
    """With --accounts: the coins of a client that comes for the first time."""

    once: bool = False
    """Close every connection after its first game, as some houses do."""

    dialect: Literal["document", "lenient"] = "document"
    """What the house accepts: lenient takes commands in places where known clients send them."""


def table_factory(settings: Settings, patience: Timeouts, strict: bool) -> TableFactory:
    """Tables of this house. Raises ValueError on bets that cannot be."""
    if not 1 <= settings.max_bet <= MAX_TOTAL_BET:
        raise ValueError(f"found the largest bet {settings.max_bet}; allowed: 1 to {MAX_TOTAL_BET}")
    if not 1 <= settings.bet <= settings.max_bet:
        raise ValueError(f"found the starting bet {settings.bet}; allowed: 1 to {settings.max_bet}")
    lenient = settings.dialect == "lenient"
    if settings.coins < 0:
        raise ValueError(f"found {settings.coins} coins; allowed: 0 or more")
    rules = SevenHalf(settings.max_bet, lenient=lenient)
    bet, once = settings.bet, settings.once

    def seat(peer: Peer, dealer: Dealer, purse: Purse | None = None) -> House:
        purse = purse or Purse(UNLIMITED_COINS)
        return House(peer, dealer, patience, purse, rules, bet=bet, lenient=lenient, once=once, strict=strict)

    return seat


def commands_given(state: BankState) -> tuple[str, ...]:
    """What was bet in all, and the client's other commands."""
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
    dealt_cards=lambda state: state.cards,
    net_check=recompute_nets(lambda cards, done, _: possible_nets(LENIENT_RULES.start_node, cards, done)),
    commands=commands_given,
    options=Options,
    player=lambda options, strict, patience=30.0: Player(options, strict=strict, patience=patience),
    referee=lambda own, strict, patience=5.0: Referee(
        lenient=own is not None and own.dialect == "lenient", strict=strict, patience=patience
    ),
    bots=BOT_SPECS,
    default_bot="exact",
    extras={
        "solve": "croupier.rooms.sevenhalf.solution:solve",
        "scene": "croupier.tui.sevenhalf:SevenHalfScene",
        "server_tests": "croupier.conformance.servers.sevenhalf:TEST_DATA",
        "client_tests": "croupier.conformance.clients.sevenhalf:TEST_DATA",
    },
)
