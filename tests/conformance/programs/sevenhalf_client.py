"""A student's client of seven and a half, in plain Python, with a habit.

    python -I -S sevenhalf_client.py HOST PORT [--habit NAME] [--games N] [--seed N]

It raises now and then, draws as long as it has fewer points than it likes, and hangs up in the end.
"""

import os
import random
import socket
import struct
import sys
import time

LONG = 600.0

HALVES = {**{str(rank): 2 * rank for rank in range(1, 8)}, "s": 1, "c": 1, "r": 1}

SPELT = {
    "quotes": lambda data: b'"' + data + b'"',
    "newline": lambda data: data + b"\r\n",
    "lower-case": lambda data: data[:4].lower() + data[4:],
    "nul": lambda data: data + b"\0",
    "asks-twice": lambda data: data * 2 if data == b"STRT" else data,
    "passes-first": lambda data: b"PASS" if data == b"DRAW" else data,
    "raises-first": lambda data: data + b"ANTE \0\0\0\x0a" if data == b"STRT" else data,
    "draws-first": lambda data: b"DRAW" + data if data == b"STRT" else data,
    "starts-in-a-game": lambda data: data + b"STRT" if data == b"DRAW" else data,
    "spells-it-out": lambda data: b"START" if data == b"STRT" else data,
    "another-code": lambda data: b"CARD" if data == b"DRAW" else data,
    "hit": lambda data: b"HITS" if data == b"DRAW" else data,
    "says-card": lambda data: b"CARD 7o" + data if data == b"DRAW" else data,
    "text-length": lambda data: data + b"ERRO 5hello" if data == b"STRT" else data,
    "argument-for-start": lambda data: b"STRT 1  " if data == b"STRT" else data,
}
"""Habits of speech."""

RAISES = {
    "text-number": lambda coins: b"ANTE " + str(coins).encode(),
    "text-number-of-four": lambda coins: b"ANTE " + b"%04d" % coins,
    "little-endian": lambda coins: b"ANTE " + struct.pack("<i", coins),
    "eight-bytes": lambda coins: b"ANTE " + struct.pack(">q", coins),
    "two-bytes": lambda coins: b"ANTE " + struct.pack(">h", coins),
    "no-space": lambda coins: b"ANTE" + struct.pack(">i", coins),
    "raises-by-nothing": lambda coins: b"ANTE " + struct.pack(">i", 0),
    "lowers": lambda coins: b"ANTE " + struct.pack(">i", -coins),
    "raises-too-much": lambda coins: b"ANTE " + struct.pack(">i", 2**31 - 1),
}
"""Habits of writing a number."""


