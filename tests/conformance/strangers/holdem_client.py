"""A student's hold'em bot, written from the README and the rulings alone, with http.client.

    python -S holdem_client.py --url http://127.0.0.1:8080 --user ann --password secret [OPTIONS]

Each option is another legal way to use the document; `--help` lists them.
"""

import argparse
import base64
import http.client
import json
import random
import ssl
import sys
import time
from urllib.parse import urlsplit

TRIES = 8
RETRY_SECONDS = 0.1


class Server:
    """Requests to the server, signed or not, each tried again while the server is busy or cannot be reached."""

    def __init__(self, options):
        self.options = options
        self.address = urlsplit(options.url)
        self.connection = None
        self.signature = "Basic " + base64.b64encode(f"{options.user}:{options.password}".encode()).decode()

    def connect(self):
        host, port = self.address.hostname, self.address.port
        if self.address.scheme == "https":
            context = ssl.create_default_context(cafile=self.options.ca)
            return http.client.HTTPSConnection(host, port, timeout=10, context=context)
        return http.client.HTTPConnection(host, port, timeout=10)

    def ask_once(self, method, path, body, signed):
        headers = {"Authorization": self.signature} if signed else {}
        if body is not None and self.options.content_type:
            headers["Content-Type"] = self.options.content_type
        if self.options.connection == "each":
            headers["Connection"] = "close"
        if self.connection is None:
            self.connection = self.connect()
        try:
            self.connection.request(method, self.spell(path), body, headers)
            response = self.connection.getresponse()
            data = response.read()
        except (OSError, http.client.HTTPException):
            self.hang_up()
            raise
        if self.options.connection == "each":
            self.hang_up()
        return response.status, data

    def hang_up(self):
        self.connection.close()
        self.connection = None

    def spell(self, path):
        if self.options.slashes == "never":
            return path.rstrip("/")
        return path.rstrip("/") + "/" if self.options.slashes == "always" else path

    def ask(self, method, path, body=None, *, signed=True):
        """Return the status and the value of the body; only what may be repeated is asked again."""
        for number in range(TRIES):
            try:
                status, data = self.ask_once(method, path, body, signed)
            except (OSError, http.client.HTTPException):
                status, data = 0, b""
            if status not in {0, 429, 500, 502, 503}:
                break
            if path.endswith("/acts/") and status == 0:
                break  # it may have been carried out: look first
            time.sleep(RETRY_SECONDS * (number + 1))
        try:
            value = json.loads(data) if status < 300 and data.strip() else None
        except ValueError:
            sys.exit(f"{method} {path}: no JSON: {data[:80]!r}")
        return status, value


