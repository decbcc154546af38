"""`croupier serve holdem`: flags, files, invalid settings, and shutdown."""

import http.client
import json
import re
import signal
import socket
import ssl
import urllib.request
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import pytest
import trustme

from croupier.core.basic_auth import basic_authorization, encode_user_pass
from croupier.rooms.holdem.cards import CARDS
from tests.processes import PATIENCE, Serving, croupier, rest

SIGNALS = pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT], ids=["SIGTERM", "SIGINT"])

LONG_DRAIN_SECONDS = PATIENCE * 3
"""Longer than any test waits."""

NO_EXPIRY = "0001-01-01T00:00:00Z"


class ApiResponse(NamedTuple):
    status: int
    headers: dict[str, str]
    json: Any


class HoldemServer:
    """A hold'em server, its first game, and users, each with a keep-alive connection."""

    def __init__(self, serving: Serving, context: ssl.SSLContext | None = None) -> None:
        self.serving = serving
        self._context = context
        self._connections: dict[str, http.client.HTTPConnection] = {}
        self.guids: dict[str, str] = {}
        first, *_ = self.ask("", "GET", "/games/").json
        self.game = first["gameID"]

    def _connection(self, user: str) -> http.client.HTTPConnection:
        if user not in self._connections:
            address = (self.serving.host, self.serving.ports["holdem"])
            self._connections[user] = (
                http.client.HTTPSConnection(*address, timeout=PATIENCE, context=self._context)
                if self._context
                else http.client.HTTPConnection(*address, timeout=PATIENCE)
            )
        return self._connections[user]

    def ask(self, user: str, method: str, path: str, body: object = None) -> ApiResponse:
        """Send a request as a user, or as the public (""), and return the response."""
        headers = {"Authorization": basic_authorization(user, "secret").decode()} if user else {}
        connection = self._connection(user)
        connection.request(method, path, None if body is None else json.dumps(body), headers)
        answer = connection.getresponse()
        data = answer.read()
        content = json.loads(data) if data[:1] in {b"{", b"[", b'"'} else data.decode()
        return ApiResponse(answer.status, {name.lower(): value for name, value in answer.getheaders()}, content)

    def seat(self, *users: str) -> list[int]:
        """Register users and let them join the game; return the status of each join."""
        statuses = []
        for user in users:
            made = self.ask(user, "POST", "/users/").json
            self.guids[user] = made["PlayerID"] if isinstance(made, dict) else made
            statuses.append(self.ask(user, "POST", f"/games/{self.game}/players/").status)
        return statuses

    def see(self, user: str = "", query: str = "") -> dict[str, Any]:
        """Return the game as a user sees it."""
        response = self.ask(user, "GET", f"/games/{self.game}{query}")
        assert response.status == 200, response
        self._version = response.headers.get("x-game-version")
        seen: dict[str, Any] = response.json
        return seen

    def hole(self, user: str) -> list[str]:
        cards: list[str] = self.see(user)["cards"]["hole"]
        return cards

    def await_change(self) -> dict[str, Any]:
        """Return the game as the public sees it when it has changed since it was last seen."""
        return self.see(query=f"?wait={PATIENCE}&since={self._version}")

    def act(self, action: int, amount: int = 0) -> ApiResponse:
        """Send an act of the player to act."""
        turn = self.see()["turn"]["playerID"]
        (user,) = [user for user, guid in self.guids.items() if guid == turn]
        return self.ask(
            user, "POST", f"/games/{self.game}/players/{turn}/acts/", {"action": action, "betAmount": amount}
        )

    def leave(self, user: str) -> None:
        assert self.ask(user, "DELETE", f"/games/{self.game}/players/{self.guids[user]}").status == 200

    def close(self) -> None:
        for connection in self._connections.values():
            connection.close()


