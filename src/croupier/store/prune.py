"""Deletes old records from a store, in small transactions, so that servers that use the store can go on.

Nothing is deleted that recovery needs, and no coins: what a restart reads (the first fact of each journal, the last
snapshot, the facts from it on), accounts, their balances, and the sums of their entries remain.
"""

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Final

import msgspec
from msgspec import Struct

from croupier.store.engine import ReadTransaction, Rows, StatementGenerator
from croupier.store.records import PRUNED_FACT, PruneCounts

PORTION_ROWS: Final = 1000
"""The number of facts or transfers that one transaction deletes."""

PORTION_HANDS: Final = 200
"""The number of hands that one transaction deletes. Each has a row for every player."""

CARRIED_REASON: Final = "carried forward"
"""The reason of the transfer that stands for all pruned ones."""

type PruneStep = Callable[[], StatementGenerator[int]]
"""Makes the script of one portion. It returns how many records it has pruned; 0: there are no more."""


class JournalCut(Struct, frozen=True):
    """What can go from the journal of a table: the facts between the first one and `end`, both excluded.

    The facts `cleared`, which are records of finished games as well, are replaced by PRUNED_FACT: the numbers of the
    first and of the last fact of a journal are always kept, so that a server can continue it.
    """

    room: str
    table: str
    end: int
    count: int
    cleared: tuple[int, ...] = ()


class PrunePlan(Struct, frozen=True):
    """What can go from a store: everything before the time `before`, in seconds since 1970."""

    before: float
    cuts: Sequence[JournalCut]
    counts: PruneCounts

    def steps(self) -> Iterator[PruneStep]:
        """Yield the steps, each of which is repeated until it returns 0."""
        for cut in self.cuts:
            yield partial(cut_journal, cut)
        yield partial(delete_hands, self.before)
        yield partial(fold_transfers, self.before)


async def make_plan(transaction: ReadTransaction, before: float, game_rooms: Sequence[str]) -> PrunePlan:
    """Find out what can go.

    The journals of `game_rooms` are records of finished games. Those of other rooms are needed from the last snapshot
    on, and completely without one.
    """
    cuts = []
    for room, table, last, snapshot in await _all_rows(
        transaction,
        """SELECT j.room, j."table", MAX(j.seq), MAX(s.seq) FROM journal j
        LEFT JOIN snapshots s ON s.room = j.room AND s."table" = j."table"
        GROUP BY j.room, j."table" ORDER BY j.room, j."table" """,
    ):
        is_record = room in game_rooms
        if is_record or snapshot is not None:
            needed_from = await _first_seq_since(transaction, room, table, before)
            end = min(last if is_record else snapshot, needed_from or last)
            cleared = (1, *([last] if needed_from is None else [])) if is_record and needed_from != 1 else ()
            cuts.append(await _make_cut(transaction, room, table, end, cleared))
    facts = sum(cut.count for cut in cuts)
    ((hands,),) = await _all_rows(transaction, "SELECT COUNT(*) FROM hands WHERE time < $1", before)
    ((transfers,),) = await _all_rows(
        transaction, "SELECT COUNT(*) FROM transfers WHERE time < $1 AND reason <> $2", before, CARRIED_REASON
    )
    return PrunePlan(before, [cut for cut in cuts if cut.count], PruneCounts(facts, hands, transfers))


async def _first_seq_since(transaction: ReadTransaction, room: str, table: str, before: float) -> int | None:
    """The first fact that is not older than `before`; None if all are older."""
    sql = 'SELECT MIN(seq) FROM journal WHERE room = $1 AND "table" = $2 AND time >= $3'
    ((seq,),) = await _all_rows(transaction, sql, room, table, before)
    return seq if seq is None else int(seq)


async def _make_cut(
    transaction: ReadTransaction, room: str, table: str, end: int, cleared: tuple[int, ...]
) -> JournalCut:
    """Count what a cut prunes, without the facts that are cleared already."""
    first, last = (cleared[0], cleared[-1]) if cleared else (0, 0)
    ((count,),) = await _all_rows(
        transaction,
        """SELECT COUNT(*) FROM journal WHERE room = $1 AND "table" = $2
        AND ((seq > 1 AND seq < $3) OR (seq IN ($4, $5) AND fact <> $6))""",
        *(room, table, end, first, last, PRUNED_FACT),
    )
    return JournalCut(room, table, end, count, cleared)


