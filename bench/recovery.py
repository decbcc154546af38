"""Benchmark: time from the start of a hold'em server that was killed to its first answer, with 10,000 hands stored."""

import argparse
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from http.client import HTTPConnection
from pathlib import Path
from random import Random

from croupier.core.session import Effect, HandFinished
from croupier.net.event_loop import run
from croupier.recording.holdem_journal import (
    JOURNAL_TABLE,
    ROOM_NAME,
    HoldemJournal,
    JournalStart,
    hand_record,
    open_journal,
)
from croupier.recording.journal import JournalBatch
from croupier.rooms.holdem.house import House
from croupier.rooms.holdem.settings import Settings
from croupier.rooms.holdem.table.persistence import HouseInput
from croupier.rooms.holdem.table.table import Table
from croupier.rooms.holdem.wire import ACTION_BET, ACTION_FOLD, Act, Join, Open
from croupier.store.store import open_store
from harness import READY, verdict

TARGET_SECONDS = 2.0
PLAYERS = 3
STACK = 1_000_000
TIMEOUT_SECONDS = 60.0


@dataclass(frozen=True)
class StoreContents:
    """The contents of the store of a killed server. `replayed_facts` are those after its last snapshot."""

    hands: int
    facts: int
    replayed_facts: int
    snapshot_bytes: int


class RandomPlay:
    """Random play at the tables of a house; players sometimes fold. `hands` counts finished hands."""

    def __init__(self, house: House, luck: Random) -> None:
        self.hands = 0
        self._house = house
        self._luck = luck

    def sit_down(self, tables: int) -> Iterator[HouseInput]:
        """Yield the inputs that seat three players at each table."""
        for number in range(tables):
            users = [f"user{number}-{seat}" for seat in range(PLAYERS)]
            if number:
                yield HouseInput(time.time(), Open(users[0]))
            table = self._house.games()[number]
            for user in users[1:] if number else users:
                yield HouseInput(time.time(), Join(user, table.guid))

    def act(self, table: Table) -> HouseInput:
        """Return an act of the player to act."""
        turn = table.view().turn
        names = {player.player_id: player.handle for player in table.view().table}
        user = names[turn.player_id]
        action = ACTION_FOLD if self._luck.random() < 0.05 else ACTION_BET
        chips = turn.bet_to_player - turn.bet_so_far
        return HouseInput(time.time(), Act(user, table.guid, turn.player_id, action, chips))

    def apply(self, house_input: HouseInput) -> Sequence[Effect[object]]:
        """Apply an input to the house and return the effects."""
        effects = self._house.apply(house_input)
        self.hands += sum(type(effect) is HandFinished for effect in effects)
        return effects


async def play(path: str, hands: int, tables: int) -> None:
    """Play `hands` hands into a store, one act per table at a time."""
    async with await open_store(path) as store:
        house, journal = await open_journal(store, JournalStart(settings=Settings(stack=STACK)))
        random_play = RandomPlay(house, Random(hands))
        for house_input in random_play.sit_down(tables):
            await write(journal, [house_input], random_play.apply(house_input))
        while random_play.hands < hands:
            facts, effects = [], list[Effect[object]]()
            for table in house.games()[:tables]:
                facts.append(random_play.act(table))
                effects += random_play.apply(facts[-1])
            await write(journal, facts, effects)


async def write(journal: HoldemJournal, facts: Sequence[HouseInput], effects: Sequence[Effect[object]]) -> None:
    """Write inputs and finished hands to the journal, as the hold'em service does."""
    now = facts[-1].now
    hands = [hand_record(effect, now) for effect in effects if type(effect) is HandFinished]
    batch: JournalBatch[HouseInput, None] = JournalBatch(facts, None, now, hands)
    await journal.write(batch)
    journal.confirm(batch)


async def inspect(path: str) -> StoreContents:
    """Return the contents of a store."""
    async with await open_store(path) as store:
        snapshot, last = (
            await store.load_snapshot(ROOM_NAME, JOURNAL_TABLE),
            await store.last_seq(ROOM_NAME, JOURNAL_TABLE),
        )
        hands = len(await store.hands(ROOM_NAME, limit=10**9))
        if snapshot is None:
            return StoreContents(hands, last, last, 0)
        return StoreContents(hands, last, last - snapshot.seq, len(snapshot.state))


def first_answer(path: str) -> float:
    """Start a server, return the seconds until its first answer, and kill it."""
    croupier = str(Path(sys.executable).with_name("croupier"))
    command = [
        croupier,
        "serve",
        "holdem",
        "--store",
        path,
        "--port",
        "0",
        "--stack",
        str(STACK),
        "--log-level",
        "error",
    ]
    started = time.perf_counter()
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    try:
        assert process.stdout is not None
        ready = READY.search(process.stdout.readline())
        assert ready, "the server does not open"
        connection = HTTPConnection("127.0.0.1", int(ready[2]), timeout=TIMEOUT_SECONDS)
        connection.request("GET", "/games/")
        assert connection.getresponse().status == 200
        return time.perf_counter() - started
    finally:
        process.send_signal(signal.SIGKILL)
        process.communicate()


def main() -> None:
    """Play, kill the process, and start a server, with one table and with many."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--hands", type=int, default=10_000)
    parser.add_argument("--tables", default="1,10,100")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--play", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.play:
        run(play(options.play, options.hands, int(options.tables)))
        os.kill(os.getpid(), signal.SIGKILL)
    with tempfile.TemporaryDirectory() as folder:
        empty = min(first_answer(str(Path(folder) / "empty")) for _ in range(options.rounds))
        print(f"a new house answers after {empty:.2f} s")
        for tables in map(int, options.tables.split(",")):
            path = str(Path(folder) / f"{tables}.sqlite")
            arguments = ["--hands", str(options.hands), "--tables", str(tables), "--play", path]
            subprocess.run([sys.executable, __file__, *arguments], check=False)
            kept = run(inspect(path))
            assert kept.hands >= options.hands
            seconds = [first_answer(path) for _ in range(options.rounds)]
            print(f"{tables:>4} tables, {kept.hands:,} hands, {kept.facts:,} facts", end="; ")
            print(f"{kept.replayed_facts:,} of them after the snapshot of {kept.snapshot_bytes / 1e6:.2f} MB")
            answers = f"  answers after {min(seconds):.2f} s, at the latest {max(seconds):.2f} s"
            print(f"{answers}   target under {TARGET_SECONDS:g} s: {verdict(max(seconds) < TARGET_SECONDS)}")


if __name__ == "__main__":
    main()
