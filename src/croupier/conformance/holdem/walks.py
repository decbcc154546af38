"""Walks: users play whole games by legal and illegal acts, come and go, and a referee follows every hand."""

import asyncio
from bisect import bisect_left
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from contextlib import suppress
from itertools import groupby
from random import Random
from time import monotonic
from typing import Any, Final

from msgspec.json import encode

from croupier.conformance.holdem.context import NOBODY, Visit
from croupier.conformance.holdem.endpoint import Server
from croupier.conformance.holdem.requests import Answer
from croupier.conformance.holdem.shrink import Trace, shorter
from croupier.conformance.holdem.steps import Step, amount, chosen
from croupier.conformance.holdem.tolerated import Broken, Unshown
from croupier.conformance.results import Outcome
from croupier.core.errors import Violation
from croupier.rooms.holdem.engine.legal import Legal
from croupier.rooms.holdem.referee import Referee
from croupier.rooms.holdem.wire import BET, Game

WALKED: Final[Mapping[str, str]] = {
    "holdem-2.2": "Every user is told a GUID",
    "holdem-3.5": "Who joins plays from the beginning of the next hand",
    "holdem-3.10": "Who leaves is no more at the table",
    "holdem-3.11": "What somebody has bet who leaves stays in the pots",
    "holdem-3.13": "Who is broke leaves the game",
    "holdem-4.1": "Every valid act is accepted",
    "holdem-4.4": "An act that is none changes nothing",
    "holdem-4.5": "A bet adds what it says",
    "holdem-4.6": "Everybody may fold in his turn",
    "holdem-4.7": "Every invalid bet folds the hand",
    "holdem-4.8": "No bet is below nothing",
    "holdem-4.9": "No bet is above the wealth",
    "holdem-4.10": "No bet is below the call",
    "holdem-4.11": "No raise is below the smallest",
    "holdem-4.13": "Nobody acts out of turn",
    "holdem-5.3": "A Game has its keys and types in all games",
    "holdem-5.4": "Every card is written as it should be",
    "holdem-5.5": "The cards of every street are there in time",
    "holdem-5.6": "Nobody is shown what is not his",
    "holdem-5.7": "A Player has its keys and types in all games",
    "holdem-5.8": "The table lists those who play",
    "holdem-5.9": "Every state is what it should be",
    "holdem-5.10": "Every turn tells what has to be matched",
    "holdem-5.11": "Every turn tells when it ends",
    "holdem-5.13": "Every pot names who has paid into it",
    "holdem-5.14": "Who has folded is still named in the pots",
    "holdem-5.15": "There are as many pots as are needed",
    "holdem-5.17": "No chip is made or lost",
    "holdem-6.1": "No card is dealt twice",
    "holdem-6.2": "The button moves on",
    "holdem-6.3": "Both blinds are posted in every hand",
    "holdem-6.4": "Of two, the button acts first before the flop and last after it",
    "holdem-6.5": "The board grows and never changes",
    "holdem-6.6": "The first to act is the right one",
    "holdem-6.7": "A round is over when all have acted and bet the same",
    "holdem-6.8": "The smallest raise is that of the last full one",
    "holdem-6.12": "Side pots are what they should be",
    "holdem-6.13": "Who is left alone wins everything",
    "holdem-6.14": "The best hand wins",
    "holdem-6.15": "Equal hands share",
}
"""The clauses that walks speak about, and a title for each."""

FOUND: Final = frozenset(
    {"holdem-2.2", "holdem-3.10", "holdem-5.3", "holdem-5.4", "holdem-5.5", "holdem-5.7", "holdem-5.11", "holdem-4.4"}
)
"""Clauses about form: every look judges them."""

WALKS: Final = (2, 2, 3, 3, 4, 5, 6, 2, 3, 4)
"""How many users play in each walk."""

ACTS: Final = 45
"""So many acts are tried in a walk."""

SECONDS: Final = 8.0
"""After so many seconds no further walk is begun: a slow server is walked less."""

MOMENT: Final = 2.0
ALL: Final = 10.0
"""A walk is made shorter for so many seconds; all of them, for so many."""

PAUSE: Final = 0.05
PAUSES: Final = 60
"""Between hands a server may pause: it is looked so often, so many seconds apart."""

ROLES: Final = ("ann", "bob", "cid", "dan", "eve", "fay")


