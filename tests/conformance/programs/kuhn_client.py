"""A student's client of Kuhn poker, in plain Python; `--habit` makes it break one rule.

    python -I -S kuhn_client.py HOST PORT [--habit NAME] [--games N] [--seed N]

It sits in both seats in turn, acts at random, and sends DISC at the end.
"""

import random
import socket
import sys
import time

HANG_SECONDS = 600.0

MUTATIONS = {
    "quotes": lambda text: f'{text[:5]}"{text[5:]}"' if len(text) > 4 else text,
    "newline": lambda text: text + "\r\n",
    "lower-case": str.lower,
    "no-space": lambda text: text.replace(" ", ""),
    "two-spaces": lambda text: text.replace(" ", "  "),
    "nul": lambda text: text + "\0",
    "third-seat": lambda text: text.replace("STRT P_1", "STRT P_3"),
    "spells-it-out": lambda text: text.replace("ACTN BET", "ACTN RAI"),
    "calls-for-nothing": lambda text: text.replace("ACTN CHK", "ACTN CAL"),
    "asks-twice": lambda text: text * 2 if text[:4] == "STRT" else text,
    "acts-twice": lambda text: text * 2 if text == "ACTN BET" else text,
    "shows-its-card": lambda text: "CARD C_K" + text if text[:4] == "ACTN" else text,
    "complains": lambda text: "FAIL XYZ" + text if text[:4] == "ACTN" else text,
    "says-start": lambda text: text.replace("STRT", "STAR"),
    "argument-only": lambda text: text[5:] or text,
}
"""Mutations of sent messages, by habit."""


class Client:
    def __init__(self, host: str, port: int, habit: str, rng: random.Random) -> None:
        self.habit = habit
        self.rng = rng
        self.unread = b""
        self.connection = socket.create_connection((host, port))
        self.connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)

    def send(self, text: str) -> None:
        data = MUTATIONS.get(self.habit, str)(text)
        self.connection.sendall(data.encode("utf-16-be" if self.habit == "utf-16" else "latin-1"))

    def read_exactly(self, length: int) -> str:
        while len(self.unread) < length:
            data = self.connection.recv(4096)
            if not data:
                self.exit()
            self.unread += data
        found, self.unread = self.unread[:length], self.unread[length:]
        return found.decode("latin-1")

    def receive(self) -> str:
        """Return the next message of the house."""
        if self.habit in {"one-read", "one-read-anew"}:
            data = self.connection.recv(1024)
            if not data:
                self.exit()
            text = data.decode("latin-1")[: 8 if self.habit == "one-read" else None]
        else:
            while self.unread[:1] in {b"\r", b"\n"} and self.unread:
                self.unread = self.unread[1:]
            code = self.read_exactly(4)
            while code[:1] in {"\r", "\n", " "}:
                code = code[1:] + self.read_exactly(1)
            text = code if code.upper() == "DISC" else code + self.read_exactly(4)
            if text[5:6] == '"':
                text = text[:5] + text[6:] + self.read_exactly(1)
                text += self.read_exactly(1)
                text = text[:8]
        if self.habit != "case-sensitive":
            text = text.upper()
        if text == "DISC":
            self.exit()
        return text

    def exit(self) -> None:
        """Exit after the house has disconnected."""
        if self.habit == "clings":
            time.sleep(HANG_SECONDS)
        if self.habit == "crashes-at-the-end":
            import os

            os.abort()
        self.connection.close()
        sys.exit(0)

    def game(self, seat: int) -> bool:
        """Play one game; return False when the purse is empty."""
        self.send(f"STRT P_{seat}")
        text = self.receive()
        if text == "FAIL N_C":
            if self.habit == "ignores-refusals":
                self.send("ACTN CHK")
                self.receive()
            return False
        if text[:7] != "CARD C_":
            raise ValueError(text)
        if self.habit == "leaves-in-a-game":
            self.connection.close()
            sys.exit(0)
        if self.habit == "crashes":
            raise RuntimeError("index out of range")
        if seat == 2:
            return self.after(self.receive(), ("CHK", "BET"))
        return self.act(("CHK", "BET"), first=True)

    def after(self, text: str, free: tuple[str, str]) -> bool:
        """Respond to the house's action."""
        if text[:7] == "CARD C_":
            return True
        if text == "ACTN FLD":
            if self.habit == "acts-on":
                self.send("ACTN CHK")
                self.receive()
            return True
        if text == "ACTN BET":
            return self.act(("CAL", "FLD"))
        if text == "ACTN CHK":
            return self.act(free)
        raise ValueError(text)

    def act(self, choices: tuple[str, str], first: bool = False) -> bool:
        if self.habit == "checks-behind-a-bet" and choices[0] == "CAL":
            choices = ("CHK", "CHK")
        action = self.rng.choice(choices)
        self.send(f"ACTN {action}")
        if action == "FLD":
            if self.habit == "waits-behind-a-fold":
                self.receive()
            return True
        text = self.receive()
        if text == "FAIL N_C":
            if self.habit == "waits-behind-a-refusal":
                self.receive()
            self.send(f"ACTN {'FLD' if 'FLD' in choices else 'CHK'}")
            return self.after(self.receive(), choices) if "CHK" in choices else True
        return self.after(text, choices)


def main() -> None:
    host, port, *flags = sys.argv[1:]
    given = dict(zip(flags[::2], flags[1::2], strict=True))
    habit = given.get("--habit", "honest")
    rng = random.Random(int(given["--seed"]) if "--seed" in given else None)
    if habit == "never-connects":
        time.sleep(HANG_SECONDS)
    if habit == "ends-at-once":
        sys.exit("I cannot find my configuration")
    if habit == "chatty":
        sys.stdout.write("debug " * 100_000)
    client = Client(host, int(port), habit, rng)
    if habit == "silent":
        client.connection.recv(1)
    if habit == "acts-first":
        client.send("ACTN BET")
    if habit == "http":
        client.connection.sendall(b"GET / HTTP/1.1\r\n\r\n")
    for number in range(int(given.get("--games", 12))):
        if not client.game(1 + number % 2):
            break
        if habit == "acts-when-over":
            client.send("ACTN FLD")
    if habit == "never-leaves":
        client.connection.recv(1)
        time.sleep(HANG_SECONDS)
    client.send("DISC")
    client.connection.close()


if __name__ == "__main__":
    main()
