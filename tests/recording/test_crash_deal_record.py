"""Servers that are killed, or whose disk is full at times, while they write the dealer's record."""

import resource
import signal
import time
from pathlib import Path
from random import Random

import httpx
import pytest

from tests.processes import PATIENCE, Serving
from tests.recording.test_crash_holdem import Bot
from tests.recording.test_deal_record_faults import findings, play
from tests.recording.test_house_faults import CLIENTS, PLENTY, Bettor

BOTS = ("ann", "bob")


def promises(path: Path) -> int:
    return path.read_bytes().count(b'{"deal":"promise"') if path.exists() else 0


@pytest.mark.parametrize("kills", [1, pytest.param(12, marks=pytest.mark.slow)])
def test_a_house_that_is_killed_had_promised_every_card_that_it_showed(tmp_path: Path, kills: int) -> None:
    luck = Random(kills)
    path, store = tmp_path / "deals", tmp_path / "kept.db"
    flags = ("--port", 0, "--accounts", "address", "--coins", PLENTY, "--store", store, "--deals", path)
    for _ in range(kills):
        before = promises(path)
        with Serving("kuhn", *flags) as serving:
            bettors = [Bettor((serving.host, serving.port), own) for own in CLIENTS]
            for bettor in bettors:
                bettor.start()
            time.sleep(luck.uniform(0, 0.2))
            serving.signal(signal.SIGKILL)
            for bettor in bettors:
                bettor.join(PATIENCE)
        assert promises(path) - before >= sum(bool(bettor.told) for bettor in bettors)
        assert all(finding.is_proved is not False for finding in findings(path))


@pytest.mark.slow
def test_hands_of_holdem_that_outlive_a_killed_server_are_as_promised(tmp_path: Path) -> None:
    kills = 6
    luck = Random(kills)
    path, store = tmp_path / "deals", tmp_path / "kept.db"
    guids: dict[str, str] = {}
    for round_ in range(kills + 1):
        with Serving("holdem", "--port", 0, "--store", store, "--deals", path) as serving:
            url = f"http://{serving.address}"
            game = httpx.get(f"{url}/games/").json()[0]["gameID"]
            if not guids:
                guids = {bot: httpx.post(f"{url}/users/", auth=(bot, "secret")).json() for bot in BOTS}
                for bot in BOTS:
                    assert httpx.post(f"{url}/games/{game}/players/", auth=(bot, "secret")).status_code == 201
                assert promises(path) == 1
            bots = [Bot(bot, guids[bot], game, url) for bot in BOTS]
            for bot in bots:
                bot.start()
            time.sleep(luck.uniform(0.1, 0.4))
            serving.signal(signal.SIGKILL if round_ < kills else signal.SIGTERM)
            for bot in bots:
                bot.join(PATIENCE)
    found = findings(path)
    assert all(finding.is_proved is not False for finding in found), found
    assert any(finding.is_proved for finding in found)


@pytest.mark.parametrize("times", [2, pytest.param(100, marks=pytest.mark.slow)])
def test_a_disk_that_is_full_at_times_disturbs_nobody_and_the_record_accuses_nobody(tmp_path: Path, times: int) -> None:
    luck = Random(times)
    path = tmp_path / "deals"
    path.write_bytes(b"\n" * (1 << 20))  # so that there is always space for the log
    with Serving("kuhn", "--port", 0, "--bot", "script:CAL", "--journal", "off", "--deals", path) as serving:
        _, most = resource.prlimit(serving.pid, resource.RLIMIT_FSIZE)
        for _ in range(times):
            space = path.stat().st_size + luck.randrange(700)
            resource.prlimit(serving.pid, resource.RLIMIT_FSIZE, (space, most))
            for _ in range(luck.randrange(1, 5)):
                play(serving)
            resource.prlimit(serving.pid, resource.RLIMIT_FSIZE, (most, most))
            play(serving)
        assert serving.stop() == 0
    found = findings(path)
    assert all(finding.is_proved is not False for finding in found), found
    assert sum(finding.is_proved is True for finding in found) >= times
    assert sum(finding.is_proved is None for finding in found) > 0
