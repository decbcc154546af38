"""A client of seven and a half, written from its document and the rulings, with a blocking socket.

    python -S sevenhalf_client.py HOST PORT [--choice NAME=VALUE]…

| Choice | Values |
|---|---|
| seed | of the decisions; -1: none |
| games | how many are played at most |
| target | the score in halves at which it passes; 0: another one in each game |
| ante | small, large, never, twice |
| letters | upper, lower, mixed |
| pieces | flight, message, byte: what is passed to one `send` |
| pause | seconds before every message |
| ahead | no; draw: STRT and DRAW are sent together; game: STRT, DRAW and PASS; all: so are all games |
| late_pass | no, yes: whether it passes after a BSTG, too |
| complains | no, yes: whether it sends an ERRO now and then, which needs no reason |
| again | no, yes: whether it connects again when a house closes after GAIN |
| leave | close, half: half closes its sending direction and reads on |
| status | the exit status after the house has said goodbye |
| check | no, yes: whether the house's messages are compared with the rules |
"""

import socket
import sys

from plumbing import LETTER_CASES, Disconnected, Farewell, HouseAtFault, Options, Stream, client_luck

CHOICES = {
    "seed": -1,
    "games": 8,
    "target": 0,
    "ante": "small",
    "letters": "upper",
    "pieces": "flight",
    "pause": 0.0,
    "ahead": "no",
    "late_pass": "no",
    "complains": "no",
    "again": "no",
    "leave": "close",
    "status": 0,
    "check": "no",
}
HALVES = dict(zip("1234567scr", (2, 4, 6, 8, 10, 12, 14, 1, 1, 1), strict=True))
MOST = 2**30 - 1


def signed(data: bytes) -> int:
    return int.from_bytes(data, "big", signed=True)


def card_of(data: bytes) -> str:
    card = data.decode("latin-1").lower()
    if len(card) != 2 or card[0] not in HALVES or card[1] not in "oceb":
        raise HouseAtFault(f"found the card {card}")
    return card


class Game:
    """What the client knows of a game."""

    def __init__(self, bet: int) -> None:
        self.bet = bet
        self.cards: list[str] = []
        self.bank: list[str] = []
        self.bank_score = 0

    @property
    def score(self) -> int:
        return sum(HALVES[card[0]] for card in self.cards)

    def check(self, gain: int) -> None:
        """Compare the end of the game with the rules."""
        own, bank = self.score, sum(HALVES[card[0]] for card in self.bank)
        expected = -self.bet
        if own <= 15 and own == bank:
            expected = 0
        elif own <= 15 and (bank > 15 or bank < own):
            expected = 2 * self.bet if own == 15 else self.bet
        if gain != expected or bank != self.bank_score:
            raise HouseAtFault(f"{gain} for {self.cards} against {self.bank} with {self.bank_score} and {self.bet}")
        if len({*self.cards, *self.bank}) < len(self.cards) + len(self.bank):
            raise HouseAtFault(f"a card is there twice: {self.cards} {self.bank}")
        before = bank - HALVES[self.bank[-1][0]] if self.bank else 99
        if (own > 15 and len(self.bank) != 1) or (len(self.bank) > 1 and before > own):
            raise HouseAtFault(f"the bank draws {self.bank} against {self.cards}")
        if own <= 15 and bank <= own and bank != 15:
            raise HouseAtFault(f"the bank stops at {self.bank} against {self.cards}")


