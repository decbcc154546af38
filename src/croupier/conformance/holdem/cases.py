"""Cases for servers of hold'em: from papers that any server can be asked, and from what no paper shows."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from functools import cache, partial
from typing import Final, NamedTuple

from croupier.conformance.case import Case, make_case_id
from croupier.conformance.holdem.context import HoldemContext
from croupier.conformance.holdem.replay import first_to_join, replay, transcripts_by_name
from croupier.core.transcript import Transcript
from croupier.rooms.holdem.wire import Dialect

ROOM: Final = "holdem"

CONFIGURED_HEAD_KEYS: Final = frozenset(
    {"seats", "stack", "blinds", "ante", "straddle", "games", "games_per_user", "listed", "empty_seconds"}
)
"""What the head of a paper sets that a stranger's server is not."""

CARD_DEPENDENT_TRANSCRIPTS: Final = frozenset({
    "a-flush-beats-a-straight", "a-hand-from-deal-to-showdown", "a-kicker-decides", "a-pot-is-shared",
    "a-straight-from-the-ace", "an-all-in-is-run-out", "an-uncalled-bet-is-given-back", "broke", "broke-and-back",
    "hspe-go-last-winners", "hspe-go-last-winners-who-share", "hspe-go-no-last-winners", "the-board-wins",
    "all-in-on-the-flop", "the-end-of-a-hand",
})  # fmt: skip
"""Papers whose end hangs on their cards; walks show the same with any."""

FRESH_SERVER_TRANSCRIPTS: Final = frozenset({
    "a-game-from-the-start", "a-game-nobody-has-joined-stays", "hspe-go-a-game-from-the-start",
    "leaving-while-nothing-is-played", "no-turn-in-the-pause", "pages-of-games", "ten-seats",
    "the-end-of-a-hand-without-showdown",
    "the-only-game-stays",
})  # fmt: skip
"""Papers about a server on which nothing else is, or that pauses between hands."""

RULING_ONLY_TRANSCRIPTS: Final = frozenset({
    "games-in-the-order-of-making", "looking-with-wrong-credentials", "names-that-are-none",
    "one-guid-everywhere", "coming-back", "first-come-has-the-button", "names-of-another-case",
    "names-that-look-alike",
})  # fmt: skip
"""Papers about what only rulings say, although their clauses have sections of the document."""


README_ONLY_TRANSCRIPTS: Final = frozenset({
    "a-name-that-exists", "clauses-of-refusals", "credentials-are-missing", "credentials-are-unreadable",
    "credentials-before-form", "head", "joining-in-mid-hand", "json-is-told-as-json", "looking-with-wrong-credentials",
    "names-of-all-kinds", "names-of-another-case", "names-that-look-alike",
    "nobody-sees-the-cards-of-others", "problems", "who-has-left-sees-nothing",
})  # fmt: skip
"""Papers about what section 7 has in another way."""


class CaseSpec(NamedTuple):
    """What happens in a case that is written by hand; `more` are clauses that it is about, too."""

    clause: str
    slug: str
    title: str
    play: Callable[[HoldemContext], Awaitable[None]]
    more_clauses: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class HoldemServerCase(Case):
    """A case for servers: `play` is a visit in which it shows whether the clauses in `own` are kept.

    `open` says that what departs is a choice. With a `dialect` it is only for servers that are said to speak that.
    `patience` is how many seconds it has to take, because time has to pass. A case that is `walked` tells what came up
    about its clause while whole games were played, see `walks`; one that is `counted` speaks of amounts of chips.
    One for an `empty` game needs one at which nobody sits, and not only one that he who joins first can make.
    """

    play: Callable[[HoldemContext], Awaitable[None]]
    clauses: tuple[str, ...]
    failure_is_choice: bool = False
    dialect: Dialect | None = None
    wait_seconds: float = 0.0
    is_from_walks: bool = False
    needs_usual_stakes: bool = False
    needs_empty_game: bool = False


def is_sequential(transcript: Transcript) -> bool:
    """Whether every request is answered before the next, and no time passes."""
    return "".join(line.kind for line in transcript.lines) == "><" * (len(transcript.lines) // 2)


@cache
def transcript_cases() -> tuple[HoldemServerCase, ...]:
    """The cases from papers."""
    return tuple(
        HoldemServerCase(
            id=make_case_id(ROOM, paper.clauses[0], name),
            title=paper.title,
            clause=paper.clauses[0],
            play=partial(replay, paper),
            clauses=paper.clauses,
            failure_is_choice=name in RULING_ONLY_TRANSCRIPTS,
            needs_empty_game=not first_to_join(paper),
            needs_usual_stakes=any('"wealth"' in line.text or '"betAmount"' in line.text for line in paper.lines),
            dialect=_required_dialect(paper),
        )
        for name, paper in transcripts_by_name().items()
        if not paper.head.keys() & CONFIGURED_HEAD_KEYS
        and name not in CARD_DEPENDENT_TRANSCRIPTS | FRESH_SERVER_TRANSCRIPTS
        and is_sequential(paper)
    )


def _required_dialect(transcript: Transcript) -> Dialect | None:
    """The dialect of servers that can be asked a paper; None where any can."""
    if transcript.head.get("dialect") == "hspe-go":
        return "hspe-go"
    return "readme" if transcript.name in README_ONLY_TRANSCRIPTS else None
