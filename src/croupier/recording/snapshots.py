"""Snapshots of a table's state. A lost snapshot is logged; it only makes the next start slower."""

from asyncio import Future

from croupier.logs import Logger
from croupier.store.records import Snapshot
from croupier.store.store import Store


def save_snapshot(store: Store, snapshot: Snapshot, log: Logger) -> None:
    """Save a snapshot in the background; a failure is logged."""

    def done(saved: Future[None]) -> None:
        if not saved.cancelled() and (error := saved.exception()) is not None:
            log.warning("snapshot not saved", table=snapshot.table, seq=snapshot.seq, reason=str(error))

    store.save_snapshot(snapshot).add_done_callback(done)
