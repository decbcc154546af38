"""Player cases from transcripts: the program under test takes the place of our player."""

from collections.abc import Sequence
from typing import Final

from croupier.conformance.case import make_case_id
from croupier.conformance.clauses import find_clause
from croupier.conformance.oldmaid.player_context import PlayerCase, PlayerContext
from croupier.conformance.oldmaid.replay import PlayerReplay
from croupier.conformance.oldmaid.replay_lines import transcript_rank
from croupier.conformance.resources import transcripts
from croupier.core.transcript import Transcript

EXCLUDED_TRANSCRIPTS: Final = frozenset({"player-no-pause"})
"""Transcripts that show only behaviour of our own player."""

CHOICE_TRANSCRIPTS: Final = frozenset(
    {
        *("player-alone-in-the-list", "player-list-of-nine", "player-not-in-the-list", "player-join-refused"),
        *("player-table-gone", "player-table-answers-something-else", "player-table-deals-a-strange-card"),
        *("player-table-unreadable", "player-endless", "player-no-text", "player-mapped-addresses"),
        *("player-nobody-left", "player-neighbour-answers-something-else", "player-draw-refused"),
        *("player-pick-refused", "player-pick-refused-twice", "player-left-gone-with-an-empty-turn"),
        *("player-left-gone-with-a-card", "player-offered-nothing-when-out", "player-pick-clamped"),
        *("player-offered-before-the-list", "player-offer-refused", "player-late-answers"),
        *("player-out-stays", "player-left-gone-with-the-turn"),
    }
)
"""Transcripts about what the document leaves open, and only rulings of the project decide."""


def player_transcripts() -> Sequence[Transcript]:
    """Return the transcripts of the player's side that any player can be tested with."""
    return [
        transcript
        for transcript in transcripts("oldmaid")
        if transcript.head.get("side") == "player"
        and transcript.head.get("strict") != "yes"
        and transcript.head.get("dialect", "document") == "document"
        and transcript.name not in EXCLUDED_TRANSCRIPTS
    ]


def _transcript_case(transcript: Transcript) -> PlayerCase:
    async def play(context: PlayerContext) -> None:
        table = await context.endpoints.listen("table")
        async with context.run_program(table) as program:
            replay = PlayerReplay(transcript, context, program)
            await replay.prepare()
            await replay.play()

    clause = transcript.clauses[0]
    return PlayerCase(
        id=make_case_id("oldmaid", clause, transcript.name.removeprefix("player-")),
        title=transcript.title.removeprefix("player: "),
        clause=clause,
        rank=transcript_rank(transcript),
        play=play,
        failure_is_choice=transcript.name in CHOICE_TRANSCRIPTS or find_clause(clause).is_open,
    )


def cases() -> Sequence[PlayerCase]:
    """Return the cases from transcripts."""
    return [_transcript_case(transcript) for transcript in player_transcripts()]