@contextmanager
def running_holdem(*flags: object, ready: int = 1, variables: dict[str, str] | None = None) -> Iterator[HoldemServer]:
    """Run a server with these flags, with --drain-seconds 0 unless they set it."""
    drain = () if "--drain-seconds" in flags else ("--drain-seconds", 0)
    with Serving("holdem", "--port", 0, *flags, *drain, ready=ready, variables=variables) as serving:
        server = HoldemServer(serving)
        try:
            yield server
        finally:
            server.close()


def deck(path: Path, *decks: str) -> Path:
    """Write a deck file; the cards of each deck are separated by spaces. Return its path."""
    file = path / "deck"
    file.write_text("\n\n".join("\n".join(cards.split()) for cards in decks))
    return file


def entries(record: Path, kind: str) -> list[dict[str, Any]]:
    lines = [json.loads(line) for line in record.read_text().splitlines()]
    return [entry for entry in lines if entry["deal"] == kind]


# Flags


def test_defaults_are_those_of_the_document() -> None:
    with running_holdem() as server:
        assert re.fullmatch(r"holdem is open at 127\.0\.0\.1:\d+", server.serving.lines[0])
        assert server.seat("ann", "bob") == [201, 201]
        seen = server.see()
        assert [(one["handle"], one["wealth"], one["bet_so_far"]) for one in seen["table"]] == [
            ("ann", 9_990, 10),
            ("bob", 9_980, 20),
        ]
        assert seen["turn"]["minimum_raise"] == 20


def test_flags_set_blinds_stack_ante_and_straddle() -> None:
    with running_holdem("--blinds", "25/50", "--stack", 2_000, "--ante", 5, "--straddle", 100) as server:
        server.seat("ann", "bob")
        seen = server.see()
        assert [(one["wealth"], one["bet_so_far"]) for one in seen["table"]] == [(1_970, 25), (1_945, 50)]
        assert [pot["size"] for pot in seen["pots"]] == [85]
        server.seat("cat")
        assert server.act(0).status == 201  # with three the next hand has a straddle
        turn = server.see()["turn"]
        assert (turn["bet_to_player"], turn["minimum_raise"]) == (100, 100)


def test_a_player_without_a_free_seat_is_queued() -> None:
    with running_holdem("--seats", 2) as server:
        assert server.seat("ann", "bob", "cat") == [201, 201, 202]
        server.leave("bob")
        assert [one["handle"] for one in server.see()["table"]] == ["ann", "cat"]


def test_a_player_who_times_out_is_removed() -> None:
    with running_holdem("--turn-seconds", 0.2) as server:
        server.seat("ann", "bob")
        seen = server.see()
        if seen["turn"]["playerID"]:  # the player may have timed out already
            seen = server.await_change()
        assert [one["handle"] for one in seen["table"]] == ["bob"]
        assert seen["table"][0]["wealth"] == 10_010


def test_pause_seconds_shows_the_end_of_a_hand() -> None:
    with running_holdem("--pause-seconds", PATIENCE * 10) as server:
        server.seat("ann", "bob")
        server.act(0)
        seen = server.see()
        assert seen["turn"]["expiry"] == NO_EXPIRY
        assert [one["wealth"] for one in seen["table"]] == [9_990, 10_010]
    with running_holdem("--pause-seconds", 0.05) as server:
        server.seat("ann", "bob")
        server.act(0)
        seen = server.see()
        if not seen["turn"]["playerID"]:  # the next hand may have begun already
            seen = server.await_change()
        assert sorted(one["wealth"] for one in seen["table"]) == [9_970, 10_000]


def test_the_dialect_of_the_published_server() -> None:
    with running_holdem("--dialect", "hspe-go") as server:
        assert server.ask("ann", "POST", "/users/").json.keys() == {"PlayerID"}
        assert server.seat("ann", "bob") == [202, 202]
        assert list(server.see()) == ["gameID", "table", "turn", "cards", "pots", "last_winners"]


