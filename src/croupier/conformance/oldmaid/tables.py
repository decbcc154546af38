"""A table under test: how many it plays with, who waits there for a game, and games that begin."""

import asyncio
from collections.abc import Sequence
from contextlib import nullcontext, suppress
from random import Random
from typing import Final

from croupier.conformance.conversation import Line
from croupier.conformance.oldmaid.answers import Heard
from croupier.conformance.oldmaid.dialect import Spelling
from croupier.conformance.oldmaid.driven_game import Sitting
from croupier.conformance.oldmaid.findings import Broken, Unseen
from croupier.conformance.oldmaid.scripted_player import MOMENT, Guest, Patience
from croupier.core.session import Address
from croupier.rooms.oldmaid.referee import Referee
from croupier.rooms.oldmaid.rules import FEWEST, MOST
from croupier.rooms.oldmaid.wire import Dialect, Join, Reply

PACE: Final = 0.1
"""As long as nobody knows how many the table plays with, it has so many seconds to start a game behind every join."""

GAP: Final = 0.002
"""So many seconds lie between two joins, so that nobody can mistake their order."""

SPARE: Final = 8.0
"""So many seconds games are played again, all in all, to show what is wrong in fewer words."""

TRIES: Final = 3
"""So often it is tried to begin a game in which nobody but us plays."""


class Tables:
    """What is known of the table under test. `players` is how many have to join, None while nobody knows.

    `crowd` is how many have once joined as fast as they could: a game of fewer than that may have begun early because
    its players came too slowly, for a table need not wait for more than two (oldmaid-3.11).

    `barren` tells why no game can be begun there, once it is so. Who holds the `lobby` is alone in waiting for a game.
    What the table says is read by the `spelling`, if there is one. `spare` is the time in seconds that is left to make
    dialogues shorter.
    """

    def __init__(
        self,
        address: Address,
        *,
        dialect: Dialect,
        strict: bool,
        patience: Patience,
        spelling: Spelling | None = None,
    ) -> None:
        self.address = address
        self.dialect: Dialect = dialect
        self.spelling = spelling
        self.strict = strict
        self.patience = patience
        self.players: int | None = None
        self.crowd = 0
        self.barren = ""
        self.spare = SPARE
        self.lobby = asyncio.Lock()

    async def call(self) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        """A connection. Raises ConnectionError."""
        try:
            async with asyncio.timeout(self.patience.longest):
                return await asyncio.open_connection(*self.address)
        except (OSError, TimeoutError) as error:
            raise ConnectionError(f"no table answers at {self.address[0]}:{self.address[1]}: {error}") from error


