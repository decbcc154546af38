"""Scripts of all writes, in SQL that both engines understand."""

from collections import Counter
from collections.abc import Sequence

import msgspec

from croupier.core.usernames import skeleton
from croupier.store.engine import Facts, Insert, Query, Rows, StatementGenerator
from croupier.store.records import (
    ACCOUNT_HOLDERS,
    MAX_COINS,
    Account,
    Holding,
    Posting,
    Snapshot,
    StoredHand,
    Transfer,
    WriteRefused,
)

ACCOUNT_COLUMNS = "id, name, house, password, created, closed, balance"
"""The columns that `account_from_row` needs, in this order."""

CASHIER_ACCOUNT = "cashier"
"""The house's account from which players are credited."""


def account_from_row(row: Sequence[object]) -> Account:
    """Convert a row of ACCOUNT_COLUMNS; booleans may be 0 or 1, as in SQLite."""
    return msgspec.convert(dict(zip(Account.__struct_fields__, row, strict=True)), Account, strict=False)


def save_snapshot(snapshot: Snapshot) -> StatementGenerator[None]:
    """Store the snapshot of a table, and replace the former one unless that is newer."""
    yield (
        """INSERT INTO snapshots (room, "table", seq, state, time) VALUES ($1, $2, $3, $4, $5)
        ON CONFLICT (room, "table") DO UPDATE SET seq = excluded.seq, state = excluded.state, time = excluded.time
        WHERE excluded.seq >= snapshots.seq""",
        (snapshot.room, snapshot.table, snapshot.seq, snapshot.state, snapshot.time),
    )


def add_facts(writes: Sequence[Facts]) -> StatementGenerator[None]:
    """Store the facts of several writes, and the hands that they end."""
    if (insert := make_insert(writes)).rows:
        yield insert


def make_insert(writes: Sequence[Facts]) -> Insert:
    """The rows of several writes: their facts, and the hands that they end."""
    facts = [row for write in writes for row in write.rows]
    hands = [hand for write in writes for hand in write.hands]
    rows: dict[str, Rows] = {"journal": facts} if facts else {}
    return Insert(rows | _hand_rows(hands) if hands else rows)


def add_hand(hand: StoredHand) -> StatementGenerator[None]:
    """Store a hand and its players. Raises WriteRefused if the table already has a hand of this number."""
    existing = yield (
        'SELECT 1 FROM hands WHERE room = $1 AND "table" = $2 AND number = $3',
        (hand.room, hand.table, hand.number),
    )
    if existing:
        raise WriteRefused(f"found hand {hand.number} of {hand.room} {hand.table} already; allowed: a new number")
    yield Insert(_hand_rows([hand]))


def _hand_rows(hands: Sequence[StoredHand]) -> dict[str, Rows]:
    rows = [
        (h.room, h.table, h.number, h.time, msgspec.json.encode(h.players).decode(), h.record, h.summary) for h in hands
    ]
    played = [(player, h.room, h.table, h.number) for h in hands for player in {*h.players}]
    return {"hands": rows, "played": played} if played else {"hands": rows}


def ensure_house_account(room: str, now: float) -> StatementGenerator[Account]:
    """The account of a room, created if it does not exist."""
    yield (
        """INSERT INTO accounts (name, house, created, balance) VALUES ($1, $2, $3, 0)
        ON CONFLICT (name, house) DO NOTHING""",
        (room, True, now),
    )
    return (yield from _find_account(room, house=True))


def add_account(name: str, password: str | None, coins: int, reason: str, now: float) -> StatementGenerator[Account]:
    """Open an account, with coins from the cashier.

    Raises WriteRefused if there is an account, open or closed, with this name or with a name that looks like it. Names
    of clients without login, such as kuhn:192.0.2.7, are compared exactly.
    """
    alike = None if ":" in name else skeleton(name)
    rows = yield (
        """INSERT INTO accounts (name, house, password, created, balance, skeleton) VALUES ($1, $2, $3, $4, 0, $5)
        ON CONFLICT DO NOTHING RETURNING id""",
        (name, False, password, now, alike),
    )
    if not rows:
        existing = yield "SELECT name FROM accounts WHERE skeleton = $1 OR (name = $2 AND NOT house)", (alike, name)
        if (name,) not in [tuple(row) for row in existing]:
            raise WriteRefused(
                f"found an account {existing[0][0]!r}, which {name!r} looks like; allowed: a name of its own"
            )
        raise WriteRefused(f"found an account {name!r}; allowed: a name that is not taken")
    yield from _credit_from_cashier(rows[0][0], coins, reason, now)
    return (yield from _find_account(name))