def test_flags_limit_the_history_and_the_number_of_games() -> None:
    with running_holdem("--history", 1, "--games", 1) as server:
        server.seat("ann", "bob")
        for _ in range(2):
            server.act(0)
        assert [server.ask("", "GET", f"/games/{server.game}/hands/{n}.phh").status for n in (1, 2)] == [404, 200]
        assert server.ask("ann", "POST", "/games/").status == 503


def test_settings_come_from_variables_and_a_file_too(tmp_path: Path) -> None:
    file = tmp_path / "croupier.toml"
    file.write_text('[serve.holdem]\nblinds = "1/2"\nstack = 300\n')
    with running_holdem("--config", file, variables={"CROUPIER_SERVE_HOLDEM_STACK": "200"}) as server:
        server.seat("ann", "bob")
        assert [one["wealth"] for one in server.see()["table"]] == [199, 198]


# Decks, seeds and the record


def test_decks_of_a_file_are_dealt_in_turn_and_repeated(tmp_path: Path) -> None:
    file = deck(tmp_path, "AS KS AH KH 2C 3C 4C 5C 6C", "2D 7S 2H 7H")
    with running_holdem("--deck", file) as server:
        server.seat("ann", "bob")
        holes = []
        for _ in range(3):
            holes.append((server.hole("ann"), server.hole("bob")))
            server.act(0)
        assert holes == [
            (["AS", "AH"], ["KS", "KH"]),  # the small blind has the first card
            (["7S", "7H"], ["2D", "2H"]),
            (["AS", "AH"], ["KS", "KH"]),
        ]


def test_the_board_follows_the_hole_cards_without_burn_cards(tmp_path: Path) -> None:
    with running_holdem(
        "--deck", deck(tmp_path, "AS KS AH KH 2C 3C 4C 5C 6C"), "--pause-seconds", LONG_DRAIN_SECONDS
    ) as server:
        server.seat("ann", "bob")
        server.act(1, 9_990)
        server.act(1, 9_980)
        cards = server.see()["cards"]
        assert (cards["flop"], cards["turn"], cards["river"]) == (["2C", "3C", "4C"], ["5C"], ["6C"])


def deals(*flags: object) -> list[object]:
    """Return the GUIDs and hole cards of two users over three hands."""
    with running_holdem(*flags) as server:
        server.seat("ann", "bob")
        result: list[object] = [server.game, server.guids]
        for _ in range(3):
            result.append((server.hole("ann"), server.hole("bob")))
            server.act(0)
        return result


def test_the_same_seed_makes_the_same_guids_and_deals_the_same_cards() -> None:
    assert deals("--seed", 7) == deals_with_seed_7()


def test_another_seed_or_none_makes_other_guids_and_cards() -> None:
    for one, other in zip(deals_with_seed_7(), deals("--seed", 8), strict=True):
        assert one != other
    for one, other in zip(deals(), deals(), strict=True):
        assert one != other


def test_the_client_seed_changes_the_cards_only() -> None:
    other = deals("--seed", 7, "--client-seed", "ours")
    assert deals_with_seed_7()[:2] == other[:2]
    assert deals_with_seed_7()[2:] != other[2:]


@cache
def deals_with_seed_7() -> list[object]:
    """Return the deals of a server with seed 7."""
    return deals("--seed", 7)


def test_the_deal_record_verifies_and_a_forged_one_does_not(tmp_path: Path) -> None:
    record = tmp_path / "deals.jsonl"
    with running_holdem("--deals", record, "--client-seed", "ours", "--journal", "off") as server:
        server.seat("ann", "bob")
        server.act(1, 10)
        server.act(1, 0)
        server.act(0)
        server.act(0)
        assert server.serving.stop() == 0
    done = croupier("verify", record)
    assert done.returncode == 0, done.stdout
    assert done.stdout.endswith("3 tables as promised, 0 faults\n")
    assert [entry["net"] for entry in entries(record, "hand")] == [[20, -20], [10, -10], [0, 0]]
    cards = entries(record, "hand")[0]["cards"]
    assert len(cards) == 7
    other = next(card for card in CARDS if card not in cards)
    record.write_text(record.read_text().replace(f'"{cards[4]}"', f'"{other}"', 1))
    assert croupier("verify", record).returncode == 1


