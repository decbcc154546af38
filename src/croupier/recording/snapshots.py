"""Snapshots of a table's state: losing one loses nothing but time at the next start, and is logged."""

from asyncio import Future

from croupier.logs import Logger
from croupier.store.records import Snapshot
from croupier.store.store import Store


def save_snapshot(store: Store, snapshot: Snapshot, log: Logger) -> None:
    """Save a snapshot some time, without anybody waiting for it; the log says when it could not be saved."""

    def done(saved: Future[None]) -> None:
        if not saved.cancelled() and (error := saved.exception()) is not None:
            log.warning("a snapshot could not be saved", table=snapshot.table, seq=snapshot.seq, reason=str(error))

    store.save_snapshot(snapshot).add_done_callback(done)