def set_password(name: str, password: str | None, reason: str, now: float) -> StatementGenerator[None]:
    """Change the password hash of an open account, and note it in the ledger."""
    account = yield from _find_open_account(name)
    yield "UPDATE accounts SET password = $2 WHERE id = $1", (account.id, password)
    yield from _credit_from_cashier(account.id, 0, reason, now)


def credit(name: str, coins: int, reason: str, now: float) -> StatementGenerator[Account]:
    """Move coins from the cashier to an open account, or back if negative."""
    account = yield from _find_open_account(name)
    yield from _credit_from_cashier(account.id, coins, reason, now)
    return (yield from _find_account(name))


def close_account(name: str, reason: str, now: float) -> StatementGenerator[int]:
    """Close an account and move its balance to the cashier; returns the balance."""
    account = yield from _find_open_account(name)
    yield from _credit_from_cashier(account.id, -account.balance, reason, now)
    yield "UPDATE accounts SET closed = $2 WHERE id = $1", (account.id, now)
    return account.balance


def transfer(reason: str, postings: Sequence[Posting], key: str | None, now: float) -> StatementGenerator[int]:
    """Execute a transfer, whose postings must sum to 0, and return its id.

    If the key was used before by the same transfer, nothing is moved, and its id is returned. Raises WriteRefused if a
    player's balance is too low, if an account is closed, does not exist or is held by another server, or if another
    transfer has used the key.
    """
    totals: Counter[int] = Counter()
    held: Counter[int] = Counter()
    for posting in postings:
        totals[posting.account] += posting.coins
        held[posting.account] = max(held[posting.account], posting.held)
    if totals.total() != 0 or not totals:
        raise WriteRefused(f"found a transfer of {len(totals)} accounts that sums to {totals.total()}; allowed: 0")
    if any(abs(coins) > MAX_COINS for coins in totals.values()):
        raise WriteRefused(f"found a transfer of {max(map(abs, totals.values()))} coins; allowed: {MAX_COINS}")
    rows = yield (
        "INSERT INTO transfers (key, time, reason) VALUES ($1, $2, $3) ON CONFLICT (key) DO NOTHING RETURNING id",
        (key, now, reason),
    )
    if not rows:
        return (yield from _repeat_transfer(key, totals))
    number = int(rows[0][0])
    for account, coins in sorted(totals.items()):  # a fixed order of the row locks prevents deadlocks
        yield from _change_balance(account, coins, held[account])
        yield "INSERT INTO entries (transfer, account, coins) VALUES ($1, $2, $3)", (number, account, coins)
    for posting in postings:
        if posting.holding is not None:
            yield from _check_holding(posting.holding)
    return number


def transfer_all(transfers: Sequence[Transfer], now: float) -> StatementGenerator[None]:
    """Execute transfers in this order, all or none. Raises WriteRefused if one of them is refused."""
    for each in transfers:
        yield from transfer(each.reason, each.postings, each.key, now)


def take_account(holding: Holding, holder: bytes, now: float) -> StatementGenerator[Account]:
    """Note that a server, which `holder` describes, has taken a player's account; return the account.

    Transfers of the former holder that are committed later are refused: the row of the account stays locked until the
    end of the transaction, as it does in a transfer. Raises WriteRefused if another server was faster.
    """
    account = yield from _find_account(holding.name)
    yield "UPDATE accounts SET balance = balance WHERE id = $1", (account.id,)
    taken = yield (
        """INSERT INTO journal (room, "table", seq, fact, time) VALUES ($1, $2, $3, $4, $5)
        ON CONFLICT DO NOTHING RETURNING seq""",
        (ACCOUNT_HOLDERS, holding.name, holding.seq, holder, now),
    )
    if not taken:
        raise WriteRefused(f"found {holding.name!r}, which another server has taken; allowed: to look again")
    return (yield from _find_account(holding.name))


