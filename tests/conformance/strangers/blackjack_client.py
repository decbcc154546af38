"""A client of blackjack, written from its document and the rulings, with asyncio streams.

    python -S blackjack_client.py HOST PORT [--choice NAME=VALUE]…

| Choice | Values |
|---|---|
| seed | of the decisions; -1: none |
| games | how many are played at most |
| stake | small, one, half, all of the purse |
| target | the score at which it stands; 0: another one in each round |
| surrenders | how often it surrenders instead of moving |
| char_bytes | 2, or 1 for the dialect char8 |
| tens | all: every spelling of the ten is read; T: only this one |
| pieces | flight, message, byte: what is passed to one `write` |
| pause | seconds before every frame |
| ahead | no; bet: PLY and BET are sent together; round: PLY, BET and MOV S; all: so are all rounds, and STP |
| leave | wait: STP, then the house's STP is awaited; stop: it is not; close: without STP |
| status | the exit status after the house has said goodbye |
| check | no, yes: whether the house's frames are compared with the rules |
"""

import asyncio
import sys

from plumbing import AsyncEnd, Farewell, HouseAtFault, Options, client_luck

CHOICES = {
    "seed": -1,
    "games": 8,
    "stake": "small",
    "target": 0,
    "surrenders": 0.1,
    "char_bytes": 2,
    "tens": "all",
    "pieces": "flight",
    "pause": 0.0,
    "ahead": "no",
    "leave": "wait",
    "status": 0,
    "check": "no",
}
LETTERS = {"CRD": 3, "RES": 1}
NUMBERS = {"MON", "RES", "ERR"}
HEADERS = {"MON", "CRD", "TRN", "RES", "ERR", "STP"}
TENS = {0x54, 0x58, 0x0A, 0x3130}
MOST = 2**30 - 1


def points(ranks: str) -> int:
    """Return the best score of cards."""
    hard = sum({"A": 1, "T": 10, "J": 10, "Q": 10, "K": 10}.get(rank) or int(rank) for rank in ranks)
    return hard + 10 * ("A" in ranks and hard < 12)


