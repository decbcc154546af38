"""The papers about players as cases: whatever is said to ours there is said to the program under test."""

from collections.abc import Sequence
from typing import Final

from croupier.conformance.case import clause_id
from croupier.conformance.oldmaid.context import PlayerCase, Try
from croupier.conformance.oldmaid.findings import silent
from croupier.conformance.oldmaid.replay import Script
from croupier.conformance.resources import transcripts
from croupier.core.transcript import Transcript

UNASKED: Final = frozenset({"player-no-pause"})
"""Papers that show nothing but what ours does."""

FREE: Final = frozenset(
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


def on_paper() -> Sequence[Transcript]:
    """The papers about players that a stranger can be asked to keep to."""
    return [
        paper
        for paper in transcripts("oldmaid")
        if paper.head.get("side") == "player"
        and paper.head.get("strict") != "yes"
        and paper.head.get("dialect", "document") == "document"
        and paper.name not in UNASKED
    ]


def _on_paper(paper: Transcript) -> PlayerCase:
    async def play(tried: Try) -> None:
        table = await tried.harbour.open("table")
        async with tried.running(table) as program:
            script = Script(paper, tried.harbour, program, tried.patience)
            await script.prepare()
            await script.play()

    clause = paper.clauses[0]
    return PlayerCase(
        id=clause_id("oldmaid", clause, paper.name.removeprefix("player-")),
        title=paper.title.removeprefix("player: "),
        clause=clause,
        play=play,
        free=paper.name in FREE or silent(clause),
    )


def cases() -> Sequence[PlayerCase]:
    """Every paper."""
    return [_on_paper(paper) for paper in on_paper()]
