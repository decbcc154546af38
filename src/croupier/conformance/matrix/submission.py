"""What a student has handed in: a folder, and in it how to build it and how to start its server and its client."""

import asyncio
import shutil
import sys
import tomllib
from collections.abc import Mapping, Sequence
from hashlib import sha256
from pathlib import Path
from shlex import quote
from typing import Any, Final

from msgspec import Struct

from croupier.conformance.program import ProgramError, ProgramUnderTest, describe_exit, split_command
from croupier.rooms import HOUSE_ROOMS, ROOMS
from croupier.version import __version__

SUBMISSION_FILE: Final = "submission.toml"
REFERENCE_ID: Final = "croupier"
"""The id of our own house and client."""

ROLE_PLACEHOLDERS: Final[Mapping[str, Mapping[str, object]]] = {
    "server": {"port": 0},
    "client": {"host": "", "port": 0},
}
"""What can be started, and the names in braces that its command may have."""

IGNORED_PATTERNS: Final = ("__pycache__", ".*")
"""What in a folder is no part of what was handed in."""

BUILD_TIMEOUT_SECONDS: Final = 120.0
"""So many seconds a build may take."""

ALLOWED_KEYS: Final = "name, build, room, server, client, or a table for each room"


class Submission(Struct, frozen=True):
    """A submission. `id` is its folder's name, `digest` a hash of all that is in it.

    `commands` has the command of each role (server, client) by room, as far as there are any. `fault` says what is
    wrong with it if it cannot be used at all.
    """

    id: str
    name: str
    folder: Path | None
    digest: str
    commands: Mapping[str, Mapping[str, str]] = {}
    build: tuple[str, ...] = ()
    fault: str = ""

    @property
    def is_reference(self) -> bool:
        """Whether it is our own."""
        return self.folder is None

    def command(self, room: str, role: str) -> str | None:
        """How to start its server or its client; None if there is none."""
        return self.commands.get(room, {}).get(role)


def reference_submission() -> Submission:
    """Our own house and client."""
    own = f"{quote(sys.executable)} -m croupier"
    commands = {
        room: {
            "server": f"{own} serve {room} --port {{port}} --log-level error",
            "client": f"{own} play {room} {{host}}:{{port}} --bot random --games 10",
        }
        for room in HOUSE_ROOMS
    }
    return Submission(REFERENCE_ID, f"croupier {__version__}", None, __version__, commands)


def load_submissions(folder: Path, out: Path) -> tuple[Submission, ...]:
    """All that was handed in, by name of folder. `out` is none of it. Raises ValueError where there is nothing.

    A folder that cannot be used is a submission with a fault.
    """
    try:
        folders = [each for each in sorted(folder.iterdir()) if each.is_dir() and not each.name.startswith(".")]
    except OSError as error:
        raise ValueError(f"found {str(folder)!r} ({error.strerror}); allowed: a folder with submissions") from None
    found = tuple(load_submission(each) for each in folders if each.resolve() != out.resolve())
    if not found:
        raise ValueError(f"found no folder in {str(folder)!r}; allowed: one for each submission")
    return found


def load_submission(folder: Path) -> Submission:
    """What is in a folder."""
    told = found = ""
    entries: dict[str, Any] = {}
    try:
        found = folder_digest(folder)
        entries = tomllib.loads((folder / SUBMISSION_FILE).read_text(encoding="utf-8"))
        commands, build = _commands(entries), _build(entries)
    except FileNotFoundError:
        told = f"found no {SUBMISSION_FILE}; allowed: one in its folder"
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError, ValueError) as error:
        told = f"{SUBMISSION_FILE}: {error}"
    name = entries.get("name", folder.name)
    if told or not isinstance(name, str):
        told = told or f"{SUBMISSION_FILE}: found the name {name!r}; allowed: a text"
        return Submission(folder.name, folder.name, folder, found, fault=told)
    return Submission(folder.name, name, folder, found, commands, build)


