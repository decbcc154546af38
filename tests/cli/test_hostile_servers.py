"""Servers that send terminal control sequences: neither bots nor the terminal interface print them unescaped."""

import json
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Thread

import pytest

from croupier.cli import main
from croupier.core.presentation import ActionView, Amount, CardView, PotView, SeatView, TableView, text
from croupier.replay.steps import GameReplay, ReplayStep
from croupier.tui.plain import PlainDisplay
from croupier.tui.renderer import plain_lines, render, render_help
from croupier.tui.replay_screen import ReplayScreen
from croupier.tui.table_keys import TableKeys
from tests.processes import PATIENCE, environment

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
                    connection.settimeout(PATIENCE)
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


def hostile_view() -> TableView:
    """A view whose texts are not escaped: they come from a presenter that has forgotten it."""
    nasty = text("{nasty}", nasty=NASTY)
    return TableView(
        title=nasty,
        seats=(SeatView(name=nasty, caption=nasty, cards=(CardView(NASTY, nasty),), is_viewer=True),) * 3,
        board=(CardView(NASTY, nasty),),
        pots=(PotView(1, nasty),),
        status=nasty,
        announcements=(nasty,),
        actions=(ActionView("act", nasty, "a", nasty, Amount(1, 2, ((nasty, 1),)), warning=nasty),),
        blocked=nasty,
        score=nasty,
        results=(nasty,),
    )


def test_screens_escape_the_text_of_a_hostile_server() -> None:
    view = hostile_view()
    keys = TableKeys(view)
    keys.reject(NASTY)
    lines = [*render(view, NASTY, keys, 80, 60), *render_help(view, NASTY, text("The rules."), 80, 60)]
    keys.press("1")
    shown = "\n".join(plain_lines([*lines, *render(view, NASTY, keys, 80, 60)]))
    assert is_printable(shown)
    assert "[red]you" in shown, "markup is not interpreted"


def test_lines_of_text_escape_the_text_of_a_hostile_server(capsys: pytest.CaptureFixture[str]) -> None:
    display = PlainDisplay(NASTY, text("The rules."), hostile_view())
    display.show(hostile_view())
    display.notify(text("{nasty}", nasty=NASTY))
    shown = capsys.readouterr().out
    assert is_printable(shown)
    assert shown.count("[red]you") >= 6


def test_a_replay_is_escaped() -> None:
    screen = ReplayScreen(GameReplay(NASTY, [ReplayStep(NASTY, hostile_view())], head=[NASTY]))
    shown = "\n".join(plain_lines(screen.draw(80, 24)))
    assert is_printable(shown)
    assert shown.count("[red]you") >= 6
