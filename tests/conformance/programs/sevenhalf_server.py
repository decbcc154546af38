"""A student's server of seven and a half, in plain Python, with a habit.

    python -I -S sevenhalf_server.py PORT [--habit NAME] [--seed N]

It serves every client in a thread of its own.
"""

import random
import socket
import struct
import sys
import threading
import time

LONG = 600.0

HALVES = {**{str(rank): 2 * rank for rank in range(1, 8)}, "s": 1, "c": 1, "r": 1}
DECK = [rank + suit for rank in HALVES for suit in "oceb"]
BEST = 15
MOST = 2**30 - 1


def number(value: int) -> bytes:
    return struct.pack(">i", value)


SPELT = {
    "newline": lambda data: data + b"\r\n",
    "nul": lambda data: data + b"\0",
    "quotes": lambda data: b"CARD '" + data[5:] + b"'" if data[:4] == b"CARD" else data,
    "text-bet": lambda data: b"STBT 100" if data[:4] == b"STBT" else data,
    "little-endian-gain": lambda data: data[:5] + data[:4:-1] if data[:4] == b"GAIN" else data,
    "suit-first": lambda data: b"CARD " + data[:4:-1] if data[:4] == b"CARD" else data,
    "comma": lambda data: data[:-2] + b"," + data[-1:] if data[:4] == b"BKSC" else data,
    "count-as-text": lambda data: b"BKSC " + b"%d" % data[8] + data[9:] if data[:4] == b"BKSC" else data,
    "no-space": lambda data: data[:4] + data[5:] if data[:4] == b"STBT" else data,
    "forgets-bust": lambda data: b"" if data == b"BSTG" else data,
    "forgets-gain": lambda data: b"" if data[:4] == b"GAIN" else data,
}
"""Habits of speech."""


class Gone(Exception):
    """The client has left, or has to go."""


