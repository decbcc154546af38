"""A student's submission: a folder that says how to build it and how to start its server and its client."""

import asyncio
import os
import shutil
import stat
import tomllib
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from hashlib import file_digest, sha256
from pathlib import Path
from typing import Any, Final

from msgspec import Struct
from msgspec.structs import replace

from croupier.conformance.containment.workspace import remove_tree
from croupier.conformance.program import ProgramError, ProgramUnderTest
from croupier.conformance.suite import ROLES
from croupier.core.command_line import describe_exit, split_command
from croupier.core.text import printable
from croupier.rooms import HOUSE_ROOMS, ROOMS
from croupier.version import __version__

SUBMISSION_FILE: Final = "submission.toml"
REFERENCE_ID: Final = "croupier"
"""The id of our own server and client."""

PLACEHOLDERS: Final[Mapping[str, object]] = {"host": "", "port": 0, "seed": 0}
"""The names in braces that commands of either role may contain."""

BYTECODE_FOLDER: Final = "__pycache__"
"""A folder that does not belong to a submission."""

UNHASHED_FOLDERS: Final = (BYTECODE_FOLDER, ".git")
"""Folders whose content changes although the programs do not."""

BUILD_TIMEOUT_SECONDS: Final = 120.0
"""How long a build command may take."""

MAX_SUBMISSION_BYTES: Final = 1 << 29
MAX_SUBMISSION_FILES: Final = 50_000
MAX_FOLDER_DEPTH: Final = 100
MAX_TOML_BYTES: Final = 1 << 16
MAX_FAULT_CHARS: Final = 1000
MAX_ID_BYTES: Final = 200
"""File names of the results contain the id."""

ALLOWED_KEYS: Final = "name, id, email, build, room, server, client, or a table for each room"


class Submission(Struct, frozen=True):
    """A submission. `id` is made of the name of its folder, `digest` a hash of its content.

    `commands` maps rooms to the command of each role (server, client). `fault` says what is wrong if the submission
    cannot be used at all, `room_faults` what is wrong in a room. `student_id` and `email` are those of the student at
    the school, empty if the submission does not give them.
    """

    id: str
    name: str
    folder: Path | None
    digest: str
    commands: Mapping[str, Mapping[str, str]] = {}
    build: tuple[str, ...] = ()
    fault: str = ""
    room_faults: Mapping[str, str] = {}
    student_id: str = ""
    email: str = ""

    @property
    def is_reference(self) -> bool:
        """Whether it is our own server and client."""
        return self.folder is None

    @property
    def faults(self) -> str:
        """Everything that is wrong with it; empty if nothing is."""
        return self.fault or "; ".join(self.room_faults.values())

    def command(self, room: str, role: str) -> str | None:
        """The command of its server or client; None if there is none."""
        return self.commands.get(room, {}).get(role)

    def takes_part(self, room: str, role: str) -> bool:
        """Whether it has cells for a role in a room; also if it cannot be used there."""
        return self.is_reference or bool(self.fault) or room in self.room_faults or bool(self.command(room, role))


def reference_submission() -> Submission:
    """Our own server and client."""
    return Submission(REFERENCE_ID, f"croupier {__version__}", None, __version__)


def load_submissions(folder: Path, out: Path) -> tuple[Submission, ...]:
    """Load all submissions in a folder, sorted by name, except `out`. Raises ValueError if there are none.

    A folder that cannot be used becomes a submission with a fault. A name that several students have is followed by the
    folder.
    """
    try:
        folders = [each for each in sorted(folder.iterdir()) if each.is_dir() and not each.name.startswith(".")]
    except OSError as error:
        raise ValueError(f"found {str(folder)!r} ({error.strerror}); allowed: a folder with submissions") from None
    found: dict[str, Submission] = {}
    for each in folders:
        if each.resolve() != out.resolve():
            submission = load_submission(each)
            while submission.id in {*found, REFERENCE_ID}:
                submission = replace(submission, id=f"{submission.id}~")
            found[submission.id] = submission
    if not found:
        raise ValueError(f"found no folder in {str(folder)!r}; allowed: one for each submission")
    names = Counter(each.name for each in found.values())
    shown = (
        each if names[each.name] == 1 else replace(each, name=f"{each.name} ({each.id})") for each in found.values()
    )
    return tuple(sorted(shown, key=lambda each: each.name.casefold()))


