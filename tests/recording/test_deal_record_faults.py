"""Rooms continue when the dealer's record or the conversation log cannot be written."""

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
    """Play one game on a new connection."""
    received = serving.talk(b"STRT P_1ACTN BETDISC")
    assert re.fullmatch(GAME, received), received


def findings(path: Path) -> list[RecordFinding]:
    with path.open("rb") as lines:
        return [*verify_record(lines, lambda room: ROOMS[room].pack, lambda room: ROOMS[room].net_check)]


def failures(serving: Serving) -> float:
    with urllib.request.urlopen(f"http://{serving.host}:{serving.ports['metrics']}/metrics") as answer:
        text = answer.read().decode()
    findings_list = re.search(r'^croupier_observer_failures_total{room="kuhn"} (\S+)$', text, re.MULTILINE)
    assert findings_list
    return float(findings_list[1])


@pytest.mark.parametrize("flag", ["--deals", "--log"])
@pytest.mark.parametrize("mode", [("--journal", "off"), ("--accounts", "address")], ids=["off", "accounts"])
def test_full_disk_of_an_observer_stops_no_room(tmp_path: Path, flag: str, mode: tuple[str, ...]) -> None:
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


def test_record_continues_after_a_full_disk_and_names_the_gap(tmp_path: Path) -> None:
    path = tmp_path / "deals"
    path.write_bytes(b"\n" * (1 << 20))  # leaves space for the log, which has the same limit
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
        entries = [
            entry for entry in serving.entries if entry["event"] == "the dealer's record can be written to again"
        ]
        assert [entry["missing_tables"] for entry in entries] == [{"kuhn": [2, 3, 2]}]
    findings_list = findings(path)
    assert sorted(str(finding.is_proved) for finding in findings_list) == ["None", "True", "True"]
    assert not any("are not in the record" in finding.message for finding in findings_list), (
        "both hands of table 1 are in it"
    )
    done = croupier("verify", path)
    assert done.returncode == 2, "nothing is broken, and something is missing"
    assert "2 tables from 2 to 3" in done.stdout


def test_incomplete_last_line_is_repaired_at_the_next_start(tmp_path: Path) -> None:
    path = tmp_path / "deals"
    for _ in range(2):
        with Serving("kuhn", *FLAGS, "--deals", path, "--journal", "off") as serving:
            play(serving)
            assert serving.stop() == 0
        with path.open("ab") as file:
            file.write(b'{"deal":"promise","room":"ku')
    with Serving("kuhn", *FLAGS, "--deals", path, "--journal", "off") as serving:
        assert [entry["event"] for entry in serving.entries] == ["dealer's record ended in an incomplete line"]
        play(serving)
        assert serving.stop() == 0
    assert [finding.is_proved for finding in findings(path)] == [True] * 3
