"""Every room end to end: served, played by every bot, recorded, verified and logged."""

import json
import stat
import subprocess
import sys
from pathlib import Path
from urllib.request import Request, urlopen

import pytest

from croupier.app.config import RoomConfig
from croupier.app.serve import conversation_log_path
from croupier.cli import app as root
from croupier.cli import serve as serving
from croupier.cli.play import app as play_app
from croupier.cli.serve import assign_ports
from croupier.core.basic_auth import basic_authorization
from croupier.core.room import HouseRoom
from croupier.rooms import HOUSE_ROOMS, ROOMS
from tests.processes import FREE_PORTS, Background, Serving, croupier
from tests.properties.every_room import every_room
from tests.properties.random_session import bot_names
from tests.sampling import extended, sampled

BOTS = [(room, bot) for room in HOUSE_ROOMS.values() for bot in bot_names(room)]


FAST_PLAY = ("--pause", 0, "--poll-seconds", 0.05)
"""Old Maid without pauses."""


def test_every_room_can_be_played() -> None:
    assert {*ROOMS} <= {*play_app}


def test_a_client_of_one_room_imports_no_other() -> None:
    code = "import sys; from croupier.cli import main; main(['play', 'kuhn', '--bot', 'help'])"
    report = "import atexit; atexit.register(lambda: print(*(each for each in sys.modules if each in rooms)))"
    rooms = f"rooms = {[f'croupier.rooms.{room}' for room in ROOMS]}"
    done = subprocess.run(
        [sys.executable, "-c", f"{rooms}; {report}; {code}"], capture_output=True, text=True, check=True
    )
    assert done.stdout.splitlines()[-1] == "croupier.rooms.kuhn"


def play(room: str, address: str, *flags: object) -> dict[str, object]:
    """Run a bot: the default one unless the flags select another."""
    bot = () if {"--bot", "--bots", "--stand-at"} & {*flags} else ("--bot", ROOMS[room].default_bot)
    done = croupier("play", room, address, "--json", *bot, *flags)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


sampled_bots = pytest.mark.parametrize("step", sampled((3, 1), 2), ids=["some", "all"])
"""Run with some of the bots; in the long test run, with all."""


@pytest.mark.extended
@sampled_bots
@every_room
def test_every_bot_plays_in_its_room(room: HouseRoom, step: int) -> None:
    with Serving(room.name, "--port", 0) as server:
        for bot in bot_names(room)[::step]:
            summary = play(room.name, server.address, "--bot", bot, "--games", 25)
            assert (summary["games"], summary["fault"], summary["bot"]) == (25, None, bot)


@pytest.mark.extended
@sampled_bots
def test_every_bot_plays_holdem_and_the_deal_record_verifies(tmp_path: Path, step: int) -> None:
    login = ("--password", "secret", "--user")
    record = tmp_path / "deals.jsonl"
    with Serving("holdem", "--port", 0, "--drain-seconds", 0, "--deals", record) as server:
        with Background("play", "holdem", server.address, *login, "rival", "--bot", "caller", "--hands", 9999):
            for bot in bot_names(ROOMS["holdem"])[::step]:
                summary = play("holdem", server.address, *login, bot.replace(":", "-"), "--bot", bot, "--hands", 5)
                assert (summary["hands"], summary["fault"], summary["bot"]) == (5, None, bot)
        assert server.stop() == 0
    assert croupier("verify", record).returncode == 0


@pytest.mark.extended
@sampled_bots
def test_every_bot_plays_old_maid_and_the_deal_record_verifies(tmp_path: Path, step: int) -> None:
    record = tmp_path / "deals.jsonl"
    with Serving("oldmaid", "--port", 0, "--players", 3, "--deals", record) as server:
        for bot in bot_names(ROOMS["oldmaid"])[::step]:
            summary = play("oldmaid", server.address, "--bot", bot, "--bots", 3, *FAST_PLAY)
            players = summary["players"]
            assert isinstance(players, list)
            assert [(one["games"], one["faults"]) for one in players] == [(1, [])] * 3
            assert sum(one["lost"] for one in players) == 1
        assert server.stop() == 0
    assert croupier("verify", record).returncode == 0


