"""`croupier watch web`: the public tables of all rooms, through the web app of a server."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final

from cyclopts import Parameter

from croupier.cli.holdem import explain_errors
from croupier.cli.output import print_line
from croupier.cli.play import PERSON, PersonOptions
from croupier.clients.tls import TlsOptions
from croupier.net.event_loop import run
from croupier.web.config import DEFAULT_PORT

if TYPE_CHECKING:
    from croupier.clients.web_tables import ListedTable, WebTables

DEFAULT_URL: Final = f"http://127.0.0.1:{DEFAULT_PORT}"

type WebUrl = Annotated[str, Parameter(name="URL", help="Web app: http://HOST:PORT, https://HOST:PORT or HOST:PORT.")]


def watch_web(
    url: WebUrl = DEFAULT_URL,
    /,
    *,
    table: str | None = None,
    tls_ca: Path | None = None,
    person: Annotated[PersonOptions, Parameter(name="*", group=PERSON)] = PersonOptions(),
) -> int:
    """Watch a table of any room, through the web app of a server.

    Parameters
    ----------
    table:
        Id of the table. [default: list the tables]
    tls_ca:
        PEM file with the certificate authority to trust, for https URLs.
    """
    return explain_errors(url, lambda: run(_watch(url, table, tls_ca, plain=person.is_plain())))


async def _watch(url: str, table: str | None, tls_ca: Path | None, *, plain: bool) -> int:
    """List the tables or show one, and return the exit status. Raises ConnectionError."""
    from croupier.clients.server_url import with_scheme
    from croupier.clients.web_tables import WebTables
    from croupier.tui.encoding import terminal_locale

    context = TlsOptions(tls_ca=tls_ca).ssl_context()
    async with WebTables(with_scheme(url, DEFAULT_PORT), terminal_locale(), context) as tables:
        if table is None:
            for listed in await tables.tables():
                print_line(table_line(listed))
            return 0
        if await tables.lines(table) is None:
            raise ConnectionError(f"there is no table {table[:100]!r}; without --table, all are listed")
        await _show(tables, table, plain=plain)
    return 0


async def _show(tables: "WebTables", table: str, *, plain: bool) -> None:
    """Show a table until it does not exist any more, or the person leaves. Raises ConnectionError."""
    if plain:
        from croupier.tui.text_watcher import print_table

        await print_table(tables, table)
    else:
        from croupier.tui.text_watcher import TextScreen

        await TextScreen(tables, table).show()


def table_line(table: "ListedTable") -> str:
    """Return a table as text: its id, its game, its players, and what else is known."""
    from croupier.tui.encoding import terminal_text

    details = ", ".join(filter(None, (*table.players, table.note)))
    return terminal_text(f"{table.id}  {table.title}{': ' * bool(details)}{details}")
