"""Text from peers is escaped in the log, on a terminal and as JSON lines."""

import io
import json

import pytest
import structlog

from croupier.logs import configure, get_logger

HOSTILE = "\x1b[2Jann\n\u202e12:00:00 error: all is lost\x9b"


class Terminal(io.StringIO):
    def __init__(self, *, tty: bool) -> None:
        super().__init__()
        self._tty = tty

    def isatty(self) -> bool:
        return self._tty


@pytest.mark.parametrize("tty", [True, False], ids=["terminal", "json"])
def test_untrusted_text_is_escaped(monkeypatch: pytest.MonkeyPatch, *, tty: bool) -> None:
    stream = Terminal(tty=tty)
    monkeypatch.setattr("sys.stderr", stream)
    before = structlog.get_config()
    try:
        configure("info")
        get_logger(room="kuhn").info("says", peer=7, message=HOSTILE, name="\x1b[2Jann")
    finally:
        structlog.configure(**before)
    (line,) = stream.getvalue().splitlines()
    escaped = r"\x1b[2Jann\n\u202e12:00:00 error: all is lost\x9b"
    if tty:
        assert escaped in line.replace("\\\\", "\\")
        assert "\x1b[2J" not in line
        assert not {"\u202e", "\x9b"} & {*line}
    else:
        assert json.loads(line)["message"] == escaped
        assert json.loads(line)["peer"] == 7