@every_room
def test_the_deal_record_verifies(room: HouseRoom, tmp_path: Path) -> None:
    with Serving(room.name, "--port", 0, "--deals", tmp_path / "deals.jsonl") as server:
        play(room.name, server.address, "--bot", "random", "--games", 25)
        assert server.stop() == 0
    done = croupier("verify", tmp_path / "deals.jsonl")
    assert done.returncode == 0, done.stdout
    assert "hands are as the seed deals them" in done.stdout


@pytest.mark.extended
def test_a_shoe_of_several_decks_verifies_and_a_forged_record_does_not(tmp_path: Path) -> None:
    record = tmp_path / "deals.jsonl"
    with Serving("blackjack", "--port", 0, "--decks", 6, "--deals", record) as server:
        play("blackjack", server.address, "--decks", 6, "--games", 100)
        assert server.stop() == 0
    assert '"decks":6' in record.read_text()
    assert croupier("verify", record).returncode == 0
    record.write_text(record.read_text().replace('"decks":6', '"decks":5'))
    assert croupier("verify", record).returncode == 1


@every_room
def test_equal_seeds_make_identical_conversations(room: HouseRoom, tmp_path: Path) -> None:
    for run in ("one", "two"):
        with Serving(room.name, "--port", 0, "--seed", 7, "--log", tmp_path / f"{run}-{{n}}.txt") as server:
            play(room.name, server.address, "--bot", "random", "--games", 30, "--seed", 3)
            assert server.stop() == 0
    one, two = (b"".join(path.read_bytes() for path in sorted(tmp_path.glob(f"{run}-*"))) for run in ("one", "two"))
    assert one == two
    assert len(one.splitlines()) > 60


def open_a_game(address: str) -> None:
    """Register a user at a hold'em server and open a game."""
    headers = {"Authorization": basic_authorization("ann", "secret").decode()}
    for path in ("/users/", "/games/"):
        with urlopen(Request(f"http://{address}{path}", method="POST", headers=headers)) as answer:
            assert answer.status == 201


def test_sevenhalf_alone_listens_on_both_ports_unless_one_is_given(monkeypatch: pytest.MonkeyPatch) -> None:
    ports: list[tuple[int, int | None]] = []

    def note(room_configs: list[RoomConfig], _: object) -> int:
        ports.extend((room_config.port, room_config.document_port) for room_config in room_configs)
        return 0

    monkeypatch.setattr(serving, "open_rooms", note)
    open_room = serving.room_command(ROOMS["sevenhalf"])
    open_room()
    open_room(port=1213)
    assert ports == [(1213, 1212), (1213, None)]
    ports.clear()
    serving.PARSE_ARGUMENTS.set(lambda room: root.parse_args(["serve", room])[1].arguments)
    serving.open_all_rooms()
    assert {document for _, document in ports} == {None}


@pytest.mark.extended
def test_each_room_logs_to_its_own_private_file(tmp_path: Path) -> None:
    two = {"CROUPIER_SERVE_OLDMAID_PLAYERS": "2"}
    flags = ("--no-web", "--log", tmp_path / "log.txt", "--deals", tmp_path / "deals.jsonl")
    with Serving(*flags, ready=len(ROOMS), variables=FREE_PORTS | two) as server:
        for room in HOUSE_ROOMS:
            play(room, f"{server.host}:{server.ports[room]}", "--games", 3)
        play("oldmaid", f"{server.host}:{server.ports['oldmaid']}", "--bots", 2, *FAST_PLAY)
        open_a_game(f"{server.host}:{server.ports['holdem']}")
    logs = {path.name: path.read_text() for path in tmp_path.glob("log*")}
    assert {*logs} == {f"log.{room}.txt" for room in ROOMS}
    assert all(text.startswith("C: ") for text in logs.values())
    assert {stat.S_IMODE(path.stat().st_mode) for path in tmp_path.iterdir()} == {0o600}


