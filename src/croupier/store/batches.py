"""Batches of writes: one transaction for all of them, in which a write that fails does not affect the others."""

from collections.abc import Callable, Sequence
from contextlib import suppress
from enum import Enum

from msgspec.structs import replace

from croupier.store.engine import Facts, Script, StatementGenerator, Write
from croupier.store.records import WriteRefused
from croupier.store.schema import Dialect
from croupier.store.scripts import add_facts, add_hand


class Fault(Enum):
    """Where the cause of a failed statement is."""

    DATA = "the data of a write, or their integrity"
    SCRIPT = "a bug in the script of a write"
    DATABASE = "the database or the connection; no write is at fault"


def commit_batch(
    writes: Sequence[Write], dialect: Dialect, find_fault: Callable[[Exception], Fault]
) -> StatementGenerator[Sequence[object]]:
    """Write a batch in one transaction; if a write is at fault, a second time with each write in a savepoint.

    Returns for each write the result of its script (None for facts), or the exception with which it failed. Raises the
    exception of a statement if the database is at fault.
    """
    try:
        facts = [write for write in writes if isinstance(write, Facts)]
        if len(facts) == len(writes):
            yield from add_facts(facts)  # one Insert, which needs no transaction
            return [None] * len(writes)
        return (yield from run_in_transaction(_run_together(writes, facts), dialect))
    except Exception as error:
        if find_fault(error) is Fault.DATABASE:
            raise
    return (yield from run_in_transaction(_run_separately(writes, find_fault), dialect))


def run_in_transaction[T](statements: StatementGenerator[T], dialect: Dialect) -> StatementGenerator[T]:
    """Run statements in a transaction, which is rolled back if one of them fails."""
    yield dialect.begin, ()
    try:
        result = yield from statements
        yield "COMMIT", ()
    except Exception:
        with suppress(Exception):  # a full disk or a lost connection has ended the transaction
            yield "ROLLBACK", ()
        raise
    return result


def _run_together(writes: Sequence[Write], facts: Sequence[Facts]) -> StatementGenerator[Sequence[object]]:
    """Run all writes, facts first: the order is not observable before the commit."""
    yield from add_facts(facts)
    outcomes: list[object] = []
    for write in writes:
        if isinstance(write, Script):
            outcomes.append((yield from write.make_statements()))
        else:
            outcomes.append(None)
    return outcomes


def _run_separately(
    writes: Sequence[Write], find_fault: Callable[[Exception], Fault]
) -> StatementGenerator[Sequence[object]]:
    """Run each write in a savepoint, to which it is rolled back if it fails."""
    outcomes: list[object] = []
    for write in writes:
        yield "SAVEPOINT write", ()
        try:
            outcomes.append((yield from _run_write(write)))
        except Exception as error:
            fault = find_fault(error)
            if fault is Fault.DATABASE:
                raise
            yield "ROLLBACK TO write", ()
            outcomes.append(_refusal_error(write, error) if fault is Fault.DATA else error)
        yield "RELEASE write", ()
    return outcomes


def _run_write(write: Write) -> StatementGenerator[object]:
    if isinstance(write, Script):
        return (yield from write.make_statements())
    yield from add_facts([replace(write, hands=())])
    for hand in write.hands:
        yield from add_hand(hand)
    return None


def _refusal_error(write: Write, error: Exception) -> WriteRefused:
    reason = str(error) or type(error).__name__
    if isinstance(write, Script):
        return WriteRefused(reason)
    room, table, seq, _, _ = write.rows[0]
    return WriteRefused(f"found facts of {room} {table} from {seq} on ({reason}); allowed: those that follow its last")
