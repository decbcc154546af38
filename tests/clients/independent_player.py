"""A second implementation of an Old Maid player: it shares no code with the project and sends a few bytes at a time."""

import asyncio
import json
import socket
from collections.abc import Sequence
from contextlib import suppress
from typing import Any

from croupier.core.session import Address
from tests.net.raw_client import TIMEOUT_SECONDS

COLOURS = {"spades": "black", "clubs": "black", "diamonds": "red", "hearts": "red"}
LINGER_SECONDS = 0.3
"""A player that is out stays this long after the game, unless its right neighbours leave before."""


class JsonConnection:
    """A connection from which JSON values are read one at a time, independent of their framing."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, chop: int) -> None:
        self._reader = reader
        self._writer = writer
        self._chop = chop
        self._rest = ""
        writer.get_extra_info("socket").setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)

    async def say(self, **message: object) -> None:
        data = json.dumps(message).encode()
        for start in range(0, len(data), self._chop):
            if self._writer.is_closing():  # uvloop does not write to a closed connection
                raise ConnectionError("hung up")
            self._writer.write(data[start : start + self._chop])
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


class IndependentPlayer:
    """Plays one game. It always picks the first card, and sends its listening port in `join`."""

    def __init__(self, table: Address, nick: str, chop: int) -> None:
        self.nick = nick
        self.lost = False
        self._address = table
        self._chop = chop
        self._hand: list[list[str]] = []
        self._has_drawn = False
        self._is_out = False
        self._joined = asyncio.Event()
        self._game_over = asyncio.Event()
        self._table_is_free = asyncio.Lock()
        self._right_tasks: list[asyncio.Task[None]] = []
        self._connections: list[JsonConnection] = []

    async def play(self) -> None:
        async with asyncio.timeout(2 * TIMEOUT_SECONDS):
            await self._play()

    async def _play(self) -> None:
        async with asyncio.TaskGroup() as self._tasks:
            server = await asyncio.start_server(self._accepted, "127.0.0.1", 0)
            try:
                await self._join(server.sockets[0].getsockname()[1])
                await self._game_over.wait()
                if not self.lost:
                    await asyncio.wait(self._right_tasks, timeout=LINGER_SECONDS)
            finally:
                server.close()
                for connection in self._connections:
                    connection.close()
                for neighbour in self._right_tasks:
                    neighbour.cancel()

    async def _join(self, port: int) -> None:
        self._table = await self._connect(self._address)
        players_by_seat = (await self._ask(cmd="join", nick=self.nick, port=port))["players"]
        players = [*(players_by_seat.values() if isinstance(players_by_seat, dict) else players_by_seat)]
        seat = [nick for _, nick in players].index(self.nick)
        self._others: Sequence[Any] = players[seat + 1 :] + players[:seat]
        self._left = await self._connect(self._others[0][0])
        self._joined.set()
        if seat == 0:
            await self._draw()

    async def _connect(self, address: Sequence[Any]) -> JsonConnection:
        connection = JsonConnection(*await asyncio.open_connection(*address), self._chop)
        self._connections.append(connection)
        return connection

    async def _ask(self, **message: object) -> Any:
        async with self._table_is_free:
            return await self._table.ask(**message)

    def _accepted(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        connection = JsonConnection(reader, writer, self._chop)
        self._connections.append(connection)
        self._right_tasks.append(self._tasks.create_task(self._listen(connection)))

    async def _listen(self, neighbour: JsonConnection) -> None:
        while True:
            try:
                message = await neighbour.hear()
            except ConnectionError:
                return
            match message:
                case {"cmd": "your_turn"}:
                    await neighbour.say(result="ok")
                    await self._joined.wait()
                    await self._draw()
                case {"cmd": "offer", "num_cards": count}:
                    await self._on_offer(neighbour, count)
                case other:
                    raise AssertionError(f"unexpected message from the right neighbour: {other}")

    async def _draw(self) -> None:
        drawn = await self._ask(cmd="draw")
        await self._take(drawn["card"])
        if drawn["result"] == "last_card":
            await self._offer()
        else:
            assert await self._left.ask(cmd="your_turn") == {"result": "ok"}

    async def _on_offer(self, neighbour: JsonConnection, count: int) -> None:
        self._has_drawn = True
        if not self._hand:
            await neighbour.say(result="out")
            await self._out_of_cards()
            return
        await neighbour.say(result="ok")
        if count:
            picked = await neighbour.ask(cmd="pick", card_num=0)
            await self._take(picked["card"])
        await self._offer()

    async def _take(self, card: list[str]) -> None:
        self._hand.insert(len(self._hand) // 2, card)
        for other in self._hand:
            is_pair = other[0] == card[0] and COLOURS.get(other[1]) == COLOURS.get(card[1])
            if is_pair and other is not card:
                reply = await self._ask(cmd="discard", cards=[other, card], last_cards="false")
                assert reply == {"result": "ok", "message": "ok"}
                self._hand = [own for own in self._hand if own not in (card, other)]
                return

    async def _offer(self) -> None:
        self._has_drawn = True
        await self._out_of_cards()
        while not await self._offer_accepted():
            self._others = self._others[1:]
            if not self._others:
                self.lost = bool(self._hand)
                self._game_over.set()
                return
            with suppress(ConnectionError):
                self._left = await self._connect(self._others[0][0])
        if self._hand:
            request = await self._left.hear()
            assert request["cmd"] == "pick"
            await self._left.say(result="ok", card=self._hand.pop(request["card_num"]))
            await self._out_of_cards()

    async def _offer_accepted(self) -> bool:
        """Offer the hand to the left neighbour. A neighbour that has disconnected counts as out of cards."""
        with suppress(ConnectionError):
            if await self._left.ask(cmd="offer", num_cards=len(self._hand)) == {"result": "ok"}:
                return True
        self._left.close()
        return False

    async def _out_of_cards(self) -> None:
        if self._hand or self._is_out:
            return
        self._is_out = True
        assert await self._ask(cmd="out_of_cards") == {"result": "ok"}
        self._tasks.create_task(self._watch())

    async def _watch(self) -> None:
        while len((await self._ask(cmd="status"))["in"]) > 1:
            await asyncio.sleep(0.02)
        self._game_over.set()
