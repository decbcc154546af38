"""`croupier verify`, the help, and what is refused, as somebody at a shell sees them."""

import re
from pathlib import Path

import pytest

from tests.processes import Serving, croupier


@pytest.fixture(scope="module")
def record(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The record of a house at which a bot has played, and which has closed."""
    file = tmp_path_factory.mktemp("record") / "deals.jsonl"
    with Serving("kuhn", "--port", "0", "--deals", file, "--client-seed", "señor", "--coins", "1000") as server:
        assert croupier("play", "kuhn", f":{server.port}", "--bot", "random", "-n", "30").returncode == 0
        assert server.stop() == 0
    return file


def test_a_record_that_was_kept_is_found_kept(record: Path) -> None:
    done = croupier("verify", str(record))
    assert done.returncode == 0
    assert "the promise was kept" in done.stdout
    assert done.stdout.endswith("\n1 table as promised, 0 faults\n")
    assert "30 hands are as the seed deals them; the nets follow from the cards and the moves" in done.stdout


def test_a_card_that_was_changed_is_found(record: Path, tmp_path: Path) -> None:
    text = record.read_text()
    swapped = {'["J","Q"]': '["J","K"]', '["Q","J"]': '["K","J"]', '["K","J"]': '["K","Q"]'}
    before, after = next((a, b) for a, b in swapped.items() if a in text)
    forged = tmp_path / "forged.jsonl"
    forged.write_text(text.replace(before, after, 1))
    done = croupier("verify", str(forged))
    assert done.returncode == 1
    assert "BROKEN" in done.stdout


def test_a_seed_that_is_not_revealed_yet_leaves_it_open(record: Path, tmp_path: Path) -> None:
    unfinished = tmp_path / "unfinished.jsonl"
    unfinished.write_text(
        "".join(line for line in record.read_text().splitlines(keepends=True) if '"deal":"seed"' not in line)
    )
    done = croupier("verify", str(unfinished))
    assert done.returncode == 2
    assert "not opened  line 1: kuhn table 1: not opened: the seed is not revealed yet" in done.stdout
    assert done.stdout.endswith("0 tables as promised, 1 promise not opened, 0 faults\n")


def test_what_a_record_cannot_prove_is_no_exit_status_of_success(record: Path, tmp_path: Path) -> None:
    """A promise of several, hands that are left out, a seed that is used again, a net, and moves that are left out."""
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
        for texts, told in zip(records, named[status], strict=True):
            file = tmp_path / "forged.jsonl"
            file.write_text("\n".join(texts) + "\n")
            done = croupier("verify", str(file))
            assert (done.returncode, told in done.stdout) == (status, True), done.stdout


def test_a_record_that_is_not_there_is_said_plainly(tmp_path: Path) -> None:
    done = croupier("verify", str(tmp_path / "nothing.jsonl"))
    assert (done.returncode, "cannot read" in done.stderr) == (2, True)


def test_help_tells_every_command_and_every_setting() -> None:
    assert all(command in croupier("--help").stdout for command in ("serve", "play", "verify", "--config"))
    told = croupier("serve", "kuhn", "--help").stdout
    assert all(flag in told for flag in ("--port", "-p", "--deck", "--coins", "--bot", "--seed", "--tls-cert"))


def test_an_unknown_word_is_refused() -> None:
    done = croupier("deal")
    assert done.returncode != 0
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["serve", "poker"], "found the room 'poker'; allowed: kuhn"),
        (["serve", "kuhn", "-p", "0", "--idle-seconds", "0"], "found --idle-seconds 0; allowed: more than 0"),
        (["serve", "kuhn", "-p", "0", "--move-seconds", "-1"], "found --move-seconds -1; allowed: more than 0"),
        (["serve", "kuhn", "-p", "0", "--drain-seconds", "nan"], "found --drain-seconds nan; allowed: 0 or more"),
        (["serve", "kuhn", "-p", "0", "--max-connections", "-5"], "found --max-connections -5; allowed: 0 or more"),
        (["serve", "kuhn", "-p", "0", "--bot", "equilibrium:2"], "found alpha = 2; allowed: 0 to 1/3"),
        (["serve", "kuhn", "-p", "0", "--bot", "equilibrium:x"], "allowed: equilibrium:1/6"),
        (["serve", "kuhn", "-p", "0", "--tls-cert", __file__, "--tls-key", __file__], "allowed: two PEM files"),
    ],
    ids=lambda value: value if isinstance(value, str) else None,
)
def test_a_setting_that_makes_no_sense_is_refused_with_what_is_allowed(arguments: list[str], told: str) -> None:
    done = croupier(*arguments)
    assert done.returncode != 0
    assert told in done.stderr
    assert "Traceback" not in done.stderr
