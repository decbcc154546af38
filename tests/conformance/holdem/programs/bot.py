"""A bot as a student would write it, with the standard library only; `--habit` makes it break one rule."""

import argparse
import base64
import http.client
import json
import socket
import sys
import time

HABITS = (
    "honest", "text-amount", "float-amount", "no-password", "out-of-turn", "raises-too-little", "calls-too-little",
    "bets-too-much", "bets-below-nothing", "acts-twice", "looks-too-often", "never-acts", "joins-twice",
    "gives-up-when-busy", "another-path", "somebody-else", "puts", "crashes", "no-http", "other-keys", "no-user",
    "one-recv", "never-joins", "no-json", "bets-totals", "queues", "takes-the-first-game",
    "reads-an-array", "shows-its-cards", "keeps-quotes",
)  # fmt: skip

parser = argparse.ArgumentParser()
parser.add_argument("--host", required=True)
parser.add_argument("--port", type=int, required=True)
parser.add_argument("--user", required=True)
parser.add_argument("--password", required=True)
parser.add_argument("--game", default="")
parser.add_argument("--habit", choices=HABITS, default="honest")
args = parser.parse_args()
habit = args.habit


def once(method, path, body, headers):
    """Take the bytes of one recv as the whole response."""
    connection = socket.create_connection((args.host, args.port))
    header_text = "".join(f"{name}: {value}\r\n" for name, value in headers.items())
    data = (body or "").encode()
    connection.sendall(
        f"{method} {path} HTTP/1.1\r\nHost: x\r\n{header_text}Content-Length: {len(data)}\r\n\r\n".encode() + data
    )
    received = connection.recv(65536)
    connection.close()
    head, _, body = received.partition(b"\r\n\r\n")
    return int(head.split()[1]), body


def ask(method, path, body=None, *, signed=True, tries=20):
    headers = {}
    if signed:
        encoded = base64.b64encode(f"{args.user}:{args.password}".encode()).decode()
        headers["Authorization"] = f"Basic {encoded}"
    if habit == "one-recv":
        return once(method, path, body, headers)
    for _ in range(tries):
        try:
            connection = http.client.HTTPConnection(args.host, args.port, timeout=10)
            connection.request(method, path, body, headers)
            answer = connection.getresponse()
            data = answer.read()
            connection.close()
        except OSError:
            if habit == "gives-up-when-busy":
                sys.exit(3)
            time.sleep(0.1)
            if method == "POST" and path.endswith("acts/"):
                return 0, b""
            continue
        if answer.status in (429, 500, 503):
            if habit == "gives-up-when-busy":
                sys.exit(3)
            time.sleep(0.1)
            continue
        return answer.status, data
    sys.exit(4)


def act(game, player, action, amount):
    body = {"action": action}
    if action:
        body["betAmount"] = amount
    if habit == "text-amount" and action:
        body["betAmount"] = str(amount)
    if habit == "float-amount" and action:
        body["betAmount"] = float(amount)
    if habit == "other-keys":
        body = {key.replace("betAmount", "bet_amount"): value for key, value in body.items()}
    text = "fold" if habit == "no-json" else json.dumps(body)
    method = "PUT" if habit == "puts" else "POST"
    status, _ = ask(method, f"/games/{game}/players/{player}/acts/", text, signed=habit != "no-password")
    if habit == "acts-twice":
        ask(method, f"/games/{game}/players/{player}/acts/", text)
    if status == 400:
        time.sleep(0.3)


def amount(me, turn):
    to_call = min(turn["bet_to_player"] - turn["bet_so_far"], me["wealth"])
    if habit == "raises-too-little" and me["wealth"] > to_call + 1:
        return to_call + 1
    if habit == "calls-too-little" and 1 < to_call < me["wealth"]:
        return to_call - 1
    if habit == "bets-totals":
        return turn["bet_to_player"]
    if habit == "bets-too-much":
        return me["wealth"] + 1
    if habit == "bets-below-nothing":
        return -5
    return to_call


def main():  # noqa: C901 -- a student's way to write it
    if habit == "no-http":
        connection = socket.create_connection((args.host, args.port))
        connection.sendall(b"JOIN\r\n\r\n")
        connection.recv(100)
        return
    if habit != "no-user":
        ask("POST", "/users/")
    if habit == "never-joins":
        while True:
            ask("GET", "/games/")
            time.sleep(0.06)
    status, body = ask("GET", "/game/" if habit == "another-path" else "/games/", signed=habit != "no-user")
    while status == 200 and body == b"[]" and habit != "takes-the-first-game":
        time.sleep(0.06)
        status, body = ask("GET", "/games/")
    if status != 200:
        sys.exit(5)
    games = [game for game in json.loads(body) if len(game["table"]) < 10]
    name = next((game["gameID"] for game in games if game["gameID"] == args.game), games[0]["gameID"])
    if habit == "queues":
        name = max(json.loads(body), key=lambda game: len(game["table"]))["gameID"]
    status, body = ask("POST", f"/games/{name}/players/")
    if habit == "joins-twice":
        ask("POST", f"/games/{name}/players/")
    if status == 401:
        sys.exit(6)
    joined_as = body.decode() if habit == "keeps-quotes" else ""
    while True:
        time.sleep(0 if habit == "looks-too-often" else 0.055)
        status, body = ask("GET", f"/games/{name}")
        if status != 200:
            sys.exit(7)
        game = json.loads(body)
        if habit == "reads-an-array":
            game = game[0]
        if habit == "shows-its-cards":
            print(game["cards"]["hole"][0])
        turn = game["turn"]
        me = next((one for one in game["table"] if one["handle"] == args.user), None)
        if me is None:
            continue
        if joined_as and me["playerID"] != joined_as:
            return
        if habit == "crashes":
            print(game["cards"]["flop"][0])
        if habit == "out-of-turn" and turn["playerID"] != me["playerID"] and turn["playerID"]:
            act(name, me["playerID"], 1, 0)
        if turn["playerID"] != me["playerID"] or habit == "never-acts":
            continue
        player = me["playerID"]
        if habit == "somebody-else":
            player = next(one["playerID"] for one in game["table"] if one is not me)
        act(name, player, 1, amount(me, turn))


main()
