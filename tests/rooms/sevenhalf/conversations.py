"""Conversations as a referee sees them: who said what, from the first STRT on."""

from collections.abc import Sequence
from typing import Any

from croupier.core.referee import CLIENT, HOUSE, Verdict
from croupier.core.session import Left, Received, TimedOut
from croupier.rooms.sevenhalf.referee import Referee
from croupier.rooms.sevenhalf.wire import BSTG, CARD, DRAW, PASS, STRT, Ante, Bksc, Erro, Gain, Stbt

type Turn = tuple[int, Any]

SPEAKERS = {STRT: CLIENT, DRAW: CLIENT, PASS: CLIENT}


def talk(*said: Any) -> list[Turn]:
    """Commands and ANTEs are the client's, everything else is the house's; (side, message) is whose it says."""
    return [
        turn if isinstance(turn, tuple) else (CLIENT if turn in SPEAKERS or isinstance(turn, Ante) else HOUSE, turn)
        for turn in said
    ]


def card(name: str) -> Any:
    return CARD[name]


def bksc(cards: str, score: str) -> Bksc:
    return Bksc(tuple(cards.split()), score)


HAND = (STRT, Stbt(100), DRAW, card("5o"))
"""The client has 5 and may do what it likes."""

WINS = bksc("4c 4e", "08.0")
"""The bank is over: the client is paid its bet."""

BUST = (STRT, Stbt(100), DRAW, card("7o"), DRAW, card("7c"), BSTG, bksc("rb", "00.5"), Gain(-100))

GONE = "the house hangs up"
SILENT = "nothing is said any more"
BYE = "the client hangs up"


def judged(*said: Any, referee: Referee | None = None, **how: bool) -> list[Verdict]:
    """The verdicts on a conversation; three of its lines are deeds."""
    referee = referee or Referee(**how)
    found: list[Verdict] = []
    for turn in said:
        match turn:
            case "the house hangs up":
                found += referee.on(Left(HOUSE), 0.0)
            case "the client hangs up":
                found += referee.on(Left(CLIENT), 0.0)
            case "nothing is said any more":
                if referee.deadline is not None:
                    found += referee.on(TimedOut(), referee.deadline)
            case _:
                ((side, message),) = talk(turn)
                found += referee.on(Received(side, message), 0.0)
    return found


def clauses(verdicts: Sequence[Verdict], side: int = HOUSE) -> list[str]:
    return [verdict.violation.clause for verdict in verdicts if verdict.end == side]


__all__ = ["BSTG", "BUST", "BYE", "DRAW", "GONE", "HAND", "PASS", "SILENT", "STRT", "WINS"]
__all__ += ["Ante", "Bksc", "Erro", "Gain", "Stbt", "bksc", "card", "clauses", "judged", "talk"]
