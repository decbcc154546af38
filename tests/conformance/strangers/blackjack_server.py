"""A server of blackjack, written from its document and the rulings, with a thread for each client.

    python -S blackjack_server.py PORT [--choice NAME=VALUE]…

| Choice | Values |
|---|---|
| seed | of the cards; -1: none |
| money | in the purse of every client |
| decks | shuffled together for every round |
| ten | T, X, 10 (the number), digits |
| char_bytes | 2, or 1 for the dialect char8 |
| pieces | flight, message, byte: what is passed to one `send` |
| pause | seconds before every answer |
| rest | seconds between two rounds |
| idle, move | seconds for any frame, and for a decision; 0: no limit |
| garbage | late or early: whether bytes are refused as soon as they cannot become a header |
| goodbye | whole: ERR 300 and STP; bare: STP alone |
| close | drain or plain: whether the server reads on after its STP |
"""

import contextlib
import struct
import time

from plumbing import Disconnected, Options, OutOfTime, Stream, serve_in_threads, table_luck

CHOICES = {
    "seed": -1,
    "money": 1000,
    "decks": 1,
    "ten": "T",
    "char_bytes": 2,
    "pieces": "flight",
    "pause": 0.0,
    "rest": 0.0,
    "idle": 0.0,
    "move": 0.0,
    "garbage": "late",
    "goodbye": "whole",
    "close": "drain",
}
NUMBERS = {"PLY": 0, "STP": 0, "BET": 4, "MOV": 0, "SRD": 0, "CRD": 0, "MON": 4, "TRN": 0, "RES": 4, "ERR": 4}
LETTERS = {"MOV": 1, "CRD": 3, "RES": 1}
RANKS = ("A", "2", "3", "4", "5", "6", "7", "8", "9", "10", "J", "Q", "K")
TENS = {"T": 0x54, "X": 0x58, "10": 10, "digits": 0x3130}
OUT_OF_PLACE, WRONG_FIELD, UNKNOWN, TOO_MUCH, DISCONNECT = 501, 500, 502, 400, 300

type Card = tuple[str, str]


class Unreadable(Exception):
    """These bytes are no header, and nothing shows where the next frame begins."""


class Stopped(Exception):
    """The client has sent STP."""


def points(hand: list[Card]) -> int:
    """Return the best score of a hand."""
    low = sum(1 if rank == "A" else 10 if rank in "JQK" else int(rank) for rank, _ in hand)
    return low + 10 if low <= 11 and any(rank == "A" for rank, _ in hand) else low


