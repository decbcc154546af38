"""Table cases, and the lists to which the modules of cases add them."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from croupier.conformance.case import Case, make_case_id
from croupier.conformance.oldmaid.table_context import TableContext

type Play = Callable[[TableContext], Awaitable[None]]
"""What a case does. Raises Failed, or another outcome, unless the case passes."""


@dataclass(frozen=True, kw_only=True)
class TableCase(Case):
    """A case for a table. `failure_is_choice`: only rulings of the project decide it.

    `needs_whole_lobby`: no other case may have waiting players meanwhile.
    """

    play: Play
    failure_is_choice: bool = False
    needs_whole_lobby: bool = False


class TableCases:
    """The cases of a module, in order. `holds_lobby`: each of them needs the whole lobby."""

    def __init__(self, *, holds_lobby: bool = False) -> None:
        self.all: list[TableCase] = []
        self._holds_lobby = holds_lobby

    def add(
        self,
        clause: str,
        slug: str,
        title: str,
        *,
        rank: int = 0,
        failure_is_choice: bool = False,
        needs_whole_lobby: bool = False,
    ) -> Callable[[Play], Play]:
        """Return a decorator that adds a case with what it plays; `clause` is a number such as `4.3`."""

        def decorate(play: Play) -> Play:
            self.all.append(
                TableCase(
                    id=make_case_id("oldmaid", clause, slug),
                    title=title,
                    clause=f"oldmaid-{clause}",
                    rank=rank,
                    play=play,
                    failure_is_choice=failure_is_choice,
                    needs_whole_lobby=needs_whole_lobby or self._holds_lobby,
                )
            )
            return play

        return decorate
