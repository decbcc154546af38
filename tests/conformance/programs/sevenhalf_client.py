"""A student's client of seven and a half, in plain Python; `--habit` makes it break one rule.

    python -S sevenhalf_client.py HOST PORT [--habit NAME] [--games N] [--seed N]

It raises now and then, draws below a random number of points, and disconnects at the end.
"""

import struct

from plumbing import ClientPeer, Options

HALVES = {**{str(rank): 2 * rank for rank in range(1, 8)}, "s": 1, "c": 1, "r": 1}

MUTATIONS = {
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
"""Mutations of sent messages, by habit."""

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
"""Mutations of numbers, by habit."""


class Client(ClientPeer):
    def send(self, data: bytes) -> None:
        data = MUTATIONS.get(self.habit, bytes)(data)
        self.connection.sendall(data.decode("latin-1").encode("utf-16-be") if self.habit == "utf-16" else data)

    def receive(self) -> tuple[str, bytes]:
        """Return the next message of the house: its code and argument."""
        if self.habit == "one-read":
            data = self.read_once()
            return data[:4].decode("latin-1").upper(), data[5:]
        if self.habit == "one-message":
            self.unread = b""
        code = self.read_exactly(4)
        while code[:1] in {b"\r", b"\n"}:
            code = code[1:] + self.read_exactly(1)
        name = code.decode("latin-1")
        if self.habit != "case-sensitive":
            name = name.upper()
        if name == "BSTG":
            return name, b""
        if name not in {"STBT", "CARD", "BKSC", "GAIN", "ERRO"} or self.read_exactly(1) != b" ":
            return self.fail_unreadable(name)
        return name, self.argument(name)

    def argument(self, name: str) -> bytes:
        if name == "CARD":
            card = self.read_exactly(2)
            if card.decode("latin-1").lower()[0] not in HALVES or card.decode("latin-1").lower()[1] not in "oceb":
                self.fail_unreadable(name)
            return card
        if name == "ERRO":
            digits = self.read_exactly(2)
            if self.habit == "reads-no-text":
                return digits
            return self.read_exactly(int(digits))
        if name != "BKSC":
            if self.habit == "reads-lines":
                return self.read_exactly(4).strip()
            return self.read_exactly(4)
        count = struct.unpack(">i", self.read_exactly(4))[0]
        if not 0 <= count <= 40:
            self.fail_unreadable(name)
        cards = self.read_exactly(2 * (1 if self.habit == "one-card-bank" else count))
        score = self.read_exactly(5)
        if score[3:4] != b".":
            self.fail_unreadable(name)
        return cards

    def fail_unreadable(self, name: str) -> tuple[str, bytes]:
        """Handle a message that cannot be read."""
        if self.habit == "reads-on":
            return "CARD", b"1o"
        return self.leave(f"I cannot read {name!r}")

    def start(self) -> int:
        """Request a game; return the starting bet."""
        self.send(b"STRT")
        name, argument = self.receive()
        if name == "ERRO":
            self.on_end()
        if name != "STBT":
            raise ValueError(name)
        bet = struct.unpack(">i", argument)[0]
        if bet < 1:
            raise ValueError(bet)
        return bet

    def game(self) -> None:
        bet = self.start()
        if self.habit == "leaves-in-a-game":
            self.leave()
        if self.habit == "crashes":
            raise RuntimeError("index out of range")
        points = 0
        threshold = self.rng.choice((4, 10, 12, 15))
        while True:
            self.send(b"DRAW")
            name, argument = self.receive()
            while name == "ERRO":
                name, argument = self.receive()
            if name != "CARD":
                raise ValueError(name)
            points += HALVES[argument.decode("latin-1").lower()[0]]
            if points > 15:
                return self.bust()
            if points == 15 and self.habit == "waits-at-the-best":
                self.receive()
            if points < 15 and self.rng.random() < 0.4 and self.raised(bet):
                continue
            if points >= threshold:
                return self.stand()

    def raised(self, bet: int) -> bool:
        """Raise the bet; the house does not answer, and a card must be drawn next."""
        coins = min(10, 2**30 - 1 - bet)
        self.send(RAISES.get(self.habit, lambda more: b"ANTE " + struct.pack(">i", more))(coins))
        if self.habit == "waits-behind-a-raise":
            self.receive()
        if self.habit == "passes-behind-a-raise":
            self.send(b"PASS")
        return True

    def stand(self) -> None:
        self.send(b"PASS")
        if self.habit == "waits-for-more":
            for _ in range(3):
                self.receive()
        while True:
            name, _ = self.receive()
            if name == "GAIN":
                return
            if name not in {"BKSC", "ERRO"}:
                raise ValueError(name)

    def bust(self) -> None:
        if self.habit in {"late-pass", "two-late-passes"}:
            self.send(b"PASS" * (1 + (self.habit == "two-late-passes")))
        if self.habit == "draws-on":
            self.send(b"DRAW")
        for expected in ("BSTG", "BKSC", "GAIN"):
            name, _ = self.receive()
            if name != expected:
                raise ValueError(name)


def main() -> None:
    options = Options(2)
    client = Client(options)
    if options.habit == "http":
        client.connection.sendall(b"GET / HTTP/1.1\r\n\r\n")
    for _ in range(options.games):
        client.game()
        if options.habit == "passes-when-over":
            client.send(b"PASS")
    client.connection.close()


if __name__ == "__main__":
    main()
