"""A server of Kuhn poker, written from its document and the rulings, with a thread for each client.

    python -S kuhn_server.py PORT [--choice NAME=VALUE]…

| Choice | Values |
|---|---|
| seed | of the cards and the decisions; -1: none |
| coins | in the purse of every client |
| style | equilibrium, random, bold (always bets and calls), meek (never does) |
| letters | upper, lower, mixed |
| ending | none, or line: a line end after every message |
| pieces | flight, message, byte: what is passed to one `send` |
| pause | seconds before every answer |
| rest | seconds between two games |
| idle, move | seconds for any message, and for a decision; 0: no limit |
| spaces, quotes | accept or refuse spaces between messages, and arguments in quotes |
| quotes | frame: as accept, and what follows an opening quote is refused as an argument if none closes it |
| garbage | late or early: whether bytes are refused as soon as they cannot become a message |
| close | drain or plain: whether the server reads on after its DISC |
"""

import contextlib
import time

from plumbing import LETTER_CASES, Disconnected, Options, OutOfTime, Stream, serve_in_threads, table_luck

CHOICES = {
    "seed": -1,
    "coins": 10,
    "style": "equilibrium",
    "letters": "upper",
    "ending": "none",
    "pieces": "flight",
    "pause": 0.0,
    "rest": 0.0,
    "idle": 0.0,
    "move": 0.0,
    "spaces": "accept",
    "quotes": "accept",
    "garbage": "late",
    "close": "drain",
}
ARGUMENTS = {
    "STRT": {"P_1", "P_2"},
    "ACTN": {"CHK", "BET", "CAL", "FLD"},
    "CARD": {"C_J", "C_Q", "C_K"},
    "FAIL": {"W_A", "N_C"},
}
CODES = {*ARGUMENTS, "DISC"}
OFFERED = {"": {"CHK", "BET"}, "CHK": {"CHK", "BET"}, "BET": {"CAL", "FLD"}, "CHK BET": {"CAL", "FLD"}}

BET_CHANCES = {
    "bold": {"J": 1.0, "Q": 1.0, "K": 1.0},
    "meek": {"J": 0.0, "Q": 0.0, "K": 0.0},
    "random": {"J": 0.5, "Q": 0.5, "K": 0.5},
}
"""How often a style bets or calls with a card, whatever has happened."""

EQUILIBRIUM = {
    "": {"J": 1 / 3, "Q": 0.0, "K": 1.0},
    "CHK": {"J": 1 / 3, "Q": 0.0, "K": 1.0},
    "BET": {"J": 0.0, "Q": 1 / 3, "K": 1.0},
    "CHK BET": {"J": 0.0, "Q": 2 / 3, "K": 1.0},
}
"""How often the equilibrium bets or calls with a card, by the actions so far."""


class Unreadable(Exception):
    """These bytes are no message, and nothing shows where the next one begins."""


