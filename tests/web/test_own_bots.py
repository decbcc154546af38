"""The bots of `croupier serve --bot` join people in the web app: also those of Python files, and programs."""

import asyncio
import shlex
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from croupier.core.basic_auth import basic_authorization
from croupier.http.auth import MemoryUsers, UserRecord
from croupier.rooms.holdem import ROOM as HOLDEM
from croupier.rooms.oldmaid import ROOM as OLDMAID
from croupier.rooms.oldmaid.settings import Settings
from croupier.web.app import close, create_app, wait_closed
from croupier.web.config import WebConfig
from croupier.web.holdem_bots import program_account
from croupier.web.rooms import RoomEntry
from tests.clients.oldmaid_fixtures import open_table
from tests.core.test_bot_files import HONEST, write
from tests.net.raw_client import TIMEOUT_SECONDS, Run
from tests.processes import croupier, is_running
from tests.web.app_fixture import KEYS, Browser
from tests.web.test_holdem_seats import Holdem, holdem, to_act, view
from tests.web.test_ring_seats import play_a_game
from tests.web.test_ring_seats import view as ring_view


class Log:
    def __init__(self) -> None:
        self.entries: list[dict[str, Any]] = []

    def error(self, event: str, **facts: Any) -> None:
        self.entries.append({"event": event, **facts})

    warning = error

    async def wait(self) -> None:
        """Wait for the first entry."""
        async with asyncio.timeout(TIMEOUT_SECONDS):
            while not self.entries:
                await asyncio.sleep(0.01)


@pytest.fixture
def log(monkeypatch: pytest.MonkeyPatch) -> Log:
    log = Log()
    for module in ("holdem_bots", "ring_seat"):
        monkeypatch.setattr(f"croupier.web.{module}.BOTS_AFTER_SECONDS", 0.0)
        monkeypatch.setattr(f"croupier.web.{module}.get_logger", lambda **_: log)
    monkeypatch.setattr("croupier.web.bot_programs.get_logger", lambda **_: log)
    monkeypatch.setattr("croupier.web.holdem_bots.THINKING_SECONDS", 0.0)
    return log


@pytest.mark.parametrize(
    ("body", "reason"), [("return view.call", ""), ("raise KeyError(view.hole)", "line 2: KeyError"), ("return -1", "")]
)
@pytest.mark.extended
def test_a_class_in_a_file_plays_holdem_with_a_person(
    run: Run, log: Log, tmp_path: Path, body: str, reason: str
) -> None:
    bot = f"{write(tmp_path, f'class Own:\n def choose(self, view, legal, luck): {body}')}:Own"

    async def main() -> None:
        async with holdem() as room:
            close(room.app)
            settings = room.room.house_service.house.settings
            room.app = create_app([RoomEntry(HOLDEM, settings, room.room, bots=(bot,))], WebConfig(), KEYS)
            ann = await Browser(room.app).play("holdem")
            async with asyncio.timeout(TIMEOUT_SECONDS):
                while len(view(room, ann).results) < 3:
                    await to_act(room, ann)
                    assert (await ann.act("call")).status_code in {200, 409}
            assert sorted(str(seat.name) for seat in view(room, ann).seats) == ["You", "bot:Own-1"]

    run(main())
    assert bool(log.entries) == (body != "return view.call")
    for entry in log.entries:
        assert (entry["event"], entry["bot"]) == ("the bot has failed", bot)
        assert entry["reason"].startswith(reason or "an illegal move; allowed: fold")


@pytest.mark.parametrize("source", [HONEST, "class Honest:\n def choose(self, view, legal, luck): return 99"])
def test_a_class_in_a_file_plays_old_maid_with_a_person(run: Run, log: Log, tmp_path: Path, source: str) -> None:
    bot = f"{write(tmp_path, source)}:Honest"

    async def main() -> None:
        async with open_table(3) as table:
            entry = RoomEntry(OLDMAID, Settings(players=3), table.endpoint, address=table.address, bots=(bot,))
            app = create_app([entry], WebConfig(), KEYS)
            browser = await Browser(app).play("oldmaid")
            await play_a_game(app, browser)
            assert ring_view(app, browser).results
            close(app)
            await asyncio.sleep(0)

    run(main())
    assert {entry["bot"] for entry in log.entries} == ({bot} if source != HONEST else set())


@pytest.mark.parametrize("room", ["holdem", "oldmaid"])
def test_a_bot_that_does_not_exist_is_refused_at_the_start(room: str) -> None:
    done = croupier("serve", room, "--port", "0", "--bot", "random", "--bot", "nothing.py:X")
    assert done.returncode == 2
    assert "found the bot 'nothing.py:X': there is no such file" in done.stderr


PROGRAM, _ = program_account(KEYS, 1)
PLAY = "exec {python} -m croupier play {room} --bot {bot}"
HOLDEM_ARGUMENTS = "{url} --user {user} --password {password} --game {game} --hands 1000"


def program(tmp_path: Path, room: str, bot: str, arguments: str) -> tuple[str, Path]:
    """The command of a program that writes its process id to a file, and plays as `croupier play` does."""
    script, pid = tmp_path / "bot.sh", tmp_path / "pid"
    play = PLAY.format(python=shlex.quote(sys.executable), room=room, bot=bot)
    script.write_text(f'echo $$ >> {shlex.quote(str(pid))}\n{play} "$@"\n')
    return f"sh {shlex.quote(str(script))} {arguments}", pid


async def wait_until_ended(pid: Path) -> None:
    """Wait until no process in the file runs."""
    async with asyncio.timeout(TIMEOUT_SECONDS):
        for number in map(int, pid.read_text().split()):
            while is_running(number):
                await asyncio.sleep(0.01)