def test_the_seed_of_a_hand_is_revealed_when_it_is_over_and_not_before(tmp_path: Path) -> None:
    record = tmp_path / "deals.jsonl"
    with running_holdem("--deals", record) as server:
        server.seat("ann", "bob")
        assert [len(entries(record, kind)) for kind in ("promise", "hand", "seed")] == [1, 0, 0]
        server.act(0)
        assert [len(entries(record, kind)) for kind in ("promise", "hand", "seed")] == [2, 1, 1]


def test_a_deck_file_makes_no_promise(tmp_path: Path) -> None:
    record = tmp_path / "deals.jsonl"
    with running_holdem("--deals", record, "--deck", deck(tmp_path, "AS KS AH KH")) as server:
        server.seat("ann", "bob")
        server.act(0)
        server.serving.stop()
    done = croupier("verify", record)
    assert done.returncode == 2, done.stdout
    assert "nothing is promised" in done.stdout


# Logs, metrics and connections


def test_the_conversation_log_has_requests_and_responses_without_passwords(tmp_path: Path) -> None:
    log = tmp_path / "{room}.txt"
    with running_holdem("--log", log) as server:
        server.seat("ann", "bob")
        server.act(1, 5)
    text = (tmp_path / "holdem.txt").read_text()
    assert [line[:3] for line in text.splitlines()] == ["C: ", "S: "] * 3
    assert "ann" in text
    assert "found 5; allowed: 10 to call" in text
    assert "secret" not in text


def test_the_debug_log_has_no_passwords() -> None:
    with running_holdem("--log-level", "debug") as server:
        server.seat("ann", "bob")
        server.act(0)
        assert server.serving.stop() == 0
        events = {entry["event"] for entry in server.serving.entries}
        assert {"received", "sent", "finished", "closing", "closed"} <= events
        assert "secret" not in server.serving.log
        assert encode_user_pass("ann", "secret").decode() not in server.serving.log


def test_metrics_count_hands_and_requests_without_names() -> None:
    with running_holdem("--metrics-port", 0, ready=2) as server:
        server.seat("ann", "bob")
        server.act(0)
        with urllib.request.urlopen(f"http://127.0.0.1:{server.serving.ports['metrics']}/metrics") as answer:
            text = answer.read().decode()
        lines = [line.rsplit(" ", 1) for line in text.splitlines() if line.startswith("croupier_")]
        metrics = {name: float(value) for name, value in lines}
        assert metrics['croupier_games_total{room="holdem"}'] == 1
        assert metrics['croupier_connected{room="holdem"}'] == 3
        assert metrics['croupier_connections_total{room="holdem"}'] == 3
        assert metrics['croupier_messages_received_total{room="holdem"}'] == 7
        assert metrics['croupier_messages_sent_total{room="holdem"}'] == 7
        assert metrics["croupier_store_pending"] == 0
        assert metrics['croupier_store_commit_seconds_count{place="thread"}'] > 0
        assert not any(word in text for word in ("ann", "bob", "127.0.0.1", server.game))


def test_a_full_server_answers_503() -> None:
    with running_holdem("--max-connections", 1) as server:
        with socket.create_connection((server.serving.host, server.serving.port), PATIENCE) as other:
            assert rest(other).startswith(b"HTTP/1.1 503 ")
        assert server.ask("", "GET", "/games/").status == 200


def test_an_idle_connection_is_closed() -> None:
    with running_holdem("--idle-seconds", 0.1) as server, server.serving.call("holdem") as connection:
        connection.sendall(b"GET /games/ HTTP/1.1\r\nHost: here\r\n\r\n")
        assert rest(connection).startswith(b"HTTP/1.1 200 ")


