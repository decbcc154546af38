"""A player of Old Maid of another make: it knows the document, nothing of our code, and sends a few bytes at a time."""

import asyncio
import json
import socket
from collections.abc import Sequence
from contextlib import suppress
from typing import Any

from croupier.core.session import Address
from tests.net.raw_client import PATIENCE

COLOURS = {"spades": "black", "clubs": "black", "diamonds": "red", "hearts": "red"}
A_WHILE = 0.3
"""So many seconds somebody who is out stays when the game is over, unless everybody has gone before."""


class Talk:
    """One connection; JSON values are taken from it one at a time, however they arrive."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, chop: int) -> None:
        self._reader = reader
        self._writer = writer
        self._chop = chop
        self._rest = ""
        writer.get_extra_info("socket").setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)

    async def say(self, **message: object) -> None:
        data = json.dumps(message).encode()
        for at in range(0, len(data), self._chop):
            self._writer.write(data[at : at + self._chop])
            await self._writer.drain()
            await asyncio.sleep(0)

    async def hear(self) -> Any:
        while True:
            with suppress(ValueError):
                value, end = json.JSONDecoder().raw_decode(self._rest)
                self._rest = self._rest[end:].lstrip()
                return value
            data = await self._reader.read(4096)
            if not data:
                raise ConnectionError("hung up")
            self._rest = (self._rest + data.decode()).lstrip()

    async def ask(self, **message: object) -> Any:
        await self.say(**message)
        return await self.hear()

    def close(self) -> None:
        self._writer.close()


class Stranger:
    """Plays one game in a straight line: always the first card, and where it listens is told in `join`."""

    def __init__(self, table: Address, nick: str, chop: int) -> None:
        self.nick = nick
        self.lost = False
        self._address = table
        self._chop = chop
        self._hand: list[list[str]] = []
        self._drawn = False
        self._out = False
        self._listed = asyncio.Event()
        self._over = asyncio.Event()
        self._table_is_free = asyncio.Lock()
        self._rights: list[asyncio.Task[None]] = []
        self._talks: list[Talk] = []

    async def play(self) -> None:
        async with asyncio.timeout(2 * PATIENCE):
            await self._play()

    async def _play(self) -> None:
        async with asyncio.TaskGroup() as self._errands:
            server = await asyncio.start_server(self._accepted, "127.0.0.1", 0)
            try:
                await self._sit(server.sockets[0].getsockname()[1])
                await self._over.wait()
                if not self.lost:
                    await asyncio.wait(self._rights, timeout=A_WHILE)
            finally:
                server.close()
                for talk in self._talks:
                    talk.close()
                for right in self._rights:
                    right.cancel()

    async def _sit(self, port: int) -> None:
        self._table = await self._call(self._address)
        listed = (await self._ask(cmd="join", nick=self.nick, port=port))["players"]
        players = [*(listed.values() if isinstance(listed, dict) else listed)]
        seat = [nick for _, nick in players].index(self.nick)
        self._others: Sequence[Any] = players[seat + 1 :] + players[:seat]
        self._left = await self._call(self._others[0][0])
        self._listed.set()
        if seat == 0:
            await self._draw()

    async def _call(self, address: Sequence[Any]) -> Talk:
        talk = Talk(*await asyncio.open_connection(*address), self._chop)
        self._talks.append(talk)
        return talk

    async def _ask(self, **message: object) -> Any:
        async with self._table_is_free:
            return await self._table.ask(**message)

    def _accepted(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        talk = Talk(reader, writer, self._chop)
        self._talks.append(talk)
        self._rights.append(self._errands.create_task(self._listen(talk)))

    async def _listen(self, right: Talk) -> None:
        while True:
            try:
                message = await right.hear()
            except ConnectionError:
                return
            match message:
                case {"cmd": "your_turn"}:
                    await right.say(result="ok")
                    await self._listed.wait()
                    await self._draw()
                case {"cmd": "offer", "num_cards": count}:
                    await self._offered(right, count)
                case other:
                    raise AssertionError(f"nobody says this to a left neighbour: {other}")

    async def _draw(self) -> None:
        drawn = await self._ask(cmd="draw")
        await self._take(drawn["card"])
        if drawn["result"] == "last_card":
            await self._offer()
        else:
            assert await self._left.ask(cmd="your_turn") == {"result": "ok"}

    async def _offered(self, right: Talk, count: int) -> None:
        self._drawn = True
        if not self._hand:
            await right.say(result="out")
            await self._out_of_cards()
            return
        await right.say(result="ok")
        if count:
            picked = await right.ask(cmd="pick", card_num=0)
            await self._take(picked["card"])
        await self._offer()

    async def _take(self, card: list[str]) -> None:
        self._hand.insert(len(self._hand) // 2, card)
        for other in self._hand:
            same = other[0] == card[0] and COLOURS.get(other[1]) == COLOURS.get(card[1])
            if same and other is not card:
                thrown = await self._ask(cmd="discard", cards=[other, card], last_cards="false")
                assert thrown == {"result": "ok", "message": "ok"}
                self._hand = [one for one in self._hand if one not in (card, other)]
                return

    async def _offer(self) -> None:
        self._drawn = True
        await self._out_of_cards()
        while not await self._takes_it():
            self._others = self._others[1:]
            if not self._others:
                self.lost = bool(self._hand)
                self._over.set()
                return
            with suppress(ConnectionError):
                self._left = await self._call(self._others[0][0])
        if self._hand:
            asked = await self._left.hear()
            assert asked["cmd"] == "pick"
            await self._left.say(result="ok", card=self._hand.pop(asked["card_num"]))
            await self._out_of_cards()

    async def _takes_it(self) -> bool:
        """Offer the hand to the left neighbour; one who has gone has no cards either."""
        with suppress(ConnectionError):
            if await self._left.ask(cmd="offer", num_cards=len(self._hand)) == {"result": "ok"}:
                return True
        self._left.close()
        return False

    async def _out_of_cards(self) -> None:
        if self._hand or self._out:
            return
        self._out = True
        assert await self._ask(cmd="out_of_cards") == {"result": "ok"}
        self._errands.create_task(self._watch())

    async def _watch(self) -> None:
        while len((await self._ask(cmd="status"))["in"]) > 1:
            await asyncio.sleep(0.02)
        self._over.set()
