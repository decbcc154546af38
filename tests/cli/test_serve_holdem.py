"""`croupier serve holdem` as operators meet it: its flags, its files, its mistakes, and how it closes."""

import http.client
import json
import re
import signal
import socket
import ssl
import urllib.request
from base64 import b64encode
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import pytest
import trustme

from croupier.rooms.holdem.cards import CARDS
from tests.processes import PATIENCE, Serving, croupier, rest

SIGNALS = pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT], ids=["SIGTERM", "SIGINT"])

LONG = PATIENCE * 3
"""A drain that no test waits for."""

NOBODY = "0001-01-01T00:00:00Z"


class Got(NamedTuple):
    status: int
    headers: dict[str, str]
    json: Any


class Parlour:
    """A server of hold'em, its first game, and users who ask it, each by a keep-alive connection of his own."""

    def __init__(self, serving: Serving, context: ssl.SSLContext | None = None) -> None:
        self.serving = serving
        self._context = context
        self._lines: dict[str, http.client.HTTPConnection] = {}
        self.guids: dict[str, str] = {}
        (first,) = self.ask("", "GET", "/games/").json
        self.game = first["gameID"]

    def _line(self, user: str) -> http.client.HTTPConnection:
        if user not in self._lines:
            at = (self.serving.host, self.serving.ports["holdem"])
            self._lines[user] = (
                http.client.HTTPSConnection(*at, timeout=PATIENCE, context=self._context)
                if self._context
                else http.client.HTTPConnection(*at, timeout=PATIENCE)
            )
        return self._lines[user]

    def ask(self, user: str, method: str, path: str, body: object = None) -> Got:
        """A request of a user, or of the public (""), and what was answered."""
        told = {"Authorization": f"Basic {b64encode(f'{user}:secret'.encode()).decode()}"} if user else {}
        line = self._line(user)
        line.request(method, path, None if body is None else json.dumps(body), told)
        answer = line.getresponse()
        data = answer.read()
        found = json.loads(data) if data[:1] in {b"{", b"[", b'"'} else data.decode()
        return Got(answer.status, {name.lower(): value for name, value in answer.getheaders()}, found)

    def seat(self, *users: str) -> list[int]:
        """New users join: the status that each was answered with."""
        found = []
        for user in users:
            made = self.ask(user, "POST", "/users/").json
            self.guids[user] = made["PlayerID"] if isinstance(made, dict) else made
            found.append(self.ask(user, "POST", f"/games/{self.game}/players/").status)
        return found

    def see(self, user: str = "") -> dict[str, Any]:
        """The game as a user sees it."""
        got = self.ask(user, "GET", f"/games/{self.game}")
        assert got.status == 200, got
        seen: dict[str, Any] = got.json
        return seen

    def hole(self, user: str) -> list[str]:
        cards: list[str] = self.see(user)["cards"]["hole"]
        return cards

    def await_change(self) -> dict[str, Any]:
        """The game as the public sees it after the next change."""
        seen: dict[str, Any] = self.ask("", "GET", f"/games/{self.game}?wait={PATIENCE}").json
        return seen

    def act(self, action: int, amount: int = 0) -> Got:
        """Whose turn it is acts."""
        turn = self.see()["turn"]["playerID"]
        (user,) = [user for user, guid in self.guids.items() if guid == turn]
        return self.ask(
            user, "POST", f"/games/{self.game}/players/{turn}/acts/", {"action": action, "betAmount": amount}
        )

    def leave(self, user: str) -> None:
        assert self.ask(user, "DELETE", f"/games/{self.game}/players/{self.guids[user]}").status == 200

    def hang_up(self) -> None:
        for line in self._lines.values():
            line.close()


@contextmanager
def parlour(*flags: object, ready: int = 1, variables: dict[str, str] | None = None) -> Iterator[Parlour]:
    """A server with such flags, which does not wait for hands to end when it is stopped unless that is one of them."""
    drain = () if "--drain-seconds" in flags else ("--drain-seconds", 0)
    with Serving("holdem", "--port", 0, *flags, *drain, ready=ready, variables=variables) as serving:
        found = Parlour(serving)
        try:
            yield found
        finally:
            found.hang_up()


def deck(path: Path, *decks: str) -> Path:
    """A deck file of such decks, cards side by side."""
    file = path / "deck"
    file.write_text("\n\n".join("\n".join(cards.split()) for cards in decks))
    return file


