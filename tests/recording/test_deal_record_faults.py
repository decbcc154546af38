"""A dealer's record or a conversation log that cannot be written, and the rooms that go on without it."""

import json
import re
import resource
import urllib.request
from pathlib import Path

import pytest

from croupier.core.deal_record import RecordFinding, verify_record
from croupier.rooms import ROOMS
from tests.processes import Serving, croupier, hear

GAME = rb"CARD C_[JQK]CARD C_[JQK]"
FLAGS = ("--port", 0, "--bot", "script:CAL")


def play(serving: Serving) -> None:
    """A whole conversation with one game."""
    heard = serving.talk(b"STRT P_1ACTN BETDISC")
    assert re.fullmatch(GAME, heard), heard


def findings(path: Path) -> list[RecordFinding]:
    with path.open("rb") as lines:
        return [*verify_record(lines, lambda room: ROOMS[room].pack)]


def failures(serving: Serving) -> float:
    with urllib.request.urlopen(f"http://{serving.host}:{serving.ports['metrics']}/metrics") as answer:
        text = answer.read().decode()
    found = re.search(r'^croupier_observer_failures_total{room="kuhn"} (\S+)$', text, re.MULTILINE)
    assert found
    return float(found[1])


@pytest.mark.parametrize("flag", ["--deals", "--log"])
@pytest.mark.parametrize("mode", [("--journal", "off"), ("--accounts", "address")], ids=["off", "accounts"])
def test_a_full_disk_for_what_only_observes_stops_no_room(tmp_path: Path, flag: str, mode: tuple[str, ...]) -> None:
    flags = (*FLAGS, "--metrics-port", 0, flag, "/dev/full", "--store", tmp_path / "kept.db", *mode)
    with Serving("kuhn", *flags, ready=2) as serving:
        for _ in range(3):
            play(serving)
        assert failures(serving) >= 3
        assert serving.stop() == 0
        failed = [entry for entry in serving.entries if entry["event"] == "an observer failed"]
        assert [(entry["observer"], entry["level"], entry["room"]) for entry in failed] == [(flag, "error", "kuhn")]
        assert "No space left on device" in json.dumps(failed)
        if flag == "--deals":
            assert "nothing about kuhn table 1 will be in the dealer's record" in json.dumps(failed)
            (last,) = [entry for entry in serving.entries if entry["event"] == "the dealer's record is incomplete"]
            assert last["missing_tables"] == {"kuhn": [1, 3, 3]}


def test_when_the_disk_has_space_again_the_record_goes_on_and_says_what_it_lacks(tmp_path: Path) -> None:
    path = tmp_path / "deals"
    path.write_bytes(b"\n" * (1 << 20))  # so that there is space for the log
    with Serving("kuhn", *FLAGS, "--deals", path, "--journal", "off") as serving:
        with serving.call() as early:
            early.sendall(b"STRT P_1ACTN BET")
            assert re.fullmatch(GAME, hear(early, 16))
            _, most = resource.prlimit(serving.pid, resource.RLIMIT_FSIZE)
            resource.prlimit(serving.pid, resource.RLIMIT_FSIZE, (path.stat().st_size + 50, most))
            early.sendall(b"STRT P_1ACTN BET")
            assert re.fullmatch(GAME, hear(early, 16))
            play(serving)
            play(serving)
            resource.prlimit(serving.pid, resource.RLIMIT_FSIZE, (most, most))
        play(serving)
        assert serving.stop() == 0
        told = [entry for entry in serving.entries if entry["event"] == "the dealer's record can be written to again"]
        assert [entry["missing_tables"] for entry in told] == [{"kuhn": [2, 3, 2]}]
    found = findings(path)
    assert sorted(str(finding.is_proved) for finding in found) == ["None", "True", "True"]
    assert not any("are not in the record" in finding.message for finding in found), "both hands of table 1 are"
    done = croupier("verify", path)
    assert done.returncode == 2, "nothing is broken, and something is missing"
    assert "2 tables from 2 to 3" in done.stdout


def test_a_record_that_ends_in_half_a_line_is_mended_before_it_goes_on(tmp_path: Path) -> None:
    path = tmp_path / "deals"
    for _ in range(2):
        with Serving("kuhn", *FLAGS, "--deals", path, "--journal", "off") as serving:
            play(serving)
            assert serving.stop() == 0
        with path.open("ab") as file:
            file.write(b'{"deal":"promise","room":"ku')
    with Serving("kuhn", *FLAGS, "--deals", path, "--journal", "off") as serving:
        assert [entry["event"] for entry in serving.entries] == ["the dealer's record ended in half a line"]
        play(serving)
        assert serving.stop() == 0
    assert [finding.is_proved for finding in findings(path)] == [True] * 3
