"""Old Maid cases, and the lists to which the modules of cases add them."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from croupier.conformance.case import Case, make_case_id

if TYPE_CHECKING:
    from croupier.conformance.oldmaid.player_context import PlayerContext
    from croupier.conformance.oldmaid.table_context import TableContext

type Play[C] = Callable[[C], Awaitable[None]]
"""What a case does in its context. Raises Failed, or another outcome, unless the case passes."""

type TableCase = OldMaidCase[TableContext]
type PlayerCase = OldMaidCase[PlayerContext]


@dataclass(frozen=True, kw_only=True)
class OldMaidCase[C](Case):
    """A case for a table or a player. `failure_is_choice`: only rulings of the project decide it.

    `needs_whole_lobby`: no other case may have players that wait at the table meanwhile, until the case releases it.
    """

    play: Play[C]
    failure_is_choice: bool = False
    needs_whole_lobby: bool = False


class CaseList[C]:
    """The cases of a module, in order. `rank` is their usual one; `holds_lobby`: each of them needs the whole lobby."""

    def __init__(self, *, rank: int = 0, holds_lobby: bool = False) -> None:
        self.all: list[OldMaidCase[C]] = []
        self._rank = rank
        self._holds_lobby = holds_lobby

    def add(self, clause: str, slug: str, title: str, **options: Any) -> Callable[[Play[C]], Play[C]]:
        """Return a decorator that adds a case with what it plays; `clause` is a number such as `4.3`.

        `options` are further fields of the case.
        """
        fields = {"rank": self._rank, "needs_whole_lobby": self._holds_lobby} | options
        case_id = make_case_id("oldmaid", clause, slug)

        def decorate(play: Play[C]) -> Play[C]:
            self.all.append(OldMaidCase(id=case_id, title=title, clause=f"oldmaid-{clause}", play=play, **fields))
            return play

        return decorate
