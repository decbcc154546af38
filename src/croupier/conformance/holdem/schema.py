"""Validates the form of Games in responses and lists every deviation from the document."""

import re
from collections.abc import Iterator, Mapping, Sequence, Set
from datetime import UTC, datetime, timedelta
from email.utils import parsedate_to_datetime
from typing import Any, Final, NamedTuple, get_args

from msgspec.json import decode, encode

from croupier.conformance.channel.json_values import parse_json
from croupier.conformance.holdem.deviations import HttpDeviation, deviation
from croupier.conformance.results import Outcome
from croupier.core.errors import Violation
from croupier.http.wire import ReceivedResponse
from croupier.rooms.holdem.cards import CARD_NUMBERS
from croupier.rooms.holdem.engine.streets import STREET_CARDS, STREET_NAMES
from croupier.rooms.holdem.observed.state_reader import BLANK_TURN, read_games
from croupier.rooms.holdem.wire import NO_POT, NO_TURN, Cards, Dialect, Game, Player, PlayerStatus

GUID_PATTERN: Final = re.compile(r"[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}")
PLAYER_STATES: Final = frozenset(get_args(PlayerStatus.__value__))
BOARD_SIZES: Final = dict(list(zip(STREET_NAMES, STREET_CARDS, strict=True))[1:])
"""The number of cards of each part of the board."""

OBJECTS: Final[Mapping[str, object]] = {
    "holdem-5.3": Game("", (), NO_TURN, Cards(()), NO_POT),
    "holdem-5.7": Player("", "", "active", 0, 0, small_blind=False),
    "holdem-5.10": NO_TURN,
    "holdem-5.13": NO_POT[0],
}
"""An example of each object, by the clause that defines its keys."""

OBJECT_KEYS: Final[Mapping[str, Mapping[str, type]]] = {
    clause: {key: type(value) for key, value in decode(encode(example)).items()} for clause, example in OBJECTS.items()
}
"""The keys and value types of each object, by the same."""

GO_TIME_PATTERN: Final = re.compile(r"(\d{4}-\d\d-\d\d \d\d:\d\d:\d\d)(?:\.\d+)? ([+-]\d{4})(?: .+)?")
"""A time in Go's default format, as in the document's example."""


class ParsedGames(NamedTuple):
    """The games of a response body, as far as they can be read, and the deviations in their form."""

    games: Sequence[Game]
    errors: Sequence[HttpDeviation]


NULL_ARRAYS: Final = ("pots", "last_winners")
"""The keys of a Game that may be null in the dialect hspe-go instead of an empty array."""


def parse_game(body: bytes, dialect: Dialect) -> ParsedGames:
    """Parse a body with one Game. If it cannot be read, `games` is empty and the last error says why."""
    return _parse(body, dialect, is_list=False)


def parse_games(body: bytes, dialect: Dialect) -> ParsedGames:
    """Parse a body with a list of Games, as `parse_game`."""
    return _parse(body, dialect, is_list=True)


def _parse(body: bytes, dialect: Dialect, *, is_list: bool) -> ParsedGames:
    try:
        found = parse_json(body)
    except ValueError as error:
        text = _short(body.decode(errors="backslashreplace"))
        return ParsedGames((), [deviation("holdem-1.5", "JSON", f"{text} ({error})")])
    errors: list[HttpDeviation] = []
    if not is_list and isinstance(found, list) and len(found) == 1:
        errors.append(deviation("holdem-5.2", "a Game", "an array with a Game in it", Outcome.NON_STRICT))
        found = found[0]
    games = found if is_list else [found]
    if not isinstance(games, list):
        return ParsedGames((), [deviation("holdem-5.1", "an array of Game", _short(found))])
    for game in games:
        errors += _game_errors(game, dialect)
        _replace_unknown_states(game)
    try:
        return ParsedGames(read_games(encode(games)), errors)
    except Violation as violation:
        return ParsedGames((), errors or [deviation(violation.clause, violation.allowed, violation.found)])


