"""A server of seven and a half, written from its document and the rulings, with asyncio streams.

    python -S sevenhalf_server.py PORT [--choice NAME=VALUE]…

| Choice | Values |
|---|---|
| seed | of the cards; -1: none |
| bet | the starting bet; several, separated by commas, are named in turn |
| limit | the largest total bet |
| once | no, yes: whether the server closes after GAIN |
| letters, cards | upper, lower, mixed: the codes, and the cards |
| words | plain, none, long, lookalike: the texts of ERRO |
| ending | none, or line: a line end after every message |
| pieces | flight, message, byte: what is passed to one `write` |
| pause | seconds before every answer |
| rest | seconds between two games |
| idle, move | seconds for any message, and for a decision; 0: no limit |
| spaces | accept or refuse spaces between messages |
| late_pass | accept or refuse the PASS after a BSTG |
| garbage | late or early: whether bytes are refused as soon as they cannot become a message |
| dialect | strict order of commands: document; or lenient |
| close | drain or plain: whether the server reads on after its last message |
"""

import asyncio
import contextlib
import sys
import time

from plumbing import DRAIN_SECONDS, LETTER_CASES, AsyncEnd, Options, table_luck

CHOICES = {
    "seed": -1,
    "bet": "100",
    "limit": 2**30 - 1,
    "once": "no",
    "letters": "upper",
    "ending": "none",
    "cards": "lower",
    "words": "plain",
    "pieces": "flight",
    "pause": 0.0,
    "rest": 0.0,
    "idle": 0.0,
    "move": 0.0,
    "spaces": "accept",
    "late_pass": "accept",
    "garbage": "late",
    "dialect": "document",
    "close": "drain",
}
HALVES = {"1": 2, "2": 4, "3": 6, "4": 8, "5": 10, "6": 12, "7": 14, "s": 1, "c": 1, "r": 1}
GOAL = 15
COMMANDS = {"STRT", "DRAW", "ANTE", "PASS"}
CODES = {*COMMANDS, "STBT", "CARD", "BSTG", "BKSC", "GAIN", "ERRO"}
ALLOWED = {
    "document": {"idle": {"STRT"}, "started": {"DRAW"}, "card": {"DRAW", "ANTE", "PASS"}, "ante": {"DRAW", "ANTE"}},
    "lenient": {"idle": {"STRT", "DRAW"}, "started": COMMANDS, "card": COMMANDS, "ante": COMMANDS},
}
TEXTS = {
    "plain": "not now: ",
    "none": "",
    "long": "This command is not possible at this point of the game, please read section two again. ",
    "lookalike": "GAIN \0\0\0\nSTRT\r\nERRO 99",
}


class Left(Exception):
    """The client has disconnected."""


class Goodbye(Exception):
    """The server ends the conversation, with this reason."""


def number(value: int) -> bytes:
    return value.to_bytes(4, "big", signed=True)


def score_of(cards: list[str]) -> int:
    return sum(HALVES[card[0]] for card in cards)


