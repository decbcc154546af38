"""Programs as students would write them, in plain Python: correct ones, and variants that each break one rule.

Each runs as a process and uses a real socket. `command` returns the command that starts one; servers take `{port}`,
clients `{host}` and `{port}`.
"""

import shlex
import sys
from pathlib import Path

FOLDER = Path(__file__).parent


def command(room: str, role: str, habit: str = "honest", *flags: object) -> str:
    """Return the command of a program: `command("kuhn", "client", "quotes")`."""
    parts = [sys.executable, "-S", str(FOLDER / f"{room}_{role}.py")]
    parts += ["{host}", "{port}"] if role == "client" else ["{port}"]
    return " ".join([*map(shlex.quote, parts[:3]), *parts[3:], "--habit", habit, *map(str, flags)])
