"""`croupier accounts`: manage the player accounts of a store."""

import sys
from datetime import UTC, datetime
from getpass import getpass
from typing import TYPE_CHECKING, Annotated

from cyclopts import App, Parameter

from croupier.cli.db import StoreArgument, with_store
from croupier.cli.output import print_json, print_line
from croupier.core.plural import format_count
from croupier.core.text import printable

if TYPE_CHECKING:
    from croupier.store.records import Account
    from croupier.store.store import Store

app = App(name="accounts")

COLUMN_GAP = "  "

type LedgerReason = Annotated[str, Parameter(help="Reason to record in the ledger.")]


@app.command(name="list")
def list_accounts(*, json: bool = False, store: StoreArgument = None) -> int:
    """List all accounts, the house's first.

    Parameters
    ----------
    json:
        Print one JSON object per line.
    """

    async def action(store: "Store") -> int:
        (_print_accounts_json if json else _print_accounts_table)(await store.accounts())
        return 0

    return with_store(store, action)


@app.command
def add(name: str, *, coins: int = 0, reason: LedgerReason = "opened", store: StoreArgument = None) -> int:
    """Add an account. Prompts for the password, or reads one line from standard input if that is not a terminal.

    Parameters
    ----------
    name:
        Username: 1 to 64 visible characters of one script, without a colon, not confusable with an existing name.
    coins:
        Initial balance.
    """
    from croupier.core.usernames import validate_username

    name = validate_username(name)
    hashed = _ask_password_hash(name)

    async def action(store: "Store") -> int:
        account = await store.add_account(name, hashed, coins=coins, reason=reason)
        print_line(f"{account.name} has {format_count(account.balance, 'coin')}")
        return 0

    return with_store(store, action, new=True)


@app.command
def reset_password(name: str, *, reason: LedgerReason = "password reset", store: StoreArgument = None) -> int:
    """Change a password. Prompts for it, or reads one line from standard input if that is not a terminal."""
    hashed = _ask_password_hash(name)

    async def action(store: "Store") -> int:
        await store.set_password(await _account_name(store, name), hashed, reason=reason)
        print_line(f"{name} has a new password")
        return 0

    return with_store(store, action)


@app.command
def credit(
    name: str,
    coins: Annotated[int, Parameter(allow_leading_hyphen=True)],
    *,
    reason: LedgerReason,
    store: StoreArgument = None,
) -> int:
    """Transfer coins from the cashier to an account.

    Parameters
    ----------
    coins:
        Number of coins; a negative number transfers them back to the cashier.
    """

    async def action(store: "Store") -> int:
        account = await store.credit(await _account_name(store, name), coins, reason=reason)
        print_line(f"{account.name} has {format_count(account.balance, 'coin')}")
        return 0

    return with_store(store, action)


@app.command
def close(name: str, *, reason: LedgerReason, store: StoreArgument = None) -> int:
    """Close an account permanently. Its balance goes to the cashier."""

    async def action(store: "Store") -> int:
        coins = await store.close_account(await _account_name(store, name), reason=reason)
        print_line(f"{name} is closed, {format_count(coins, 'coin')} {'is' if coins == 1 else 'are'} paid out")
        return 0

    return with_store(store, action)


def _ask_password_hash(name: str) -> str:
    """Read a password and return its hash. Raises ValueError if it is empty or the repetition differs."""
    from croupier.http.auth import DEFAULT_HASHER

    if sys.stdin.isatty():
        password = getpass(f"Password of {name}: ")
        if getpass("Repeat the password: ") != password:
            raise ValueError("the passwords do not match")
    else:
        password = sys.stdin.readline().rstrip("\r\n")
    if not password:
        raise ValueError("the password is empty; it needs at least one character")
    return DEFAULT_HASHER.hash(password)


async def _account_name(store: "Store", name: str) -> str:
    """Return the name under which the store has an account: `name` itself if it exists, else normalized."""
    from croupier.core.usernames import normalize_username

    return normalize_username(name) if await store.account(name) is None else name


def _print_accounts_json(accounts: "list[Account]") -> None:
    for account in accounts:
        record = {
            "name": account.name,
            "house": account.house,
            "balance": account.balance,
            "created": account.created,
            "closed": account.closed,
        }
        print_json(record)


def _print_accounts_table(accounts: "list[Account]") -> None:
    """Print one row per account. A name that does not fit its column gets its own line above the row."""
    from rich.cells import cell_len, set_cell_size
    from rich.console import Console

    rows = [("account", "of", "created", "closed", "coins"), *map(_row, accounts)]
    widths = [max(cell_len(row[at]) for row in rows) for at in range(5)]
    name_width = Console().width - sum(widths[1:]) - 4 * len(COLUMN_GAP)
    widths[0] = max(cell_len(row[0]) for row in rows if cell_len(row[0]) <= max(name_width, len("account")))
    for name, *texts, coins in rows:
        if cell_len(name) > widths[0]:
            print(name)
            name = ""  # noqa: PLW2901 -- already printed
        cells = [set_cell_size(cell, width) for cell, width in zip((name, *texts), widths, strict=False)]
        print(COLUMN_GAP.join([*cells, f"{coins:>{widths[-1]}}"]))


def _row(account: "Account") -> tuple[str, ...]:
    owner = "the house" if account.house else "a player"
    return (
        printable(account.name),
        owner,
        _format_time(account.created),
        _format_time(account.closed),
        f"{account.balance:,}",
    )


def _format_time(time: float | None) -> str:
    return "" if time is None else f"{datetime.fromtimestamp(time, UTC):%Y-%m-%d %H:%M}"
