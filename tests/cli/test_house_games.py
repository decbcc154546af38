"""`croupier hands` and `croupier accounts` with games against a house."""

import json
from hashlib import sha256
from pathlib import Path

import pytest
import trustme

from tests.processes import Serving, croupier


@pytest.fixture(scope="module")
def played(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A store with games of two connections, and one game of a client with an account."""
    folder = tmp_path_factory.mktemp("games")
    store = folder / "kept.db"
    (folder / "deck").write_text("Q\nK\n\nK\nJ\n")
    flags = ("--port", 0, "--deck", folder / "deck", "--bot", "script:CAL", "--store", store)
    with Serving("kuhn", *flags, "--journal", "async") as serving:
        serving.talk(b"STRT P_1ACTN BETSTRT P_1ACTN BETDISC")
        serving.talk(b"STRT P_1DISC")
        assert serving.stop() == 0
    with Serving("kuhn", *flags, "--accounts", "address") as serving:
        serving.talk(b"STRT P_1ACTN BETDISC")
        assert serving.stop() == 0
    return store


def listed(store: Path, *flags: object) -> list[dict[str, object]]:
    lines = croupier("hands", "list", "kuhn", "--json", "--store", store, *flags).stdout.splitlines()
    return [json.loads(line) for line in lines]


@pytest.mark.parametrize("source", ["flag", "variable", "file"])
def test_an_explicit_store_is_used_with_a_seed(tmp_path: Path, source: str) -> None:
    store, config = tmp_path / "kept.db", tmp_path / "croupier.toml"
    config.write_text(f'[serve]\nstore = "{store}"\n', encoding="utf-8")
    flags = {"flag": ("--store", store), "file": ("--config", config)}.get(source, ())
    variables = {"CROUPIER_SERVE_STORE": str(store)} if source == "variable" else None
    with Serving("kuhn", "--port", 0, "--seed", 7, *flags, variables=variables) as serving:
        serving.talk(b"STRT P_1DISC")
        assert serving.stop() == 0
    assert len(listed(store)) == 1


def test_with_a_seed_and_without_a_store_nothing_is_recorded(tmp_path: Path) -> None:
    with Serving("kuhn", "--port", 0, "--seed", 7, variables={"XDG_DATA_HOME": str(tmp_path)}) as serving:
        serving.talk(b"STRT P_1DISC")
        assert serving.stop() == 0
    assert not [*tmp_path.iterdir()]


def test_games_are_listed_newest_first(played: Path) -> None:
    games = listed(played)
    assert [(game["number"], game["net"], game["client"]) for game in games] == [
        (1, -2, "kuhn:127.0.0.1"),
        (1, -1, ""),
        (2, 2, ""),
        (1, -2, ""),
    ]
    assert [(game["cards"], game["done"]) for game in games[2:]] == [
        (["K", "J"], ["BET", "CAL"]),
        (["Q", "K"], ["BET", "CAL"]),
    ]
    assert games[1]["done"] == []
    assert [game["number"] for game in listed(played, "--limit", 2)] == [1, 1]


def test_games_of_one_connection_or_one_account_are_found(played: Path) -> None:
    table = listed(played)[-1]["table"]
    assert [game["number"] for game in listed(played, "--table", table)] == [2, 1]
    assert [game["number"] for game in listed(played, "--player", "kuhn:127.0.0.1")] == [1]
    assert listed(played, "--table", "nothing-1") == []


def test_games_are_listed_as_text(played: Path) -> None:
    first, *_, last = croupier("hands", "list", "kuhn", "--store", played).stdout.splitlines()
    assert first.endswith("/1  kuhn:127.0.0.1 -2  Q K | BET CAL")
    assert last.endswith("-1/1  the client -2  Q K | BET CAL")


def test_one_game_is_shown(played: Path) -> None:
    game = listed(played)[2]
    name = f"kuhn/{game['table']}/{game['number']}"
    assert json.loads(croupier("hands", "show", name, "--store", played).stdout) == game
    again = croupier("hands", "show", name, "--format", "jsonl", "--store", played)
    assert json.loads(again.stdout) == game


def test_games_are_exported_oldest_first(played: Path, tmp_path: Path) -> None:
    folder = tmp_path / "out"
    done = croupier("hands", "export", folder, "--room", "kuhn", "--store", played)
    assert done.stdout == f"4 games of {played} are in {folder}\n"
    lines = (folder / "kuhn.jsonl").read_text().splitlines()
    assert [json.loads(line) for line in lines] == listed(played)[::-1]
    again = croupier("hands", "export", folder, "--room", "kuhn", "--store", played)
    assert again.returncode == 2
    assert "File exists" in again.stderr


def test_a_dataset_of_games_has_a_data_sheet(played: Path, tmp_path: Path) -> None:
    folder = tmp_path / "out"
    done = croupier("hands", "export", folder, "--room", "kuhn", "--format", "rows", "--store", played)
    assert done.stdout == f"4 games of {played} are in {folder}\n"
    data = (folder / "kuhn.jsonl").read_bytes()
    rows = [json.loads(line) for line in data.splitlines()]
    assert [{"room": "kuhn", **row} for row in rows] == listed(played)[::-1]
    sheet = json.loads((folder / "datasheet.json").read_text())
    assert (sheet["rows"], sheet["sha256"], sheet["licence"]) == (4, sha256(data).hexdigest(), None)
    assert [column["name"] for column in sheet["columns"]] == [*rows[0]]
    assert "`kuhn.jsonl` has 4 rows, one for each game (all games of the room)" in (folder / "README.md").read_text()
    again = croupier("hands", "export", folder, "--room", "kuhn", "--format", "rows", "--store", played)
    assert (again.returncode, again.stderr) == (2, f"croupier: cannot write {folder}: File exists\n")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["list", "poker"], "found the room 'poker'; allowed: "),
        (["show", "poker/x-1/1"], "found the room 'poker'; allowed: "),
        (["export", "out", "--room", "poker"], "found the room 'poker'; allowed: "),
        (["show", "kuhn/x-1/9"], "there is no game kuhn/x-1/9; `croupier hands list kuhn` lists them"),
        (["show", "kuhn/x-1/1", "--format", "phh"], "found --format phh for games of kuhn; allowed: jsonl"),
        (
            ["export", "out", "--room", "kuhn", "--format", "ohh"],
            "found --format ohh for games of kuhn; allowed: jsonl, rows, parquet",
        ),
    ],
)
def test_unknown_rooms_games_and_formats_are_rejected(played: Path, arguments: list[str], message: str) -> None:
    done = croupier("hands", *arguments, "--store", played)
    assert done.returncode == (1 if message.startswith("there is no") else 2)
    assert done.stderr.startswith(f"croupier: {message}")


def test_accounts_of_clients_are_listed_and_credited(played: Path) -> None:
    done = croupier("accounts", "credit", "kuhn:127.0.0.1", 5, "--reason", "a present", "--store", played)
    assert done.stdout == "kuhn:127.0.0.1 has 13 coins\n"
    output = croupier("accounts", "list", "--json", "--store", played).stdout
    accounts = [json.loads(line) for line in output.splitlines()]
    assert {account["name"]: account["balance"] for account in accounts} == {
        "cashier": -15,
        "kuhn": 2,
        "kuhn:127.0.0.1": 13,
    }
    assert croupier("db", "check", "--store", played).stdout == f"{played}: 0 faults\n"


def test_a_client_certificate_identifies_the_account(tmp_path: Path) -> None:
    authority = trustme.CA()
    server, bot = authority.issue_cert("127.0.0.1"), authority.issue_cert("bot.example", common_name="ann")
    for name, issued in (("server", server), ("bot", bot)):
        issued.private_key_and_cert_chain_pem.write_to_path(tmp_path / f"{name}.pem")
    authority.cert_pem.write_to_path(tmp_path / "ca.pem")
    tls = ("--tls-cert", tmp_path / "server.pem", "--tls-key", tmp_path / "server.pem", "--tls-client-ca")
    store = tmp_path / "kept.db"
    flags = ("--accounts", "certificate", "--coins", 1000, "--store", store)
    with Serving("kuhn", "--port", 0, *tls, tmp_path / "ca.pem", *flags) as serving:
        command = (
            "play",
            "kuhn",
            serving.address,
            "--bot",
            "random",
            "-n",
            5,
            "--json",
            "--tls-ca",
            tmp_path / "ca.pem",
        )
        nets = []
        for _ in range(2):
            done = croupier(*command, "--tls-cert", tmp_path / "bot.pem")
            assert done.returncode == 0, done.stderr
            nets.append(json.loads(done.stdout)["coins"])
        assert croupier(*command).returncode == 1  # without a certificate
        assert serving.stop() == 0
    found = croupier("accounts", "list", "--json", "--store", store).stdout
    (account,) = [account for line in found.splitlines() if not (account := json.loads(line))["house"]]
    assert account["name"].endswith(",CN=ann")
    assert account["balance"] == 1000 + sum(nets)


def test_games_are_recorded_in_the_users_store_by_default(tmp_path: Path) -> None:
    home = {"XDG_DATA_HOME": str(tmp_path)}
    store = tmp_path / "croupier" / "store.sqlite"
    for flags in (("--seed", 1), ("--journal", "off")):
        with Serving("kuhn", "--port", 0, *flags, variables=home) as serving:
            serving.talk(b"STRT P_1DISC")
            assert serving.stop() == 0
        assert not store.exists()
    with Serving("kuhn", "--port", 0, variables=home) as serving:
        serving.talk(b"STRT P_1DISC")
        assert serving.stop() == 0
    assert [game["net"] for game in listed(store)] == [-1]


def test_an_invalid_store_is_reported_before_the_house_opens(tmp_path: Path) -> None:
    (tmp_path / "kept.db").write_text("rubbish, and more of it than a header of a file has in it")
    done = croupier("serve", "kuhn", "--port", 0, "--store", tmp_path / "kept.db")
    assert done.returncode == 1
    assert done.stderr.startswith(f"croupier: found {tmp_path / 'kept.db'}, which cannot be opened")
    assert "--journal off disables storage" in done.stderr
    busy = croupier("serve", "kuhn", "--port", 0, "--accounts", "address", "--journal", "off")
    assert busy.stderr == "croupier: found --accounts with --journal off; allowed: --journal durable\n"
