"""ConversationLog: conversations as text, one message per line."""

import stat
from pathlib import Path

import pytest

from croupier.core.session import Received, Send
from croupier.core.transcript import Transcript, parse_transcript
from croupier.observers.conversation_log import ConversationLog, escape_line
from croupier.observers.counters import RoomCounters
from croupier.observers.fan_out import ObserverFanOut
from croupier.replay.transcript_house import make_harness
from croupier.rooms import HOUSE_ROOMS, ROOMS
from croupier.rooms.oldmaid.wire import Reply, Wire
from tests.transcript_drivers import play_transcript

GAME = """title: The document's first example
clause: sevenhalf-5.8
deck: 7o 7c cc
p> STRTDRAW
p< STBT {int32:100}
p< CARD 7o
p> PASS
p< BKSC {int32:2}7ccc 07.5
p< GAIN {int32:-100}
* settled p -100
"""
EXPECTED_LOG = "C: STRT\nS: STBT 100\nC: DRAW\nS: CARD 7o\nC: PASS\nS: BKSC 27ccc 07.5\nS: GAIN -100\n"


def write_log(transcript: Transcript, path: Path, room: str = "sevenhalf") -> None:
    log = ConversationLog(path)
    play_transcript(transcript, make_harness(HOUSE_ROOMS[room], transcript, [log]), HOUSE_ROOMS[room].patterns, 1)
    log.close()


def test_log_of_a_game_follows_the_ruling(tmp_path: Path) -> None:
    write_log(parse_transcript(GAME, "game"), tmp_path / "log.txt")
    assert (tmp_path / "log.txt").read_bytes() == EXPECTED_LOG.encode()


def test_placeholder_gives_each_connection_its_own_file(tmp_path: Path) -> None:
    write_log(
        parse_transcript(GAME + GAME.partition("7o 7c cc\n")[2].replace("p", "q"), "two"), tmp_path / "log-{n}.txt"
    )
    assert {path.name: path.read_text() for path in tmp_path.iterdir()} == {
        "log-1.txt": EXPECTED_LOG,
        "log-2.txt": EXPECTED_LOG,
    }


def test_shared_file_is_overwritten(tmp_path: Path) -> None:
    path = tmp_path / "log.txt"
    path.write_text("old contents")
    write_log(parse_transcript(GAME + GAME.partition("7o 7c cc\n")[2].replace("p", "q"), "two"), path)
    assert path.read_text() == 2 * EXPECTED_LOG


def test_every_message_is_one_line(tmp_path: Path) -> None:
    text = "title: Odd\nclause: sevenhalf-6.6\nfault: client\np> ERRO 05a{lf}{cr}{hex:1bf1}HELO\n"
    text += "p< ERRO 49unreadable; allowed: STRT, DRAW, ANTE, PASS, ERRO\n* dropped p\n"
    write_log(parse_transcript(text, "odd"), tmp_path / "log.txt")
    assert (tmp_path / "log.txt").read_bytes().splitlines() == [
        "C: ERRO 05a\\x0a\\x0d\\x1bñ".encode(),
        b"C: 'HELO'",
        b"S: ERRO 49unreadable; allowed: STRT, DRAW, ANTE, PASS, ERRO",
    ]


@pytest.mark.parametrize(
    ("message", "line"),
    [
        ("D\xc3\x89U", "DÉU"),  # UTF-8 bytes, as a codec represents them
        ("D\xc9U", "DÉU"),
        ("\xc2\x9b2J", "\\x9b2J"),
        ("\x9b2J", "\\x9b2J"),
        ("\xe2\x80\xaeon", "\\u202eon"),
        ('{"nick": "\u202e小明"}', '{"nick": "\\u202e小明"}'),
        ("\ud800", "\\ud800"),
    ],
)
def test_terminal_controls_are_escaped(message: str, line: str) -> None:
    assert escape_line(message) == line


