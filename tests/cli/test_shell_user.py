"""`croupier verify`, the help, and what is refused, as somebody at a shell sees them."""

from pathlib import Path

import pytest

from tests.processes import Serving, croupier


@pytest.fixture(scope="module")
def record(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The record of a house at which a bot has played, and which has closed."""
    file = tmp_path_factory.mktemp("record") / "deals.jsonl"
    with Serving("kuhn", "--port", "0", "--deals", file, "--client-seed", "señor") as server:
        assert croupier("play", "kuhn", f":{server.port}", "--bot", "random", "-n", "30").returncode == 0
        assert server.stop() == 0
    return file


def test_a_record_that_was_kept_is_found_kept(record: Path) -> None:
    done = croupier("verify", str(record))
    assert done.returncode == 0
    assert "the promise was kept" in done.stdout
    assert ", 0 faults" in done.stdout


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
    assert "not revealed yet" in done.stdout


def test_a_record_that_is_not_there_is_said_plainly(tmp_path: Path) -> None:
    done = croupier("verify", str(tmp_path / "nothing.jsonl"))
    assert (done.returncode, "cannot read" in done.stderr) == (2, True)


def test_help_tells_every_command_and_every_setting() -> None:
    assert all(command in croupier("--help").stdout for command in ("serve", "play", "verify", "--config"))
    told = croupier("serve", "kuhn", "--help").stdout
    assert all(flag in told for flag in ("--port", "-p", "--deck", "--coins", "--mind", "--seed", "--tls-cert"))


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
        (["serve", "kuhn", "-p", "0", "--mind", "equilibrium:2"], "found alpha = 2; allowed: 0 to 1/3"),
        (["serve", "kuhn", "-p", "0", "--mind", "equilibrium:x"], "allowed: equilibrium:1/6"),
        (["serve", "kuhn", "-p", "0", "--tls-cert", __file__, "--tls-key", __file__], "allowed: two PEM files"),
    ],
    ids=lambda value: value if isinstance(value, str) else None,
)
def test_a_setting_that_makes_no_sense_is_refused_with_what_is_allowed(arguments: list[str], told: str) -> None:
    done = croupier(*arguments)
    assert done.returncode != 0
    assert told in done.stderr
    assert "Traceback" not in done.stderr
