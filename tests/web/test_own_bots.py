"""The bots of `croupier serve --bot` join people in the web app, also those of Python files."""

import asyncio
from pathlib import Path
from typing import Any

import pytest

from croupier.rooms.holdem import ROOM as HOLDEM
from croupier.rooms.oldmaid import ROOM as OLDMAID
from croupier.rooms.oldmaid.settings import Settings
from croupier.web.app import close, create_app
from croupier.web.config import WebConfig
from croupier.web.rooms import RoomEntry
from tests.clients.oldmaid_fixtures import open_table
from tests.core.test_bot_files import HONEST, write
from tests.net.raw_client import TIMEOUT_SECONDS, Run
from tests.processes import croupier
from tests.web.app_fixture import KEYS, Browser
from tests.web.test_holdem_seats import holdem, to_act, view
from tests.web.test_ring_seats import play_a_game
from tests.web.test_ring_seats import view as ring_view


class Log:
    def __init__(self) -> None:
        self.entries: list[dict[str, Any]] = []

    def error(self, event: str, **facts: Any) -> None:
        self.entries.append({"event": event, **facts})


@pytest.fixture
def log(monkeypatch: pytest.MonkeyPatch) -> Log:
    log = Log()
    for module in ("holdem_bots", "ring_seat"):
        monkeypatch.setattr(f"croupier.web.{module}.BOTS_AFTER_SECONDS", 0.0)
        monkeypatch.setattr(f"croupier.web.{module}.get_logger", lambda **_: log)
    monkeypatch.setattr("croupier.web.holdem_bots.THINKING_SECONDS", 0.0)
    return log


@pytest.mark.parametrize(
    ("body", "reason"), [("return view.call", ""), ("raise KeyError(view.hole)", "line 2: KeyError"), ("return -1", "")]
)
def test_a_class_in_a_file_plays_holdem_with_a_person(
    run: Run, log: Log, tmp_path: Path, body: str, reason: str
) -> None:
    bot = f"{write(tmp_path, f'class Own:\n def choose(self, view, legal, luck): {body}')}:Own"

    async def main() -> None:
        async with holdem() as room:
            close(room.app)
            settings = room.room.service.house.settings
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
    assert done.returncode == 1
    assert "found the bot 'nothing.py:X': there is no such file" in done.stderr