def test_files_are_private(tmp_path: Path) -> None:
    write_log(parse_transcript(GAME, "game"), tmp_path / "log.txt")
    write_log(parse_transcript(GAME, "game"), tmp_path / "log-{n}.txt")
    assert {stat.S_IMODE(path.stat().st_mode) for path in tmp_path.iterdir()} == {0o600}


def test_messages_at_a_timeout_are_logged(tmp_path: Path) -> None:
    text = "title: Idle\nclause: kuhn-1.4\nidle: 5\np> STRT P_1\np< CARD {card}\n* 6 seconds pass\np< DISC\n"
    write_log(parse_transcript(text + "* dropped p\n* settled p -1\n", "idle"), tmp_path / "log.txt", "kuhn")
    assert [line[:7] for line in (tmp_path / "log.txt").read_text().splitlines()] == ["C: STRT", "S: CARD", "S: DISC"]


def test_unopenable_shared_file_raises_at_once(tmp_path: Path) -> None:
    with pytest.raises(OSError, match="no-such-folder"):
        ConversationLog(tmp_path / "no-such-folder" / "log.txt")


class RecordingLogger:
    def __init__(self) -> None:
        self.errors: list[str] = []

    def error(self, event: str, **facts: object) -> None:
        self.errors.append(f"{event} {facts['observer']}: {facts['exc_info']}")


def test_unopenable_connection_file_does_not_stop_the_room(tmp_path: Path) -> None:
    logger = RecordingLogger()
    log = ObserverFanOut([ConversationLog(tmp_path / "no-such-folder" / "{n}.txt")], logger, RoomCounters())
    transcript = parse_transcript(GAME, "game")
    play_transcript(
        transcript, make_harness(HOUSE_ROOMS["sevenhalf"], transcript, [log]), HOUSE_ROOMS["sevenhalf"].patterns
    )
    (error,) = logger.errors
    assert "an observer failed --log: " in error
    assert "no-such-folder" in error


def test_full_disk_does_not_stop_the_room(tmp_path: Path) -> None:
    logger, counts = RecordingLogger(), RoomCounters()
    (tmp_path / "log.txt").symlink_to("/dev/full")
    log = ConversationLog(tmp_path / "log.txt")
    transcript = parse_transcript(GAME, "game")
    harness = make_harness(HOUSE_ROOMS["sevenhalf"], transcript, [ObserverFanOut([log], logger, counts)])
    play_transcript(transcript, harness, HOUSE_ROOMS["sevenhalf"].patterns)
    log.close()
    assert logger.errors == ["an observer failed --log: [Errno 28] No space left on device"]
    assert counts.observer_failures == 3, "one for each event with a message"


@pytest.mark.parametrize(("dialect", "player_list"), [("document", '{"player1":'), ("njaal", '[[["192.0.2.1",')])
def test_oldmaid_messages_are_logged_as_on_the_wire(tmp_path: Path, dialect: str, player_list: str) -> None:
    """Lists of players have the form of the dialect, and tolerated spellings are logged as they were sent."""
    room = ROOMS["oldmaid"]
    render = room.message_formatter(room.settings(dialect=dialect))
    log = ConversationLog(tmp_path / "log", render)
    messages = (
        '{"cmd":"discard","cards":[["3","spades"],["3","clubs"]],"last_cards":false}',
        '{"cmd":"discard","cards":[["3","spades"],["3","clubs"]],"last_card":"true"}',
        '{"cmd":"discard","cards":[["3","spades"],["3","clubs"]],"last_cards":"false"}',
    )
    for line in messages:
        (message,) = Wire("table").feed(line.encode())
        log(Received(1, message), (), 0.0)
    reply = Reply("ok", players=((("192.0.2.1", 40001), "ann"),))
    log(Received(1, message), (Send(1, reply),), 0.0)
    log.close()
    lines = (tmp_path / "log").read_text().splitlines()
    assert lines[:3] == [f"C: {line}" for line in messages]
    assert lines[-1].startswith(f'S: {{"result":"ok","players":{player_list}')
