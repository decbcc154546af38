"""The story of an evening at a hold'em server: ten bots play up to a thousand hands, and no chip is made or lost.

The bots come over HTTP to a server of its own process. Some leave in mid-hand, fall silent, bet what nobody may bet or
go broke, and come back with new chips; there is always one user more than there are seats. Every hand is fetched as
PHH, and PokerKit plays it once more.
"""

import asyncio
import json
import tomllib
import warnings
from base64 import b64encode
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import Future, ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path
from typing import Any, Final, NamedTuple, Self

import pytest
from pokerkit import Automation, HandHistory

from croupier.clients.holdem import HoldemClient, play_hands
from croupier.clients.play import BotTally
from croupier.core.bots import bot_factory
from croupier.core.dealer import FairDealer, derive_server_seed
from croupier.core.referee import HOUSE
from croupier.core.session import Received, Submitted
from croupier.net.event_loop import run
from croupier.rooms.holdem.bots import BOT_SPECS
from croupier.rooms.holdem.observed.state_reader import read_game
from croupier.rooms.holdem.player import Options, Player
from croupier.rooms.holdem.wire import NO_TURN, Cards, Game
from croupier.rooms.holdem.wire import Player as Listed
from tests.processes import Serving, croupier

STACK: Final = 10_000
SEATS: Final = 10
MINDS: Final = (
    "tight", "caller", "random", "tight:5", "maniac", "equity:20", "tight", "caller", "tight:6", "random", "tight:10",
)  # fmt: skip
TURN_SECONDS: Final = 3

LONG: Final = 600.0
"""After so many seconds an evening is taken to hang."""


class Got(NamedTuple):
    status: int
    headers: dict[str, str]
    body: bytes


class Line:
    """One keep-alive connection to the server."""

    def __init__(self, authorization: str = "") -> None:
        self._authorization = f"Authorization: {authorization}\r\n" if authorization else ""

    async def call(self, host: str, port: int) -> Self:
        self._reader, self._writer = await asyncio.open_connection(host, port)
        return self

    async def ask(self, method: str, path: str, body: bytes = b"") -> Got:
        length = f"Content-Length: {len(body)}\r\n" if body else ""
        head = f"{method} {path} HTTP/1.1\r\nHost: 127.0.0.1\r\n{self._authorization}{length}\r\n"
        self._writer.write(head.encode() + body)
        told = (await self._reader.readuntil(b"\r\n\r\n")).decode().splitlines()
        headers = dict(line.lower().split(": ", 1) for line in told[1:-1])
        return Got(int(told[0].split()[1]), headers, await self._reader.readexactly(int(headers["content-length"])))

    def hang_up(self) -> None:
        self._writer.close()


class Guest:
    """A user with a mind and a connection of its own. `here` is true while the table lists him, `coming` before."""

    def __init__(self, number: int, mind: str) -> None:
        self.name = f"guest{number}"
        self.line = Line(f"Basic {b64encode(f'{self.name}:secret'.encode()).decode()}")
        self.mind = bot_factory(BOT_SPECS, mind)()
        self.luck = FairDealer(derive_server_seed(4, "guests", number)).luck
        self.guid = ""
        self.here = self.coming = False
        self.player = Player()

    def listed(self, game: Game) -> Listed | None:
        return next((one for one in game.table if one.player_id == self.guid), None)


