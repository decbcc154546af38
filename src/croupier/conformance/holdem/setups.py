"""The scenes into which a bot is brought: who else sits at the table, what is played for, and what goes wrong."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from croupier.conformance.case import Case, clause_id
from croupier.conformance.holdem.delivery import (
    PLAIN,
    Manner,
    Trouble,
    backwards,
    dressed,
    escaped,
    example,
    more,
    pretty,
    same,
)

ROOM: Final = "holdem"

ACT: Final = 6
LOOK: Final = 2
LIST: Final = 1
JOIN: Final = 3
"""How many segments the paths of acts, of a game, of all games, and of joining have."""


@dataclass(frozen=True)
class Scene:
    """A table for one bot. `opponents` are the ways in which the others play, in the order of their seats.

    `late` is after how many seconds they come: 0 before the bot. `hands` is how many have to be over that the bot has
    played. `excused` are clauses that it may well break here. `enrolled` and `seated`: the bot is a user, or a player,
    already. `crowded`: there are other games, and the first of them is full. It is over when the bot
    is broke, too. `queued`: it shows something only to a bot that waits for a seat.
    """

    opponents: Sequence[str] = ("calls",)
    settings: Mapping[str, Any] = field(default_factory=dict)
    late: float = 0.0
    hands: int = 3
    manner: Manner = PLAIN
    trouble: Sequence[Trouble] = ()
    dress: Callable[[bytes], bytes] | None = None
    enrolled: bool = False
    seated: bool = False
    crowded: bool = False
    queued: bool = False
    excused: Sequence[str] = ()


@dataclass(frozen=True, kw_only=True)
class ClientCase(Case):
    """A case for bots: a scene in which it has to play on. `open`: what it does when it does not, is its choice."""

    scene: Scene
    open: bool = False


SHORT: Final = {"stack": 100}

AGAIN: Final = ("holdem-3.7",)

LOST_ACT: Final = Trouble("POST", ACT, None, done=True)
LOST_SEAT: Final = Trouble("POST", JOIN, None, done=True)
"""What has been done although nobody was told."""

SCENES: Final[Sequence[tuple[str, str, str, Scene]]] = (
    ("4.1", "against-one-who-calls", "It plays against one who always calls", Scene()),
    ("4.1", "against-two", "It plays against two", Scene(("calls", "calls"))),
    ("4.1", "against-five", "It plays against five", Scene(("calls", "folds", "raises", "calls", "folds"))),
    ("3.1", "against-nine", "It plays at a full table", Scene(("calls",) * 9, hands=2)),
    ("4.5", "against-one-who-gambles", "It plays against one who does anything", Scene(("gambles",), hands=4)),
    ("4.5", "against-three-who-gamble", "It plays against three who do anything", Scene(("gambles",) * 3, hands=4)),
    ("4.6", "against-one-who-folds", "It plays against one who folds to every bet", Scene(("folds",))),
    ("6.13", "against-one-who-gives-up", "It wins what nobody else wants", Scene(("gives-up",), hands=4)),
    ("4.9", "against-an-all-in", "It has an answer to an all-in", Scene(("shoves",))),
    ("4.9", "against-two-all-ins", "It has an answer to two all-ins", Scene(("shoves", "shoves"))),
    ("6.12", "beside-side-pots", "It plays on beside side pots", Scene(("shoves", "calls", "gambles"))),
    ("4.11", "against-small-raises", "It has an answer to raises by the least", Scene(("raises",), hands=4)),
    ("4.11", "against-small-raises-of-two", "It has an answer to raises of two", Scene(("raises", "raises"))),
    ("6.8", "against-large-raises", "It has an answer to bets of the pot", Scene(("bets-pots",), hands=4)),
    ("4.9", "few-chips", "It plays with five big blinds", Scene(("calls",), SHORT, hands=4)),
    ("4.9", "few-chips-of-three", "It plays with five big blinds against two", Scene(("gambles",) * 2, SHORT, hands=4)),
    ("6.10", "chips-for-one-blind", "It plays with the big blind and nothing more", Scene(("calls",), {"stack": 20})),
    ("6.10", "chips-for-less", "It plays with less than the big blind", Scene(("calls",), {"stack": 15})),
    ("6.9", "short-all-ins", "It plays where all-ins are short", Scene(("shoves", "raises"), {"stack": 90}, hands=4)),
    ("4.9", "many-chips", "It plays with more chips than 32 bits hold", Scene(("raises",), {"stack": 10**11})),
    ("6.3", "small-blinds", "It plays for blinds of 1 and 2", Scene(("raises",), {"blinds": "1/2"})),
    ("6.3", "large-blinds", "It plays for blinds of 500 and 1000", Scene(("raises",), {"blinds": "500/1000"})),
    ("6.3", "no-small-blind", "It plays where nobody posts a small blind", Scene(("calls",), {"blinds": "0/20"})),
    ("6.17", "an-ante", "It plays where everybody antes", Scene(("calls", "raises"), {"ante": 5})),
    ("6.17", "a-straddle", "It plays where one straddles", Scene(("calls", "raises"), {"straddle": 40})),
    ("5.18", "a-pause", "It waits while the end of a hand is shown", Scene(("calls",), {"pause_seconds": 0.3})),
    ("5.18", "a-pause-of-three", "It waits so among three", Scene(("calls", "folds"), {"pause_seconds": 0.3})),
    ("4.15", "a-slow-opponent", "It waits for one who thinks", Scene(("thinks",), hands=1)),
    ("4.15", "two-slow-opponents", "It waits for two who think", Scene(("thinks", "thinks"), hands=1)),
    ("4.13", "alone-at-first", "It waits while it is alone", Scene(("calls",), late=1.0)),
    ("4.13", "alone-for-long", "It waits while it is alone for longer", Scene(("calls",), late=2.5, hands=1)),
    ("3.6", "in-the-queue", "It waits in the queue", Scene(("leaves", "thinks"), {"seats": 2}, hands=1, queued=True)),
    ("3.5", "in-mid-hand", "It joins while others play", Scene(("thinks", "thinks", "calls"), hands=1)),
    ("3.11", "one-who-leaves", "It plays on when somebody leaves", Scene(("leaves", "calls"))),
    ("3.10", "one-who-comes-and-goes", "It plays on with one who comes and goes", Scene(("comes-and-goes",), hands=3)),
    ("3.10", "two-who-come-and-go", "It plays on with two of them", Scene(("comes-and-goes",) * 2)),
    ("3.13", "an-opponent-is-broke", "It waits when its opponent is broke", Scene(("shoves",), {"stack": 40}, hands=2)),
    ("3.14", "broke", "It asks nothing more when it is broke", Scene(("shoves",), {"stack": 20}, hands=6)),
    ("5.1", "more-than-one-game", "It finds a seat among several games", Scene(("calls",), crowded=True)),
    ("2.6", "its-name-is-there", "It plays with a name that it has made before", Scene(enrolled=True)),
    ("3.7", "it-sits-already", "It plays on where it sits already", Scene(enrolled=True, seated=True, excused=AGAIN)),
    ("1.8", "byte-by-byte", "It reads answers that come byte by byte", Scene(manner=Manner(size=1), hands=1)),
    ("1.8", "in-sevens", "It reads answers that come in pieces", Scene(manner=Manner(size=7), hands=2)),
    ("1.8", "with-pauses", "It reads answers that come slowly", Scene(manner=Manner(size=100, pause=0.02), hands=1)),
    ("1.8", "late", "It waits for answers", Scene(manner=Manner(delay=0.25), hands=1)),
    ("1.1", "chunked", "It reads answers in chunks", Scene(manner=Manner(chunked=True))),
    ("1.1", "closing", "It asks again on a new connection", Scene(manner=Manner(closes=True))),
    ("1.1", "headers-in-capitals", "It reads headers in capital letters", Scene(manner=Manner(shouts=True))),
    ("1.1", "headers-in-small-letters", "It reads headers in small letters", Scene(manner=Manner(mumbles=True))),
    ("1.5", "pretty", "It reads JSON over many lines", Scene(dress=dressed(same, pretty))),
    ("1.5", "escaped", "It reads JSON with escaped letters", Scene(dress=dressed(same, escaped))),
    ("5.3", "backwards", "It reads keys in any order", Scene(dress=dressed(backwards))),
)  # fmt: skip
"""What every bot of the document has to be able to do: the clause, the slug, the title, and the scene."""

OPEN: Final[Sequence[tuple[str, str, str, Scene]]] = (
    ("5.3", "more-keys", "It reads a Game with keys that nobody knows", Scene(dress=dressed(more))),
    ("5.7", "the-slip-of-the-example", "It reads the key of the document's example", Scene(dress=dressed(example))),
    ("3.15", "busy-when-listing", "It comes again when the server is busy", Scene(trouble=(Trouble("GET", LIST),))),
    ("3.15", "busy-when-looking", "It looks again when the server is busy", Scene(trouble=(Trouble("GET", LOOK),))),
    ("3.15", "busy-when-joining", "It joins again when the server is busy", Scene(trouble=(Trouble("POST", JOIN),))),
    ("3.15", "busy-when-acting", "It acts again when the server is busy", Scene(trouble=(Trouble("POST", ACT),))),
    ("3.17", "failed-when-looking", "It looks again behind a fault", Scene(trouble=(Trouble("GET", LOOK, 500),))),
    ("9.10", "too-often", "It looks again when it has looked too often", Scene(trouble=(Trouble("GET", LOOK, 429),))),
    ("3.16", "cut-off-when-looking", "It looks again when it is cut off", Scene(trouble=(Trouble("GET", LOOK, None),))),
    ("3.16", "cut-off-when-acting", "It acts again when it is cut off", Scene(trouble=(Trouble("POST", ACT, None),))),
    ("3.17", "cut-off-behind-an-act", "It finds out what was done", Scene(trouble=(LOST_ACT,))),
    ("3.17", "cut-off-behind-joining", "It finds out that it sits", Scene(trouble=(LOST_SEAT,))),
)  # fmt: skip
"""What the document does not tell: a bot may give up."""


def client_cases(room: Any = None) -> tuple[ClientCase, ...]:  # noqa: ARG001 -- every room is asked so
    """All cases for bots, in the order of their clauses."""
    cases = [_case(*told, open=False) for told in SCENES] + [_case(*told, open=True) for told in OPEN]
    return tuple(sorted(cases, key=lambda case: (*map(int, case.section.split(".")), case.id)))


def _case(number: str, slug: str, title: str, scene: Scene, *, open: bool) -> ClientCase:  # noqa: A002 -- as the field
    clause = f"{ROOM}-{number}"
    return ClientCase(id=clause_id(ROOM, clause, slug), title=title, clause=clause, scene=scene, open=open)
