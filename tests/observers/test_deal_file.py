"""The file of the dealer's record: whole lines only, no late promise, and no gap that is not named."""

import errno
import json
import os
from collections.abc import Sequence
from io import BytesIO
from pathlib import Path
from random import Random

import pytest

from croupier.core.deal_record import DealPromise, DealSeed, DealtHand, RecordFinding, deal_cards, verify_record
from croupier.core.dealer import FAIR_ALGORITHM, commitment, derive_server_seed
from croupier.observers import deal_file as module
from croupier.observers.deal_file import DealFile, remove_partial_line
from croupier.observers.line_writer import LineWriter
from croupier.rooms import HOUSE_ROOMS

KUHN = HOUSE_ROOMS["kuhn"]


class Disk(BytesIO):
    """A file for which there is `space`, in bytes."""

    def __init__(self, space: int = 1 << 30) -> None:
        super().__init__()
        self.space = space

    def write(self, data: bytes) -> int:  # type: ignore[override]
        if self.space <= 0:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        written = super().write(data[: self.space])
        self.space -= written
        return written


class Log:
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
    return DealtHand("kuhn", table, number, [*deal_cards((seed(table), b""), number, KUHN.pack, 2)], 1)


def reveal(table: int, hands: int = 1) -> DealSeed:
    return DealSeed("kuhn", table, seed(table).hex(), "", hands)


def add(record: DealFile, *entries: DealPromise | DealtHand | DealSeed) -> int:
    """How many of them failed."""
    failed = 0
    for entry in entries:
        try:
            record.add(entry)
        except OSError:
            failed += 1
    return failed


def verdicts(data: bytes) -> Sequence[RecordFinding]:
    return [*verify_record(data.splitlines(keepends=True), lambda room: HOUSE_ROOMS[room].pack)]


def test_hands_and_seeds_wait_for_space_and_are_written_in_order() -> None:
    disk, log = Disk(), Log()
    record = DealFile(LineWriter(disk), log)
    assert add(record, promise(1), promise(2), hand(1)) == 0
    disk.space = 0
    assert add(record, hand(2), reveal(2), hand(1, 2)) == 3
    disk.space = 1 << 30
    assert add(record, reveal(1, 2)) == 0
    assert [finding.is_proved for finding in verdicts(disk.getvalue())] == [True, True]
    assert "are not in the record" not in str(verdicts(disk.getvalue()))
    assert log.entries == [("the dealer's record can be written to again", {"missing_tables": {}, "missing_lines": 0})]


def test_a_promise_is_never_late_and_what_would_follow_it_is_named_as_missing() -> None:
    disk, log = Disk(0), Log()
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
    found = verdicts(disk.getvalue())
    assert [finding.is_proved for finding in found] == [None, True]
    assert "2 tables from 3 to 4" in found[0].message
    assert log.entries == [
        ("the dealer's record can be written to again", {"missing_tables": {"kuhn": (3, 4, 2)}, "missing_lines": 0})
    ]


def test_what_waits_is_bounded_and_a_table_that_lost_a_hand_is_not_opened(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MAX_WAITING_ENTRIES", 3)
    disk = Disk()
    record = DealFile(LineWriter(disk), Log())
    assert add(record, promise(1)) == 0
    disk.space = 0
    assert add(record, *(hand(1, number) for number in range(1, 6))) == 5
    disk.space = 1 << 30
    assert add(record, promise(2), reveal(2, 0), reveal(1, 5)) == 1
    record.close()
    found = verdicts(disk.getvalue())
    assert [finding.is_proved for finding in found] == [None, True, None, None]
    assert [finding.is_incomplete for finding in found] == [True, False, True, False]
    assert "2 lines" in found[0].message
    assert "1 line " in found[2].message
    assert not found[3].is_opened


@pytest.mark.parametrize("space", range(0, 400, 7))
def test_wherever_the_disk_becomes_full_every_line_is_whole_and_no_verdict_is_false(space: int) -> None:
    luck = Random(space)
    disk = Disk(space)
    record = DealFile(LineWriter(disk), Log())
    for table in range(1, 20):
        add(record, promise(table), hand(table), hand(table, 2), reveal(table, 2))
        disk.space += luck.choice((0, 0, 150, 1000))
    disk.space = 1 << 30
    record.close()
    found = verdicts(disk.getvalue())
    assert all(finding.is_proved is not False for finding in found), found
    missing = sum(json.loads(line).get("tables", 0) for line in disk.getvalue().splitlines())
    assert missing + sum(finding.is_proved is True for finding in found) == 19


def test_what_is_never_written_is_logged_at_the_end() -> None:
    disk, log = Disk(), Log()
    record = DealFile(LineWriter(disk), log)
    add(record, promise(1))
    disk.space = 0
    add(record, hand(1), promise(2))
    record.close()
    ((event, facts),) = log.entries
    assert event == "the dealer's record is incomplete"
    assert (facts["missing_tables"], facts["missing_lines"]) == ({"kuhn": (2, 2, 1)}, 1)


def test_a_line_that_cannot_be_taken_back_is_ended_before_the_next_one() -> None:
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


def test_a_pipe_that_nobody_reads_is_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    reader = os.open(tmp_path / "pipe", os.O_RDONLY | os.O_NONBLOCK)
    try:
        with (tmp_path / "pipe").open("ab", buffering=0) as file:
            lines = LineWriter(file)
            with pytest.raises(BlockingIOError):  # noqa: PT012 -- sooner or later
                while True:
                    lines.write(bytes(1000))
    finally:
        os.close(reader)


@pytest.mark.parametrize(
    ("tail", "left"),
    [
        (b"", b""),
        (b'{"deal":"hand","room":"ku', b""),
        (b'{"de', b""),
        (b"a note of somebody's", b"a note of somebody's\n"),
    ],
)
def test_half_a_line_at_the_end_of_a_record_is_removed_and_anything_else_is_kept(
    tmp_path: Path, tail: bytes, left: bytes
) -> None:
    path = tmp_path / "deals"
    path.write_bytes(b"whole\n" + tail)
    assert remove_partial_line(path) is bool(tail)
    assert path.read_bytes() == b"whole\n" + left


def test_a_record_that_is_no_file_yet_or_no_plain_file_is_left_alone(tmp_path: Path) -> None:
    assert not remove_partial_line(tmp_path / "nothing")
    assert not remove_partial_line(Path("/dev/full"))
    (tmp_path / "empty").touch()
    assert not remove_partial_line(tmp_path / "empty")


def test_half_a_line_in_a_file_to_which_may_only_be_appended_is_ended(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(path: Path, size: int) -> None:
        raise PermissionError(errno.EPERM, os.strerror(errno.EPERM))

    monkeypatch.setattr(module.os, "truncate", refuse)
    path = tmp_path / "deals"
    path.write_bytes(b'whole\n{"deal":"ha')
    assert remove_partial_line(path)
    assert path.read_bytes() == b'whole\n{"deal":"ha\n'