class Evening:
    """What all guests do at one game, one after another, and what they see: at every look all chips are there."""

    def __init__(self, guests: Sequence[Guest], visitor: Line, fetched: Callable[[str], object]) -> None:
        self.guests = guests
        self.fetched = fetched
        self.hands: list[str] = []
        self.count: Counter[str] = Counter()
        self.taken = 0
        """The chips with which players have left."""
        self.seen = Game("", (), NO_TURN, Cards(()), ())
        self._visitor = visitor
        self._small_blind = ""

    async def come(self) -> None:
        """Everybody becomes a user, and joins."""
        for guest in self.guests:
            got = await guest.line.ask("POST", "/users/")
            assert got.status == 201
            guest.guid = json.loads(got.body)
        self._game: str = json.loads((await self._visitor.ask("GET", "/games/")).body)[0]["gameID"]
        for guest in self.guests:
            await self._join(guest)
        await self._see(self._visitor)

    async def play(self, hands: int, plan: Iterable[tuple[int, str]] = ()) -> None:
        """So many hands, with what is planned to happen after how many of them."""
        due = sorted(plan, reverse=True)
        while len(self.hands) < hands:
            (guest,) = [one for one in self.guests if one.guid == self.seen.turn.player_id]
            if due and len(self.hands) >= due[-1][0]:
                await getattr(self, due.pop()[1])(guest)
            else:
                await self._act(guest)
            for one in self.guests:
                if not one.here and not one.coming:
                    await self._join(one)

    # What they do

    async def _join(self, guest: Guest) -> None:
        got = await guest.line.ask("POST", f"/games/{self._game}/players/")
        assert json.loads(got.body) == guest.guid
        self.count[{201: "seated", 202: "queued"}[got.status]] += 1
        guest.coming = True
        guest.player = Player(Options(guest.name, guest.guid))

    async def _act(self, guest: Guest) -> None:
        """The one whose turn it is looks, makes up his mind, acts, and looks again."""
        await self._look(guest)
        act = guest.player.decide(guest.mind, guest.luck)
        if act is None:
            assert not guest.here, f"{guest.name} has nothing to decide in {self.seen}"
            return  # this machine has kept him too long
        guest.player.on(Submitted(act), 0.0)
        got = await self._say(guest, {"action": act.action, "betAmount": act.amount})
        assert "x-fold-reason" not in got.headers, (got, act, self.seen)
        if got.status == 404:  # as above
            await self._see(self._visitor)
            assert not guest.here
        else:
            assert got.status == 201, got
            await self._look(guest, acted=True)

    async def be_clumsy(self, guest: Guest) -> None:
        """He bets what nobody may bet: his hand is folded (ruling H5)."""
        got = await self._say(guest, {"action": 1, "betAmount": STACK * SEATS * 100})
        assert (got.status, got.body) == (201, b"")
        assert got.headers["x-fold-reason"].startswith("found ")
        self.count["clumsy"] += 1
        await self._see(self._visitor)

    async def fall_silent(self, guest: Guest) -> None:
        """He says nothing until his time is over: he has left, and so have his chips (ruling H6)."""
        got = await guest.line.ask("GET", f"/games/{self._game}?wait=60&since={self._version}")
        assert guest.listed(read_game(got.body)) is None
        assert (await self._say(guest, {"action": 0})).status == 404
        self.count["silent"] += 1
        await self._see(self._visitor)

    async def walk_out(self, guest: Guest) -> None:
        """Somebody leaves whose turn it is not: who has bet most in this round."""
        others = [one for one in self.guests if one.here and one is not guest]
        standing = [(one, mine) for one in others if (mine := one.listed(self.seen)) and mine.state != "folded"]
        leaver, mine = max(standing, key=lambda found: found[1].bet_so_far)
        path = f"/games/{self._game}/players/{leaver.guid}"
        assert (await leaver.line.ask("DELETE", path)).status == 200
        assert (await leaver.line.ask("DELETE", path)).status == 404
        self.count["walked out"] += 1
        self.count["forfeited"] += mine.bet_so_far
        await self._see(self._visitor)

    async def _say(self, guest: Guest, act: dict[str, int]) -> Got:
        path = f"/games/{self._game}/players/{guest.guid}/acts/"
        return await guest.line.ask("POST", path, json.dumps(act).encode())

    # What they see

    async def _look(self, guest: Guest, *, acted: bool = False) -> None:
        await self._see(guest.line, guest if acted else None)
        guest.player.on(Received(HOUSE, self.seen), 0.0)

    async def _see(self, line: Line, actor: Guest | None = None) -> None:
        """Look at the table: who has come and gone, whether all chips are there, and what hands are over.

        Only an actor can have lost chips since the last look; whoever else is gone has taken his with him, if any.
        """
        got = await line.ask("GET", f"/games/{self._game}")
        assert got.status == 200
        self._version = got.headers["x-game-version"]
        before, self.seen = self.seen, read_game(got.body)
        for guest in self.guests:
            last, here = guest.listed(before), guest.listed(self.seen) is not None
            if here and last is None:
                self.count["sat down"] += 1
                guest.coming = False
            elif last is not None and not here:
                taken = 0 if guest is actor else last.wealth
                self.taken += taken
                self.count["broke"] += not taken
            guest.here = here
        chips = sum(one.wealth for one in self.seen.table) + sum(pot.size for pot in self.seen.pots)
        assert chips + self.taken == STACK * self.count["sat down"], (before, self.seen)
        small_blind = next((one.player_id for one in self.seen.table if one.small_blind), "")
        if small_blind != self._small_blind:  # a new hand has begun
            self._small_blind = small_blind
            await self._collect()

    async def _collect(self) -> None:
        """Fetch the hands that are over, as the public may see them."""
        while (got := await self._hand(len(self.hands) + 1)).status == 200:
            self.hands.append(got.body.decode())
            self.fetched(self.hands[-1])

    async def _hand(self, number: int) -> Got:
        return await self._visitor.ask("GET", f"/games/{self._game}/hands/{number}.phh")

    async def forgotten(self) -> bool:
        """Whether the first hand is not kept any more."""
        return (await self._hand(1)).status == 404