class Table:
    def __init__(self, line: socket.socket, habit: str, luck: random.Random) -> None:
        self.line = line
        self.habit = habit
        self.luck = luck
        self.rest = b""

    def say(self, *words: bytes) -> None:
        self.line.sendall(b"".join(SPELT.get(self.habit, bytes)(word) for word in words))

    def wrong(self, reason: bytes = b"not now") -> None:
        if self.habit != "never-refuses":
            self.say(b"ERRO %02d%s" % (len(reason), reason))

    def exactly(self, length: int) -> bytes:
        while len(self.rest) < length:
            data = self.line.recv(4096)
            if not data:
                raise Gone
            if self.habit == "one-read":
                data = data[:length]
            self.rest += data
        found, self.rest = self.rest[:length], self.rest[length:]
        return found

    def lost(self) -> None:
        self.wrong(b"I cannot read this")
        raise Gone

    def hear(self) -> tuple[str, int]:
        """The next command, and the amount behind it."""
        while True:
            code = self.exactly(4)
            while code[:1] in {b"\r", b"\n", b" "}:
                code = code[1:] + self.exactly(1)
            name = (code if self.habit == "case-sensitive" else code.upper()).decode("latin-1")
            if name in {"STRT", "DRAW", "PASS"}:
                return name, 0
            if name == "BSTG":
                self.refuse()
                continue
            if name not in {"ANTE", "ERRO", "STBT", "GAIN", "CARD", "BKSC"} or self.exactly(1) != b" ":
                self.lost()
            if name == "ANTE":
                return name, struct.unpack(">i", self.exactly(4))[0]
            self.swallow(name)
            if name != "ERRO":
                self.refuse()

    def refuse(self) -> None:
        """Refuse a word of the house."""
        self.wrong()
        if self.habit == "hangs-up-at-house-words":
            raise Gone

    def swallow(self, name: str) -> None:
        """Read the argument of what a house says, or of an error."""
        if name in {"STBT", "GAIN"}:
            self.exactly(4)
        elif name == "CARD":
            self.exactly(2)
        elif name == "ERRO":
            digits = self.exactly(2)
            if not digits.isdigit():
                self.lost()
            self.exactly(int(digits))
        else:
            count = struct.unpack(">i", self.exactly(4))[0]
            if not 0 <= count <= 40:
                self.lost()
            self.exactly(2 * count)
            if self.exactly(1) != b" ":
                self.lost()
            self.exactly(4)

    def talk(self) -> None:
        late = False
        while True:
            name, _ = self.hear()
            if name == "STRT":
                late = self.game()
            elif name == "PASS" and late:
                late = False
            else:
                self.wrong()

    def game(self) -> bool:
        """Play one game; whether the client was over."""
        bet = 100
        deck = DECK[:] if self.habit != "two-decks" else DECK * 2
        self.luck.shuffle(deck)
        if self.habit == "one-card-for-all":
            deck = ["1o"] * 40
        self.say(b"STBT " + number(bet))
        points, raised, cards = 0, False, 0
        while True:
            name, coins = self.hear()
            if name == "DRAW":
                card = deck.pop()
                cards += 1
                raised = False
                points += HALVES[card[0]]
                if self.habit == "hangs":
                    time.sleep(LONG)
                over = points >= BEST if self.habit == "ends-at-the-best" else points > BEST
                self.say(b"CARD " + card.encode(), *([b"BSTG", *self.bank(deck, points, bet)] if over else []))
                if over:
                    return True
            elif name == "ANTE" and cards:
                if not 0 < coins <= MOST - bet:
                    self.wrong(b"too much")
                    continue
                raised = True
                bet += coins if self.habit != "forgets-antes" else 0
                if self.habit == "acknowledges":
                    self.say(b"STBT " + number(bet))
            elif name == "PASS" and cards and not raised:
                self.say(*self.bank(deck, points, bet))
                return False
            else:
                self.wrong()

    def bank(self, deck: list[str], points: int, bet: int) -> list[bytes]:
        """What the bank draws, and what the client gains."""
        drawn: list[str] = []
        score = 0
        while not drawn or (points <= BEST and score <= points and score < BEST):
            drawn.append(deck.pop())
            score += HALVES[drawn[-1][0]]
            if self.habit == "stops-when-level" and score == points:
                break
        if points > BEST:
            gain = -bet
        elif score == points:
            gain = -bet if self.habit == "takes-a-tie" else 0
        elif points < score <= BEST:
            gain = -bet
        else:
            gain = 2 * bet if points == BEST and self.habit != "pays-once" else bet
        if self.habit == "forgets-the-sign":
            gain = abs(gain)
        cards = number(len(drawn)) + "".join(drawn).encode()
        told = b"BKSC " + cards + b" %02d.%d" % (score // 2, 5 * (score % 2))
        words = [told, b"GAIN " + number(gain)]
        return words[::-1] if self.habit == "pays-first" else words


def serve(line: socket.socket, habit: str, luck: random.Random) -> None:
    """One conversation, to its end."""
    with line:
        try:
            line.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            if habit == "greets":
                line.sendall(b"STBT \0\0\0\x64")
            Table(line, habit, luck).talk()
        except (Gone, OSError):
            if habit == "never-closes":
                time.sleep(LONG)


def main() -> None:
    port, *flags = sys.argv[1:]
    given = dict(zip(flags[::2], flags[1::2], strict=True))
    habit = given.get("--habit", "honest")
    luck = random.Random(int(given["--seed"]) if "--seed" in given else None)
    if habit == "never-listens":
        time.sleep(LONG)
    if habit == "ends-at-once":
        sys.exit("I cannot find my configuration")
    with socket.create_server(("127.0.0.1", int(port)), backlog=128) as listening:
        while True:
            line, _ = listening.accept()
            threading.Thread(target=serve, args=(line, habit, luck), daemon=True).start()


if __name__ == "__main__":
    main()
