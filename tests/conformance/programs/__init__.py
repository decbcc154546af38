"""Programs of students, in plain Python: honest ones, and rogues that each break one rule.

Each is a process of its own that speaks on a real socket. `command` is the line that starts one; servers take `{port}`,
clients `{host}` and `{port}`.
"""

import shlex
import sys
from pathlib import Path

FOLDER = Path(__file__).parent


def command(room: str, role: str, habit: str = "honest", *flags: object) -> str:
    """The command line of a program: `command("kuhn", "client", "quotes")`."""
    words = [sys.executable, "-I", "-S", str(FOLDER / f"{room}_{role}.py")]
    words += ["{host}", "{port}"] if role == "client" else ["{port}"]
    return " ".join([*map(shlex.quote, words[:4]), *words[4:], "--habit", habit, *map(str, flags)])