class Table:
    """The private table of one client."""

    def __init__(self, stream: Stream, options: Options) -> None:
        self.stream = stream
        self.options = options
        self.coins = options.coins
        self.rng = table_luck(options.seed)
        self.decision_end: float | None = None

    def send(self, *messages: str) -> None:
        letters = LETTER_CASES[self.options.letters]
        ending = "\n" if self.options.ending == "line" else ""
        self.stream.send(*(f"{letters(message)}{ending}".encode() for message in messages))

    def converse(self) -> None:
        """Play until one side has had enough."""
        try:
            while self.between_games():
                pass
        except Unreadable:
            self.part("FAIL W_A", "DISC")
        except OutOfTime:
            self.part("DISC")
        except Disconnected:
            pass
        self.stream.close(self.options.close)

    def part(self, *messages: str) -> None:
        with contextlib.suppress(Disconnected):
            self.send(*messages)

    # Reading.

    def read_code(self) -> str:
        code = self.stream.read(1)
        while self.options.spaces == "accept" and code in b"\r\n ":
            code = self.stream.read(1)
        while len(code) < 4:
            self.check_prefix(code)
            code += self.stream.read(1)
        name = code.decode("latin-1").upper()
        if name not in CODES:
            raise Unreadable
        return name

    def check_prefix(self, code: bytes) -> None:
        prefix = code.decode("latin-1").upper()
        if self.options.garbage == "early" and not any(known.startswith(prefix) for known in CODES):
            raise Unreadable

    def read_message(self) -> tuple[str, str]:
        """Return a code and its argument, which is empty if it has no meaning."""
        limits = [self.decision_end] if self.decision_end is not None else []
        if self.options.idle:
            limits.append(time.monotonic() + self.options.idle)
        self.stream.deadline = min(limits, default=None)
        code = self.read_code()
        if code == "DISC":
            return code, ""
        if self.stream.read(1) != b" ":
            raise Unreadable
        argument = self.stream.read(1)
        if argument == b'"' and self.options.quotes != "refuse":
            argument = self.stream.read(3)
            if self.stream.read(1) != b'"':
                if self.options.quotes == "accept":
                    raise Unreadable
                argument = b""
        else:
            argument += self.stream.read(2)
        text = argument.decode("latin-1").upper()
        return code, text if text in ARGUMENTS[code] else ""

    # Playing.

    def between_games(self) -> bool:
        """Wait for STRT and play its game; return whether the client stays."""
        code, argument = self.read_message()
        if code == "DISC":
            return False
        if code == "FAIL":
            return True
        if code != "STRT" or not argument:
            self.send("FAIL W_A")
            return True
        if self.coins < 1:
            self.send("FAIL N_C")
            return True
        self.coins -= 1
        stays = self.game(is_first=argument == "P_1")
        time.sleep(self.options.rest)
        return stays

    def game(self, *, is_first: bool) -> bool:
        """Play a game to its end; return whether the client stays."""
        own, other = self.rng.sample("JQK", 2)
        answer = [f"CARD C_{other}"]
        history: list[str] = []
        if not is_first:
            history.append(self.choose(own, history))
            answer.append(f"ACTN {history[-1]}")
        self.send(*answer)
        while True:
            action = self.decision(history)
            if action is None:
                return False
            history.append(action)
            if self.is_over(history):
                break
            history.append(self.choose(own, history))
            if self.is_over(history):
                if history[-1] == "FLD":
                    self.send("ACTN FLD")
                break
            self.send(f"ACTN {history[-1]}")
        pot = 2 + history.count("BET") + history.count("CAL")
        if history[-1] == "FLD":
            self.coins += 0 if action == "FLD" else pot
        else:
            self.send(f"CARD C_{own}")
            self.coins += pot if "JQK".index(other) > "JQK".index(own) else 0
        return True

    @staticmethod
    def is_over(history: list[str]) -> bool:
        return " ".join(history) not in OFFERED

    def choose(self, card: str, history: list[str]) -> str:
        """Return the house's action."""
        place = " ".join(history)
        chances = EQUILIBRIUM[place] if self.options.style == "equilibrium" else BET_CHANCES[self.options.style]
        wants = self.rng.random() < chances[card]
        if "BET" in OFFERED[place]:
            return "BET" if wants else "CHK"
        return "CAL" if wants else "FLD"

    def decision(self, history: list[str]) -> str | None:
        """Return the client's action, None if it leaves. A bet or a call is paid."""
        if self.options.move:
            self.decision_end = time.monotonic() + self.options.move
        while True:
            code, action = self.read_message()
            if code == "DISC":
                return None
            if code == "FAIL":
                continue
            if code != "ACTN" or action not in OFFERED[" ".join(history)]:
                self.send("FAIL W_A")
            elif action in {"BET", "CAL"} and self.coins < 1:
                self.send("FAIL N_C")
            else:
                self.decision_end = None
                self.coins -= action in {"BET", "CAL"}
                return action


def main() -> None:
    serve_in_threads(lambda stream, options: Table(stream, options).converse(), CHOICES)


if __name__ == "__main__":
    main()