def _check_holding(holding: Holding) -> StatementGenerator[None]:
    rows = yield (
        'SELECT MAX(seq) FROM journal WHERE room = $1 AND "table" = $2',
        (ACCOUNT_HOLDERS, holding.name),
    )
    if rows[0][0] != holding.seq:
        raise WriteRefused(f"found {holding.name!r}, which another server has taken; allowed: an account held here")


def _repeat_transfer(key: str | None, totals: Counter[int]) -> StatementGenerator[int]:
    rows = yield (
        """SELECT e.transfer, e.account, e.coins FROM transfers t JOIN entries e ON e.transfer = t.id
        WHERE t.key = $1""",
        (key,),
    )
    if {row[1]: row[2] for row in rows} != totals:
        raise WriteRefused(f"found the key {key!r} of another transfer; allowed: a new one, or the same transfer again")
    return int(rows[0][0])


def _change_balance(number: int, coins: int, held: int) -> StatementGenerator[None]:
    """Change the balance of an account, which locks its row until the end of the transaction."""
    needed = max(held, -coins)
    rows = yield (
        """UPDATE accounts SET balance = balance + $2
        WHERE id = $1 AND closed IS NULL AND (house OR balance >= $3) RETURNING balance""",
        (number, coins, needed),
    )
    if not rows:
        existing = yield "SELECT name, balance, closed FROM accounts WHERE id = $1", (number,)
        if not existing:
            raise WriteRefused(f"found account {number}, which is not there; allowed: one that is open")
        name, balance, closed = existing[0]
        if closed is not None:
            raise WriteRefused(f"found {name!r}, which is closed; allowed: an open account")
        raise WriteRefused(f"found {needed} coins to be taken from {name!r}; allowed: {balance}")
    balance = rows[0][0]
    if not isinstance(balance, int):  # SQLite converts integers that overflow to floats
        raise WriteRefused(f"found a balance of {balance:.0f} coins; allowed: {MAX_COINS}")


def _credit_from_cashier(number: int, coins: int, reason: str, now: float) -> StatementGenerator[None]:
    """Move coins from the cashier to an account; 0 coins only note the reason in the ledger."""
    cashier = yield from ensure_house_account(CASHIER_ACCOUNT, now)
    yield from transfer(reason, (Posting(number, coins), Posting(cashier.id, -coins)), None, now)


def _find_account(name: str, *, house: bool = False) -> StatementGenerator[Account]:
    rows = yield f"SELECT {ACCOUNT_COLUMNS} FROM accounts WHERE name = $1 AND house = $2", (name, house)  # noqa: S608 -- constant columns
    if not rows:
        raise WriteRefused(f"found no account {name!r}; allowed: one that was added")
    return account_from_row(rows[0])


def _find_open_account(name: str) -> StatementGenerator[Account]:
    account = yield from _find_account(name)
    if account.closed is not None:
        raise WriteRefused(f"found {name!r}, which is closed; allowed: an open account")
    return account


def select_hands(room: str | None = None, table: str | None = None, player: str | None = None) -> Query:
    """A query for the hands that match all conditions, latest first."""
    conditions = {
        "room = ${}": room,
        '"table" = ${}': table,
        """EXISTS (SELECT 1 FROM played p WHERE p.player = ${} AND p.room = h.room AND p."table" = h."table"
        AND p.number = h.number)""": player,
    }
    given = {condition: value for condition, value in conditions.items() if value is not None}
    where = " AND ".join(condition.format(number) for number, condition in enumerate(given, start=1))
    sql = f"""SELECT room, "table", number, time, players, record, summary FROM hands h WHERE {where or "TRUE"}
    ORDER BY time DESC, room, "table", number DESC"""  # noqa: S608 -- constant conditions
    return sql, tuple(given.values())
