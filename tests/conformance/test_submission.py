"""Submissions are read, hashed, copied and built, and their errors are reported."""

import asyncio
import os
import shutil
from pathlib import Path

import msgspec
import pytest

from croupier.conformance.matrix.submission import (
    Submission,
    build_submission,
    describe_duplicates,
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
        ("name = [7]\n[kuhn]\nserver = 's {port}'", "found the name [7]; allowed: a text"),
        ("id = 7.5\n[kuhn]\nserver = 's {port}'", "found the id 7.5; allowed: a text"),
        ("room = 'whist'\nserver = 's {port}'", "found the room 'whist'; allowed: kuhn, sevenhalf, blackjack, holdem,"),
        ("room = ['kuhn']\nserver = 's {port}'", "found the room ['kuhn']; allowed: kuhn, "),
        ("server = 's {port}'", "found server without a room; allowed: room = kuhn|sevenhalf|blackjack"),
        (
            "rome = 'kuhn'",
            "found rome; allowed: name, id, email, build, room, server, client, or a table for each room",
        ),
        ("build = 7\n[kuhn]\nserver = 's {port}'", "found the build 7; allowed: a command, or a list of them"),
        ("build = 'make {port}'\n[kuhn]\nserver = 's {port}'", "found {port} in 'make {port}'; allowed: no braces"),
        ("[kuhn", "Expected ']'"),
        ("name = " + "[" * 2000, "found too many levels; allowed: a table for each room"),
        ("kuhn." + "a." * 5000 + "a = 1", "found "),
        (f"name = '{'x' * 70_000}'", "found something else than a file of at most 64 KiB"),
    ],
)
def test_what_makes_no_sense_is_told_and_the_submission_stays_in_the_class(
    tmp_path: Path, text: str, told: str
) -> None:
    found = handed_in(tmp_path / "cid", text)
    assert found.faults.startswith("submission.toml: ")
    assert told in found.faults
    assert len(found.faults) < 1100
    assert (found.id, found.name, found.commands) == ("cid", "cid", {})


@pytest.mark.parametrize(
    ("table", "told"),
    [
        ("kuhn = {}", "found kuhn = {}; allowed: server = COMMAND, client = COMMAND"),
        ("kuhn = {sever = 's'}", "found kuhn = {'sever': 's'}; allowed: server = COMMAND, client = COMMAND"),
        ("kuhn = {server = 7}", "found the server 7; allowed: a command"),
        ("kuhn = {server = 's 1212'}", "found the server 's 1212'; allowed: a command with {port} in it"),
        ("kuhn = {client = 'c {ports}'}", "found {ports} in 'c {ports}'; allowed: {host}, {port}, {seed}"),
        ("kuhn = {client = 'c {port} \"'}", "allowed: a command line with every quote closed"),
    ],
)
def test_a_wrong_command_voids_its_room_only(tmp_path: Path, table: str, told: str) -> None:
    found = handed_in(tmp_path / "cid", f"{table}\n[blackjack]\nserver = 's {{port}}'")
    assert told in found.room_faults["kuhn"]
    assert (found.fault, found.commands) == ("", {"blackjack": {"server": "s {port}"}})
    assert [found.takes_part(room, "client") for room in ("kuhn", "blackjack", "sevenhalf")] == [True, False, False]


def test_a_submission_names_its_student(tmp_path: Path) -> None:
    found = handed_in(tmp_path / "ada", 'id = 4711\nemail = "ada@example.org"\n' + GOOD)
    assert (found.student_id, found.email, found.faults) == ("4711", "ada@example.org", "")


def test_a_folder_that_cannot_be_copied_is_a_fault_of_its_own(tmp_path: Path) -> None:
    handed_in(tmp_path / "ada")
    with (tmp_path / "ada" / "core").open("wb") as sparse:
        sparse.truncate(1 << 40)
    handed_in(tmp_path / "bob")
    deep = tmp_path / "bob"
    for _ in range(120):
        deep /= "d"
        deep.mkdir()
    handed_in(tmp_path / "cid")
    (tmp_path / "cid" / "loop").symlink_to(".")
    (tmp_path / "cid" / "zero").symlink_to("/dev/zero")
    handed_in(tmp_path / "dan")
    (tmp_path / "dan" / "submission.toml").unlink()
    os.mkfifo(tmp_path / "dan" / "submission.toml")
    found = {each.id: each.fault for each in load_submissions(tmp_path, tmp_path / "out")}
    assert "found more than 50,000 files of 512 MiB in all" in found["ada"]
    assert "found more than 100 folders inside each other" in found["bob"]
    assert found["cid"] == ""
    assert "found something else than a file" in found["dan"]


def test_folders_with_strange_names_have_ids_of_their_own(tmp_path: Path) -> None:
    class_folder = tmp_path / "class"
    class_folder.mkdir()
    for name in (b"croupier", b"b\xffob", b"b\\xffob", "é".encode() * 127):
        folder = Path(os.fsdecode(os.fsencode(class_folder) + b"/" + name))
        handed_in(folder, f"build = 'true'\n{GOOD[13:]}")
    found = load_submissions(class_folder, tmp_path / "out")
    assert len({each.id for each in found} | {reference_submission().id}) == 5
    assert not any(each.fault for each in found), [each.fault for each in found]
    for each in found:
        assert msgspec.json.decode(msgspec.json.encode(each.name)) == each.name
        (tmp_path / f"{each.id}.json").write_text("{}")
        assert asyncio.run(build_submission(each, tmp_path / "work")) is not None


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


def test_students_of_one_name_are_told_apart_and_duplicates_are_named(tmp_path: Path) -> None:
    twins = 'name = "Ada"\nid = "7"\nemail = "ada@example.org"\nroom = "kuhn"\nclient = "./mine {port}"'
    for folder, text in {"b": twins, "a": twins, "C": twins.replace("Ada", "abe").replace("ada@", "abe@")}.items():
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "submission.toml").write_text(text)
    submissions = load_submissions(tmp_path, tmp_path / "out")
    assert [each.name for each in submissions] == ["abe", "Ada (a)", "Ada (b)"]
    assert [*describe_duplicates(submissions)] == [
        "C, a and b give the ID '7': matrix.csv has their folders in its place",
        "a and b give the address 'ada@example.org': matrix.csv has their folders in its place",
        "a and b have the same files",
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
    (folder / ".git").mkdir()
    (folder / ".git" / "index").write_text("1")
    before = folder_digest(folder)
    (folder / ".git" / "index").write_text("2")
    assert folder_digest(folder) == before
    (folder / ".settings").write_text("1")
    assert folder_digest(folder) != before
    before = folder_digest(folder)
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
    assert all(own.takes_part(room, role) for room in HOUSE_ROOMS for role in ("server", "client"))
    assert asyncio.run(build_submission(own, Path("nowhere"))) is None
