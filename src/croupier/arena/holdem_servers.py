"""Hold'em at the server of an address: a bot sits down at a table there, against the players that it finds."""

import asyncio
import re
from collections.abc import Sequence
from functools import cache
from typing import Final, NamedTuple

from croupier.arena.game import Chunk
from croupier.arena.heads_up import DEFAULT_MOVES
from croupier.arena.program_match import MAX_HAND_MESSAGES, START_SECONDS
from croupier.arena.servers import SilentServer, Visit
from croupier.clients.holdem import HoldemClient
from croupier.clients.luck import Login, new_login
from croupier.clients.server_url import with_scheme
from croupier.clients.waiting import Wait
from croupier.core.dealer import Luck
from croupier.net.event_loop import run
from croupier.rooms.holdem.engine.legal import Move
from croupier.rooms.holdem.table.views import View
from croupier.rooms.holdem.wire import Guid

GAME_PATH: Final = re.compile(r"(?P<url>.*)/games/(?P<game>[0-9A-Fa-f]{8}(-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12})/?")

NO_HAND: Final = "it takes the seat away before a hand is over"


class GameAddress(NamedTuple):
    """The URL of a server, and the game at which to sit down; None: any game with a free seat."""

    url: str
    game: Guid | None


def parse_game_address(text: str) -> GameAddress:
    """Parse HOST:PORT, or a URL that may end with /games/ and the GUID of a game. Raises ValueError."""
    found = GAME_PATH.fullmatch(text)
    return (
        GameAddress(with_scheme(found["url"]), found["game"].lower()) if found else GameAddress(with_scheme(text), None)
    )


@cache
def login_of(bot: str, address: str) -> Login:  # noqa: ARG001 -- the key of the cache
    """A new user for a bot at a server, the same one as long as this process runs."""
    return new_login("arena")


class HoldemVisit(Visit[View, Move]):
    """A bot at a hold'em server. See `Visit`. `big_blind` is what it has seen of it, 0 before its first decision."""

    def __init__(self, chunk: Chunk, seating: int) -> None:
        super().__init__(chunk, seating, DEFAULT_MOVES)
        self.big_blind = 0
        self.decisions = 0
        self._login = login_of(chunk.plan.bots[chunk.pairing[self.bot]], self.address)
        self._seconds = chunk.plan.answer_seconds
        self._luck = chunk.dealer(seating).luck

    def choose(self, view: View, legal: Sequence[Move], luck: Luck) -> Move:
        """The player's move. Raises Forfeit."""
        self.decisions += 1
        self.big_blind = min(self.big_blind or view.big_blind, view.big_blind)
        return super().choose(view, legal, luck)

    async def play_seat(self) -> None:
        """Play in one seat until it is lost or the seating is complete. Raises SilentServer."""
        url, game = parse_game_address(self.address)
        async with HoldemClient(url, *self._login, retry_timeout=self._seconds) as client:
            await client.register()
            notice = f"{self._login.user} is waiting for other players at {self.address}"
            async with Wait("other players", notice) as wait:
                wait.begin()
                await self._play(client, game, wait)
        if self.is_complete and not self.big_blind:
            raise SilentServer(f"the bot had nothing to decide in {len(self.nets)} hands")

    async def _play(self, client: HoldemClient, game: Guid | None, wait: Wait) -> None:
        limit = START_SECONDS + MAX_HAND_MESSAGES * self._seconds
        before, decided = len(self.nets), self.decisions
        async with client.sit(game) as seat:
            try:
                async with asyncio.timeout(limit) as timer:
                    while await seat.next_game() is not None:
                        self.nets[before:] = seat.nets
                        if self.is_complete:
                            return
                        act = seat.player.decide(self, self._luck)
                        if act is not None:
                            await seat.make_move(act)
                        if decided < self.decisions:
                            decided = self.decisions
                            wait.end()
                            timer.reschedule(asyncio.get_running_loop().time() + limit)
                    self.nets[before:] = seat.nets
            except TimeoutError:
                reason = f"the bot had nothing to decide for {limit:g} seconds: nobody plays with it"
                raise SilentServer(reason) from None


def play_at_server(chunk: Chunk, seating: int) -> Sequence[float]:
    """What the first bot wins in the hands of a seating, in big blinds per 100 hands. Raises Forfeit."""
    visit = HoldemVisit(chunk, seating)
    run(visit.play(visit.play_seat, NO_HAND))
    return [100 * net / visit.big_blind for net in visit.counted_nets]