class Client:
    """One client, on one connection after another if need be."""

    def __init__(self, address: tuple[str, int], options: Options) -> None:
        self.address = address
        self.options = options
        self.rng = client_luck(options.seed)
        self.played = 0
        self.stream = self.connect()

    def connect(self) -> Stream:
        return Stream(socket.create_connection(self.address), self.options.pieces, self.options.pause)

    def send(self, *messages: bytes) -> None:
        letters = LETTER_CASES[self.options.letters]
        if self.options.complains == "yes" and self.rng.random() < 0.3:
            messages = (b"ERRO 09Div error", *messages)
        self.stream.send(*(letters(message[:4].decode()).encode() + message[4:] for message in messages))

    def receive(self) -> tuple[str, bytes]:
        """Return the next message of the house: its code and its argument."""
        code = self.stream.read(4).decode("latin-1").upper()
        if code == "BSTG":
            return code, b""
        if code not in {"STBT", "CARD", "BKSC", "GAIN", "ERRO"} or self.stream.read(1) != b" ":
            raise HouseAtFault(f"found {code}")
        if code == "CARD":
            return code, self.stream.read(2)
        if code == "ERRO":
            digits = self.stream.read(2)
            if not digits.isdigit():
                raise HouseAtFault(f"found ERRO {digits!r}")
            return code, self.stream.read(int(digits))
        if code != "BKSC":
            return code, self.stream.read(4)
        count = signed(self.stream.read(4))
        if not 0 <= count <= 40:
            raise HouseAtFault(f"found {count} cards")
        return code, self.stream.read(2 * count + 5)

    def answer(self, *allowed: str) -> tuple[str, bytes]:
        """Return the next message, which is one of these, after refusals. An ERRO before a close is a goodbye."""
        code, argument = self.receive()
        while code == "ERRO" and code not in allowed:
            try:
                code, argument = self.receive()
            except Disconnected:
                raise Farewell from None
        if code not in allowed:
            raise HouseAtFault(f"found {code}; allowed: {', '.join(allowed)}")
        return code, argument

    def run(self) -> None:
        """Play all games, and leave."""
        if self.options.ahead == "all":
            self.send(*(b"STRT", b"DRAW", b"PASS") * self.options.games)
            for _ in range(self.options.games):
                self.read_game_ahead()
        while self.played < self.options.games:
            try:
                self.game()
            except Disconnected:
                if self.options.again == "no" or not self.is_between_games:
                    raise Farewell from None
                self.stream.close("plain")
                self.stream = self.connect()
        self.stream.close("drain" if self.options.leave == "half" else "plain")

    def game(self) -> None:
        self.is_between_games = self.played > 0
        if self.options.ahead == "game":
            self.send(b"STRT", b"DRAW", b"PASS")
            self.read_game_ahead()
            return
        self.send(*[b"STRT", b"DRAW"] if self.options.ahead == "draw" else [b"STRT"])
        game = Game(signed(self.answer("STBT")[1]))
        self.is_between_games = False
        if self.options.ahead != "draw":
            self.send(b"DRAW")
        self.read_card(game)
        target = self.options.target or self.rng.choice((5, 9, 11, 13, 15, 16))
        while game.score < target and game.score <= 15:
            self.draw(game)
        if game.score > 15:
            self.answer("BSTG")
            if self.options.late_pass == "yes":
                self.send(b"PASS")
        else:
            self.send(b"PASS")
        self.read_end(game)

    def draw(self, game: Game) -> None:
        """Draw another card, perhaps after raising the bet."""
        amounts = []
        if self.options.ante != "never" and self.rng.random() < 0.5:
            more = MOST - game.bet if self.options.ante == "large" else min(10, MOST - game.bet)
            amounts = [more] if more > 0 else []
            if self.options.ante == "twice" and more > 1:
                amounts = [more - 1, 1]
        self.send(*(b"ANTE " + amount.to_bytes(4, "big") for amount in amounts), b"DRAW")
        game.bet += sum(amounts)
        self.read_card(game)

    def read_card(self, game: Game) -> None:
        game.cards.append(card_of(self.answer("CARD")[1]))

    def read_end(self, game: Game) -> None:
        """Read the bank's cards and the gain."""
        argument = self.answer("BKSC")[1]
        shown, score = argument[:-5], argument[-5:].decode("latin-1")
        if score[0] != " " or not (score[1:3].isdigit() and score[3] == "." and score[4].isdigit()):
            raise HouseAtFault(f"found the score {score}")
        game.bank = [card_of(shown[at : at + 2]) for at in range(0, len(shown), 2)]
        game.bank_score = round(2 * float(score))
        gain = signed(self.answer("GAIN")[1])
        self.played += 1
        if self.options.check == "yes":
            game.check(gain)

    def read_game_ahead(self) -> None:
        """Read the answers to STRT, DRAW and PASS."""
        game = Game(signed(self.answer("STBT")[1]))
        self.is_between_games = False
        self.read_card(game)
        self.read_end(game)


def main() -> int:
    host, port, *arguments = sys.argv[1:]
    options = Options(CHOICES, arguments)
    client = Client((host, int(port)), options)
    status = 0
    try:
        client.run()
    except (Farewell, Disconnected):
        status = options.status
    except HouseAtFault as fault:
        print(f"the house is at fault: {fault}", file=sys.stderr)
        status = 3
    print(f"{client.played} games", flush=True)
    return status


if __name__ == "__main__":
    sys.exit(main())
