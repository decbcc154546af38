"""A student's client of Kuhn poker, in plain Python; `--habit` makes it break one rule.

    python -S kuhn_client.py HOST PORT [--habit NAME] [--games N] [--seed N]

It sits in both seats in turn, acts at random, and sends DISC at the end.
"""

import sys
import time

from plumbing import HANG_SECONDS, ClientPeer, Options

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


class Client(ClientPeer):
    def send(self, text: str) -> None:
        data = MUTATIONS.get(self.habit, str)(text)
        self.connection.sendall(data.encode("utf-16-be" if self.habit == "utf-16" else "latin-1"))

    def read_text(self, length: int) -> str:
        return self.read_exactly(length).decode("latin-1")

    def receive(self) -> str:
        """Return the next message of the house."""
        if self.habit in {"one-read", "one-read-anew", "one-late-read"}:
            time.sleep(0.1 if self.habit == "one-late-read" else 0.0)
            data = self.read_once()
            text = data.decode("latin-1")[: None if self.habit == "one-read-anew" else 8]
        else:
            while self.unread[:1] in {b"\r", b"\n"} and self.unread:
                self.unread = self.unread[1:]
            code = self.read_text(4)
            while code[:1] in {"\r", "\n", " "}:
                code = code[1:] + self.read_text(1)
            text = code if code.upper() == "DISC" else code + self.read_text(4)
            if text[5:6] == '"':
                text = text[:5] + text[6:] + self.read_text(1)
                text += self.read_text(1)
                text = text[:8]
        if self.habit != "case-sensitive":
            text = text.upper()
        if text == "DISC":
            self.on_end()
        return text

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
        if self.habit == "leaves-in-a-game" or (self.habit == "leaves-with-a-jack" and text == "CARD C_J"):
            self.leave()
        if self.habit == "crashes":
            raise RuntimeError("index out of range")
        if seat == 2:
            if self.habit == "acts-early":
                self.send("ACTN CHK")
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
        if self.habit == "leaves-by-chance" and self.rng.random() < 0.3:
            self.leave()
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
    options = Options(2)
    if options.habit == "chatty":
        sys.stdout.write("debug " * 100_000)
    client = Client(options)
    if options.habit == "acts-first":
        client.send("ACTN BET")
    if options.habit == "http":
        client.connection.sendall(b"GET / HTTP/1.1\r\n\r\n")
    for number in range(options.games):
        if not client.game(2 if options.habit == "sits-second" else 1 + number % 2):
            break
        if options.habit == "acts-when-over":
            client.send("ACTN FLD")
    if options.habit == "never-leaves":
        client.connection.recv(1)
        time.sleep(HANG_SECONDS)
    client.send("DISC")
    client.connection.close()


if __name__ == "__main__":
    main()