def test_tls(tmp_path: Path) -> None:
    authority = trustme.CA()
    certificate = authority.issue_cert("127.0.0.1")
    certificate.private_key_pem.write_to_path(tmp_path / "key")
    (tmp_path / "chain").write_bytes(b"".join(blob.bytes() for blob in certificate.cert_chain_pems))
    context = ssl.create_default_context()
    authority.configure_trust(context)
    flags = ("--tls-cert", tmp_path / "chain", "--tls-key", tmp_path / "key", "--drain-seconds", 0)
    with Serving("holdem", "--port", 0, *flags) as serving:
        assert serving.lines[0].endswith(" (TLS)")
        server = HoldemServer(serving, context)
        assert server.seat("ann", "bob") == [201, 201]
        assert len(server.hole("ann")) == 2
        assert server.act(0).status == 201
        with serving.call("holdem") as plain:
            plain.sendall(b"GET /games/ HTTP/1.1\r\nHost: here\r\n\r\n")
            assert b"HTTP/1.1 200" not in rest(plain)
        assert serving.stop() == 0  # although three connections are open
        server.close()


# Invalid settings


@pytest.mark.parametrize(
    ("flags", "message"),
    [
        (("--blinds", "20/10"), "found the blinds 20/10; allowed: "),
        (("--seats", 11), "found seats: 11; allowed: 2 to 10"),
        (("--turn-seconds", "nan"), "found seconds for an act: nan; allowed: "),
        (("--straddle", 30), "found a straddle of 30; allowed: 0, or 40 and more"),
        (("--idle-seconds", 0), "found --idle-seconds 0; allowed: more than 0"),
        (("--deck", "/nowhere/deck"), "/nowhere/deck"),
        (("--log", "/nowhere/log"), "/nowhere/log"),
        (("--tls-cert", "/nowhere/cert", "--tls-key", "/nowhere/key"), "cannot read /nowhere/cert and /nowhere/key: "),
        (("--host", "no.such.host.invalid"), "cannot listen on no.such.host.invalid:0"),
    ],
    ids=lambda value: " ".join(map(str, value)) if isinstance(value, tuple) else "",
)
def test_an_invalid_setting_is_reported_in_one_line(flags: Sequence[object], message: str) -> None:
    done = croupier("serve", "holdem", "--port", 0, *flags)
    assert done.returncode == (1 if "--host" in flags else 2)
    assert done.stderr.startswith("croupier: ")
    assert message in done.stderr
    assert done.stderr.count("\n") == 1
    assert done.stdout == ""


@pytest.mark.parametrize("flags", [("--seats", "many"), ("--dialect", "french"), ("--prot", "0")], ids=" ".join)
def test_an_unparsable_flag_is_reported(flags: Sequence[object]) -> None:
    done = croupier("serve", "holdem", *flags)
    assert done.returncode == 2
    assert str(flags[0]) in done.stderr + done.stdout
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize(
    ("cards", "message"),
    [("AS 1S", "line 2: found '1S'"), ("AS KD AS", "line 3: found 'AS' once more"), ("", "found no card")],
)
def test_an_invalid_deck_file_is_rejected_with_its_line(tmp_path: Path, cards: str, message: str) -> None:
    file = deck(tmp_path, cards)
    done = croupier("serve", "holdem", "--port", 0, "--deck", file)
    assert done.returncode == 2
    assert done.stderr.startswith(f"croupier: {file}")
    assert message in done.stderr
    assert done.stderr.count("\n") == 1


@pytest.mark.parametrize("flag", ["--port", "--metrics-port"])
def test_a_port_in_use_is_reported(flag: str) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        flags = ("--port", port) if flag == "--port" else ("--port", 0, flag, port)
        done = croupier("serve", "holdem", *flags)
    assert done.returncode == 1
    assert done.stderr.startswith(f"croupier: cannot listen on 127.0.0.1:{port}: ")
    assert "in use" in done.stderr
    assert done.stderr.count("\n") == 1


# Shutdown


