"""DealFile: complete lines only, no late promises, and every gap is recorded."""

import errno
import json
import os
from collections.abc import Sequence
from io import BytesIO
from pathlib import Path
from random import Random

import pytest

from croupier.core.deal_record import (
    DealPromise,
    DealSeed,
    DealtHand,
    NetCheck,
    RecordFinding,
    deal_cards,
    verify_record,
)
from croupier.core.dealer import FAIR_ALGORITHM, FairDealer, commitment, derive_server_seed
from croupier.observers import deal_file as module
from croupier.observers.deal_file import DealFile, remove_partial_line
from croupier.observers.line_writer import LineWriter
from croupier.rooms import HOUSE_ROOMS

KUHN = HOUSE_ROOMS["kuhn"]


class Disk(BytesIO):
    """A file on a disk with `space` bytes left."""

    def __init__(self, space: int = 1 << 30) -> None:
        super().__init__()
        self.space = space

    def write(self, data: bytes) -> int:  # type: ignore[override]
        if self.space <= 0:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        written = super().write(data[: self.space])
        self.space -= written
        return written


class RecordingLogger:
    def __init__(self) -> None:
        self.entries: list[tuple[str, dict[str, object]]] = []

    def warning(self, event: str, **facts: object) -> None:
        self.entries.append((event, facts))

    error = warning


def seed(table: int) -> bytes:
    return derive_server_seed(1, "kuhn", table)


def promise(table: int) -> DealPromise:
    return DealPromise("kuhn", table, FAIR_ALGORITHM, commitment(seed(table)).hex())


def hand(table: int, number: int = 1) -> DealtHand:
    return DealtHand("kuhn", table, number, [*deal_cards(FairDealer(seed(table)), number, KUHN.pack, 2)], 1)


def reveal(table: int, hands: int = 1) -> DealSeed:
    return DealSeed("kuhn", table, seed(table).hex(), "", hands)


def add(record: DealFile, *entries: DealPromise | DealtHand | DealSeed) -> int:
    """Add entries and return how many failed."""
    failed = 0
    for entry in entries:
        try:
            record.add(entry)
        except OSError:
            failed += 1
    return failed


def findings(data: bytes) -> Sequence[RecordFinding]:
    unchecked = NetCheck("are not checked", lambda _: True)
    return [*verify_record(data.splitlines(keepends=True), lambda room: HOUSE_ROOMS[room].pack, lambda _: unchecked)]


def test_hands_and_seeds_wait_for_space_and_are_written_in_order() -> None:
    disk, log = Disk(), RecordingLogger()
    record = DealFile(LineWriter(disk), log)
    assert add(record, promise(1), promise(2), hand(1)) == 0
    disk.space = 0
    assert add(record, hand(2), reveal(2), hand(1, 2)) == 3
    disk.space = 1 << 30
    assert add(record, reveal(1, 2)) == 0
    assert [finding.is_proved for finding in findings(disk.getvalue())] == [True, True]
    assert "are not in the record" not in str(findings(disk.getvalue()))
    assert log.entries == [("the dealer's record can be written to again", {"missing_tables": {}, "missing_lines": 0})]


def test_promise_that_could_not_be_written_is_recorded_as_a_gap() -> None:
    disk, log = Disk(0), RecordingLogger()
    record = DealFile(LineWriter(disk), log)
    assert add(record, promise(3), hand(3), promise(4), hand(4), reveal(4)) == 2
    disk.space = 1 << 30
    assert add(record, hand(3, 2), reveal(3, 2), promise(5), hand(5), reveal(5)) == 0
    assert next(json.loads(line) for line in disk.getvalue().splitlines()) == {
        "deal": "missing",
        "room": "kuhn",
        "first": 3,
        "last": 4,
        "tables": 2,
    }
    found = findings(disk.getvalue())
    assert [finding.is_proved for finding in found] == [None, True]
    assert "2 tables from 3 to 4" in found[0].message
    assert log.entries == [
        ("the dealer's record can be written to again", {"missing_tables": {"kuhn": (3, 4, 2)}, "missing_lines": 0})
    ]