async def evening(
    serving: Serving, hands: int, plan: Iterable[tuple[int, str]], fetched: Callable[[str], object]
) -> Evening:
    guests = [Guest(number, mind) for number, mind in enumerate(MINDS, start=1)]
    lines = [Line(), *(guest.line for guest in guests)]
    found = Evening(guests, lines[0], fetched)
    async with asyncio.timeout(LONG):
        for line in lines:
            await line.call(serving.host, serving.port)
        await found.come()
        await found.play(hands, plan)
        assert await found.forgotten()
    for line in lines:
        line.hang_up()
    return found


PLAN: Final = [
    *((hand, "fall_silent") for hand in (150, 450, 750)),
    *((hand, "walk_out") for hand in range(20, 1_000, 40)),
    *((hand, "be_clumsy") for hand in range(10, 1_000, 40)),
]
"""After how many hands something happens that the bots would not do."""


# How it is checked


class Hand(NamedTuple):
    """A PHH as it was told; players are counted from the left of the button."""

    number: int
    players: list[str]
    places: list[int]
    begun: list[int]
    ended: list[int]


def hand(text: str) -> Hand:
    told = tomllib.loads(text)
    begun = told.get("_starting_stacks", told["starting_stacks"])
    return Hand(told["hand"], told["players"], [seat - 1 for seat in told["seats"]], begun, told["finishing_stacks"])


def balance(hands: Iterable[Hand], table: Iterable[Listed]) -> None:
    """Every hand keeps its chips, and begins with those that the one before has left, or with what newcomers bring.

    So does the one that is just beginning at the table.
    """
    chips: dict[str, int] = {}
    for number, one in enumerate(hands, start=1):
        assert one.number == number
        assert sum(one.begun) == sum(one.ended), one
        for player, begun, ended in zip(one.players, one.begun, one.ended, strict=True):
            assert begun in {chips.get(player), STACK}, one
            chips[player] = ended
    for listed in table:
        assert listed.wealth + listed.bet_so_far in {chips.get(listed.handle), STACK}


def kit(text: str) -> tuple[list[int], list[int]]:
    """The stacks by player after PokerKit has replayed a PHH: as it pays, and as H7 pays the pots that it found.

    It puts pots together that are left to the same winners before it divides them, so that an odd chip may go astray.
    """
    automations = tuple(one for one in HandHistory.automations if one is not Automation.HAND_KILLING)
    state: Any = None
    apart: list[int] | None = None
    for state in HandHistory.loads(text, automations=automations):
        if apart is None and state.can_kill_hand():
            apart = list(state.stacks)
            for pot in state.pots:
                ranks = {at: state.get_hand(at, 0, 0) for at in pot.player_indices}
                winners = [at for at in pot.player_indices if ranks[at] == max(ranks.values())]
                chips, odd = divmod(pot.amount, len(winners))
                for number, at in enumerate(winners):
                    apart[at] += chips + (number < odd)
    assert not state.status
    return list(state.stacks), list(state.stacks) if apart is None else apart


