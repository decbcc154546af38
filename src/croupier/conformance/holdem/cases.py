"""Server cases from transcripts that can be replayed on any server, and the types of handwritten ones."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from functools import cache, partial
from typing import Final, NamedTuple

from croupier.conformance.case import Case, Retries, make_case_id
from croupier.conformance.holdem.context import HoldemContext
from croupier.conformance.holdem.replay import first_to_join, replay, transcripts_by_name
from croupier.core.transcript import Transcript
from croupier.rooms.holdem.wire import Dialect

ROOM: Final = "holdem"

EMPTY_GAME_RANK: Final = 0
REQUEST_RANK: Final = 1
WALK_RANK: Final = 2
"""The order of the cases: those that need an empty game first, as long as there is one, and random hands last."""

RETRIES: Final = Retries(at_most=2, seconds=30.0)
"""A case that did not come up is tried once more."""

CONFIGURED_HEAD_KEYS: Final = frozenset(
    {"seats", "stack", "blinds", "ante", "straddle", "games", "games_per_user", "listed", "empty_seconds"}
)
"""Head keys of transcripts that configure the server, which cannot be done with a server under test."""

CARD_DEPENDENT_TRANSCRIPTS: Final = frozenset({
    "a-flush-beats-a-straight", "a-hand-from-deal-to-showdown", "a-kicker-decides", "a-pot-is-shared",
    "a-straight-from-the-ace", "an-all-in-is-run-out", "an-uncalled-bet-is-given-back", "broke", "broke-and-back",
    "hspe-go-last-winners", "hspe-go-last-winners-who-share", "hspe-go-no-last-winners", "the-board-wins",
    "all-in-on-the-flop", "the-end-of-a-hand",
})  # fmt: skip
"""Transcripts whose end depends on the cards; walks cover their clauses with any cards."""

FRESH_SERVER_TRANSCRIPTS: Final = frozenset({
    "a-game-from-the-start", "a-game-nobody-has-joined-stays", "hspe-go-a-game-from-the-start",
    "leaving-while-nothing-is-played", "no-turn-in-the-pause", "pages-of-games", "ten-seats",
    "the-end-of-a-hand-without-showdown",
    "the-only-game-stays",
})  # fmt: skip
"""Transcripts that need a server without other games, or one that pauses between hands."""

RULING_ONLY_TRANSCRIPTS: Final = frozenset({
    "games-in-the-order-of-making", "looking-with-wrong-credentials", "names-that-are-none",
    "one-guid-everywhere", "coming-back", "first-come-has-the-button", "names-of-another-case",
    "names-that-look-alike",
})  # fmt: skip
"""Transcripts about what only rulings decide, although their clauses cite sections of the document."""


README_ONLY_TRANSCRIPTS: Final = frozenset({
    "a-name-that-exists", "clauses-of-refusals", "credentials-are-missing", "credentials-are-unreadable",
    "credentials-before-form", "head", "joining-in-mid-hand", "json-is-told-as-json", "looking-with-wrong-credentials",
    "names-of-all-kinds", "names-of-another-case", "names-that-look-alike",
    "nobody-sees-the-cards-of-others", "problems", "who-has-left-sees-nothing",
})  # fmt: skip
"""Transcripts about what section 7 (dialect hspe-go) defines differently."""


class CaseSpec(NamedTuple):
    """A handwritten case; `more_clauses` are further clauses that it judges."""

    clause: str
    slug: str
    title: str
    play: Callable[[HoldemContext], Awaitable[None]]
    more_clauses: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class HoldemServerCase(Case):
    """A case for servers: `play` records deviations, of which those from `clauses` count.

    `failure_is_choice`: a failure is an implementation choice. `dialect`: the case is only for servers of this dialect.
    `is_from_walks`: the result comes from walks (see `walks`).
    `needs_usual_stakes`: the case depends on amounts of chips.
    """

    play: Callable[[HoldemContext], Awaitable[None]]
    clauses: tuple[str, ...]
    failure_is_choice: bool = False
    dialect: Dialect | None = None
    is_from_walks: bool = False
    needs_usual_stakes: bool = False


def is_sequential(transcript: Transcript) -> bool:
    """Whether each request is answered before the next one, and no time passes."""
    return "".join(line.kind for line in transcript.lines) == "><" * (len(transcript.lines) // 2)


@cache
def transcript_cases() -> tuple[HoldemServerCase, ...]:
    """Return the cases made from transcripts."""
    return tuple(
        HoldemServerCase(
            id=make_case_id(ROOM, transcript.clauses[0], name),
            title=transcript.title,
            clause=transcript.clauses[0],
            play=partial(replay, transcript),
            clauses=transcript.clauses,
            failure_is_choice=name in RULING_ONLY_TRANSCRIPTS,
            rank=REQUEST_RANK if first_to_join(transcript) else EMPTY_GAME_RANK,
            retries=RETRIES,
            needs_usual_stakes=any('"wealth"' in line.text or '"betAmount"' in line.text for line in transcript.lines),
            dialect=_required_dialect(transcript),
        )
        for name, transcript in transcripts_by_name().items()
        if not transcript.head.keys() & CONFIGURED_HEAD_KEYS
        and name not in CARD_DEPENDENT_TRANSCRIPTS | FRESH_SERVER_TRANSCRIPTS
        and is_sequential(transcript)
    )


def _required_dialect(transcript: Transcript) -> Dialect | None:
    """Return the dialect that a transcript needs, None if any will do."""
    if transcript.head.get("dialect") == "hspe-go":
        return "hspe-go"
    return "readme" if transcript.name in README_ONLY_TRANSCRIPTS else None
