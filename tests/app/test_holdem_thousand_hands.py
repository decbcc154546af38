"""A long session at a hold'em server: bots play up to a thousand hands, and chips are conserved.

The bots use HTTP and the server is a separate process. Some bots leave during a hand, time out, make invalid bets or go
broke, and join again with new chips; there is always one user more than there are seats. Every hand is fetched as PHH
and replayed with PokerKit.
"""

import asyncio
import json
import tomllib
import warnings
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import Future, ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path
from typing import Any, Final, NamedTuple, Self

import pytest

from croupier.clients.holdem import HoldemClient, play_hands
from croupier.clients.play import BotTally
from croupier.core.basic_auth import basic_authorization
from croupier.core.bots import bot_factory
from croupier.core.dealer import FairDealer, derive_server_seed
from croupier.core.referee import HOUSE
from croupier.core.session import Received, Submitted
from croupier.net.event_loop import run
from croupier.rooms.holdem.bots import BOT_SPECS
from croupier.rooms.holdem.observed.state_reader import read_game
from croupier.rooms.holdem.player import Options, Player
from croupier.rooms.holdem.wire import NO_TURN, Cards, Game
from croupier.rooms.holdem.wire import Player as ListedPlayer
from tests.processes import Serving, croupier

STACK: Final = 10_000
SEATS: Final = 10
BOTS: Final = (
    "tight", "caller", "random", "tight:5", "maniac", "equity:20", "tight", "caller", "tight:6", "random", "tight:10",
)  # fmt: skip
TURN_SECONDS: Final = 3

TIMEOUT_SECONDS: Final = 600.0
"""A session that takes longer is considered hung."""


class HttpResponse(NamedTuple):
    status: int
    headers: dict[str, str]
    body: bytes


class HttpConnection:
    """One keep-alive connection to the server."""

    def __init__(self, authorization: str = "") -> None:
        self._authorization = f"Authorization: {authorization}\r\n" if authorization else ""

    async def open(self, host: str, port: int) -> Self:
        self._reader, self._writer = await asyncio.open_connection(host, port)
        return self

    async def request(self, method: str, path: str, body: bytes = b"") -> HttpResponse:
        length = f"Content-Length: {len(body)}\r\n" if body else ""
        head = f"{method} {path} HTTP/1.1\r\nHost: 127.0.0.1\r\n{self._authorization}{length}\r\n"
        self._writer.write(head.encode() + body)
        head_lines = (await self._reader.readuntil(b"\r\n\r\n")).decode().splitlines()
        headers = dict(line.lower().split(": ", 1) for line in head_lines[1:-1])
        return HttpResponse(
            int(head_lines[0].split()[1]), headers, await self._reader.readexactly(int(headers["content-length"]))
        )

    def close(self) -> None:
        self._writer.close()


class GameUser:
    """A user with a bot and a connection. `is_listed` is true while the table lists it, `is_joining` before that."""

    def __init__(self, number: int, bot_name: str) -> None:
        self.name = f"guest{number}"
        self.connection = HttpConnection(basic_authorization(self.name, "secret").decode())
        self.bot = bot_factory(BOT_SPECS, bot_name)()
        self.luck = FairDealer(derive_server_seed(4, "guests", number)).luck
        self.guid = ""
        self.is_listed = self.is_joining = False
        self.player = Player()

    def player_in(self, game: Game) -> ListedPlayer | None:
        return next((player for player in game.table if player.player_id == self.guid), None)