class Client(AsyncEnd):
    """One conversation with a house."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, options: Options) -> None:
        super().__init__(reader, writer, options, client_luck(options.seed))
        self.played = 0
        self.expected_purse: int | None = None

    def move(self, letter: str) -> bytes:
        return b"MOV" + ord(letter).to_bytes(self.options.char_bytes, "big")

    @staticmethod
    def bet(coins: int) -> bytes:
        return b"BET" + coins.to_bytes(4, "big")

    async def read(self, length: int) -> bytes:
        try:
            return await self.reader.readexactly(length)
        except (asyncio.IncompleteReadError, ConnectionError):
            raise Farewell from None

    async def receive(self) -> tuple[str, list[int], int]:
        """Return the next frame of the house: its header, its characters, its number."""
        header = (await self.read(3)).decode("latin-1")
        if header not in HEADERS:
            raise HouseAtFault(f"found {header}")
        width = self.options.char_bytes
        characters = [int.from_bytes(await self.read(width), "big") for _ in range(LETTERS.get(header, 0))]
        number = int.from_bytes(await self.read(4), "big", signed=True) if header in NUMBERS else 0
        if header == "STP" or (header == "ERR" and number == 300):
            raise Farewell
        return header, characters, number

    async def answer(self, *allowed: str) -> tuple[str, list[int], int]:
        """Return the next frame; its header must be one of these."""
        found = await self.receive()
        if found[0] not in allowed:
            raise HouseAtFault(f"found {found}; allowed: {', '.join(allowed)}")
        return found

    def card(self, characters: list[int]) -> tuple[str, str]:
        """Return the owner and the rank of a card."""
        owner, rank, suit = characters
        is_ten = rank in TENS if self.options.tens == "all" else rank == ord("T")
        letter = "T" if is_ten else chr(rank)
        if chr(owner) not in "CS" or letter not in "A23456789TJQK" or chr(suit) not in "HDSC":
            raise HouseAtFault(f"found the card {characters}")
        return chr(owner), letter

    async def play(self) -> None:
        """Play all rounds, and leave."""
        games = self.options.games
        if self.options.ahead == "all":
            await self.send(*(b"PLY", self.bet(1), self.move("S")) * games, b"STP")
            while True:
                await self.receive()
        while self.played < games and await self.round():
            self.played += 1
        if self.options.leave != "close":
            await self.send(b"STP")
        if self.options.leave == "wait":
            while True:
                await self.receive()

    async def round(self) -> bool:
        """Play one round; return False if there is nothing to bet."""
        if self.options.ahead == "round":
            await self.send(b"PLY", self.bet(1), self.move("S"))
        elif self.options.ahead == "bet":
            await self.send(b"PLY", self.bet(1))
        else:
            await self.send(b"PLY")
        _, _, purse = await self.answer("MON")
        if self.options.check == "yes" and self.expected_purse not in {None, purse}:
            raise HouseAtFault(f"found {purse} in the purse; expected: {self.expected_purse}")
        most = min(purse, 2**31 - 1 - purse, MOST)
        stake = 1 if self.options.ahead in {"bet", "round"} else self.stake(most)
        if most < 1:
            return False
        if self.options.ahead not in {"bet", "round"}:
            await self.send(self.bet(stake))
        result, paid = await self.play_cards(stake)
        if self.options.check == "yes" and (result, paid) not in {("W", 2 * stake), ("L", 0), ("L", stake // 2)}:
            raise HouseAtFault(f"found {result} {paid} for {stake}")
        self.expected_purse = purse - stake + paid
        return True

    def stake(self, most: int) -> int:
        return {"small": min(10, most), "one": 1, "half": max(1, most // 2), "all": most}[self.options.stake]

    async def own_card(self, owner: str) -> str:
        found, rank = self.card((await self.answer("CRD"))[1])
        if found != owner:
            raise HouseAtFault(f"found a card for {found}")
        return rank

    async def play_cards(self, stake: int) -> tuple[str, int]:
        """Play the cards of a round; return the result and what is paid back."""
        own = await self.own_card("C") + await self.own_card("C")
        bank = await self.own_card("S")
        target = self.options.target or self.rng.choice((12, 14, 16, 17, 19, 21))
        while True:
            await self.answer("TRN")
            if self.options.ahead == "round":
                return await self.stand(own, bank, stake, is_sent=True)
            if self.rng.random() < self.options.surrenders:
                await self.send(b"SRD")
                return self.result((await self.answer("RES")), {("L", stake // 2)})
            if points(own) >= target:
                return await self.stand(own, bank, stake)
            await self.send(self.move("H"))
            own += await self.own_card("C")
            if points(own) >= 21:
                won = points(own) == 21
                return self.result(await self.answer("RES"), {("W", 2 * stake) if won else ("L", 0)})

    async def stand(self, own: str, bank: str, stake: int, *, is_sent: bool = False) -> tuple[str, int]:
        if not is_sent:
            await self.send(self.move("S"))
        while True:
            header, characters, number = await self.answer("CRD", "RES")
            if header == "RES":
                break
            if points(bank) >= 17 and self.options.check == "yes":
                raise HouseAtFault(f"the bank draws on {bank}")
            bank += self.card(characters)[1]
        mine, other = points(own), points(bank)
        if self.options.check == "yes" and other < 17:
            raise HouseAtFault(f"the bank stands on {bank}")
        won = other > 21 or mine > other or (mine == other and mine < 21)
        return self.result((header, characters, number), {("W", 2 * stake) if won else ("L", 0)})

    def result(self, found: tuple[str, list[int], int], expected: set[tuple[str, int]]) -> tuple[str, int]:
        """Return the result and the amount of a RES."""
        _, characters, number = found
        if chr(characters[0]) not in "WL":
            raise HouseAtFault(f"found the result {characters}")
        if self.options.check == "yes" and (chr(characters[0]), number) not in expected:
            raise HouseAtFault(f"found {chr(characters[0])} {number}; expected: {expected}")
        return chr(characters[0]), number


async def main() -> int:
    host, port, *arguments = sys.argv[1:]
    options = Options(CHOICES, arguments)
    reader, writer = await asyncio.open_connection(host, int(port))
    client = Client(reader, writer, options)
    status = 0
    try:
        await client.play()
    except Farewell:
        status = options.status if client.played < options.games else 0
    except HouseAtFault as fault:
        print(f"the house is at fault: {fault}", file=sys.stderr)
        status = 3
    except ConnectionError:
        status = options.status
    writer.close()
    print(f"{client.played} games", flush=True)
    return status


if __name__ == "__main__":
    sys.exit(asyncio.run(main()))