class Walks:
    """All walks of a run; they are walked, one after another, until there is something to tell about a clause."""

    def __init__(self, server: Server, luck: Random, timeout: float) -> None:
        self._server = server
        self._luck = luck
        self._timeout = timeout
        self._left = iter(WALKS)
        self._seconds = SECONDS
        self._shortening = ALL
        self._found: defaultdict[str, list[Trace]] = defaultdict(list)
        self._short: dict[tuple[str, Outcome], Trace] = {}  # what was found while others were made shorter
        self._judged: Counter[str] = Counter()
        self._why = "it has not come up in any hand"

    async def found(self, clause: str) -> tuple[Sequence[Trace], str]:
        """What departed from a clause in the first walk in which anything did, or why nothing is known of it."""
        while not self._found[clause] and self._seconds > 0:
            players = next(self._left, 0)
            if not players:
                break
            began = monotonic()
            await self._walk(players)
            self._seconds -= monotonic() - began
        found = self._found[clause]
        return found, "" if self._judged[clause] else self._why

    async def shortened(self, found: Trace) -> Trace:
        """The same departure behind as few steps as can be found in a while; of all walks, that takes a few moments."""
        began = monotonic()
        known = self._short.get((found.departure.clause, found.departure.outcome), found)
        best = await shorter(known, self._again, min(MOMENT, self._shortening))
        self._shortening -= monotonic() - began
        return best

    async def _walk(self, players: int) -> None:
        """One walk, and what came of it."""
        walk = Walk(Visit(self._server), Random(self._luck.random()), players)  # noqa: S311 -- it has to be repeatable
        why = await self._walked(walk)
        if walk.visit.overtaken:
            self._why = "its answers take so long that turns may have ended by themselves"
            return
        self._why = why or self._why
        self._judged.update(walk.judged())
        for clause, traces in groupby(sorted(walk.traces(), key=_clause), _clause):
            self._found[clause] = self._found[clause] or [*traces]

    async def _again(self, players: int, steps: Sequence[Step]) -> Sequence[Trace]:
        """What departs in a game of so many that takes these steps."""
        walk = Walk(Visit(self._server), Random(0), players, steps)  # noqa: S311 -- nothing is left to it
        await self._walked(walk)
        traces = () if walk.visit.overtaken else walk.traces()
        for trace in traces:  # what shows another fault as well need not be looked for again
            key = trace.departure.clause, trace.departure.outcome
            if key not in self._short or len(trace.steps) < len(self._short[key].steps):
                self._short[key] = trace
        return traces

    async def _walked(self, walk: "Walk") -> str:
        """Walk; why that was not possible, if it was not."""
        try:
            async with asyncio.timeout(max(1.0, self._timeout)):
                await walk.walk()
        except Unshown as unshown:
            return str(unshown)
        except (Broken, TimeoutError, OSError):
            pass
        finally:
            with suppress(Broken, OSError):
                await walk.visit.close()
        return ""