@SIGNALS
def test_without_a_running_hand_a_signal_ends_the_server_at_once(number: int) -> None:
    with running_holdem("--drain-seconds", LONG_DRAIN_SECONDS) as server:
        server.seat("ann")
        server.serving.signal(number)
        assert server.serving.end() == 0  # although two connections are kept alive
        assert [entry["event"] for entry in server.serving.entries] == ["closing", "closed"]


def test_while_closing_a_running_hand_ends_and_joins_are_refused(tmp_path: Path) -> None:
    record = tmp_path / "deals.jsonl"
    with running_holdem("--drain-seconds", LONG_DRAIN_SECONDS, "--deals", record) as server:
        server.seat("ann", "bob")
        server.ask("cat", "POST", "/users/")
        begin_shutdown(server)
        assert server.ask("cat", "POST", f"/games/{server.game}/players/").status == 503
        assert server.ask("cat", "POST", "/games/").status == 503
        assert server.act(1, 10).status == 201
        assert server.act(0).status == 201
        assert server.serving.end() == 0
    assert [entry["net"] for entry in entries(record, "hand")] == [[20, -20]]
    assert len(entries(record, "promise")) == 1
    assert croupier("verify", record).returncode == 0


def test_while_closing_a_timeout_ends_the_last_hand(tmp_path: Path) -> None:
    record = tmp_path / "deals.jsonl"
    with running_holdem("--drain-seconds", LONG_DRAIN_SECONDS, "--deals", record, "--turn-seconds", 1) as server:
        server.seat("ann", "bob")
        server.serving.signal()
        assert server.serving.end() == 0
    assert [entry["net"] for entry in entries(record, "hand")][-1] == [-10, 10]


def test_a_hand_that_exceeds_the_drain_time_is_void(tmp_path: Path) -> None:
    record = tmp_path / "deals.jsonl"
    with running_holdem("--drain-seconds", 0.2, "--deals", record, "--journal", "off") as server:
        server.seat("ann", "bob")
        server.act(1, 500)
        server.serving.signal()
        assert server.serving.end() == 0
    assert [entry["net"] for entry in entries(record, "hand")] == [[0, 0]]
    assert croupier("verify", record).returncode == 0


def test_a_stored_hand_continues_after_a_restart(tmp_path: Path) -> None:
    """holdem-3.16"""
    record, store = tmp_path / "deals.jsonl", ("--store", tmp_path / "kept.db")
    with running_holdem("--deals", record, *store) as server:
        server.seat("ann", "bob")
        server.act(1, 500)
        guids, game, before = server.guids, server.game, server.see()
        assert server.serving.stop() == 0
    assert not entries(record, "hand")
    with running_holdem("--deals", record, *store) as server:
        server.guids, server.game = guids, game
        after = server.see()
        assert after["turn"].pop("expiry") != before["turn"].pop("expiry")
        assert after == before
        server.act(0)
        assert [entry["net"] for entry in entries(record, "hand")] == [[20, -20]]
    done = croupier("verify", record)
    assert done.returncode == 0
    assert done.stdout.endswith("1 table as promised, 1 promise not opened, 0 faults\n"), done.stdout
    refused = croupier("serve", "holdem", "--port", 0, *store, "--blinds", "5/10")
    assert refused.returncode == 2
    assert "found blinds 5/10 for saved tables; allowed: 10/20, as saved" in refused.stderr


def test_a_store_keeps_the_position_in_the_deck_file(tmp_path: Path) -> None:
    store = ("--store", tmp_path / "kept.db")
    laid_out = ("--deck", deck(tmp_path, "AS KS AH KH", "2D 7S 2H 7H"))
    with running_holdem(*store, *laid_out) as server:
        server.seat("ann", "bob")
        assert server.hole("ann") == ["AS", "AH"]
        server.act(0)
        guids, game = server.guids, server.game
        assert server.hole("ann") == ["7S", "7H"]
    for flags in (laid_out, ()):  # without --deck it goes on with the cards it began with
        with running_holdem(*store, *flags) as server:
            server.guids, server.game = guids, game
            assert server.ask("ann", "POST", "/users/").status == 403, "the users are still there"
            assert server.hole("ann") == ["7S", "7H"]
    with running_holdem(*store) as server:
        server.guids, server.game = guids, game
        server.act(0)
        assert server.hole("ann") == ["AS", "AH"]
    other = croupier("serve", "holdem", "--port", 0, *store, "--deck", deck(tmp_path, "AS KS"))
    assert other.returncode == 2
    assert "found another --deck for saved tables; allowed: the saved decks, or another" in other.stderr


