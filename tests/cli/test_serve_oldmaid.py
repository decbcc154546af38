"""`croupier serve oldmaid`: flags, deal record, logs and shutdown, tested with raw sockets."""

import json
import re
import signal
import socket
import ssl
import subprocess
import sys
import urllib.request
from pathlib import Path
from typing import Any

import pytest
import trustme

from croupier.rooms.oldmaid import ROOM
from croupier.rooms.oldmaid.cards import CARD_NAMES
from tests.processes import Background, Serving, croupier, rest


class Talk:
    """A raw socket client that sends and receives one JSON object per line."""

    def __init__(self, connection: socket.socket) -> None:
        self._socket = connection
        self._file = connection.makefile("rb")

    def say(self, **message: object) -> None:
        self._socket.sendall(json.dumps(message).encode() + b"\n")

    def hear(self) -> Any:
        return json.loads(self._file.readline())

    def ask(self, **message: object) -> Any:
        self.say(**message)
        return self.hear()

    def error(self) -> str:
        """Receive an error and return its message."""
        answer = self.hear()
        assert answer["result"] == "error"
        return str(answer["message"])

    def ends(self) -> bool:
        return not self._file.readline()


def talk(server: Serving) -> Talk:
    return Talk(server.call("oldmaid"))


def serving(*flags: object, ready: int = 1) -> Serving:
    """Return a table server with a drain time of 0 seconds unless the flags set another."""
    return Serving("oldmaid", "--port", 0, *flags, ready=ready, variables={"CROUPIER_SERVE_OLDMAID_DRAIN_SECONDS": "0"})


def seated(server: Serving, *nicks: str) -> list[Talk]:
    """Connect players, let them join, and wait until the game has started."""
    players = [talk(server) for _ in nicks]
    for player, nick in zip(players, nicks, strict=True):
        player.say(cmd="join", nick=nick)
    for player in players:
        assert player.hear()["result"] == "ok"
    return players


def drawn(players: list[Talk], cards: int) -> list[str]:
    """Let the players draw `cards` cards in turn, and return the cards."""
    return [" ".join(players[at % len(players)].ask(cmd="draw")["card"]) for at in range(cards)]


def test_the_default_port_is_that_of_the_document() -> None:
    assert ROOM.port == 9898
    assert "[default: 9898]" in croupier("serve", "oldmaid", "--help").stdout


def test_a_full_game_starts_and_lists_the_addresses_of_its_players() -> None:
    with serving("--players", 3) as server:
        assert re.search(r"^oldmaid is open at 127\.0\.0\.1:\d+$", server.lines[0])
        calls = [server.call("oldmaid") for _ in range(3)]
        players = [Talk(call) for call in calls]
        for player, nick in zip(players, "abc", strict=True):
            player.say(cmd="join", nick=nick)
        listed = {
            f"player{number}": [[*call.getsockname()], nick]
            for number, (call, nick) in enumerate(zip(calls, "abc", strict=True), start=1)
        }
        for player in players:
            assert player.hear() == {"result": "ok", "players": listed}


def test_a_game_with_two_players_starts_after_the_join_window() -> None:
    with serving("--players", 8, "--join-window", 0.2, "--dialect", "njaal") as server:
        players = [talk(server), talk(server)]
        for player, nick in zip(players, "ab", strict=True):
            player.say(cmd="join", nick=nick)
        assert [nick for _, nick in players[0].hear()["players"]] == ["a", "b"]


def test_decks_of_a_file_are_dealt_in_turn_and_repeated(tmp_path: Path) -> None:
    deck = tmp_path / "deck"
    deck.write_text("3 spades\njoker maid\nT hearts\n\nA clubs\n")
    with serving("--players", 2, "--deck", deck) as server:
        assert drawn(seated(server, "a", "b"), 3) == ["3 spades", "joker maid", "10 hearts"]
        assert drawn(seated(server, "c", "d"), 1) == ["A clubs"]
        assert drawn(seated(server, "e", "f"), 1) == ["3 spades"]


