"""What a program under test is given and what it may use."""

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from croupier.conformance.containment.launch_spec import Limits

PASSED_VARIABLES: Final = (
    "PATH",
    "LANG",
    "LC_ALL",
    "LC_CTYPE",
    "TZ",
    "JAVA_HOME",
    "DOTNET_ROOT",
    "GOROOT",
    "PYENV_ROOT",
    "CARGO_HOME",
    "RUSTUP_HOME",
)
"""The variables of the tester that a program receives if they are set: what is needed to run its language."""

TOOLCHAIN_FOLDERS: Final[Mapping[str, str]] = {"CARGO_HOME": ".cargo", "RUSTUP_HOME": ".rustup"}
"""Variables of toolchains that look for themselves in the home folder, and where: a program has another home."""


@dataclass(frozen=True, kw_only=True)
class Containment:
    """How programs under test are contained.

    `variables` are passed in addition to `PASSED_VARIABLES`. With `is_sandboxed`, a program can write to its working
    folder and its temporary folders only, sees no other processes, and finds `hidden_folders` empty, except for what is
    writable in them. Where the machine has no sandbox, the program runs without one.
    """

    limits: Limits = field(default_factory=Limits)
    variables: Mapping[str, str] = field(default_factory=dict)
    is_sandboxed: bool = False
    hidden_folders: tuple[Path, ...] = ()


UNSANDBOXED: Final = Containment()
_CURRENT: Final[ContextVar[Containment]] = ContextVar("containment", default=UNSANDBOXED)


def current_containment() -> Containment:
    """The containment of programs that are started now."""
    return _CURRENT.get()


@contextmanager
def contained(containment: Containment) -> Iterator[None]:
    """Contain the programs that are started inside the block, and by tasks that are created there, like this."""
    token = _CURRENT.set(containment)
    try:
        yield
    finally:
        _CURRENT.reset(token)


def program_environment(variables: Mapping[str, str], home: Path, temporary: Path) -> dict[str, str]:
    """The whole environment of a program with these folders; `variables` take precedence."""
    toolchains = {
        name: str(Path.home() / folder) for name, folder in TOOLCHAIN_FOLDERS.items() if (Path.home() / folder).is_dir()
    }
    passed = {name: os.environ[name] for name in PASSED_VARIABLES if name in os.environ}
    return {**toolchains, **passed, "HOME": str(home), "TMPDIR": str(temporary), **variables}
