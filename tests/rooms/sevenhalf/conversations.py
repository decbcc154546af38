"""Conversations as sequences of messages with their senders, for referee tests."""

from collections.abc import Sequence
from typing import Any

from croupier.core.referee import CLIENT, HOUSE, OTHER_END, Disconnected, Sent, Verdict
from croupier.core.session import TimedOut
from croupier.rooms.sevenhalf.referee import Referee
from croupier.rooms.sevenhalf.wire import BSTG, CARD, DRAW, PASS, STRT, Ante, Bksc, Erro, Gain, Stbt

type Turn = tuple[int, Any]

SPEAKERS = {STRT: CLIENT, DRAW: CLIENT, PASS: CLIENT}


def exchange(*sent: Any) -> list[Turn]:
    """Attribute messages: commands and ANTEs to the client, others to the house; (side, message) is explicit."""
    return [
        turn if isinstance(turn, tuple) else (CLIENT if turn in SPEAKERS or isinstance(turn, Ante) else HOUSE, turn)
        for turn in sent
    ]


def card(name: str) -> Any:
    return CARD[name]


def bksc(cards: str, score: str) -> Bksc:
    return Bksc(tuple(cards.split()), score)


HAND = (STRT, Stbt(100), DRAW, card("5o"))
"""The client has 5 and may draw, raise or pass."""

WINS = bksc("4c 4e", "08.0")
"""The bank is over 7½: the client wins its bet."""

BUST = (STRT, Stbt(100), DRAW, card("7o"), DRAW, card("7c"), BSTG, bksc("rb", "00.5"), Gain(-100))

GONE = "the house hangs up"
SILENT = "nothing is sent any more"
BYE = "the client hangs up"


def verdicts_on(*sent: Any, referee: Referee | None = None, **how: bool) -> list[Verdict]:
    """The verdicts on a conversation; three of the turns are events, not messages."""
    referee = referee or Referee(**how)
    found: list[Verdict] = []
    for turn in sent:
        match turn:
            case "the house hangs up":
                found += referee.on(Disconnected(HOUSE, CLIENT), 0.0)
            case "the client hangs up":
                found += referee.on(Disconnected(CLIENT, HOUSE), 0.0)
            case "nothing is sent any more":
                if referee.deadline is not None:
                    found += referee.on(TimedOut(), referee.deadline)
            case _:
                ((side, message),) = exchange(turn)
                found += referee.on(Sent(side, OTHER_END[side], message), 0.0)
    return found


def clauses(verdicts: Sequence[Verdict], side: int = HOUSE) -> list[str]:
    return [verdict.violation.clause for verdict in verdicts if verdict.party == side]


__all__ = ["BSTG", "BUST", "BYE", "DRAW", "GONE", "HAND", "PASS", "SILENT", "STRT", "WINS"]
__all__ += ["Ante", "Bksc", "Erro", "Gain", "Stbt", "bksc", "card", "clauses", "exchange", "verdicts_on"]
