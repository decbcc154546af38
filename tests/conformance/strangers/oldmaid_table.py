"""A student's Old Maid table, written from the exercise and the rulings alone: threads, sockets and json.

    python -S oldmaid_table.py PORT [OPTIONS]

Each option is another legal reading of what the document leaves open; `--help` lists them.
"""

import argparse
import json
import random
import select
import socket
import sys
import threading
import time
from pathlib import Path

SUITS = ["spades", "clubs", "diamonds", "hearts"]
VALUES = ["2", "3", "4", "5", "6", "7", "8", "9", "10", "J", "Q", "K", "A"]
DECK = [(value, suit) for value in VALUES for suit in SUITS] + [("joker", "maid")]
COLOURS = [{"spades", "clubs"}, {"diamonds", "hearts"}]
MAX_MESSAGE_BYTES = 65_536
HELD_ELSEWHERE = "You may not discard these cards now."
TABLE = threading.Condition()
"""The one lock: every thread that reads or changes a game, or the list of waiting players, holds it."""


class RefusedError(Exception):
    """A request that is answered with an error."""


class GarbageError(Exception):
    """Bytes after which the conversation cannot go on."""


class JsonStream:
    """JSON objects from a socket, however they are cut; a stray word ends the conversation, or its line."""

    def __init__(self, connection, garbage):
        self.connection, self.garbage = connection, garbage
        self.data = b""

    def next(self):
        """Return the text of the next object, None at the end of the stream. Raises GarbageError."""
        while True:
            self.data = self.data.lstrip()
            if self.data:
                end = self.end_of_value()
                if end:
                    text, self.data = self.data[:end], self.data[end:]
                    return text
            if len(self.data) > MAX_MESSAGE_BYTES:
                raise GarbageError("This message is too long.")
            received = self.connection.recv(4096)
            if not received:
                return None
            self.data += received

    def has_ended(self):
        """Keep what has arrived meanwhile; return whether the other side has hung up."""
        while len(self.data) <= MAX_MESSAGE_BYTES and select.select([self.connection], [], [], 0)[0]:
            try:
                received = self.connection.recv(4096)
            except ConnectionError:
                return True
            if not received:
                return True
            self.data += received
        return False

    def end_of_value(self):
        """Return where the first value ends, 0 if it is incomplete."""
        if self.data[:1] not in {b"{", b"["}:
            if self.garbage == "close":
                raise GarbageError("This is no JSON object.")
            line = self.data.find(b"\n") + 1
            brace = self.data.find(b"{")
            return min([end for end in (line, brace) if end > 0], default=0)
        depth, in_string, escaped = 0, False, False
        for place, byte in enumerate(self.data):
            if in_string:
                in_string = byte != ord('"') or escaped
                escaped = byte == ord("\\") and not escaped
                if byte == ord("\n"):
                    return place + 1
            elif byte == ord('"'):
                in_string, escaped = True, False
            else:
                depth += (byte in b"{[") - (byte in b"}]")
                if not depth:
                    return place + 1
        return 0


class Game:
    def __init__(self, players, deck):
        self.players = players
        self.deck = deck
        self.turn = 0
        self.drawn = {}  # card: the player who drew it
        self.discarded = set()
        self.out = []
        self.gone = []

    def left(self):
        return [one for one in self.players if one not in self.out and one not in self.gone]

    def is_over(self):
        return len(self.left()) < 2

    def skip(self):
        """Give the turn to the next player who is in."""
        left = self.left()
        while left and self.players[self.turn] not in left:
            self.turn = (self.turn + 1) % len(self.players)

    def draw(self, player):
        self.require_in(player)
        if self.is_over() or not self.deck:
            raise RefusedError("There is nothing to draw.")
        if self.players[self.turn] is not player:
            raise RefusedError("It is not your turn to draw.")
        card = self.deck.pop(0)
        self.drawn[card] = player
        self.turn = (self.turn + 1) % len(self.players)
        self.skip()
        return {"result": "ok" if self.deck else "last_card", "card": list(card)}

    def discard(self, player, cards):
        self.require_in(player)
        first, second = cards
        if first not in DECK or second not in DECK:
            raise RefusedError("There is no such card.")
        if first[0] != second[0] or {first[1], second[1]} not in COLOURS:
            raise RefusedError("These cards are no pair.")
        if self.is_over() and self.gone:
            raise RefusedError("The game is over.")
        for card in cards:
            if card not in self.drawn or card in self.discarded or (self.deck and self.drawn[card] is not player):
                raise RefusedError(HELD_ELSEWHERE)
        self.discarded |= set(cards)
        return {"result": "ok", "message": "ok"}

    def out_of_cards(self, player, *, early):
        self.require_in(player)
        if self.is_over():
            raise RefusedError("The game is over.")
        if self.deck and not early:
            raise RefusedError("There are cards to draw.")
        self.out.append(player)
        self.skip()
        return {"result": "ok"}

    def leave(self, player):
        if player in self.left() and not self.is_over():
            self.gone.insert(0, player)
            self.skip()

    def require_in(self, player):
        if player not in self.left():
            raise RefusedError("You are out.")

    def status(self):
        return {
            "in": [one.nick for one in self.left()],
            "out": [one.nick for one in self.out + self.gone],
        }


