"""The columns of datasets: what a row has, with types and units, for the data sheet and for Parquet."""

from collections.abc import Mapping, Sequence
from typing import Final, Literal, NamedTuple


class Column(NamedTuple):
    """A column: the type of its values, what they mean, and their unit.

    The values of the type `list of actions` are structures, whose values are described in `fields`.
    """

    name: str
    type: Literal["string", "integer", "number", "boolean", "list of strings", "list of integers", "list of actions"]
    description: str
    unit: str = ""
    fields: Sequence["Column"] = ()


GAME_COLUMNS: Final = (
    Column("table", "string", "the table; against a house RUN-CONNECTION, one table for each connection"),
    Column("number", "integer", "the number of the game at its table, from 1"),
    Column("time", "number", "when the game ended", "seconds since 1970-01-01 UTC"),
)

HOUSE_COLUMNS: Final = (
    *GAME_COLUMNS,
    Column("seat", "integer", "the seat of the client: 0 acts first"),
    Column("net", "integer", "what the client has won", "coins"),
    Column("cards", "list of strings", "all cards, in the order of the deal"),
    Column("done", "list of strings", "the moves: of both sides in Kuhn poker, else of the client"),
    Column("client", "string", "the account of the client; empty without accounts"),
)

HOLDEM_COLUMNS: Final = (
    *GAME_COLUMNS,
    Column("players", "list of strings", "the names of the players, by seat"),
    Column("stacks", "list of integers", "the stacks before the forced bets, by seat", "chips"),
    Column("button", "integer", "the seat of the dealer button"),
    Column("small_blind", "integer", "the small blind", "chips"),
    Column("big_blind", "integer", "the big blind", "chips"),
    Column("ante", "integer", "the ante of each player", "chips"),
    Column("straddle", "integer", "the straddle, 0 if there is none", "chips"),
    Column("hole_cards", "list of strings", "the two cards of each seat, separated by a blank"),
    Column("board", "list of strings", "the cards on the board, in the order of the deal"),
    Column(
        "actions",
        "list of actions",
        "what the players did, in order",
        fields=(
            Column("seat", "integer", "who acts"),
            Column("street", "integer", "the betting round: 0 before the flop, 1 flop, 2 turn, 3 river"),
            Column("move", "string", "bet (also a check, a call or a raise), fold or leave"),
            Column("chips", "integer", "what the move adds to the pot", "chips"),
        ),
    ),
    Column("net", "list of integers", "what each seat has won; empty for a void hand", "chips"),
)

OLDMAID_COLUMNS: Final = (
    *GAME_COLUMNS,
    Column("players", "list of strings", "the nicks, in the order of the ring"),
    Column("is_void", "boolean", "whether the game has no result"),
    Column("ranking", "list of strings", "the nicks from the winner to the loser; empty for a void game"),
    Column(
        "actions",
        "list of actions",
        "what the table has seen, in order; picks are between players",
        fields=(
            Column("seat", "integer", "who acts"),
            Column("move", "string", "drew, threw (a pair), out or gone"),
            Column("cards", "list of strings", "the cards of the move"),
        ),
    ),
)

COLUMNS: Final[Mapping[str, Sequence[Column]]] = {"holdem": HOLDEM_COLUMNS, "oldmaid": OLDMAID_COLUMNS}
"""The columns of the rooms with shared tables; the others have `HOUSE_COLUMNS`."""


TOURNAMENT_HOUSE_COLUMNS: Final = (
    Column("table", "string", "the pairing: the positions of its bots in the plan, from 0"),
    Column("number", "integer", "the number of the hand in its pairing, from 1"),
    Column("players", "list of strings", "the bots: P_1 and P_2 in Kuhn poker, against a bank the one that plays"),
    Column("net", "list of integers", "what each of them has won", "coins"),
    Column("cards", "list of strings", "all cards, in the order of the deal"),
    Column("done", "list of strings", "the moves: of both bots in Kuhn poker, else of the one that plays"),
)

TOURNAMENT_HOLDEM_COLUMNS: Final = (
    *TOURNAMENT_HOUSE_COLUMNS[:2],
    *(column for column in HOLDEM_COLUMNS if column not in GAME_COLUMNS),
)

TEXT_COLUMNS: Final[Mapping[str, Sequence[Column]]] = {
    "acpc": (
        Column(
            "hand",
            "string",
            "STATE, the number of the hand, the betting, all cards, what each player has won and their names, "
            "separated by colons, as the dealer of the Annual Computer Poker Competition logs them; players are in the "
            "order of their positions, from the left of the button",
        ),
    ),
    "phhs": (Column("hand", "string", "a TOML table with the fields of PHH (Poker Hand History) 0.0.2"),),
}
"""The columns of formats that have hands of hold'em as text, by their names."""


def columns_of(room: str, dataset_format: str = "rows", *, is_tournament: bool = False) -> Sequence[Column]:
    """The columns of a room's games, recorded by a server, or of a tournament."""
    if dataset_format in TEXT_COLUMNS:
        return TEXT_COLUMNS[dataset_format]
    if is_tournament:
        return TOURNAMENT_HOLDEM_COLUMNS if room == "holdem" else TOURNAMENT_HOUSE_COLUMNS
    return COLUMNS.get(room, HOUSE_COLUMNS)
