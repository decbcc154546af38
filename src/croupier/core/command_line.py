"""Command lines of programs, with placeholders for the address of a server, and how programs end."""

import re
import shlex
import signal
from collections.abc import Mapping
from typing import Final

PLACEHOLDER_PATTERN: Final = re.compile(r"\{([A-Za-z_]\w*)\}")
"""A name in braces. Any other text in braces is passed to the program as it is."""


def split_command(command: str, values: Mapping[str, object]) -> list[str]:
    """Split a command line as a POSIX shell does, with `{host}` and the like filled in; nothing else is expanded.

    Raises ValueError on an empty command, an unclosed quote, and a name in braces that is not in `values`.

    Example:
        >>> split_command("./server --port {port}", {"port": 1212})
        ['./server', '--port', '1212']
    """
    try:
        words = shlex.split(command)
    except ValueError as error:
        raise ValueError(f"found {command!r} ({error}); allowed: a command line with every quote closed") from None
    if not words:
        raise ValueError("found an empty command; allowed: a program and its arguments")

    def value(name: re.Match[str]) -> str:
        if name[1] not in values:
            allowed = ", ".join(f"{{{known}}}" for known in values) or "no braces"
            raise ValueError(f"found {name[0]} in {command!r}; allowed: {allowed}")
        return str(values[name[1]])

    return [PLACEHOLDER_PATTERN.sub(value, word) for word in words]


def describe_exit(status: int) -> str:
    """Describe an exit status in words: the name of the signal if one ended the program.

    Example:
        >>> describe_exit(3), describe_exit(-11)
        ('exit status 3', 'SIGSEGV')
    """
    if status >= 0:
        return f"exit status {status}"
    try:
        return signal.Signals(-status).name
    except ValueError:  # a real-time signal
        return f"signal {-status}"