class Lobby:
    """Those who wait for a game, and the start of games."""

    def __init__(self, options):
        self.options = options
        self.waiting = []
        self.playing = []
        self.window_end = None
        self.random = random.Random(options.seed)
        self.decks = []
        if options.deck:
            blocks = Path(options.deck).read_text(encoding="ascii").split("\n\n")
            self.decks = [[tuple(line.split()) for line in block.splitlines()] for block in blocks if block.strip()]
        self.number = 0

    def deck(self):
        rest = DECK.copy()
        self.random.shuffle(rest)
        if not self.decks:
            return rest
        first = self.decks[self.number % len(self.decks)]
        self.number += 1
        return first + [card for card in rest if card not in first]

    def enter(self, client):
        self.playing = [game for game in self.playing if not game.is_over()]
        busy = self.waiting + [one for game in self.playing for one in game.left()]
        if any(one.address == client.address for one in busy):
            raise RefusedError("Another player has this address.")
        if any(one.nick == client.nick for one in self.waiting):
            raise RefusedError("Another player has this nick.")
        self.waiting.append(client)
        if len(self.waiting) == 2:
            self.window_end = time.monotonic() + self.options.join_window
        self.start_if_due()

    def start_if_due(self):
        full = len(self.waiting) >= self.options.players
        due = len(self.waiting) >= 2 and time.monotonic() >= self.window_end
        if full or due:
            game = Game(self.waiting, self.deck())
            self.waiting = []
            self.playing.append(game)
            for one in game.players:
                one.game = game
            TABLE.notify_all()

    def wait(self, client):
        """Wait until the game of this client starts. Raises ConnectionError when it leaves before."""
        while client in self.waiting:
            TABLE.wait(0.02)
            if client in self.waiting and client.stream.has_ended():
                self.waiting.remove(client)
                raise ConnectionError
            if client in self.waiting:
                self.start_if_due()


