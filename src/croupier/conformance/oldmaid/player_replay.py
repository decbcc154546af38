"""The papers about players as cases: whatever is said to ours there is said to the program under test."""

from collections.abc import Sequence
from typing import Final

from croupier.conformance.case import make_case_id
from croupier.conformance.oldmaid.outcomes import is_ruling_only
from croupier.conformance.oldmaid.player_context import PlayerCase, PlayerContext
from croupier.conformance.oldmaid.replay import PlayerReplay
from croupier.conformance.resources import transcripts
from croupier.core.transcript import Transcript

EXCLUDED_TRANSCRIPTS: Final = frozenset({"player-no-pause"})
"""Papers that show nothing but what ours does."""

CHOICE_TRANSCRIPTS: Final = frozenset(
    {
        *("player-alone-in-the-list", "player-list-of-nine", "player-not-in-the-list", "player-join-refused"),
        *("player-table-gone", "player-table-answers-something-else", "player-table-deals-a-strange-card"),
        *("player-table-unreadable", "player-endless", "player-no-text", "player-mapped-addresses"),
        *("player-nobody-left", "player-neighbour-answers-something-else", "player-draw-refused"),
        *("player-pick-refused", "player-pick-refused-twice", "player-left-gone-with-an-empty-turn"),
        *("player-left-gone-with-a-card", "player-offered-nothing-when-out", "player-pick-clamped"),
        *("player-offered-before-the-list", "player-offer-refused", "player-late-answers"),
    }
)
"""Papers about what the document and its rulings leave open; the rulings of the project decide them."""


def player_transcripts() -> Sequence[Transcript]:
    """The papers about players that a stranger can be asked to keep to."""
    return [
        paper
        for paper in transcripts("oldmaid")
        if paper.head.get("side") == "player"
        and paper.head.get("strict") != "yes"
        and paper.head.get("dialect", "document") == "document"
        and paper.name not in EXCLUDED_TRANSCRIPTS
    ]


def _transcript_case(transcript: Transcript) -> PlayerCase:
    async def play(tried: PlayerContext) -> None:
        table = await tried.endpoints.listen("table")
        async with tried.run_program(table) as program:
            script = PlayerReplay(transcript, tried.endpoints, program, tried.timeout)
            await script.prepare()
            await script.play()

    clause = transcript.clauses[0]
    return PlayerCase(
        id=make_case_id("oldmaid", clause, transcript.name.removeprefix("player-")),
        title=transcript.title.removeprefix("player: "),
        clause=clause,
        play=play,
        failure_is_choice=transcript.name in CHOICE_TRANSCRIPTS or is_ruling_only(clause),
    )


def cases() -> Sequence[PlayerCase]:
    """Every paper."""
    return [_transcript_case(paper) for paper in player_transcripts()]
