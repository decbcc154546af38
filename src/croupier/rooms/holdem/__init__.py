"""The no-limit Texas hold'em room, served over HTTP.

Two to ten players sit at a table. Two of them post blinds and each player is dealt two hole cards. In four betting
rounds, separated by the flop, the turn and the river, players fold, check, call or raise by any amount up to their
stack. At the showdown the best five of a player's seven cards count.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

from croupier.core import deal_record
from croupier.core.room import Room
from croupier.rooms.holdem.bots import BOT_SPECS
from croupier.rooms.holdem.cards import CARDS, PACK
from croupier.rooms.holdem.engine.hand import Hand
from croupier.rooms.holdem.engine.stakes import Stakes
from croupier.rooms.holdem.player import Options
from croupier.rooms.holdem.settings import Settings

if TYPE_CHECKING:  # the command line needs no table
    from croupier.rooms.holdem.table.finished_hands import FinishedHand

__all__ = ["ROOM", "Hand", "Options", "Settings", "Stakes"]


def dealt_cards(played: "FinishedHand") -> Sequence[str]:
    """Return the names of the dealt cards of a hand, in the order of the deal."""
    return [CARDS[card] for entry in played.hand.log if entry[0] == "deal" for card in entry[2]]


def is_balanced(hand: deal_record.DealtHand) -> bool:
    """Check that the net results of a hand add up to 0. Raises ValueError if they do not."""
    if type(hand.net) is not tuple or sum(hand.net) != 0:
        raise ValueError(f"found the nets {hand.net}; allowed: those that add up to 0")
    return True


NETS: Final = deal_record.NetCheck("add up to 0, and more the record does not show", is_balanced)

ROOM = Room(
    name="holdem",
    title="No-limit hold'em",
    port=8080,
    answer_pattern=rb"HTTP/1\.[01] ",
    probe=b"GET /games/ HTTP/1.1\r\nHost: croupier\r\nConnection: close\r\n\r\n",
    pack=PACK,
    settings=Settings,
    options=Options,
    dealt_cards=dealt_cards,
    net_check=NETS,
    bots=BOT_SPECS,
    default_bot="equity",
    extras={
        "arena": "croupier.arena.holdem:HoldemGame",
        "presenter": "croupier.rooms.holdem.presenter:HoldemPresenter",
        "server_tests": "croupier.conformance.holdem.suites:SERVERS",
        "client_tests": "croupier.conformance.holdem.suites:BOTS",
    },
)