class Client:
    def __init__(self, host: str, port: int, habit: str, luck: random.Random) -> None:
        self.habit = habit
        self.luck = luck
        self.rest = b""
        self.over = False
        self.line = socket.create_connection((host, port))
        self.line.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)

    def say(self, data: bytes) -> None:
        data = SPELT.get(self.habit, bytes)(data)
        self.line.sendall(data.decode("latin-1").encode("utf-16-be") if self.habit == "utf-16" else data)

    def exactly(self, length: int) -> bytes:
        while len(self.rest) < length:
            data = self.line.recv(4096)
            if not data:
                self.gone()
            self.rest += data
        found, self.rest = self.rest[:length], self.rest[length:]
        return found

    def hear(self) -> tuple[str, bytes]:
        """The next message of the house: its code and its argument."""
        if self.habit == "one-read":
            data = self.line.recv(1024)
            if not data:
                self.gone()
            return data[:4].decode("latin-1").upper(), data[5:]
        if self.habit == "one-message":
            self.rest = b""
        code = self.exactly(4)
        while code[:1] in {b"\r", b"\n"}:
            code = code[1:] + self.exactly(1)
        name = code.decode("latin-1")
        if self.habit != "case-sensitive":
            name = name.upper()
        if name == "BSTG":
            return name, b""
        if name not in {"STBT", "CARD", "BKSC", "GAIN", "ERRO"} or self.exactly(1) != b" ":
            return self.lost(name)
        return name, self.argument(name)

    def argument(self, name: str) -> bytes:
        if name == "CARD":
            card = self.exactly(2)
            if card.decode("latin-1").lower()[0] not in HALVES or card.decode("latin-1").lower()[1] not in "oceb":
                self.lost(name)
            return card
        if name == "ERRO":
            digits = self.exactly(2)
            if self.habit == "reads-no-text":
                return digits
            return self.exactly(int(digits))
        if name != "BKSC":
            if self.habit == "reads-lines":
                return self.exactly(4).strip()
            return self.exactly(4)
        count = struct.unpack(">i", self.exactly(4))[0]
        if not 0 <= count <= 40:
            self.lost(name)
        cards = self.exactly(2 * (1 if self.habit == "one-card-bank" else count))
        score = self.exactly(5)
        if score[3:4] != b".":
            self.lost(name)
        return cards

    def lost(self, name: str) -> tuple[str, bytes]:
        """What cannot be read."""
        if self.habit == "reads-on":
            return "CARD", b"1o"
        if self.habit == "waits-on-garbage":
            time.sleep(LONG)
        self.line.close()
        sys.exit(f"I cannot read {name!r}")

    def gone(self) -> None:
        """The house has left."""
        if self.habit == "clings":
            time.sleep(LONG)
        if self.habit == "crashes-at-the-end":
            os.abort()
        self.line.close()
        sys.exit(0)

    def start(self) -> int:
        """Ask for a game: the starting bet."""
        self.say(b"STRT")
        name, argument = self.hear()
        if name == "ERRO":
            self.gone()
        if name != "STBT":
            raise ValueError(name)
        bet = struct.unpack(">i", argument)[0]
        if bet < 1:
            raise ValueError(bet)
        return bet

    def game(self) -> None:
        bet = self.start()
        if self.habit == "leaves-in-a-game":
            self.line.close()
            sys.exit(0)
        if self.habit == "crashes":
            raise RuntimeError("index out of range")
        points = 0
        likes = self.luck.choice((4, 10, 12, 15))
        while True:
            self.say(b"DRAW")
            name, argument = self.hear()
            while name == "ERRO":
                name, argument = self.hear()
            if name != "CARD":
                raise ValueError(name)
            points += HALVES[argument.decode("latin-1").lower()[0]]
            if points > 15:
                return self.bust()
            if points == 15 and self.habit == "waits-at-the-best":
                self.hear()
            if points < 15 and self.luck.random() < 0.4 and self.raised(bet):
                continue
            if points >= likes:
                return self.stand()

    def raised(self, bet: int) -> bool:
        """Raise the bet; the house does not answer, and then a card has to be drawn."""
        coins = min(10, 2**30 - 1 - bet)
        self.say(RAISES.get(self.habit, lambda more: b"ANTE " + struct.pack(">i", more))(coins))
        if self.habit == "waits-behind-a-raise":
            self.hear()
        if self.habit == "passes-behind-a-raise":
            self.say(b"PASS")
        return True

    def stand(self) -> None:
        self.say(b"PASS")
        if self.habit == "waits-for-more":
            for _ in range(3):
                self.hear()
        while True:
            name, _ = self.hear()
            if name == "GAIN":
                return
            if name not in {"BKSC", "ERRO"}:
                raise ValueError(name)

    def bust(self) -> None:
        if self.habit in {"late-pass", "two-late-passes"}:
            self.say(b"PASS" * (1 + (self.habit == "two-late-passes")))
        if self.habit == "draws-on":
            self.say(b"DRAW")
        for wanted in ("BSTG", "BKSC", "GAIN"):
            name, _ = self.hear()
            if name != wanted:
                raise ValueError(name)


def main() -> None:
    host, port, *flags = sys.argv[1:]
    given = dict(zip(flags[::2], flags[1::2], strict=True))
    habit = given.get("--habit", "honest")
    luck = random.Random(int(given["--seed"]) if "--seed" in given else None)
    if habit == "never-connects":
        time.sleep(LONG)
    if habit == "ends-at-once":
        sys.exit("I cannot find my configuration")
    client = Client(host, int(port), habit, luck)
    if habit == "silent":
        client.line.recv(1)
        time.sleep(LONG)
    if habit == "http":
        client.line.sendall(b"GET / HTTP/1.1\r\n\r\n")
    for _ in range(int(given.get("--games", 12))):
        client.game()
        if habit == "passes-when-over":
            client.say(b"PASS")
    client.line.close()


if __name__ == "__main__":
    main()
