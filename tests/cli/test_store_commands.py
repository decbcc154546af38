"""`croupier db` and `croupier accounts`: output, errors and exit statuses."""

import asyncio
import io
import json
import sqlite3
import subprocess
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest
from argon2 import PasswordHasher

from croupier.cli import main
from croupier.store.records import JournalEntry, StoredHand
from croupier.store.store import open_store
from tests.processes import COMMAND, PATIENCE, croupier, environment

type Shell = Callable[..., tuple[int, str, str]]


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.fixture
def at_shell(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> Shell:
    """A function that runs a command with the store of this test and returns exit status, stdout and stderr.

    `typed` is the text on standard input, None for a terminal.
    """

    def run_command(
        command: str, *arguments: object, typed: str | None = "", store: object = tmp_path / "store"
    ) -> tuple[int, str, str]:
        monkeypatch.setattr("sys.stdin", Terminal() if typed is None else io.StringIO(typed))
        with pytest.raises(SystemExit) as end:
            main([*command.split(), *map(str, arguments), "--store", str(store)])
        output = capfd.readouterr()
        return int(end.value.code or 0), output.out, output.err

    return run_command


def hashed(store: Path, name: str) -> str:
    with closing(sqlite3.connect(store)) as file:
        return file.execute("SELECT password FROM accounts WHERE name = ?", (name,)).fetchone()[0]


def test_adding_an_account_creates_the_store(at_shell: Shell, tmp_path: Path) -> None:
    assert at_shell("accounts add alice --coins 100", typed="secret\n") == (0, "alice has 100 coins\n", "")
    assert PasswordHasher().verify(hashed(tmp_path / "store", "alice"), "secret")
    assert at_shell("db check") == (0, f"{tmp_path / 'store'}: 0 faults\n", "")


def test_accounts_are_listed_as_a_table_and_as_json(at_shell: Shell) -> None:
    at_shell("accounts add alice --coins 1234", typed="secret\n")
    status, table, _ = at_shell("accounts list")
    assert status == 0
    rows = [line.split() for line in table.splitlines()[1:]]
    assert [(row[0], row[-1]) for row in rows] == [("cashier", "-1,234"), ("alice", "1,234")]
    _, lines, _ = at_shell("accounts list --json")
    assert [(row["name"], row["house"], row["balance"]) for row in map(json.loads, lines.splitlines())] == [
        ("cashier", True, -1234),
        ("alice", False, 1234),
    ]
    assert "argon2" not in lines + table


def test_credits_need_cover_and_record_their_reason(at_shell: Shell, tmp_path: Path) -> None:
    at_shell("accounts add alice --coins 10", typed="secret\n")
    assert at_shell("accounts credit alice 5 --reason gift") == (0, "alice has 15 coins\n", "")
    assert at_shell("accounts credit alice -7 --reason", "paid out") == (0, "alice has 8 coins\n", "")
    expected = "croupier: found 9 coins to be taken from 'alice'; allowed: 8\n"
    assert at_shell("accounts credit alice -9 --reason greed") == (2, "", expected)
    with closing(sqlite3.connect(tmp_path / "store")) as file:
        reasons = file.execute("SELECT reason FROM transfers ORDER BY id").fetchall()
    assert reasons == [("opened",), ("gift",), ("paid out",)]


def test_a_credit_without_a_reason_is_rejected(at_shell: Shell) -> None:
    at_shell("accounts add alice", typed="secret\n")
    assert at_shell("accounts credit alice 5")[0] == 2
    assert at_shell("accounts list --json")[1].count('"balance": 0') == 2


def test_reset_password(at_shell: Shell, tmp_path: Path) -> None:
    at_shell("accounts add alice", typed="secret\n")
    assert at_shell("accounts reset-password alice", typed="new one\n") == (0, "alice has a new password\n", "")
    assert PasswordHasher().verify(hashed(tmp_path / "store", "alice"), "new one")


def test_a_terminal_prompts_twice_for_the_password(
    at_shell: Shell, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    typed = iter(["one", "two", "three", "three"])
    prompts: list[str] = []

    def ask(prompt: str) -> str:
        prompts.append(prompt)
        return next(typed)

    monkeypatch.setattr("croupier.cli.accounts.getpass", ask)
    expected = "croupier: the passwords do not match\n"
    assert at_shell("accounts add alice", typed=None) == (2, "", expected)
    assert at_shell("accounts add alice", typed=None)[0] == 0
    assert prompts == ["Password of alice: ", "Repeat the password: "] * 2
    assert PasswordHasher().verify(hashed(tmp_path / "store", "alice"), "three")


def test_an_empty_password_and_invalid_names_are_rejected(at_shell: Shell, tmp_path: Path) -> None:
    assert at_shell("accounts add alice", typed="\n")[2].startswith("croupier: the password is empty")
    for name in ("a:b", "a\nb", "a" * 65, ""):
        assert at_shell("accounts add", name, typed="secret\n")[2].startswith("croupier: found ")
    assert not (tmp_path / "store").exists()


def test_names_are_normalized_and_confusable_names_are_rejected(at_shell: Shell) -> None:
    assert at_shell("accounts add", "Zoe\u0308", typed="secret\n") == (0, "Zo\u00eb has 0 coins\n", "")
    assert at_shell("accounts credit", "Zoe\u0308", 5, "--reason", "gift") == (0, "Zo\u00eb has 5 coins\n", "")
    assert at_shell("accounts reset-password", "\uff3ao\u00eb", typed="other\n")[0] == 0
    expected = "croupier: found an account 'Zo\u00eb', which 'ZO\u00cb' looks like; allowed: a name of its own\n"
    assert at_shell("accounts add", "ZO\u00cb", typed="secret\n") == (2, "", expected)
    assert "U+200B" in at_shell("accounts add", "bo\u200bb", typed="secret\n")[2]
    assert at_shell("accounts close", "Zoe\u0308", "--reason", "moved")[0] == 0


def test_a_duplicate_name_is_rejected(at_shell: Shell) -> None:
    at_shell("accounts add alice", typed="secret\n")
    expected = "croupier: found an account 'alice'; allowed: a name that is not taken\n"
    assert at_shell("accounts add alice", typed="secret\n") == (2, "", expected)


def test_a_closed_account_is_paid_out_and_stays_closed(at_shell: Shell) -> None:
    at_shell("accounts add alice --coins 10", typed="secret\n")
    assert at_shell("accounts close alice --reason moved") == (0, "alice is closed, 10 coins are paid out\n", "")
    assert at_shell("accounts close alice --reason again")[0] == 2
    assert json.loads(at_shell("accounts list --json")[1].splitlines()[1])["closed"] is not None


def test_only_add_and_upgrade_create_a_store(at_shell: Shell, tmp_path: Path) -> None:
    expected = f"croupier: found nothing at {tmp_path / 'store'}; allowed: a store of croupier\n"
    for command in ("db check", "db export", "db backup copy", "accounts list", "accounts close a --reason b"):
        assert at_shell(command) == (2, "", expected)
    assert not (tmp_path / "store").exists()
    assert at_shell("db upgrade") == (0, f"{tmp_path / 'store'} is at revision 0003\n", "")
    assert at_shell("db upgrade") == (0, f"{tmp_path / 'store'} is at revision 0003\n", "")


def test_a_file_that_is_no_store_is_rejected(at_shell: Shell, tmp_path: Path) -> None:
    (tmp_path / "store").write_text("Dear friend, " * 100)
    for command in ("db upgrade", "db check"):
        status, out, err = at_shell(command)
        assert (status, out) == (2, "")
        assert "file is not a database; allowed: a store of croupier" in err


def test_db_check_prints_faults_and_exits_with_1(at_shell: Shell, tmp_path: Path) -> None:
    at_shell("accounts add alice --coins 10", typed="secret\n")
    with closing(sqlite3.connect(tmp_path / "store")) as file:
        file.execute("UPDATE accounts SET balance = 11 WHERE name = 'alice'")
        file.commit()
    expected = "accounts alice: found a balance of 11; allowed: 10, the sum of its entries\n"
    assert at_shell("db check") == (1, f"{expected}{tmp_path / 'store'}: 1 fault\n", "")


def test_a_backup_is_a_store_and_overwrites_nothing(at_shell: Shell, tmp_path: Path) -> None:
    at_shell("accounts add alice --coins 10", typed="secret\n")
    copy = tmp_path / "copy"
    assert at_shell("db backup", copy) == (0, f"{tmp_path / 'store'} is copied to {copy}\n", "")
    assert at_shell("accounts credit alice 5 --reason gift", store=copy)[1] == "alice has 15 coins\n"
    assert at_shell("db backup", copy)[2] == f"croupier: {copy} already exists; choose a new file\n"


def test_prune_prints_what_it_deletes_and_a_dry_run_deletes_nothing(at_shell: Shell, tmp_path: Path) -> None:
    path = tmp_path / "store"

    async def fill() -> None:
        async with await open_store(str(path), clock=lambda: 0.0) as store:
            await store.append([JournalEntry("kuhn", "run", seq, b'{"games":[]}', float(seq)) for seq in range(1, 6)])
            await store.append([], [StoredHand("kuhn", "run", 1, 1.0, ("ann",), "{}")])
            await store.add_account("ann", coins=5)

    asyncio.run(fill())
    full, nothing = "3 facts, 1 hand, 1 transfer", "0 facts, 0 hands, 0 transfers"
    for flags, numbers, verb in ((" --dry-run", full, "would be"), ("", full, "are"), ("", nothing, "are")):
        status, text, errors = at_shell(f"db prune --older-than 30d{flags}")
        assert (status, errors) == (0, "")
        assert text.startswith(f"{numbers} of {path} from before ")
        assert text.endswith(f" UTC {verb} deleted\n")
    assert "ann" in at_shell("accounts list")[1]
    assert at_shell("db check")[0] == 0


@pytest.mark.parametrize("age", ["23h", "0", "soon", "2m", "9999999w"])
def test_prune_needs_an_age_of_at_least_a_day(at_shell: Shell, age: str) -> None:
    at_shell("accounts add ann --coins 5", typed="secret\n")
    status, _, message = at_shell(f"db prune --older-than {age}")
    assert status == 2
    assert f"found --older-than {age!r}; allowed: a day or more, as in 36h, 30d or 12w" in message


def test_an_export_goes_to_a_file_or_to_standard_output(at_shell: Shell, tmp_path: Path) -> None:
    at_shell("accounts add alice --coins 10", typed="secret\n")
    lines = tmp_path / "books.jsonl"
    assert at_shell("db export", lines) == (0, f"5 rows of {tmp_path / 'store'} are in {lines}\n", "")
    assert len(lines.read_text().splitlines()) == 6
    done = croupier("db", "export", "--store", tmp_path / "store")
    assert [*map(json.loads, done.stdout.splitlines())][1:] == [*map(json.loads, lines.read_text().splitlines())][1:]
    expected = f"croupier: {lines} already exists; choose a new file\n"
    assert at_shell("db export", lines) == (2, "", expected)
    nowhere = tmp_path / "no-such-folder" / "books.jsonl"
    assert at_shell("db export", nowhere) == (2, "", f"croupier: cannot write {nowhere}: No such file or directory\n")


def test_a_closed_pipe_ends_an_export_silently(at_shell: Shell, tmp_path: Path) -> None:
    at_shell("accounts add alice --coins 10", typed="secret\n")
    command = [*COMMAND, "db", "export", "--store", str(tmp_path / "store")]
    with subprocess.Popen(command, env=environment(), stdout=subprocess.PIPE, stderr=subprocess.PIPE) as export:
        assert export.stdout is not None
        assert export.stderr is not None
        export.stdout.close()
        assert export.stderr.read() == b""
        assert export.wait(PATIENCE) == 1


def test_a_backup_is_restored_to_a_new_store_or_with_force(at_shell: Shell, tmp_path: Path) -> None:
    copy, other = tmp_path / "copy", tmp_path / "other"
    at_shell("accounts add alice --coins 10", typed="secret\n")
    at_shell("db backup", copy)
    assert at_shell("db restore", copy, store=other) == (0, f"{copy} is restored to {other}\n", "")
    assert at_shell("accounts credit alice 5 --reason gift", store=other)[1] == "alice has 15 coins\n"
    expected = f"croupier: found {other}, which is not empty; allowed: an empty store, or --force, which replaces it\n"
    assert at_shell("db restore", copy, store=other) == (2, "", expected)
    assert at_shell("db restore --force", copy, store=other)[0] == 0
    assert at_shell("accounts credit alice 5 --reason gift", store=other)[1] == "alice has 15 coins\n"


def test_the_list_of_accounts_fits_80_columns_with_full_names(
    at_shell: Shell, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    long, hostile = "kuhn-CN=" + "m" * 56, "[bold]\u202eyob"

    async def add() -> None:
        async with await open_store(str(tmp_path / "store")) as store:
            for name in (long, hostile):
                await store.add_account(name, coins=1234567)

    asyncio.run(add())
    _, table, _ = at_shell("accounts list")
    assert max(map(len, table.splitlines())) <= 80
    assert "…" not in table
    assert long in table.splitlines()
    assert r"[bold]\u202eyob  a player" in table
    assert "\u202e" not in table
    _, lines, _ = at_shell("accounts list --json")
    assert "\u202e" not in lines
    assert hostile in {json.loads(line)["name"] for line in lines.splitlines()}
