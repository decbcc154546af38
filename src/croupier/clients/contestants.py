"""What `--bot` names: a built-in bot, a class in a Python file, a program of any language, or the address of one."""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any, Final, Literal

from croupier.core.bot_files import BotFile
from croupier.core.bots import Bot, bot_factory
from croupier.core.command_line import split_command
from croupier.core.python_files import is_file
from croupier.core.room import Room
from croupier.net.addresses import parse_address
from croupier.rooms import ROOMS

type ContestantKind = Literal["built-in", "file", "command", "address"]

HOUSE_PLACEHOLDERS: Final = ("host", "port")

PLACEHOLDERS: Final[Mapping[str, Sequence[str]]] = {
    "holdem": ("url", *HOUSE_PLACEHOLDERS, "user", "password", "game"),
    "oldmaid": (*HOUSE_PLACEHOLDERS, "nick"),
}
"""See `placeholders`; other rooms have `HOUSE_PLACEHOLDERS`."""

COMMAND_PATTERN: Final = re.compile(r"\s|\{[A-Za-z_]\w*\}")
"""What a text contains that is a command: a blank, or a name in braces."""

ADDRESS_PATTERN: Final = re.compile(r"https?://\S+|(localhost|\[[0-9a-fA-F:.]+\]|[\w-]+(\.[\w-]+)+|):\d+")
"""A URL, or HOST:PORT. A host without a dot needs a URL: `tigth:8` is a misspelt bot and no address."""


@dataclass(frozen=True)
class Contestant:
    """A bot as its user names it. It can be pickled: the process that plays makes the bot.

    `room` is the name of the room, and `text` is what the user wrote.
    """

    room: str
    text: str
    kind: ContestantKind
    bot_name: str = ""
    """For a built-in bot or a file: `text`, with the absolute path of the file."""

    @property
    def is_program(self) -> bool:
        """Whether it plays over a connection: a command, or an address."""
        return not self.bot_name

    def make(self) -> Bot[Any, Any]:
        """A new bot; built-in bots without memory may be shared.

        Raises ValueError for a command or an address, which play over a connection, and if the file makes no bot in
        this process.
        """
        if not self.bot_name:
            raise ValueError(f"found the bot {self.text!r} ({self.kind}); allowed: a built-in bot, FILE.py:CLASS")
        return _factory(self.room, self.bot_name)()

    @property
    def program(self) -> str:
        """The program that a command starts."""
        return self.command(dict.fromkeys(placeholders(self.room), ""))[0]

    def command(self, values: Mapping[str, object]) -> Sequence[str]:
        """The program of a command and its arguments, with the placeholders filled in from `values`."""
        assert self.kind == "command", f"found a {self.kind}; allowed: a command"
        return split_command(self.text, values)


@cache
def _factory(room: str, bot_name: str) -> Callable[[], Bot[Any, Any]]:
    """Made once in each process: a built-in bot may compute tables, and a file has to be run."""
    return bot_factory(ROOMS[room].bots, bot_name)


def placeholders(room: str) -> Sequence[str]:
    """The names in braces that are filled in in the command of a player of a room."""
    return PLACEHOLDERS.get(room, HOUSE_PLACEHOLDERS)


def parse_contestant(room: Room, text: str, *, allows_address: bool = True) -> Contestant:
    """Parse the name of a bot: a built-in `NAME[:ARGUMENT]`, `FILE.py:CLASS[:ARGUMENT]`, a command, or an address.

    A command contains a blank or a name in braces, and speaks the room's own protocol: `mybot -s {host} -p {port}`.
    An address is a URL or HOST:PORT; a host name without a dot needs a URL.

    Raises ValueError if there is no such bot, if it cannot be made, or if it is an address that is not allowed.
    """
    if text.partition(":")[0] in room.bots:
        bot_factory(room.bots, text)
        return Contestant(room.name, text, "built-in", text)
    file = BotFile.parse(text)
    if file is not None and (is_file(file.path) or not COMMAND_PATTERN.search(str(file.path))):
        bot_factory(room.bots, text)
        return Contestant(room.name, text, "file", str(file._replace(path=file.path.resolve())))
    if COMMAND_PATTERN.search(text):
        split_command(text, dict.fromkeys(placeholders(room.name)))
        return Contestant(room.name, text, "command")
    if ADDRESS_PATTERN.fullmatch(text):
        if not allows_address:
            found = f"found the bot {text!r}, an address; allowed: a bot of ours, or a command with {{port}}"
            raise ValueError(f"{found} (docs/bots.md, What --bot takes)")
        if room.name != "holdem" or "://" not in text:
            parse_address(text)
        return Contestant(room.name, text, "address")
    allowed = [*room.bots, "FILE.py:CLASS", "'COMMAND -s {host} -p {port}'", *["HOST:PORT"] * allows_address]
    raise ValueError(f"found the bot {text!r}; allowed: {', '.join(allowed)}")


def parse_player(room: Room, name: str) -> Contestant:
    """Parse the name of a bot that can play at a server. Raises ValueError."""
    return parse_contestant(room, name, allows_address=False)
