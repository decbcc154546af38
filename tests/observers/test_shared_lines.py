"""Several processes append lines to one file, each completely or not at all."""

import errno
import os
import subprocess
import sys
from pathlib import Path

import pytest

from croupier.observers.conversation_log import ConversationLog
from croupier.observers.line_writer import SharedLineWriter, open_lines

OTHER_PROCESS = """
import sys
from pathlib import Path
from croupier.observers.line_writer import open_lines
lines = open_lines(Path(sys.argv[1]), is_shared=True)
for number in range(500):
    lines.write(b"%s%d" % (sys.argv[2].encode() * 100, number))
"""


def test_lines_of_two_processes_stay_whole(tmp_path: Path) -> None:
    path = tmp_path / "lines"
    command = [sys.executable, "-c", OTHER_PROCESS, str(path)]
    others = [subprocess.Popen([*command, letter]) for letter in "ab"]
    assert [other.wait() for other in others] == [0, 0]
    written = path.read_text().splitlines()
    expected = [f"{letter * 100}{number}" for letter in "ab" for number in range(500)]
    assert sorted(written) == sorted(expected)
    assert [line for line in written if line[0] == "a"] == expected[:500]
    assert path.stat().st_mode & 0o777 == 0o600


@pytest.mark.parametrize("partial", ["par", "p" * 70_000], ids=["short", "long"])
def test_partial_line_of_a_killed_process_is_removed_or_ended(tmp_path: Path, partial: str) -> None:
    path = tmp_path / "lines"
    path.write_text("whole\n")
    first, second = open_lines(path, is_shared=True), open_lines(path, is_shared=True)
    first.write(b"one")
    with path.open("a") as killed:
        killed.write(partial)
    second.write(b"two")
    second.write(b"three")
    first.write(b"four")
    first.close()
    second.close()
    found = path.read_text().splitlines()
    assert found[:2] == ["whole", "one"]
    assert found[-3:] == ["two", "three", "four"]
    assert len(found) == (5 if len(partial) < 100 else 6)


def test_line_that_does_not_fit_on_the_disk_is_removed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "lines"
    lines = open_lines(path, is_shared=True)
    lines.write(b"one")

    class FullFile:
        """A file that takes only three bytes of a line."""

        def __init__(self, descriptor: int) -> None:
            self.file = os.fdopen(descriptor, "a+b", buffering=0)

        def write(self, data: bytes) -> int:
            return self.file.write(data[:3])

        def __getattr__(self, name: str) -> object:
            return getattr(self.file, name)

    full = SharedLineWriter(FullFile(os.open(path, os.O_RDWR | os.O_APPEND)))  # type: ignore[arg-type]  # it has the methods that are used
    with pytest.raises(OSError, match=os.strerror(errno.ENOSPC)):
        full.write(b"two is too long")
    lines.write(b"three")
    full.close()
    lines.close()
    assert path.read_text() == "one\nthree\n"


def test_conversation_log_of_several_processes_is_not_emptied(tmp_path: Path) -> None:
    path = tmp_path / "talk"
    path.write_text("S: CARD C_Q\n")
    ConversationLog(path, is_shared=True).close()
    assert path.read_text() == "S: CARD C_Q\n"
    ConversationLog(path).close()
    assert path.read_text() == ""


def test_shared_pipe_is_written_to_without_a_lock(tmp_path: Path) -> None:
    path = tmp_path / "pipe"
    os.mkfifo(path)
    reading = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
    lines = open_lines(path, is_shared=True)
    lines.write(b"one")
    assert os.read(reading, 100) == b"one\n"
    lines.close()
    os.close(reading)
