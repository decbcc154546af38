"""Hostile names and texts in listings, exports and errors are escaped; output encodings and closed pipes."""

import asyncio
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from croupier.cli import main
from croupier.store.records import JournalEntry, StoredHand
from croupier.store.store import Store, open_store
from tests.cli.test_hostile_servers import is_printable
from tests.processes import COMMAND, PATIENCE, environment
from tests.sampling import extended
from tests.store.store_fixture import add_hand

HOSTILE = "\x1b]0;pwned\x07[red]\u202e\nann"
RECORD = '{"nicks":["ann"]}'
ASCII_LOCALE = {"PYTHONUTF8": "0", "LC_ALL": "C", "LANG": "C", "PYTHONCOERCECLOCALE": "0"}
"""The environment of an ASCII-only terminal."""


def make_store(path: Path, *hands: StoredHand) -> Path:
    async def fill() -> None:
        async with await open_store(str(path)) as store:
            for hand in hands:
                await add_hand(store, hand)

    asyncio.run(fill())
    return path


def hand(table: str, number: int = 1, summary: str = "", record: str = RECORD) -> StoredHand:
    return StoredHand("oldmaid", table, number, 1000.0 + number, ("ann",), record, summary)


def run_main(capfd: pytest.CaptureFixture[str], *arguments: object) -> tuple[int, str, str]:
    with pytest.raises(SystemExit) as end:
        main([*map(str, arguments)])
    output = capfd.readouterr()
    return int(end.value.code or 0), output.out, output.err


@pytest.mark.parametrize("flags", [(), ("--json",)], ids=["people", "json"])
def test_hostile_names_are_escaped_in_the_list_of_hands(
    tmp_path: Path, capfd: pytest.CaptureFixture[str], flags: tuple[str, ...]
) -> None:
    store_path = make_store(tmp_path / "kept.db", hand(HOSTILE, summary=HOSTILE))
    status, out, _ = run_main(capfd, "hands", "list", "oldmaid", "--store", store_path, *flags)
    assert status == 0
    assert len(out.splitlines()) == 1
    assert is_printable(out)
    if flags:
        assert json.loads(out)["summary"] == HOSTILE


@pytest.mark.parametrize("table", ["../../evil", "/etc/evil", "..", "a/../../evil", HOSTILE, "~", "nul\x01"])
def test_an_export_never_writes_outside_its_folder(
    tmp_path: Path, capfd: pytest.CaptureFixture[str], table: str
) -> None:
    store_path = make_store(tmp_path / "kept.db", hand(table))
    folder = tmp_path / "a" / "b" / "out"
    assert run_main(capfd, "hands", "export", folder, "--room", "oldmaid", "--store", store_path)[0] == 0
    (file,) = folder.iterdir()
    assert file.read_text(encoding="utf-8") == RECORD + "\n"
    assert is_printable(file.name)
    assert sorted(path.name for path in tmp_path.iterdir() if path.suffix != ".db-shm") >= ["a", "kept.db"]
    assert not [*tmp_path.rglob("evil*")]


def test_an_export_refuses_an_existing_folder_and_a_symlink(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    store_path = make_store(tmp_path / "kept.db", hand("table"))
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "elsewhere")
    status, _, err = run_main(capfd, "hands", "export", tmp_path / "link", "--room", "oldmaid", "--store", store_path)
    assert (status, "File exists" in err) == (2, True)
    assert not [*(tmp_path / "elsewhere").iterdir()]


def test_an_export_reads_hands_in_batches(
    tmp_path: Path, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The export never loads all hands at once."""

    async def never(*arguments: Any, **named: Any) -> None:
        raise AssertionError("the export loads all hands")

    monkeypatch.setattr(Store, "hands", never)
    monkeypatch.setattr("croupier.store.sqlite.FETCH_ROWS", 2)
    store_path = make_store(tmp_path / "kept.db", *(hand("table", number) for number in range(1, 6)))
    status, out, _ = run_main(capfd, "hands", "export", tmp_path / "out", "--room", "oldmaid", "--store", store_path)
    assert (status, out) == (0, f"5 hands of {store_path} are in {tmp_path / 'out'}\n")
    assert len([*(tmp_path / "out").iterdir()]) == 5


def test_a_damaged_hand_is_reported(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    bad = StoredHand("holdem", "t", 1, 1.0, ("ann",), "nonsense")
    store_path = make_store(tmp_path / "kept.db", bad)
    for command in (("show", "t/1"), ("export", tmp_path / "out")):
        status, _, err = run_main(capfd, "hands", *command, "--store", store_path)
        assert status == 1
        assert err.startswith("croupier: hand t/1: found a malformed snapshot of a hold'em hand")


def test_verify_escapes_hostile_records(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    entry = {"deal": "hand", "room": "kuhn", "table": 1, "hand": 1, "cards": [HOSTILE], "net": 1}
    (tmp_path / "record").write_text(json.dumps(entry) + "\n", encoding="utf-8")
    _, out, err = run_main(capfd, "verify", tmp_path / "record")
    assert is_printable(out + err)


@pytest.mark.parametrize(
    "command", extended(["hands list oldmaid", "hands list oldmaid --json"], 2), ids=["people", "json"]
)
def test_a_closed_pipe_ends_a_command_silently(tmp_path: Path, command: str) -> None:
    store_path = make_store(tmp_path / "kept.db", *(hand("table", number, "x" * 200) for number in range(1, 100)))
    words = [*COMMAND, *command.split(), "--limit", "99", "--store", str(store_path)]
    with subprocess.Popen(words, env=environment(), stdout=subprocess.PIPE, stderr=subprocess.PIPE) as listing:
        assert listing.stdout is not None
        assert listing.stderr is not None
        listing.stdout.close()
        assert listing.stderr.read() == b""
        assert listing.wait(PATIENCE) == 1


def test_a_closed_pipe_ends_a_replay_silently(tmp_path: Path) -> None:
    entry = {"deal": "promise", "room": "kuhn", "table": 1, "algorithm": "any", "commitment": "ab" * 32}
    many = (json.dumps(entry) + "\n") * 5000  # more than a pipe holds
    (tmp_path / "record").write_text(many, encoding="utf-8")
    words = [*COMMAND, "replay", str(tmp_path / "record")]
    with subprocess.Popen(words, env=environment(), stdout=subprocess.PIPE, stderr=subprocess.PIPE) as replay:
        assert replay.stdout is not None
        assert replay.stderr is not None
        assert replay.stdout.readline()
        replay.stdout.close()
        assert replay.stderr.read() == b""
        assert replay.wait(PATIENCE) == 1


MEASURE_MEMORY_SCRIPT = """
import resource, sys
from croupier.cli import main
from tests.store.store_fixture import add_hand
try:
    main(sys.argv[1:])
finally:
    print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss, file=sys.stderr)