def _game_errors(found: Any, dialect: Dialect) -> Iterator[HttpDeviation]:
    if not isinstance(found, dict):
        yield deviation("holdem-5.2", "a Game", _short(found))
        return
    if dialect == "hspe-go":
        found = {**found, **{key: [] for key in NULL_ARRAYS if key in found and found[key] is None}}
    extra_keys = {"last_winners"} if dialect == "hspe-go" else set()
    yield from _object_errors(found, "holdem-5.3", extra_keys, nobody="turn")
    if extra_keys and not isinstance(found.get("last_winners"), list):
        yield deviation("holdem-7.7", "the key last_winners with an array", _short(found.get("last_winners")))
    yield from guid_errors(found.get("gameID"), "gameID")
    for player in _items(found.get("table")):
        yield from _player_errors(player)
    turn = found.get("turn")
    if isinstance(turn, dict):
        yield from _turn_errors(turn, is_idle=not any(_size(pot) for pot in _items(found.get("pots"))))
    if isinstance(found.get("cards"), dict):
        yield from _cards_errors(found["cards"], dialect)
    pots = _items(found.get("pots"))
    for pot in pots:
        yield from _object_errors(pot, "holdem-5.13")
    runs = isinstance(turn, dict) and turn.get("playerID")
    if isinstance(found.get("pots"), list) and not pots and (runs or dialect == "readme"):
        yield deviation("holdem-5.15" if runs else "holdem-5.16", "one pot at least", "no pots")


def _replace_unknown_states(found: Any) -> None:
    """Replace unknown player states by `active`, so that the rest can be read."""
    for player in _items(found.get("table") if isinstance(found, dict) else None):
        if isinstance(player, dict) and player.get("state") not in PLAYER_STATES:
            player["state"] = "active"


def _player_errors(found: Any) -> Iterator[HttpDeviation]:
    if isinstance(found, dict) and "small blind" in found and "small_blind" not in found:
        found_key = "the key 'small blind'"
        yield deviation("holdem-5.7", "the key small_blind", found_key, Outcome.NON_STRICT, about="small_blind")
        found = {key.replace(" ", "_"): value for key, value in found.items()}
    yield from _object_errors(found, "holdem-5.7")
    if isinstance(found, dict) and isinstance(found.get("state"), str) and found["state"] not in PLAYER_STATES:
        allowed = "the state active, folded or called"
        yield deviation("holdem-5.7", allowed, _short(found["state"]), about="state")


def _turn_errors(found: Mapping[str, Any], *, is_idle: bool) -> Iterator[HttpDeviation]:
    """Yield the deviations of a Turn. While no hand is running, its values may be missing."""
    blank = [key for key in OBJECT_KEYS["holdem-5.10"] if found.get(key) is None]
    if is_idle and blank and not found.get("playerID"):
        wanted = "the values of a Turn also while it is nobody's"
        yield deviation("holdem-5.12", wanted, f"no {', '.join(blank)}", Outcome.CHOICE)
        found = {**BLANK_TURN, **{key: value for key, value in found.items() if value is not None}}
    yield from _object_errors(found, "holdem-5.10")
    expiry = found.get("expiry")
    if not isinstance(expiry, str) or not found.get("playerID"):
        return
    expires_at = parse_expiry(expiry)
    if expires_at is None:
        yield deviation("holdem-5.11", "a time as in RFC 3339, in UTC", _short(expiry))
    elif GO_TIME_PATTERN.fullmatch(expiry) or expires_at.utcoffset():
        yield deviation("holdem-5.11", "a time as in RFC 3339, in UTC", _short(expiry), Outcome.NON_STRICT)


def parse_expiry(expiry: str) -> datetime | None:
    """Parse an `expiry` in RFC 3339 or in the format of the document's example; None if it is neither."""
    if match := GO_TIME_PATTERN.fullmatch(expiry):
        return datetime.strptime(f"{match[1]} {match[2]}", "%Y-%m-%d %H:%M:%S %z")
    try:
        # Python parses at most six decimals; Go writes nine.
        expires_at = datetime.fromisoformat(re.sub(r"(\.\d{6})\d+", r"\1", expiry))
    except ValueError:
        return None
    return expires_at if expires_at.tzinfo is not None and "T" in expiry.upper() else None


