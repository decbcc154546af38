"""The minutes: a conversation as text, a message a line, as it was said."""

import stat
from pathlib import Path

import pytest

from croupier.core.session import Received, Send
from croupier.core.transcript import Transcript, make_harness, parse_transcript, play_transcript
from croupier.observers.conversation_log import ConversationLog, escape_line
from croupier.observers.counters import RoomCounters
from croupier.observers.fan_out import ObserverFanOut
from croupier.rooms import HOUSE_ROOMS, ROOMS
from croupier.rooms.oldmaid.wire import Reply, Wire

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
WRITTEN = "C: STRT\nS: STBT 100\nC: DRAW\nS: CARD 7o\nC: PASS\nS: BKSC 27ccc 07.5\nS: GAIN -100\n"


def written(transcript: Transcript, path: Path, room: str = "sevenhalf") -> None:
    minutes = ConversationLog(path)
    play_transcript(transcript, make_harness(HOUSE_ROOMS[room], transcript, 1, [minutes]), HOUSE_ROOMS[room].patterns)
    minutes.close()


def test_a_game_is_written_as_the_ruling_wants_it(tmp_path: Path) -> None:
    written(parse_transcript(GAME, "game"), tmp_path / "log.txt")
    assert (tmp_path / "log.txt").read_bytes() == WRITTEN.encode()


def test_every_connection_has_a_file_of_its_own_when_the_name_says_so(tmp_path: Path) -> None:
    written(parse_transcript(GAME + GAME.partition("7o 7c cc\n")[2].replace("p", "q"), "two"), tmp_path / "log-{n}.txt")
    assert {path.name: path.read_text() for path in tmp_path.iterdir()} == {"log-1.txt": WRITTEN, "log-2.txt": WRITTEN}


def test_one_file_has_all_connections_and_is_written_anew(tmp_path: Path) -> None:
    path = tmp_path / "log.txt"
    path.write_text("of yesterday")
    written(parse_transcript(GAME + GAME.partition("7o 7c cc\n")[2].replace("p", "q"), "two"), path)
    assert path.read_text() == 2 * WRITTEN


def test_a_message_is_one_line_whatever_is_in_it(tmp_path: Path) -> None:
    text = "title: Odd\nclause: sevenhalf-6.6\nfault: client\np> ERRO 05a{lf}{cr}{hex:1bf1}HELO\n"
    text += "p< ERRO 49unreadable; allowed: STRT, DRAW, ANTE, PASS, ERRO\n* dropped p\n"
    written(parse_transcript(text, "odd"), tmp_path / "log.txt")
    assert (tmp_path / "log.txt").read_bytes().splitlines() == [
        "C: ERRO 05a\\x0a\\x0d\\x1bñ".encode(),
        b"C: 'HELO'",
        b"S: ERRO 49unreadable; allowed: STRT, DRAW, ANTE, PASS, ERRO",
    ]


@pytest.mark.parametrize(
    ("message", "line"),
    [
        ("D\xc3\x89U", "DÉU"),  # UTF-8, as a codec of bytes shows it
        ("D\xc9U", "DÉU"),
        ("\xc2\x9b2J", "\\x9b2J"),
        ("\x9b2J", "\\x9b2J"),
        ("\xe2\x80\xaeon", "\\u202eon"),
        ('{"nick": "\u202e小明"}', '{"nick": "\\u202e小明"}'),
        ("\ud800", "\\ud800"),
    ],
)
def test_no_letter_of_a_message_spoils_a_terminal(message: str, line: str) -> None:
    assert escape_line(message) == line


def test_minutes_are_for_their_owner_alone(tmp_path: Path) -> None:
    written(parse_transcript(GAME, "game"), tmp_path / "log.txt")
    written(parse_transcript(GAME, "game"), tmp_path / "log-{n}.txt")
    assert {stat.S_IMODE(path.stat().st_mode) for path in tmp_path.iterdir()} == {0o600}


def test_what_the_house_says_by_itself_is_in_the_minutes(tmp_path: Path) -> None:
    text = "title: Idle\nclause: kuhn-1.4\nidle: 5\np> STRT P_1\np< CARD {card}\n* 6 seconds pass\np< DISC\n"
    written(parse_transcript(text + "* dropped p\n* settled p -1\n", "idle"), tmp_path / "log.txt", "kuhn")
    assert [line[:7] for line in (tmp_path / "log.txt").read_text().splitlines()] == ["C: STRT", "S: CARD", "S: DISC"]


def test_a_file_that_cannot_be_opened_is_an_error_at_once(tmp_path: Path) -> None:
    with pytest.raises(OSError, match="no-such-folder"):
        ConversationLog(tmp_path / "no-such-folder" / "log.txt")


class Ears:
    def __init__(self) -> None:
        self.heard: list[str] = []

    def error(self, event: str, **facts: object) -> None:
        self.heard.append(f"{event} {facts['observer']}: {facts['exc_info']}")


def test_a_file_a_connection_that_cannot_be_opened_does_not_end_the_conversation(tmp_path: Path) -> None:
    ears = Ears()
    minutes = ObserverFanOut([ConversationLog(tmp_path / "no-such-folder" / "{n}.txt")], ears, RoomCounters())
    transcript = parse_transcript(GAME, "game")
    play_transcript(
        transcript, make_harness(HOUSE_ROOMS["sevenhalf"], transcript, 0, [minutes]), HOUSE_ROOMS["sevenhalf"].patterns
    )
    (told,) = ears.heard
    assert "an observer failed --log: " in told
    assert "no-such-folder" in told


def test_a_disk_that_is_full_does_not_end_the_conversation_nor_its_end(tmp_path: Path) -> None:
    ears, counts = Ears(), RoomCounters()
    (tmp_path / "log.txt").symlink_to("/dev/full")
    minutes = ConversationLog(tmp_path / "log.txt")
    transcript = parse_transcript(GAME, "game")
    stage = make_harness(HOUSE_ROOMS["sevenhalf"], transcript, 0, [ObserverFanOut([minutes], ears, counts)])
    play_transcript(transcript, stage, HOUSE_ROOMS["sevenhalf"].patterns)
    minutes.close()
    assert ears.heard == ["an observer failed --log: [Errno 28] No space left on device"]
    assert counts.observer_failures == 3, "one for each event of which something was said"


@pytest.mark.parametrize(("dialect", "listed"), [("document", '{"player1":'), ("njaal", '[[["192.0.2.1",')])
def test_old_maid_is_written_as_it_was_on_the_wire(tmp_path: Path, dialect: str, listed: str) -> None:
    """A list of players in the form of the dialect, and a tolerated spelling as it was sent."""
    room = ROOMS["oldmaid"]
    spelt = room.message_formatter(room.settings(dialect=dialect))
    minutes = ConversationLog(tmp_path / "log", spelt)
    said = (
        '{"cmd":"discard","cards":[["3","spades"],["3","clubs"]],"last_cards":false}',
        '{"cmd":"discard","cards":[["3","spades"],["3","clubs"]],"last_card":"true"}',
        '{"cmd":"discard","cards":[["3","spades"],["3","clubs"]],"last_cards":"false"}',
    )
    for line in said:
        (message,) = Wire("table").feed(line.encode())
        minutes(Received(1, message), (), 0.0)
    reply = Reply("ok", players=((("192.0.2.1", 40001), "ann"),))
    minutes(Received(1, message), (Send(1, reply),), 0.0)
    minutes.close()
    lines = (tmp_path / "log").read_text().splitlines()
    assert lines[:3] == [f"C: {line}" for line in said]
    assert lines[-1].startswith(f'S: {{"result":"ok","players":{listed}')
