"""What `--bot` names: each kind is recognised in every room, survives pickling, and says what is wrong with it."""

import pickle
from pathlib import Path

import pytest

from croupier.clients.contestants import Contestant, parse_contestant, parse_player
from croupier.rooms import ROOMS
from tests.core.test_bot_files import HONEST, write


@pytest.mark.parametrize("room", ROOMS)
def test_built_in_bots_are_recognised_with_every_argument(room: str) -> None:
    specs = ROOMS[room].bots
    for text in [*specs, *(f"{name}:{example}" for name, spec in specs.items() for example in spec.examples)]:
        if text == "script":  # it needs an argument
            continue
        contestant = parse_contestant(ROOMS[room], text)
        assert (contestant.kind, contestant.text, contestant.room) == ("built-in", text, room)
        assert callable(contestant.make().choose)


def test_a_script_with_blanks_is_no_command() -> None:
    assert parse_contestant(ROOMS["kuhn"], "script:chk, bet").kind == "built-in"


@pytest.mark.parametrize("folder", ["bots", "my bots"])
def test_a_file_keeps_its_place_in_another_process_and_another_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, folder: str
) -> None:
    (tmp_path / folder).mkdir()
    write(tmp_path / folder, HONEST)
    monkeypatch.chdir(tmp_path)
    contestant = parse_contestant(ROOMS["kuhn"], f"{folder}/mine.py:Honest")
    assert (contestant.kind, contestant.text) == ("file", f"{folder}/mine.py:Honest")
    monkeypatch.chdir("/")
    found: Contestant = pickle.loads(pickle.dumps(contestant))
    assert found == contestant
    assert found.make().choose(None, "ab", None) == "b"
    assert found.make() is not found.make()


@pytest.mark.parametrize(
    ("room", "text", "words"),
    [
        ("kuhn", "java -jar 'my game.jar' -s {host} -p {port}", ["java", "-jar", "my game.jar", "-s", "h", "-p", "1"]),
        ("kuhn", "python bot.py -s {host}:{port}", ["python", "bot.py", "-s", "h:1"]),
        ("kuhn", "./client {port}", ["./client", "1"]),
        ("kuhn", "./client --fixed", ["./client", "--fixed"]),
        ("holdem", "bot {url} {user} {password} {game}", ["bot", "http://h:1", "ann", "secret", "g"]),
        ("oldmaid", "bot {host} {port} {nick}", ["bot", "h", "1", "ann"]),
    ],
)
def test_a_command_has_a_blank_or_a_placeholder(room: str, text: str, words: list[str]) -> None:
    contestant = parse_contestant(ROOMS[room], text)
    assert contestant.kind == "command"
    values = {"host": "h", "port": 1, "url": "http://h:1", "user": "ann", "password": "secret", "game": "g"}
    assert contestant.command(values | {"nick": "ann"}) == words


@pytest.mark.parametrize(
    "text",
    ["127.0.0.1:1212", "localhost:80", "[::1]:1212", "cards.example.com:1212", ":1212", "https://cards/", "http://h:1"],
)
def test_addresses_are_recognised(text: str) -> None:
    contestant = parse_contestant(ROOMS["holdem"], text)
    assert contestant.kind == "address"
    with pytest.raises(ValueError, match=r"\(address\); allowed: a built-in bot"):
        contestant.make()


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("nobody", "found the bot 'nobody'; allowed: equilibrium, random, book, script, FILE.py:CLASS, 'COMMAND "),
        ("equilibriun:1", "found the bot 'equilibriun:1'; allowed: equilibrium, "),
        ("book:loud", "found the bot 'book:loud': found 'loud'; allowed: king-only"),
        ("random:1", "found the bot 'random:1'; allowed: equilibrium"),
        ("mine.py:X", "there is no such file"),
        ("client {prot}", "found {prot} in 'client {prot}'; allowed: {host}, {port}"),
        ("client '{port}", "allowed: a command line with every quote closed"),
        ("127.0.0.1:99999", "found the port 99999; allowed: 1 to 65535"),
        ("", "found the bot ''; allowed: equilibrium"),
    ],
)
def test_what_is_no_bot_is_refused(text: str, reason: str) -> None:
    with pytest.raises(ValueError, match=r"^found ") as refused:
        parse_contestant(ROOMS["kuhn"], text)
    assert reason in str(refused.value)


def test_an_address_is_offered_only_where_it_is_allowed() -> None:
    with pytest.raises(ValueError, match=r"'COMMAND -s \{host\} -p \{port\}', HOST:PORT$"):
        parse_contestant(ROOMS["kuhn"], "nobody")
    with pytest.raises(ValueError, match=r"'COMMAND -s \{host\} -p \{port\}'$"):
        parse_player(ROOMS["kuhn"], "nobody")
