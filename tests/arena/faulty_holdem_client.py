"""A client of hold'em that calls for some hands, and then makes a fault: `faulty_holdem_client.py URL FAULT HANDS`.

It registers as a user of its own, joins the first game of the list and polls it. With the fault `absent` it does not
join, and with `none` it only ends. With `twins` it first joins as other users, who never act.
"""

import base64
import http.client
import json
import os
import sys
import time
from typing import Any
from urllib.parse import urlsplit

FOREVER_SECONDS = 600
POLL_SECONDS = 0.002


class Client:
    def __init__(self, url: str, user: str) -> None:
        address = urlsplit(url)
        self.connection = http.client.HTTPConnection(address.hostname or "", address.port, timeout=30)
        self.headers = {"Authorization": "Basic " + base64.b64encode(f"{user}:secret".encode()).decode()}

    def ask(self, method: str, path: str, body: Any = None) -> tuple[int, Any]:
        """Send a request; return the status and the JSON of the answer."""
        self.connection.request(method, path, None if body is None else json.dumps(body), self.headers)
        response = self.connection.getresponse()
        data = response.read()
        return response.status, json.loads(data) if data and response.status < 300 else None

    def join(self) -> tuple[str, str]:
        """Return the path of the game, and that of the player."""
        game = f"/games/{self.ask('GET', '/games/')[1][0]['gameID']}"
        guid = self.ask("POST", f"{game}/players/")[1]
        return game, f"{game}/players/{guid}"

    def turn(self, game: str, player: str) -> tuple[int, list[str]]:
        """Wait for a turn; return the chips to call, and the hole cards."""
        while True:
            _, state = self.ask("GET", game)
            if state["turn"]["playerID"] == player.rpartition("/")[2]:
                return state["turn"]["bet_to_player"] - state["turn"]["bet_so_far"], state["cards"]["hole"]
            time.sleep(POLL_SECONDS)

    def make(self, fault: str, game: str, player: str) -> None:
        self.turn(game, player)
        if fault == "illegal":
            self.ask("POST", f"{player}/acts/", {"action": 1, "betAmount": -1})
        elif fault == "malformed":
            while self.ask("POST", f"{player}/acts/", {"action": "all in"})[0] == 400:
                time.sleep(0.01)
        elif fault == "crash":
            raise ValueError("no idea")
        elif fault == "leave":
            self.ask("DELETE", player)
        elif fault == "hang":
            time.sleep(FOREVER_SECONDS)


def main() -> None:
    url, fault, hands = sys.argv[1:4]
    if fault == "absent":
        time.sleep(FOREVER_SECONDS)
    if fault == "twins":
        for name in ("castor", "pollux"):
            twin = Client(url, f"{name} {os.getpid()}")
            twin.ask("POST", "/users/")
            twin.join()
    client = Client(url, f"client {os.getpid()}")
    client.ask("POST", "/users/")
    game, player = client.join()
    seen: list[list[str]] = []
    while len(seen) <= int(hands):
        to_call, hole = client.turn(game, player)
        if hole not in seen[-1:]:
            seen.append(hole)
        client.ask("POST", f"{player}/acts/", {"action": 1, "betAmount": to_call})
    client.make(fault, game, player)


if __name__ == "__main__":
    main()
