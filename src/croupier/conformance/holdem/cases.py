"""Cases for servers of hold'em: from papers that any server can be asked, and from what no paper shows."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from functools import cache, partial
from typing import Final, NamedTuple

from croupier.conformance.case import Case, clause_id
from croupier.conformance.holdem.context import Visit
from croupier.conformance.holdem.replay import first_to_join, papers, perform
from croupier.core.transcript import Transcript
from croupier.rooms.holdem.wire import Dialect

ROOM: Final = "holdem"

SET: Final = frozenset(
    {"seats", "stack", "blinds", "ante", "straddle", "games", "games_per_user", "listed", "empty_seconds"}
)
"""What the head of a paper sets that a stranger's server is not."""

LUCK: Final = frozenset({
    "a-flush-beats-a-straight", "a-hand-from-deal-to-showdown", "a-kicker-decides", "a-pot-is-shared",
    "a-straight-from-the-ace", "an-all-in-is-run-out", "an-uncalled-bet-is-given-back", "broke", "broke-and-back",
    "hspe-go-last-winners", "hspe-go-last-winners-who-share", "hspe-go-no-last-winners", "the-board-wins",
    "all-in-on-the-flop", "the-end-of-a-hand",
})  # fmt: skip
"""Papers whose end hangs on their cards; walks show the same with any."""

NEW: Final = frozenset({
    "a-game-from-the-start", "a-game-nobody-has-joined-stays", "hspe-go-a-game-from-the-start",
    "leaving-while-nothing-is-played", "no-turn-in-the-pause", "pages-of-games", "ten-seats",
    "the-end-of-a-hand-without-showdown",
    "the-only-game-stays",
})  # fmt: skip
"""Papers about a server on which nothing else is, or that pauses between hands."""

OPEN: Final = frozenset({
    "games-in-the-order-of-making", "looking-with-wrong-credentials", "names-that-are-none",
    "one-guid-everywhere", "coming-back", "first-come-has-the-button", "names-of-another-case",
    "names-that-look-alike",
})  # fmt: skip
"""Papers about what only rulings say, although their clauses have sections of the document."""


README: Final = frozenset({
    "a-name-that-exists", "clauses-of-refusals", "credentials-are-missing", "credentials-are-unreadable",
    "credentials-before-form", "head", "joining-in-mid-hand", "json-is-told-as-json", "looking-with-wrong-credentials",
    "names-of-all-kinds", "names-of-another-case", "names-that-look-alike",
    "nobody-sees-the-cards-of-others", "problems", "who-has-left-sees-nothing",
})  # fmt: skip
"""Papers about what section 7 has in another way."""


class Deed(NamedTuple):
    """What happens in a case that is written by hand; `more` are clauses that it is about, too."""

    clause: str
    slug: str
    title: str
    play: Callable[[Visit], Awaitable[None]]
    more: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class ServerCase(Case):
    """A case for servers: `play` is a visit in which it shows whether the clauses in `own` are kept.

    `open` says that what departs is a choice. With a `dialect` it is only for servers that are said to speak that.
    `patience` is how many seconds it has to take, because time has to pass. A case that is `walked` tells what came up
    about its clause while whole games were played, see `walks`; one that is `counted` speaks of amounts of chips.
    One for an `empty` game needs one at which nobody sits, and not only one that he who joins first can make.
    """

    play: Callable[[Visit], Awaitable[None]]
    own: tuple[str, ...]
    open: bool = False
    dialect: Dialect | None = None
    patience: float = 0.0
    walked: bool = False
    counted: bool = False
    empty: bool = False


def timeless(paper: Transcript) -> bool:
    """Whether every request is answered before the next, and no time passes."""
    return "".join(line.kind for line in paper.lines) == "><" * (len(paper.lines) // 2)


@cache
def from_papers() -> tuple[ServerCase, ...]:
    """The cases from papers."""
    return tuple(
        ServerCase(
            id=clause_id(ROOM, paper.clauses[0], name),
            title=paper.title,
            clause=paper.clauses[0],
            play=partial(perform, paper),
            own=paper.clauses,
            open=name in OPEN,
            empty=not first_to_join(paper),
            counted=any('"wealth"' in line.text or '"betAmount"' in line.text for line in paper.lines),
            dialect=_dialect(paper),
        )
        for name, paper in papers().items()
        if not paper.head.keys() & SET and name not in LUCK | NEW and timeless(paper)
    )


def _dialect(paper: Transcript) -> Dialect | None:
    """The dialect of servers that can be asked a paper; None where any can."""
    if paper.head.get("dialect") == "hspe-go":
        return "hspe-go"
    return "readme" if paper.name in README else None