def _cards_errors(found: Mapping[str, Any], dialect: Dialect) -> Iterator[HttpDeviation]:
    for part in ("hole", *BOARD_SIZES):
        if part not in found:
            yield deviation("holdem-5.5", f"the key {part}", f"the keys {', '.join(found)}", about=part)
    yield from _unknown_key_errors(found, "holdem-5.5", {"hole", *BOARD_SIZES})
    hole = found.get("hole", [])
    if hole is None:
        if dialect == "readme":
            allowed = "[] where no hole cards are shown"
            yield deviation("holdem-5.5", allowed, "null", Outcome.NON_STRICT, about="hole")
    elif not isinstance(hole, list) or len(hole) not in {0, 2}:
        yield deviation("holdem-5.5", "two hole cards in an array, or none", _short(hole), about="hole")
    elif not hole and dialect == "hspe-go":
        yield deviation("holdem-7.6", "null where no hole cards are shown", "[]")
    for part, size in BOARD_SIZES.items():
        cards = found.get(part)
        if cards is not None and not (isinstance(cards, list) and len(cards) == size):
            allowed = f"{size} in an array, or null, as the {part}"
            yield deviation("holdem-5.5", allowed, _short(cards), about=part)
    for part in ("hole", *BOARD_SIZES):
        for card in _items(found.get(part)):
            if not isinstance(card, str) or card not in CARD_NUMBERS:
                yield deviation("holdem-5.4", "a card as 'AS', '2H' or 'TC'", _short(card))


def _object_errors(
    found: Any, name: str, extra_keys: Set[str] = frozenset(), *, nobody: str = ""
) -> Iterator[HttpDeviation]:
    """Yield deviations of an object from its keys and types; `nobody` is a key that may be null."""
    if not isinstance(found, dict):
        yield deviation(name, f"a {type(OBJECTS[name]).__name__}", _short(found))
        return
    for key, kind in OBJECT_KEYS[name].items():
        if key not in found:
            yield deviation(name, f"the key {key}", f"the keys {', '.join(found)}", about=key)
        elif key == nobody and found[key] is None:
            yield deviation("holdem-5.12", "a Turn also while it is nobody's", "null", Outcome.CHOICE)
        elif type(found[key]) is not kind:
            yield deviation(name, f"{_type_name(kind)} as {key}", _short(found[key]), about=key)
    yield from _unknown_key_errors(found, name, {*OBJECT_KEYS[name], *extra_keys})


def _unknown_key_errors(found: Mapping[str, Any], name: str, known: Set[str]) -> Iterator[HttpDeviation]:
    """Report additional keys, which the document does not forbid."""
    if unknown := sorted(found.keys() - known):
        yield deviation(name, f"the keys {', '.join(sorted(known))}", f"also {', '.join(unknown)}", Outcome.CHOICE)


def guid_errors(found: Any, what: str) -> Iterator[HttpDeviation]:
    """Yield the deviations of a GUID in form."""
    if isinstance(found, str) and not GUID_PATTERN.fullmatch(found):
        yield deviation("holdem-2.3", f"a GUID in lower case as {what}", _short(found), Outcome.CHOICE)


def _size(pot: Any) -> Any:
    return pot.get("size") if isinstance(pot, dict) else None


def _items(found: Any) -> list[Any]:
    return found if isinstance(found, list) else []


def _type_name(kind: type) -> str:
    return {str: "a string", int: "an integer", bool: "true or false", list: "an array", dict: "an object"}[kind]


def _short(found: object) -> str:
    """A value as JSON; a string in quotes, unless it is long."""
    text = found if isinstance(found, str) else encode(found).decode()
    text = repr(found) if isinstance(found, str) and len(text) <= 80 else text
    return text if len(text) <= 80 else f"{text[:77]}..."


def seconds_left(expiry: str, now: datetime) -> float | None:
    """Return the seconds from `now` until an `expiry`, None if it is not a time."""
    expires_at = parse_expiry(expiry)
    return None if expires_at is None else (expires_at - now) / timedelta(seconds=1)


def server_time(response: ReceivedResponse) -> datetime:
    """Return the server's time from the Date header, which is in UTC if it has no time zone; else the local time."""
    try:
        date = parsedate_to_datetime(response.headers["date"])
    except (KeyError, ValueError):
        return datetime.now(UTC)
    return date.replace(tzinfo=date.tzinfo or UTC) + timedelta(seconds=0.5)  # the header has whole seconds
