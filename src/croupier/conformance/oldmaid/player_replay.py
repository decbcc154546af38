"""Player cases from transcripts: the program under test takes the place of our player."""

from collections.abc import Sequence
from functools import partial
from typing import Final

from croupier.conformance.oldmaid.case_list import CaseList, PlayerCase
from croupier.conformance.oldmaid.player_context import PlayerContext
from croupier.conformance.oldmaid.replay import PlayerReplay
from croupier.conformance.oldmaid.replay_lines import is_free, longest_pause, transcript_rank
from croupier.conformance.oldmaid.untestable import UNTESTABLE
from croupier.conformance.resources import transcripts
from croupier.core.transcript import Transcript

LONG_PAUSE_SECONDS: Final = 5.0
"""A transcript with a pause of this length is played beside the others."""


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


def cases() -> Sequence[PlayerCase]:
    """Return the cases from transcripts."""
    found = CaseList[PlayerContext]()
    for transcript in player_transcripts():
        found.add(
            transcript.clauses[0].removeprefix("oldmaid-"),
            transcript.name.removeprefix("player-"),
            transcript.title.removeprefix("player: "),
            rank=transcript_rank(transcript),
            failure_is_choice=is_free(transcript),
            beside=longest_pause(transcript) >= LONG_PAUSE_SECONDS,
        )(partial(_play, transcript))
    return found.all


async def _play(transcript: Transcript, context: PlayerContext) -> None:
    table = await context.endpoints.listen("table")
    async with context.run_program(table) as program:
        replay = PlayerReplay(transcript, context, program)
        await replay.prepare()
        await replay.play()
