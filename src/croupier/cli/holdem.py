"""`croupier play holdem`: a person or a bot at a table of a hold'em server."""

import ssl
import sys
from dataclasses import dataclass
from getpass import getpass
from http import HTTPStatus
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, Annotated, Final
from urllib.parse import quote

from cyclopts import Group, Parameter

from croupier.cli.output import complain, fail
from croupier.cli.play import Words, list_bots, luck, sum_up
from croupier.clients.play import Tally
from croupier.core.bots import mind_named
from croupier.core.errors import Violation
from croupier.net.event_loop import run
from croupier.rooms.holdem import ROOM
from croupier.rooms.holdem.wire import Dialect

if TYPE_CHECKING:  # what speaks HTTP is imported when it is needed: help comes at once
    from croupier.clients.holdem import Client

SERVER = Group("Server", sort_key=1)
BOT = Group("Bot", sort_key=2)

WORDS: Final = Words("hand", "chip", "seat")
"""What a summary counts."""

PERSON_PATIENCE: Final = 5.0
BOT_PATIENCE: Final = 30.0
"""For how many seconds a server may be gone."""


@dataclass(frozen=True)
class Login:
    """Who comes to which table."""

    user: Annotated[str | None, Parameter(name=("--user", "-u"))] = None
    """The name to play with. It becomes a user of the server, unless it is one."""

    password: str | None = None
    """Its password. A terminal is asked for it; CROUPIER_PLAY_HOLDEM_PASSWORD keeps it off the command line."""

    game: str | None = None
    """The GUID of the game to join. [default: one with a free seat]"""

    dialect: Dialect | None = None
    """What the server speaks. [default: as its answers show]"""

    tls_ca: Path | None = None
    """Trust the authority in this PEM file, for an address that begins with https."""


@dataclass(frozen=True)
class Robot:
    """How a bot plays. Without --bot, and with a terminal on both ends, a person plays."""

    bot: str | None = None
    """The bot's mind; `croupier play holdem --bot help` lists them."""

    hands: Annotated[int, Parameter(name=("--hands", "-n"))] = 1000
    """How many hands it plays."""

    rebuy: bool = True
    """Join again when it has no chips or no time left; otherwise it ends there."""

    seed: int | None = None
    """Fixes its luck."""

    json: bool = False
    """Print the summary as JSON."""


def visit_holdem(
    url: Annotated[
        str, Parameter(name="URL", help="The server: http://HOST:PORT, https://HOST:PORT or HOST:PORT.")
    ] = f"http://127.0.0.1:{ROOM.port}",
    /,
    *,
    login: Annotated[Login, Parameter(name="*", group=SERVER)] = Login(),
    robot: Annotated[Robot, Parameter(name="*", group=BOT)] = Robot(),
) -> int:
    """Play no-limit hold'em."""
    if robot.bot == "help":
        return list_bots(ROOM)
    from croupier.clients.holdem_api import Refusal
    from croupier.clients.identify import OtherProtocol

    try:
        return _visit(url, login, robot)
    except Refusal as refusal:
        if refusal.status == HTTPStatus.UNAUTHORIZED:
            return fail(f"{url} knows this user by another password")
        return fail(f"{url} refuses: {refusal}")
    except Violation as violation:
        return fail(f"{url} breaks the protocol: {violation}")
    except OtherProtocol as error:
        return fail(error)
    except ConnectionError as error:
        return fail(f"{url}: {error}")
    except (ValueError, OSError) as error:
        return fail(error)


def _visit(url: str, login: Login, robot: Robot) -> int:
    """Play; the exit status. Raises ValueError, OSError, Refusal or Violation on what makes that impossible."""
    from croupier.clients.holdem import Client, located, place
    from croupier.clients.identify import arrive

    terminal = sys.stdin.isatty() and sys.stdout.isatty()
    human = robot.bot is None and terminal
    if robot.hands < 1:
        raise ValueError(f"found {robot.hands} hands; allowed: 1 or more")
    name = robot.bot or ROOM.style
    mind = mind_named(ROOM.styles, name)()
    context = None if login.tls_ca is None else ssl.create_default_context(cafile=login.tls_ca)
    at = place(url)
    probing = (context or ssl.create_default_context()) if located(url).startswith("https:") else None
    user, password = _credentials(login, terminal=terminal)
    game = None if login.game is None else quote(login.game, safe="")

    async def play_yourself() -> int:
        from croupier.tui.holdem import person

        async with Client(url, user, password, ssl=context, patience=PERSON_PATIENCE, dialect=login.dialect) as client:
            await arrive(knock(client, user, password), ROOM, at, probing, complain)
            return await person(client, game, url)

    async def let_play(tally: Tally) -> None:
        from croupier.clients.holdem import play

        async with Client(url, user, password, ssl=context, patience=BOT_PATIENCE, dialect=login.dialect) as client:
            await arrive(knock(client, user, password), ROOM, at, probing, complain)
            chance = luck(ROOM, robot.seed)
            await play(client, mind, chance, robot.hands, rebuy=robot.rebuy, game=game, tally=tally)

    if human:
        return run(play_yourself())
    tally, started = Tally(), perf_counter()
    interrupted = False
    try:
        run(let_play(tally))
    except KeyboardInterrupt:  # a bot waits as long as it is alone
        interrupted = True
    status = sum_up(tally, name, url, None if robot.json else perf_counter() - started, WORDS)
    if interrupted:
        raise KeyboardInterrupt
    return status


def _credentials(login: Login, *, terminal: bool) -> tuple[str, str]:
    """Name and password; a terminal is asked for what is missing. Raises ValueError where there is none."""
    user, password = login.user, login.password
    try:
        if user is None and terminal:
            user = input("Name: ")
        if password is None and terminal:
            password = getpass(f"Password of {user}: ")
    except EOFError:
        raise ValueError("found no name or password; allowed: to type them") from None
    if user is None or password is None:
        raise ValueError("found no name or no password; allowed: --user and CROUPIER_PLAY_HOLDEM_PASSWORD")
    return user, password


async def knock(client: "Client", user: str, password: str) -> None:
    """Become a user, unless it is one, and find out whether the password is right: at once, without patience.

    Raises Refusal, Violation or ConnectionError.
    """
    from croupier.clients.holdem_api import Errands

    errands = Errands(user, password, patience=0.0)
    await client.run(errands.enrol())
    await client.run(errands.games())
    await client.enrol()
