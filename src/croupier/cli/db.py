"""`croupier db`: manage the store, the database of accounts, hands and running games."""

import sys
import time
from collections.abc import Awaitable, Callable, Coroutine, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final

from cyclopts import App, Parameter

from croupier.cli.options import parse_duration
from croupier.cli.output import print_line
from croupier.core.plural import format_count
from croupier.net.event_loop import run
from croupier.observers.private_files import private_opener
from croupier.rooms import HOUSE_ROOMS

if TYPE_CHECKING:
    from croupier.store.store import Store

app = App(name="db")

type StoreArgument = Annotated[
    str | None,
    Parameter(
        name="--store",
        help="Store: a path, sqlite:///PATH or postgresql://USER@HOST/DATABASE. [default: the user's store]",
    ),
]


def with_store[T](location: str | None, action: Callable[["Store"], Awaitable[T]], *, new: bool = False) -> T:
    """Return the result of `action` with an open store, which is created only if `new` is set. Raises ValueError."""
    from croupier.store.store import open_store

    async def main() -> T:
        async with await open_store(location, create=new) as store:
            return await action(store)

    return _run(main())


def _run[T](work: Coroutine[Any, Any, T]) -> T:
    """Run a coroutine. Raises OSError in the place of StoreUnavailable, ValueError in that of another StoreError."""
    from croupier.store.records import StoreError, StoreUnavailable

    try:
        return run(work)
    except StoreUnavailable as error:
        raise OSError(str(error)) from error
    except StoreError as error:
        raise ValueError(str(error)) from error


@app.command
def upgrade(*, store: StoreArgument = None) -> int:
    """Create a store, or upgrade one to the schema of this version."""
    from croupier.store.migrations import REVISIONS
    from croupier.store.store import upgrade_store

    place = _run(upgrade_store(store))
    print(f"{place} is at revision {REVISIONS[-1]}")
    return 0


@app.command
def check(*, store: StoreArgument = None) -> int:
    """Check the store for consistency: transfers sum to zero, and no record is missing.

    Exit status: 0 if the store is consistent, 1 if not.
    """

    async def action(store: "Store") -> int:
        findings = await store.find_problems()
        for finding in findings:
            print_line(f"{finding.where}: {finding.message}")
        print(f"{store.location}: {format_count(len(findings), 'fault')}")
        return 1 if findings else 0

    return with_store(store, action)


@app.command
def backup(file: Path, *, store: StoreArgument = None) -> int:
    """Copy the store to an SQLite file. Servers can keep running, and the copy is a store itself.

    Parameters
    ----------
    file:
        File to write. It must not exist.
    """

    async def action(store: "Store") -> int:
        with _report_write_errors(file):
            await store.backup(file)
        print(f"{store.location} is copied to {file}")
        return 0

    return with_store(store, action)


@app.command
def restore(file: Path, *, force: bool = False, store: StoreArgument = None) -> int:
    """Restore a backup to a store, completely or not at all. Creates the store if it does not exist.

    Parameters
    ----------
    file:
        Backup written by `croupier db backup`. It is not changed.
    force:
        Replace the contents of a store that is not empty.
    """
    from croupier.store.restore import restore_store

    place = _run(restore_store(file, store, force=force))
    print(f"{file} is restored to {place}")
    return 0


MIN_PRUNE_SECONDS: Final = 86_400.0
"""A game that is being recorded must find its transfer in the ledger, so that no coins move twice."""


@app.command
def prune(*, older_than: str, dry_run: bool = False, store: StoreArgument = None) -> int:
    """Delete old records: facts that no restart needs, hands, single transfers. Servers can keep running.

    Accounts and their coins stay: old transfers are replaced by one that has their sums. Without old facts and hands,
    `croupier hands` no longer lists those games.

    Parameters
    ----------
    older_than:
        Age of what is deleted, at least one day: 30d, 12w, 36h.
    dry_run:
        Print how much would be deleted, and delete nothing.
    """
    allowed = "a day or more, as in 36h, 30d or 12w"
    before = time.time() - parse_duration("older_than", older_than, least=MIN_PRUNE_SECONDS, allowed=allowed)

    async def action(store: "Store") -> int:
        counts = await store.prune(before, [*HOUSE_ROOMS], is_dry_run=dry_run)
        numbers = ", ".join(
            format_count(number, noun)
            for number, noun in ((counts.facts, "fact"), (counts.hands, "hand"), (counts.transfers, "transfer"))
        )
        verb = "would be" if dry_run else "are"
        print(
            f"{numbers} of {store.location} from before {datetime.fromtimestamp(before, UTC):%F %R} UTC {verb} deleted"
        )
        return 0

    return with_store(store, action)


@app.command
def export(file: Path | None = None, *, store: StoreArgument = None) -> int:
    """Export the store as JSON, one row per line, without password hashes and the keys of the web app.

    Parameters
    ----------
    file:
        File to write. It must not exist. [default: standard output]
    """

    async def action(store: "Store") -> int:
        if file is None:
            await store.export(sys.stdout.buffer)
            return 0
        with _report_write_errors(file), open(file, "xb", opener=private_opener) as stream:
            rows = await store.export(stream)
        print(f"{rows} rows of {store.location} are in {file}")
        return 0

    return with_store(store, action)


@contextmanager
def _report_write_errors(file: Path) -> Iterator[None]:
    """Name the file that cannot be written. Raises ValueError."""
    try:
        yield
    except FileExistsError:
        raise ValueError(f"{file} already exists; choose a new file") from None
    except OSError as error:
        raise ValueError(f"cannot write {file}: {error.strerror}") from error
