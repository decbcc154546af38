"""`croupier play holdem`: play hold'em at a server, in the terminal or with a bot."""

import ssl
import sys
from collections.abc import AsyncIterator, Callable, Coroutine
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass
from getpass import getpass
from http import HTTPStatus
from pathlib import Path
from time import time
from typing import TYPE_CHECKING, Annotated, Any, Final
from urllib.parse import quote

from cyclopts import Group, Parameter

from croupier.cli.bot_programs import play_with_programs
from croupier.cli.options import check_minimum
from croupier.cli.output import fail, print_error
from croupier.cli.play import (
    PERSON,
    PersonOptions,
    SummaryNouns,
    TableBotOptions,
    list_bots,
    print_summary,
    run_bots,
)
from croupier.clients.contestants import parse_player
from croupier.clients.luck import make_luck, new_login
from croupier.clients.play import BotTally
from croupier.clients.tls import TlsOptions
from croupier.core.errors import Violation
from croupier.core.presentation import Text
from croupier.net.event_loop import run
from croupier.rooms.holdem import ROOM
from croupier.rooms.holdem.wire import Dialect, Guid

if TYPE_CHECKING:  # the HTTP client is imported on demand, which keeps --help fast
    from croupier.clients.holdem import HoldemClient
    from croupier.clients.server_url import ServerUrl

    type Login = AbstractAsyncContextManager[HoldemClient]

SERVER = Group("Server", sort_key=1)
BOT = Group("Bot", sort_key=4)

SUMMARY_NOUNS: Final = SummaryNouns("hand", "chip", "seat")
"""The nouns of a summary."""

PERSON_RETRY_TIMEOUT_SECONDS: Final = 5.0
BOT_RETRY_TIMEOUT_SECONDS: Final = 30.0
"""How long a client keeps trying to reach a server that does not respond."""


DEFAULT_URL: Final = f"http://127.0.0.1:{ROOM.port}"

type UrlArgument = Annotated[
    str, Parameter(name="URL", help="Server: http://HOST:PORT, https://HOST:PORT or HOST:PORT.")
]


@dataclass(frozen=True)
class LoginOptions:
    """The user, and the game to join."""

    user: Annotated[str | None, Parameter(name=("--user", "-u"))] = None
    """Username. Registered at the server if it is new. [default: prompt; a new one for bots]"""

    password: str | None = None
    """Password. [default: prompt] CROUPIER_PLAY_HOLDEM_PASSWORD keeps it off the command line."""

    game: str | None = None
    """GUID of the game to join. [default: one with a free seat]"""

    dialect: Dialect | None = None
    """Protocol dialect of the server. [default: detected]"""

    tls_ca: Path | None = None
    """PEM file with the certificate authority to trust, for https URLs."""


@dataclass(frozen=True)
class HoldemBotOptions(TableBotOptions):
    """How a bot plays at a table."""

    hands: Annotated[int, Parameter(name=("--hands", "-n"))] = 1000
    """Number of hands to play."""

    rebuy: bool = True
    """Join again after losing the seat, out of chips or of time."""


def play_holdem(
    url: UrlArgument = DEFAULT_URL,
    /,
    *,
    login: Annotated[LoginOptions, Parameter(name="*", group=SERVER)] = LoginOptions(),
    person: Annotated[PersonOptions, Parameter(name="*", group=PERSON)] = PersonOptions(),
    bot_options: Annotated[HoldemBotOptions, Parameter(name="*", group=BOT)] = HoldemBotOptions(),
) -> int:
    """Play no-limit hold'em."""
    if bot_options.bot == "help":
        return list_bots(ROOM)
    return explain_errors(url, lambda: _play(url, login, person, bot_options))


def watch_holdem(
    url: UrlArgument = DEFAULT_URL,
    /,
    *,
    game: str | None = None,
    tls_ca: Path | None = None,
    person: Annotated[PersonOptions, Parameter(name="*", group=PERSON)] = PersonOptions(),
) -> int:
    """Watch a table of no-limit hold'em, as everybody may see it.

    Parameters
    ----------
    game:
        GUID of the game to watch. [default: the one with the most players]
    tls_ca:
        PEM file with the certificate authority to trust, for https URLs.
    """
    return explain_errors(url, lambda: run(_watch(url, game, tls_ca, plain=person.is_plain())))


def explain_errors(url: str, command: Callable[[], int]) -> int:
    """Return the exit status of a command; an error of the server at a URL is printed, and the status is 1."""
    from croupier.clients.holdem_api import Refusal
    from croupier.clients.identify import OtherProtocol

    try:
        return command()
    except Refusal as refusal:
        if refusal.status == HTTPStatus.UNAUTHORIZED:
            return fail(f"{url}: wrong password for this user")
        return fail(f"{url} refused the request: {refusal}")
    except Violation as violation:
        return fail(f"{url} broke the protocol: {violation}")
    except (OtherProtocol, BrokenPipeError):  # the latter is of the output: a client names errors of the server itself
        raise
    except ConnectionError as error:
        return fail(f"{url}: {error}")


async def _await_first_answer[T](
    coroutine: Coroutine[Any, Any, T], server: "ServerUrl", context: ssl.SSLContext | None
) -> T:
    """Await a coroutine that talks to a server, with the TLS context `context` if any; see `await_first_answer`."""
    from croupier.clients.identify import await_first_answer

    probe_context = (context or ssl.create_default_context()) if server.is_tls else None
    return await await_first_answer(coroutine, ROOM, server.address, probe_context, print_error)