def describe_duplicates(submissions: Iterable[Submission]) -> Iterator[str]:
    """Yield a sentence about each ID number, address and content that several submissions share."""
    for field, noun in {"student_id": "ID", "email": "address", "digest": ""}.items():
        shared: dict[str, list[str]] = {}
        for each in submissions:
            shared.setdefault(getattr(each, field), []).append(each.id)
        for text, (*others, last) in shared.items():
            if text and others:
                what = f"give the {noun} {text!r}: matrix.csv has their folders in its place"
                yield f"{', '.join(others)} and {last} {what if noun else 'have the same files'}"


def load_submission(folder: Path) -> Submission:
    """Load the submission in a folder. Whatever is wrong with it becomes its fault."""
    name = os.fsencode(folder.name).decode(errors="backslashreplace")
    unusable = Submission(name.encode()[:MAX_ID_BYTES].decode(errors="ignore"), name, folder, "")
    try:
        unusable = replace(unusable, digest=folder_digest(folder))
        return _parse(unusable, _read_toml(folder / SUBMISSION_FILE))
    except FileNotFoundError:
        error_text = f"found no {SUBMISSION_FILE}; allowed: one in its folder"
    except RecursionError:
        error_text = f"{SUBMISSION_FILE}: found too many levels; allowed: a table for each room"
    except (OSError, ValueError) as error:
        error_text = f"{SUBMISSION_FILE}: {error}"
    return replace(unusable, fault=printable(error_text, MAX_FAULT_CHARS))


def folder_digest(folder: Path) -> str:
    """Return a hash of the names and contents of all files in a folder, in hex. Symbolic links are not followed.

    Raises ValueError if the folder is too large or too deep to be copied.
    """
    digest = sha256()
    size = count = 0
    for where, folders, names in os.walk(folder):
        folders[:] = sorted(each for each in folders if each not in UNHASHED_FOLDERS)
        parts = Path(where).relative_to(folder).parts
        if len(parts) > MAX_FOLDER_DEPTH:
            raise ValueError(f"found more than {MAX_FOLDER_DEPTH} folders inside each other; allowed: at most that")
        for path in sorted(Path(where, name) for name in (*names, *folders)):
            count += 1
            status = path.lstat()
            size += status.st_size if stat.S_ISREG(status.st_mode) else 0
            if size > MAX_SUBMISSION_BYTES or count > MAX_SUBMISSION_FILES:
                allowed = f"{MAX_SUBMISSION_FILES:,} files of {MAX_SUBMISSION_BYTES >> 20} MiB in all"
                raise ValueError(f"found more than {allowed}; allowed: at most that")
            digest.update(_entry(path, status, "/".join((*parts, path.name))))
            if stat.S_ISREG(status.st_mode):
                with path.open("rb") as file:
                    digest.update(file_digest(file, "sha256").digest())
    return digest.hexdigest()


def _entry(path: Path, status: os.stat_result, name: str) -> bytes:
    """The description of a file, link or folder in a digest."""
    target = os.fsencode(path.readlink()) if stat.S_ISLNK(status.st_mode) else b""
    return b"%s\0%o %d\0%s\0" % (os.fsencode(name), stat.S_IFMT(status.st_mode), len(target), target)


def _read_toml(path: Path) -> dict[str, Any]:
    """The entries of a file. Raises OSError, ValueError and RecursionError."""
    if path.stat().st_size > MAX_TOML_BYTES or not path.is_file():
        raise ValueError(f"found something else than a file of at most {MAX_TOML_BYTES >> 10} KiB; allowed: one")
    return tomllib.loads(path.read_text(encoding="utf-8"))


def _parse(empty: Submission, entries: Mapping[str, Any]) -> Submission:
    """A submission with these entries. Raises ValueError."""
    if unknown := entries.keys() - {"name", "id", "email", "build", "room", *ROLES, *ROOMS}:
        raise ValueError(f"found {', '.join(sorted(unknown))}; allowed: {ALLOWED_KEYS}")
    commands, room_faults = {}, {}
    for room, table in _tables(entries).items():
        try:
            commands[room] = _roles(room, table)
        except ValueError as error:
            room_faults[room] = printable(f"{SUBMISSION_FILE}: {error}", MAX_FAULT_CHARS)
    return replace(
        empty,
        name=_text(entries, "name") or empty.name,
        student_id=_text(entries, "id"),
        email=_text(entries, "email"),
        build=_build(entries),
        commands=commands,
        room_faults=room_faults,
    )


