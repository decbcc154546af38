"""A student's server of Kuhn poker, in plain Python; `--habit` makes it break one rule.

    python -I -S kuhn_server.py PORT [--habit NAME] [--seed N]

It acts at random, and serves every client in a thread of its own.
"""

import os
import random
import socket
import sys
import threading
import time

HANG_SECONDS = 600.0

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


class Disconnected(Exception):
    """The client has disconnected, or must be disconnected."""


class HungUp(Disconnected):
    """The client has disconnected without a goodbye."""


class Table:
    def __init__(self, connection: socket.socket, habit: str, rng: random.Random) -> None:
        self.connection = connection
        self.habit = habit
        self.rng = rng
        self.unread = b""
        self.coins = 10

    def send(self, *texts: str) -> None:
        self.connection.sendall("".join(MUTATIONS.get(self.habit, str)(text) for text in texts).encode("latin-1"))

    def read_exactly(self, length: int) -> str:
        if self.habit == "one-read":
            data = self.unread or self.connection.recv(1024)
            self.unread = data[length:]
            if not data:
                raise Disconnected
            return data[:length].decode("latin-1")
        while len(self.unread) < length:
            data = self.connection.recv(4096)
            if not data:
                raise HungUp
            self.unread += data
        found, self.unread = self.unread[:length], self.unread[length:]
        return found.decode("latin-1")

    def receive(self) -> tuple[str, str]:
        """Return the next known message: its code and argument."""
        while True:
            code = self.read_exactly(4)
            while code[0] in "\r\n ":
                code = code[1:] + self.read_exactly(1)
            code = code if self.habit == "case-sensitive" else code.upper()
            if code == "DISC":
                raise Disconnected
            if code not in CODES or self.read_exactly(1) != " ":
                self.send("FAIL W_A", "DISC")
                raise Disconnected
            argument = self.read_exactly(3)
            if argument[0] == '"':
                argument = argument[1:] + self.read_exactly(2)
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


def serve(connection: socket.socket, habit: str, rng: random.Random) -> None:
    """Run one conversation to its end."""
    with connection:
        try:
            connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            Table(connection, habit, rng).run()
            connection.shutdown(socket.SHUT_WR)
        except (Disconnected, OSError) as error:
            if habit == "ends-at-hang-up" and type(error) is not Disconnected:
                os._exit(3)
            if habit == "never-closes":
                time.sleep(HANG_SECONDS)
        if habit == "serves-once":
            os._exit(0)


def main() -> None:
    port, *flags = sys.argv[1:]
    given = dict(zip(flags[::2], flags[1::2], strict=True))
    habit = given.get("--habit", "honest")
    rng = random.Random(int(given["--seed"]) if "--seed" in given else None)
    if habit == "never-listens":
        time.sleep(HANG_SECONDS)
    if habit == "ends-at-once":
        sys.exit("I cannot find my configuration")
    with socket.create_server(("127.0.0.1", int(port)), backlog=128) as listening:
        while True:
            connection, _ = listening.accept()
            threading.Thread(target=serve, args=(connection, habit, rng), daemon=True).start()


if __name__ == "__main__":
    main()