def test_a_second_server_cannot_open_the_same_store(tmp_path: Path) -> None:
    store = ("--store", tmp_path / "kept.db")
    with running_holdem(*store) as server:
        server.seat("ann", "bob")
        second = croupier("serve", "holdem", "--port", 0, *store)
        assert second.returncode == 1
        assert "found another server that has holdem open in" in second.stderr
        server.act(0)
        with running_holdem("--journal", "off"):
            pass


@SIGNALS
def test_a_second_signal_ends_a_running_hand_at_once(tmp_path: Path, number: int) -> None:
    record = tmp_path / "deals.jsonl"
    with running_holdem("--drain-seconds", LONG_DRAIN_SECONDS, "--deals", record, "--journal", "off") as server:
        server.seat("ann", "bob")
        begin_shutdown(server, number)
        assert server.serving.running
        server.serving.signal(number)
        assert server.serving.end() == 0
    assert [entry["net"] for entry in entries(record, "hand")] == [[0, 0]]


def test_an_event_stream_ends_with_the_game_and_does_not_delay_shutdown() -> None:
    with running_holdem("--drain-seconds", LONG_DRAIN_SECONDS) as server, server.serving.call("holdem") as stream:
        server.seat("ann", "bob")
        stream.sendall(
            f"GET /games/{server.game}/events HTTP/1.1\r\nHost: here\r\nAccept: application/x-ndjson\r\n\r\n".encode()
        )
        assert stream.recv(1 << 16).startswith(b"HTTP/1.1 200 ")
        begin_shutdown(server)
        server.act(0)
        events = rest(stream)
        assert b'"wealth":10010' in events
        assert events.endswith(b"0\r\n\r\n"), "the chunked stream is complete"
        assert server.serving.end() == 0


def test_a_long_poll_is_answered_when_the_hand_is_void() -> None:
    with running_holdem("--drain-seconds", 0.2, "--journal", "off") as server, server.serving.call("holdem") as waiting:
        server.seat("ann", "bob")
        version = server.ask("", "GET", f"/games/{server.game}").headers["x-game-version"]
        waiting.sendall(f"GET /games/{server.game}?wait=60&since={version} HTTP/1.1\r\nHost: here\r\n\r\n".encode())
        server.serving.signal()
        head, _, body = rest(waiting).partition(b"\r\n\r\n")
        assert head.startswith(b"HTTP/1.1 200 ")
        assert [one["wealth"] for one in json.loads(body)["table"]] == [10_000, 10_000]
        assert server.serving.end() == 0


def test_a_client_that_neither_reads_nor_closes_does_not_delay_shutdown() -> None:
    with running_holdem("--drain-seconds", 0.1) as server, server.serving.call("holdem") as stuck:
        server.seat("ann", "bob")
        stuck.sendall(f"GET /games/{server.game}/events HTTP/1.1\r\nHost: here\r\n\r\n".encode())
        stuck.sendall(b"POST /games/ HTTP/1.1\r\nHost: x\r\nContent-Length: 1000\r\n\r\n")
        server.act(1, 10)
        server.serving.signal()
        assert server.serving.end() == 0


def begin_shutdown(server: HoldemServer, number: int = signal.SIGTERM) -> None:
    """Send a signal, and return when the server has begun to shut down."""
    server.serving.signal(number)
    while server.ask("ann", "POST", "/games/").status != 503:
        pass
