"""Player cases from transcripts: the program under test takes the place of our player."""

from collections.abc import Sequence

from croupier.conformance.case import make_case_id
from croupier.conformance.oldmaid.player_context import PlayerCase, PlayerContext
from croupier.conformance.oldmaid.replay import PlayerReplay
from croupier.conformance.oldmaid.replay_lines import is_free, transcript_rank
from croupier.conformance.oldmaid.untestable import UNTESTABLE
from croupier.conformance.resources import transcripts
from croupier.core.transcript import Transcript


def player_transcripts() -> Sequence[Transcript]:
    """Return the transcripts of the player's side that any player can be tested with."""
    return [
        transcript
        for transcript in transcripts("oldmaid")
        if transcript.head.get("side") == "player"
        and transcript.head.get("strict") != "yes"
        and transcript.head.get("dialect", "document") == "document"
        and transcript.clauses[0] not in UNTESTABLE
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
        failure_is_choice=is_free(transcript),
    )


def cases() -> Sequence[PlayerCase]:
    """Return the cases from transcripts."""
    return [_transcript_case(transcript) for transcript in player_transcripts()]