class Client(threading.Thread):
    """One connection."""

    def __init__(self, connection, source, lobby):
        super().__init__(daemon=True)
        self.connection, self.source, self.lobby = connection, source, lobby
        self.options = lobby.options
        self.nick, self.address, self.game = "", source, None
        self.stream = JsonStream(connection, self.options.garbage)

    def run(self):
        try:
            while (text := self.stream.next()) is not None:
                self.handle(text)
        except GarbageError as error:
            self.farewell(str(error))
        except OSError:
            pass
        finally:
            with TABLE:
                if self.game:
                    self.game.leave(self)
            self.connection.close()

    def farewell(self, text):
        try:
            self.send(self.error(text))
            self.connection.shutdown(socket.SHUT_WR)
            while self.connection.recv(4096):
                pass
        except OSError:
            pass

    def handle(self, text):
        try:
            request = json.loads(text.decode())
        except UnicodeDecodeError:
            raise GarbageError("This is not UTF-8.") from None
        except (ValueError, RecursionError):
            self.send(self.error("This is no JSON."))
            return
        if isinstance(request, dict) and "cmd" not in request and "result" in request:
            return
        try:
            with TABLE:
                answer = self.answer(request)
        except RefusedError as error:
            answer = self.error(str(error))
            command = request.get("cmd") if isinstance(request, dict) else None
            if self.options.errors == "printed" and command == "draw":
                answer["card"] = []  # the document prints one answer for all results
            if self.options.errors == "bare" and command in ["draw", "out_of_cards", "status"]:
                del answer["message"]  # the document has it in the answer to discard alone
        self.send(answer)

    @staticmethod
    def error(text):
        return {"result": "error", "message": text}

    def answer(self, request):
        if not isinstance(request, dict):
            raise RefusedError("This is no object.")
        command = request.get("cmd")
        if command == "join":
            return self.join(request)
        if command not in ["draw", "discard", "out_of_cards", "status"]:
            raise RefusedError("There is no such command.")
        cards = read_cards(request) if command == "discard" else None
        if self.game is None and command == "status" and self.options.early_status == "empty":
            return {"in": [], "out": []}
        if self.game is None:
            raise RefusedError("Join a game first.")
        match command:
            case "draw":
                return self.game.draw(self)
            case "discard":
                return self.game.discard(self, cards)
            case "out_of_cards":
                return self.game.out_of_cards(self, early=self.options.early_out == "accepted")
        return self.game.status()

    def join(self, request):
        nick, port = request.get("nick"), request.get("port", self.source[1])
        if not isinstance(nick, str) or not nick.strip():
            raise RefusedError("A nick is a text that is not empty.")
        if type(port) is not int or not 0 < port < 65536:
            raise RefusedError("A port is a number between 1 and 65535.")
        if self.game and self in self.game.left() and not self.game.is_over():
            raise RefusedError("You are in a game.")
        self.nick, self.address = nick, (self.source[0], port)
        self.lobby.enter(self)
        self.lobby.wait(self)
        players = [[list(one.address), one.nick] for one in self.game.players]
        if self.options.list == "njaal":
            return {"result": "ok", "players": players}
        return {"result": "ok", "players": {f"player{n}": one for n, one in enumerate(players, 1)}}

    def send(self, value):
        if self.options.extra_keys:
            value = {"time": int(time.time())} | value
        if self.options.json == "reversed":
            text = json.dumps(dict(reversed(value.items())), indent=1)
        elif self.options.json == "compact":
            text = json.dumps(value, separators=(",", ":"), ensure_ascii=False)
        else:
            text = json.dumps(value)
        data = (text + {"newline": "\n", "crlf": "\r\n", "none": ""}[self.options.ending]).encode()
        if self.options.pieces == "byte":
            for byte in data[:-1]:
                self.connection.sendall(bytes([byte]))
                time.sleep(0.002)
            data = data[-1:]
        self.connection.sendall(data)


def read_cards(request):
    cards = request.get("cards")
    flag = request.get("last_cards", request.get("last_card", "false"))
    if flag not in ("true", "false", True, False) or type(flag) in {int, float}:
        raise RefusedError("last_cards is neither true nor false.")
    if not isinstance(cards, list) or len(cards) != 2:
        raise RefusedError("Discard two cards.")
    for card in cards:
        if not isinstance(card, list) or len(card) != 2 or not all(isinstance(word, str) for word in card):
            raise RefusedError("A card is a value and a suit.")
    return [tuple(card) for card in cards]


def parse_options(words):
    parser = argparse.ArgumentParser()
    parser.add_argument("port", type=int)
    parser.add_argument("--players", type=int, default=4)
    parser.add_argument("--join-window", type=float, default=10.0)
    parser.add_argument("--seed", type=int)
    parser.add_argument("--deck")
    parser.add_argument("--list", choices=["object", "njaal"], default="object")
    parser.add_argument("--json", choices=["spaced", "compact", "reversed"], default="spaced")
    parser.add_argument("--ending", choices=["newline", "crlf", "none"], default="newline")
    parser.add_argument("--pieces", choices=["whole", "byte"], default="whole")
    parser.add_argument("--errors", choices=["message", "bare", "printed"], default="message")
    parser.add_argument("--garbage", choices=["skip", "close"], default="skip")
    parser.add_argument("--early-out", choices=["refused", "accepted"], default="refused")
    parser.add_argument("--early-status", choices=["refused", "empty"], default="refused")
    parser.add_argument("--extra-keys", action="store_true")
    return parser.parse_args(words)


def main():
    lobby = Lobby(parse_options(sys.argv[1:]))
    server = socket.create_server(("127.0.0.1", lobby.options.port), backlog=64)
    print(f"oldmaid is open at 127.0.0.1:{server.getsockname()[1]}", flush=True)
    while True:
        connection, source = server.accept()
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        Client(connection, source, lobby).start()


if __name__ == "__main__":
    main()