class Walk:
    """One walk of so many users at a game of their own: at random, or by a script of steps."""

    def __init__(self, visit: Visit, luck: Random, players: int, script: Sequence[Step] | None = None) -> None:
        self.visit = visit
        self.steps: list[Step] = []
        self.begun: list[int] = []  # how many lines there were before each step
        self._script = script
        self._luck = luck
        self._roles = ROLES[:players]
        self._referee = Referee(visit.server.blinds, visit.server.stack)
        self._game = ""
        self._hands = 0

    def judged(self) -> Counter[str]:
        """How often each clause was looked at."""
        looks = Counter(dict.fromkeys(FOUND, 1)) if self._referee.hands else Counter()
        return self._referee.judged + looks

    def traces(self) -> Sequence[Trace]:
        """What has departed, and behind which steps."""
        lines, players = self.visit.lines, len(self._roles)
        return [
            Trace(one, lines[: one.lines], players, self.steps[: bisect_left(self.begun, one.lines)])
            for one in self.visit.departures
        ]

    async def walk(self) -> None:
        """Play until enough has been tried, or something is wrong by which the hand cannot be followed."""
        visit = self.visit
        await visit.enrol(*self._roles)
        self._game = await visit.seat(*self._roles[:2])
        for role in self._roles[:2]:
            self._referee.joined(visit.player(role, self._game))
        await self._look()
        for role in self._roles[2:]:
            await self._join(role)
        for number in range(ACTS if self._script is None else len(self._script)):
            if self._referee.lost or not await self._ready():
                return
            self.steps.append(self._chosen() if self._script is None else self._script[number])
            self.begun.append(len(visit.lines))
            await self._do(self.steps[-1])
        if self._script is not None and not self._referee.lost and await self._ready():
            for role in self._seated():
                await self._look(role)

    # Looking.

    async def _look(self, role: str = NOBODY) -> Game:
        visit = self.visit
        game = await visit.sees(role, self._game)
        viewer = "" if role == NOBODY else visit.player(role, self._game)
        for violation in self._referee.saw(game, viewer):
            self._tell(violation)
        return game

    def _tell(self, violation: Violation) -> None:
        outcome = None
        if (violation.clause, violation.found.partition(" ")[0]) == ("holdem-5.15", "an") or (
            violation.clause == "holdem-5.8" and violation.found.endswith("at the table")
        ):
            outcome = Outcome.CHOICE
        self.visit.departs(violation.clause, violation.allowed, violation.found, outcome)

    async def _ready(self) -> bool:
        """Wait until it is somebody's turn. Everybody looks at his cards when a hand has begun."""
        for _ in range(PAUSES):
            if self._referee.turn():  # it has been looked at behind whatever was done last
                break
            shown = await self._look()
            if self._referee.lost:
                return False
            if self._referee.turn():
                break
            if not shown.turn.player_id and len(shown.table) < 2:
                await self._fill()
            if not self._referee.turn():
                await asyncio.sleep(PAUSE)
        else:
            self._tell(Violation("holdem-6.1", "no hand", "one: more than two players sit at the table"))
            return False
        if self._hands != self._referee.hands:
            self._hands = self._referee.hands
            await self._fill()
            for role in self._seated():
                await self._look(role)
        return not self._referee.lost

    async def _fill(self) -> None:
        """Who is not at the table any more comes back."""
        sits = {place.role for place in self.visit.places if place.game == self._game}
        shown = await self.visit.sees(NOBODY, self._game)
        running = self._referee.running
        known = {one.player_id for one in shown.table} | ({*running.players} if running is not None else set())
        for role in self._roles:
            if role in sits and self.visit.player(role, self._game) not in known and not self._waits(role):
                self.visit.places = [
                    place for place in self.visit.places if (place.role, place.game) != (role, self._game)
                ]
                sits.discard(role)
            if role not in sits:
                await self._join(role)

    def _waits(self, role: str) -> bool:
        """Whether somebody sits, and waits for the next hand."""
        return self.visit.player(role, self._game) in self._referee.sitting

    def _seated(self) -> Sequence[str]:
        running = self._referee.running
        players = () if running is None else running.players
        return [role for role in self._roles if self.visit.player(role, self._game) in players]

    # Doing.

    async def _join(self, role: str) -> None:
        visit = self.visit
        answer = await visit.ask(role, "POST", f"/games/{self._game}/players/")
        visit.joined(answer)
        self._referee.joined(visit.player(role, self._game))
        await self._look()

    def _whose(self) -> tuple[Legal, int]:
        """What the one whose turn it is may do, and how many chips he has."""
        running = self._referee.running
        assert running is not None, "a turn in no hand"
        return running.hand.legal, running.hand.stacks[running.players.index(self._referee.turn())]

    def _sitting(self) -> Sequence[str]:
        """Who sits, from the one whose turn it is."""
        player = self._referee.turn()
        mine = next(role for role in self._roles if self.visit.player(role, self._game) == player)
        return [mine, *(role for role in self._roles if role != mine and self._sits(role))]

    def _chosen(self) -> Step:
        return chosen(self._luck, *self._whose(), len(self._sitting()))

    async def _do(self, step: Step) -> None:
        sitting = self._sitting()
        role = sitting[step.who % len(sitting)]
        match step.kind:
            case "garbage":
                await self._garbage(role, step.body)
            case "leave":
                await self._leave(role)
            case "act":
                await self._act(role, step.action, amount(step.chips, *self._whose()), looks=step.looks)

    def _sits(self, role: str) -> bool:
        return any(place.role == role and place.game == self._game for place in self.visit.places)

    async def _act(self, role: str, action: int, chips: int, *, looks: bool) -> None:
        visit = self.visit
        player = visit.player(role, self._game)
        answer = await visit.act(role, self._game, encode(_told(action, chips)))
        for violation in self._referee.acted(player, action, chips, answer.status):
            self._tell(violation)
        self._status(answer)
        await self._look()
        if looks:
            await self._look(role)

    def _status(self, answer: Answer) -> None:
        """An act that was done is 201; a refusal inside is nobody's fault but the server's."""
        if 200 <= answer.status < 300 and answer.status != 201:
            self.visit.departs("holdem-4.1", "status 201", answer.text, got=answer.shown())

    async def _garbage(self, role: str, body: bytes) -> None:
        visit = self.visit
        answer = await visit.act(role, self._game, body)
        if 200 <= answer.status < 300 or answer.status >= 500:
            visit.departs("holdem-4.4", "status 400", answer.text, Outcome.FAIL, got=answer.shown())
            raise Broken
        await self._look()

    async def _leave(self, role: str) -> None:
        visit = self.visit
        place = next(place for place in visit.places if (place.role, place.game) == (role, self._game))
        answer = await visit.leave(place)
        visit.succeeded(answer, "holdem-3.10", 200)
        self._referee.left(place.player)
        await self._look()


def _clause(trace: Trace) -> str:
    return trace.departure.clause


def _told(action: int, chips: int) -> Mapping[str, Any]:
    return {"action": action, "betAmount": chips} if action == BET else {"action": action}