def entries(record: Path, kind: str) -> list[dict[str, Any]]:
    found = [json.loads(line) for line in record.read_text().splitlines()]
    return [entry for entry in found if entry["deal"] == kind]


# Flags


def test_without_flags_it_is_the_game_of_the_document() -> None:
    with parlour() as found:
        assert re.fullmatch(r"holdem is open at 127\.0\.0\.1:\d+", found.serving.lines[0])
        assert found.seat("ann", "bob") == [201, 201]
        seen = found.see()
        assert [(one["handle"], one["wealth"], one["bet_so_far"]) for one in seen["table"]] == [
            ("ann", 9_990, 10),
            ("bob", 9_980, 20),
        ]
        assert seen["turn"]["minimum_raise"] == 20


def test_blinds_stack_ante_and_straddle_are_what_the_flags_say() -> None:
    with parlour("--blinds", "25/50", "--stack", 2_000, "--ante", 5, "--straddle", 100) as found:
        found.seat("ann", "bob")
        seen = found.see()
        assert [(one["wealth"], one["bet_so_far"]) for one in seen["table"]] == [(1_970, 25), (1_945, 50)]
        assert [pot["size"] for pot in seen["pots"]] == [85]
        found.seat("cat")
        assert found.act(0).status == 201  # with three the next hand has a straddle
        turn = found.see()["turn"]
        assert (turn["bet_to_player"], turn["minimum_raise"]) == (100, 100)


def test_who_finds_no_seat_waits_in_the_queue() -> None:
    with parlour("--seats", 2) as found:
        assert found.seat("ann", "bob", "cat") == [201, 201, 202]
        found.leave("bob")
        assert [one["handle"] for one in found.see()["table"]] == ["ann", "cat"]


def test_who_takes_longer_than_he_may_is_removed() -> None:
    with parlour("--turn-seconds", 0.2) as found:
        found.seat("ann", "bob")
        seen = found.see()
        if seen["turn"]["playerID"]:  # else this machine has been slower
            seen = found.await_change()
        assert [one["handle"] for one in seen["table"]] == ["bob"]
        assert seen["table"][0]["wealth"] == 10_010


def test_the_end_of_a_hand_is_shown_for_a_while_if_that_is_set() -> None:
    with parlour("--pause-seconds", PATIENCE * 10) as found:
        found.seat("ann", "bob")
        found.act(0)
        seen = found.see()
        assert seen["turn"]["expiry"] == NOBODY
        assert [one["wealth"] for one in seen["table"]] == [9_990, 10_010]
    with parlour("--pause-seconds", 0.05) as found:
        found.seat("ann", "bob")
        found.act(0)
        seen = found.see()
        while not seen["turn"]["playerID"]:
            seen = found.await_change()
        assert sorted(one["wealth"] for one in seen["table"]) == [9_970, 10_000]


def test_the_dialect_of_the_published_server_can_be_spoken() -> None:
    with parlour("--dialect", "hspe-go") as found:
        assert found.ask("ann", "POST", "/users/").json.keys() == {"PlayerID"}
        assert found.seat("ann", "bob") == [202, 202]
        assert list(found.see()) == ["gameID", "table", "turn", "cards", "pots", "last_winners"]


def test_so_many_hands_are_kept_and_so_many_games_made_as_is_set() -> None:
    with parlour("--history", 1, "--games", 1) as found:
        found.seat("ann", "bob")
        for _ in range(2):
            found.act(0)
        assert [found.ask("", "GET", f"/games/{found.game}/hands/{n}.phh").status for n in (1, 2)] == [404, 200]
        assert found.ask("ann", "POST", "/games/").status == 503


def test_what_flags_set_variables_and_a_file_set_too(tmp_path: Path) -> None:
    file = tmp_path / "croupier.toml"
    file.write_text('[serve.holdem]\nblinds = "1/2"\nstack = 300\n')
    with parlour("--config", file, variables={"CROUPIER_SERVE_HOLDEM_STACK": "200"}) as found:
        found.seat("ann", "bob")
        assert [one["wealth"] for one in found.see()["table"]] == [199, 198]


# Decks, seeds and the record


