"""No-limit hold'em: two cards in the hand, five on the board, and any number of chips.

Two to ten sit at a table. Two of them post blinds, everybody is dealt two cards, and in four rounds of betting, between
which the flop, the turn and the river are laid on the board, everybody folds, checks, calls or raises by as much as he
likes. Who is left at the end shows; the best five of seven cards win. The room is asked and told over HTTP.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

from croupier.core import deal_record
from croupier.core.room import Room
from croupier.rooms.holdem.bots import BOT_SPECS
from croupier.rooms.holdem.cards import CARDS, PACK
from croupier.rooms.holdem.engine.hand import Hand
from croupier.rooms.holdem.player import Options
from croupier.rooms.holdem.settings import Settings

if TYPE_CHECKING:  # the command line needs no table
    from croupier.rooms.holdem.table.finished_hands import FinishedHand

__all__ = ["ROOM", "Hand", "Options", "Settings"]


def dealt_cards(played: "FinishedHand") -> Sequence[str]:
    """The cards of a hand, in the order of the deal."""
    return [CARDS[card] for entry in played.hand.log if entry[0] == "deal" for card in entry[2]]


def is_balanced(hand: deal_record.DealtHand) -> bool:
    """Whether the players have won what others have lost. Raises ValueError."""
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
)
