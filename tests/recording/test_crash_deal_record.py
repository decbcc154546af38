"""Servers are killed, or their disk is full at times, while they write the dealer's record."""

import resource
import signal
import time
from pathlib import Path
from random import Random

import pytest

from tests.processes import PATIENCE, Serving
from tests.recording.test_crash_holdem import Bot, seat_bots
from tests.recording.test_deal_record_faults import findings, play
from tests.recording.test_house_faults import CLIENT_ADDRESSES, MANY_COINS, BettingClient

BOTS = ("ann", "bob")


def count_promises(path: Path) -> int:
    return path.read_bytes().count(b'{"deal":"promise"') if path.exists() else 0


@pytest.mark.parametrize("kills", [1, pytest.param(12, marks=pytest.mark.slow)])
def test_killed_house_had_recorded_the_promise_of_every_shown_card(tmp_path: Path, kills: int) -> None:
    random = Random(kills)
    path, store = tmp_path / "deals", tmp_path / "kept.db"
    flags = ("--port", 0, "--accounts", "address", "--coins", MANY_COINS, "--store", store, "--deals", path)
    for _ in range(kills):
        promises_before = count_promises(path)
        with Serving("kuhn", *flags) as serving:
            clients = [BettingClient((serving.host, serving.port), source) for source in CLIENT_ADDRESSES]
            for client in clients:
                client.start()
            time.sleep(random.uniform(0, 0.2))
            serving.signal(signal.SIGKILL)
            for client in clients:
                client.join(PATIENCE)
        assert count_promises(path) - promises_before >= sum(bool(client.results) for client in clients)
        assert all(finding.is_proved is not False for finding in findings(path))


@pytest.mark.slow
def test_holdem_hands_that_survive_a_kill_match_their_promises(tmp_path: Path) -> None:
    kills = 6
    random = Random(kills)
    path, store = tmp_path / "deals", tmp_path / "kept.db"
    guids: dict[str, str] = {}
    for round_ in range(kills + 1):
        with Serving("holdem", "--port", 0, "--store", store, "--deals", path) as serving:
            url = f"http://{serving.address}"
            if not guids:
                game, guids = seat_bots(url)
                assert count_promises(path) == 1
            bots = [Bot(bot, guids[bot], game, url) for bot in BOTS]
            for bot in bots:
                bot.start()
            time.sleep(random.uniform(0.1, 0.4))
            serving.signal(signal.SIGKILL if round_ < kills else signal.SIGTERM)
            for bot in bots:
                bot.join(PATIENCE)
    found = findings(path)
    assert all(finding.is_proved is not False for finding in found), found
    assert any(finding.is_proved for finding in found)


@pytest.mark.parametrize("times", [2, pytest.param(100, marks=pytest.mark.slow)])
def test_disk_that_is_full_at_times_breaks_no_promise(tmp_path: Path, times: int) -> None:
    random = Random(times)
    path = tmp_path / "deals"
    path.write_bytes(b"\n" * (1 << 20))  # leaves space for the log, which has the same limit
    with Serving("kuhn", "--port", 0, "--bot", "script:CAL", "--journal", "off", "--deals", path) as serving:
        _, hard_limit = resource.prlimit(serving.pid, resource.RLIMIT_FSIZE)
        for _ in range(times):
            space = path.stat().st_size + random.randrange(700)
            resource.prlimit(serving.pid, resource.RLIMIT_FSIZE, (space, hard_limit))
            for _ in range(random.randrange(1, 5)):
                play(serving)
            resource.prlimit(serving.pid, resource.RLIMIT_FSIZE, (hard_limit, hard_limit))
            play(serving)
        assert serving.stop() == 0
    found = findings(path)
    assert all(finding.is_proved is not False for finding in found), found
    assert sum(finding.is_proved is True for finding in found) >= times
    assert sum(finding.is_proved is None for finding in found) > 0
