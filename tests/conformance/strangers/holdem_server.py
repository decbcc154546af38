"""A student's hold'em server, written from the README and the rulings alone: http.server, threads and one lock.

    python -S holdem_server.py PORT [OPTIONS]

Each option is another legal reading of what the document leaves open; `--help` lists them.
"""

import argparse
import base64
import binascii
import contextlib
import hashlib
import json
import os
import ssl
import sys
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import unquote, urlsplit

from holdem_table import HOUSE, Decks, Game, RefusedError, make_guid


class House:
    def __init__(self, options):
        self.options = options
        self.decks = Decks(options)
        self.users = {}  # name: (GUID, salt, hash)
        self.verified = set()
        self.games = {}
        self.keep_open_game()

    def new_game(self):
        game = Game(self.options, self.decks)
        self.games[game.guid] = game
        return game

    def keep_open_game(self):
        has_enough = self.games if self.options.games == "one" else any(map(Game.has_room, self.games.values()))
        if not has_enough:
            self.new_game()

    def tidy_up(self, game):
        others = [one for one in self.games.values() if one is not game]
        is_empty = not game.sitting() and not game.queue
        if self.options.empty_games == "removed" and is_empty and any(one.has_room() for one in others):
            del self.games[game.guid]
        self.keep_open_game()

    def join(self, game, user):
        """Join a game; return whether there was a seat, and the GUID of the player."""
        guid = make_guid(self.options) if self.options.player_guid == "seat" else self.users[user][0]
        has_seat = game.join(user, guid)
        self.keep_open_game()
        return has_seat, guid

    def register(self, name, password):
        if name in self.users:
            raise RefusedError(403, "This name is taken.")
        salt = os.urandom(16)
        self.users[name] = make_guid(self.options), salt, hash_password(salt, password)
        return self.users[name][0]

    def login(self, name, password):
        if (name, password) in self.verified:
            return name
        if name not in self.users or hash_password(self.users[name][1], password) != self.users[name][2]:
            raise RefusedError(401, "Wrong name or password.")
        self.verified.add((name, password))
        return name


def hash_password(salt, password):
    return hashlib.pbkdf2_hmac("sha256", password.encode(), salt, 1000)


def complete_base64(text):
    """Return base64 whose end is cut off with as much padding as what is left of it needs."""
    text = text.rstrip("=")
    whole = text[:-1] if len(text) % 4 == 1 else text
    return whole + "=" * (-len(whole) % 4)


def read_number(text):
    """Return an integer also for 1.0 and 1e1, as a parser does that has one type for all numbers."""
    number = float(text)
    return int(number) if number.is_integer() else number


