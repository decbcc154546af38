"""`croupier verify`, --help, and invalid settings."""

import re
from pathlib import Path

import pytest

from tests.processes import Serving, croupier


@pytest.fixture(scope="module")
def record(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The deal record of a closed house at which a bot has played."""
    file = tmp_path_factory.mktemp("record") / "deals.jsonl"
    with Serving("kuhn", "--port", "0", "--deals", file, "--client-seed", "señor", "--coins", "1000") as server:
        assert croupier("play", "kuhn", f":{server.port}", "--bot", "random", "-n", "30").returncode == 0
        assert server.stop() == 0
    return file


def test_a_complete_record_verifies(record: Path) -> None:
    done = croupier("verify", str(record))
    assert done.returncode == 0
    assert "the promise was kept" in done.stdout
    assert done.stdout.endswith("\n1 table as promised, 0 faults\n")
    assert "30 hands are as the seed deals them; the nets follow from the cards and the moves" in done.stdout


def test_a_changed_card_is_detected(record: Path, tmp_path: Path) -> None:
    text = record.read_text()
    swapped = {'["J","Q"]': '["J","K"]', '["Q","J"]': '["K","J"]', '["K","J"]': '["K","Q"]'}
    before, after = next((a, b) for a, b in swapped.items() if a in text)
    forged = tmp_path / "forged.jsonl"
    forged.write_text(text.replace(before, after, 1))
    done = croupier("verify", str(forged))
    assert done.returncode == 1
    assert "BROKEN" in done.stdout


def test_a_promise_without_its_seed_is_not_opened(record: Path, tmp_path: Path) -> None:
    unfinished = tmp_path / "unfinished.jsonl"
    unfinished.write_text(
        "".join(line for line in record.read_text().splitlines(keepends=True) if '"deal":"seed"' not in line)
    )
    done = croupier("verify", str(unfinished))
    assert done.returncode == 2
    assert "not opened  line 1: kuhn table 1: not opened: the seed is not revealed yet" in done.stdout
    assert done.stdout.endswith("0 tables as promised, 1 promise not opened, 0 faults\n")


def test_forged_and_incomplete_records_have_a_failing_exit_status(record: Path, tmp_path: Path) -> None:
    """A second promise, missing hands, a reused seed, a wrong net result, and missing moves."""
    lines = record.read_text().splitlines()
    promise, hands, seed = lines[0], lines[1:-1], lines[-1]
    other = promise.replace(promise.split('"')[-2], "00" * 32)
    won = re.sub(r'"net":-?\d+', '"net":100', hands[4])
    bare = re.sub(r',"seat".*\}', "}", hands[4])
    again = [line.replace('"table":1', '"table":2') for line in lines]
    forged = {
        2: [[other, *lines], [promise, *hands[:4], bare, *hands[5:], seed]],
        1: [[promise, *hands[:4], *hands[5:], seed], [*lines, *again], [promise, *hands[:4], won, *hands[5:], seed]],
    }
    named = {2: ["line 1: kuhn table 1: not opened", "of hands 5\n"]}
    named[1] = ["hand 5: this hand is not in the record", "table 2: found a server seed", "hand 5: found the net 100"]
    for status, records in forged.items():
        for texts, message in zip(records, named[status], strict=True):
            file = tmp_path / "forged.jsonl"
            file.write_text("\n".join(texts) + "\n")
            done = croupier("verify", str(file))
            assert (done.returncode, message in done.stdout) == (status, True), done.stdout


def test_a_missing_record_is_reported(tmp_path: Path) -> None:
    done = croupier("verify", str(tmp_path / "nothing.jsonl"))
    assert (done.returncode, "cannot read" in done.stderr) == (2, True)


def test_help_lists_commands_and_settings() -> None:
    assert all(command in croupier("--help").stdout for command in ("serve", "play", "verify", "--config"))
    message = croupier("serve", "kuhn", "--help").stdout
    assert all(flag in message for flag in ("--port", "-p", "--deck", "--coins", "--bot", "--seed", "--tls-cert"))


def test_a_help_page_has_no_capital_inside_a_sentence() -> None:
    assert "Serve no-limit hold'em." in croupier("serve", "holdem", "--help").stdout
    assert "Serve Old Maid." in croupier("serve", "oldmaid", "--help").stdout
    assert "a house of seven and a half under load" in croupier("load", "sevenhalf", "--help").stdout


def test_descriptions_are_wrapped_at_the_width_of_the_terminal_only() -> None:
    """Not where the docstrings of options and of arguments are wrapped."""
    lines = croupier("arena", "--help").stdout.splitlines()
    for first, text in (
        ("Two or more bots", "FILE.py:CLASS, or programs that speak the room's protocol: a "),
        ("Print what the choices", "again with other choices, and takes several times as long."),
    ):
        column = next(line.index(first) for line in lines if first in line)
        assert text in [line[column : column + len(text)] for line in lines]


@pytest.mark.parametrize("command", ["check", "verify", "load"])
def test_the_help_page_of_a_command_has_its_whole_description(command: str) -> None:
    """The list of commands has the first line only."""
    assert "Exit status: 0" in croupier(command, "--help").stdout
    assert "Exit status: 0" not in croupier("--help").stdout


@pytest.mark.parametrize("text", ["[serv.kuhn]\ncoins = 1\n", "coins = 1\n"])
def test_a_settings_file_with_a_table_of_no_command_is_rejected(tmp_path: Path, text: str) -> None:
    """A misspelt name must not leave the settings at their defaults."""
    path = tmp_path / "croupier.toml"
    path.write_text(text)
    done = croupier("serve", "kuhn", "--port", 0, "--config", path)
    name = text.strip("[").partition(".")[0].partition(" ")[0]
    assert (done.returncode, done.stdout) == (2, "")
    assert f"{path}: found {name!r}; allowed: the tables [serve], [demo], [play]" in done.stderr


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            "[serve.kuhn]\nprot = 1\n",
            "found 'prot' in [serve.kuhn]; the nearest setting of `croupier serve kuhn` is 'port'",
        ),
        ("[serve]\nidle = 1.0\n", "found 'idle' in [serve]; see `croupier serve kuhn --help`"),
        ("[serve.khun]\nport = 1\n", "found [serve.khun]; allowed: the tables [serve.kuhn], [serve.sevenhalf]"),
        ("[play.khun]\ngames = 1\n", "found [play.khun]; allowed: the tables [play.kuhn], [play.sevenhalf]"),
    ],
)
def test_a_settings_file_with_an_unknown_setting_is_rejected(tmp_path: Path, text: str, message: str) -> None:
    path = tmp_path / "croupier.toml"
    path.write_text(text)
    done = croupier("serve", "kuhn", "--port", 0, "--config", path)
    assert (done.returncode, done.stdout) == (2, "")
    assert f"{path}: {message}" in done.stderr


@pytest.mark.parametrize("table", ["[serve]", "[serve.kuhn]"])
def test_a_value_of_a_wrong_type_is_reported_with_its_table(tmp_path: Path, table: str) -> None:
    path = tmp_path / "croupier.toml"
    path.write_text(f"{table}\nmax-connections = 'many'\n")
    done = croupier("serve", "kuhn", "--port", 0, "--config", path)
    assert (done.returncode, done.stdout) == (2, "")
    assert f"Invalid value for [max-connections] from {table} in" in done.stderr


@pytest.mark.parametrize(("command", "argument"), [("replay", "GAME"), ("verify", "FILE"), ("check", "ROOM")])
def test_a_missing_argument_is_named_as_in_the_usage(command: str, argument: str) -> None:
    done = croupier(command)
    assert (done.returncode, f'"{command}" parameter {argument} requires an argument' in done.stderr) == (2, True)


def test_a_command_without_its_subcommand_names_no_variable_that_is_not_read() -> None:
    """--config itself is read from the command line only."""
    assert "CROUPIER_WATCH_CONFIG" not in croupier("watch").stdout


def test_an_unknown_command_is_rejected() -> None:
    done = croupier("deal")
    assert done.returncode != 0
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["serve", "poker"], "found the room 'poker'; allowed: kuhn"),
        (["serve", "kuhn", "-p", "0", "--idle-seconds", "0"], "found --idle-seconds 0; allowed: more than 0"),
        (["serve", "kuhn", "-p", "0", "--move-seconds", "-1"], "found --move-seconds -1; allowed: more than 0"),
        (["serve", "kuhn", "-p", "0", "--drain-seconds", "nan"], "found --drain-seconds nan; allowed: 0 or more"),
        (["serve", "kuhn", "-p", "0", "--max-connections", "-5"], "found --max-connections -5; allowed: 0 or more"),
        (["serve", "kuhn", "-p", "0", "--bot", "equilibrium:2"], "found alpha = 2; allowed: 0 to 1/3"),
        (["serve", "kuhn", "-p", "0", "--bot", "equilibrium:x"], "allowed: equilibrium:1/6"),
        (
            ["serve", "kuhn", "-p", "0", "--tls-cert", __file__, "--tls-key", __file__],
            f"found {__file__} and {__file__}; allowed: a certificate and its private key in PEM format",
        ),
    ],
    ids=lambda value: value if isinstance(value, str) else None,
)
def test_an_invalid_setting_is_rejected_with_what_is_allowed(arguments: list[str], message: str) -> None:
    done = croupier(*arguments)
    assert done.returncode != 0
    assert message in done.stderr
    assert "Traceback" not in done.stderr