def test_the_decks_of_a_file_go_on_from_hand_to_hand_and_begin_again(tmp_path: Path) -> None:
    file = deck(tmp_path, "AS KS AH KH 2C 3C 4C 5C 6C", "2D 7S 2H 7H")
    with parlour("--deck", file) as found:
        found.seat("ann", "bob")
        holes = []
        for _ in range(3):
            holes.append((found.hole("ann"), found.hole("bob")))
            found.act(0)
        assert holes == [
            (["AS", "AH"], ["KS", "KH"]),  # the small blind has the first card
            (["7S", "7H"], ["2D", "2H"]),
            (["AS", "AH"], ["KS", "KH"]),
        ]


def test_the_board_lies_behind_the_hands_in_a_deck_without_burnt_cards(tmp_path: Path) -> None:
    with parlour("--deck", deck(tmp_path, "AS KS AH KH 2C 3C 4C 5C 6C"), "--pause-seconds", LONG) as found:
        found.seat("ann", "bob")
        found.act(1, 9_990)
        found.act(1, 9_980)
        cards = found.see()["cards"]
        assert (cards["flop"], cards["turn"], cards["river"]) == (["2C", "3C", "4C"], ["5C"], ["6C"])


def deals(*flags: object) -> list[object]:
    """What a server has to say to two users of three hands: GUIDs and cards."""
    with parlour(*flags) as found:
        found.seat("ann", "bob")
        told: list[object] = [found.game, found.guids]
        for _ in range(3):
            told.append((found.hole("ann"), found.hole("bob")))
            found.act(0)
        return told


def test_the_same_seed_makes_the_same_guids_and_deals_the_same_cards() -> None:
    assert deals("--seed", 7) == seven()


def test_another_seed_makes_other_ones_and_so_does_none() -> None:
    for one, other in zip(seven(), deals("--seed", 8), strict=True):
        assert one != other
    for one, other in zip(deals(), deals(), strict=True):
        assert one != other


def test_the_word_of_the_players_changes_the_cards_and_nothing_else() -> None:
    other = deals("--seed", 7, "--client-seed", "ours")
    assert seven()[:2] == other[:2]
    assert seven()[2:] != other[2:]


@cache
def seven() -> list[object]:
    """What a server with seed 7 says."""
    return deals("--seed", 7)


def test_the_record_of_the_deals_can_be_verified_and_a_lie_about_it_is_found(tmp_path: Path) -> None:
    record = tmp_path / "deals.jsonl"
    with parlour("--deals", record, "--client-seed", "ours", "--journal", "off") as found:
        found.seat("ann", "bob")
        found.act(1, 10)
        found.act(1, 0)
        found.act(0)
        found.act(0)
        assert found.serving.stop() == 0
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
    with parlour("--deals", record) as found:
        found.seat("ann", "bob")
        assert [len(entries(record, kind)) for kind in ("promise", "hand", "seed")] == [1, 0, 0]
        found.act(0)
        assert [len(entries(record, kind)) for kind in ("promise", "hand", "seed")] == [2, 1, 1]


def test_nothing_is_promised_of_decks_that_were_laid_out_by_hand(tmp_path: Path) -> None:
    record = tmp_path / "deals.jsonl"
    with parlour("--deals", record, "--deck", deck(tmp_path, "AS KS AH KH")) as found:
        found.seat("ann", "bob")
        found.act(0)
        found.serving.stop()
    done = croupier("verify", record)
    assert done.returncode == 2, done.stdout
    assert "nothing is promised" in done.stdout


# What else is written and served


def test_a_log_has_what_is_asked_and_answered_and_no_password(tmp_path: Path) -> None:
    log = tmp_path / "{room}.txt"
    with parlour("--log", log) as found:
        found.seat("ann", "bob")
        found.act(1, 5)
    text = (tmp_path / "holdem.txt").read_text()
    assert [line[:3] for line in text.splitlines()] == ["C: ", "S: "] * 3
    assert "ann" in text
    assert "found 5; allowed: 10 to call" in text
    assert "secret" not in text


def test_the_log_of_everything_tells_no_password_either() -> None:
    with parlour("--log-level", "debug") as found:
        found.seat("ann", "bob")
        found.act(0)
        assert found.serving.stop() == 0
        told = {entry["event"] for entry in found.serving.entries}
        assert {"received", "sent", "finished", "closing", "closed"} <= told
        assert "secret" not in found.serving.log
        assert b64encode(b"ann:secret").decode() not in found.serving.log


