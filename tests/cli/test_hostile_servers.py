"""Servers that send terminal control sequences: neither bots nor the terminal interface print them unescaped."""

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
def hostile_server(answer: bytes) -> Iterator[int]:
    """Run a server that sends `answer` to each client and disconnects. Yields its port."""
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


def is_printable(text: str) -> bool:
    return all(sign.isprintable() or sign == "\n" for sign in text)


@pytest.mark.parametrize("room", ANSWERS)
def test_a_bot_escapes_the_text_of_a_hostile_server(
    room: str, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("os.environ", environment())
    more = {"holdem": ("--user", "ann", "--password", "x"), "oldmaid": ("--retry-seconds", "0")}.get(room, ())
    with hostile_server(ANSWERS[room]) as port, pytest.raises(SystemExit) as end:
        main(["play", room, f"127.0.0.1:{port}", "--bot", "random", *more])
    output = capfd.readouterr()
    assert end.value.code == 1
    assert output.err.startswith("croupier: ")
    assert is_printable(output.out + output.err)
    assert len(output.err.splitlines()) == 1


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
def test_screens_escape_the_text_of_a_hostile_server(scene: object) -> None:
    screen = scene(f"[::1]:80 {NASTY}")
    screen.on_ended(NASTY)
    shown = rendered(screen.draw())
    assert is_printable(shown)
    assert "[red]you" in shown, "markup is not interpreted"
    assert "[::1]:80" in shown


def test_a_replay_is_escaped() -> None:
    shown = rendered(ReplayScreen(GameReplay(NASTY, [ReplayStep(NASTY, [NASTY])])).draw())
    assert is_printable(shown)
    assert shown.count("[red]you") == 3


def test_a_player_name_is_escaped() -> None:
    assert display_name(Player("p", NASTY, "active", 1, 0, small_blind=True)).isprintable()
