"""How soon a server of hold'em that was killed answers again, with 10,000 hands in its journal."""

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

from croupier.core.dealer import dealer_factory
from croupier.core.session import Effect, HandFinished
from croupier.net.event_loop import run
from croupier.recording.holdem_journal import JOURNAL_TABLE, ROOM_NAME, HoldemJournal, JournalStart, open_journal
from croupier.rooms.holdem.house import House
from croupier.rooms.holdem.settings import Settings
from croupier.rooms.holdem.table.persistence import HouseInput
from croupier.rooms.holdem.table.table import Table
from croupier.rooms.holdem.wire import ACTION_BET, ACTION_FOLD, Act, Join, Open
from croupier.store.store import open_store
from harness import READY, verdict

TARGET_S = 2.0
PLAYERS = 3
STACK = 1_000_000
PATIENCE_S = 60.0


@dataclass(frozen=True)
class Kept:
    """What is in the store when the server was killed: `again` are the facts since its state was kept."""

    hands: int
    facts: int
    again: int
    state: int


class Evening:
    """A house at whose tables everybody acts in turn, and folds now and then. `hands` are over."""

    def __init__(self, house: House, luck: Random) -> None:
        self.hands = 0
        self._house = house
        self._luck = luck

    def sit_down(self, tables: int) -> Iterator[HouseInput]:
        """The facts with which so many tables of three begin."""
        for number in range(tables):
            users = [f"user{number}-{seat}" for seat in range(PLAYERS)]
            if number:
                yield HouseInput(time.time(), Open(users[0]))
            table = self._house.games()[number]
            for user in users[1:] if number else users:
                yield HouseInput(time.time(), Join(user, table.guid))

    def act(self, table: Table) -> HouseInput:
        """What whoever has to act does."""
        turn = table.view().turn
        names = {player.player_id: player.handle for player in table.view().table}
        user = names[turn.player_id]
        action = ACTION_FOLD if self._luck.random() < 0.05 else ACTION_BET
        chips = turn.bet_to_player - turn.bet_so_far
        return HouseInput(time.time(), Act(user, table.guid, turn.player_id, action, chips))

    def hear(self, heard: HouseInput) -> Sequence[Effect[object]]:
        """Let the house hear it."""
        effects = self._house.apply(heard)
        self.hands += sum(type(effect) is HandFinished for effect in effects)
        return effects


def build(begun: JournalStart) -> House:
    """A house as the server builds it."""
    return House(begun.settings, dealer_factory(begun.server_seed), begun.server_seed(0))


async def play(path: str, hands: int, tables: int) -> None:
    """Play so many hands into a store, a fact of every table at a time, and say what is there."""
    async with await open_store(path) as store:
        house, journal, _ = await open_journal(store, JournalStart(Settings(stack=STACK)), build)
        evening = Evening(house, Random(hands))
        for heard in evening.sit_down(tables):
            await written(journal, [heard], evening.hear(heard))
        while evening.hands < hands:
            facts, effects = [], list[Effect[object]]()
            for table in house.games()[:tables]:
                facts.append(evening.act(table))
                effects += evening.hear(facts[-1])
            await written(journal, facts, effects)


async def written(journal: HoldemJournal, facts: Sequence[HouseInput], effects: Sequence[Effect[object]]) -> None:
    """Write down what was heard, as the desk does."""
    await journal.write(facts, [effect for effect in effects if type(effect) is HandFinished])
    journal.confirm_written(facts)


async def look(path: str) -> Kept:
    """What is in a store."""
    async with await open_store(path) as store:
        snapshot, last = (
            await store.load_snapshot(ROOM_NAME, JOURNAL_TABLE),
            await store.last_seq(ROOM_NAME, JOURNAL_TABLE),
        )
        hands = len(await store.hands(ROOM_NAME, limit=10**9))
        if snapshot is None:
            return Kept(hands, last, last, 0)
        return Kept(hands, last, last - snapshot.seq, len(snapshot.state))


def first_answer(path: str) -> float:
    """The seconds from the start of the process to the first answer; then it is killed."""
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
        connection = HTTPConnection("127.0.0.1", int(ready[2]), timeout=PATIENCE_S)
        connection.request("GET", "/games/")
        assert connection.getresponse().status == 200
        return time.perf_counter() - started
    finally:
        process.send_signal(signal.SIGKILL)
        process.communicate()


def main() -> None:
    """Play, kill and open again, at one table and at many."""
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
        print(f"a house that is new answers after {empty:.2f} s")
        for tables in map(int, options.tables.split(",")):
            path = str(Path(folder) / f"{tables}.sqlite")
            again = ["--hands", str(options.hands), "--tables", str(tables), "--play", path]
            subprocess.run([sys.executable, __file__, *again], check=False)
            kept = run(look(path))
            assert kept.hands >= options.hands
            seconds = [first_answer(path) for _ in range(options.rounds)]
            print(f"{tables:>4} tables, {kept.hands:,} hands, {kept.facts:,} facts", end="; ")
            print(f"{kept.again:,} of them have come since the state of {kept.state / 1e6:.2f} MB was kept")
            told = f"  answers after {min(seconds):.2f} s, at the latest {max(seconds):.2f} s"
            print(f"{told}   target under {TARGET_S:g} s: {verdict(max(seconds) < TARGET_S)}")


if __name__ == "__main__":
    main()
