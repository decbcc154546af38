"""`croupier demo`: all rooms with bots at every table, and the web app."""

import os
import sys
import threading
import webbrowser
from contextlib import suppress
from typing import Annotated, Final

from cyclopts import Parameter

from croupier.cli.output import print_now
from croupier.net.event_loop import run

MIN_PAUSE_SECONDS: Final = 0.1
MAX_PAUSE_SECONDS: Final = 10.0

DISPLAY_VARIABLES: Final = ("DISPLAY", "WAYLAND_DISPLAY", "BROWSER")
"""One of these is set where a program can open a browser, on systems that have no display of their own."""


def demo(
    *,
    pause: Annotated[float, Parameter(help="Seconds that bots wait before each move, 0.1 to 10.")] = 1.5,
    free_ports: Annotated[
        bool, Parameter(help="Listen on free ports. By default only rooms whose own port is in use do.")
    ] = False,
    no_browser: Annotated[bool, Parameter(help="Only print the address of the lobby.")] = False,
) -> int:
    """Open all rooms with bots at every table, and the web app.

    The lobby is shown in the browser, if there is one. Nothing is stored; Ctrl-C ends everything.
    """
    if not MIN_PAUSE_SECONDS <= pause <= MAX_PAUSE_SECONDS:
        raise ValueError(f"found --pause {pause:g}; allowed: {MIN_PAUSE_SECONDS:g} to {MAX_PAUSE_SECONDS:g}")
    from croupier.app.demo import serve_demo

    def on_open(url: str) -> None:
        print_now(f"Bots play at every table until you press Ctrl-C; the lobby is open at {url}")
        if not no_browser:
            show_in_browser(url)

    run(serve_demo(pause, print_now, on_open, has_free_ports=free_ports))
    return 0


def show_in_browser(url: str) -> None:
    """Show a page in the browser of the user, without waiting for it. Nothing happens where there is no display."""
    if sys.platform in {"win32", "darwin"} or any(map(os.environ.get, DISPLAY_VARIABLES)):
        threading.Thread(target=_open_page, args=(url,), daemon=True).start()


def _open_page(url: str) -> None:
    with suppress(webbrowser.Error, OSError):
        webbrowser.open(url)