def _play(url: str, login: LoginOptions, person: PersonOptions, bot_options: HoldemBotOptions) -> int:
    """Play and return the exit status. Raises ValueError, OSError, Refusal or Violation."""
    from croupier.clients.holdem import HoldemClient, play_hands
    from croupier.clients.server_url import parse_url, with_scheme

    check_minimum(1, hands=bot_options.hands, wait=bot_options.wait)
    bot_options.check_bot_is_named()
    contestant = None if bot_options.bot is None else parse_player(ROOM, bot_options.bot)
    context, server = TlsOptions(tls_ca=login.tls_ca).ssl_context(), parse_url(url)
    if contestant is not None and login.user is None and login.password is None:
        user, password = new_login()
    else:
        user, password = _ask_credentials(login, terminal=sys.stdin is not None and sys.stdin.isatty())
    game = None if login.game is None else quote(login.game, safe="")

    @asynccontextmanager
    async def log_in() -> AsyncIterator[HoldemClient]:
        timeout = PERSON_RETRY_TIMEOUT_SECONDS if contestant is None else BOT_RETRY_TIMEOUT_SECONDS
        async with HoldemClient(
            url, user, password, ssl=context, retry_timeout=timeout, dialect=login.dialect
        ) as client:
            await _await_first_answer(authenticate(client, user, password), server, context)
            yield client

    if contestant is None:
        return run(_play_yourself(log_in(), url, game, plain=person.is_plain()))
    if contestant.kind == "command":
        bot_options.check_program()
        values = {"url": with_scheme(url), "host": server.host, "port": server.port, "user": user, "password": password}
        command = contestant.command(values if game is None else values | {"game": game})
        run(_register(log_in()))
        return play_with_programs(contestant.text, [command], url, as_json=bot_options.json)
    bot, tally = contestant.make(), BotTally()

    async def play() -> None:
        luck = make_luck(bot_options.seed, f"{ROOM.name} bot")
        async with log_in() as client:
            await play_hands(
                client,
                bot,
                luck,
                bot_options.hands,
                rebuy=bot_options.rebuy,
                game=game,
                tally=tally,
                wait_seconds=bot_options.wait,
                notify=lambda notice: print_error(f"{notice} (Ctrl-C ends)"),
            )

    def report(seconds: float) -> int:
        return print_summary(tally, contestant.text, url, seconds, SUMMARY_NOUNS, as_json=bot_options.json)

    return run_bots(play(), report)


async def _register(login: "Login") -> None:
    """Register the user for a program, as `croupier check` does, and check the password."""
    async with login:
        pass


async def _play_yourself(login: "Login", url: str, game: Guid | None, *, plain: bool) -> int:
    """Let a person play in the terminal and return the exit status."""
    from croupier.tui.holdem_seat import HoldemTableSeat, clock_offset
    from croupier.tui.interaction import interact

    async with login as client:
        offset = await clock_offset(client, time)

        def open_seat(_: Callable[[Text], None]) -> HoldemTableSeat:
            return HoldemTableSeat(client.sit(game), lambda: time() + offset)

        return await interact(ROOM.load_extra("presenter")(), open_seat, url, plain=plain)


async def _watch(url: str, game: str | None, tls_ca: Path | None, *, plain: bool) -> int:
    """Let a person watch a table and return the exit status. Raises ConnectionError if there is none."""
    from croupier.clients.game_watcher import GameWatcher
    from croupier.clients.holdem import HoldemClient
    from croupier.clients.server_url import parse_url
    from croupier.tui.holdem_seat import clock_offset
    from croupier.tui.interaction import interact
    from croupier.tui.watcher import WatcherPlace, WatchingPresenter

    context = TlsOptions(tls_ca=tls_ca).ssl_context()
    async with HoldemClient(url, "", "", ssl=context, retry_timeout=PERSON_RETRY_TIMEOUT_SECONDS) as client:
        games = await _await_first_answer(client.list_games(), parse_url(url), context)
        if game is None and not games:
            raise ConnectionError("there is no game to watch; `croupier play holdem` begins one")
        watched = max(games, key=lambda each: len(each.table)).game_id if game is None else quote(game, safe="")
        offset = await clock_offset(client, time)

        def open_place(_: Callable[[Text], None]) -> WatcherPlace:
            return WatcherPlace(GameWatcher(client, watched), lambda: time() + offset)

        return await interact(WatchingPresenter(), open_place, url, plain=plain)


def _ask_credentials(login: LoginOptions, *, terminal: bool) -> tuple[str, str]:
    """Return username and password, prompting for missing ones on a terminal. Raises ValueError if one is missing."""
    user, password = login.user, login.password
    try:
        if user is None and terminal:
            user = input("Name: ")
        if password is None and terminal:
            password = getpass(f"Password of {user}: ")
    except EOFError:
        raise ValueError("username and password are required") from None
    if user is None or password is None:
        raise ValueError("username and password are required; set --user and CROUPIER_PLAY_HOLDEM_PASSWORD")
    return user, password


async def authenticate(client: "HoldemClient", user: str, password: str) -> None:
    """Register the user if it is new, and check the password, without retrying an unreachable server.

    Raises Refusal, Violation or ConnectionError.
    """
    from croupier.clients.holdem_api import HoldemApi

    impatient = HoldemApi(client.exchange, user, password, retry_timeout=0.0)
    await impatient.register()
    await impatient.list_games()
    await client.register()