class HoldemSession:
    """Runs the actions of all users at one game, and checks after every request that all chips are there."""

    def __init__(self, users: Sequence[GameUser], observer: HttpConnection, on_hand: Callable[[str], object]) -> None:
        self.users = users
        self.on_hand = on_hand
        self.hands: list[str] = []
        self.counts: Counter[str] = Counter()
        self.chips_taken_away = 0
        """The chips that players took with them when they left."""
        self.view = Game("", (), NO_TURN, Cards(()), ())
        self._observer = observer
        self._small_blind = ""

    async def join_all(self) -> None:
        """Register all users, and join the game with each."""
        for user in self.users:
            response = await user.connection.request("POST", "/users/")
            assert response.status == 201
            user.guid = json.loads(response.body)
        self._game: str = json.loads((await self._observer.request("GET", "/games/")).body)[0]["gameID"]
        for user in self.users:
            await self._join(user)
        await self._refresh(self._observer)

    async def play(self, hands: int, plan: Iterable[tuple[int, str]] = ()) -> None:
        """Play `hands` hands. `plan` has (number of hands, method name) pairs of special actions."""
        pending = sorted(plan, reverse=True)
        while len(self.hands) < hands:
            (user,) = [user for user in self.users if user.guid == self.view.turn.player_id]
            if pending and len(self.hands) >= pending[-1][0]:
                await getattr(self, pending.pop()[1])(user)
            else:
                await self._act(user)
            for user in self.users:
                if not user.is_listed and not user.is_joining:
                    await self._join(user)

    # Actions

    async def _join(self, user: GameUser) -> None:
        response = await user.connection.request("POST", f"/games/{self._game}/players/")
        assert json.loads(response.body) == user.guid
        self.counts[{201: "seated", 202: "queued"}[response.status]] += 1
        user.is_joining = True
        user.player = Player(Options(user.name, user.guid))

    async def _act(self, user: GameUser) -> None:
        """Let the user to act read the game, choose a move, make it, and read the game again."""
        await self._refresh_user(user)
        act = user.player.decide(user.bot, user.luck)
        if act is None:
            assert not user.is_listed, f"{user.name} has nothing to decide in {self.view}"
            return  # the turn timed out because this machine was too slow
        user.player.on(Submitted(act), 0.0)
        response = await self._act_request(user, {"action": act.action, "betAmount": act.amount})
        assert "x-fold-reason" not in response.headers, (response, act, self.view)
        if response.status == 404:  # the turn timed out, as above
            await self._refresh(self._observer)
            assert not user.is_listed
        else:
            assert response.status == 201, response
            await self._refresh_user(user, has_acted=True)

    async def bet_too_much(self, user: GameUser) -> None:
        """Make an invalid bet: the hand is folded (ruling H5)."""
        response = await self._act_request(user, {"action": 1, "betAmount": STACK * SEATS * 100})
        assert (response.status, response.body) == (201, b"")
        assert response.headers["x-fold-reason"].startswith("found ")
        self.counts["bet too much"] += 1
        await self._refresh(self._observer)

    async def time_out(self, user: GameUser) -> None:
        """Let the turn time out: the user leaves the game with its chips (ruling H6)."""
        response = await user.connection.request("GET", f"/games/{self._game}?wait=60&since={self._version}")
        assert user.player_in(read_game(response.body)) is None
        assert (await self._act_request(user, {"action": 0})).status == 404
        self.counts["timed out"] += 1
        await self._refresh(self._observer)

    async def leave_hand(self, user: GameUser) -> None:
        """Let the user leave who has bet most in this round and is not to act."""
        other_users = [other for other in self.users if other.is_listed and other is not user]
        rows_in_hand = [
            (other, row) for other in other_users if (row := other.player_in(self.view)) and row.state != "folded"
        ]
        leaver, row = max(rows_in_hand, key=lambda pair: pair[1].bet_so_far)
        path = f"/games/{self._game}/players/{leaver.guid}"
        assert (await leaver.connection.request("DELETE", path)).status == 200
        assert (await leaver.connection.request("DELETE", path)).status == 404
        self.counts["left"] += 1
        self.counts["forfeited"] += row.bet_so_far
        await self._refresh(self._observer)

    async def _act_request(self, user: GameUser, act: dict[str, int]) -> HttpResponse:
        path = f"/games/{self._game}/players/{user.guid}/acts/"
        return await user.connection.request("POST", path, json.dumps(act).encode())

    # Observations

    async def _refresh_user(self, user: GameUser, *, has_acted: bool = False) -> None:
        await self._refresh(user.connection, user if has_acted else None)
        user.player.on(Received(HOUSE, self.view), 0.0)

    async def _refresh(self, connection: HttpConnection, actor: GameUser | None = None) -> None:
        """Read the table: note who has joined and left, check the chips, and collect finished hands.

        Only the actor can have lost chips since the last request; other players who left took theirs with them.
        """
        response = await connection.request("GET", f"/games/{self._game}")
        assert response.status == 200
        self._version = response.headers["x-game-version"]
        previous, self.view = self.view, read_game(response.body)
        for user in self.users:
            previous_row, is_listed = user.player_in(previous), user.player_in(self.view) is not None
            if is_listed and previous_row is None:
                self.counts["sat down"] += 1
                user.is_joining = False
            elif previous_row is not None and not is_listed:
                taken = 0 if user is actor else previous_row.wealth
                self.chips_taken_away += taken
                self.counts["broke"] += not taken
            user.is_listed = is_listed
        chips = sum(player.wealth for player in self.view.table) + sum(pot.size for pot in self.view.pots)
        assert chips + self.chips_taken_away == STACK * self.counts["sat down"], (previous, self.view)
        small_blind = next((player.player_id for player in self.view.table if player.small_blind), "")
        if small_blind != self._small_blind:  # a new hand has begun
            self._small_blind = small_blind
            await self._collect()

    async def _collect(self) -> None:
        """Fetch the finished hands in their public form."""
        while (response := await self._hand(len(self.hands) + 1)).status == 200:
            self.hands.append(response.body.decode())
            self.on_hand(self.hands[-1])

    async def _hand(self, number: int) -> HttpResponse:
        return await self._observer.request("GET", f"/games/{self._game}/hands/{number}.phh")

    async def is_first_hand_forgotten(self) -> bool:
        """Whether the server no longer has the first hand."""
        return (await self._hand(1)).status == 404


