"""Test cases: the clause that is tested, a name, and a title."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Any, Final, NamedTuple

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

    `clause` is the clause under test (`kuhn-4.3`), and `slug` names the case among those of the clause: their `id` is
    unique in its role and never changes. `title` is a sentence for people. Cases with a lower `rank` run first: simple
    ones before those that many faults break. `retries` says how often a case is tried until it has come up `hits`
    times; once is enough to pass. A case that runs `beside` others spends its time waiting. `failure_is_choice`: the
    document leaves open what it is about, and a failure is an implementation choice. With a `dialect` of the room, the
    case is only for programs that speak it.
    """

    clause: str
    slug: str
    title: str
    rank: int = 0
    hits: int = 1
    retries: Retries = NO_RETRIES
    beside: bool = False
    failure_is_choice: bool = False
    dialect: str = ""

    @property
    def runs_alone(self) -> bool:
        """Whether no other case may run at the same time."""
        return False

    @property
    def id(self) -> str:
        """`ROOM/SECTION/SLUG`: `kuhn/4.3/check-bet-fold-p1`."""
        return f"{self.room}/{self.section}/{self.slug}"

    @property
    def room(self) -> str:
        """The name of the room."""
        return self.clause.partition("-")[0]

    @property
    def section(self) -> str:
        """The number of the clause: `4.3`."""
        return self.clause.partition("-")[2]

    @property
    def clause_number(self) -> tuple[int, ...]:
        """The number of the clause, as a key to sort by: 4.10 comes after 4.3."""
        return tuple(map(int, self.section.split(".")))

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


class CaseList[C: Case](list[C]):
    """The cases of a module that functions play, in order. `new_case` makes one, with the `usual` fields by default."""

    def __init__(self, new_case: Callable[..., C], room: str, **usual: Any) -> None:
        super().__init__()
        self._new_case = new_case
        self._room = room
        self._usual = usual

    def add[P: Callable[..., object]](self, number: str, slug: str, title: str = "", **fields: Any) -> Callable[[P], P]:
        """Return a decorator that adds a case with what it plays; `number` is that of its clause, such as `4.3`.

        The title is by default the docstring of what it plays. `fields` are further fields of the case.
        """

        def decorate(play: P) -> P:
            described = title or (play.__doc__ or "").rstrip(".")
            more = self._usual | fields
            self.append(self._new_case(clause=f"{self._room}-{number}", slug=slug, title=described, play=play, **more))
            return play

        return decorate
