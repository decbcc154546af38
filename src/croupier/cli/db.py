"""`croupier db`: look after the store, in which everything is kept that must not be lost."""

import sys
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from cyclopts import App, Parameter

from croupier.cli.output import fail, print_line
from croupier.core.plural import format_count
from croupier.net.event_loop import run
from croupier.observers.private_files import private_opener

if TYPE_CHECKING:
    from croupier.store.store import Store

app = App(name="db", help="Look after the store: upgrade it, check it, copy it, restore it.")

type StoreArgument = Annotated[
    str | None,
    Parameter(
        name="--store",
        help="The store: a path, sqlite:///PATH or postgresql://USER@HOST/DATABASE. [default: a file of this user]",
    ),
]


def with_store(location: str | None, action: Callable[["Store"], Awaitable[int]], *, new: bool = False) -> int:
    """Open a store and do something with it; the exit status. One that is not there is made only if it is `new`."""
    from croupier.store.records import StoreError
    from croupier.store.store import open_store

    async def told() -> int:
        async with await open_store(location, create=new) as store:
            return await action(store)

    try:
        return run(told())
    except StoreError as error:
        return fail(error)


@app.command
def upgrade(*, store: StoreArgument = None) -> int:
    """Make a store, or bring one that an older croupier has made to this one's schema."""
    from croupier.store.migrations import REVISIONS
    from croupier.store.records import StoreError
    from croupier.store.store import upgrade_store

    try:
        place = run(upgrade_store(store))
    except StoreError as error:
        return fail(error)
    print(f"{place} is of revision {REVISIONS[-1]}")
    return 0


@app.command
def check(*, store: StoreArgument = None) -> int:
    """Go through the books: do all transfers sum to zero, is every fact there?

    Exit status 0: everything is as it must be; 1: something is not.
    """

    async def story(store: "Store") -> int:
        findings = await store.find_problems()
        for finding in findings:
            print_line(f"{finding.where}: {finding.message}")
        print(f"{store.location}: {format_count(len(findings), 'fault')}")
        return 1 if findings else 0

    return with_store(store, story)


@app.command
def backup(file: Path, *, store: StoreArgument = None) -> int:
    """Copy the books as they are now, while the house goes on. The copy is a store itself.

    Parameters
    ----------
    file:
        The file of SQLite to write. Nothing may be there.
    """

    async def story(store: "Store") -> int:
        with _report_write_errors(file):
            await store.backup(file)
        print(f"{store.location} is copied to {file}")
        return 0

    return with_store(store, story)


@app.command
def restore(file: Path, *, force: bool = False, store: StoreArgument = None) -> int:
    """Put a backup into a store: all of it or nothing. Where no store is yet, one is made.

    Parameters
    ----------
    file:
        What `croupier db backup` wrote. It is not changed.
    force:
        Replace what is in the store. Without this flag a store that is not empty is left as it is.
    """
    from croupier.store.records import StoreError
    from croupier.store.restore import restore_store

    try:
        place = run(restore_store(file, store, force=force))
    except StoreError as error:
        return fail(error)
    print(f"{file} is restored to {place}")
    return 0


@app.command
def export(file: Path | None = None, *, store: StoreArgument = None) -> int:
    """Write the books as they are now for other programs: JSON, a row a line, without the hashes of passwords.

    Parameters
    ----------
    file:
        The file to write. [default: standard output]
    """

    async def story(store: "Store") -> int:
        if file is None:
            await store.export(sys.stdout.buffer)
            return 0
        with _report_write_errors(file), open(file, "xb", opener=private_opener) as stream:
            rows = await store.export(stream)
        print(f"{rows} rows of {store.location} are in {file}")
        return 0

    return with_store(store, story)


@contextmanager
def _report_write_errors(file: Path) -> Iterator[None]:
    """Say what is wrong with a file that is to be written."""
    from croupier.store.records import StoreError

    try:
        yield
    except FileExistsError:
        raise StoreError(f"found {file}, which is there already; allowed: a new file") from None
    except OSError as error:
        raise StoreError(f"cannot write {file}: {error.strerror}") from error
