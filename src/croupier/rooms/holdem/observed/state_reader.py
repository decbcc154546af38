"""How a client reads what a server shows of its games: as the document has it, with the slips that servers make.

Accepted, and never sent: the key `small blind` of the document's example, an array around a single Game (the same
example), keys that are missing or null where there is nothing to tell, keys that nobody knows, numbers in quotes, and
cards in small letters or with the ten as `10`.
"""

from collections.abc import Iterable, Mapping
from typing import Any, Final

import msgspec

from croupier.core.errors import Violation
from croupier.rooms.holdem.cards import CARD_NUMBERS, CARDS
from croupier.rooms.holdem.wire import NO_TURN, Game

BLANK_PLAYER: Final = {"handle": "", "state": "active", "bet_so_far": 0, "small_blind": False}
BLANK_TURN: Final = msgspec.to_builtins(NO_TURN)
BLANK_POT: Final = {"players": ()}

CARD_PARTS: Final = ("hole", "flop", "turn", "river")


def read_game(body: bytes) -> Game:
    """The Game of a body (holdem-5.2). Raises Violation."""
    found = _decode(body)
    if isinstance(found, list) and len(found) == 1:
        found = found[0]
    return _to_game(found)


def read_games(body: bytes) -> list[Game]:
    """The Games of a body (holdem-5.1). Raises Violation."""
    found = _decode(body)
    if not isinstance(found, list):
        raise Violation("holdem-5.1", f"{type(found).__name__} where all games should be", "an array of Game")
    return [_to_game(one) for one in found]


def read_guid(body: bytes) -> str:
    """The GUID of a body: a JSON string (holdem-2.2), an object with `PlayerID` (holdem-7.1), or plain text.

    Raises Violation on anything else.
    """
    try:
        found = _decode(body)
    except Violation:
        found = body.decode(errors="replace").strip()
    if isinstance(found, dict):
        found = next((value for key, value in found.items() if key.lower() == "playerid"), None)
    if not isinstance(found, str) or not found or not found.isascii() or not found.isprintable() or "/" in found:
        raise Violation("holdem-2.2", f"{body[:80]!r} where a GUID should be", "a GUID as a JSON string")
    return found


def _decode(body: bytes) -> Any:
    try:
        return msgspec.json.decode(body)
    except (ValueError, RecursionError) as error:
        raise Violation("holdem-1.5", f"{body[:80]!r}, where {error}", "JSON") from None


def _to_game(found: Any) -> Game:
    """The Game of a JSON value, with blanks filled in."""
    if not isinstance(found, dict):
        raise Violation("holdem-5.3", f"{type(found).__name__} where a game should be", "a Game")
    filled = {
        **found,
        "table": [_fill_player(one) for one in _as_list(found.get("table"))],
        "turn": _fill(BLANK_TURN, found.get("turn")),
        "cards": _fill_cards(found.get("cards")),
        "pots": [_fill(BLANK_POT, one) for one in _as_list(found.get("pots"))],
    }
    if "last_winners" in found:
        filled["last_winners"] = _as_list(found["last_winners"])
    try:
        game = msgspec.convert(filled, Game, strict=False)
    except msgspec.ValidationError as error:
        raise Violation("holdem-5.3", f"a game with a mistake: {error}", "a Game") from None
    low = min(_chip_amounts(game))
    if low < 0:
        raise Violation("holdem-5.3", f"a game with {low} chips", "0 or more")
    return game


def _fill_player(found: Any) -> Any:
    filled = _fill(BLANK_PLAYER, found)
    if isinstance(filled, dict) and "small blind" in filled:
        filled["small_blind"] = filled["small blind"]
    return filled


def _fill_cards(found: Any) -> Any:
    filled = _fill({}, found)
    return {part: _normalise_cards(filled.get(part)) for part in CARD_PARTS} if isinstance(filled, dict) else filled


def _normalise_cards(found: Any) -> Any:
    """Cards as we spell them; a part of the board that is not there yet is null (holdem-5.5)."""
    names = [str(name).upper().replace("10", "T") for name in _as_list(found)]
    if unknown := [name for name in names if name not in CARD_NUMBERS]:
        raise Violation("holdem-5.4", f"the card {unknown[0]!r}", ", ".join(CARDS))
    return names or None


def _fill(blank: Mapping[str, object], found: Any) -> Any:
    """An object with what it lacks; what is no object is left for `convert` to complain about."""
    if found is None:
        return dict(blank)
    if not isinstance(found, dict):
        return found
    return {**blank, **{key: value for key, value in found.items() if value is not None}}


def _as_list(found: Any) -> list[Any]:
    if found is not None and not isinstance(found, list):
        raise Violation("holdem-5.3", f"{type(found).__name__} where a list should be", "an array")
    return found or []


def _chip_amounts(game: Game) -> Iterable[int]:
    turn = game.turn
    yield from (turn.bet_so_far, turn.bet_to_player, turn.minimum_raise)
    for player in game.table:
        yield from (player.wealth, player.bet_so_far)
    for pot in game.pots:
        yield pot.size
