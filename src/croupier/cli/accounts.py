"""`croupier accounts`: who has an account in the store, and how many coins are in it."""

import sys
from datetime import UTC, datetime
from getpass import getpass
from typing import TYPE_CHECKING, Annotated

from cyclopts import App, Parameter

from croupier.cli.db import StoreArgument, with_store
from croupier.cli.output import fail, print_json, print_line
from croupier.core.plural import format_count
from croupier.core.text import printable

if TYPE_CHECKING:
    from croupier.store.records import Account
    from croupier.store.store import Store

app = App(name="accounts", help="Players' accounts: open, credit and close them.")

COLUMN_GAP = "  "
"""What stands between two columns."""

type LedgerReason = Annotated[str, Parameter(help="Why, for the ledger.")]


@app.command(name="list")
def list_accounts(*, json: bool = False, store: StoreArgument = None) -> int:
    """List all accounts, those of the house first.

    Parameters
    ----------
    json:
        Print a JSON object a line.
    """

    async def story(store: "Store") -> int:
        (_print_accounts_json if json else _print_accounts_table)(await store.accounts())
        return 0

    return with_store(store, story)


@app.command
def add(name: str, *, coins: int = 0, reason: LedgerReason = "opened", store: StoreArgument = None) -> int:
    """Open an account. The password is asked for; without a terminal it is a line of standard input.

    Parameters
    ----------
    name:
        The user's name: 1 to 64 characters of one script, none invisible and no colon; one that looks like no other's.
    coins:
        What the cashier puts into it.
    """
    from croupier.core.usernames import validate_username

    try:
        name = validate_username(name)
        hashed = _ask_password_hash(name)
    except ValueError as error:
        return fail(error)

    async def story(store: "Store") -> int:
        account = await store.add_account(name, hashed, coins=coins, reason=reason)
        print_line(f"{account.name} has {format_count(account.balance, 'coin')}")
        return 0

    return with_store(store, story, new=True)


@app.command
def reset_password(name: str, *, reason: LedgerReason = "password reset", store: StoreArgument = None) -> int:
    """Change a password. It is asked for; without a terminal it is a line of standard input."""
    try:
        hashed = _ask_password_hash(name)
    except ValueError as error:
        return fail(error)

    async def story(store: "Store") -> int:
        await store.set_password(await _account_name(store, name), hashed, reason=reason)
        print_line(f"{name} has a new password")
        return 0

    return with_store(store, story)


@app.command
def credit(
    name: str,
    coins: Annotated[int, Parameter(allow_leading_hyphen=True)],
    *,
    reason: LedgerReason,
    store: StoreArgument = None,
) -> int:
    """Put coins into an account, from the cashier.

    Parameters
    ----------
    coins:
        How many; a negative number takes them out.
    """

    async def story(store: "Store") -> int:
        account = await store.credit(await _account_name(store, name), coins, reason=reason)
        print_line(f"{account.name} has {format_count(account.balance, 'coin')}")
        return 0

    return with_store(store, story)


@app.command
def close(name: str, *, reason: LedgerReason, store: StoreArgument = None) -> int:
    """Close an account for good. What is in it goes to the cashier."""

    async def story(store: "Store") -> int:
        coins = await store.close_account(await _account_name(store, name), reason=reason)
        print_line(f"{name} is closed, {format_count(coins, 'coin')} {'is' if coins == 1 else 'are'} paid out")
        return 0

    return with_store(store, story)


def _ask_password_hash(name: str) -> str:
    """The hash of a password that is asked for. Raises ValueError if none is given, or two that differ."""
    from croupier.http.auth import DEFAULT_HASHER

    if sys.stdin.isatty():
        password = getpass(f"Password of {name}: ")
        if getpass("Once more: ") != password:
            raise ValueError("found two passwords; allowed: the same one twice")
    else:
        password = sys.stdin.readline().rstrip("\r\n")
    if not password:
        raise ValueError("found no password; allowed: one of at least one character")
    return DEFAULT_HASHER.hash(password)


async def _account_name(store: "Store", name: str) -> str:
    """A name as its account has it: normalized, unless an older account has just this one."""
    from croupier.core.usernames import normalize_username

    return normalize_username(name) if await store.account(name) is None else name


def _print_accounts_json(accounts: "list[Account]") -> None:
    for account in accounts:
        told = {
            "name": account.name,
            "house": account.house,
            "balance": account.balance,
            "created": account.created,
            "closed": account.closed,
        }
        print_json(told)


def _print_accounts_table(accounts: "list[Account]") -> None:
    """A row an account; a name that is too long for its column has a line of its own above its row."""
    from rich.cells import cell_len, set_cell_size
    from rich.console import Console

    rows = [("account", "of", "created", "closed", "coins"), *map(_row, accounts)]
    widths = [max(cell_len(row[at]) for row in rows) for at in range(5)]
    left = Console().width - sum(widths[1:]) - 4 * len(COLUMN_GAP)
    widths[0] = max(cell_len(row[0]) for row in rows if cell_len(row[0]) <= max(left, len("account")))
    for name, *told, coins in rows:
        if cell_len(name) > widths[0]:
            print(name)
            name = ""  # noqa: PLW2901 -- it has been printed
        cells = [set_cell_size(cell, width) for cell, width in zip((name, *told), widths, strict=False)]
        print(COLUMN_GAP.join([*cells, f"{coins:>{widths[-1]}}"]))


def _row(account: "Account") -> tuple[str, ...]:
    of = "the house" if account.house else "a player"
    return (
        printable(account.name),
        of,
        _format_time(account.created),
        _format_time(account.closed),
        f"{account.balance:,}",
    )


def _format_time(time: float | None) -> str:
    return "" if time is None else f"{datetime.fromtimestamp(time, UTC):%Y-%m-%d %H:%M}"
