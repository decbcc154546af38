"""Test cases: an id, a title and the clause that is tested."""

from collections.abc import Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Final, NamedTuple

MAX_SUGGESTIONS: Final = 8

FEW_TRIES: Final = 20
FEW_TRIES_SECONDS: Final = 1.0
"""This many tries are made even if the seconds of a case are over, unless they take longer than this in all."""


class Retries(NamedTuple):
    """How often a case is tried: at least and at most this often, and no longer than `seconds`.

    The first few tries may take longer: a slow program gets as many of them as a fast one.
    """

    at_least: int = 1
    at_most: int = 1 << 30
    seconds: float = 0.0

    def allow(self, tries: int, seconds: float) -> bool:
        """Whether to try again after this many tries, which took `seconds` in all."""
        if tries < self.at_least:
            return True
        limit = max(self.seconds, FEW_TRIES_SECONDS) if tries < FEW_TRIES else self.seconds
        return tries < self.at_most and seconds < limit


NO_RETRIES: Final = Retries(at_most=1)


@dataclass(frozen=True, kw_only=True)
class Case:
    """A test case of a room, for servers or for clients. The subclasses of each role add how the case is run.

    `id` is `ROOM/SECTION/SLUG` (`kuhn/4.3/check-bet-fold-p1`); it is unique in its role and never changes. `title` is a
    sentence for people. `clause` is the clause under test (`kuhn-4.3`); the section of the id is its number. Cases with
    a lower `rank` run first: simple ones before those that many faults break. `retries` says how often a case is tried
    until it has come up `hits` times; once is enough to pass. A case that runs `beside` others spends its time waiting.
    """

    id: str
    title: str
    clause: str
    rank: int = 0
    hits: int = 1
    retries: Retries = NO_RETRIES
    beside: bool = False

    @property
    def room(self) -> str:
        """The name of the room."""
        return self.id.split("/")[0]

    @property
    def section(self) -> str:
        """The number of the clause: `4.3`."""
        return self.id.split("/")[1]

    def is_within(self, selection: str) -> bool:
        """Whether a selection contains the case: `kuhn`, `kuhn/4`, `kuhn/4.3`, or the whole id."""
        room, _, rest = selection.partition("/")
        section, _, slug = rest.partition("/")
        if slug:
            return self.id == selection
        return room == self.room and (not section or f"{self.section}.".startswith(f"{section}."))


def select[C: Case](cases: Sequence[C], selection: str) -> tuple[C, ...]:
    """Return the cases within a selection, in order. Raises ValueError with similar names if there are none."""
    found = tuple(case for case in cases if case.is_within(selection))
    if not found:
        names = {*(case.room for case in cases), *(f"{case.room}/{case.section}" for case in cases)}
        names |= {case.id for case in cases}
        suggestions = get_close_matches(selection, sorted(names), MAX_SUGGESTIONS, 0.5) or sorted(
            {case.room for case in cases}
        )
        raise ValueError(f"found {selection!r}; allowed: ROOM[/SECTION[/CASE]], as in {', '.join(suggestions)}")
    return found


def make_case_id(room: str, clause: str, slug: str) -> str:
    """Return the id of a case that tests a clause.

    Example:
        >>> make_case_id("kuhn", "kuhn-4.3", "check-bet")
        'kuhn/4.3/check-bet'
    """
    return f"{room}/{clause.removeprefix(f'{room}-')}/{slug}"
