"""A server of ours that writes its messages otherwise: `python -m tests.conformance.dialect_server ROOM PORT HABIT`.

HABIT is one of `tests.conformance.dialect_samples`, `honest`, or `stubborn`: then every connection is dealt the same
cards, unless a deck file follows. The server prints a line when it is open.
"""

import asyncio
import sys
from collections.abc import Iterator, Mapping
from itertools import count, repeat
from pathlib import Path

from croupier.core.errors import Violation
from croupier.core.session import Drop, Joined, Left, Malformed, Received, Send
from croupier.core.transcript import Transcript, make_hall
from croupier.rooms import HOUSE_ROOMS
from tests.conformance.dialect_samples import HABITS, Habit


async def open_house(
    room: str, port: int, habit: Habit, heads: Iterator[Mapping[str, str]], spoken: str = "", greeting: bytes = b""
) -> asyncio.Server:
    """Open a room that speaks a dialect, in which every connection is dealt as the head of a transcript says.

    `greeting` is sent to every client, with the number of the client for `%d`.
    """
    rules = HOUSE_ROOMS[room]
    numbers = count(1)

    async def talk(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        house = make_hall(rules, Transcript("otherwise", "a table", (), next(heads), ()))
        codec = rules.codec(False, rules.settings(dialect=spoken) if spoken else None)
        house.on(Joined(1), 0.0)
        writer.write(greeting.replace(b"%d", b"%d" % next(numbers)))
        try:
            while data := await reader.read(1 << 16):
                for item in codec.feed(data):
                    event = Malformed(1, item) if isinstance(item, Violation) else Received(1, item)
                    for effect in house.on(event, 0.0):
                        match effect:
                            case Send(_, message):
                                writer.write(habit(codec.encode(message)))
                            case Drop():
                                return
        except ConnectionError:
            pass
        finally:
            house.on(Left(1), 0.0)
            writer.close()

    return await asyncio.start_server(talk, "127.0.0.1", port)


def lucky() -> Iterator[Mapping[str, str]]:
    """Every connection has luck of its own."""
    return ({"seed": str(seed)} for seed in count())


async def serve(room: str, port: int, habit: Habit, heads: Iterator[Mapping[str, str]]) -> None:
    server = await open_house(room, port, habit, heads)
    print(f"{room} is open at 127.0.0.1:{server.sockets[0].getsockname()[1]}", flush=True)
    await server.serve_forever()


def main(room: str, port: str, words: str, deck: str = "") -> None:
    """Serve until it is ended."""
    heads = repeat({"seed": "0"}) if words == "stubborn" and not deck else lucky()
    if deck:
        cards = " ".join(Path(deck).read_text().split())
        heads = ({**head, "deck": cards} for head in lucky())
    asyncio.run(serve(room, int(port), HABITS[room].get(words, bytes), heads))


if __name__ == "__main__":
    main(*sys.argv[1:])