@pytest.mark.extended
def test_a_seed_repeats_the_deals_and_their_record_verifies(tmp_path: Path) -> None:
    dealt, records = [], [tmp_path / "deals.jsonl", tmp_path / "again.jsonl"]
    for record in records:
        with serving("--players", 2, "--seed", 7, "--deals", record, "--client-seed", "ours") as server:
            games = []
            for nicks in ("ab", "cd"):
                players = seated(server, *nicks)
                games.append(drawn(players, 53))
                for value in CARD_NAMES[:48:4]:
                    pair = [[value.split()[0], suit] for suit in ("spades", "clubs")]
                    assert players[0].ask(cmd="discard", cards=pair)["result"] == "ok"
                assert players[0].ask(cmd="discard", cards=[["A", "diamonds"], ["A", "hearts"]])["result"] == "ok"
                assert players[0].ask(cmd="out_of_cards") == {"result": "ok"}
                assert players[1].ask(cmd="status") == {"in": [nicks[1]], "out": [nicks[0]]}
            dealt.append(games)
            assert server.stop() == 0
    assert dealt[0] == dealt[1]
    assert [sorted(game) for game in dealt[0]] == [sorted(CARD_NAMES)] * 2
    assert dealt[0][0] != dealt[0][1]
    assert [json.loads(line)["deal"] for line in record.read_text().splitlines()] == ["promise", "hand", "seed"] * 2
    for record in records:
        done = croupier("verify", record)
        assert done.returncode == 0, done.stdout
    record.write_text(record.read_text().replace(dealt[0][0][0], "joker maid", 1))
    assert croupier("verify", record).returncode == 1


def test_an_unfinished_game_is_void_at_shutdown_and_its_deal_verifies(
    tmp_path: Path,
) -> None:
    record = tmp_path / "deals.jsonl"
    with serving("--players", 2, "--deals", record) as server:
        players = seated(server, "a", "b")
        drawn(players, 5)
        assert server.stop() == 0
        for player in players:
            assert player.error().startswith("oldmaid-9.12: ")
            assert player.ends()
    assert croupier("verify", record).returncode == 0
    (hand,) = [entry for entry in map(json.loads, record.read_text().splitlines()) if entry["deal"] == "hand"]
    assert (len(hand["cards"]), hand["net"]) == (5, [0, 0])


@pytest.mark.extended
def test_waiting_players_are_disconnected_at_once_at_shutdown() -> None:
    with serving("--drain-seconds", 30) as server:
        player = talk(server)
        player.say(cmd="join", nick="ann")
        other = talk(server)
        other.say(cmd="status")
        assert other.error().startswith("oldmaid-6.13: ")
        assert server.stop() == 0
        assert player.error().startswith("oldmaid-9.12: ")


@pytest.mark.extended
def test_a_running_game_can_finish_during_shutdown() -> None:
    with serving("--players", 4, "--drain-seconds", 30) as server:
        bots = ("play", "oldmaid", server.address, "--bots", 3, "--nick", "bot", "--json")
        with Background(*bots) as process:
            ring = (
                "import asyncio, sys; from croupier.clients.ring import join_table\n"
                "from croupier.rooms.oldmaid.ring.player_events import OfferReceived, PlayerFinished; "
                "from croupier.rooms.oldmaid.wire import Pick\n"
                "async def main():\n"
                f"    async with join_table('127.0.0.1', {server.port}, nick='ann') as ring:\n"
                "        while not isinstance(event := await ring.receive(), PlayerFinished):\n"
                "            if isinstance(event, OfferReceived):\n"
                "                print('offered', flush=True)\n"
                "            if ring.player.legal:\n"
                "                await ring.send(Pick(0))\n"
                "        print(event.result.outcome)\n"
                "asyncio.run(main())"
            )
            with subprocess.Popen([sys.executable, "-c", ring], stdout=subprocess.PIPE, text=True) as person:
                assert person.stdout is not None
                assert person.stdout.readline() == "offered\n"
                server.signal()
                done = process.end()
                assert person.stdout.read().splitlines()[-1] in {"out", "lost"}
        players = json.loads(done.stdout)["players"]
        assert [(one["games"], one["faults"]) for one in players] == [(1, [])] * 3
        assert server.end() == 0


def test_invalid_settings_are_rejected(tmp_path: Path) -> None:
    for flags, message in (
        (("--players", 9), "found players: 9; allowed: 2 to 8"),
        (("--players", 1), "found players: 1; allowed: 2 to 8"),
        (("--join-window", -1), "allowed: 0.0 to "),
        (("--deck", tmp_path / "nowhere"), "nowhere"),
    ):
        done = croupier("serve", "oldmaid", "--port", 0, *flags)
        assert done.returncode == 2
        assert message in done.stderr
        assert len(done.stderr.splitlines()) == 1


@pytest.mark.extended
def test_strict_rejects_a_tolerated_deviation() -> None:
    with serving("--strict") as server:
        player = talk(server)
        player.say(cmd="join", nick="ann", port=4001)
        assert player.error().startswith("oldmaid-3.5: ")


