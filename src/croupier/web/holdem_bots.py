"""Bots that play hold'em with people who would be alone at their tables."""

import asyncio
from collections.abc import Mapping
from hashlib import sha256
from itertools import count
from typing import Final

from croupier.clients.contestants import Contestant, parse_contestant
from croupier.clients.luck import make_luck
from croupier.core.basic_auth import basic_authorization
from croupier.core.bot_files import BotFile
from croupier.core.bots import Bot, bot_factory, bot_failure, make_bot
from croupier.core.dealer import Luck
from croupier.core.referee import HOUSE
from croupier.core.session import Received, Submitted
from croupier.core.usernames import BOT_PREFIX
from croupier.http.auth import AuthError
from croupier.http.views import GameViewCache
from croupier.logs import get_logger
from croupier.net.addresses import format_address
from croupier.net.event_loop import start_task, wait_tasks
from croupier.rooms.holdem import ROOM
from croupier.rooms.holdem.engine.legal import Move
from croupier.rooms.holdem.player import Options, Player
from croupier.rooms.holdem.table.views import View
from croupier.rooms.holdem.wire import Act, Created, Guid, Join, Leave
from croupier.web.bot_programs import BotPrograms
from croupier.web.cookies import SigningKeys
from croupier.web.holdem_games import follow_game
from croupier.web.rooms import BOTS_AFTER_SECONDS, RoomEntry, authenticator, holdem_service

USUAL_BOTS: Final = ("tight", "caller")
"""The bots that join a person who is alone; they need little processor time."""

THINKING_SECONDS: Final = 1.0
"""A bot acts after this time, so that people see what it does."""

PROGRAM_DIGITS: Final = 6
"""Hexadecimal digits in the names of the users of programs."""


class HoldemBots:
    """Seats bots at tables where a person is alone. They leave when no person is there.

    A program among them plays as a user with an account, whose password follows from the `keys`.
    """

    def __init__(self, entry: RoomEntry, keys: SigningKeys) -> None:
        service = holdem_service(entry)
        assert service is not None, "the room is that of hold'em"
        self._service = service
        self._entry = entry
        self._keys = keys
        self._bots = [parse_contestant(ROOM, bot) for bot in entry.bots or USUAL_BOTS]
        self._programs = BotPrograms(ROOM.name)
        self._numbers = count(1)
        self._tasks: set[asyncio.Task[None]] = set()
        self._people: dict[Guid, set[str]] = {}  # the users who have sat down in a browser, by game

    def watch(self, game: Guid, user: str) -> None:
        """Seat bots in a game soon, unless this person is not alone in it any more."""
        shown = self._service.views.games
        self._people = {guid: users for guid, users in self._people.items() if shown.get(guid) is not None}
        self._people.setdefault(game, set()).add(user)
        start_task(self._tasks, self._join_lonely_person(game))

    def close(self) -> None:
        """Stop all bots; their seats are lost when their time is over."""
        for task in self._tasks:
            task.cancel()

    async def wait_closed(self) -> None:
        """Wait until all bots have stopped, and use neither the room nor its authenticator any more."""
        await wait_tasks(self._tasks)

    async def _join_lonely_person(self, game: Guid) -> None:
        while True:
            await asyncio.sleep(BOTS_AFTER_SECONDS)
            found = self._service.views.games.get(game)
            if found is None or len(found.shown.guids) != 1 or not self._has_people(found):
                return
            async with asyncio.TaskGroup() as group:
                for bot in self._bots:
                    play = self._run_program if bot.is_program else self._play
                    group.create_task(play(game, bot))

    async def _run_program(self, game: Guid, bot: Contestant) -> None:
        """Run a program while a person is in a game; then its user leaves the game."""
        departure = asyncio.ensure_future(self._wait_for_departure(game))
        users: list[str] = []

        async def values(number: int) -> Mapping[str, object]:
            user, password = program_account(self._keys, number)
            users.append(user)
            return await self._register(user, password, game)

        try:
            await self._programs.play(bot, values, departure)
            for user in users:
                await self._service.execute(Leave(user, game, self._service.guid_of(user)))
        except AuthError as error:
            get_logger(room=ROOM.name).error("the bot has failed", bot=bot.text, reason=str(error))
        finally:
            departure.cancel()

    async def _register(self, user: str, password: str, game: Guid) -> Mapping[str, object]:
        """Register the user of a program; return the values of its placeholders. Raises AuthError."""
        accounts, address = authenticator(self._entry), self._entry.address
        assert accounts is not None, "the room has users"
        assert address is not None, "a server with TLS refuses programs"
        host, port = address
        await accounts.register(basic_authorization(user, password), host, idempotent=True)
        url = f"http://{format_address(address)}"
        return {"url": url, "host": host, "port": port, "user": user, "password": password, "game": game}

    async def _wait_for_departure(self, game: Guid) -> None:
        """Wait until no person is in a game."""
        async for found in follow_game(self._service, game):
            if not self._has_people(found):
                return

    async def _play(self, game: Guid, contestant: Contestant) -> None:
        """Play in a game while a person is there, and the bot has chips."""
        name = contestant.text
        user = f"{BOT_PREFIX}{short_name(name)}-{next(self._numbers)}"
        joined = await self._service.execute(Join(user, game))
        if not isinstance(joined, Created):
            return
        player = Player(Options(user, joined.guid))
        bot = make_bot(bot_factory(ROOM.bots, name))
        luck = make_luck()
        async for found in follow_game(self._service, game):
            if not self._has_people(found):
                await self._service.execute(Leave(user, game, joined.guid))
                return
            player.on(Received(HOUSE, found.shown.view(user)), 0.0)
            if player.is_exhausted:
                return
            if (act := self._decide(player, bot, luck, name)) is not None:
                await asyncio.sleep(THINKING_SECONDS)
                player.on(Submitted(act), 0.0)
                await self._service.execute(act)

    def _decide(self, player: Player, bot: Bot[View, Move], luck: Luck, name: str) -> Act | None:
        """The bot's next act; a bot that fails checks or folds."""
        try:
            return player.decide(bot, luck)
        except (Exception, SystemExit) as error:
            get_logger(room=ROOM.name).error("the bot has failed", bot=name, reason=bot_failure(error))
            assert player.view is not None, "the bot had to decide"
            return player.act(player.view.check_or_fold)

    def _has_people(self, game: GameViewCache) -> bool:
        """Whether a person who has sat down in a browser is in a game, or waits for a seat."""
        return not self._people.get(game.guid, set()).isdisjoint(game.shown.guids)


def program_account(keys: SigningKeys, number: int) -> tuple[str, str]:
    """Return the user and the password of a program: the same ones as long as the keys are.

    Nobody can register the user before, because the name follows from the password.
    """
    password = keys.sign("bot", f"program-{number}")
    return f"program-{number}-{sha256(password.encode()).hexdigest()[:PROGRAM_DIGITS]}", password


def short_name(bot: str) -> str:
    """The name of a bot without its file and its argument.

    >>> short_name("tight:10"), short_name("bots/mine.py:Careful")
    ('tight', 'Careful')
    """
    file = BotFile.parse(bot)
    return bot.partition(":")[0] if file is None else file.name
