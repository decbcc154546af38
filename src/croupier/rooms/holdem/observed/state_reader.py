"""Lenient parser for the Game objects of other servers.

It accepts these deviations from the document, which our server never sends: the key `small blind` and an array around a
single Game (both from the document's example), missing or null keys for empty values, unknown keys, numbers in quotes,
and card names in lower case or with the ten as `10`.
"""

from collections.abc import Iterable, Mapping
from typing import Any, Final

import msgspec

from croupier.core.errors import Violation
from croupier.rooms.holdem.cards import CARD_NUMBERS, CARDS
from croupier.rooms.holdem.wire import NO_TURN, Cards, Game

BLANK_PLAYER: Final = {"handle": "", "state": "active", "bet_so_far": 0, "small_blind": False}
BLANK_TURN: Final = msgspec.to_builtins(NO_TURN)
BLANK_POT: Final = {"players": ()}

DECODE_EXACT_GAME: Final = msgspec.json.Decoder(Game).decode


def read_game(body: bytes) -> Game:
    """Parse a body with one Game (holdem-5.2). Raises Violation."""
    game = _read_exact_game(body)
    if game is not None:
        return game
    value = _decode(body)
    if isinstance(value, list) and len(value) == 1:
        value = value[0]
    return _to_game(value)


def _read_exact_game(body: bytes) -> Game | None:
    """Parse a Game that follows the document, without an empty list of cards; None if it may need a change.

    That is nearly every game, and takes a fifth of the time.
    """
    try:
        game = DECODE_EXACT_GAME(body)
    except (ValueError, RecursionError):
        return None
    cards = game.cards
    for part in (cards.hole, cards.flop, cards.turn, cards.river):
        if part is not None and not (part and CARD_NUMBERS.keys() >= set(part)):
            return None
    return game if min(_chip_amounts(game)) >= 0 else None


def read_games(body: bytes) -> list[Game]:
    """Parse a body with an array of Games (holdem-5.1). Raises Violation."""
    value = _decode(body)
    if not isinstance(value, list):
        raise Violation("holdem-5.1", f"{type(value).__name__} instead of all games", "an array of Game")
    return [_to_game(element) for element in value]


def read_guid(body: bytes) -> str:
    """Parse a body with a GUID: a JSON string (holdem-2.2), an object with `PlayerID` (holdem-7.1), or plain text.

    Raises Violation on anything else.
    """
    try:
        guid = _decode(body)
    except Violation:
        guid = body.decode(errors="replace").strip()
    if isinstance(guid, dict):
        guid = next((value for key, value in guid.items() if key.lower() == "playerid"), None)
    if not isinstance(guid, str) or not guid or not guid.isascii() or not guid.isprintable() or "/" in guid:
        raise Violation("holdem-2.2", f"{body[:80]!r} instead of a GUID", "a GUID as a JSON string")
    return guid


def _decode(body: bytes) -> Any:
    try:
        return msgspec.json.decode(body)
    except (ValueError, RecursionError) as error:
        raise Violation("holdem-1.5", f"{body[:80]!r} ({error})", "JSON") from None


def _to_game(value: Any) -> Game:
    """Convert a JSON value to a Game, filling in missing values."""
    if not isinstance(value, dict):
        raise Violation("holdem-5.3", f"{type(value).__name__} instead of a game", "a Game")
    filled = {
        **value,
        "table": [_fill_player(player) for player in _as_list(value.get("table"))],
        "turn": _fill(BLANK_TURN, value.get("turn")),
        "cards": _fill_cards(value.get("cards")),
        "pots": [_fill(BLANK_POT, pot) for pot in _as_list(value.get("pots"))],
    }
    if "last_winners" in value:
        filled["last_winners"] = _as_list(value["last_winners"])
    try:
        game = msgspec.convert(filled, Game, strict=False)
    except msgspec.ValidationError as error:
        raise Violation("holdem-5.3", f"an invalid game: {error}", "a Game") from None
    low = min(_chip_amounts(game))
    if low < 0:
        raise Violation("holdem-5.3", f"a game with {low} chips", "0 or more")
    return game


def _fill_player(value: Any) -> Any:
    filled = _fill(BLANK_PLAYER, value)
    if isinstance(filled, dict) and "small blind" in filled:
        filled["small_blind"] = filled["small blind"]
    return filled


def _fill_cards(value: Any) -> Any:
    filled = _fill({}, value)
    return (
        {part: _normalise_cards(filled.get(part)) for part in Cards.__struct_fields__}
        if isinstance(filled, dict)
        else filled
    )


def _normalise_cards(value: Any) -> Any:
    """Return card names in our spelling; None for a part of the board that is still to come (holdem-5.5)."""
    names = [str(name).upper().replace("10", "T") for name in _as_list(value)]
    if unknown := [name for name in names if name not in CARD_NUMBERS]:
        raise Violation("holdem-5.4", f"the card {unknown[0]!r}", ", ".join(CARDS))
    return names or None


def _fill(blank: Mapping[str, object], value: Any) -> Any:
    """Fill in missing and null keys of an object. Other values are returned unchanged, for `convert` to reject."""
    if value is None:
        return dict(blank)
    if not isinstance(value, dict):
        return value
    return {**blank, **{key: element for key, element in value.items() if element is not None}}


def _as_list(value: Any) -> list[Any]:
    if value is not None and not isinstance(value, list):
        raise Violation("holdem-5.3", f"{type(value).__name__} instead of an array", "an array")
    return value or []


def _chip_amounts(game: Game) -> Iterable[int]:
    turn = game.turn
    yield from (turn.bet_so_far, turn.bet_to_player, turn.minimum_raise)
    for player in game.table:
        yield from (player.wealth, player.bet_so_far)
    for pot in game.pots:
        yield pot.size
