"""`croupier serve`: rooms follow their protocol, with the settings of the flags."""

import json
import re
import ssl
import urllib.request
from pathlib import Path

import pytest
import trustme

from croupier.core.deal_record import verify_record
from croupier.rooms import ROOMS
from tests.processes import Serving, croupier, hear, rest

HANDS = b"STRT P_1ACTN BETSTRT P_1ACTN BETSTRT P_1ACTN BETSTRT P_1ACTN BETSTRT P_1ACTN BETSTRT P_1ACTN BETDISC"


def test_ready_line_has_the_room_and_its_address() -> None:
    with Serving("kuhn", "--port", 0) as serving:
        assert re.search(r"\bkuhn\b.* 127\.0\.0\.1:\d+\b", serving.lines[0])
        assert serving.ports["kuhn"] != 0
        assert serving.talk(b"ACTN BET") == b"FAIL W_A"


def test_game_over_a_raw_socket(tmp_path: Path) -> None:
    (tmp_path / "deck").write_text("Q\nK\n")
    with Serving("kuhn", "-p", 0, "--deck", tmp_path / "deck", "--bot", "script:CAL") as serving:
        connection = serving.call()
        connection.sendall(b"STRT P_1")
        assert hear(connection, 8) == b"CARD C_Q"
        connection.sendall(b"ACTN BET")
        assert hear(connection, 8) == b"CARD C_K"
        connection.sendall(b"DISC")
        assert rest(connection) == b""


def test_same_seed_deals_the_same_games() -> None:
    received = []
    for _ in range(2):
        with Serving("kuhn", "--port", 0, "--seed", 7) as serving:
            received.append([serving.talk(HANDS) for _ in range(3)])
    assert received[0] == received[1]
    assert len({*received[0]}) > 1, "every connection has random numbers of its own"


def test_other_seeds_deal_other_games() -> None:
    received = []
    for flags in (("--seed", 7), ("--seed", 8), ("--seed", 7, "--client-seed", "ours")):
        with Serving("kuhn", "--port", 0, *flags) as serving:
            received.append(tuple(serving.talk(HANDS) for _ in range(3)))
    assert len({*received}) == 3


def test_deck_file_deals_its_decks_cyclically(tmp_path: Path) -> None:
    (tmp_path / "deck").write_text("# two decks\nQ\nC_K\nJ\n\n\nk\nq  # the jack lies below\n")
    with Serving("kuhn", "--port", 0, "--deck", tmp_path / "deck", "--bot", "script:CAL") as serving:
        received = serving.talk(b"STRT P_1ACTN BET" * 3)
        assert received == b"CARD C_QCARD C_K" + b"CARD C_KCARD C_Q" + b"CARD C_QCARD C_K"


@pytest.mark.parametrize(
    ("deck", "message"),
    [("Q\nX\n", "line 2: found 'X'"), ("Q\nK\n\nJ\nJ\n", "line 5: found 'J' once more"), ("\n", "no card")],
)
def test_invalid_deck_file_is_an_error_with_the_line(tmp_path: Path, deck: str, message: str) -> None:
    (tmp_path / "deck").write_text(deck)
    done = croupier("serve", "kuhn", "--port", 0, "--deck", tmp_path / "deck")
    assert done.returncode == 2
    assert message in done.stderr
    assert str(tmp_path / "deck") in done.stderr
    assert "Traceback" not in done.stderr


def test_missing_deck_file_is_an_error() -> None:
    done = croupier("serve", "kuhn", "--port", 0, "--deck", "/nowhere/deck")
    assert done.returncode == 2
    assert "/nowhere/deck" in done.stderr
    assert "Traceback" not in done.stderr


def test_coins_set_the_purse() -> None:
    with Serving("kuhn", "--port", 0, "--coins", 1, "--bot", "script:CHK") as serving:
        assert serving.talk(b"STRT P_1ACTN BET")[-8:] == b"FAIL N_C"
    with Serving("kuhn", "--port", 0, "--coins", 0) as serving:
        assert serving.talk(b"STRT P_1") == b"FAIL N_C"