"""


@pytest.mark.slow
def test_the_memory_of_an_export_does_not_grow_with_the_store(tmp_path: Path) -> None:
    record = json.dumps({"nicks": ["x" * 4000]})
    store_path = tmp_path / "kept.db"

    async def fill() -> None:
        async with await open_store(str(store_path)) as store:
            for _ in range(20):
                first = await store.last_seq("oldmaid", "table") + 1
                numbers = range(first * 2000, first * 2000 + 2000)
                entry = JournalEntry("oldmaid", "table", first, b"{}", 1.0)
                await store.append([entry], [hand("table", number, record=record) for number in numbers])

    asyncio.run(fill())
    assert store_path.stat().st_size > 160_000_000
    command = ["hands", "export", str(tmp_path / "out"), "--room", "oldmaid", "--store", str(store_path)]
    done = subprocess.run(
        [sys.executable, "-c", MEASURE_MEMORY_SCRIPT, *command],
        env=environment(),
        capture_output=True,
        check=True,
        timeout=PATIENCE,
    )
    assert int(done.stderr) < 130_000, "KiB"
    assert len([*(tmp_path / "out").iterdir()]) == 40_000


def run_in_ascii_locale(*arguments: object) -> subprocess.CompletedProcess[bytes]:
    """Run a command with the environment of an ASCII-only terminal."""
    words = [*COMMAND, *map(os.fspath, arguments)]
    return subprocess.run(words, env=environment(ASCII_LOCALE), capture_output=True, check=False, timeout=PATIENCE)


@pytest.mark.extended
def test_files_and_exports_are_utf_8_in_any_locale(tmp_path: Path) -> None:
    store_path = make_store(
        tmp_path / "kept.db", hand("table", summary="Zoë, and 小明 has lost", record='{"nicks":["Zoë"]}')
    )
    config = tmp_path / "croupier.toml"
    config.write_text(f'# für alle\n[hands.list]\nstore = "{store_path}"\n', encoding="utf-8")
    lines = run_in_ascii_locale("hands", "list", "oldmaid", "--json", "--config", config)
    assert (lines.returncode, lines.stderr) == (0, b"")
    assert json.loads(lines.stdout.decode("utf-8"))["summary"] == "Zoë, and 小明 has lost"
    people = run_in_ascii_locale("hands", "list", "oldmaid", "--store", store_path)
    assert people.returncode == 0
    assert rb"Zo\xeb, and \u5c0f\u660e has lost" in people.stdout
    assert "Zoë" in run_in_ascii_locale("hands", "show", "oldmaid/table/1", "--store", store_path).stdout.decode(
        "utf-8"
    )
    assert (
        run_in_ascii_locale("hands", "export", tmp_path / "out", "--room", "oldmaid", "--store", store_path).returncode
        == 0
    )
    (file,) = (tmp_path / "out").iterdir()
    assert file.read_bytes() == '{"nicks":["Zoë"]}\n'.encode()


@pytest.mark.extended
def test_a_deck_that_is_not_utf_8_is_rejected(tmp_path: Path) -> None:
    (tmp_path / "deck").write_bytes(b"Q # \xff\n")
    done = run_in_ascii_locale("serve", "kuhn", "--port", "0", "--deck", tmp_path / "deck")
    assert done.returncode == 2
    assert b"which is not UTF-8; allowed: a text file in UTF-8" in done.stderr
    (tmp_path / "deck").write_text("Q # König?\nX\n", encoding="utf-8")
    assert (
        b"line 2: found 'X'" in run_in_ascii_locale("serve", "kuhn", "--port", "0", "--deck", tmp_path / "deck").stderr
    )
