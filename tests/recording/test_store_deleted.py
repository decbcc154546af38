"""The file of a store is deleted while a server has it open: the server pauses and reports the reason."""

import os
from contextlib import suppress
from pathlib import Path

import pytest

from tests.cli.test_serve_health import await_health, health
from tests.cli.test_serve_holdem import running_holdem as parlour
from tests.cli.test_serve_oldmaid import seated, serving, talk
from tests.processes import PATIENCE, Serving, rest
from tests.recording.test_house_faults import play_one_game, read_store, wait_for_health, wait_until_refused


def link_aside(path: Path) -> Path:
    """Make a second link to a file, which remains when the file is deleted."""
    link = path.with_name("aside")
    link.hardlink_to(path)
    return link


def replace_with_empty_store(path: Path) -> None:
    """Replace a file by an empty store."""
    with Serving("kuhn", "--port", 0, "--journal", "async", "--store", path.with_name("other")) as other:
        assert other.stop() == 0
    path.with_name("other").rename(path)


@pytest.mark.parametrize(
    "remove", [os.unlink, pytest.param(replace_with_empty_store, marks=pytest.mark.slow)], ids=["deleted", "replaced"]
)
def test_holdem_refuses_requests_until_the_file_is_back(tmp_path: Path, remove: object) -> None:
    """holdem-3.17"""
    path = tmp_path / "kept.db"
    with parlour("--store", path, "--metrics-port", 0, ready=2) as found:
        assert found.seat("ann", "bob") == [201, 201]
        before = found.see()
        link = link_aside(path)
        remove(path)  # type: ignore[operator]
        assert found.act(1, 10).status == 503
        status, report = health(found.serving)
        assert status == 503
        reason = report["rooms"]["holdem"]["reason"]
        assert reason.startswith(f"{path}: the store was ")
        assert "while it was open" in reason
        assert found.see() == before, "the view from before the outage"
        link.rename(path)
        await_health(found.serving)
        assert found.serving.stop() == 0
        events = [entry["event"] for entry in found.serving.entries]
        assert events.count("store unavailable") == 1
    with parlour("--store", path, "--metrics-port", 0, ready=2) as found:
        assert [player["handle"] for player in found.see()["table"]] == ["ann", "bob"]


def test_oldmaid_voids_games_until_the_file_is_back(tmp_path: Path) -> None:
    """oldmaid-9.15"""
    path = tmp_path / "kept.db"
    with serving("--players", 2, "--store", path, "--metrics-port", 0, ready=2) as server:
        idle, (ann, bob) = talk(server), seated(server, "ann", "bob")
        link = link_aside(path)
        path.unlink()
        ann.say(cmd="draw")
        for player in (ann, bob):
            assert player.error().startswith("oldmaid-9.15: ")
        assert health(server)[1]["rooms"]["oldmaid"]["reason"].startswith(f"{path}: the store was deleted")
        idle.say(cmd="join", nick="cyd")
        assert idle.error().startswith("oldmaid-9.15: ")
        link.rename(path)
        await_health(server)
        assert server.stop() == 0


MODES = pytest.mark.parametrize(
    "mode",
    [("--journal", "async"), pytest.param(("--accounts", "address"), marks=pytest.mark.slow)],
    ids=["async", "accounts"],
)


@MODES
def test_house_is_closed_until_the_file_is_back(tmp_path: Path, mode: tuple[str, ...]) -> None:
    path = tmp_path / "kept.db"
    with Serving("kuhn", "--port", 0, "--metrics-port", 0, *mode, "--store", path, ready=2) as serving:
        play_one_game(serving)
        wait_for_health(serving)
        link = link_aside(path)
        path.unlink()
        playing = serving.call()
        playing.sendall(b"STRT P_1ACTN BET")
        assert wait_for_health(serving, is_well=False)["reason"].startswith(f"{path}: the store was deleted")
        wait_until_refused(serving)
        link.rename(path)
        wait_for_health(serving)
        with suppress(TimeoutError):
            playing.settimeout(PATIENCE)
            assert rest(playing).startswith(b"CARD C_")
        play_one_game(serving)
        assert serving.stop() == 0

    async def find_problems(store: object) -> list[object]:
        return await store.find_problems()  # type: ignore[attr-defined, no-any-return]

    assert read_store(path, find_problems) == []


@MODES
def test_idle_server_notices_the_deletion(tmp_path: Path, mode: tuple[str, ...]) -> None:
    path = tmp_path / "kept.db"
    with Serving("kuhn", "--port", 0, "--metrics-port", 0, *mode, "--store", path, ready=2) as serving:
        wait_for_health(serving)
        path.unlink()
        assert wait_for_health(serving, is_well=False)["reason"].startswith(f"{path}: the store was deleted")