def replay(text: str) -> None:
    """PokerKit ends a hand with our stacks."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # of folds where nothing was bet, and of cards that it cannot know
        ended = hand(text).ended
        paid, apart = kit(text)
        assert apart == ended, text
        assert sum(abs(one - other) for one, other in zip(paid, ended, strict=True)) <= SEATS, text


def nets(record: Path) -> list[list[int]]:
    """What every hand of a record has brought, by place."""
    entries = [json.loads(line) for line in record.read_text().splitlines()]
    return [entry["net"] for entry in entries if entry["deal"] == "hand"]


def check(texts: Sequence[str], record: Path, table: Sequence[Listed] = ()) -> None:
    """Hands as PHH and the record of their deals: chips are kept, and promises too."""
    hands = [hand(text) for text in texts]
    balance(hands, table)
    for one, net in zip(hands, nets(record), strict=False):  # the record may have one more, which is void
        gained = [ended - begun for begun, ended in zip(one.begun, one.ended, strict=True)]
        assert gained == [net[place] for place in one.places]
    verified = croupier("verify", record)
    assert verified.returncode == 0, verified.stdout


@pytest.mark.parametrize("hands", [200, pytest.param(1_000, marks=pytest.mark.slow)])
def test_ten_bots_play_and_no_chip_is_made_or_lost(tmp_path: Path, hands: int) -> None:
    record = tmp_path / "deals.jsonl"
    flags = ("--deals", record, "--seed", 4, "--turn-seconds", TURN_SECONDS, "--history", 20, "--drain-seconds", 0)
    replays: list[Future[None]] = []
    plan = [(hand, deed) for hand, deed in PLAN if hand < hands]
    with ProcessPoolExecutor(1, get_context("spawn")) as beside, Serving("holdem", "--port", 0, *flags) as serving:
        found = run(evening(serving, hands, plan, lambda text: replays.append(beside.submit(replay, text))))
        assert serving.stop() == 0
        for done in replays:
            done.result()
    assert len(replays) == len(found.hands) >= hands
    count = found.count
    wanted = Counter(deed for _, deed in plan)
    assert (count["silent"], count["walked out"], count["clumsy"]) == tuple(
        wanted[deed] for deed in ("fall_silent", "walk_out", "be_clumsy")
    )
    assert min(count["queued"], count["broke"], count["forfeited"]) > 0
    check(found.hands, record, found.seen.table)


async def company(serving: Serving, hands: int) -> tuple[list[BotTally], list[str]]:
    """Ten bots of the library at one game, each for itself, until one has played so many hands; and all hands."""
    visitor = await Line().call(serving.host, serving.port)
    game = json.loads((await visitor.ask("GET", "/games/")).body)[0]["gameID"]
    tallies = [BotTally() for _ in range(SEATS)]

    async def bot(number: int) -> None:
        mind, luck = bot_factory(BOT_SPECS, MINDS[number])(), FairDealer(derive_server_seed(5, "bots", number)).luck
        async with HoldemClient(f"http://{serving.address}", f"bot{number}", "secret") as client:
            await play_hands(client, mind, luck, hands, game=game, tally=tallies[number])

    async with asyncio.timeout(LONG):
        bots = [asyncio.create_task(bot(number)) for number in range(SEATS)]
        await asyncio.wait(bots, return_when=asyncio.FIRST_COMPLETED)
        texts: list[str] = []
        while (got := await visitor.ask("GET", f"/games/{game}/hands/{len(texts) + 1}.phh")).status == 200:
            texts.append(got.body.decode())
        for one in bots:
            one.cancel()  # he leaves, and when all have the game is gone
        await asyncio.wait(bots)
    visitor.hang_up()
    return tallies, texts


@pytest.mark.slow
def test_ten_bots_of_the_library_play_each_for_itself(tmp_path: Path) -> None:
    record = tmp_path / "deals.jsonl"
    with Serving("holdem", "--port", 0, "--deals", record, "--history", 100_000, "--drain-seconds", 0) as serving:
        tallies, texts = run(company(serving, 200))
        assert serving.stop() == 0
    assert [tally.fault for tally in tallies] == [None] * SEATS
    assert max(len(tally.nets) for tally in tallies) == 200
    assert len(texts) >= 200
    check(texts, record)
    for text in texts:
        replay(text)
