"""Old Maid: a table that deals 53 cards to two to eight players, who offer their hands to each other directly.

The players draw in turn until the deck is empty and discard pairs: two cards of the same value, both black or both red.
Then the player with the last card offers its hand to its left neighbour, who picks a card, discards the pair that it
makes, if any, and offers in turn. A player without cards is out. The last player holds the joker, the old maid, and has
lost.
"""

from collections.abc import Sequence
from typing import Final

from croupier.core import deal_record
from croupier.core.errors import Violation
from croupier.core.room import Room
from croupier.rooms.oldmaid.bots import BOT_SPECS
from croupier.rooms.oldmaid.cards import CARD_NAMES, PACK
from croupier.rooms.oldmaid.player import Options
from croupier.rooms.oldmaid.settings import Settings
from croupier.rooms.oldmaid.table.game import TableGame
from croupier.rooms.oldmaid.wire import Reply, Wire, refusal

__all__ = ["ROOM", "TABLE_FULL", "Options", "Settings", "TableGame"]

TABLE_FULL: Final[Reply] = refusal(
    Violation("oldmaid-1.8", "one connection more than there may be", "to come again later")
)
"""The message to a client that connects while the table is full."""


def dealt_cards(game: TableGame) -> Sequence[str]:
    """The names of a game's cards, in the order in which they were dealt."""
    return [CARD_NAMES[card] for card in game.dealt_cards]


def check_one_loser(hand: deal_record.DealtHand) -> bool:
    """Check that a hand has at most one loser. Raises ValueError if it does not."""
    if type(hand.net) is not tuple or sorted(hand.net)[1:] != [0] * (len(hand.net) - 1) or min(hand.net) not in (-1, 0):
        raise ValueError(f"found the nets {hand.net}; allowed: -1 for one player at most, and 0 for the others")
    return True


NETS: Final = deal_record.NetCheck("have one loser at most, and more the record does not show", check_one_loser)

ROOM = Room(
    name="oldmaid",
    title="Old Maid",
    is_proper_name=True,
    port=9898,
    answer_pattern=rb"\s*\{",
    probe=b'{"command": "status"}\n',
    pack=PACK,
    settings=Settings,
    options=Options,
    dealt_cards=dealt_cards,
    message_formatter=lambda settings: Wire("table", dialect=settings.dialect).to_text,
    net_check=NETS,
    bots=BOT_SPECS,
    default_bot="random",
    extras={
        "solve": "croupier.rooms.oldmaid.odds.solution:solve",
        "presenter": "croupier.rooms.oldmaid.presenter:OldMaidPresenter",
        "server_tests": "croupier.conformance.oldmaid.suites:TABLES",
        "client_tests": "croupier.conformance.oldmaid.suites:PLAYERS",
    },
)