def read_act(body, options):
    """Return action and amount of an act; keys may have any case and underscores."""
    try:
        if options.parser == "loose":
            found = json.loads(body.decode(errors="replace"), parse_float=read_number)
        else:
            found = json.loads(body)
    except (ValueError, RecursionError):
        raise RefusedError(400, "The body is not JSON.") from None
    if not isinstance(found, dict):
        raise RefusedError(400, "The body is not an object.")
    fields = {key.replace("_", "").lower(): value for key, value in found.items()}
    action, amount = fields.get("action"), fields.get("betamount")
    if type(action) is not int or action not in {0, 1}:
        raise RefusedError(400, "The action is neither 0 nor 1.")
    if action == 1 and type(amount) is not int:
        raise RefusedError(400, "betAmount is not an integer.")
    return action, amount


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    wbufsize = -1
    house: House

    def log_message(self, *words):
        pass

    def handle(self):
        with contextlib.suppress(ConnectionError, TimeoutError, ssl.SSLError):
            super().handle()

    def serve(self):
        try:
            body = self.read_body()
            with HOUSE:
                answer = self.route(body)
        except RefusedError as error:
            headers = {"WWW-Authenticate": 'Basic realm="poker"'} if error.status == 401 else {}
            answer = error.status, self.error_body(error), headers
        self.answer(*answer)

    def read_body(self):
        if not self.headers.get("Transfer-Encoding"):
            length = self.headers.get("Content-Length", "0")
            return self.rfile.read(int(length)) if length.isdigit() else b""
        if self.house.options.request_chunks == "refused":
            self.close_connection = True
            raise RefusedError(411, "Send a Content-Length.")
        body = b""
        while size := int(self.rfile.readline().partition(b";")[0], 16):
            body += self.rfile.read(size)
            self.rfile.readline()
        while self.rfile.readline().strip():
            pass  # trailers
        return body

    def __getattr__(self, name):
        """Serve the methods: the base class looks for do_GET, do_POST and so on, and answers 501 without it."""
        is_known = self.house.options.methods == "all" or name in {"do_GET", "do_POST", "do_DELETE"}
        if name.startswith("do_") and is_known:
            return self.serve
        raise AttributeError(name)

    def error_body(self, error):
        kind = self.house.options.errors
        return {"error": str(error)} if kind == "json" else "" if kind == "empty" else f"{error}\n"

    def answer(self, status, value=None, headers=None):
        options = self.house.options
        is_json = status < 400 or isinstance(value, dict)
        data = b"" if value is None else (to_json(value, options) if is_json else value).encode()
        self.send_response(status)
        if data:
            parameters = "" if is_json and options.json != "pretty" else "; charset=utf-8"
            self.send_header("Content-Type", ("application/json" if is_json else "text/plain") + parameters)
        for name, text in (headers or {}).items():
            self.send_header(name, text)
        if options.connection == "close":
            self.send_header("Connection", "close")
        if options.framing == "chunked" and data:
            self.send_header("Transfer-Encoding", "chunked")
            data = b"".join(b"%x\r\n%b\r\n" % (len(part), part) for part in (data[:40], data[40:]) if part)
            data += b"0\r\n\r\n"
        else:
            self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(data)
        self.wfile.flush()

    def user(self, *, required=True):
        header = self.headers.get("Authorization")
        if header is None and not required:
            return None
        name, password = self.credentials(401)
        return self.house.login(name, password)

    def credentials(self, status):
        scheme, _, text = (self.headers.get("Authorization") or "").partition(" ")
        if self.house.options.parser == "loose":
            text = complete_base64(text.strip())
        try:
            name, colon, password = base64.b64decode(text.strip(), validate=True).decode().partition(":")
        except (binascii.Error, ValueError):
            name = colon = password = ""
        if scheme.lower() != "basic" or not colon or not name:
            raise RefusedError(status, "Send a name and a password.")
        return name, password

    def route(self, body):
        path = urlsplit(self.path).path
        method = "GET" if self.command == "HEAD" else self.command
        words = path.strip("/").split("/")
        match [unquote(word) for word in words]:
            case ["users"]:
                kind, methods = "users", {"POST": self.post_user}
            case ["games"]:
                kind, methods = "games", {"GET": self.get_games, "POST": self.post_game}
                if self.house.options.created == "never":
                    del methods["POST"]  # the document itself has no way to make a game
            case ["games", game]:
                kind, methods = "game", {"GET": lambda: self.get_game(game)}
            case ["games", game, "players"]:
                kind, methods = "players", {"POST": lambda: self.post_player(game)}
            case ["games", game, "players", player]:
                kind, methods = "player", {"DELETE": lambda: self.delete_player(game, player)}
            case ["games", game, "players", player, "acts"]:
                kind, methods = "acts", {"POST": lambda: self.post_act(game, player, body)}
            case _:
                raise RefusedError(404, "There is nothing here.")
        if method not in methods:
            allowed = ", ".join(methods)
            return 405, f"Allowed: {allowed}\n", {"Allow": allowed}
        wanted = "/" + "/".join(words) + ("" if kind in {"game", "player"} else "/")
        if self.house.options.redirect and path != wanted:
            return self.house.options.redirect, None, {"Location": wanted}
        return methods[method]()

    def game(self, guid):
        if guid not in self.house.games:
            raise RefusedError(404, "There is no such game.")
        return self.house.games[guid]

    def player(self, game, guid, user):
        one = game.find(guid)
        if one is None:
            raise RefusedError(404, "There is no such player.")
        if one.user != user:
            raise RefusedError(403, "You are another player.")
        return one

    def post_user(self):
        return 201, self.house.register(*self.credentials(400)), None

    def get_games(self):
        try:
            user = self.user(required=False)
        except RefusedError:
            if self.house.options.list_login == "checked":
                raise
            user = None  # the document lists no error for this resource
        return 200, [game.show(user) for game in self.house.games.values()], None

    def get_game(self, guid):
        user = self.user(required=False)
        return 200, self.game(guid).show(user), None

    def post_game(self):
        user = self.user()
        game = self.house.new_game()
        _, guid = self.house.join(game, user)
        created = self.house.options.created
        slash = "/" if created == "slash" else ""
        headers = {"Location": f"/games/{game.guid}{slash}"} if created in {"location", "slash", "game"} else {}
        return 201, game.guid if created == "game" else guid, headers

    def post_player(self, guid):
        user = self.user()
        has_seat, player = self.house.join(self.game(guid), user)
        return 201 if has_seat else 202, player, None

    def delete_player(self, guid, player):
        user = self.user()
        game = self.game(guid)
        game.remove(self.player(game, player, user))
        self.house.tidy_up(game)
        return 200, None, None

    def post_act(self, guid, player, body):
        user = self.user()
        game = self.game(guid)
        one = self.player(game, player, user)
        action, amount = read_act(body, self.house.options)
        if game.turn is not one:
            raise RefusedError(403, "It is not your turn.")
        why = game.act(one, action, amount)
        return 201, None, {"X-Fold-Reason": why} if why else {}