def test_bot_sets_how_the_house_plays() -> None:
    with Serving("kuhn", "--port", 0, "--bot", "script:BET") as serving:
        received = serving.talk(b"STRT P_2ACTN FLD" * 4)
        assert re.fullmatch(rb"(CARD C_[JQK]ACTN BET){4}", received)


def test_strict_rejects_tolerated_deviations() -> None:
    with Serving("kuhn", "--port", 0) as serving:
        assert serving.talk(b"ACTN BET\r\nACTN BET") == b"FAIL W_AFAIL W_A"
    with Serving("kuhn", "--port", 0, "--strict") as serving:
        assert serving.talk(b"ACTN BET\r\nACTN BET") == b"FAIL W_AFAIL W_ADISC"


def test_idle_client_receives_goodbye() -> None:
    with Serving("kuhn", "--port", 0, "--idle-seconds", 0.2) as serving:
        assert rest(serving.call()) == b"DISC"


def test_slow_client_receives_goodbye() -> None:
    with Serving("kuhn", "--port", 0, "--move-seconds", 0.2) as serving:
        connection = serving.call()
        connection.sendall(b"STRT P_1")
        assert re.fullmatch(rb"CARD C_[JQK]DISC", rest(connection))


@pytest.mark.parametrize("flag", ["--max-connections", "--max-per-address"])
def test_full_room_sends_goodbye(flag: str) -> None:
    with Serving("kuhn", "--port", 0, flag, 1) as serving:
        first = serving.call()
        first.sendall(b"ACTN BET")
        assert hear(first, 8) == b"FAIL W_A"
        assert rest(serving.call()) == b"DISC"
        assert [entry["event"] for entry in serving.entries] == ["refused"]


def test_room_with_tls(tmp_path: Path) -> None:
    authority = trustme.CA()
    certificate = authority.issue_cert("127.0.0.1")
    certificate.private_key_pem.write_to_path(tmp_path / "key")
    (tmp_path / "chain").write_bytes(b"".join(blob.bytes() for blob in certificate.cert_chain_pems))
    context = ssl.create_default_context()
    authority.configure_trust(context)
    with Serving("kuhn", "--port", 0, "--tls-cert", tmp_path / "chain", "--tls-key", tmp_path / "key") as serving:
        assert "TLS" in serving.lines[0]
        with context.wrap_socket(serving.call(), server_hostname="127.0.0.1") as connection:
            connection.sendall(b"HELO")
            assert rest(connection) == b"FAIL W_ADISC"


@pytest.mark.parametrize("flag", ["--tls-cert", "--tls-key"])
def test_certificate_without_key_is_an_error(tmp_path: Path, flag: str) -> None:
    (tmp_path / "half").write_text("")
    done = croupier("serve", "kuhn", "--port", 0, flag, tmp_path / "half")
    assert done.returncode == 2
    assert "found only one of --tls-cert and --tls-key" in done.stderr
    assert "Traceback" not in done.stderr


def test_invalid_certificate_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "rubbish").write_text("rubbish")
    done = croupier("serve", "kuhn", "-p", 0, "--tls-cert", tmp_path / "rubbish", "--tls-key", tmp_path / "rubbish")
    assert done.returncode == 2
    assert done.stderr.startswith("croupier: ")
    assert "Traceback" not in done.stderr