async def play_session(
    serving: Serving, hands: int, plan: Iterable[tuple[int, str]], on_hand: Callable[[str], object]
) -> HoldemSession:
    users = [GameUser(number, bot_name) for number, bot_name in enumerate(BOTS, start=1)]
    connections = [HttpConnection(), *(user.connection for user in users)]
    session = HoldemSession(users, connections[0], on_hand)
    async with asyncio.timeout(TIMEOUT_SECONDS):
        for connection in connections:
            await connection.open(serving.host, serving.port)
        await session.join_all()
        await session.play(hands, plan)
        assert await session.is_first_hand_forgotten()
    for connection in connections:
        connection.close()
    return session


PLAN: Final = [
    *((hand, "time_out") for hand in (150, 450, 750)),
    *((hand, "leave_hand") for hand in range(20, 1_000, 40)),
    *((hand, "bet_too_much") for hand in range(10, 1_000, 40)),
]
"""Actions that the bots would not take, and the number of hands after which they happen."""


# Checks


class PhhHand(NamedTuple):
    """A hand in PHH; players are in order from the left of the button."""

    number: int
    players: list[str]
    places: list[int]
    starting: list[int]
    finishing: list[int]


def parse_hand(text: str) -> PhhHand:
    fields = tomllib.loads(text)
    starting = fields.get("_starting_stacks", fields["starting_stacks"])
    return PhhHand(
        fields["hand"],
        fields["players"],
        [seat - 1 for seat in fields["seats"]],
        starting,
        fields["finishing_stacks"],
    )


def check_chips(hands: Iterable[PhhHand], table: Iterable[ListedPlayer]) -> None:
    """Check that every hand conserves its chips and starts with those of the previous hand, or with new stacks.

    The hand that is just starting at the table is included.
    """
    chips: dict[str, int] = {}
    for number, hand in enumerate(hands, start=1):
        assert hand.number == number
        assert sum(hand.starting) == sum(hand.finishing), hand
        for player, starting, finishing in zip(hand.players, hand.starting, hand.finishing, strict=True):
            assert starting in {chips.get(player), STACK}, hand
            chips[player] = finishing
    for listed in table:
        assert listed.wealth + listed.bet_so_far in {chips.get(listed.handle), STACK}


def replay_with_pokerkit(text: str) -> tuple[list[int], list[int]]:
    """Return the final stacks after a replay in PokerKit: as PokerKit pays them, and as H7 pays the same pots.

    PokerKit merges pots with the same winners before it divides them, so odd chips may go to other players.
    """
    from pokerkit import Automation, HandHistory  # takes half a second

    automations = tuple(each for each in HandHistory.automations if each is not Automation.HAND_KILLING)
    state: Any = None
    paid_by_pot: list[int] | None = None
    for state in HandHistory.loads(text, automations=automations):
        if paid_by_pot is None and state.can_kill_hand():
            paid_by_pot = list(state.stacks)
            for pot in state.pots:
                ranks = {index: state.get_hand(index, 0, 0) for index in pot.player_indices}
                winners = [index for index in pot.player_indices if ranks[index] == max(ranks.values())]
                chips, odd_chips = divmod(pot.amount, len(winners))
                for number, index in enumerate(winners):
                    paid_by_pot[index] += chips + (number < odd_chips)
    assert not state.status
    return list(state.stacks), list(state.stacks) if paid_by_pot is None else paid_by_pot


