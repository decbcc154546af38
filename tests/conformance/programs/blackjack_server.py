"""A student's server of blackjack, in plain Python; `--habit` makes it break one rule.

    python -S blackjack_server.py PORT [--habit NAME] [--seed N]

It serves every client in a thread of its own.
"""

import socket
import struct
import time

from plumbing import HANG_SECONDS, Disconnected, Options, TablePeer, serve

RANKS = "A23456789TJQK"
DECK = [rank + suit for rank in RANKS for suit in "HDSC"]
FIELDS = {"PLY": 0, "BET": 4, "MOV": 2, "SRD": 0, "STP": 0, "MON": 4, "CRD": 6, "TRN": 0, "RES": 6, "ERR": 4}
LARGEST = 2**31 - 1


def wide(text: str) -> bytes:
    return text.encode("utf-16-be")


def frame(name: str, text: str = "", *numbers: int) -> bytes:
    return name.encode() + wide(text) + b"".join(struct.pack(">i", value) for value in numbers)


MUTATIONS = {
    "newline": lambda data: data + b"\r\n",
    "nul": lambda data: data + b"\0",
    "lower-case": lambda data: data[:3].lower() + data[3:],
    "one-byte-letters": lambda data: data[:3] + data[4::2] if data[:3] == b"CRD" else data,
    "little-endian-letters": lambda data: data[:3] + data[4:] + b"\0" if data[:3] == b"CRD" else data,
    "little-endian": lambda data: data[:3] + data[:2:-1] if data[:3] == b"MON" else data,
    "text-balance": lambda data: b"MON%04d" % struct.unpack(">i", data[3:]) if data[:3] == b"MON" else data,
    "ten-as-two-digits": lambda data: data.replace(b"\0T", b"10"),
    "no-turn": lambda data: b"" if data == b"TRN" else data,
    "no-result": lambda data: b"" if data[:3] == b"RES" else data,
    "no-balance": lambda data: b"" if data[:3] == b"MON" else data,
}
"""Mutations of sent messages, by habit."""


def total(cards: list[str]) -> int:
    values = [11 if card[0] == "A" else 10 if card[0] in "TJQK" else int(card[0]) for card in cards]
    found = sum(values)
    for value in values:
        if found > 21 and value == 11:
            found -= 10
    return found


class Table(TablePeer):
    def __init__(self, connection: socket.socket, options: Options) -> None:
        super().__init__(connection, options)
        self.purse = 1000

    def send(self, *frames: bytes) -> None:
        self.connection.sendall(b"".join(MUTATIONS.get(self.habit, bytes)(each) for each in frames))

    def send_error(self, reason: int = 501) -> None:
        if self.habit != "never-refuses":
            self.send(frame("ERR", "", reason))

    def receive(self) -> tuple[str, bytes]:
        """Return the next frame that is not ignored."""
        while True:
            name = self.read_exactly(3).decode("latin-1")
            if name not in FIELDS:
                self.send(frame("ERR", "", 502), frame("ERR", "", 300), frame("STP"))
                raise Disconnected
            fields = self.read_exactly(FIELDS[name])
            if name == "STP":
                if self.habit != "leaves-without-a-word":
                    self.send(frame("STP"))
                raise Disconnected
            if name in {"PLY", "BET", "MOV", "SRD"}:
                return name, fields
            if name != "ERR":
                self.send_error()

    def run(self) -> None:
        if self.habit == "greets":
            self.connection.sendall(frame("MON", "", 1000))
        while True:
            name, _ = self.receive()
            if name != "PLY":
                self.send_error()
                continue
            self.send(frame("MON", "", self.purse))
            self.play(self.bet())

    def bet(self) -> int:
        """Return the client's bet."""
        while True:
            name, fields = self.receive()
            if name != "BET":
                self.send_error()
                continue
            coins = struct.unpack(">i", fields)[0]
            if coins <= 0:
                self.send_error(500)
            elif coins > min(self.purse, LARGEST - self.purse, 2**30 - 1) and self.habit != "gives-credit":
                self.send_error(400)
            else:
                self.purse -= coins
                return coins

    def play(self, bet: int) -> None:
        deck = DECK[:]
        self.rng.shuffle(deck)
        if self.habit == "one-card-for-all":
            deck = ["5H"] * 52
        client, bank = [deck.pop(), deck.pop()], [deck.pop()]
        self.send(*(frame("CRD", "C" + card) for card in client), frame("CRD", "S" + bank[0]), frame("TRN"))
        if self.habit == "hangs":
            time.sleep(HANG_SECONDS)
        while True:
            name, fields = self.receive()
            if name == "SRD":
                return self.pay("L", bet // 2 if self.habit != "keeps-a-surrender" else 0)
            if name != "MOV":
                self.send_error()
            elif fields == wide("S"):
                return self.stand(deck, client, bank, bet)
            elif fields != wide("H"):
                self.send_error(500)
            else:
                client.append(deck.pop())
                card = frame("CRD", "C" + client[-1])
                if total(client) > 21 or (total(client) == 21 and self.habit != "asks-at-21"):
                    won = total(client) == 21
                    self.send(card)
                    return self.pay("W" if won else "L", 2 * bet if won else 0)
                self.send(card, frame("TRN"))

    def stand(self, deck: list[str], client: list[str], bank: list[str], bet: int) -> None:
        while total(bank) < (18 if self.habit == "draws-on-17" else 17):
            bank.append(deck.pop())
        shown = bank if self.habit == "shows-all-again" else bank[1:]
        self.send(*(frame("CRD", "S" + card) for card in shown))
        mine, other = total(bank), total(client)
        won = mine > 21 or other > mine or (other == mine and mine < 21 and self.habit != "takes-ties")
        if not won:
            return self.pay("L", 0)
        return self.pay("W", bet if self.habit == "pays-the-gain" else 2 * bet)

    def pay(self, result: str, coins: int) -> None:
        if self.habit != "forgets-to-pay":
            self.purse += coins
        self.send(frame("RES", result, coins))


if __name__ == "__main__":
    serve(Table)
