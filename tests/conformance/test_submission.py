"""Submissions are read, hashed, copied and built, and their errors are reported."""

import asyncio
import shutil
from pathlib import Path

import pytest

from croupier.conformance.matrix.submission import (
    Submission,
    build_submission,
    folder_digest,
    load_submission,
    load_submissions,
    reference_submission,
)
from croupier.rooms import HOUSE_ROOMS

GOOD = 'name = "Ada"\n[kuhn]\nserver = "./server {port}"\nclient = "./client {host} {port}"\n'


def handed_in(folder: Path, text: str = GOOD) -> Submission:
    folder.mkdir(exist_ok=True)
    (folder / "submission.toml").write_text(text)
    return load_submission(folder)


def test_a_submission_says_how_its_programs_are_started(tmp_path: Path) -> None:
    found = handed_in(tmp_path / "ada")
    assert (found.id, found.name, found.fault, found.build) == ("ada", "Ada", "", ())
    assert found.command("kuhn", "server") == "./server {port}"
    assert found.command("kuhn", "client") == "./client {host} {port}"
    assert found.command("blackjack", "client") is None


def test_a_room_can_stand_at_the_top_and_rooms_that_are_not_played_are_left_out(tmp_path: Path) -> None:
    found = handed_in(tmp_path / "bob", 'room = "sevenhalf"\nclient = "c {port}"\n[holdem]\nserver = "h"\n')
    assert (found.name, found.fault) == ("bob", "")
    assert found.commands["sevenhalf"] == {"client": "c {port}"}


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("", "found no room; allowed: at least one, with a server or a client"),
        ("name = 7\n[kuhn]\nserver = 's {port}'", "found the name 7; allowed: a text"),
        ("[kuhn]", "found kuhn = {}; allowed: server = COMMAND, client = COMMAND"),
        ("[kuhn]\nsever = 's'", "found kuhn = {'sever': 's'}; allowed: server = COMMAND, client = COMMAND"),
        ("[kuhn]\nserver = 7", "found the server 7; allowed: a command"),
        ("[kuhn]\nserver = 's 1212'", "found the server 's 1212'; allowed: a command with {port} in it"),
        ("[kuhn]\nclient = 'c {ports}'", "found {ports} in 'c {ports}'; allowed: {host}, {port}"),
        ("room = 'whist'\nserver = 's {port}'", "found the room 'whist'; allowed: kuhn, sevenhalf, blackjack, holdem,"),
        ("server = 's {port}'", "found server without a room; allowed: room = kuhn|sevenhalf|blackjack"),
        ("rome = 'kuhn'", "found rome; allowed: name, build, room, server, client, or a table for each room"),
        ("build = 7\n[kuhn]\nserver = 's {port}'", "found the build 7; allowed: a command, or a list of them"),
        ("build = 'make {port}'\n[kuhn]\nserver = 's {port}'", "found {port} in 'make {port}'; allowed: no braces"),
        ("[kuhn", "Expected ']'"),
    ],
)
def test_what_makes_no_sense_is_told_and_the_submission_stays_in_the_class(
    tmp_path: Path, text: str, told: str
) -> None:
    found = handed_in(tmp_path / "cid", text)
    assert found.fault.startswith("submission.toml: ")
    assert told in found.fault
    assert (found.id, found.name, found.commands) == ("cid", "cid", {})


def test_a_class_is_every_folder_but_hidden_ones_and_the_results(tmp_path: Path) -> None:
    handed_in(tmp_path / "ada")
    for name in ("empty", ".git", "out"):
        (tmp_path / name).mkdir()
    (tmp_path / "notes.txt").write_text("a file")
    found = load_submissions(tmp_path, tmp_path / "out")
    assert [(each.id, each.fault) for each in found] == [
        ("ada", ""),
        ("empty", "found no submission.toml; allowed: one in its folder"),
    ]


@pytest.mark.parametrize("name", ["nothing", "bare"])
def test_a_class_without_anybody_is_refused(tmp_path: Path, name: str) -> None:
    (tmp_path / "bare").mkdir()
    with pytest.raises(ValueError, match="allowed: "):
        load_submissions(tmp_path / name, tmp_path / "out")


def test_the_digest_is_that_of_names_and_contents(tmp_path: Path) -> None:
    folder = tmp_path / "ada"
    before = handed_in(folder).digest
    (folder / "__pycache__").mkdir()
    (folder / "__pycache__" / "x.pyc").write_bytes(b"x")
    assert folder_digest(folder) == before
    (folder / "sub").mkdir()
    (folder / "sub" / "a").write_text("1")
    with_a = folder_digest(folder)
    (folder / "sub" / "a").rename(folder / "sub" / "b")
    assert len({before, with_a, folder_digest(folder)}) == 3
    shutil.copytree(folder, tmp_path / "copy")
    assert folder_digest(tmp_path / "copy") == folder_digest(folder)


def test_a_submission_is_built_once_in_a_copy(tmp_path: Path) -> None:
    folder, work = tmp_path / "ada", tmp_path / "work"
    found = handed_in(folder, 'build = ["cp submission.toml built", "mkdir once"]\n' + GOOD[13:])
    place = asyncio.run(build_submission(found, work))
    assert place is not None
    assert (place / "built").exists()
    assert sorted(path.name for path in folder.iterdir()) == ["submission.toml"]
    assert asyncio.run(build_submission(found, work)) == place, "mkdir would fail the second time"


@pytest.mark.parametrize(
    ("build", "told"),
    [
        ("false", "cannot be built: 'false' has ended (exit status 1)"),
        ("no-such-program", "cannot be built: 'no-such-program' cannot be started: "),
        ("cp nothing here", "; its stderr: cp: "),
    ],
)
def test_what_cannot_be_built_is_told_with_what_the_compiler_said(tmp_path: Path, build: str, told: str) -> None:
    found = handed_in(tmp_path / "bob", f"build = '{build}'\n{GOOD[13:]}")
    with pytest.raises(ValueError, match="cannot be built") as error:
        asyncio.run(build_submission(found, tmp_path / "work"))
    assert told in str(error.value)


def test_our_own_house_and_client_are_in_no_folder() -> None:
    own = reference_submission()
    assert own.is_reference
    assert own.commands.keys() == HOUSE_ROOMS.keys()
    assert asyncio.run(build_submission(own, Path("nowhere"))) is None
