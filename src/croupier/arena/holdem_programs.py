"""Hold'em of programs: the arena serves a house on a local port, at whose table two bots play the deals of a chunk.

A bot in process sits at the same table, without a connection. Every hand begins with equal stacks.
"""

import asyncio
import secrets
from asyncio import Future
from collections.abc import Mapping, Sequence
from time import time
from typing import Any, Final

from croupier.arena.game import Chunk
from croupier.arena.heads_up import DEFAULT_MOVES, NAMES, SEATS, HoldemPlayer, Seatings
from croupier.arena.holdem_table import ArenaTable, DealNumbers, SeatingDeals, table_deals
from croupier.arena.program_match import (
    HOST,
    MAX_HAND_MESSAGES,
    START_SECONDS,
    ProgramMatch,
    RunningProgram,
)
from croupier.clients.programs import terminated_as_interrupted
from croupier.core.basic_auth import basic_authorization
from croupier.core.session import Address, Effect, Event, HandFinished, Received
from croupier.http.auth import QUICK_HASHER, Authenticator
from croupier.http.holdem_app import HoldemApp
from croupier.net.event_loop import cancel_all, resolve, run
from croupier.rooms.holdem.cards import Card
from croupier.rooms.holdem.engine.hand import Hand
from croupier.rooms.holdem.table.finished_hands import FinishedHand
from croupier.rooms.holdem.table.views import View
from croupier.rooms.holdem.wire import ACTION_BET, ACTION_FOLD, Act, Join, Leave

USERS: Final = ("arena-first", "arena-second")
"""The user names of the bots; programs may play as other users."""

STOP_SECONDS: Final = 0.2
"""How long the house waits for the end of pending answers."""

type Players = Sequence[Mapping[int, HoldemPlayer]]
"""The bots in process by their index in the pairing, for each seating."""


def play_with_programs(chunk: Chunk, new_hand: Hand, deals: Sequence[Sequence[Sequence[Card]]]) -> Seatings:
    """Play both seatings of a chunk in which at least one bot is a program. Raises Forfeit."""
    seatings = [SeatingDeals(dealt) for dealt in deals]
    players: list[Mapping[int, HoldemPlayer]] = []
    for number, seating in enumerate(seatings):
        ours = [index for index in range(SEATS) if chunk.programs[index] is None]
        players.append({index: chunk.player(number, index, DEFAULT_MOVES) for index in ours})
        for player in players[-1].values():
            player.finished = seating.played

    async def play(numbers: DealNumbers) -> None:
        epoch = time() - asyncio.get_running_loop().time()
        await HoldemMatch(chunk, ArenaTable(chunk, new_hand, seatings, numbers, epoch), players).play()

    with terminated_as_interrupted():
        for numbers in table_deals(chunk.plan.chunk_pairs, duplicate=chunk.plan.duplicate):
            run(play(numbers))
    first, second = ([seating.played[number] for number in range(chunk.plan.chunk_pairs)] for seating in seatings)
    return first, second