class Bot:
    def __init__(self, options):
        self.options = options
        self.server = Server(options)
        self.random = random.Random(options.seed)
        self.game = self.player = ""
        self.done_turn = ""  # the expiry of the turn in which it has acted
        self.street = None
        self.level_seen = None  # bet_to_player when it last acted in this round
        self.played = False

    def run(self):
        self.register()
        self.join()
        left, last_act = self.options.acts, time.monotonic()
        while left and time.monotonic() < last_act + self.options.patience:
            game = self.look()
            if game is None:
                return
            if self.is_my_turn(game):
                left -= self.act(game)
                last_act = time.monotonic()
            else:
                time.sleep(self.options.poll)
        if self.options.goodbye:
            self.server.ask("DELETE", f"/games/{self.game}/players/{self.player}")

    def register(self):
        if self.options.register == "always":
            self.server.ask("POST", "/users/")

    def join(self):
        if self.options.game == "own":
            status, found = self.with_user(lambda: self.server.ask("POST", "/games/"))
            if status == 201:
                self.player = found
                self.game = self.find_own_game()
                return
        for game in self.listed(shuffled=True):
            status, found = self.with_user(lambda game=game: self.server.ask("POST", f"/games/{game}/players/"))
            if status in {201, 202}:
                self.game, self.player = game, found
                if status == 202 and self.options.queue == "leave":
                    self.server.ask("DELETE", f"/games/{game}/players/{found}")
                    continue
                return
            if status == 409:
                self.game, self.player = game, self.own_player(game)
                return
        sys.exit("There is no game to join.")

    def with_user(self, ask):
        """Ask, and register first if the server does not know the user."""
        status, found = ask()
        if status == 401 and self.options.register == "late":
            self.server.ask("POST", "/users/")
            status, found = ask()
        return status, found

    def listed(self, *, shuffled):
        _, games = self.server.ask("GET", "/games/", signed=False)
        games = [game["gameID"] for game in sorted(games or [], key=lambda game: len(game["table"]) >= 10)]
        return games[::-1] if shuffled and self.options.game == "last" else games

    def find_own_game(self):
        for _ in range(TRIES):
            _, games = self.server.ask("GET", "/games/", signed=False)
            for game in games or []:
                if any(one["handle"] == self.options.user for one in game["table"]):
                    return game["gameID"]
            time.sleep(RETRY_SECONDS)
        sys.exit("My game is not listed.")

    def own_player(self, guid):
        for _ in range(50):
            _, game = self.server.ask("GET", f"/games/{guid}")
            for one in (game or {}).get("table", ()):
                if one["handle"] == self.options.user:
                    return one["playerID"]
            time.sleep(RETRY_SECONDS)
        sys.exit("I sit where I am not seen.")

    def look(self):
        """Return the game, or None when this player is no longer in it."""
        if self.options.look == "list":
            status, games = self.server.ask("GET", "/games/", signed=self.options.sign == "all")
            game = next((one for one in games or [] if one["gameID"] == self.game), None)
        else:
            status, game = self.server.ask("GET", f"/games/{self.game}", signed=self.options.sign == "all")
        if game is None and status in {200, 404}:
            return None
        if game is None:
            sys.exit(f"The server answers {status}.")
        sits = any(one["playerID"] == self.player for one in game["table"])
        if self.played and not sits:
            return None
        self.played = self.played or (sits and self.is_my_turn(game))
        return game

    def is_my_turn(self, game):
        turn = game["turn"]
        return bool(turn) and turn["playerID"] == self.player and turn["expiry"] != self.done_turn

    def act(self, game):
        """Act once; return whether the act was carried out."""
        turn = game["turn"]
        me = next(one for one in game["table"] if one["playerID"] == self.player)
        street = tuple(bool(game["cards"][name]) for name in ("flop", "turn", "river"))
        if street != self.street:
            self.street, self.level_seen = street, None
        amount = self.choose(me["wealth"], turn["bet_to_player"] - turn["bet_so_far"], turn)
        if amount is None:
            body = {"action": 0, "betAmount": 0} if self.options.fold == "amount" else {"action": 0}
        else:
            body = {"action": 1, "betAmount": amount}
        text = json.dumps(body, indent=2 if self.options.body == "pretty" else None)
        if self.options.body == "reversed":
            text = json.dumps(dict(reversed(body.items())), separators=(",", ":")) + "\n"
        status, _ = self.server.ask("POST", f"/games/{self.game}/players/{self.player}/acts/", text.encode())
        if status == 201:
            self.done_turn = turn["expiry"]
            self.level_seen = (
                turn["bet_to_player"] if amount is None else max(turn["bet_to_player"], turn["bet_so_far"] + amount)
            )
        elif status == 400:
            sys.exit(f"My act is refused: {text}")
        return status == 201

    def choose(self, wealth, need, turn):
        """Return how much to add, None to fold."""
        need = min(need, wealth)
        least = turn["bet_to_player"] - turn["bet_so_far"] + turn["minimum_raise"]
        is_open = self.level_seen is None or turn["bet_to_player"] - self.level_seen >= turn["minimum_raise"]
        luck = self.random.random()
        if self.options.style == "caller" or (self.options.style == "mixed" and luck < 0.7):
            return need
        if need and luck < 0.8:
            return None
        if not is_open or wealth <= need:
            return need
        if least >= wealth or luck > 0.97 or self.options.style == "shover":
            return wealth
        return self.random.randint(least, min(wealth, 3 * least))


def parse_options():
    parser = argparse.ArgumentParser()
    parser.add_argument("--url", required=True)
    parser.add_argument("--user", required=True)
    parser.add_argument("--password", required=True)
    parser.add_argument("--ca")
    parser.add_argument("--seed", type=int)
    parser.add_argument("--acts", type=int, default=1_000_000)
    parser.add_argument("--patience", type=float, default=3600.0)
    parser.add_argument("--poll", type=float, default=0.05)
    parser.add_argument("--style", choices=["mixed", "caller", "shover", "raiser"], default="mixed")
    parser.add_argument("--register", choices=["always", "late"], default="always")
    parser.add_argument("--game", choices=["first", "last", "own"], default="first")
    parser.add_argument("--queue", choices=["wait", "leave"], default="wait")
    parser.add_argument("--look", choices=["game", "list"], default="game")
    parser.add_argument("--sign", choices=["all", "needed"], default="all")
    parser.add_argument("--connection", choices=["keep", "each"], default="keep")
    parser.add_argument("--slashes", choices=["document", "never", "always"], default="document")
    parser.add_argument("--content-type", default="application/json")
    parser.add_argument("--fold", choices=["bare", "amount"], default="bare")
    parser.add_argument("--body", choices=["plain", "pretty", "reversed"], default="plain")
    parser.add_argument("--goodbye", action="store_true")
    return parser.parse_args()


if __name__ == "__main__":
    Bot(parse_options()).run()
