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

from croupier.cli.output import fail, print_error
from croupier.cli.play import SummaryNouns, bot_luck, list_bots, print_summary
from croupier.clients.play import BotTally
from croupier.core.bots import bot_factory
from croupier.core.errors import Violation
from croupier.net.event_loop import run
from croupier.rooms.holdem import ROOM
from croupier.rooms.holdem.wire import Dialect

if TYPE_CHECKING:  # what speaks HTTP is imported when it is needed: help comes at once
    from croupier.clients.holdem import HoldemClient

SERVER = Group("Server", sort_key=1)
BOT = Group("Bot", sort_key=2)

SUMMARY_NOUNS: Final = SummaryNouns("hand", "chip", "seat")
"""What a summary counts."""

PERSON_RETRY_TIMEOUT_SECONDS: Final = 5.0
BOT_RETRY_TIMEOUT_SECONDS: Final = 30.0
"""For how many seconds a server may be gone."""


@dataclass(frozen=True)
class LoginOptions:
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
class HoldemBotOptions:
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


def play_holdem(
    url: Annotated[
        str, Parameter(name="URL", help="The server: http://HOST:PORT, https://HOST:PORT or HOST:PORT.")
    ] = f"http://127.0.0.1:{ROOM.port}",
    /,
    *,
    login: Annotated[LoginOptions, Parameter(name="*", group=SERVER)] = LoginOptions(),
    bot_options: Annotated[HoldemBotOptions, Parameter(name="*", group=BOT)] = HoldemBotOptions(),
) -> int:
    """Play no-limit hold'em."""
    if bot_options.bot == "help":
        return list_bots(ROOM)
    from croupier.clients.holdem_api import Refusal
    from croupier.clients.identify import OtherProtocol

    try:
        return _play(url, login, bot_options)
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


def _play(url: str, login: LoginOptions, robot: HoldemBotOptions) -> int:
    """Play; the exit status. Raises ValueError, OSError, Refusal or Violation on what makes that impossible."""
    from croupier.clients.holdem import HoldemClient, server_address, with_scheme
    from croupier.clients.identify import await_first_answer

    terminal = sys.stdin.isatty() and sys.stdout.isatty()
    human = robot.bot is None and terminal
    if robot.hands < 1:
        raise ValueError(f"found {robot.hands} hands; allowed: 1 or more")
    name = robot.bot or ROOM.default_bot
    mind = bot_factory(ROOM.bots, name)()
    context = None if login.tls_ca is None else ssl.create_default_context(cafile=login.tls_ca)
    at = server_address(url)
    probing = (context or ssl.create_default_context()) if with_scheme(url).startswith("https:") else None
    user, password = _ask_credentials(login, terminal=terminal)
    game = None if login.game is None else quote(login.game, safe="")

    async def play_yourself() -> int:
        from croupier.tui.holdem import interact

        async with HoldemClient(
            url, user, password, ssl=context, retry_timeout=PERSON_RETRY_TIMEOUT_SECONDS, dialect=login.dialect
        ) as client:
            await await_first_answer(authenticate(client, user, password), ROOM, at, probing, print_error)
            return await interact(client, game, url)

    async def let_play(tally: BotTally) -> None:
        from croupier.clients.holdem import play_hands

        async with HoldemClient(
            url, user, password, ssl=context, retry_timeout=BOT_RETRY_TIMEOUT_SECONDS, dialect=login.dialect
        ) as client:
            await await_first_answer(authenticate(client, user, password), ROOM, at, probing, print_error)
            chance = bot_luck(ROOM, robot.seed)
            await play_hands(client, mind, chance, robot.hands, rebuy=robot.rebuy, game=game, tally=tally)

    if human:
        return run(play_yourself())
    tally, started = BotTally(), perf_counter()
    interrupted = False
    try:
        run(let_play(tally))
    except KeyboardInterrupt:  # a bot waits as long as it is alone
        interrupted = True
    status = print_summary(tally, name, url, None if robot.json else perf_counter() - started, SUMMARY_NOUNS)
    if interrupted:
        raise KeyboardInterrupt
    return status


def _ask_credentials(login: LoginOptions, *, terminal: bool) -> tuple[str, str]:
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


async def authenticate(client: "HoldemClient", user: str, password: str) -> None:
    """Become a user, unless it is one, and find out whether the password is right: at once, without patience.

    Raises Refusal, Violation or ConnectionError.
    """
    from croupier.clients.holdem_api import HoldemApi

    errands = HoldemApi(user, password, retry_timeout=0.0)
    await client.run(errands.register())
    await client.run(errands.list_games())
    await client.register()