def test_metrics_count_hands_and_requests_and_name_nobody() -> None:
    with parlour("--metrics-port", 0, ready=2) as found:
        found.seat("ann", "bob")
        found.act(0)
        with urllib.request.urlopen(f"http://127.0.0.1:{found.serving.ports['metrics']}/metrics") as answer:
            text = answer.read().decode()
        lines = [line.rsplit(" ", 1) for line in text.splitlines() if line.startswith("croupier_")]
        told = {name: float(value) for name, value in lines}
        assert told['croupier_games_total{room="holdem"}'] == 1
        assert told['croupier_connected{room="holdem"}'] == 3
        assert told['croupier_connections_total{room="holdem"}'] == 3
        assert told['croupier_messages_received_total{room="holdem"}'] == 7
        assert told['croupier_messages_sent_total{room="holdem"}'] == 7
        assert not any(word in text for word in ("ann", "bob", "127.0.0.1", found.game))


def test_a_full_house_takes_nobody_more() -> None:
    with parlour("--max-connections", 1) as found:
        with socket.create_connection((found.serving.host, found.serving.port), PATIENCE) as other:
            assert rest(other).startswith(b"HTTP/1.1 503 ")
        assert found.ask("", "GET", "/games/").status == 200


def test_an_idle_connection_is_closed() -> None:
    with parlour("--idle-seconds", 0.1) as found, found.serving.call("holdem") as line:
        line.sendall(b"GET /games/ HTTP/1.1\r\nHost: here\r\n\r\n")
        assert rest(line).startswith(b"HTTP/1.1 200 ")


def test_it_speaks_tls_with_a_certificate_and_not_without(tmp_path: Path) -> None:
    authority = trustme.CA()
    certificate = authority.issue_cert("127.0.0.1")
    certificate.private_key_pem.write_to_path(tmp_path / "key")
    (tmp_path / "chain").write_bytes(b"".join(blob.bytes() for blob in certificate.cert_chain_pems))
    context = ssl.create_default_context()
    authority.configure_trust(context)
    flags = ("--tls-cert", tmp_path / "chain", "--tls-key", tmp_path / "key", "--drain-seconds", 0)
    with Serving("holdem", "--port", 0, *flags) as serving:
        assert serving.lines[0].endswith(" (TLS)")
        found = Parlour(serving, context)
        assert found.seat("ann", "bob") == [201, 201]
        assert len(found.hole("ann")) == 2
        assert found.act(0).status == 201
        with serving.call("holdem") as plain:
            plain.sendall(b"GET /games/ HTTP/1.1\r\nHost: here\r\n\r\n")
            assert b"HTTP/1.1 200" not in rest(plain)
        assert serving.stop() == 0  # though three connections are open
        found.hang_up()


# Mistakes


@pytest.mark.parametrize(
    ("flags", "told"),
    [
        (("--blinds", "20/10"), "found the blinds 20/10; allowed: "),
        (("--seats", 11), "found seats: 11; allowed: 2 to 10"),
        (("--turn-seconds", "nan"), "found seconds for an act: nan; allowed: "),
        (("--straddle", 30), "found a straddle of 30; allowed: 0, or 40 and more"),
        (("--idle-seconds", 0), "found --idle-seconds 0; allowed: more than 0"),
        (("--deck", "/nowhere/deck"), "/nowhere/deck"),
        (("--log", "/nowhere/log"), "/nowhere/log"),
        (("--tls-cert", "/nowhere/cert", "--tls-key", "/nowhere/key"), "found no certificate in /nowhere/cert"),
        (("--host", "no.such.host.invalid"), "cannot listen on no.such.host.invalid:0"),
    ],
    ids=lambda value: " ".join(map(str, value)) if isinstance(value, tuple) else "",
)
def test_a_setting_that_makes_no_sense_is_told_in_one_line(flags: Sequence[object], told: str) -> None:
    done = croupier("serve", "holdem", "--port", 0, *flags)
    assert done.returncode == 1
    assert done.stderr.startswith("croupier: ")
    assert told in done.stderr
    assert done.stderr.count("\n") == 1
    assert done.stdout == ""