class Table(AsyncEnd):
    """The private table of one client."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, options: Options) -> None:
        super().__init__(reader, writer, options, table_luck(options.seed))
        self.bets = [int(bet) for bet in options.bet.split(",")]
        self.state = "idle"
        self.has_named_bet = False
        self.bet = 0
        self.deck: list[str] = []
        self.hand: list[str] = []
        self.may_pass_late = False
        self.decision_end: float | None = None

    # Sending.

    async def send(self, *messages: bytes) -> None:
        try:
            ending = b"\n" if self.options.ending == "line" else b""
            await super().send(*(message + ending for message in messages))
        except ConnectionError:
            raise Left from None

    def message(self, code: str, argument: bytes | None = None) -> bytes:
        name = LETTER_CASES[self.options.letters](code).encode()
        return name if argument is None else name + b" " + argument

    def cards(self, cards: list[str]) -> bytes:
        return LETTER_CASES[self.options.cards]("".join(cards)).encode()

    def error(self, reason: str) -> bytes:
        text = TEXTS[self.options.words] + (reason if self.options.words in {"plain", "long"} else "")
        return self.message("ERRO", b"%02d%s" % (len(text[:99]), text[:99].encode()))

    async def refuse(self, reason: str) -> None:
        await self.send(self.error(reason))

    # Reading.

    async def read(self, length: int) -> bytes:
        try:
            return await self.reader.readexactly(length)
        except (asyncio.IncompleteReadError, ConnectionError):
            raise Left from None

    async def read_code(self) -> str:
        code = await self.read(1)
        while self.options.spaces == "accept" and code in b"\r\n ":
            code = await self.read(1)
        while len(code) < 4:
            if self.options.garbage == "early":
                self.check_prefix(code.decode("latin-1").upper())
            code += await self.read(1)
        name = code.decode("latin-1").upper()
        if name not in CODES:
            raise Goodbye("I cannot read this")
        return name

    def check_prefix(self, prefix: str) -> None:
        if not any(code.startswith(prefix) for code in CODES):
            raise Goodbye("I cannot read this")

    async def space(self) -> None:
        if await self.read(1) != b" ":
            raise Goodbye("a space is missing")

    async def read_message(self) -> tuple[str, int]:
        """Return a code, and the number of an ANTE."""
        code = await self.read_code()
        if code in {"STRT", "DRAW", "PASS", "BSTG"}:
            return code, 0
        await self.space()
        if code in {"ANTE", "STBT", "GAIN"}:
            return code, int.from_bytes(await self.read(4), "big", signed=True)
        if code == "CARD":
            await self.read(2)
        elif code == "ERRO":
            digits = await self.read(2)
            if not digits.isdigit():
                raise Goodbye("the length of your error is not two digits")
            await self.read(int(digits))
        else:
            count = int.from_bytes(await self.read(4), "big", signed=True)
            if not 0 <= count <= 40:
                raise Goodbye("that many cards there are not")
            await self.read(2 * count)
            await self.space()
            await self.read(4)
        return code, 0

    async def next_message(self) -> tuple[str, int]:
        """Return the next message within the limits."""
        limits = [self.decision_end] if self.decision_end is not None else []
        if self.options.idle:
            limits.append(time.monotonic() + self.options.idle)
        seconds = min(limits) - time.monotonic() if limits else None
        try:
            return await asyncio.wait_for(self.read_message(), seconds)
        except TimeoutError:
            raise Goodbye("you have run out of time") from None

    # Playing.

    async def converse(self) -> None:
        """Play until one side has had enough."""
        try:
            while await self.step(*await self.next_message()):
                pass
        except Goodbye as reason:
            with contextlib.suppress(Left):
                await self.refuse(str(reason))
        except Left:
            pass
        await self.close()

    async def close(self) -> None:
        if self.options.close == "drain":
            with contextlib.suppress(OSError, TimeoutError):
                self.writer.write_eof()
                await asyncio.wait_for(self.reader.read(), DRAIN_SECONDS)
        self.writer.close()

    async def step(self, code: str, amount: int) -> bool:
        """Handle a message; return whether the server stays."""
        if code == "ERRO":
            return True
        if code == "PASS" and self.may_pass_late and self.state == "idle" and self.options.late_pass == "accept":
            self.may_pass_late = False
            return True
        if code not in ALLOWED[self.options.dialect][self.state]:
            await self.refuse(f"{code} is not expected")
            return True
        if code == "STRT":
            await self.start()
        elif code == "ANTE":
            await self.raise_bet(amount)
        elif code == "PASS":
            return await self.end_game([])
        else:
            return await self.draw()
        return True

    def await_decision(self, state: str) -> None:
        self.state = state
        self.decision_end = time.monotonic() + self.options.move if self.options.move else None

    def deal(self) -> None:
        self.deck = [rank + suit for rank in HALVES for suit in "oceb"]
        self.rng.shuffle(self.deck)
        self.hand = []
        self.bet = self.bets[0]
        self.may_pass_late = False

    async def start(self) -> None:
        if self.has_named_bet:
            self.bets.append(self.bets.pop(0))
        self.has_named_bet = True
        self.deal()
        self.await_decision("started")
        await self.send(self.message("STBT", number(self.bet)))

    async def raise_bet(self, amount: int) -> None:
        if not 0 < amount <= self.options.limit - self.bet:
            await self.refuse(f"{amount} is not possible")
            return
        self.bet += amount
        self.await_decision("ante")

    async def draw(self) -> bool:
        if self.state == "idle":
            self.deal()
        self.hand.append(self.deck.pop())
        card = self.message("CARD", self.cards(self.hand[-1:]))
        if score_of(self.hand) > GOAL:
            self.may_pass_late = True
            return await self.end_game([card, self.message("BSTG")])
        self.await_decision("card")
        await self.send(card)
        return True

    async def end_game(self, flight: list[bytes]) -> bool:
        """Let the bank draw, and pay; return whether the server stays."""
        own, bank = score_of(self.hand), []
        while not bank or (own <= GOAL and score_of(bank) <= own and score_of(bank) != GOAL):
            bank.append(self.deck.pop())
        score = score_of(bank)
        if own > GOAL or own < score <= GOAL:
            gain = -self.bet
        elif own == score:
            gain = 0
        else:
            gain = self.bet * (2 if own == GOAL else 1)
        text = b"%02d.%d" % (score // 2, score % 2 * 5)
        self.state, self.decision_end = "idle", None
        await self.send(
            *flight,
            self.message("BKSC", number(len(bank)) + self.cards(bank) + b" " + text),
            self.message("GAIN", number(gain)),
        )
        await asyncio.sleep(self.options.rest)
        return self.options.once == "no"


async def main() -> None:
    port, *arguments = sys.argv[1:]
    options = Options(CHOICES, arguments)

    async def converse(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await Table(reader, writer, options).converse()

    server = await asyncio.start_server(converse, "127.0.0.1", int(port), backlog=128)
    print(f"listening on {server.sockets[0].getsockname()[1]}", flush=True)
    await server.serve_forever()


if __name__ == "__main__":
    asyncio.run(main())
