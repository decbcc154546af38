"""Walks: users play whole games by legal and illegal acts, come and go, and a referee follows every hand."""

import asyncio
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from contextlib import suppress
from random import Random
from time import monotonic
from typing import Any, Final

from msgspec.json import encode

from croupier.conform.holdem.calls import Answer
from croupier.conform.holdem.departures import Broken, Departure, Unshown
from croupier.conform.holdem.visit import NOBODY, Server, Visit
from croupier.conform.results import Outcome
from croupier.core.errors import Violation
from croupier.rooms.holdem.legal import Legal
from croupier.rooms.holdem.referee import Referee
from croupier.rooms.holdem.wire import BET, FOLD, Game

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

LOOKS: Final = 0.3
"""After so many of his acts somebody looks at his own cards, too."""

PAUSE: Final = 0.05
PAUSES: Final = 60
"""Between hands a server may pause: it is looked so often, so many seconds apart."""

ROLES: Final = ("ann", "bob", "cid", "dan", "eve", "fay")

GARBAGE: Final = (
    b"",
    b"{",
    b"[]",
    b"fold",
    b'{"action": 7}',
    b'{"betAmount": 20}',
    b'{"action": "1", "betAmount": 20}',
)
"""Acts of wrong form."""


class Walks:
    """All walks of a run; they are walked, one after another, until there is something to tell about a clause."""

    def __init__(self, server: Server, luck: Random, timeout: float) -> None:
        self._server = server
        self._luck = luck
        self._timeout = timeout
        self._left = iter(WALKS)
        self._seconds = SECONDS
        self._found: defaultdict[str, list[tuple[Visit, Departure]]] = defaultdict(list)
        self._judged: Counter[str] = Counter()
        self._why = "it has not come up in any hand"

    async def found(self, clause: str) -> tuple[Visit, Sequence[Departure], str]:
        """What was found about a clause: the visit in which it showed first, what departed, or why nothing is known."""
        while not self._found[clause] and self._seconds > 0:
            players = next(self._left, 0)
            if not players:
                break
            began = monotonic()
            await self._walk(players)
            self._seconds -= monotonic() - began
        found = self._found[clause]
        visit = found[0][0] if found else Visit(self._server)
        return visit, [one for other, one in found if other is visit], "" if self._judged[clause] else self._why

    async def _walk(self, players: int) -> None:
        """One walk, and what came of it."""
        visit = Visit(self._server)
        walk = Walk(visit, Random(self._luck.random()), players)  # noqa: S311 -- it has to be repeatable
        try:
            async with asyncio.timeout(max(1.0, self._timeout)):
                await walk.walk()
        except Unshown as unshown:
            self._why = str(unshown)
        except (Broken, TimeoutError, OSError):
            pass
        self._judged.update(walk.judged())
        for departure in visit.departures:
            self._found[departure.clause].append((visit, departure))
        with suppress(Broken, OSError):
            await visit.close()


