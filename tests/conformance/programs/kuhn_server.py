"""A student's server of Kuhn poker, in plain Python, with a habit.

    python -I -S kuhn_server.py PORT [--habit NAME] [--seed N]

It acts at random, and serves every client in a thread of its own.
"""

import os
import random
import socket
import sys
import threading
import time

LONG = 600.0

CARDS = "JQK"
CODES = {"STRT": ("P_1", "P_2"), "ACTN": ("CHK", "BET", "CAL", "FLD"), "CARD": ("C_J", "C_Q", "C_K"), "FAIL": ()}

SPELT = {
    "quotes": lambda text: f'{text[:5]}"{text[5:]}"' if len(text) > 4 else text,
    "newline": lambda text: text + "\r\n",
    "nul": lambda text: text + "\0",
    "no-space": lambda text: text.replace(" ", ""),
    "spells-cards-out": lambda text: text.replace("C_Q", "QUE"),
    "no-prefix": lambda text: text.replace("C_", ""),
    "says-call": lambda text: "ACTN CAL" + text if text[:4] == "CARD" else text,
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
        self.coins = 10

    def say(self, *texts: str) -> None:
        self.line.sendall("".join(SPELT.get(self.habit, str)(text) for text in texts).encode("latin-1"))

    def exactly(self, length: int) -> str:
        if self.habit == "one-read":
            data = self.rest or self.line.recv(1024)
            self.rest = data[length:]
            if not data:
                raise Gone
            return data[:length].decode("latin-1")
        while len(self.rest) < length:
            data = self.line.recv(4096)
            if not data:
                raise Gone
            self.rest += data
        found, self.rest = self.rest[:length], self.rest[length:]
        return found.decode("latin-1")

    def hear(self) -> tuple[str, str]:
        """The next message that means something: its code and its argument."""
        while True:
            code = self.exactly(4)
            while code[0] in "\r\n ":
                code = code[1:] + self.exactly(1)
            code = code if self.habit == "case-sensitive" else code.upper()
            if code == "DISC":
                raise Gone
            if code not in CODES or self.exactly(1) != " ":
                self.say("FAIL W_A", "DISC")
                raise Gone
            argument = self.exactly(3)
            if argument[0] == '"':
                argument = argument[1:] + self.exactly(2)
                if argument[3] != '"':
                    self.say("FAIL W_A", "DISC")
                    raise Gone
                argument = argument[:3]
            argument = argument if self.habit == "case-sensitive" else argument.upper()
            if code == "FAIL":
                continue
            if argument not in CODES[code] or code == "CARD":
                self.wrong()
                continue
            return code, argument

    def wrong(self) -> None:
        if self.habit != "never-refuses":
            self.say("FAIL W_A")

    def act(self, *choices: str) -> str:
        """The client's action."""
        while True:
            code, argument = self.hear()
            if code != "ACTN" or (argument not in choices and self.habit != "takes-any-action"):
                self.wrong()
            elif argument in {"BET", "CAL"} and not self.coins and self.habit != "gives-credit":
                self.say("FAIL N_C")
            else:
                self.coins -= argument in {"BET", "CAL"}
                return argument

    def talk(self) -> None:
        if self.habit == "greets":
            self.say("CARD C_Q")
        while True:
            code, argument = self.hear()
            if code != "STRT":
                self.wrong()
            elif self.coins < 1 and self.habit != "gives-credit":
                self.say("FAIL N_C")
            else:
                self.coins -= 1
                self.game(argument == "P_1")
                if self.habit == "one-game":
                    raise Gone

    def game(self, first: bool) -> None:
        mine, other = self.luck.sample(CARDS, 2)
        if self.habit == "deals-twice":
            other = mine
        card, shown = f"CARD C_{other}", f"CARD C_{mine}"
        if self.habit == "forgets-the-card" and not first:
            card = ""
        won = CARDS.index(other) > CARDS.index(mine)
        if first:
            self.say(*([] if self.habit == "hangs" else [card]))
            if self.act("CHK", "BET") == "BET":
                return self.called(shown, won)
            if self.luck.random() < 0.5:
                self.coins += 2 * won
                return self.say(*(["ACTN CHK"] if self.habit == "says-check" else []), shown)
            self.say("ACTN BET")
            return self.answered(shown, won)
        bets = self.luck.random() < 0.5
        if self.habit == "waits-for-p2":
            self.say(card)
            self.hear()
        self.say(*filter(None, [card]), "ACTN BET" if bets else "ACTN CHK")
        if bets:
            return self.answered(shown, won)
        if self.act("CHK", "BET") == "BET":
            return self.called(shown, won)
        self.coins += 2 * won
        return self.say(shown)

    def called(self, shown: str, won: bool) -> None:
        """The client has bet."""
        if self.luck.random() < 0.4:
            self.coins += 3
            return self.say("ACTN FLD")
        self.coins += 4 * won
        return self.say(shown)

    def answered(self, shown: str, won: bool) -> None:
        """The client is bet at."""
        if self.act("CAL", "FLD") == "FLD":
            return self.say(shown) if self.habit == "answers-a-fold" else None
        self.coins += 4 * won
        return self.say(shown)


def serve(line: socket.socket, habit: str, luck: random.Random) -> None:
    """One conversation, to its end."""
    with line:
        try:
            line.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            Table(line, habit, luck).talk()
            line.shutdown(socket.SHUT_WR)
        except (Gone, OSError):
            if habit == "never-closes":
                time.sleep(LONG)
        if habit == "serves-once":
            os._exit(0)


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