class HoldemMatch(ProgramMatch):
    """Two bots at a table, at least one of which is a program."""

    def __init__(self, chunk: Chunk, table: ArenaTable, players: Players) -> None:
        super().__init__(chunk)
        self._table = table
        self._players = players
        self._limit = chunk.plan.answer_seconds
        self._thinking_seconds = 0.0  # of bots in process, which is not time of the programs
        self._absent_since: dict[int, float] = {}
        self._used_seconds = [0.0] * SEATS  # in the running hand
        self._turn_bot: int | None = None  # the bot to act
        self._counted_at = 0.0
        self._is_turn_scheduled = False
        self._joined: list[Future[None]] = [self.loop.create_future() for _ in range(SEATS)]
        self._authenticator = Authenticator(hasher=QUICK_HASHER)  # the passwords are valid for one match
        self._app = HoldemApp(table.house, self._authenticator, clock=self._clock, observers=[self._on_event])

    @property
    def hand(self) -> int:
        """The number of the current hand in the pairing."""
        return self._table.hand_number()

    async def play(self) -> None:
        """Play all deals of the table. Raises Forfeit."""
        tasks = [asyncio.create_task(self._watch())]
        try:
            address = await self._app.listen(HOST, 0)
            for bot in self._players[0]:
                await self._register(bot, address, is_named=True)
                self._app.service.submit(Join(USERS[bot], self._table.game))
            programs = [(bot, each) for bot, each in enumerate(self.chunk.programs) if each is not None]
            are_named = all("{user}" in contestant.text for _, contestant in programs)
            for bot, contestant in programs:
                words = contestant.command(await self._register(bot, address, is_named=are_named))
                tasks.append(asyncio.create_task(self._keep_running(bot, words)))
                if not are_named:  # who joins next is a user of this program
                    await asyncio.wait((self._joined[bot], self.over), return_when=asyncio.FIRST_COMPLETED)
            await asyncio.wait([self.over])
            await asyncio.wait(tasks)
        finally:
            await cancel_all(*tasks)
            await self._app.stop(STOP_SECONDS)
            self._authenticator.close()
        self.over.result()

    async def _register(self, bot: int, address: Address, *, is_named: bool) -> Mapping[str, object]:
        """Register a user for a bot, and return the values of a program's placeholders."""
        user, password, (host, port) = USERS[bot], secrets.token_hex(8), address
        await self._authenticator.register(basic_authorization(user, password), HOST)
        if is_named:
            self._table.owners[user] = bot
        url = f"http://{host}:{port}"
        return {"url": url, "host": host, "port": port, "user": user, "password": password, "game": self._table.game}

    # Programs

    async def _keep_running(self, bot: int, words: Sequence[str]) -> None:
        """Run a program until the match is over; one that ends is started again."""
        try:
            while not self.over.done():
                await self._run_program(bot, words)
        except Exception as error:
            self.stop(error)

    async def _run_program(self, bot: int, words: Sequence[str]) -> None:
        hands = self._table.hands
        with self.started(bot, words) as program:
            if program is None:
                return
            self._absent_since[bot] = self._clock()
            self._table.running.add(bot)
            ended = asyncio.create_task(program.wait())
            await asyncio.wait((ended, self.over), return_when=asyncio.FIRST_COMPLETED)
            self._table.running.discard(bot)
            if self.over.done():
                await program.end()
            else:
                self._on_ended(bot, program, self._table.hands - hands)

    def _on_ended(self, bot: int, program: RunningProgram, hands: int) -> None:
        """A program has ended before the match was over: it leaves the table."""
        is_in_hand = bot in self.left_hands or self._table.is_playing
        end = program.describe_end(" during the hand" if is_in_hand else "")
        if not hands:
            self.forfeit(bot, end)
            return
        self._remove(bot)
        self.end_left_hand(bot, end)

    def _remove(self, bot: int | None) -> None:
        """Let all users of a bot leave; without one, users of nobody."""
        for request in self._table.leave_requests(bot):
            self._app.service.submit(request)

    async def _watch(self) -> None:
        """Let a program forfeit when it does not join, or takes too long for a hand."""
        start, limit = max(START_SECONDS, self._limit), START_SECONDS + MAX_HAND_MESSAGES * self._limit
        while not self.over.done():
            now = self._clock()
            due = now + min(start, limit)
            for bot, since in [*self._absent_since.items()]:
                if now >= since + start:
                    self.forfeit(bot, f"it has not joined the game for {start:g} seconds")
                due = min(due, since + start)
            self._count_time(now)
            acting = self._turn_bot
            if acting is not None and acting not in self._players[0]:
                remaining = limit - self._used_seconds[acting]
                if remaining <= 0:
                    self.forfeit(acting, f"it has used {limit:g} seconds for a hand")
                due = min(due, now + remaining)
            await asyncio.wait([self.over], timeout=max(0.0, due - now))

    def _clock(self) -> float:
        """The time in seconds, without that which bots in process have used."""
        return self.loop.time() - self._thinking_seconds

    # The house

    def _on_event(self, event: Event[Any], effects: Sequence[Effect[Any]], now: float) -> None:
        """Observe the house."""
        if self.over.done():
            return
        try:
            if type(event) is Received and isinstance(event.message, Join):
                joined = self._table.owner_of(event.message.user)
                if joined is None:
                    self.loop.call_soon(self._remove, None)
                else:
                    self.end_left_hand(joined, "it left the hand")
            for effect in effects:
                if type(effect) is HandFinished:
                    assert isinstance(effect.state, FinishedHand), "a hand of the house"
                    self._on_finished(effect.state, event)
            self._note_presence(now)
            self._count_time(now)
        except Exception as error:
            self.stop(error)
        if self._turn_bot in self._players[0] and not self._is_turn_scheduled:
            self._is_turn_scheduled = True
            self.loop.call_soon(self._play_turn)

    def _on_finished(self, finished: FinishedHand, event: Event[Any]) -> None:
        deal = self._table.settle(finished)
        if finished.table != self._table.game:
            return
        hand, leaver = self._table.hand_number(deal), _leaver(event)
        self._used_seconds = [0.0] * SEATS
        owners = [self._table.owners.get(user) for user in finished.players]
        for seat, reason in finished.faults:
            if (bot := owners[seat]) is not None:
                self.add_fault(bot, f"holdem-4.7: {reason}", hand)
        for entry in finished.hand.log:
            if entry[0] == "leave" and (bot := owners[entry[1]]) is not None:
                if finished.players[entry[1]] == leaver:
                    self.left_hands[bot] = hand
                else:
                    self.forfeit(bot, f"no act for {self._limit:g} seconds", hand)
        if self._table.is_complete:
            for bot in [*self.left_hands]:
                self.end_left_hand(bot, "it left the hand")
            self.stop(None)

    def _note_presence(self, now: float) -> None:
        """Note which programs are not at the table."""
        for bot in range(SEATS):
            if self._table.is_seated(bot):
                self._absent_since.pop(bot, None)
                resolve(self._joined[bot])
            elif bot not in self._players[0]:
                self._absent_since.setdefault(bot, now)

    def _count_time(self, now: float) -> None:
        """Add the time since the last call to that of the bot to act."""
        if self._turn_bot is not None:
            self._used_seconds[self._turn_bot] += now - self._counted_at
        self._turn_bot, self._counted_at = self._table.waiting_bot(), now

    def _play_turn(self) -> None:
        """Let a bot in process act."""
        self._is_turn_scheduled = False
        bot = self._table.waiting_bot()
        if self.over.done() or bot is None or bot not in self._players[0]:
            return
        started = self.loop.time()
        try:
            act = self._choose(bot)
        except Exception as error:
            self.stop(error)
            return
        finally:
            self._thinking_seconds += self.loop.time() - started
        self._app.service.submit(act)

    def _choose(self, bot: int) -> Act:
        """The act of a bot in process. Raises Forfeit."""
        seating, hand = self._table.last_deal.seating, self._table.running_hand()
        assert isinstance(hand.turn, int), "a bot is to act"
        names = NAMES if seating == 0 else NAMES[::-1]
        view = View.of(hand, hand.turn, names)
        move = self._players[seating][bot].choose(view, view.legal)
        user, game = USERS[bot], self._table.game
        action, chips = (ACTION_BET, move) if isinstance(move, int) else (ACTION_FOLD, 0)
        return Act(user, game, self._table.house.guid_of(user), action, chips)


def _leaver(event: Event[Any]) -> str | None:
    """The user whose request to leave an event is, if it is one."""
    return event.message.user if type(event) is Received and isinstance(event.message, Leave) else None