def to_json(value, options):
    if options.json == "pretty":
        return json.dumps(reversed_keys(value), indent=2, ensure_ascii=False) + "\n"
    if options.json == "compact":
        return json.dumps(value, separators=(",", ":"))
    return json.dumps(value)


def reversed_keys(value):
    if isinstance(value, dict):
        return {key: reversed_keys(value[key]) for key in reversed(value)}
    return [reversed_keys(one) for one in value] if isinstance(value, list) else value


def parse_options(words):
    parser = argparse.ArgumentParser()
    parser.add_argument("port", type=int)
    parser.add_argument("--seed", type=int)
    parser.add_argument("--deck")
    parser.add_argument("--turn-seconds", type=float, default=15.0)
    parser.add_argument("--pause", type=float, default=0.0)
    parser.add_argument("--small-blind", type=int, default=10)
    parser.add_argument("--big-blind", type=int, default=20)
    parser.add_argument("--stack", type=int, default=10_000)
    parser.add_argument("--seats", type=int, default=10)
    parser.add_argument("--tls-cert")
    parser.add_argument("--tls-key")
    parser.add_argument("--button", choices=["first", "random"], default="first")
    parser.add_argument("--big-blind-twice", choices=["avoided", "allowed"], default="avoided")
    parser.add_argument("--player-guid", choices=["user", "seat"], default="user")
    parser.add_argument("--guid", choices=["lower", "upper"], default="lower")
    parser.add_argument("--created", choices=["location", "slash", "unnamed", "game", "never"], default="location")
    parser.add_argument("--games", choices=["many", "one"], default="many")
    parser.add_argument("--parser", choices=["exact", "loose"], default="exact")
    parser.add_argument("--empty-games", choices=["kept", "removed"], default="kept")
    parser.add_argument("--minimum-raise", choices=["full", "own", "wealth"], default="full")
    parser.add_argument("--short-raises", choices=["add", "single"], default="add")
    parser.add_argument("--unanswered-raises", choices=["checked", "calls"], default="checked")
    parser.add_argument("--dead-chips", choices=["apart", "joined"], default="apart")
    parser.add_argument("--idle-pots", choices=["one", "none"], default="one")
    parser.add_argument("--idle-turn", choices=["empty", "null"], default="empty")
    parser.add_argument("--newcomers", choices=["later", "shown"], default="later")
    parser.add_argument("--idle-state", choices=["active", "called"], default="active")
    parser.add_argument("--all-in-state", choices=["called", "active"], default="called")
    parser.add_argument("--expiry", choices=["microseconds", "nanoseconds", "offset"], default="microseconds")
    parser.add_argument("--list-login", choices=["checked", "ignored"], default="checked")
    parser.add_argument("--redirect", type=int, choices=[0, 301, 308], default=0)
    parser.add_argument("--json", choices=["spaced", "compact", "pretty"], default="spaced")
    parser.add_argument("--errors", choices=["text", "json", "empty"], default="text")
    parser.add_argument("--methods", choices=["all", "routed"], default="all")
    parser.add_argument("--request-chunks", choices=["read", "refused"], default="read")
    parser.add_argument("--connection", choices=["keep", "close"], default="keep")
    parser.add_argument("--framing", choices=["length", "chunked", "http10"], default="length")
    return parser.parse_args(words)


class Server(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 128
    context = None

    def finish_request(self, request, address):
        if self.context:
            request = self.context.wrap_socket(request, server_side=True)
        super().finish_request(request, address)

    def handle_error(self, request, address):
        if not isinstance(sys.exception(), OSError):
            super().handle_error(request, address)


def main():
    options = parse_options(sys.argv[1:])
    sys.set_int_max_str_digits(0)
    Handler.house = House(options)
    if options.framing == "http10":
        Handler.protocol_version = "HTTP/1.0"
    server = Server(("127.0.0.1", options.port), Handler)
    if options.tls_cert:
        server.context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        server.context.load_cert_chain(options.tls_cert, options.tls_key)
    print(f"holdem is open at 127.0.0.1:{server.server_address[1]}", flush=True)
    server.serve_forever()


if __name__ == "__main__":
    main()