class Scene:
    """One case at the table: its guests, their games, all that was said, and the luck with which they pick.

    `dialogue` grows with what is said. Nicks are made fresh, so that no case meets another one's.
    """

    def __init__(self, tables: Tables, random: Random, *, alone: bool) -> None:
        """`alone`: the case holds the lobby from its beginning to its end."""
        self.tables = tables
        self.random = random
        self.dialogue: list[Line] = []
        self.guests: list[Guest] = []
        self.sittings: list[Sitting] = []
        self._salt = f"{random.randrange(1 << 24):06x}"
        self._alone = alone
        self._named = 0

    @property
    def players(self) -> int:
        """How many the table plays with."""
        return self.tables.players or FEWEST

    def nick(self) -> str:
        """A fresh nick."""
        self._named += 1
        return f"p{self._named}-{self._salt}"

    async def guest(self, nick: str | None = None) -> Guest:
        """Somebody who has come to the table, and has not joined."""
        tables = self.tables
        ends = await tables.call()
        guest = Guest(
            nick or self.nick(), ends, self.dialogue, tables.patience, tables.dialect, spelling=tables.spelling
        )
        self.guests.append(guest)
        return guest

    async def waiting(self, nick: str | None = None) -> Guest:
        """Somebody who has joined, and waits."""
        guest = await self.guest(nick)
        await guest.say(Join(guest.nick))
        await asyncio.sleep(GAP)
        return guest

    async def close(self) -> None:
        """Everybody hangs up."""
        if self.guests:
            await asyncio.gather(*(guest.closed() for guest in self.guests))

    # Games.

    async def sit(self, least: int = FEWEST) -> Sitting:
        """A game of as many as the table plays with, all of them ours. Raises Unseen where these are too few."""
        async with nullcontext() if self._alone else self.tables.lobby:
            return await self._sat(least)

    async def _sat(self, least: int) -> Sitting:
        if self.tables.barren:
            raise Unseen(f"no game begins: {self.tables.barren}")
        try:
            for _ in range(TRIES):
                sitting = await self._begun(crowd=0 if least <= max(self.players, self.tables.crowd) else least)
                if sitting is not None and len(sitting.guests) >= least:
                    return sitting
                if sitting is not None and self.tables.crowd >= least:
                    raise Unseen(f"it takes {least} players, and the table plays with {len(sitting.guests)}")
        except Broken as broken:
            if not broken.cause:  # a dialect shows in case after case, and then it is read
                self.tables.barren = str(broken)
            raise
        self.tables.barren = "others join as well"
        raise Unseen(f"no game begins: {self.tables.barren}")

    async def survey(self, least: int = FEWEST) -> None:
        """Find out how many the table plays with, unless that is known. Raises Unseen where these are too few."""
        if self.tables.players is None or self.tables.players < least or self.tables.barren:
            await self.sit(least)
            self.dialogue.clear()

    async def fill(self, waiting: Sequence[Guest]) -> Sitting:
        """A game for those who wait, and as many more as it takes. Raises Unseen where strangers are in it."""
        sitting = await self._begun(waiting)
        if sitting is None:
            raise Unseen("others join as well")
        return sitting

    async def _begun(self, waiting: Sequence[Guest] = (), *, crowd: int = 0) -> Sitting | None:
        """A game; None when somebody else is in it. With a `crowd` so many join at the same time at least."""
        guests = [*waiting]
        wanted = crowd or self.tables.players
        self.tables.crowd = max(self.tables.crowd, crowd)
        seconds = PACE if crowd or wanted is None else self.tables.patience.seconds
        first: Heard | None = None
        while first is None and len(guests) <= MOST:
            if len(guests) >= (wanted or FEWEST):
                first = await guests[-1].hear(seconds)
                if first is None and guests[-1].gone:
                    raise Broken("oldmaid-3.2", "the end of the connection", "the list of the players")
            if first is None and len(guests) < MOST:
                guests.append(await self.waiting())
            elif first is None:
                first = await guests[-1].answer("oldmaid-3.10", f"a game, for {len(guests)} have joined")
        assert first is not None, "an answer, or Broken"
        return await self.listed(guests, first, guests[-1])

    async def listed(self, guests: Sequence[Guest], first: Heard, hearer: Guest) -> Sitting | None:
        """The game that has begun when one of those who wait hears this; None when somebody else is in it."""
        nicks = check_list(hearer, first)
        self.tables.players = max(self.tables.players or 0, len(nicks))
        return await self._seated(guests, nicks, {hearer: first})

    async def _seated(
        self, guests: Sequence[Guest], listed: Sequence[str], heard: dict[Guest, Heard]
    ) -> Sitting | None:
        """A game of these nicks: all its players have their lists. None when somebody else is in it."""
        named = {guest.nick: guest for guest in guests}
        ghosts = [guest.nick for guest in self.guests if guest.gone and guest.referee is None and guest not in guests]
        for ghost in {*ghosts} & {*listed} - named.keys():
            raise Broken("oldmaid-3.12", f"{ghost!r} in the list, who has left before the start", "those who are there")
        for guest in guests:
            if guest.nick not in listed:
                guest.hang_up()
        if not set(listed) <= named.keys():
            for guest in guests:
                guest.hang_up()
            await asyncio.sleep(MOMENT)
            return None
        order = [named[nick] for nick in listed]
        referee = Referee(strict=self.tables.strict)
        for guest in order:
            if guest not in heard:
                heard[guest] = await guest.answer("oldmaid-3.2", "the list of the players, as the others have it")
            check_list(guest, heard[guest])
        for guest in order:
            guest.referee = referee
            guest.told(Join(guest.nick), heard[guest])
        self.sittings.append(Sitting(order, referee, self.random, heard[order[0]]))
        return self.sittings[-1]


def check_list(guest: Guest, heard: Heard) -> Sequence[str]:
    """The nicks that the table lists. Raises Broken on what is no list, or none of 2 to 8 players."""
    guest.judged(Join(guest.nick), heard)
    if heard.error:
        raise Broken("oldmaid-3.1", heard.told, f"the list of the players, for {guest.nick!r} may play", got=heard.data)
    message = heard.message
    assert isinstance(message, Reply), "the form is right"
    assert message.players is not None, "the form is right"
    nicks = [nick for _, nick in message.players]
    if not FEWEST <= len(nicks) <= MOST:
        raise Broken("oldmaid-3.10", f"a game of {len(nicks)}", "2 to 8 players", got=heard.data)
    if guest.nick not in nicks:
        raise Broken(
            "oldmaid-3.3", f"no {guest.nick!r} in {', '.join(nicks)}", "all players of the game", got=heard.data
        )
    if len({*nicks}) < len(nicks):
        raise Broken("oldmaid-3.8", ", ".join(nicks), "a nick once", got=heard.data)
    return nicks


async def drained(scene: Scene) -> None:
    """Everybody hangs up, and the table has a moment to notice it."""
    with suppress(OSError):
        await scene.close()
    await asyncio.sleep(GAP)
