"""The rows of datasets: games as values of their columns."""

from collections.abc import Sequence

from msgspec import to_builtins

from croupier.recording.dataset_columns import HOUSE_COLUMNS
from croupier.recording.dataset_writers import DatasetFormat, Row
from croupier.recording.game_records import GameRecord
from croupier.rooms.holdem.cards import card_names
from croupier.rooms.holdem.engine.hand import Hand
from croupier.rooms.holdem.engine.play import OVER
from croupier.rooms.holdem.histories import to_acpc_log, to_phh
from croupier.rooms.holdem.table.finished_hands import FinishedHand
from croupier.rooms.oldmaid.table.persistence import OldMaidRecord
from croupier.store.records import StoredHand


def house_row(game: GameRecord) -> Row:
    """The row of a game against a house."""
    fields = {**to_builtins(game), "cards": [*game.cards], "done": [*game.done]}
    return {column.name: fields[column.name] for column in HOUSE_COLUMNS}


def stored_row(stored: StoredHand, dataset_format: DatasetFormat = "rows") -> Row | None:
    """The row of a hand of hold'em or a game of Old Maid. Raises ValueError if its record is damaged.

    It is None for a void hand in the format `acpc`, which has no results without one.
    """
    row = {"table": stored.table, "number": stored.number, "time": stored.time, "players": [*stored.players]}
    if stored.room == "oldmaid":
        record = OldMaidRecord.from_json(stored.record.encode())
        actions = [{"seat": seat, "move": move, "cards": cards} for move, seat, *cards in record.course]
        return {**row, "is_void": record.void, "ranking": [*record.ranking], "actions": actions}
    hand = FinishedHand.from_json(stored.record.encode()).hand
    return None if dataset_format == "acpc" and hand.turn is not OVER else holdem_row(hand, row, dataset_format)


def holdem_row(hand: Hand, game: Row, dataset_format: DatasetFormat = "rows") -> Row:
    """The row of a hand of hold'em. `game` has the values of the columns that all games have, and `players`.

    Raises ValueError if the format cannot express the hand.
    """
    if dataset_format == "acpc":
        return {"hand": to_acpc_log(hand, game["players"], game["number"])}
    if dataset_format == "phhs":
        return {"hand": to_phh(hand, players=game["players"], table=game["table"], number=game["number"])}
    return {
        **game,
        "stacks": [*hand.start_stacks],
        "button": hand.button,
        "small_blind": hand.stakes.small_blind,
        "big_blind": hand.stakes.big_blind,
        "ante": hand.stakes.ante,
        "straddle": hand.stakes.straddle,
        "hole_cards": [" ".join(card_names(cards)) for cards in hand.holes],
        "board": [*card_names(hand.board)],
        "actions": _holdem_actions(hand),
        "net": [*hand.payoff()] if hand.turn is OVER else [],
    }


def _holdem_actions(hand: Hand) -> Sequence[Row]:
    """What the players did in a hand."""
    actions: list[Row] = []
    street = 0
    for entry in hand.log:
        match entry:
            case ("deal", dealt_to, _):
                street += dealt_to is None
            case ("bet", seat, chips):
                actions.append({"seat": seat, "street": street, "move": "bet", "chips": chips})
            case (move, seat):
                actions.append({"seat": seat, "street": street, "move": move, "chips": 0})
    return actions
