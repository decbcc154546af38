"""Targets: what a user types: names of bots, places, durations, URLs of stores, and settings."""

from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from tempfile import TemporaryDirectory

from cyclopts import CycloptsError

from croupier.arena.holdem_servers import parse_game_address
from croupier.arena.report.summary import Unit
from croupier.cli import app
from croupier.cli.check import parse_reports
from croupier.cli.games import parse_place
from croupier.cli.options import parse_duration
from croupier.cli.settings import config_sources
from croupier.cli.tap import parse_host_port, parse_target
from croupier.clients.contestants import parse_contestant, parse_player
from croupier.conformance.matrix.standings import parse_grading
from croupier.rooms import HOUSE_ROOMS, ROOMS
from croupier.rooms.holdem.cards import parse_cards
from croupier.rooms.holdem.engine.equity import parse_range
from croupier.store.records import StoreError
from croupier.store.urls import parse_location
from tests.fuzz.target import Target, allow, text_target


def parse_texts(text: str) -> None:
    allow(ValueError, Unit.parse, text)
    with suppress(ValueError, OSError):
        parse_reports([text])
    allow(ValueError, parse_host_port, text, 1)
    allow(ValueError, parse_target, ROOMS["holdem"], text)
    allow(ValueError, parse_duration, "delay", text)
    allow(ValueError, parse_grading, text, 100.0, "visible")
    allow(ValueError, parse_cards, text)
    allow(ValueError, parse_range, text)
    allow(StoreError, parse_location, text)
    parse_place(text)


def texts() -> Iterable[str]:
    yield from ("bb/100", "html=report.html", "127.0.0.1:2345", "50ms", "client=2,kuhn.client=3", "AsKd2c", "main/7")
    yield from ("QQ+, AKs, A5s-A2s, KJo, AhKh", "sqlite:///games.sqlite", "postgresql://a:b@c/d?e=f", "kuhn/3/12")
    yield "30d"


def parse_bots(text: str) -> None:
    for room in ROOMS.values():
        allow(ValueError, parse_contestant, room, text)
        allow(ValueError, parse_player, room, text)
    allow(ValueError, parse_game_address, text)


def bot_texts() -> Iterable[str]:
    for room in HOUSE_ROOMS.values():
        for name, bot in room.bots.items():
            yield name
            yield from (f"{name}:{example}" for example in bot.examples)
    yield from ("missing.py:Bot", "missing.py:Bot:3", "./mybot -p {port}", "http://127.0.0.1:8/", "127.0.0.1:8")
    yield "https://cards.example/games/ab4a221a-f3cf-4d09-b2b8-674490e49306"


def run_settings(data: bytes) -> None:
    """A file of settings, and the arguments of a command."""
    with TemporaryDirectory() as folder:
        file = Path(folder, "croupier.toml")
        file.write_bytes(data)
        try:
            sources = config_sources(file, app)
        except ValueError:
            return
    app.config = sources
    try:
        with suppress(CycloptsError, ValueError):
            app.parse_args(["serve"], exit_on_error=False, print_error=False)
    finally:
        app.config = ()


def settings_files() -> Iterable[bytes]:
    yield b'[serve]\nhost = "0.0.0.0"\nidle-seconds = 3.5\nno-web = true\n[serve.kuhn]\ncoins = 7\nport = 9\n'
    yield b"[serve]\nlog_level = 'debug'\nmax-connections = 3\n"


TARGETS = [
    text_target("options", parse_texts, texts),
    text_target("bots", parse_bots, bot_texts),
    Target("settings", run_settings, settings_files),
]
