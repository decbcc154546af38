"""Servers that send what a terminal would obey: no client shows it raw, whether a bot plays or a person."""

import json
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Thread

import pytest
from rich.console import Console

from croupier.cli import main
from croupier.rooms.holdem.wire import Player
from croupier.tui.blackjack import BlackjackScene
from croupier.tui.holdem.hand_history import display_name
from croupier.tui.holdem.scene import HoldemScene
from croupier.tui.kuhn import KuhnScene
from croupier.tui.oldmaid.scene import OldMaidScene
from croupier.tui.replay.screen import ReplayScreen
from croupier.tui.replay.steps import GameReplay, ReplayStep
from croupier.tui.sevenhalf import SevenHalfScene
from tests.processes import environment

NASTY = "\x1b[2J\x1b]0;pwned\x07[red]you \u202ewon\x9b31m"
RAW = NASTY.encode()
BODY = f"no seat {NASTY}\r\nand more".encode()
ANSWERS = {
    "kuhn": RAW * 8,
    "sevenhalf": b"ERRO 16" + RAW[:16] + RAW,
    "blackjack": b"ERR" + RAW * 8,
    "oldmaid": json.dumps({"result": "error", "message": NASTY}).encode() + b"\n",
    "holdem": b"HTTP/1.1 403 Forbidden\r\nContent-Length: %d\r\nConnection: close\r\n\r\n%s" % (len(BODY), BODY),
}


@contextmanager
def hostile(answer: bytes) -> Iterator[int]:
    """A server that answers whatever it hears with this, and hangs up: its port."""
    with socket.create_server(("127.0.0.1", 0)) as server:

        def serve() -> None:
            while True:
                try:
                    connection, _ = server.accept()
                except OSError:
                    return
                with connection:
                    connection.settimeout(5)
                    try:
                        connection.recv(4096)
                        connection.sendall(answer)
                    except OSError:
                        pass

        thread = Thread(target=serve, daemon=True)
        thread.start()
        try:
            yield server.getsockname()[1]
        finally:
            server.shutdown(socket.SHUT_RDWR)
    thread.join(5)


def harmless(text: str) -> bool:
    return all(sign.isprintable() or sign == "\n" for sign in text)


@pytest.mark.parametrize("room", ANSWERS)
def test_a_bot_tells_of_a_hostile_server_without_obeying_it(
    room: str, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("os.environ", environment())
    more = {"holdem": ("--user", "ann", "--password", "x"), "oldmaid": ("--retry-seconds", "0")}.get(room, ())
    with hostile(ANSWERS[room]) as port, pytest.raises(SystemExit) as end:
        main(["play", room, f"127.0.0.1:{port}", "--bot", "random", *more])
    told = capfd.readouterr()
    assert end.value.code == 1
    assert told.err.startswith("croupier: ")
    assert harmless(told.out + told.err)
    assert len(told.err.splitlines()) == 1


def rendered(scene: object) -> str:
    console = Console(width=80, force_terminal=False)
    with console.capture() as capture:
        console.print(scene)
    return capture.get()


@pytest.mark.parametrize(
    "scene",
    [KuhnScene, SevenHalfScene, BlackjackScene, OldMaidScene, lambda house: HoldemScene(house, lambda: 0.0)],
    ids=["kuhn", "sevenhalf", "blackjack", "oldmaid", "holdem"],
)
def test_a_person_is_shown_the_words_of_a_hostile_server_without_obeying_them(scene: object) -> None:
    made = scene(f"[::1]:80 {NASTY}")
    made.ended(NASTY)
    shown = rendered(made.draw())
    assert harmless(shown)
    assert "[red]you" in shown, "no markup either"
    assert "[::1]:80" in shown


def test_a_story_is_shown_without_obeying_it() -> None:
    shown = rendered(ReplayScreen(GameReplay(NASTY, [ReplayStep(NASTY, [NASTY])])).draw())
    assert harmless(shown)
    assert shown.count("[red]you") == 3


def test_the_name_of_a_player_is_shown_without_obeying_it() -> None:
    assert display_name(Player("p", NASTY, "active", 1, 0, small_blind=True)).isprintable()