def test_waiting_entries_are_bounded_and_a_table_with_a_lost_hand_has_no_seed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MAX_WAITING_ENTRIES", 3)
    disk = Disk()
    record = DealFile(LineWriter(disk), RecordingLogger())
    assert add(record, promise(1)) == 0
    disk.space = 0
    assert add(record, *(hand(1, number) for number in range(1, 6))) == 5
    disk.space = 1 << 30
    assert add(record, promise(2), reveal(2, 0), reveal(1, 5)) == 1
    record.close()
    found = findings(disk.getvalue())
    assert [finding.is_proved for finding in found] == [None, True, None, None]
    assert [finding.is_incomplete for finding in found] == [True, False, True, False]
    assert "2 lines" in found[0].message
    assert "1 line " in found[2].message
    assert not found[3].is_opened


@pytest.mark.parametrize("space", range(0, 400, 7))
def test_full_disk_leaves_complete_lines_and_no_false_finding(space: int) -> None:
    rng = Random(space)
    disk = Disk(space)
    record = DealFile(LineWriter(disk), RecordingLogger())
    for table in range(1, 20):
        add(record, promise(table), hand(table), hand(table, 2), reveal(table, 2))
        disk.space += rng.choice((0, 0, 150, 1000))
    disk.space = 1 << 30
    record.close()
    found = findings(disk.getvalue())
    assert all(finding.is_proved is not False for finding in found), found
    missing = sum(json.loads(line).get("tables", 0) for line in disk.getvalue().splitlines())
    assert missing + sum(finding.is_proved is True for finding in found) == 19


def test_entries_that_are_never_written_are_logged_on_close() -> None:
    disk, log = Disk(), RecordingLogger()
    record = DealFile(LineWriter(disk), log)
    add(record, promise(1))
    disk.space = 0
    add(record, hand(1), promise(2))
    record.close()
    ((event, facts),) = log.entries
    assert event == "the dealer's record is incomplete"
    assert (facts["missing_tables"], facts["missing_lines"]) == ({"kuhn": (2, 2, 1)}, 1)


def test_partial_line_that_cannot_be_removed_is_ended() -> None:
    class Pipe(Disk):
        def truncate(self, size: int | None = None) -> int:
            raise OSError(errno.ESPIPE, os.strerror(errno.ESPIPE))

    disk = Pipe(3)
    lines = LineWriter(disk)
    with pytest.raises(OSError, match="No space"):
        lines.write(b"abcdef")
    disk.space = 100
    lines.write(b"ghi")
    lines.write(b"jkl")
    assert disk.getvalue() == b"abc\nghi\njkl\n"


def test_full_pipe_does_not_block(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    reader = os.open(tmp_path / "pipe", os.O_RDONLY | os.O_NONBLOCK)
    try:
        with (tmp_path / "pipe").open("ab", buffering=0) as file:
            lines = LineWriter(file)
            with pytest.raises(BlockingIOError):  # noqa: PT012 -- fails after some iterations
                while True:
                    lines.write(bytes(1000))
    finally:
        os.close(reader)


@pytest.mark.parametrize(
    ("tail", "expected"),
    [
        (b"", b""),
        (b'{"deal":"hand","room":"ku', b""),
        (b'{"de', b""),
        (b"a note of somebody's", b"a note of somebody's\n"),
    ],
)
def test_partial_line_of_a_record_is_removed_and_other_text_is_kept(
    tmp_path: Path, tail: bytes, expected: bytes
) -> None:
    path = tmp_path / "deals"
    path.write_bytes(b"whole\n" + tail)
    assert remove_partial_line(path) is bool(tail)
    assert path.read_bytes() == b"whole\n" + expected


def test_missing_and_special_files_are_left_alone(tmp_path: Path) -> None:
    assert not remove_partial_line(tmp_path / "nothing")
    assert not remove_partial_line(Path("/dev/full"))
    (tmp_path / "empty").touch()
    assert not remove_partial_line(tmp_path / "empty")


def test_partial_line_in_an_append_only_file_is_ended(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(path: Path, size: int) -> None:
        raise PermissionError(errno.EPERM, os.strerror(errno.EPERM))

    monkeypatch.setattr(module.os, "truncate", refuse)
    path = tmp_path / "deals"
    path.write_bytes(b'whole\n{"deal":"ha')
    assert remove_partial_line(path)
    assert path.read_bytes() == b'whole\n{"deal":"ha\n'