@asynccontextmanager
async def open_holdem(*bots: str) -> AsyncIterator[Holdem]:
    """A hold'em room that listens, and its web app with these bots."""
    async with holdem() as room:
        address = await room.room.listen("127.0.0.1", 0)
        close(room.app)
        settings = room.room.house_service.house.settings
        room.app = create_app([RoomEntry(HOLDEM, settings, room.room, address=address, bots=bots)], WebConfig(), KEYS)
        try:
            yield room
        finally:
            close(room.app)
            await wait_closed(room.app)
            await room.room.stop(timeout=0.0)


def test_a_program_plays_holdem_with_a_person_until_they_leave(run: Run, log: Log, tmp_path: Path) -> None:
    command, pid = program(tmp_path, "holdem", "caller", HOLDEM_ARGUMENTS)

    async def main() -> None:
        async with open_holdem(command) as room:
            ann = await Browser(room.app).play("holdem")
            async with asyncio.timeout(TIMEOUT_SECONDS):
                while len(view(room, ann).results) < 2:
                    await to_act(room, ann)
                    assert (await ann.act("call")).status_code in {200, 409}
            assert sorted(str(seat.name) for seat in view(room, ann).seats) == ["You", PROGRAM]
            await ann.post(f"{ann.table}/leave")
            await wait_until_ended(pid)
            async with asyncio.timeout(TIMEOUT_SECONDS):
                await wait_closed(room.app)  # before that, the program still has its number, and its user may be seated
            again = await Browser(room.app).play("holdem")  # the same user, who logs in
            await to_act(room, again)
            assert PROGRAM in [str(seat.name) for seat in view(room, again).seats]
            close(room.app)
            await wait_until_ended(pid)

    run(main())
    assert log.entries == []


@pytest.mark.extended
def test_a_program_plays_old_maid_with_a_person_until_they_leave(run: Run, log: Log, tmp_path: Path) -> None:
    command, pid = program(tmp_path, "oldmaid", "random", "{host}:{port} --nick {nick}")

    async def main() -> None:
        async with open_table(3) as table:
            entry = RoomEntry(OLDMAID, Settings(players=3), table.endpoint, address=table.address, bots=(command,))
            app = create_app([entry], WebConfig(), KEYS)
            browser = await Browser(app).play("oldmaid")
            await play_a_game(app, browser)
            assert ring_view(app, browser).results
            await browser.post(f"{browser.table}/leave")
            await wait_until_ended(pid)
            close(app)
            await asyncio.sleep(0)

    run(main())
    assert len(pid.read_text().split()) == 2
    assert log.entries == []


@pytest.mark.parametrize(
    ("command", "reason"),
    [
        ("sh -c 'exit 3' {host}", "exit status 3"),
        ("/no/such/program {port}", "'/no/such/program' cannot be started: No such file or directory"),
    ],
)
def test_a_program_that_cannot_play_is_logged(run: Run, log: Log, command: str, reason: str) -> None:
    async def main() -> None:
        async with open_holdem(command) as room:
            await Browser(room.app).play("holdem")
            await log.wait()

    run(main())
    assert log.entries[0] == {"event": "the bot has failed", "bot": command, "reason": reason}


def test_a_program_whose_user_is_taken_is_logged(run: Run, log: Log) -> None:
    async def main() -> None:
        async with open_holdem("true {user}") as room:
            await room.room.authenticator.register(basic_authorization(PROGRAM, "secret"), "127.0.0.1")
            await Browser(room.app).play("holdem")
            await log.wait()

    run(main())
    assert log.entries[0]["reason"].startswith(f"found a user '{PROGRAM}'")


def test_a_bot_that_registers_has_stopped_when_the_app_is_closed(
    run: Run, log: Log, monkeypatch: pytest.MonkeyPatch
) -> None:
    class SlowUsers(MemoryUsers):
        readers = 0
        is_read = asyncio.Event()

        async def get(self, name: str) -> UserRecord | None:
            self.readers += 1
            self.is_read.set()
            try:
                return await asyncio.Future()
            finally:
                await asyncio.sleep(0)
                self.readers -= 1

    async def main() -> None:
        users = SlowUsers()
        async with open_holdem("true {user}") as room:
            monkeypatch.setattr(room.room.authenticator, "_users", users)
            await Browser(room.app).play("holdem")
            async with asyncio.timeout(TIMEOUT_SECONDS):
                await users.is_read.wait()
            close(room.app)
            assert users.readers
            await wait_closed(room.app)
            assert not users.readers, "the authenticator may be closed"

    run(main())
    assert log.entries == []


def test_no_more_programs_run_than_are_allowed(run: Run, log: Log, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("croupier.web.bot_programs.MAX_PROGRAMS", 1)

    async def main() -> None:
        async with open_holdem("sleep 60 {port}", "sleep 60 {host}") as room:
            await Browser(room.app).play("holdem")
            await log.wait()

    run(main())
    assert log.entries == [{"event": "too many bots are running", "bot": "sleep 60 {host}", "allowed": 1}]


@pytest.mark.parametrize(
    ("arguments", "found"),
    [
        (
            ["127.0.0.1:9000"],
            "found the bot '127.0.0.1:9000', an address; allowed: a bot of ours, or a command with {port}",
        ),
        (["./bot {port}", "--tls-cert", "cert.pem"], "found the bot './bot {port}', a command, and --tls-cert"),
        (["./bot {nick}"], "found {nick} in './bot {nick}'; allowed: {url}, {host}, {port}, {user}"),
    ],
)
def test_a_bot_that_cannot_join_people_is_refused_at_the_start(arguments: list[str], found: str) -> None:
    done = croupier("serve", "holdem", "--port", "0", "--bot", *arguments)
    assert done.returncode == 2
    assert found in done.stderr
