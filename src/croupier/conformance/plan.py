"""The plan of a run of the tester: which program is tested, with which cases and settings."""

import shlex
from collections.abc import Sequence
from dataclasses import dataclass, field, fields, replace
from ssl import SSLContext
from typing import Any

from croupier.conformance.case import Case, select
from croupier.conformance.suite import Config, Role, Suite, find_suite
from croupier.core.room import Room


@dataclass(frozen=True, kw_only=True)
class Plan:
    """What to test, and how.

    A server is at `host` and `port`, or is started by `command` with a free `{port}` for each run; it is reached
    with TLS if there is `ssl`. A client is started by `command` for each case. If `deck_flag` (`--deck {file}`) is
    given, it is appended to the command of a server to make it deal from a file: cases that did not come up by
    chance are then tried once more, each with the deck of its transcript. `known_options` are the options of a
    client, or the settings of the house that a client is tested with. `selection` selects the cases. `arguments`
    are the command line arguments after the selection; they are part of the command that repeats a case.
    """

    room: Room
    role: Role
    selection: str
    host: str = "127.0.0.1"
    port: int = 0
    ssl: SSLContext | None = None
    command: str = ""
    deck_flag: str = ""
    known_options: Any = None
    strict: bool = False
    seed: int = 1
    timeout: float = 5.0
    max_failures: int | None = None
    arguments: Sequence[str] = field(default_factory=tuple)

    @property
    def target(self) -> str:
        """The tested command or address, for people."""
        return self.command or f"{self.host}:{self.port}"

    @property
    def repeat_template(self) -> str:
        """The command that repeats a case, with `{case}` in its place."""
        return f"croupier check {{case}} {shlex.join(self.arguments)}".rstrip()

    @property
    def suite(self) -> Suite:
        """The cases of the room for the role."""
        return find_suite(self.room, self.role)

    @property
    def given_dialect(self) -> str:
        """The dialect of the room that the program is said to speak, empty if that is the default."""
        options = self.known_options
        if not hasattr(options, "dialect"):
            return ""
        return "" if options.dialect == type(options)().dialect else str(options.dialect)

    def in_dialect(self, dialect: str) -> "Plan":
        """Return the same plan for a program that speaks a dialect of the room, the default one if it is empty."""
        options = self.known_options
        if options is None:
            kinds = (self.room.options, self.room.settings) if self.role == "server" else (self.room.settings,)
            options = next(kind for kind in kinds if any(each.name == "dialect" for each in fields(kind)))()
        return replace(self, known_options=replace(options, dialect=dialect or type(options)().dialect))

    @property
    def cases(self) -> Sequence[Case]:
        """The selected cases, in the order in which they run. Raises ValueError if there are none."""
        return sorted(select(self.suite.cases, self.selection), key=lambda case: case.rank)

    @property
    def config(self) -> Config:
        """What a bench is set up with."""
        return Config(
            command=self.command if self.role == "client" else "",
            known_options=self.known_options,
            strict=self.strict,
            seed=self.seed,
            timeout=self.timeout,
            ssl=self.ssl,
        )
