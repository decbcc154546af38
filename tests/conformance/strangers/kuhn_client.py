"""A client of Kuhn poker, written from its document and the rulings, with asyncio streams.

    python -S kuhn_client.py HOST PORT [--choice NAME=VALUE]…

| Choice | Values |
|---|---|
| seed | of the decisions; -1: none |
| games | how many are played at most |
| seats | first, second, both (in turn), random |
| style | random, bold (always bets and calls), meek (never does) |
| letters | upper, lower, mixed |
| pieces | flight, message, byte: what is passed to one `write` |
| pause | seconds before every message |
| ahead | no; game: STRT and a bet are sent together; all: so are all games, and DISC |
| sessions | one, or game: every game has a connection of its own |
| leave | disc: DISC, then the end of the connection is awaited; disc-close: it is not; close: without DISC |
| status | the exit status after the house has said goodbye |
| check | no, yes: whether the house's messages are compared with the rules |
"""

import asyncio
import sys

from plumbing import LETTER_CASES, AsyncEnd, Farewell, HouseAtFault, Options, client_luck

CHOICES = {
    "seed": -1,
    "games": 8,
    "seats": "both",
    "style": "random",
    "letters": "upper",
    "pieces": "flight",
    "pause": 0.0,
    "ahead": "no",
    "sessions": "one",
    "leave": "disc",
    "status": 0,
    "check": "no",
}
WORDS = {"CARD": {"C_J", "C_Q", "C_K"}, "ACTN": {"CHK", "BET", "FLD"}, "FAIL": {"W_A", "N_C"}}
BET_CHANCES = {"random": 0.5, "bold": 1.0, "meek": 0.0}


class Client(AsyncEnd):
    """One conversation with a house."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, options: Options) -> None:
        super().__init__(reader, writer, options, client_luck(options.seed))
        self.played = 0

    async def send(self, *messages: str) -> None:
        letters = LETTER_CASES[self.options.letters]
        await super().send(*[letters(message).encode() for message in messages])

    async def receive(self) -> tuple[str, str]:
        """Return the next message of the house: its code and its argument."""
        try:
            code = await self.reader.readexactly(4)
            if code.upper() == b"DISC":
                raise Farewell
            argument = await self.reader.readexactly(4)
        except (asyncio.IncompleteReadError, ConnectionError):
            raise Farewell from None
        found = code.decode("latin-1").upper(), argument.decode("latin-1").upper()
        if found[1][1:] not in WORDS.get(found[0], ()) or found[1][0] != " ":
            raise HouseAtFault(f"found {found}")
        return found[0], found[1][1:]

    async def answer(self, *allowed: str) -> tuple[str, str]:
        """Return the next message; its code must be one of these."""
        code, argument = await self.receive()
        if code not in allowed:
            raise HouseAtFault(f"found {code} {argument}; allowed: {', '.join(allowed)}")
        return code, argument

    def wants(self) -> bool:
        return self.rng.random() < BET_CHANCES[self.options.style]

    async def play(self, numbers: range) -> bool:
        """Play these games, and leave; return False if there is no coin left for the ante."""
        if self.options.ahead == "all":
            await self.send(*("STRT P_1", "ACTN BET") * len(numbers), "DISC")
            while True:
                await self.receive()
        has_coins = True
        for number in numbers:
            seat = {"first": "P_1", "second": "P_2"}.get(self.options.seats, f"P_{number % 2 + 1}")
            if self.options.seats == "random":
                seat = self.rng.choice(("P_1", "P_2"))
            has_coins = await self.game(seat)
            if not has_coins:
                break
            self.played += 1
        if self.options.leave != "close":
            await self.send("DISC")
        if self.options.leave == "disc":
            await self.reader.read()
        return has_coins

    async def game(self, seat: str) -> bool:
        """Play one game; return False if there is no coin left for the ante."""
        if self.options.ahead == "game":
            return await self.game_ahead()
        await self.send(f"STRT {seat}")
        code, own = await self.answer("CARD", "FAIL")
        if code == "FAIL":
            return self.no_coins(own)
        if seat == "P_1":
            return await self.open_betting(own)
        _, action = await self.answer("ACTN")
        if action == "FLD":
            raise HouseAtFault("it folds before it has to")
        return await (self.face_bet(own) if action == "BET" else self.open_betting(own, is_second=True))

    def no_coins(self, reason: str) -> bool:
        if reason != "N_C":
            raise HouseAtFault(f"found FAIL {reason} for an allowed message")
        return False

    async def game_ahead(self) -> bool:
        await self.send("STRT P_1", "ACTN BET")
        code, own = await self.answer("CARD", "FAIL")
        if code == "FAIL":
            await self.answer("FAIL")
            return self.no_coins(own)
        code, argument = await self.answer("CARD", "ACTN", "FAIL")
        if code == "FAIL":
            self.no_coins(argument)
            return await self.check_round(own)
        return self.showdown(own, argument) if code == "CARD" else argument == "FLD"

    async def open_betting(self, own: str, *, is_second: bool = False) -> bool:
        """Bet or check, and see the game to its end."""
        if self.wants():
            await self.send("ACTN BET")
            code, argument = await self.answer("CARD", "ACTN", "FAIL")
            if code == "CARD":
                return self.showdown(own, argument)
            if code == "ACTN" and argument != "FLD":
                raise HouseAtFault(f"found ACTN {argument} after a bet")
            if code == "ACTN":
                return True
            self.no_coins(argument)
        return await self.check_round(own, is_second=is_second)

    async def check_round(self, own: str, *, is_second: bool = False) -> bool:
        await self.send("ACTN CHK")
        code, argument = await self.answer(*(["CARD"] if is_second else ["CARD", "ACTN"]))
        if code == "CARD":
            return self.showdown(own, argument)
        if argument != "BET":
            raise HouseAtFault(f"found ACTN {argument} after a check")
        return await self.face_bet(own)

    async def face_bet(self, own: str) -> bool:
        if self.wants():
            await self.send("ACTN CAL")
            code, argument = await self.answer("CARD", "FAIL")
            if code == "CARD":
                return self.showdown(own, argument)
            self.no_coins(argument)
        await self.send("ACTN FLD")
        return True

    def showdown(self, own: str, shown: str) -> bool:
        if self.options.check == "yes" and own == shown:
            raise HouseAtFault(f"both players have {own}")
        return True


async def converse(address: tuple[str, int], options: Options, numbers: range) -> tuple[int, bool, int]:
    """Play these games on one connection; return how many were played, whether more can be, and an exit status."""
    reader, writer = await asyncio.open_connection(*address)
    client = Client(reader, writer, options)
    goes_on, status = False, 0
    try:
        goes_on = await client.play(numbers)
    except (Farewell, ConnectionError):
        status = options.status
    except HouseAtFault as fault:
        print(f"the house is at fault: {fault}", file=sys.stderr)
        status = 3
    writer.close()
    return client.played, goes_on, status


async def main() -> int:
    host, port, *arguments = sys.argv[1:]
    options = Options(CHOICES, arguments)
    size = 1 if options.sessions == "game" else options.games
    played, status = 0, 0
    for first in range(0, options.games, size):
        more, goes_on, status = await converse((host, int(port)), options, range(first, first + size))
        played += more
        if not goes_on:
            break
    print(f"{played} games", flush=True)
    return status


if __name__ == "__main__":
    sys.exit(asyncio.run(main()))