class Table:
    """The private table of one client."""

    def __init__(self, stream: Stream, options: Options) -> None:
        self.stream = stream
        self.options = options
        self.purse = options.money
        self.rng = table_luck(options.seed)
        self.decision_end: float | None = None

    # Frames.

    def letter(self, letter: str) -> bytes:
        code = TENS[self.options.ten] if letter == "10" else ord(letter)
        return code.to_bytes(self.options.char_bytes, "big")

    def frame(self, header: str, letters: tuple[str, ...] = (), number: int | None = None) -> bytes:
        fields = b"".join(map(self.letter, letters))
        return header.encode() + fields + (b"" if number is None else struct.pack(">i", number))

    def card(self, owner: str, card: Card) -> bytes:
        return self.frame("CRD", (owner, *card))

    def error(self, number: int) -> bytes:
        return self.frame("ERR", number=number)

    @property
    def goodbye(self) -> list[bytes]:
        stop = self.frame("STP")
        return [self.error(DISCONNECT), stop] if self.options.goodbye == "whole" else [stop]

    def read_frame(self) -> tuple[str, bytes]:
        """Return the header and the fields of the next frame that is not an error."""
        while True:
            limits = [self.decision_end] if self.decision_end is not None else []
            if self.options.idle:
                limits.append(time.monotonic() + self.options.idle)
            self.stream.deadline = min(limits, default=None)
            header = self.read_header()
            fields = self.stream.read(NUMBERS[header] + LETTERS.get(header, 0) * self.options.char_bytes)
            if header == "STP":
                raise Stopped
            if header != "ERR":
                return header, fields

    def read_header(self) -> str:
        header = ""
        while len(header) < 3:
            header += self.stream.read(1).decode("latin-1")
            is_early = self.options.garbage == "early" or len(header) == 3
            if is_early and not any(known.startswith(header) for known in NUMBERS):
                raise Unreadable
        return header

    def await_frame(self, *expected: str) -> tuple[str, bytes]:
        """Return the next frame with one of these headers; all others are refused."""
        while True:
            header, fields = self.read_frame()
            if header in expected:
                return header, fields
            self.stream.send(self.error(OUT_OF_PLACE))

    # Playing.

    def converse(self) -> None:
        """Play until one side has had enough."""
        try:
            while True:
                self.round()
                time.sleep(self.options.rest)
        except Stopped:
            self.part([self.frame("STP")])
        except Unreadable:
            self.part([self.error(UNKNOWN), *self.goodbye])
        except OutOfTime:
            self.part(self.goodbye)
        except Disconnected:
            pass
        self.stream.close(self.options.close)

    def part(self, frames: list[bytes]) -> None:
        with contextlib.suppress(Disconnected):
            self.stream.send(*frames)

    def round(self) -> None:
        self.await_frame("PLY")
        self.stream.send(self.frame("MON", number=self.purse))
        bet = self.read_bet()
        self.purse -= bet
        deck = [(rank, suit) for rank in RANKS for suit in "HDSC"] * self.options.decks
        self.rng.shuffle(deck)
        client, bank = [deck.pop(), deck.pop()], [deck.pop()]
        flight = [*(self.card("C", card) for card in client), self.card("S", bank[0])]
        while True:
            self.ask(flight)
            choice = self.read_choice()
            if choice == "surrender":
                return self.pay([], "L", bet // 2)
            if choice == "S":
                return self.stand(deck, client, bank, bet)
            client.append(deck.pop())
            flight = [self.card("C", client[-1])]
            if points(client) >= 21:
                has_won = points(client) == 21
                return self.pay(flight, "W" if has_won else "L", 2 * bet * has_won)

    def read_bet(self) -> int:
        most = min(self.purse, 2**31 - 1 - self.purse, 2**30 - 1)
        while True:
            (bet,) = struct.unpack(">i", self.await_frame("BET")[1])
            if 0 < bet <= most:
                return bet
            self.stream.send(self.error(TOO_MUCH if bet > 0 else WRONG_FIELD))

    def ask(self, flight: list[bytes]) -> None:
        self.decision_end = time.monotonic() + self.options.move if self.options.move else None
        self.stream.send(*flight, self.frame("TRN"))

    def read_choice(self) -> str:
        moves = {self.letter(letter): letter for letter in "HS"}
        while True:
            header, fields = self.await_frame("MOV", "SRD")
            if header == "SRD" or fields in moves:
                self.decision_end = None
                return "surrender" if header == "SRD" else moves[fields]
            self.stream.send(self.error(WRONG_FIELD))

    def stand(self, deck: list[Card], client: list[Card], bank: list[Card], bet: int) -> None:
        while points(bank) < 17:
            bank.append(deck.pop())
        own, other = points(bank), points(client)
        has_won = own > 21 or other > own or (other == own and own < 21)
        self.pay([self.card("S", card) for card in bank[1:]], "W" if has_won else "L", 2 * bet * has_won)

    def pay(self, flight: list[bytes], result: str, amount: int) -> None:
        self.purse += amount
        self.stream.send(*flight, self.frame("RES", (result,), amount))


def main() -> None:
    serve_in_threads(lambda stream, options: Table(stream, options).converse(), CHOICES)


if __name__ == "__main__":
    main()
