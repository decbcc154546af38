"""Kuhn poker: a client against the house, with three cards and at most one bet.

The client chooses a seat with STRT and is dealt a card. P_1 checks or bets. P_2 answers a bet with a call or a fold,
and a check with a check or a bet, which P_1 then calls or folds to. At a showdown the house shows its card and the
higher card wins the pot. In equilibrium P_2 wins 1/18 of a coin per game.
"""

from dataclasses import dataclass

from croupier.core.bots import bot_factory, make_bot
from croupier.core.deal_record import recompute_nets
from croupier.core.dealer import Dealer
from croupier.core.private_table import Purse
from croupier.core.room import HouseRoom, TableFactory
from croupier.core.session import Peer, Timeouts
from croupier.rooms.kuhn.bots import BOT_SPECS
from croupier.rooms.kuhn.house import House
from croupier.rooms.kuhn.player import Options, Player
from croupier.rooms.kuhn.referee import Referee
from croupier.rooms.kuhn.rules import KUHN, PACK, nets
from croupier.rooms.kuhn.wire import DISC, VOCABULARY, Wire

__all__ = ["ROOM", "Options", "Player", "Referee", "Settings"]


@dataclass(frozen=True)
class Settings:
    """The settings of a Kuhn poker house.

    Example:
        >>> settings = Settings(bot="random")
        >>> settings.coins, settings.bot
        (10, 'random')
    """

    coins: int = 10
    """The coins in the purse of every new connection."""

    bot: str = "equilibrium"
    """How the house plays: equilibrium[:ALPHA], random, book[:HABIT], script:ACTION,… or FILE.py:CLASS[:ARGUMENT]"""


def table_factory(settings: Settings, timeouts: Timeouts, strict: bool) -> TableFactory:  # noqa: ARG001 -- this house is equally tolerant in both modes
    """Return a factory of private tables. Raises ValueError for an unknown bot or a negative number of coins."""
    if settings.coins < 0:
        raise ValueError(f"found {settings.coins} coins; allowed: 0 or more")
    new_bot = bot_factory(BOT_SPECS, settings.bot)

    def new_table(peer: Peer, dealer: Dealer, purse: Purse | None = None) -> House:
        return House(peer, dealer, make_bot(new_bot), purse or Purse(settings.coins), timeouts)

    return new_table


ROOM = HouseRoom(
    name="kuhn",
    title="Kuhn poker",
    is_proper_name=True,
    port=1212,
    answer_pattern=rb"(?i)(CARD C_|ACTN |FAIL |DISC)",
    probe=b"ACTN CHK\n",  # refused between games (kuhn-6.2)
    rules=KUHN,
    pack=PACK,
    sample_messages=VOCABULARY,
    patterns={"card": b"C_[JQK]", "action": b"CHK|BET|FLD"},
    refusal_messages=(DISC,),
    final_messages=(DISC,),
    codec=lambda strict, _: Wire(strict=strict),
    settings=Settings,
    house=table_factory,
    initial_purse=lambda settings: settings.coins,
    dealt_cards=lambda state: state.cards,
    net_check=recompute_nets(nets),
    commands=lambda state: state.history,
    options=Options,
    player=Player,
    referee=lambda own, strict, reply_timeout=5.0: Referee(reply_timeout=reply_timeout),  # noqa: ARG005 -- the signature of RefereeFactory
    bots=BOT_SPECS,
    default_bot="equilibrium",
    extras={
        "solve": "croupier.rooms.kuhn.solution:solve",
        "presenter": "croupier.rooms.kuhn.presenter:KuhnPresenter",
        "arena": "croupier.arena.kuhn:KuhnGame",
        "server_tests": "croupier.conformance.servers.kuhn:SUITE",
        "client_tests": "croupier.conformance.clients.kuhn:SUITE",
    },
)