def replay(text: str) -> None:
    """Assert that PokerKit ends the hand with our stacks."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # about folds without a bet, and about unknown cards
        finishing = parse_hand(text).finishing
        paid_by_pokerkit, paid_by_pot = replay_with_pokerkit(text)
        assert paid_by_pot == finishing, text
        difference = sum(abs(paid - ours) for paid, ours in zip(paid_by_pokerkit, finishing, strict=True))
        assert difference <= SEATS, text


def record_nets(record: Path) -> list[list[int]]:
    """The results of every hand in a dealer's record, by place."""
    entries = [json.loads(line) for line in record.read_text().splitlines()]
    return [entry["net"] for entry in entries if entry["deal"] == "hand"]


def check(phh_texts: Sequence[str], record: Path, table: Sequence[ListedPlayer] = ()) -> None:
    """Check the chips of hands in PHH, and the promises in the dealer's record."""
    hands = [parse_hand(text) for text in phh_texts]
    check_chips(hands, table)
    # Not strict: the record may have one more hand, which is void.
    for hand, net in zip(hands, record_nets(record), strict=False):
        results = [finishing - starting for starting, finishing in zip(hand.starting, hand.finishing, strict=True)]
        assert results == [net[place] for place in hand.places]
    verified = croupier("verify", record)
    assert verified.returncode == 0, verified.stdout


@pytest.mark.extended
@pytest.mark.parametrize("hands", [200, pytest.param(1_000, marks=pytest.mark.slow)])
def test_ten_bots_play_and_chips_are_conserved(tmp_path: Path, hands: int) -> None:
    record = tmp_path / "deals.jsonl"
    flags = ("--deals", record, "--seed", 4, "--turn-seconds", TURN_SECONDS, "--history", 20, "--drain-seconds", 0)
    replays: list[Future[None]] = []
    plan = [(hand, action) for hand, action in PLAN if hand < hands]
    with ProcessPoolExecutor(1, get_context("spawn")) as pool, Serving("holdem", "--port", 0, *flags) as serving:
        session = run(play_session(serving, hands, plan, lambda text: replays.append(pool.submit(replay, text))))
        assert serving.stop() == 0
        for replay_result in replays:
            replay_result.result()
    assert len(replays) == len(session.hands) >= hands
    counts = session.counts
    planned = Counter(action for _, action in plan)
    assert (counts["timed out"], counts["left"], counts["bet too much"]) == tuple(
        planned[action] for action in ("time_out", "leave_hand", "bet_too_much")
    )
    assert min(counts["queued"], counts["broke"], counts["forfeited"]) > 0
    check(session.hands, record, session.view.table)


async def play_library_bots(serving: Serving, hands: int) -> tuple[list[BotTally], list[str]]:
    """Let ten library bots play until one has played `hands` hands; return their tallies and all hands."""
    observer = await HttpConnection().open(serving.host, serving.port)
    game = json.loads((await observer.request("GET", "/games/")).body)[0]["gameID"]
    tallies = [BotTally() for _ in range(SEATS)]

    async def bot(number: int) -> None:
        policy, luck = bot_factory(BOT_SPECS, BOTS[number])(), FairDealer(derive_server_seed(5, "bots", number)).luck
        async with HoldemClient(f"http://{serving.address}", f"bot{number}", "secret") as client:
            await play_hands(client, policy, luck, hands, game=game, tally=tallies[number])

    async with asyncio.timeout(TIMEOUT_SECONDS):
        bots = [asyncio.create_task(bot(number)) for number in range(SEATS)]
        await asyncio.wait(bots, return_when=asyncio.FIRST_COMPLETED)
        phh_texts: list[str] = []
        while (
            response := await observer.request("GET", f"/games/{game}/hands/{len(phh_texts) + 1}.phh")
        ).status == 200:
            phh_texts.append(response.body.decode())
        for task in bots:
            task.cancel()  # the bot leaves; the game ends when all have left
        await asyncio.wait(bots)
    observer.close()
    return tallies, phh_texts


@pytest.mark.slow
def test_ten_library_bots_play_independently(tmp_path: Path) -> None:
    record = tmp_path / "deals.jsonl"
    with Serving("holdem", "--port", 0, "--deals", record, "--history", 100_000, "--drain-seconds", 0) as serving:
        tallies, phh_texts = run(play_library_bots(serving, 200))
        assert serving.stop() == 0
    assert [tally.fault for tally in tallies] == [None] * SEATS
    assert max(len(tally.nets) for tally in tallies) == 200
    assert len(phh_texts) >= 200
    check(phh_texts, record)
    for text in phh_texts:
        replay(text)
