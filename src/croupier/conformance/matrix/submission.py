"""A student's submission: a folder that says how to build it and how to start its server and its client."""

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
"""The roles, and the names in braces that their commands may contain."""

IGNORED_PATTERNS: Final = ("__pycache__", ".*")
"""Files that do not belong to a submission."""

BUILD_TIMEOUT_SECONDS: Final = 120.0
"""How long a build command may take."""

ALLOWED_KEYS: Final = "name, build, room, server, client, or a table for each room"


class Submission(Struct, frozen=True):
    """A submission. `id` is the name of its folder, `digest` a hash of its content.

    `commands` maps rooms to the command of each role (server, client). `fault` says what is wrong if the submission
    cannot be used at all.
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
        """Whether it is our own house and client."""
        return self.folder is None

    def command(self, room: str, role: str) -> str | None:
        """The command of its server or client; None if there is none."""
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
    """Load all submissions in a folder, sorted by name, except `out`. Raises ValueError if there are none.

    A folder that cannot be used becomes a submission with a fault.
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
    """Load the submission in a folder."""
    error_text = digest = ""
    entries: dict[str, Any] = {}
    try:
        digest = folder_digest(folder)
        entries = tomllib.loads((folder / SUBMISSION_FILE).read_text(encoding="utf-8"))
        commands, build = _commands(entries), _build(entries)
    except FileNotFoundError:
        error_text = f"found no {SUBMISSION_FILE}; allowed: one in its folder"
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError, ValueError) as error:
        error_text = f"{SUBMISSION_FILE}: {error}"
    name = entries.get("name", folder.name)
    if error_text or not isinstance(name, str):
        error_text = error_text or f"{SUBMISSION_FILE}: found the name {name!r}; allowed: a text"
        return Submission(folder.name, folder.name, folder, digest, fault=error_text)
    return Submission(folder.name, name, folder, digest, commands, build)


def folder_digest(folder: Path) -> str:
    """Return a hash of the names and contents of all files in a folder, in hex."""
    digest = sha256()
    for path in sorted(folder.rglob("*")):
        parts = path.relative_to(folder).parts
        if path.is_file() and not any(part == "__pycache__" or part.startswith(".") for part in parts):
            content = path.read_bytes()
            digest.update(f"{'/'.join(parts)}\0{len(content)}\0".encode(errors="surrogateescape"))
            digest.update(content)
    return digest.hexdigest()


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
            raise ValueError(f"found the {role} {command!r}; allowed: a command")  # noqa: TRY004 -- an error of the file, not of a type
        if room in HOUSE_ROOMS:
            split_command(command, ROLE_PLACEHOLDERS[role])
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
        shutil.rmtree(target, ignore_errors=True)
        build_folder.mkdir(parents=True, exist_ok=True)
        try:
            ignored = shutil.ignore_patterns(*IGNORED_PATTERNS)
            await asyncio.to_thread(shutil.copytree, submission.folder, target, symlinks=True, ignore=ignored)
        except (OSError, shutil.Error) as error:
            raise ValueError(f"cannot be copied: {error}") from None
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
