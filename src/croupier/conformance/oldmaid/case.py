"""Old Maid cases, for tables and for players."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from croupier.conformance.case import Case
from croupier.conformance.channel.delivery import WHOLE, Delivery

if TYPE_CHECKING:
    from croupier.conformance.oldmaid.player_context import PlayerContext
    from croupier.conformance.oldmaid.table_context import TableContext

type Play[C] = Callable[[C], Awaitable[None]]
"""What a case does in its context. Raises Failed, or another outcome, unless the case passes."""

type TableCase = OldMaidCase[TableContext]
type PlayerCase = OldMaidCase[PlayerContext]


@dataclass(frozen=True, kw_only=True)
class OldMaidCase[C](Case):
    """A case for a table or a player.

    `delivery`: how the messages arrive that the case is about. `needs_whole_lobby`: no other case may have players that
    wait at the table meanwhile, until the case releases it.
    """

    play: Play[C]
    delivery: Delivery = WHOLE
    needs_whole_lobby: bool = False
