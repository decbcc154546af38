"""A store whose file is deleted while a server has it open: nothing more is promised, and whoever asks is told why."""

import os
from contextlib import suppress
from pathlib import Path

import pytest

from tests.cli.test_serve_health import await_health, health
from tests.cli.test_serve_holdem import parlour
from tests.cli.test_serve_oldmaid import seated, serving, talk
from tests.processes import PATIENCE, Serving, rest
from tests.recording.test_house_faults import goes_on, read, until_refused, until_well


def aside(path: Path) -> Path:
    """Where the file can still be found when it is deleted."""
    kept = path.with_name("aside")
    kept.hardlink_to(path)
    return kept


def replaced(path: Path) -> None:
    """Put an empty store in the place of a file."""
    with Serving("kuhn", "--port", 0, "--journal", "async", "--store", path.with_name("other")) as other:
        assert other.stop() == 0
    path.with_name("other").rename(path)


@pytest.mark.parametrize(
    "how", [os.unlink, pytest.param(replaced, marks=pytest.mark.slow)], ids=["deleted", "replaced"]
)
def test_acts_of_holdem_are_refused_until_the_file_is_back(tmp_path: Path, how: object) -> None:
    """holdem-3.17"""
    path = tmp_path / "kept.db"
    with parlour("--store", path, "--metrics-port", 0, ready=2) as found:
        assert found.seat("ann", "bob") == [201, 201]
        kept = aside(path)
        how(path)  # type: ignore[operator]
        assert found.act(1, 10).status == 503
        status, told = health(found.serving)
        assert status == 503
        reason = told["rooms"]["holdem"]["reason"]
        assert reason.startswith(f"{path}: the store was ")
        assert "while it was open" in reason
        assert found.ask("ann", "GET", f"/games/{found.game}").status == 503
        kept.rename(path)
        await_health(found.serving)
        assert found.serving.stop() == 0
        events = [entry["event"] for entry in found.serving.entries]
        assert events.count("the store cannot be written to") == 1
    with parlour("--store", path, "--metrics-port", 0, ready=2) as found:
        assert [player["handle"] for player in found.see()["table"]] == ["ann", "bob"]


def test_games_of_old_maid_are_void_until_the_file_is_back(tmp_path: Path) -> None:
    """oldmaid-9.15"""
    path = tmp_path / "kept.db"
    with serving("--players", 2, "--store", path, "--metrics-port", 0, ready=2) as server:
        idle, (ann, bob) = talk(server), seated(server, "ann", "bob")
        kept = aside(path)
        path.unlink()
        ann.say(cmd="draw")
        for player in (ann, bob):
            assert player.error().startswith("oldmaid-9.15: ")
        assert health(server)[1]["rooms"]["oldmaid"]["reason"].startswith(f"{path}: the store was deleted")
        idle.say(cmd="join", nick="cyd")
        assert idle.error().startswith("oldmaid-9.15: ")
        kept.rename(path)
        await_health(server)
        assert server.stop() == 0


MODES = pytest.mark.parametrize(
    "mode",
    [("--journal", "async"), pytest.param(("--accounts", "address"), marks=pytest.mark.slow)],
    ids=["async", "accounts"],
)


@MODES
def test_a_house_is_closed_until_the_file_is_back(tmp_path: Path, mode: tuple[str, ...]) -> None:
    path = tmp_path / "kept.db"
    with Serving("kuhn", "--port", 0, "--metrics-port", 0, *mode, "--store", path, ready=2) as serving:
        goes_on(serving)
        until_well(serving)
        kept = aside(path)
        path.unlink()
        playing = serving.call()
        playing.sendall(b"STRT P_1ACTN BET")
        assert until_well(serving, well=False)["reason"].startswith(f"{path}: the store was deleted")
        until_refused(serving)
        kept.rename(path)
        until_well(serving)
        with suppress(TimeoutError):
            playing.settimeout(PATIENCE)
            assert rest(playing).startswith(b"CARD C_")
        goes_on(serving)
        assert serving.stop() == 0

    async def checked(store: object) -> list[object]:
        return await store.check()  # type: ignore[attr-defined, no-any-return]

    assert read(path, checked) == []


@MODES
def test_a_server_at_which_nobody_plays_notices_as_well(tmp_path: Path, mode: tuple[str, ...]) -> None:
    path = tmp_path / "kept.db"
    with Serving("kuhn", "--port", 0, "--metrics-port", 0, *mode, "--store", path, ready=2) as serving:
        until_well(serving)
        path.unlink()
        assert until_well(serving, well=False)["reason"].startswith(f"{path}: the store was deleted")
