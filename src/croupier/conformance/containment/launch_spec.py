"""What the tester asks the launcher to start. The launcher imports the standard library and this package only."""

import json
from dataclasses import asdict, dataclass, field
from typing import Final, Literal

type SandboxKind = Literal["none", "namespaces", "bubblewrap"]

HOME_FOLDER: Final = "home"
TEMPORARY_FOLDER: Final = "temporary"
"""The folders of a program, removed after its end."""

STDOUT_PIPE: Final = "stdout"
STDERR_PIPE: Final = "stderr"
STATUS_PIPE: Final = "status"
CONTROL_PIPE: Final = "control"
PIPE_NAMES: Final = (STDOUT_PIPE, STDERR_PIPE, STATUS_PIPE, CONTROL_PIPE)
"""The named pipes in the folder of a program. The supervisor opens and removes them before the program starts."""

TERMINATE: Final = b"T"
KILL: Final = b"K"
"""What the tester writes to the control pipe. Its end means KILL."""

STARTED: Final = "started"
FAILED: Final = "failed"
LIMIT: Final = "limit"
EXITED: Final = "exited"
"""The first word of each line in the status pipe: followed by the process id, the reason why the program cannot be
started, the limit that it has exceeded, and its exit status (−signal). The pipe ends with the last process."""

MEMORY_LIMIT_BYTES: Final = 2 << 30
WRITTEN_LIMIT_BYTES: Final = 1 << 30
PROCESS_LIMIT: Final = 256
CPU_LIMIT_SECONDS: Final = 1800


@dataclass(frozen=True, kw_only=True)
class Limits:
    """What a program may use together with everything that it starts.

    `memory_bytes` is memory in use, not address space: Go, Java and Node reserve much more than they use.
    `written_bytes` limits what is written to disk. No file may be larger than that or, if this is more, the memory of
    the machine. `cpu_seconds` limits each process.
    """

    memory_bytes: int = MEMORY_LIMIT_BYTES
    processes: int = PROCESS_LIMIT
    written_bytes: int = WRITTEN_LIMIT_BYTES
    cpu_seconds: int = CPU_LIMIT_SECONDS


@dataclass(frozen=True, kw_only=True)
class LaunchSpec:
    """A program to start. `folder` contains the named pipes; all paths are absolute and without symbolic links.

    Without `words` the supervisor prepares everything and starts nothing.
    """

    folder: str
    words: list[str]
    environment: dict[str, str]
    cwd: str
    limits: Limits = field(default_factory=Limits)
    sandbox: SandboxKind = "none"
    hidden_folders: list[str] = field(default_factory=list)

    def to_json(self) -> str:
        """One line of ASCII. Bytes of names that are not UTF-8 are kept."""
        return json.dumps(asdict(self))

    @classmethod
    def from_json(cls, line: str | bytes) -> "LaunchSpec":
        """Parse a line that `to_json` has made."""
        entries = json.loads(line)
        return cls(**{**entries, "limits": Limits(**entries["limits"])})