@pytest.mark.parametrize("flags", [("--seats", "many"), ("--dialect", "french"), ("--prot", "0")], ids=" ".join)
def test_a_flag_that_cannot_be_read_is_told(flags: Sequence[object]) -> None:
    done = croupier("serve", "holdem", *flags)
    assert done.returncode == 2
    assert str(flags[0]) in done.stderr + done.stdout
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize(
    ("cards", "told"),
    [("AS 1S", "line 2: found '1S'"), ("AS KD AS", "line 3: found 'AS' once more"), ("", "found no card")],
)
def test_a_deck_file_that_makes_no_sense_is_refused_with_its_line(tmp_path: Path, cards: str, told: str) -> None:
    file = deck(tmp_path, cards)
    done = croupier("serve", "holdem", "--port", 0, "--deck", file)
    assert done.returncode == 1
    assert done.stderr.startswith(f"croupier: {file}")
    assert told in done.stderr
    assert done.stderr.count("\n") == 1


@pytest.mark.parametrize("flag", ["--port", "--metrics-port"])
def test_a_port_in_use_is_told(flag: str) -> None:
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


# The end


@SIGNALS
def test_where_no_hand_is_running_a_signal_ends_it_at_once(number: int) -> None:
    with parlour("--drain-seconds", LONG) as found:
        found.seat("ann")
        found.serving.signal(number)
        assert found.serving.end() == 0  # though two connections are kept alive
        assert [entry["event"] for entry in found.serving.entries] == ["closing", "closed"]


def test_a_running_hand_may_end_and_nobody_may_join_it(tmp_path: Path) -> None:
    record = tmp_path / "deals.jsonl"
    with parlour("--drain-seconds", LONG, "--deals", record) as found:
        found.seat("ann", "bob")
        found.ask("cat", "POST", "/users/")
        closing(found)
        assert found.ask("cat", "POST", f"/games/{found.game}/players/").status == 503
        assert found.ask("cat", "POST", "/games/").status == 503
        assert found.act(1, 10).status == 201
        assert found.act(0).status == 201
        assert found.serving.end() == 0
    assert [entry["net"] for entry in entries(record, "hand")] == [[20, -20]]
    assert len(entries(record, "promise")) == 1
    assert croupier("verify", record).returncode == 0


def test_a_time_out_ends_the_last_hand_too(tmp_path: Path) -> None:
    record = tmp_path / "deals.jsonl"
    with parlour("--drain-seconds", LONG, "--deals", record, "--turn-seconds", 1) as found:
        found.seat("ann", "bob")
        found.serving.signal()
        assert found.serving.end() == 0
    assert [entry["net"] for entry in entries(record, "hand")][-1] == [-10, 10]


def test_a_hand_that_is_not_over_in_time_is_void(tmp_path: Path) -> None:
    record = tmp_path / "deals.jsonl"
    with parlour("--drain-seconds", 0.2, "--deals", record, "--journal", "off") as found:
        found.seat("ann", "bob")
        found.act(1, 500)
        found.serving.signal()
        assert found.serving.end() == 0
    assert [entry["net"] for entry in entries(record, "hand")] == [[0, 0]]
    assert croupier("verify", record).returncode == 0


def test_a_hand_that_is_kept_goes_on_when_the_room_is_opened_again(tmp_path: Path) -> None:
    """holdem-3.16"""
    record, kept = tmp_path / "deals.jsonl", ("--store", tmp_path / "kept.db")
    with parlour("--deals", record, *kept) as found:
        found.seat("ann", "bob")
        found.act(1, 500)
        guids, game, before = found.guids, found.game, found.see()
        assert found.serving.stop() == 0
    assert not entries(record, "hand")
    with parlour("--deals", record, *kept) as found:
        found.guids, found.game = guids, game
        after = found.see()
        assert after["turn"].pop("expiry") != before["turn"].pop("expiry")
        assert after == before
        found.act(0)
        assert [entry["net"] for entry in entries(record, "hand")] == [[20, -20]]
    done = croupier("verify", record)
    assert done.returncode == 0
    assert done.stdout.endswith("1 table as promised, 1 promise not opened, 0 faults\n"), done.stdout
    refused = croupier("serve", "holdem", "--port", 0, *kept, "--blinds", "5/10")
    assert refused.returncode == 1
    assert "found blinds 5/10 for stored tables; allowed: 10/20, as stored" in refused.stderr