@pytest.mark.extended
def test_an_idle_client_is_disconnected() -> None:
    with serving("--idle-seconds", 0.2) as server:
        player = talk(server)
        assert player.error().startswith("oldmaid-8.10: ")
        assert player.ends()


@pytest.mark.extended
def test_a_client_above_the_connection_limit_gets_an_error() -> None:
    with serving("--max-connections", 1) as server:
        first = talk(server)
        assert first.ask(cmd="status")["result"] == "error"
        second = talk(server)
        assert second.error().startswith("oldmaid-1.8: found one connection more than there may be")
        assert second.ends()


@pytest.mark.extended
def test_each_connection_can_have_its_own_log_file(tmp_path: Path) -> None:
    with serving("--players", 2, "--log", tmp_path / "{room}-{n}.txt") as server:
        players = seated(server, "ann", "bob")
        drawn(players, 1)
        assert players[1].ask(cmd="draw")["result"] == "ok"
    assert {path.name for path in tmp_path.iterdir()} == {"oldmaid-1.txt", "oldmaid-2.txt"}
    first, _, *others = (tmp_path / "oldmaid-1.txt").read_text().splitlines()
    assert first == 'C: {"cmd":"join","nick":"ann"}'
    assert others[0] == 'C: {"cmd":"draw"}'
    assert re.fullmatch(r'S: \{"result":"ok","card":\["\w+","\w+"\]\}', others[1])


@pytest.mark.extended
def test_tls_and_metrics(tmp_path: Path) -> None:
    authority = trustme.CA()
    certificate = authority.issue_cert("127.0.0.1")
    certificate.private_key_pem.write_to_path(tmp_path / "key")
    certificate.cert_chain_pems[0].write_to_path(tmp_path / "chain")
    authority.cert_pem.write_to_path(tmp_path / "ca")
    context = ssl.create_default_context()
    authority.configure_trust(context)
    keys = ("--tls-cert", tmp_path / "chain", "--tls-key", tmp_path / "key", "--metrics-port", 0)
    with serving("--players", 2, *keys, ready=2) as server:
        assert server.lines[0].endswith("(TLS)")
        with context.wrap_socket(server.call("oldmaid"), server_hostname="127.0.0.1") as connection:
            assert Talk(connection).ask(cmd="draw")["message"].startswith("oldmaid-4.6: ")
        done = croupier("play", "oldmaid", server.address, "--bots", 2, "--pause", 0, "--tls-ca", tmp_path / "ca")
        assert (done.returncode, done.stderr) == (0, "")
        with urllib.request.urlopen(f"http://{server.host}:{server.ports['metrics']}/metrics") as answer:
            text = answer.read().decode()
        assert 'croupier_games_total{room="oldmaid"} 1.0' in text


@pytest.mark.parametrize("data", [b"\xff\xfe{}\n", b"[" * 70_000])
def test_invalid_utf_8_and_endless_messages_end_the_connection(data: bytes) -> None:
    with serving() as server:
        connection = server.call("oldmaid")
        connection.sendall(data)
        assert re.match(rb'\{"result":"error","message":"oldmaid-8\.[389]: ', rest(connection))


def test_a_killed_table_voids_its_games_and_keeps_its_promises(tmp_path: Path) -> None:
    """oldmaid-9.14"""
    store, record = ("--store", tmp_path / "kept.db"), tmp_path / "deals.jsonl"
    with serving("--players", 2, *store, "--deals", record) as server:
        players = seated(server, "ann", "bob")
        cards = drawn(players, 5)
        server.signal(signal.SIGKILL)
        assert all(player.ends() for player in players)
        server.end()
    with serving("--players", 2, *store, "--deals", record) as server:
        (warning,) = [entry for entry in server.entries if entry["level"] == "warning"]
        assert (warning["event"], warning["games"]) == ("interrupted games voided", [1])
        late = talk(server)
        late.say(cmd="status")
        assert "found status (the table was interrupted: 1 game is void); allowed: join" in late.error()
        seated(server, "ann", "bob")
        assert server.stop() == 0
    hands = [json.loads(line) for line in croupier("hands", "list", "oldmaid", "--json", *store).stdout.splitlines()]
    assert [(hand["number"], hand["summary"]) for hand in hands] == [(2, "void"), (1, "void")]
    shown = json.loads(croupier("hands", "show", "oldmaid/table/1", *store).stdout)
    assert [step[2] for step in shown["course"]] == cards
    verification = croupier("verify", record)
    assert (verification.returncode, "BROKEN" in verification.stdout) == (0, False), verification.stdout
    assert "oldmaid table 1: the promise was kept" in verification.stdout
    assert croupier("db", "check", *store).stdout.endswith(": 0 faults\n")