@pytest.mark.parametrize(
    ("name", "alone", "found"),
    [
        ("talk.txt", True, "talk.txt"),
        ("talk.txt", False, "talk.kuhn.txt"),
        ("talk", False, "talk.kuhn"),
        ("talk-{n}.txt", False, "talk-{n}.kuhn.txt"),
        ("{room}.txt", False, "kuhn.txt"),
        ("{room}.txt", True, "kuhn.txt"),
    ],
)
def test_conversation_log_paths_differ_by_room(name: str, found: str, *, alone: bool) -> None:
    assert conversation_log_path(ROOMS["kuhn"], Path("logs") / name, alone=alone) == Path("logs") / found


def test_an_unwritable_log_is_reported(tmp_path: Path) -> None:
    done = croupier("serve", "kuhn", "--port", 0, "--log", tmp_path / "nowhere" / "log.txt")
    assert done.returncode == 2
    assert "nowhere" in done.stderr


def test_with_once_clients_reconnect_for_every_game() -> None:
    with Serving("sevenhalf", "--port", 0, "--once") as server:
        summary = play("sevenhalf", server.address, "--games", 7)
        assert (summary["games"], summary["connections"]) == (7, 7)
        done = croupier("play", "sevenhalf", server.address, "--bot", "random", "--strict", "--games", 7)
        assert done.returncode == 1
        assert "sevenhalf-8.5" in done.stderr


def test_stand_at_selects_the_book_bot() -> None:
    with Serving("sevenhalf", "--port", 0) as server:
        summary = play("sevenhalf", server.address, "--stand-at", 5.5, "--games", 10)
        assert summary["bot"] == "book:5.5"
        done = croupier("play", "sevenhalf", server.address, "--stand-at", 9)
        assert done.returncode == 2
        assert "found '9'; allowed: 0.5 to 7.5" in done.stderr


@pytest.mark.parametrize("ten", extended(["T", "X", "10", "digits"], 3))
@pytest.mark.extended
def test_every_spelling_of_the_ten_can_be_played(ten: str) -> None:
    with Serving("blackjack", "--port", 0, "--ten", ten) as server:
        assert play("blackjack", server.address, "--games", 30)["games"] == 30


@pytest.mark.extended
def test_char8_works_only_if_both_ends_use_it() -> None:
    with Serving("blackjack", "--port", 0, "--dialect", "char8") as server:
        assert play("blackjack", server.address, "--dialect", "char8", "--games", 30)["games"] == 30
        assert croupier("play", "blackjack", server.address, "--bot", "random", "--games", 30).returncode == 1


def test_char8_excludes_digits() -> None:
    done = croupier("serve", "blackjack", "--port", 0, "--dialect", "char8", "--ten", "digits")
    assert done.returncode == 2
    assert "allowed: T, X, 10" in done.stderr


def test_after_a_refused_raise_the_game_continues() -> None:
    with Serving("sevenhalf", "--port", 0, "--bet", 10, "--max-bet", 25) as server:
        summary = play("sevenhalf", server.address, "--limit", 5, "--games", 60)
        assert (summary["games"], summary["fault"]) == (60, None)


def test_rooms_with_the_same_default_port_get_different_ports() -> None:
    own = [room.port for room in ROOMS.values()]
    assert assign_ports(own, [None] * 5) == [1212, 1213, 1214, 8080, 9898]
    assert assign_ports([1212, 1212], [None, 1212]) == [1213, 1212]
    assert assign_ports([1212, 1212], [0, None]) == [0, 1212]
    assert ROOMS["sevenhalf"].document_port == ROOMS["kuhn"].port
