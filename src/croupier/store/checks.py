"""Integrity checks of a store: unbalanced transfers, wrong balances, gaps in journals that are not pruned."""

from collections.abc import AsyncIterator

from croupier.store.engine import ReadTransaction
from croupier.store.records import PRUNED_FACT, StoreFinding

CHECKS: tuple[tuple[str, str, str, *tuple[object, ...]], ...] = (
    (
        "transfers {0}",
        "found coins that sum to {1}; allowed: 0",
        """SELECT transfer, CAST(SUM(coins) AS bigint) FROM entries
        GROUP BY transfer HAVING SUM(coins) <> 0 ORDER BY transfer""",
    ),
    (
        "transfers {0}",
        "found no entry; allowed: the two sides of it",
        """SELECT id FROM transfers t WHERE NOT EXISTS (SELECT 1 FROM entries e WHERE e.transfer = t.id) ORDER BY id""",
    ),
    (
        "accounts {0}",
        "found a balance of {1}; allowed: {2}, the sum of its entries",
        """SELECT a.name, a.balance, CAST(COALESCE(SUM(e.coins), 0) AS bigint)
        FROM accounts a LEFT JOIN entries e ON e.account = a.id
        GROUP BY a.id, a.name, a.balance HAVING a.balance <> COALESCE(SUM(e.coins), 0) ORDER BY a.name""",
    ),
    (
        "accounts {0}",
        "found a balance of {1}; allowed: 0 or more, for a player",
        "SELECT name, balance FROM accounts WHERE NOT house AND balance < 0 ORDER BY name",
    ),
    (
        "accounts {0}",
        "found {1} coins in a closed account; allowed: 0",
        "SELECT name, balance FROM accounts WHERE closed IS NOT NULL AND balance <> 0 ORDER BY name",
    ),
    (
        "journal {0} {1}",
        "found {4} facts, from {2} to {3}; allowed: all from 1",
        """SELECT room, "table", first, last, facts FROM (
            SELECT room, "table", MIN(seq) AS first, MIN(CASE WHEN seq > 1 THEN seq END) AS second, MAX(seq) AS last,
            COUNT(*) AS facts FROM journal GROUP BY room, "table"
        ) j WHERE first <> 1 OR (facts <> last AND (facts <> last - second + 2 OR NOT (
            EXISTS (SELECT 1 FROM snapshots s WHERE s.room = j.room AND s."table" = j."table" AND s.seq >= second)
            OR EXISTS (
                SELECT 1 FROM journal p WHERE p.room = j.room AND p."table" = j."table" AND p.seq = 1 AND p.fact = $1
            )
        ))) ORDER BY room, "table" """,
        PRUNED_FACT,
    ),
    (
        "snapshots {0} {1}",
        "found the state after fact {2}; allowed: 0 to {3}, the last in the journal",
        """SELECT room, "table", seq, (
            SELECT COALESCE(MAX(j.seq), 0) FROM journal j WHERE j.room = s.room AND j."table" = s."table"
        ) FROM snapshots s WHERE seq < 0 OR seq > (
            SELECT COALESCE(MAX(j.seq), 0) FROM journal j WHERE j.room = s.room AND j."table" = s."table"
        ) ORDER BY room, "table" """,
    ),
    (
        "hands {0} {1} {2}",
        "found a hand of a room without a journal; allowed: hands of rooms that have one",
        """SELECT room, "table", number FROM hands h WHERE NOT EXISTS (
            SELECT 1 FROM journal j WHERE j.room = h.room
        ) ORDER BY room, "table", number""",
    ),
    (
        "played {0} {1} {2} {3}",
        "found a player of a hand that is not there; allowed: those of hands",
        """SELECT player, room, "table", number FROM played p WHERE NOT EXISTS (
            SELECT 1 FROM hands h WHERE h.room = p.room AND h."table" = p."table" AND h.number = p.number
        ) ORDER BY player, room, "table", number""",
    ),
)
"""For each check: the place and the message, as templates, and a query with its arguments; every row that it returns is
a problem. After the first fact of a journal, facts may be missing up to the snapshot, or if the first one is pruned."""


async def find_problems(transaction: ReadTransaction) -> AsyncIterator[StoreFinding]:
    """Run all checks, and yield every problem."""
    for where, message, sql, *arguments in CHECKS:
        async for rows in transaction.rows(sql, *arguments):
            for row in rows:
                yield StoreFinding(where.format(*row), message.format(*row))
