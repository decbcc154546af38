"""Server cases, and those of them that are transcripts which can be replayed on any server.

The head of a transcript says what it takes to replay it: `needs: luck` (its end depends on the cards) or `needs: a
fresh server`; `dialect`, if it is about one only; `free: yes` if rulings of the project alone decide it, so that a
failure is a choice; `button: any` if the first button does not matter.
"""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from functools import cache, partial
from typing import Final

from croupier.conformance.case import Case, Retries
from croupier.conformance.holdem.context import HoldemContext
from croupier.conformance.holdem.deviations import ADDITION_CLAUSE_PREFIX
from croupier.conformance.holdem.replay import first_to_join, replay
from croupier.conformance.resources import transcripts
from croupier.core.transcript import Transcript

ROOM: Final = "holdem"

FIRST_RANK: Final = -1
EMPTY_GAME_RANK: Final = 0
REQUEST_RANK: Final = 1
VARIATION_RANK: Final = 2
WALK_RANK: Final = 3
DEAL_RANK: Final = 4
"""The order of the cases: before anybody plays, those that need an empty game, as long as there is one, plain requests,
requests of other forms, random hands, and what is counted over all of these, or uses the empty game up."""

SHARING_RANKS: Final = frozenset({REQUEST_RANK, VARIATION_RANK})
"""The ranks of cases that have games of their own."""

VARIATION_CLAUSES: Final = frozenset({"holdem-1.3", "holdem-1.6", "holdem-1.7", "holdem-1.8"})
"""The clauses about the form of requests and refusals: what is wrong with plain requests shows there, too."""

RETRIES: Final = Retries(at_most=2, seconds=30.0)
"""A case that did not come up is tried once more."""

CONFIGURED_HEAD_KEYS: Final = frozenset(
    {"seats", "stack", "blinds", "ante", "straddle", "games", "games_per_user", "listed", "empty_seconds"}
)
"""Head keys of transcripts that configure the server, which cannot be done with a server under test."""


type Play = Callable[[HoldemContext], Awaitable[None]]
"""Plays a case, and records deviations in the context."""


@dataclass(frozen=True, kw_only=True)
class HoldemServerCase(Case):
    """A case for servers: `play` records deviations, of which those from `clauses` count: its own, and further ones.

    Without `play` the result comes from walks (see `walks`), and if it `judges_deals` from all cards in them.
    `needs_luck`: only a server that deals the deck of the case can be tested.
    """

    play: Play | None = None
    further_clauses: tuple[str, ...] = ()
    judges_deals: bool = False
    needs_luck: bool = False

    @property
    def runs_alone(self) -> bool:
        """See `Case.runs_alone`: it needs the empty game, counts games, or asks for what has changed at the server."""
        return self.rank not in SHARING_RANKS or self.clause.startswith(ADDITION_CLAUSE_PREFIX)

    @property
    def clauses(self) -> tuple[str, ...]:
        """The clauses that the case judges, the one that it is about first."""
        return self.clause, *self.further_clauses


def _rank_of(transcript: Transcript) -> int:
    """Return the rank of a transcript. Players who join an empty game may leave none behind: they come last."""
    needs_empty_game = not first_to_join(transcript)
    if needs_empty_game and any(line.text.startswith("POST /games/$game/players") for line in transcript.lines):
        return DEAL_RANK
    if transcript.clauses[0] in VARIATION_CLAUSES:
        return VARIATION_RANK
    return EMPTY_GAME_RANK if needs_empty_game else REQUEST_RANK


def is_sequential(transcript: Transcript) -> bool:
    """Whether each request is answered before the next one, and no time passes."""
    return "".join(line.kind for line in transcript.lines) == "><" * (len(transcript.lines) // 2)


@cache
def transcript_cases() -> tuple[HoldemServerCase, ...]:
    """Return the cases made from transcripts."""
    return tuple(
        HoldemServerCase(
            clause=transcript.clauses[0],
            slug=transcript.name,
            title=transcript.title,
            play=partial(replay, transcript),
            further_clauses=transcript.clauses[1:],
            failure_is_choice=transcript.head.get("free") == "yes",
            rank=_rank_of(transcript),
            retries=RETRIES,
            needs_luck=transcript.head.get("needs") == "luck",
            dialect=transcript.head.get("dialect", ""),
        )
        for transcript in transcripts(ROOM)
        if not transcript.head.keys() & CONFIGURED_HEAD_KEYS
        and transcript.head.get("needs") in {None, "luck"}
        and is_sequential(transcript)
    )