def _text(entries: Mapping[str, Any], key: str) -> str:
    """The text of a key, empty if there is none. A number stands for its digits. Raises ValueError."""
    found = entries.get(key, "")
    if type(found) not in {str, int}:
        raise ValueError(f"found the {key} {found!r}; allowed: a text")
    return str(found).strip()


def _tables(entries: Mapping[str, Any]) -> dict[str, Any]:
    """The tables of the rooms, which have not been checked. Raises ValueError."""
    tables = {room: entries[room] for room in ROOMS if room in entries}
    if (own := entries.get("room")) is not None:
        if own not in [*ROOMS]:
            raise ValueError(f"found the room {own!r}; allowed: {', '.join(ROOMS)}")
        tables.setdefault(own, {role: entries[role] for role in ROLES if role in entries})
    elif lost := entries.keys() & {*ROLES}:
        raise ValueError(f"found {', '.join(sorted(lost))} without a room; allowed: room = {'|'.join(HOUSE_ROOMS)}")
    if not tables:
        raise ValueError("found no room; allowed: at least one, with a server or a client")
    return tables


def _roles(room: str, table: Any) -> dict[str, str]:
    """The commands of a room by role. Raises ValueError."""
    if not isinstance(table, dict) or not table or table.keys() - {*ROLES}:
        raise ValueError(f"found {room} = {table!r}; allowed: server = COMMAND, client = COMMAND")
    for role, command in table.items():
        if not isinstance(command, str):
            raise ValueError(f"found the {role} {command!r}; allowed: a command")  # noqa: TRY004 -- an error of the file, not of a type
        if room in HOUSE_ROOMS:
            split_command(command, PLACEHOLDERS)
            if "{port}" not in command:
                raise ValueError(f"found the {role} {command!r}; allowed: a command with {{port}} in it")
    return table


def _build(entries: Mapping[str, Any]) -> tuple[str, ...]:
    """The build commands. Raises ValueError."""
    found = entries.get("build", [])
    commands = [found] if isinstance(found, str) else found
    if not isinstance(commands, list) or not all(isinstance(command, str) for command in commands):
        raise ValueError(f"found the build {found!r}; allowed: a command, or a list of them")
    for command in commands:
        split_command(command, {})
    return tuple(commands)


async def build_submission(submission: Submission, build_folder: Path) -> Path | None:
    """Copy a submission into `build_folder` and build it; return the copy, None for our own programs.

    The submitted folder is not changed. Raises ValueError with what is wrong with the submission.
    """
    if submission.fault:
        raise ValueError(submission.fault)
    if submission.folder is None:
        return None
    target = build_folder / f"{submission.id}-{submission.digest[:12]}"
    marker = target.with_name(f"{target.name}.built")
    if not marker.exists():
        await asyncio.to_thread(remove_tree, target)
        build_folder.mkdir(parents=True, exist_ok=True)
        try:
            ignored = shutil.ignore_patterns(BYTECODE_FOLDER)
            await asyncio.to_thread(shutil.copytree, submission.folder, target, symlinks=True, ignore=ignored)
        except (OSError, shutil.Error) as error:
            raise ValueError(printable(f"cannot be copied: {error}", MAX_FAULT_CHARS)) from None
        await _make(submission.build, target)
        marker.touch()
    return target


async def _make(build: Sequence[str], folder: Path) -> None:
    """Run the build commands in a folder. Raises ValueError if one fails."""
    for command in build:
        try:
            program = await ProgramUnderTest.start(command, {}, folder=folder)
        except ProgramError as error:
            raise ValueError(f"cannot be built: {error}") from None
        async with program:
            status = await program.wait_ended(BUILD_TIMEOUT_SECONDS)
        if status != 0:
            problem = (
                f"does not end within {BUILD_TIMEOUT_SECONDS:g} s"
                if status is None
                else f"has ended ({describe_exit(status)})"
            )
            raise ValueError(f"cannot be built: {command!r} {problem}{program.stderr_excerpt()}")