def test_a_store_that_is_named_is_used_with_a_deck_too_and_the_place_in_it_is_kept(tmp_path: Path) -> None:
    kept = ("--store", tmp_path / "kept.db")
    laid_out = ("--deck", deck(tmp_path, "AS KS AH KH", "2D 7S 2H 7H"))
    with parlour(*kept, *laid_out) as found:
        found.seat("ann", "bob")
        assert found.hole("ann") == ["AS", "AH"]
        found.act(0)
        guids, game = found.guids, found.game
        assert found.hole("ann") == ["7S", "7H"]
    for flags in (laid_out, ()):  # without --deck it goes on with the cards it began with
        with parlour(*kept, *flags) as found:
            found.guids, found.game = guids, game
            assert found.ask("ann", "POST", "/users/").status == 403, "the users are still there"
            assert found.hole("ann") == ["7S", "7H"]
    with parlour(*kept) as found:
        found.guids, found.game = guids, game
        found.act(0)
        assert found.hole("ann") == ["AS", "AH"]
    other = croupier("serve", "holdem", "--port", 0, *kept, "--deck", deck(tmp_path, "AS KS"))
    assert other.returncode == 1
    assert "found another --deck for stored tables; allowed: the stored decks, or another" in other.stderr


def test_a_second_server_does_not_open_what_is_open(tmp_path: Path) -> None:
    kept = ("--store", tmp_path / "kept.db")
    with parlour(*kept) as found:
        found.seat("ann", "bob")
        second = croupier("serve", "holdem", "--port", 0, *kept)
        assert second.returncode == 1
        assert "found another server that has holdem open in" in second.stderr
        found.act(0)
        with parlour("--journal", "off"):
            pass


@SIGNALS
def test_a_second_signal_ends_a_running_hand_at_once(tmp_path: Path, number: int) -> None:
    record = tmp_path / "deals.jsonl"
    with parlour("--drain-seconds", LONG, "--deals", record, "--journal", "off") as found:
        found.seat("ann", "bob")
        closing(found, number)
        assert found.serving.running
        found.serving.signal(number)
        assert found.serving.end() == 0
    assert [entry["net"] for entry in entries(record, "hand")] == [[0, 0]]


def test_who_follows_a_game_sees_its_end_and_keeps_nobody_waiting() -> None:
    with parlour("--drain-seconds", LONG) as found, found.serving.call("holdem") as stream:
        found.seat("ann", "bob")
        stream.sendall(
            f"GET /games/{found.game}/events HTTP/1.1\r\nHost: here\r\nAccept: application/x-ndjson\r\n\r\n".encode()
        )
        assert stream.recv(1 << 16).startswith(b"HTTP/1.1 200 ")
        closing(found)
        found.act(0)
        told = rest(stream)
        assert b'"wealth":10010' in told
        assert told.endswith(b"0\r\n\r\n"), "a stream ends as HTTP has it"
        assert found.serving.end() == 0


def test_who_waits_for_news_is_answered_when_the_hand_is_void() -> None:
    with parlour("--drain-seconds", 0.2, "--journal", "off") as found, found.serving.call("holdem") as waiting:
        found.seat("ann", "bob")
        version = found.ask("", "GET", f"/games/{found.game}").headers["x-game-version"]
        waiting.sendall(f"GET /games/{found.game}?wait=60&since={version} HTTP/1.1\r\nHost: here\r\n\r\n".encode())
        found.serving.signal()
        head, _, body = rest(waiting).partition(b"\r\n\r\n")
        assert head.startswith(b"HTTP/1.1 200 ")
        assert [one["wealth"] for one in json.loads(body)["table"]] == [10_000, 10_000]
        assert found.serving.end() == 0


def test_who_never_hangs_up_nor_reads_does_not_keep_the_process() -> None:
    with parlour("--drain-seconds", 0.1) as found, found.serving.call("holdem") as deaf:
        found.seat("ann", "bob")
        deaf.sendall(f"GET /games/{found.game}/events HTTP/1.1\r\nHost: here\r\n\r\n".encode())
        deaf.sendall(b"POST /games/ HTTP/1.1\r\nHost: x\r\nContent-Length: 1000\r\n\r\n")
        found.act(1, 10)
        found.serving.signal()
        assert found.serving.end() == 0


def closing(found: Parlour, number: int = signal.SIGTERM) -> None:
    """Tell it to stop, and come back when it has begun to."""
    found.serving.signal(number)
    while found.ask("ann", "POST", "/games/").status != 503:
        pass
