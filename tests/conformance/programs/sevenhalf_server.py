"""A student's server of seven and a half, in plain Python; `--habit` makes it break one rule.

    python -S sevenhalf_server.py PORT [--habit NAME] [--seed N]

It serves every client in a thread of its own.
"""

import struct
import time

from plumbing import HANG_SECONDS, Disconnected, TablePeer, serve

HALVES = {**{str(rank): 2 * rank for rank in range(1, 8)}, "s": 1, "c": 1, "r": 1}
DECK = [rank + suit for rank in HALVES for suit in "oceb"]
BEST = 15
MOST = 2**30 - 1


def number(value: int) -> bytes:
    return struct.pack(">i", value)


MUTATIONS = {
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
"""Mutations of sent messages, by habit."""


class Table(TablePeer):
    def send(self, *words: bytes) -> None:
        self.connection.sendall(b"".join(MUTATIONS.get(self.habit, bytes)(word) for word in words))

    def send_error(self, reason: bytes = b"not now") -> None:
        if self.habit != "never-refuses":
            self.send(b"ERRO %02d%s" % (len(reason), reason))

    def fail_unreadable(self) -> None:
        self.send_error(b"I cannot read this")
        raise Disconnected

    def receive(self) -> tuple[str, int]:
        """Return the next command and its amount."""
        while True:
            code = self.read_exactly(4)
            while code[:1] in {b"\r", b"\n", b" "}:
                code = code[1:] + self.read_exactly(1)
            name = (code if self.habit == "case-sensitive" else code.upper()).decode("latin-1")
            if name in {"STRT", "DRAW", "PASS"}:
                return name, 0
            if name == "BSTG":
                self.refuse()
                continue
            if name not in {"ANTE", "ERRO", "STBT", "GAIN", "CARD", "BKSC"} or self.read_exactly(1) != b" ":
                self.fail_unreadable()
            if name == "ANTE":
                return name, struct.unpack(">i", self.read_exactly(4))[0]
            self.swallow(name)
            if name != "ERRO":
                self.refuse()

    def refuse(self) -> None:
        """Refuse a message that only the house may send."""
        self.send_error()
        if self.habit == "hangs-up-at-house-words":
            raise Disconnected

    def swallow(self, name: str) -> None:
        """Read the argument of a message of the house, or of an error."""
        if name in {"STBT", "GAIN"}:
            self.read_exactly(4)
        elif name == "CARD":
            self.read_exactly(2)
        elif name == "ERRO":
            digits = self.read_exactly(2)
            if not digits.isdigit():
                self.fail_unreadable()
            self.read_exactly(int(digits))
        else:
            count = struct.unpack(">i", self.read_exactly(4))[0]
            if not 0 <= count <= 40:
                self.fail_unreadable()
            self.read_exactly(2 * count)
            if self.read_exactly(1) != b" ":
                self.fail_unreadable()
            self.read_exactly(4)

    def run(self) -> None:
        if self.habit == "greets":
            self.connection.sendall(b"STBT \0\0\0\x64")
        late = False
        while True:
            name, _ = self.receive()
            if name == "STRT":
                late = self.game()
            elif name == "PASS" and late:
                late = False
            else:
                self.send_error()

    def game(self) -> bool:
        """Play one game; return whether the client went over."""
        bet = 100
        deck = DECK[:] if self.habit != "two-decks" else DECK * 2
        self.rng.shuffle(deck)
        if self.habit == "one-card-for-all":
            deck = ["1o"] * 40
        self.send(b"STBT " + number(bet))
        points, raised, cards = 0, False, 0
        while True:
            name, coins = self.receive()
            if name == "DRAW":
                card = deck.pop()
                cards += 1
                raised = False
                points += HALVES[card[0]]
                if self.habit == "hangs":
                    time.sleep(HANG_SECONDS)
                over = points >= BEST if self.habit == "ends-at-the-best" else points > BEST
                self.send(b"CARD " + card.encode(), *([b"BSTG", *self.bank(deck, points, bet)] if over else []))
                if over:
                    return True
            elif name == "ANTE" and cards:
                if not 0 < coins <= MOST - bet:
                    self.send_error(b"too much")
                    continue
                raised = True
                bet += coins if self.habit != "forgets-antes" else 0
                if self.habit == "acknowledges":
                    self.send(b"STBT " + number(bet))
            elif name == "PASS" and cards and not raised:
                self.send(*self.bank(deck, points, bet))
                return False
            else:
                self.send_error()

    def bank(self, deck: list[str], points: int, bet: int) -> list[bytes]:
        """Return the bank's cards and the client's gain."""
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
        score_message = b"BKSC " + cards + b" %02d.%d" % (score // 2, 5 * (score % 2))
        words = [score_message, b"GAIN " + number(gain)]
        return words[::-1] if self.habit == "pays-first" else words


if __name__ == "__main__":
    serve(Table)