class Walk:
    """One walk of so many users at a game of their own."""

    def __init__(self, visit: Visit, luck: Random, players: int) -> None:
        self._visit = visit
        self._luck = luck
        self._roles = ROLES[:players]
        self._referee = Referee(visit.server.blinds, visit.server.stack)
        self._game = ""
        self._hands = 0

    def judged(self) -> Counter[str]:
        """How often each clause was looked at."""
        looks = Counter(dict.fromkeys(FOUND, 1)) if self._referee.hands else Counter()
        return self._referee.judged + looks

    async def walk(self) -> None:
        """Play until enough has been tried, or something is wrong by which the hand cannot be followed."""
        visit = self._visit
        await visit.enrol(*self._roles)
        self._game = await visit.seat(*self._roles[:2])
        for role in self._roles[:2]:
            self._referee.joined(visit.player(role, self._game))
        await self._look()
        for role in self._roles[2:]:
            await self._join(role)
        for _ in range(ACTS):
            if self._referee.lost or not await self._ready():
                return
            await self._do()

    # Looking.

    async def _look(self, role: str = NOBODY) -> Game:
        visit = self._visit
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
        self._visit.departs(violation.clause, violation.allowed, violation.found, outcome)

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
            else:
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
        sits = {place.role for place in self._visit.places if place.game == self._game}
        shown = await self._visit.sees(NOBODY, self._game)
        running = self._referee.running
        known = {one.player_id for one in shown.table} | ({*running.players} if running is not None else set())
        for role in self._roles:
            if role in sits and self._visit.player(role, self._game) not in known and not self._waits(role):
                self._visit.places = [
                    place for place in self._visit.places if (place.role, place.game) != (role, self._game)
                ]
                sits.discard(role)
            if role not in sits:
                await self._join(role)

    def _waits(self, role: str) -> bool:
        """Whether somebody sits, and waits for the next hand."""
        return self._visit.player(role, self._game) in self._referee.sitting

    def _seated(self) -> Sequence[str]:
        running = self._referee.running
        players = () if running is None else running.players
        return [role for role in self._roles if self._visit.player(role, self._game) in players]

    # Doing.

    async def _join(self, role: str) -> None:
        visit = self._visit
        answer = await visit.ask(role, "POST", f"/games/{self._game}/players/")
        visit.joined(answer)
        self._referee.joined(visit.player(role, self._game))
        await self._look()

    async def _do(self) -> None:
        luck, referee = self._luck, self._referee
        running = referee.running
        assert running is not None, "a turn in no hand"
        player = referee.turn()
        role = next(role for role in self._roles if self._visit.player(role, self._game) == player)
        others = [other for other in self._roles if other != role and self._sits(other)]
        chance = luck.random()
        if chance < 0.08 and others:
            await self._act(
                luck.choice(others), *luck.choice(((FOLD, 0), (BET, 0), (BET, 20), (BET, 10_000), (BET, -1)))
            )
        elif chance < 0.12:
            await self._garbage(role)
        elif chance < 0.15 and len(self._roles) > 2:
            await self._leave(luck.choice([role, *others]))
        elif chance < 0.22:
            chips = _invalid(luck, running.hand.legal, running.hand.stacks[running.players.index(player)])
            await self._act(role, BET, chips)
        else:
            await self._act(role, *_valid(luck, running.hand.legal))

    def _sits(self, role: str) -> bool:
        return any(place.role == role and place.game == self._game for place in self._visit.places)

    async def _act(self, role: str, action: int, chips: int) -> None:
        visit = self._visit
        player = visit.player(role, self._game)
        answer = await visit.act(role, self._game, encode(_told(action, chips)))
        for violation in self._referee.acted(player, action, chips, answer.status):
            self._tell(violation)
        self._status(answer)
        await self._look()
        if self._luck.random() < LOOKS:
            await self._look(role)

    def _status(self, answer: Answer) -> None:
        """An act that was done is 201; a refusal inside is nobody's fault but the server's."""
        if 200 <= answer.status < 300 and answer.status != 201:
            self._visit.departs("holdem-4.1", "status 201", answer.text, got=answer.shown())

    async def _garbage(self, role: str) -> None:
        visit = self._visit
        answer = await visit.act(role, self._game, self._luck.choice(GARBAGE))
        if 200 <= answer.status < 300 or answer.status >= 500:
            visit.departs("holdem-4.4", "status 400", answer.text, Outcome.FAIL, got=answer.shown())
            raise Broken
        await self._look()

    async def _leave(self, role: str) -> None:
        visit = self._visit
        place = next(place for place in visit.places if (place.role, place.game) == (role, self._game))
        answer = await visit.leave(place)
        visit.succeeded(answer, "holdem-3.10", 200)
        self._referee.left(place.player)
        await self._look()


def _told(action: int, chips: int) -> Mapping[str, Any]:
    return {"action": action, "betAmount": chips} if action == BET else {"action": action}


def _valid(luck: Random, legal: Legal) -> tuple[int, int]:
    """A valid act; the hand goes on more often than not."""
    chance = luck.random()
    if legal.bounds is not None and chance < 0.30:
        low, high = legal.bounds
        pot = legal.share() or low
        return BET, luck.choice((low, low, pot, min(high, luck.randint(low, min(high, 40 * low))), high))
    if chance > 0.90:
        return FOLD, 0
    return BET, legal.call


def _invalid(luck: Random, legal: Legal, stack: int) -> int:
    """An invalid bet, of any kind that there is now."""
    found = [-1, -20, stack + 1, 10**30]
    if 0 < legal.owed <= stack:
        found += [legal.owed - 1] * 2
    if 1 < legal.owed <= stack:
        found += [0, 1]
    if legal.bounds is not None and legal.bounds[0] < stack and legal.bounds[0] - 1 > legal.call:
        found += [legal.bounds[0] - 1, legal.call + 1] * 2
    if legal.bounds is None and stack > legal.owed:
        found += [legal.owed + 1, stack] * 3
    return luck.choice([chips for chips in found if chips not in legal])
