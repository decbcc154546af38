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

MEBIBYTE: Final = 1 << 20


@dataclass(frozen=True, kw_only=True)
class Limits:
    """What a program may use together with everything that it starts.

    Its memory is what is in use, not address space: Go, Java and Node reserve much more than they use. No file may be
    larger than what may be written or, if this is more, the memory of the machine.
    """

    max_memory_mib: int = 2048
    """Memory that a program and its child processes may use, in MiB."""

    max_processes: int = 256
    """Processes that a program may have."""

    max_written_mib: int = 1024
    """Data that a program may write to disk, in MiB."""

    max_cpu_seconds: int = 1800
    """Processor time of each process, in seconds."""


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
