"""A student's client of blackjack, in plain Python; `--habit` makes it break one rule.

    python -S blackjack_client.py HOST PORT [--habit NAME] [--games N] [--seed N]

It bets ten coins or what it has, hits below a random total, surrenders now and then, and sends STP at the end.
"""

import struct
import sys
import time
from typing import NoReturn

from plumbing import HANG_SECONDS, ClientPeer, Options

MUTATIONS = {
    "quotes": lambda data: b'"' + data + b'"',
    "newline": lambda data: data + b"\r\n",
    "lower-case": bytes.lower,
    "lower-case-move": lambda data: data[:3] + data[3:].lower() if data[:3] == b"MOV" else data,
    "space": lambda data: data.replace(b"MOV\0", b"MOV \0"),
    "one-byte-move": lambda data: b"MOV" + data[4:] if data[:3] == b"MOV" else data,
    "little-endian-move": lambda data: b"MOV" + data[4:] + b"\0" if data[:3] == b"MOV" else data,
    "nul": lambda data: data + b"\0",
    "asks-twice": lambda data: data * 2 if data == b"PLY" else data,
    "bets-first": lambda data: b"BET\0\0\0\x0a" if data == b"PLY" else data,
    "moves-first": lambda data: b"MOV\0H" + data if data == b"PLY" else data,
    "doubles": lambda data: b"MOV\0D" if data[:3] == b"MOV" else data,
    "shows-its-card": lambda data: b"CRD\0C\0A\0H" + data if data[:3] == b"MOV" else data,
    "spells-it-out": lambda data: b"PLAY" if data == b"PLY" else data,
    "bets-in-a-round": lambda data: b"BET\0\0\0\x01" + data if data[:3] == b"MOV" else data,
    "http": lambda data: b"GET / HTTP/1.1\r\n\r\n" if data == b"PLY" else data,
    "complains": lambda data: b"ERR\0\0\x01\x94" + data if data == b"PLY" else data,
}
"""Mutations of sent messages, by habit."""

BETS = {
    "text-number": lambda coins: b"BET" + str(coins).encode(),
    "text-number-of-four": lambda coins: b"BET" + b"%04d" % coins,
    "little-endian": lambda coins: b"BET" + struct.pack("<i", coins),
    "eight-bytes": lambda coins: b"BET" + struct.pack(">q", coins),
    "two-bytes": lambda coins: b"BET" + struct.pack(">h", coins),
    "bets-nothing": lambda coins: b"BET" + struct.pack(">i", 0),
    "bets-less": lambda coins: b"BET" + struct.pack(">i", -coins),
    "bets-too-much": lambda coins: b"BET" + struct.pack(">i", coins + 1001),
    "bets-twelve": lambda coins: b"BET" + struct.pack(">i", coins + 2),
    "space-before-the-bet": lambda coins: b"BET " + struct.pack(">i", coins),
}
"""Mutations of numbers, by habit."""


class Client(ClientPeer):
    def __init__(self, options: Options) -> None:
        super().__init__(options)
        self.soft_limit = 0 if self.habit == "counts-aces-as-one" else 11

    def send(self, data: bytes) -> None:
        data = MUTATIONS.get(self.habit, bytes)(data)
        self.connection.sendall(data)

    def receive(self) -> tuple[str, bytes]:
        """Return the next frame of the house: its header and fields."""
        if self.habit == "one-read":
            data = self.read_once()
            return self.check_end(data[:3].decode("latin-1"), data[3:])
        name = self.read_exactly(3).decode("latin-1")
        sizes = {"MON": 4, "CRD": 6, "TRN": 0, "RES": 6, "ERR": 4, "STP": 0}
        if name not in sizes:
            self.leave(f"I cannot read {name!r}")
        return self.check_end(name, self.read_exactly(sizes[name]))

    def check_end(self, name: str, fields: bytes) -> tuple[str, bytes]:
        if name == "STP" or (name == "ERR" and fields[:4] == struct.pack(">i", 300)):
            self.on_end()
        return name, fields

    def on_end(self) -> NoReturn:
        if self.habit == "plays-on":
            self.connection.sendall(b"PLY")
            time.sleep(HANG_SECONDS)
        super().on_end()

    def require(self, *names: str) -> tuple[str, bytes]:
        name, fields = self.receive()
        if name not in names:
            sys.exit(f"found {name}")
        return name, fields

    def game(self) -> bool:
        """Play one round; return False when the purse is empty."""
        self.send(b"PLY")
        _, fields = self.require("MON")
        purse = struct.unpack(">i" if self.habit != "reads-little-endian" else "<i", fields)[0]
        if self.habit == "reads-text":
            purse = int(fields.strip(b"\0\r\n ") or b"0", 16)
        if self.habit == "crashes":
            raise RuntimeError("index out of range")
        if self.habit == "leaves-in-a-round":
            self.leave()
        if purse <= 0 and self.habit != "bets-without-coins":
            return False
        coins = min(10, purse) if self.habit not in {"bets-without-coins", "always-bets-ten"} else 10
        self.send(BETS.get(self.habit, lambda more: b"BET" + struct.pack(">i", more))(coins))
        cards = [self.card(self.require("CRD")[1]), self.card(self.require("CRD")[1])]
        self.require("CRD")
        if self.habit == "stops-at-21" and sum(cards) == 21:
            return True
        threshold = self.rng.choice((12, 15, 17, 19, 22))
        while True:
            self.require("TRN")
            if len(cards) == 2 and self.rng.random() < 0.15:
                return self.surrender()
            total = sum(cards) + (10 if 1 in cards and sum(cards) <= 11 else 0)
            if total >= threshold:
                return self.stand()
            self.send(b"MOV\0H")
            cards.append(self.card(self.require("CRD")[1]))
            if self.habit == "waits-for-a-question":
                self.require("TRN")
            total = sum(cards) + (10 if 1 in cards and sum(cards) <= self.soft_limit else 0)
            if total == 21 and self.habit == "asks-on-at-21":
                self.send(b"MOV\0S")
            if total >= 21:
                self.require("RES")
                return True

    def surrender(self) -> bool:
        self.send(b"SRD")
        if self.habit == "waits-for-cards":
            self.require("CRD")
        self.require("RES")
        return True

    def card(self, fields: bytes) -> int:
        rank = fields[2:4].decode("utf-16-be")
        if rank in "TX\n" or fields[2:4] == b"10":
            if self.habit == "knows-no-ten":
                raise ValueError("rank T")
            if self.habit == "leaves-at-a-ten":
                self.send(b"STP")
                self.leave()
            return 10
        return 10 if rank in "JQK" else 1 if rank == "A" else int(rank)

    def stand(self) -> bool:
        self.send(b"MOV\0S")
        if self.habit == "one-bank-card":
            self.require("CRD")
            self.require("RES")
            return True
        while self.require("CRD", "RES")[0] == "CRD":
            pass
        if self.habit == "waits-for-more":
            self.receive()
        return True


def main() -> None:
    options = Options(2)
    client = Client(options)
    for _ in range(options.games):
        if not client.game():
            break
        if options.habit == "moves-when-over":
            client.send(b"MOV\0S")
    if options.habit == "ends-with-status-1":
        client.leave(1)
    client.send(b"STP")
    if options.habit != "does-not-wait":
        client.receive()
    client.connection.close()


if __name__ == "__main__":
    main()