def test_metrics_count_without_names(tmp_path: Path) -> None:
    (tmp_path / "deck").write_text("Q\nK\n")
    flags = ("--metrics-port", 0, "--deck", tmp_path / "deck", "--bot", "script:CAL", "--max-connections", 1)
    with Serving("kuhn", "--port", 0, *flags, ready=2) as serving:
        connection = serving.call()
        connection.sendall(b"STRT P_1ACTN BETSTRT P_3")
        assert hear(connection, 24) == b"CARD C_QCARD C_KFAIL W_A"
        assert rest(serving.call()) == b"DISC"
        with urllib.request.urlopen(f"http://{serving.host}:{serving.ports['metrics']}/metrics") as answer:
            text = answer.read().decode()
        metrics = dict(line.rsplit(" ", 1) for line in text.splitlines() if line.startswith("croupier_"))
        assert {name: float(value) for name, value in metrics.items() if "room=" in name} == {
            'croupier_connections_total{room="kuhn"}': 1,
            'croupier_games_total{room="kuhn"}': 1,
            'croupier_messages_received_total{room="kuhn"}': 3,
            'croupier_messages_sent_total{room="kuhn"}': 4,  # includes the goodbye to the refused client
            'croupier_violations_total{room="kuhn"}': 1,
            'croupier_overflows_total{room="kuhn"}': 0,
            'croupier_undeliverable_total{room="kuhn"}': 0,
            'croupier_observer_failures_total{room="kuhn"}': 0,
            'croupier_traffic_bytes_total{direction="received",room="kuhn"}': 24,
            'croupier_traffic_bytes_total{direction="sent",room="kuhn"}': 28,
            'croupier_refused_total{reason="connections",room="kuhn"}': 1,
            'croupier_connected{room="kuhn"}': 1,
            'croupier_room_ready{room="kuhn"}': 1,
        }
        others = {re.sub(r"_seconds.*|\{.*", "", name) for name in metrics if "room=" not in name}
        assert others == {"croupier_loop_lag", "croupier_build_info", "croupier_closing"}, "no store is open"
        assert "127.0.0.1" not in text


def test_dealers_record_can_be_verified(tmp_path: Path) -> None:
    record = tmp_path / "deals"
    with Serving("kuhn", "--port", 0, "--deals", record, "--client-seed", "ours") as serving:
        serving.talk(b"STRT P_1ACTN BETSTRT P_1ACTN BET")
        serving.signal()
        assert serving.end() == 0
    lines = record.read_bytes().splitlines()
    assert [json.loads(line)["deal"] for line in lines] == ["promise", "hand", "hand", "seed"]
    findings = [*verify_record(lines, lambda room: ROOMS[room].pack, lambda room: ROOMS[room].net_check)]
    assert [finding.is_proved for finding in findings] == [True], findings
    (forged,) = [line.replace(b'"C_', b'"') for line in lines[1:2]]
    cards = json.loads(forged)["cards"]
    lines[1] = lines[1].replace(
        json.dumps(cards, separators=(",", ":")).encode(), json.dumps(cards[::-1], separators=(",", ":")).encode()
    )
    assert not all(
        finding.is_proved
        for finding in verify_record(lines, lambda room: ROOMS[room].pack, lambda room: ROOMS[room].net_check)
    )


def test_referee_logs_the_violations_of_a_client() -> None:
    with Serving("kuhn", "--port", 0, "--referee") as serving:
        serving.talk(b"STRT P_1ACTN BETACTN BET")
        serving.signal()
        assert serving.end() == 0
        found = [entry for entry in serving.entries if entry["event"].startswith("violation by")]
    assert [(entry["event"], entry["peer"], entry["clause"]) for entry in found] == [
        ("violation by the client", 1, "kuhn-6.2")
    ]


def test_log_is_json_lines_without_a_terminal() -> None:
    with Serving("kuhn", "--port", 0, "--log-level", "debug") as serving:
        serving.talk(b"STRT P_1ACTN BETHELO")
        serving.signal()
        assert serving.end() == 0
        events = [entry["event"] for entry in serving.entries]
        assert {"joined", "received", "sent", "violation", "dropped", "left", "closing", "closed"} <= {*events}
        assert all({"event", "level", "timestamp"} <= entry.keys() for entry in serving.entries)
