"""Bugs as students write them, each a small change to the source of a program in `strangers`.

A file PROGRAM.toml has a table for each bug:

| Key | |
|---|---|
| `mistake` | what is wrong, for people |
| `clauses` | the clauses that a teacher would name |
| `tester` | more options for `croupier check`, optional |
| `change` | the changes: `old` stands once in the program, or in the module of that folder that `file` names |
"""

import tomllib
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any, Final, NamedTuple

from tests.conformance.simulation.programs import program_sources

FOLDER: Final = Path(__file__).parent
PROGRAMS: Final = tuple(sorted(file.stem for file in FOLDER.glob("*.toml")))
"""The programs with bugs, as ROOM_ROLE."""


class Change(NamedTuple):
    """The text `old` of a file becomes `new`."""

    file: str
    old: str
    new: str


class Bug(NamedTuple):
    """A mistake in a program, and the clauses that it breaks."""

    program: str
    name: str
    mistake: str
    clauses: Sequence[str]
    changes: Sequence[Change]
    tester_options: Sequence[str]

    @property
    def room(self) -> str:
        """The room of the program."""
        return self.program.partition("_")[0]

    @property
    def role(self) -> str:
        """What the program is: server, client, table or player."""
        return self.program.partition("_")[2]


@cache
def bugs(program: str) -> tuple[Bug, ...]:
    """Return the bugs of a program."""
    with (FOLDER / f"{program}.toml").open("rb") as file:
        tables = tomllib.load(file)
    return tuple(_bug(program, name, table) for name, table in tables.items())


def _bug(program: str, name: str, table: Mapping[str, Any]) -> Bug:
    changes = [Change(f"{change.get('file', program)}.py", change["old"], change["new"]) for change in table["change"]]
    return Bug(program, name, table["mistake"], table["clauses"], changes, table.get("tester", ()))


def faulty_sources(bug: Bug) -> dict[str, str]:
    """Return all sources, with the bug in one of them or in several."""
    sources = dict(program_sources())
    for change in bug.changes:
        count = sources[change.file].count(change.old)
        if count != 1:
            raise ValueError(f"{bug.program} {bug.name}: found {count} times in {change.file}: {change.old}")
        sources[change.file] = sources[change.file].replace(change.old, change.new)
    return sources
