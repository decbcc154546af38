"""The table of a game against a house, recorded or running: which of its cards are whose."""

from collections.abc import Collection, Mapping, Sequence
from itertools import takewhile
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from croupier.core.card_names import FRENCH_CARDS, SPANISH_CARDS
from croupier.core.presentation import BACK, CardView, SeatStatus, SeatView, TableView, Text, text, verbatim
from croupier.recording.game_records import GameRecord
from croupier.rooms.blackjack.rules import HIT, STAND, SURRENDER
from croupier.rooms.kuhn.presenter import CARDS, HOUSE_ACTIONS
from croupier.rooms.kuhn.rules import SHOWDOWN, TERMINAL_HISTORIES

TITLES: Final = {"kuhn": text("Kuhn poker"), "sevenhalf": text("Seven and a half"), "blackjack": text("Blackjack")}
CARD_VIEWS: Final[Mapping[str, Mapping[str, CardView]]] = {
    "kuhn": CARDS,
    "sevenhalf": SPANISH_CARDS,
    "blackjack": FRENCH_CARDS,
}
HOUSE_NAMES: Final = {"kuhn": text("House"), "sevenhalf": text("Bank"), "blackjack": text("Bank")}
CLIENT_NAME: Final = text("The client")
BET: Final = "BET "
"""How the command begins that states the bet in a game against a bank."""
CLIENT_MOVES: Final[Mapping[str, Mapping[str, Text]]] = {
    "kuhn": {
        "CHK": text("The client checks."),
        "BET": text("The client bets a coin."),
        "CAL": text("The client calls."),
        "FLD": text("The client folds."),
    },
    "sevenhalf": {"DRAW": text("The client draws a card."), "PASS": text("The client passes.")},
    "blackjack": {
        HIT: text("The client draws a card."),
        STAND: text("The client stands."),
        SURRENDER: text("The client surrenders."),
    },
}
KUHN_SHOWDOWNS: Final[Collection[tuple[str, ...]]] = [
    moves for moves, (winner, _) in TERMINAL_HISTORIES.items() if winner == SHOWDOWN
]
"""The moves after which both players of Kuhn poker show their cards."""


class WatchedGame(Struct, frozen=True):
    """A game that is watched; see `GameRecord`. `net` is what the client has won, None while it runs."""

    room: str
    number: int
    cards: tuple[str, ...]
    done: tuple[str, ...]
    seat: int
    net: int | None


type HouseGame = GameRecord | WatchedGame
"""A game against a house: its cards in dealing order, its moves (`HouseRoom.commands`), and the client's seat."""


def house_table(game: HouseGame, done_count: int, *, is_over: bool) -> TableView | None:
    """Return the table of a game after some of its moves, None if the game is of no known room.

    The client looks at it: cards that the house shows at the end only lie face down until the game `is_over`.
    """
    if game.room not in TITLES:
        return None
    done = game.done[:done_count]
    if game.room == "kuhn":
        own, other = _kuhn_hands(game)
    else:
        own, other = _bank_hands(game, done)
    if not is_over:
        other = [None] * len(other) if game.room == "kuhn" else other[: 1 if game.room == "blackjack" else 0]
    return _table(game, own, other, SeatView(name=CLIENT_NAME, caption=_bet(done), is_viewer=True))


def public_table(game: HouseGame, *, is_over: bool) -> TableView:
    """Return the table of a game as everybody may see it: in Kuhn poker, cards lie face down until a showdown."""
    own: Sequence[str | None]
    other: Sequence[str | None]
    if game.room == "kuhn":
        own, other = _kuhn_hands(game)
        if not is_over or (*game.done,) not in KUHN_SHOWDOWNS:
            own, other = [None] * len(own), [None] * len(other)
    else:
        own, other = _bank_hands(game, game.done)
    status: SeatStatus = "" if is_over else "to act"  # the house acts at once
    return _table(game, own, other, SeatView(name=CLIENT_NAME, caption=_bet(game.done), status=status))


def house_result(net: int) -> Text:
    """Return what the client has won or lost in a game."""
    if net > 0:
        return text("The client wins {coins}.", coins=net)
    if net:
        return text("The client loses {coins}.", coins=-net)
    return text("The client neither wins nor loses.")


def actor_of_move(game: HouseGame, number: int) -> str:
    """Return who makes a move, counted from 1: "player" or "house". A bank has no moves; in Kuhn poker P_1 begins."""
    is_of_house = game.room == "kuhn" and (number - 1) % 2 != game.seat
    return "house" if is_of_house else "player"


def describe_move(game: HouseGame, number: int) -> Text:
    """Return a move, counted from 1, as a sentence; one that the room does not have as it is."""
    move = game.done[number - 1]
    if move.startswith(BET):
        return text("The client bets {coins}.", coins=move.removeprefix(BET))
    moves = HOUSE_ACTIONS if actor_of_move(game, number) == "house" else CLIENT_MOVES.get(game.room, {})
    return moves.get(move) or text("{action}.", action=verbatim(move))


def _table(game: HouseGame, own: Sequence[str | None], other: Sequence[str | None], client: SeatView) -> TableView:
    """Return the table with the cards of the client and of the house; `client` is the rest of the client's seat."""
    house = SeatView(name=HOUSE_NAMES[game.room], cards=_views(game.room, other))
    return TableView(title=TITLES[game.room], seats=(house, replace(client, cards=_views(game.room, own))))


def _kuhn_hands(game: HouseGame) -> tuple[Sequence[str | None], Sequence[str | None]]:
    """Return the cards of the client and of the house: the first one is P_1's."""
    return game.cards[game.seat : game.seat + 1], game.cards[1 - game.seat : 2 - game.seat]


def _bank_hands(game: HouseGame, done: Sequence[str]) -> tuple[Sequence[str | None], Sequence[str | None]]:
    """Return the client's cards after the commands in `done`, and all cards of the bank."""
    command, first = ("DRAW", 0) if game.room == "sevenhalf" else ("H", 2)
    all_draws, draws = game.done.count(command), done.count(command)
    if game.room == "sevenhalf":
        return game.cards[:draws], game.cards[all_draws:]
    own = [*game.cards[:first], *game.cards[first + 1 : first + 1 + draws]]
    return own, [*game.cards[first : first + 1], *game.cards[first + 1 + all_draws :]]


def _views(room: str, cards: Sequence[str | None]) -> tuple[CardView, ...]:
    """Return cards as people see them; a card that the room does not have is shown as its name on a back."""
    known = CARD_VIEWS[room]
    return tuple(BACK if card is None else known.get(card, CardView(None, verbatim(card))) for card in cards)


def _bet(done: Sequence[str]) -> Text | None:
    """Return the bet, which is the first command of a game against a bank."""
    bets = [*takewhile(lambda command: command.startswith(BET), done)]
    return text("bet {coins}", coins=bets[0].removeprefix(BET)) if bets else None