async def _all_rows(transaction: ReadTransaction, sql: str, *arguments: object) -> Rows:
    return [row async for rows in transaction.rows(sql, *arguments) for row in rows]


def cut_journal(cut: JournalCut) -> StatementGenerator[int]:
    """Clear and delete facts of a table, oldest first."""
    pruned = 0
    for seq in cut.cleared:
        pruned += len(
            (
                yield (
                    """UPDATE journal SET fact = $4 WHERE room = $1 AND "table" = $2 AND seq = $3 AND fact <> $4
                    RETURNING seq""",
                    (cut.room, cut.table, seq, PRUNED_FACT),
                )
            )
        )
    sql = 'SELECT MIN(seq) FROM journal WHERE room = $1 AND "table" = $2 AND seq > 1'
    ((first,),) = yield sql, (cut.room, cut.table)
    if first is not None and first < cut.end:
        end = min(cut.end, first + PORTION_ROWS)
        sql = 'DELETE FROM journal WHERE room = $1 AND "table" = $2 AND seq >= $3 AND seq < $4'
        yield sql, (cut.room, cut.table, first, end)
        pruned += end - first
    return pruned


def delete_hands(before: float) -> StatementGenerator[int]:
    """Delete old hands, and the index of their players."""
    hands = yield (
        'SELECT room, "table", number, players FROM hands WHERE time < $1 ORDER BY time LIMIT $2',
        (before, PORTION_HANDS),
    )
    for room, table, number, players in hands:
        for player in {*msgspec.json.decode(players, type=list[str])}:
            yield (
                'DELETE FROM played WHERE player = $1 AND room = $2 AND "table" = $3 AND number = $4',
                (player, room, table, number),
            )
        yield 'DELETE FROM hands WHERE room = $1 AND "table" = $2 AND number = $3', (room, table, number)
    return len(hands)


OLD_TRANSFERS: Final = "SELECT id FROM transfers WHERE id > $1 AND id <= $2 AND time < $3"


def fold_transfers(before: float) -> StatementGenerator[int]:
    """Replace old transfers by the oldest one, which then has the sum of their coins for each account.

    So the entries of each account still sum to its balance, and those of the transfer to 0.
    """
    rows = yield (
        "SELECT id, reason FROM transfers WHERE time < $1 ORDER BY id LIMIT $2",
        (before, PORTION_ROWS + 1),
    )
    pruned: int = sum(reason != CARRIED_REASON for _, reason in rows)
    if not pruned:
        return 0
    oldest, last = rows[0][0], rows[-1][0]
    arguments = oldest, last, before
    yield (
        f"""INSERT INTO entries (transfer, account, coins)
        SELECT CAST($1 AS bigint), account, CAST(SUM(coins) AS bigint) FROM entries
        WHERE transfer IN ({OLD_TRANSFERS}) GROUP BY account
        ON CONFLICT (transfer, account) DO UPDATE SET coins = entries.coins + excluded.coins""",  # noqa: S608 -- a constant of this module
        arguments,
    )
    yield f"DELETE FROM entries WHERE transfer IN ({OLD_TRANSFERS})", arguments  # noqa: S608 -- a constant of this module
    yield "DELETE FROM entries WHERE transfer = $1 AND coins = 0", (oldest,)
    yield (
        """UPDATE transfers SET key = NULL, reason = $4,
        time = (SELECT MAX(time) FROM transfers WHERE id >= $1 AND id <= $2 AND time < $3) WHERE id = $1""",
        (*arguments, CARRIED_REASON),
    )
    yield "DELETE FROM transfers WHERE id > $1 AND id <= $2 AND time < $3", arguments
    yield "DELETE FROM transfers WHERE id = $1 AND NOT EXISTS (SELECT 1 FROM entries WHERE transfer = $1)", (oldest,)
    return pruned