def folder_digest(folder: Path) -> str:
    """A hash of the names and the contents of all files in a folder, in hex."""
    found = sha256()
    for path in sorted(folder.rglob("*")):
        parts = path.relative_to(folder).parts
        if path.is_file() and not any(part == "__pycache__" or part.startswith(".") for part in parts):
            content = path.read_bytes()
            found.update(f"{'/'.join(parts)}\0{len(content)}\0".encode(errors="surrogateescape"))
            found.update(content)
    return found.hexdigest()


def _commands(entries: Mapping[str, Any]) -> dict[str, dict[str, str]]:
    """The commands by room. Raises ValueError."""
    if unknown := entries.keys() - {"name", "build", "room", *ROLE_PLACEHOLDERS, *ROOMS}:
        raise ValueError(f"found {', '.join(sorted(unknown))}; allowed: {ALLOWED_KEYS}")
    tables = {room: entries[room] for room in ROOMS if room in entries}
    if (own := entries.get("room")) is not None:
        if own not in ROOMS:
            raise ValueError(f"found the room {own!r}; allowed: {', '.join(ROOMS)}")
        tables.setdefault(own, {role: entries[role] for role in ROLE_PLACEHOLDERS if role in entries})
    elif lost := entries.keys() & ROLE_PLACEHOLDERS.keys():
        raise ValueError(f"found {', '.join(sorted(lost))} without a room; allowed: room = {'|'.join(HOUSE_ROOMS)}")
    if not tables:
        raise ValueError("found no room; allowed: at least one, with a server or a client")
    return {room: _roles(room, table) for room, table in tables.items()}


def _roles(room: str, table: Any) -> dict[str, str]:
    if not isinstance(table, dict) or not table or table.keys() - ROLE_PLACEHOLDERS.keys():
        raise ValueError(f"found {room} = {table!r}; allowed: server = COMMAND, client = COMMAND")
    for role, command in table.items():
        if not isinstance(command, str):
            raise ValueError(f"found the {role} {command!r}; allowed: a command")  # noqa: TRY004 -- what is written is wrong
        if room in HOUSE_ROOMS:
            split_command(command, ROLE_PLACEHOLDERS[role])
            if "{port}" not in command:
                raise ValueError(f"found the {role} {command!r}; allowed: a command with {{port}} in it")
    return table


def _build(entries: Mapping[str, Any]) -> tuple[str, ...]:
    """The commands that build it. Raises ValueError."""
    found = entries.get("build", [])
    commands = [found] if isinstance(found, str) else found
    if not isinstance(commands, list) or not all(isinstance(command, str) for command in commands):
        raise ValueError(f"found the build {found!r}; allowed: a command, or a list of them")
    for command in commands:
        split_command(command, {})
    return tuple(commands)


async def build_submission(found: Submission, build_folder: Path) -> Path | None:
    """A copy of a submission, built: its folder in `work`, None for our own. What was handed in is left as it is.

    Raises ValueError with what is wrong with it.
    """
    if found.fault:
        raise ValueError(found.fault)
    if found.folder is None:
        return None
    place = build_folder / f"{found.id}-{found.digest[:12]}"
    done = place.with_name(f"{place.name}.built")
    if not done.exists():
        shutil.rmtree(place, ignore_errors=True)
        build_folder.mkdir(parents=True, exist_ok=True)
        try:
            ignored = shutil.ignore_patterns(*IGNORED_PATTERNS)
            await asyncio.to_thread(shutil.copytree, found.folder, place, symlinks=True, ignore=ignored)
        except (OSError, shutil.Error) as error:
            raise ValueError(f"cannot be copied: {error}") from None
        await _make(found.build, place)
        done.touch()
    return place


async def _make(build: Sequence[str], place: Path) -> None:
    """Build what is in a folder. Raises ValueError when it cannot be built."""
    for command in build:
        try:
            program = await ProgramUnderTest.start(command, {}, folder=place)
        except ProgramError as error:
            raise ValueError(f"cannot be built: {error}") from None
        async with program:
            status = await program.wait_ended(BUILD_TIMEOUT_SECONDS)
        if status != 0:
            what = (
                f"does not end within {BUILD_TIMEOUT_SECONDS:g} s"
                if status is None
                else f"has ended ({describe_exit(status)})"
            )
            raise ValueError(f"cannot be built: {command!r} {what}{program.stderr_excerpt()}")
