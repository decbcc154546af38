"""A student's server of Kuhn poker, in plain Python; `--habit` makes it break one rule.

    python -S kuhn_server.py PORT [--habit NAME] [--seed N]

It acts at random, and serves every client in a thread of its own.
"""

import socket

from plumbing import Disconnected, Options, TablePeer, serve

CARDS = "JQK"
CODES = {"STRT": ("P_1", "P_2"), "ACTN": ("CHK", "BET", "CAL", "FLD"), "CARD": ("C_J", "C_Q", "C_K"), "FAIL": ()}

MUTATIONS = {
    "quotes": lambda text: f'{text[:5]}"{text[5:]}"' if len(text) > 4 else text,
    "newline": lambda text: text + "\r\n",
    "nul": lambda text: text + "\0",
    "no-space": lambda text: text.replace(" ", ""),
    "spells-cards-out": lambda text: text.replace("C_Q", "QUE"),
    "no-prefix": lambda text: text.replace("C_", ""),
    "says-call": lambda text: "ACTN CAL" + text if text[:4] == "CARD" else text,
}
"""Mutations of sent messages, by habit."""


class Table(TablePeer):
    def __init__(self, connection: socket.socket, options: Options) -> None:
        super().__init__(connection, options)
        self.coins = 10

    def send(self, *texts: str) -> None:
        self.connection.sendall("".join(MUTATIONS.get(self.habit, str)(text) for text in texts).encode("latin-1"))

    def read_text(self, length: int) -> str:
        if self.habit == "one-read":
            data = self.unread or self.connection.recv(1024)
            self.unread = data[length:]
            if not data:
                raise Disconnected
            return data[:length].decode("latin-1")
        return self.read_exactly(length).decode("latin-1")

    def receive(self) -> tuple[str, str]:
        """Return the next known message: its code and argument."""
        while True:
            code = self.read_text(4)
            while code[0] in "\r\n ":
                code = code[1:] + self.read_text(1)
            code = code if self.habit == "case-sensitive" else code.upper()
            if code == "DISC":
                raise Disconnected
            if code not in CODES or self.read_text(1) != " ":
                self.send("FAIL W_A", "DISC")
                raise Disconnected
            argument = self.read_text(3)
            if argument[0] == '"':
                argument = argument[1:] + self.read_text(2)
                if argument[3] != '"':
                    self.send("FAIL W_A", "DISC")
                    raise Disconnected
                argument = argument[:3]
            argument = argument if self.habit == "case-sensitive" else argument.upper()
            if code == "FAIL":
                continue
            if argument not in CODES[code] or code == "CARD":
                self.send_error()
                continue
            return code, argument

    def send_error(self) -> None:
        if self.habit != "never-refuses":
            self.send("FAIL W_A")

    def act(self, *choices: str) -> str:
        """Return the client's action."""
        while True:
            code, argument = self.receive()
            if code != "ACTN" or (argument not in choices and self.habit != "takes-any-action"):
                self.send_error()
            elif argument in {"BET", "CAL"} and not self.coins and self.habit != "gives-credit":
                self.send("FAIL N_C")
            else:
                self.coins -= argument in {"BET", "CAL"}
                return argument

    def run(self) -> None:
        if self.habit == "greets":
            self.send("CARD C_Q")
        while True:
            code, argument = self.receive()
            if code != "STRT":
                self.send_error()
            elif self.coins < 1 and self.habit != "gives-credit":
                self.send("FAIL N_C")
            else:
                self.coins -= 1
                self.game(argument == "P_1")
                if self.habit == "one-game":
                    raise Disconnected

    def game(self, first: bool) -> None:
        mine, other = self.rng.sample(CARDS, 2)
        if self.habit == "deals-twice":
            other = mine
        card, shown = f"CARD C_{other}", f"CARD C_{mine}"
        if self.habit == "forgets-the-card" and not first:
            card = ""
        won = CARDS.index(other) > CARDS.index(mine)
        if first:
            self.send(*([] if self.habit == "hangs" else [card]))
            if self.act("CHK", "BET") == "BET":
                return self.called(shown, won)
            if self.rng.random() < 0.5:
                self.coins += 2 * won
                return self.send(*(["ACTN CHK"] if self.habit == "says-check" else []), shown)
            self.send("ACTN BET")
            return self.answered(shown, won)
        bets = self.rng.random() < 0.5
        if self.habit == "waits-for-p2":
            self.send(card)
            self.receive()
        self.send(*filter(None, [card]), "ACTN BET" if bets else "ACTN CHK")
        if bets:
            return self.answered(shown, won)
        if self.act("CHK", "BET") == "BET":
            return self.called(shown, won)
        self.coins += 2 * won
        return self.send(shown)

    def called(self, shown: str, won: bool) -> None:
        """Respond to a bet of the client."""
        if self.rng.random() < 0.4:
            self.coins += 3
            return self.send("ACTN FLD")
        self.coins += 4 * won
        return self.send(shown)

    def answered(self, shown: str, won: bool) -> None:
        """Bet, and handle the client's response."""
        if self.act("CAL", "FLD") == "FLD":
            return self.send(shown) if self.habit == "answers-a-fold" else None
        self.coins += 4 * won
        return self.send(shown)


if __name__ == "__main__":
    serve(Table)
